"""enumerate_laws.py -- exact output laws of small private mechanisms, and what their worst neighbours tell.

    enumerate_laws.py fast|thorough

It knows no line of the library: a law is written down from its definition, computed for every input up to a size in
interval arithmetic of 80 digits (decimal, rounded down and up), and compared on all neighbours.  Every line of output
is one number of one case, separated by tabs:

    case   what the law is made with, as name=value   number of pairs   measure   its argument   least   most

with the largest value that any pair attains between the doubles `least` and `most`, which are next to each other.

All pairs are first measured in doubles made from the exact laws.  A probability is then off by 2^-53 of it, and a sum of
at most 1024 positive terms, each with fewer than 100 such errors, by less than 2^-46; whatever comes as near to the
largest value as `nearly` says is measured again in intervals, and the largest of those is told.

Depends on: python 3.  Used by: tests/runtime/privacy/event/enumerated_spec.lua."""
import itertools
import math
import sys
from decimal import Context, Decimal, MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

DOWN = Context(prec=80, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
UP = Context(prec=80, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
ZERO = Decimal(0)


# ---- intervals ----

class Interval:
    __slots__ = ("lo", "hi")

    def __init__(self, lo, hi=None):
        self.lo = lo
        self.hi = lo if hi is None else hi

    def __add__(self, other):
        return Interval(DOWN.add(self.lo, other.lo), UP.add(self.hi, other.hi))

    def __sub__(self, other):
        return Interval(DOWN.subtract(self.lo, other.hi), UP.subtract(self.hi, other.lo))

    def __neg__(self):
        return Interval(self.hi.copy_negate(), self.lo.copy_negate())

    def __mul__(self, other):
        if self.lo >= 0 and other.lo >= 0:
            return Interval(DOWN.multiply(self.lo, other.lo), UP.multiply(self.hi, other.hi))
        ends = [(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(min(DOWN.multiply(a, b) for a, b in ends), max(UP.multiply(a, b) for a, b in ends))

    def __truediv__(self, other):
        assert other.lo > 0
        if self.lo >= 0:
            return Interval(DOWN.divide(self.lo, other.hi), UP.divide(self.hi, other.lo))
        return self * Interval(DOWN.divide(1, other.hi), UP.divide(1, other.lo))

    def exp(self):
        """Decimal's exp and ln are off by half of the last place at most."""
        return Interval(DOWN.next_minus(DOWN.exp(self.lo)), UP.next_plus(UP.exp(self.hi)))

    def ln(self):
        return Interval(DOWN.next_minus(DOWN.ln(self.lo)), UP.next_plus(UP.ln(self.hi)))

    def positive(self):
        return Interval(max(self.lo, ZERO), max(self.hi, ZERO))


def exact(x):
    """An int, a double or a Fraction."""
    x = Fraction(x)
    return Interval(DOWN.divide(x.numerator, x.denominator), UP.divide(x.numerator, x.denominator))


ONE, NOTHING = exact(1), exact(0)


def add(terms):
    return sum(terms, NOTHING)


def most_of(values):
    values = list(values)
    return Interval(max(v.lo for v in values), max(v.hi for v in values))


def doubles_around(x):
    """The largest double that is not above, and the smallest that is not below: charged >= most decides without error.
    A value that is a double to 60 digits is taken to be it."""
    least, most = float(x.lo), float(x.hi)
    for near in (least, most):
        if abs(x.lo - Decimal(near)) <= Decimal("1e-60") * abs(Decimal(near)) >= abs(x.hi - Decimal(near)):
            return near, near
    least = math.nextafter(least, -math.inf) if Decimal(least) > x.lo else least
    return least, math.nextafter(most, math.inf) if Decimal(most) < x.hi else most


class Powers:
    """y^k for y = exp(-rate), rate a Fraction, k an integer."""

    def __init__(self, rate):
        self.rate = Fraction(rate)
        self.known = {}

    def __call__(self, k):
        if k not in self.known:
            self.known[k] = (-exact(self.rate * k)).exp()
        return self.known[k]


# ---- selections: integer scores, one record moves each by at most `shift`, rate = epsilon/(2 shift) ----

def exponential(scores, y):
    best = max(scores)
    weights = [y(best - s) for s in scores]
    return [w / add(weights) for w in weights]


def permute_and_flip(scores, y):
    """The chance to be taken, given who is left, is 1/left (a_i + sum over the others of (1 - a_j) theirs)."""
    accept = [y(max(scores) - s) for s in scores]
    known = {}

    def taken(i, left):
        if (i, left) not in known:
            terms = [(ONE - accept[j]) * taken(i, left - {j}) for j in left if j != i and scores[j] != max(scores)]
            known[i, left] = (accept[i] + add(terms)) / exact(len(left))
        return known[i, left]

    return [taken(i, frozenset(range(len(scores)))) for i in range(len(scores))]


def whole(y, width, factors):
    """sum over all integers t of P(T = t) prod P(K <= sign t + c), T of ratio y^width, K of ratio y.  Between the
    points where a factor changes its form, all is a polynomial in y^t, and the sum is one of geometric series."""
    starts = sorted({0} | {-c if sign > 0 else c + 1 for sign, c in factors})
    ends = [(None, starts[0] - 1)] + [(a, b - 1) for a, b in zip(starts, starts[1:])] + [(starts[-1], None)]
    below = ONE / (ONE + y(1))
    total = NOTHING
    for first, last in ends:
        inside = last if first is None else first
        terms = {width if inside >= 0 else -width: ONE}
        for sign, c in factors:
            if sign * inside + c >= 0:
                form = ((0, ONE), (sign, -(y(c + 1) * below)))
            else:
                form = ((-sign, y(-c) * below),)
            product = {}
            for (m, a), (n, b) in itertools.product(terms.items(), form):
                product[m + n] = product[m + n] + a * b if m + n in product else a * b
            terms = product
        for m, a in terms.items():
            total += a * series(y, m, first, last)
    return total * ((ONE - y(width)) / (ONE + y(width)))


def series(y, m, first, last):
    """sum of y^(m t) from first to last, None for without end."""
    if m == 0:
        return exact(last - first + 1)
    if m < 0:
        return series(y, -m, None if last is None else -last, None if first is None else -first)
    head = y(m * first)
    return (head if last is None else head - y(m * (last + 1))) / (ONE - y(m))


def report_noisy_max(scores, y):
    """Discrete Laplace noise of ratio y on each, ties to the lowest index."""
    return [whole(y, 1, [(1, s - other - (j < i)) for j, other in enumerate(scores) if j != i])
            for i, s in enumerate(scores)]


def choices(law, epsilon, candidates, shift, levels, moves=None):
    """All vectors of scores from `levels` whose least is the least level, and all that moves them there."""
    y = Powers(Fraction(epsilon) / (2 * shift))
    known = {}

    def law_of(scores):
        key = tuple(s - min(scores) for s in scores)
        if key not in known:
            known[key] = law(key, y)
        return known[key]

    for scores in itertools.product(levels, repeat=candidates):
        if min(scores) == min(levels):
            for move in itertools.product(moves or range(-shift, shift + 1), repeat=candidates):
                yield law_of(scores), law_of([s + d for s, d in zip(scores, move)])


# ---- the sparse vector: threshold noise of ratio y^width, query noise of ratio y, until `answers` were above ----

def sparse_vector(values, y, width, answers, known):
    """The threshold is 0: value + K >= T is above, that is K <= value - T; below is K <= T - value - 1."""
    law = []

    def walk(above, below, rest, left):
        if not rest or left == 0:
            key = (tuple(sorted(above)), tuple(sorted(below)))
            if key not in known:
                known[key] = whole(y, width, [(-1, v) for v in above] + [(1, -v - 1) for v in below])
            law.append(known[key])
        else:
            walk(above + [rest[0]], below, rest[1:], left - 1)
            walk(above, below + [rest[0]], rest[1:], left)

    walk([], [], list(values), answers)
    return law


def streams(epsilon, queries, answers, shift, width, levels, monotone, stay):
    """A run costs shift/b (1 + 2 answers/width), or 1 + answers/width of shift/b.  `stay`: a value may also stay."""
    parts = 1 + Fraction((1 if monotone else 2) * answers, width)
    y = Powers(Fraction(epsilon) / parts / shift / width)
    known, laws = {}, {}
    moves = [(0, shift) if monotone else (-shift, 0, shift) if stay else (-shift, shift)]

    def law_of(values):
        if values not in laws:
            laws[values] = sparse_vector(values, y, width, answers, known)
        return laws[values]

    for values in itertools.product(levels, repeat=queries):
        for move in itertools.product(*moves * queries):
            yield law_of(values), law_of(tuple(v + d for v, d in zip(values, move)))


# ---- noise on a lattice ----

def farthest(delta, step, values):
    """How many steps the quotients of two doubles, rounded with ties to even, differ by when the doubles are `delta`
    apart at most."""
    rounded = [(Fraction(v), round(v / step)) for v in values]
    return max(m - n for v, m in rounded for u, n in rounded if abs(v - u) <= Fraction(delta))


def laplace(steps, scale, wanted):
    """K against K + steps of P(K = k) proportional to y^|k|, y = exp(-1/scale): losses are steps/scale for k <= 0 and
    fall by 2/scale with every k from there to k = steps."""
    y = Powers(Fraction(1) / scale)
    end, one = ONE / (ONE + y(1)), (ONE - y(1)) / (ONE + y(1))

    def below(k):  # P(K <= k)
        return y(-k) * end if k < 0 else ONE - y(k + 1) * end

    for measure, at in wanted:
        if measure == "pure":
            yield measure, at, exact(Fraction(steps) / scale)
        elif measure == "renyi":  # y^((1-at) steps) y^((2 at - 1) k) between the ends
            order = Fraction(at)
            rise = Powers((2 * order - 1) / scale)
            left, right = Powers((1 - order) * steps / scale)(1), Powers(order * steps / scale)(1)
            total = (left + right) * end
            if steps > 1:
                total += one * left * series(rise, 1, 1, steps - 1)
            yield measure, at, total.ln() / exact(order - 1)
        elif measure == "delta":
            last = (steps - Fraction(at) * scale) / 2
            last = math.floor(last) if last >= 0 else -1  # without k = 0 none has a loss above
            yield measure, at, below(last) - exact(at).exp() * below(last - steps) if last >= 0 else NOTHING


def theta(shift, scale):
    """sum over all integers k of exp(-(k + shift)^2/(2 scale^2)), 0 <= shift < 1.  From `reach` on both sides a term is
    less than half of the one before."""
    reach = 20 * scale

    def term(k):
        return (-exact((k + shift) ** 2 / (2 * scale * scale))).exp()

    rest = (term(reach + 1) + term(-reach - 1)) * exact(2)
    return add(term(k) for k in range(-reach, reach + 1)) + Interval(ZERO, rest.hi)


def gaussian(steps, scale, wanted):
    """K against K + steps of P(K = k) proportional to exp(-k^2/(2 scale^2)): completing the square,
    D(at) = at steps^2/(2 scale^2) + ln(theta((at - 1) steps)/theta(0))/(at - 1).  Where scale is large the thetas
    differ by less than a factor 1 - 4 exp(-2 pi^2 scale^2) (Poisson's summation), and theta(0) is the largest."""
    for measure, at in wanted:
        order = Fraction(at)
        ideal = exact(order * steps * steps / (2 * Fraction(scale) ** 2))
        shift = (order - 1) * steps
        if measure == "renyi" and scale > 64:
            yield measure, at, Interval(DOWN.subtract(ideal.lo, Decimal("1e-1000")), ideal.hi)
        elif measure == "renyi":
            yield measure, at, ideal + (theta(shift - shift // 1, scale) / theta(Fraction(0), scale)).ln() / exact(order - 1)


# ---- the best of a secret number of runs, of which each is a post-processing of randomised response ----

def stopped(epsilon, mean, law, outcomes, grain):
    """Outcomes in the order of their scores.  A(y) = f(Q(<= y)) - f(Q(< y)), f the generating function of the number
    of runs: geometric from 1, or Poisson, where nothing is told of no runs."""
    response = (ONE / (ONE + (-exact(epsilon)).exp()), ONE / (ONE + exact(epsilon).exp()))
    gamma = Fraction(1) / mean

    def generating(q):
        if law == "geometric":
            return exact(gamma) * q / (ONE - exact(1 - gamma) * q)
        return (exact(mean) * (q - ONE)).exp()

    def best(channel, first, second):
        at = [NOTHING]
        for a, b in channel:
            at.append(at[-1] + response[first] * a + response[second] * b)
        at[-1] = ONE
        f = [generating(q) for q in at]
        told = [b - a for a, b in zip(f, f[1:])]
        return ([f[0]] if law == "poisson" else []) + told

    splits = [s for s in itertools.product(range(grain + 1), repeat=outcomes) if sum(s) == grain]
    for one, two in itertools.product(splits, repeat=2):
        channel = [(exact(Fraction(a, grain)), exact(Fraction(b, grain))) for a, b in zip(one, two) if a or b]
        yield best(channel, 0, 1), best(channel, 1, 0)


def response(epsilon):
    p = [ONE / (ONE + (-exact(epsilon)).exp()), ONE / (ONE + exact(epsilon).exp())]
    yield p, p[::-1]


# ---- what a pair tells: in doubles, and in intervals ----

def twice(law):
    return [a * b for a, b in itertools.product(law, repeat=2)]


def quick(measure, at, p, q):
    if measure == "pure":
        return max(math.log(a / b) for a, b in zip(p, q))
    if measure == "renyi":
        return math.log(sum(b * (a / b) ** at for a, b in zip(p, q))) / (at - 1)
    if measure == "rho":
        return max(quick("renyi", order, p, q) / order for order in ORDERS)
    if measure == "delta":
        return sum(max(0.0, a - math.exp(at) * b) for a, b in zip(p, q))
    if measure == "delta twice":
        return quick("delta", at, twice(p), twice(q))
    best, a_sum, b_sum = 0.0, 0.0, 0.0  # epsilon at delta
    for a, b in sorted(zip(p, q), key=lambda pair: pair[1] / pair[0]):
        a_sum, b_sum = a_sum + a, b_sum + b
        best = max(best, math.log((a_sum - at) / b_sum) if a_sum > at else 0.0)
    return best


def slow(measure, at, p, q):
    if measure == "pure":
        return most_of((a / b).ln() for a, b in zip(p, q))
    if measure == "renyi":
        order = exact(at)
        terms = [(order * a.ln() - (order - ONE) * b.ln()).exp() for a, b in zip(p, q)]
        return add(terms).ln() / (order - ONE)
    if measure == "rho":
        return most_of(slow("renyi", order, p, q) / exact(order) for order in ORDERS)
    if measure == "delta":
        return add((a - exact(at).exp() * b).positive() for a, b in zip(p, q))
    if measure == "delta twice":
        return slow("delta", at, twice(p), twice(q))
    values, a_sum, b_sum = [NOTHING], NOTHING, NOTHING
    for a, b in sorted(zip(p, q), key=lambda pair: (pair[1] / pair[0]).lo):
        a_sum, b_sum = a_sum + a, b_sum + b
        if a_sum.lo > at:
            values.append(((a_sum - exact(at)) / b_sum).ln())
    return most_of(values)


ORDERS = [1.0625, 1.5, 2.0, 4.7, 8.0, 30.0]


def measures(epsilon):
    return [("pure", 0.0)] + [("renyi", a) for a in ORDERS] + \
           [("rho", 0.0), ("epsilon", 0.01), ("delta", epsilon / 2), ("delta twice", epsilon)]


def distinct(pairs):
    """Both orders of every pair of different laws, once, outcomes in any order; the number of all."""
    found, count = {}, 0
    for p, q in pairs:
        count += 1
        for one, two in ((p, q), (q, p)):
            if one is not two:
                found.setdefault(tuple(sorted((a.lo, b.lo) for a, b in zip(one, two))), (one, two))
    return list(found.values()), count


def nearly(measure, most):
    """What a value in doubles reaches that may be the largest in truth.  P - delta, in the epsilon at delta, cancels."""
    return most * (1 - 1e-9) - (1e-8 if measure == "epsilon" else 1e-12)


def worst(pairs, wanted):
    rough = [([float(a.hi) for a in p], [float(b.hi) for b in q]) for p, q in pairs]
    for measure, at in wanted:
        values = [quick(measure, at, p, q) for p, q in rough]
        least = nearly(measure, max(values))
        yield measure, at, most_of(slow(measure, at, *pairs[i]) for i, value in enumerate(values) if value >= least)


# ---- the cases ----

REAL = 4097         # units of a score that sensitivity has in the library when scores have no error
LATTICE = 2 ** 40   # steps in the deviation or scale of its noise
SELECTIONS = {"exponential": exponential, "permute_and_flip": permute_and_flip, "report_noisy_max": report_noisy_max}


def enumerated(name, made, pairs, epsilon=None):
    pairs, count = distinct(pairs)
    return name, made, count, worst(pairs, measures(epsilon or made["epsilon"]))


def selection(name, epsilon, candidates, shift, levels, moves=None):
    made = dict(epsilon=epsilon, candidates=candidates, shift=shift, scores=levels)
    return enumerated(name, made, choices(SELECTIONS[name], epsilon, candidates, shift, levels, moves))


def real_selection(name, epsilon, candidates, levels):
    levels, moves = [i * REAL // 2 for i in levels], (-REAL, 0, REAL)
    return selection(name, epsilon, candidates, REAL, levels, moves)


def stream(epsilon, queries, answers, width, monotone, levels, stay=True):
    made = dict(epsilon=epsilon, queries=queries, answers=answers, width=width, monotone=monotone, values=levels)
    return enumerated("sparse_vector", made, streams(epsilon, queries, answers, 1, width, levels, monotone, stay))


def best_of(law, epsilon, mean, outcomes, grain):
    made = dict(epsilon=epsilon, law=law, mean=mean, outcomes=outcomes)
    return enumerated("selection", made, stopped(epsilon, mean, law, outcomes, grain))


def two_choices(epsilon, levels):
    """The second of two choices of epsilon/2 follows from the first: every pair of laws after every outcome."""
    one, _ = distinct(choices(exponential, epsilon / 2, 2, 1, levels))

    def pairs():
        for (p, q), first, second in itertools.product(one, repeat=3):
            yield [a * b for a, law in zip(p, (first[0], second[0])) for b in law], \
                  [a * b for a, law in zip(q, (first[1], second[1])) for b in law]

    return enumerated("two_choices", dict(epsilon=epsilon, candidates=2, shift=1, scores=levels), pairs())


def rounded(name, scale, sensitivity, bound, values):
    """Values of the library's lattice, whose step is a 2^-40th of the scale: the farthest of them and their noise."""
    steps = farthest(sensitivity, scale / LATTICE, values)
    made = dict(scale=scale, sensitivity=sensitivity, bound=bound, steps=steps)
    epsilon = steps / LATTICE
    if name == "laplace":
        return name, made, len(values) ** 2, laplace(steps, Fraction(LATTICE), measures(epsilon))
    return name, made, len(values) ** 2, gaussian(steps, LATTICE, measures(epsilon))


def cases(thorough):
    """(law, what it is made with, number of pairs, its measures); those of the thorough tier come last."""
    for name in SELECTIONS:
        yield selection(name, 2.0, 3, 1, (0, 1, 2, 3, 4))
    yield real_selection("report_noisy_max", 2.0, 2, (0, 1, 2, 4, 8, 16))
    yield two_choices(2.0, (0, 4))
    yield stream(2.0, 3, 1, 1, False, (-9, 0, 9))
    yield stream(2.0, 3, 1, 1, True, (-9, 0, 9))
    for epsilon in (0.3, 1.0):
        yield enumerated("pure", dict(epsilon=epsilon), response(epsilon))
    for law in ("geometric", "poisson"):
        yield best_of(law, 0.5, 4.0, 3, 4)
    near, far = [i / 4 for i in range(-16, 17)], [3.0 * 2 ** 50 + i / 2 for i in range(-16, 17)]
    for name in ("laplace", "gaussian"):
        yield rounded(name, 2.0 ** 40, 2.25, 8.0, near)
        yield rounded(name, 3.0 * 2 ** 38, 2.0, 2.0 ** 52, far)
    yield rounded("laplace", 2.0 ** 40, 2.0 ** 40, 2.0 ** 42, [0.0, 2.0 ** 40])
    for scale in (1, 2):
        yield "gaussian_steps", dict(steps=1, scale=scale), 1, gaussian(1, scale, measures(1))
    if not thorough:
        return
    for name in SELECTIONS:
        yield selection(name, 0.5, 3, 1, (0, 1, 2, 4, 8, 16, 24))
        yield selection(name, 2.0, 3, 2, range(8))
        yield selection(name, 8.0, 3, 3, range(7))
        yield selection(name, 2.0, 4, 1, range(5))
        yield selection(name, 2.0, 5, 1, range(3))
        yield real_selection(name, 2.0, 3, (0, 1, 2, 4, 8, 16))
    yield two_choices(0.5, (0, 1, 4, 16))
    yield stream(0.5, 4, 1, 1, False, (-24, 0, 24))
    yield stream(2.0, 4, 1, 1, False, (-1, 0, 1, 9))
    yield stream(2.0, 5, 1, 1, False, (-9, 0, 9), stay=False)
    yield stream(2.0, 5, 1, 1, True, (-9, 0, 9))
    yield stream(2.0, 5, 2, 2, False, (-16, 0, 16), stay=False)
    yield stream(2.0, 6, 2, 2, False, (-16, 16), stay=False)
    for law in ("geometric", "poisson"):
        yield best_of(law, 2.0, 10.0, 3, 4)


def main(tier):
    for name, made, count, values in cases(tier == "thorough"):
        text = " ".join(f"{key}={shown(value)}" for key, value in made.items())
        for measure, at, value in values:
            print(name, text, count, measure, repr(at), *map(repr, doubles_around(value)), sep="\t")


def shown(value):
    """A list with commas and no blank; of a whole number no point."""
    if isinstance(value, (list, tuple, range)):
        return ",".join(map(shown, value))
    return str(int(value) if isinstance(value, float) and value == int(value) else value).lower()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "fast")
