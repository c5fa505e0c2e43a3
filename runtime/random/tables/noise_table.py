#!/usr/bin/env python3
"""noise_table.py -- the tables of the Gaussian, Laplace and level samplers, computed with 600 bits and written as integers.

    for part in slots peaks ends laplace levels; do
        python3 runtime/random/tables/noise_table.py $part >runtime/random/noise_table_$part.c
    done
    python3 runtime/random/tables/noise_table.py mini >tests/runtime/random/noise_mini_table.h
    python3 runtime/random/tables/noise_table.py levels_mini >tests/runtime/random/level_mini_table.h

With f(t) = exp(-t^2/2) and bins of width h: bin i owns c_i = ceil(f(ih)/s) slots, the tail one; s is the smallest dyadic
number with denominator 2^52 for which they fit.  Tail bins have integer widths d_b = ceil(2^128 f(bh)/s).
Level d has mass E_d = ceil(2^96 exp(-d)), of which 2^96 exp(-d)/E_d is kept, rounded down to 320 bits.
Depends on: mpmath.
"""
import sys

from mpmath import mp, mpf, exp, ceil, floor, nint

mp.prec = 600
ONE = 1 << 128


class Shape:
    """bins_per_sigma bins to one sigma; the body ends at 4 sigma, the tail at 13."""

    def __init__(self, bins_per_sigma, slot_bits, y_bits):
        self.inverse_width, self.y_bits, self.slots = bins_per_sigma, y_bits, 1 << slot_bits
        self.body, self.bins = 4 * bins_per_sigma, 13 * bins_per_sigma
        self.f = [exp(-mpf(i * i) / (2 * bins_per_sigma**2)) for i in range(self.bins + 1)]
        self.numerator = self.smallest()
        self.s = mpf(self.numerator) / 2**52
        self.c = self.weights(self.numerator)
        self.check_body()
        self.d = [int(ceil(ONE * f / self.s)) for f in self.f[self.body:self.bins]]
        assert sum(self.d) <= ONE

    def weights(self, numerator):
        return [int(ceil(f * 2**52 / numerator)) for f in self.f[:self.body]]

    def fits(self, numerator):
        return sum(self.weights(numerator)) + 1 <= self.slots

    def smallest(self):
        low, high = 1, 1 << 52
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.fits(middle) else (middle, high)
        assert self.fits(high) and not self.fits(high - 1)
        return high

    def check_body(self):
        assert all(c * self.s >= f for c, f in zip(self.c, self.f))
        assert sum(self.c) + 1 <= self.slots
        assert sum(self.f[self.body:self.bins]) <= self.s

    def bounds(self):
        """First bits of the acceptance uniform that decide alone: below low, and from high.  The last bin of the body
        shares its number with the tail, so neither is accepted by the first bits."""
        scale = 2**self.y_bits
        low = [int(floor(scale * self.f[i + 1] / (c * self.s))) for i, c in enumerate(self.c)]
        high = [int(ceil(scale * self.f[i] / (c * self.s))) for i, c in enumerate(self.c)]
        return low[:-1] + [0], high

    def peaks(self):
        """Acceptance at the inner edge of every bin, in units of 2^-128."""
        body = [self.f[i] / (c * self.s) for i, c in enumerate(self.c)]
        tail = [self.f[self.body + i] * ONE / (self.s * d) for i, d in enumerate(self.d)]
        return [min(int(nint(a * ONE)), ONE - 1) for a in body + tail]

    def tail_ends(self):
        total, ends = 0, []
        for d in self.d:
            total += d
            ends.append(min(total, ONE - 1))
        return ends

    def slot_bins(self):
        bins = [i for i, c in enumerate(self.c) for _ in range(c)]
        return bins + [self.body - 1]


def rows(items, width=118):
    lines, line = [], ""
    for item in items:
        text = item + ","
        if len(line) + len(text) + 1 > width:
            lines.append(line)
            line = ""
        line += (" " if line else "    ") + text
    return "\n".join(lines + [line])


def wide(values):
    return rows("{ 0x%016x, 0x%016x }" % (v >> 64, v & (2**64 - 1)) for v in values)


def array(kind, name, items):
    return "%s %s[] = {\n%s\n};\n" % (kind, name, items)


def slots(shape, prefix, kind):
    low, high = shape.bounds()
    return "\n".join([array(kind % "uint8_t", prefix + "slots", rows(map(str, shape.slot_bins()))),
                      array(kind % "uint16_t", prefix + "low", rows(map(str, low))),
                      array(kind % "uint32_t", prefix + "high", rows(map(str, high)))])


def peaks(shape, prefix, kind):
    return array(kind % "pn_wide", prefix + "peaks", wide(shape.peaks()))


def ends(shape, prefix, kind):
    return array(kind % "pn_wide", prefix + "tail_ends", wide(shape.tail_ends()))


def laplace():
    """exp(-u) by the first 8 bits of u in 12 bits; exp(-1) ... exp(-8); how many of these are above an 11-bit prefix, 255
    when the prefix does not tell."""
    powers = [int(nint(ONE * exp(-g))) for g in range(1, 9)]
    low = [int(floor(4096 * exp(-mpf(i + 1) / 256))) for i in range(256)]
    high = [int(ceil(4096 * exp(-mpf(i) / 256))) for i in range(256)]
    whole = []
    for prefix in range(2048):
        first, last = prefix << 117, ((prefix + 1) << 117) - 1
        counts = {sum(y < p for p in powers) for y in (first, last)}
        whole.append(counts.pop() if len(counts) == 1 else 255)
    return "\n".join([array("const uint16_t", "pn_noise_laplace_low", rows(map(str, low))),
                      array("const uint16_t", "pn_noise_laplace_high", rows(map(str, high))),
                      array("const uint8_t", "pn_noise_laplace_whole", rows(map(str, whole))),
                      array("const pn_wide", "pn_noise_laplace_powers", wide(powers))])


def levels(mass_bits, word_bits, words, count):
    """E_d, and the part of it that is kept in digits of word_bits each; of level 0 all of it, which no digits say."""
    table = []
    for d in range(count):
        weight = exp(-d) * 2**mass_bits
        mass = int(ceil(weight))
        kept = int(floor(weight / mass * 2**(word_bits * words))) if d else 2**(word_bits * words) - 1
        digits = [kept >> word_bits * i & (2**word_bits - 1) for i in reversed(range(words))]
        table.append("    { { 0x%x, 0x%x },\n      { %s } },\n" %
                     (mass >> 64, mass & (2**64 - 1), ", ".join(map(hex, digits))))
    return "".join(table)


PARTS = {
    "slots": (slots, "which bin a slot of the Gaussian sampler means, and what decides at once there."),
    "peaks": (peaks, "acceptance at the inner edge of each bin of the Gaussian sampler, times 2^128."),
    "ends": (ends, "cumulative chances, times 2^128, of the bins from 4 to 13 sigma given the tail."),
}


def head(name, comment, user):
    print("/* noise_table_%s.c -- %s\n * Written by noise_table.py; do not edit.  Depends on: noise_table.h.  Used by: %s. */\n"
          '#include "random/tables/noise_table.h"\n\n/* clang-format off */\n' % (name, comment, user))


def main():
    what = sys.argv[1]
    if what == "laplace":
        head(what, "the Laplace sampler's exponentials.", "noise_laplace.c")
        print(laplace(), end="")
        return
    if what == "levels":
        head(what, "masses of the levels below the top, times 2^96, and what is kept of them.", "score_levels.c")
        print("const pn_level_mass pn_noise_levels[] = {\n%s};" % levels(96, 64, 5, 67))
        return
    if what == "levels_mini":
        print("/* level_mini_table.h -- the masses of a tiny copy of the level sampler, times 2^3, kept by 16 digits of 3 bits.\n"
              " * Written by runtime/random/tables/noise_table.py; do not edit. */\n\n/* clang-format off */\n")
        print("static const mini_mass mini_levels[] = {\n%s};" % levels(3, 3, 16, 67))
        return
    shape = Shape(16, 9, 4) if what == "mini" else Shape(64, 13, 16)
    print("s = %d / 2^52, c_0 = %d, slots %d, acceptance %s" %
          (shape.numerator, shape.c[0], sum(shape.c) + 1,
           mp.nstr(mp.sqrt(mp.pi / 2) * shape.inverse_width / (shape.slots * shape.s), 12)), file=sys.stderr)
    if what == "mini":
        print("/* noise_mini_table.h -- the tables of a tiny copy of the Gaussian sampler: S = 64, bins of 4, 9 slot bits,\n"
              " * 4 y bits.  Written by runtime/random/tables/noise_table.py; do not edit. */\n\n/* clang-format off */\n")
        print("\n".join(part(shape, "mini_", "static const %s") for part, _ in PARTS.values()), end="")
        return
    part, comment = PARTS[what]
    head(what, comment, "noise.c")
    print(part(shape, "pn_noise_", "const %s"), end="")


main()
