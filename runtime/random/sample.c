/* sample.c -- which records take part: coins and subsets by exact integers; and random directions in doubles.
 * Depends on: sample.h, stream.h, core/alloc.h.  Used by: privacy/mechanism/sampler.h, geometry, solvers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "random/sample.h"
#include "random/stream.h"

/* ---- Poisson ---- */

/* ceil(q 2^64), exact in a double: from 2^53 on, q 2^64 is a whole number already. */
static double scaled_rate(double q)
{
    return ceil(ldexp(q, 64));
}

double pn_poisson_rate(double q)
{
    return ldexp(scaled_rate(q), -64);
}

/* The coins of records first .. first + count - 1, count <= 4, by the four quarters of a word. */
static size_t toss(pn_rng *rng, uint64_t word, uint64_t threshold, size_t first, size_t count, size_t *out)
{
    size_t taken = 0;

    for (size_t j = 0; j < count; j++) {
        uint64_t prefix = word >> (16 * j) & 0xffff;
        bool heads = prefix < threshold >> 48;

        if (prefix == threshold >> 48)
            heads = pn_stream_extra(rng) >> 16 < (threshold & UINT64_C(0xffffffffffff));
        out[taken] = first + j; /* kept or written over: a branch on a fair coin would cost more */
        taken += heads;
    }
    return taken;
}

/* Is one of the four quarters of the word below limit <= 2^15?  By the borrow into the upper bit of a quarter that had
 * none. */
static bool any_below(uint64_t word, uint64_t limit)
{
    const uint64_t ones = UINT64_C(0x0001000100010001);

    return ((word - ones * limit) & ~word & ones << 15) != 0;
}

size_t pn_sample_poisson(pn_rng *rng, double q, size_t n, size_t *out)
{
    uint64_t threshold, limit;
    size_t taken = 0, seen = 0, count;
    bool rare;

    if (q >= 1.0) {
        for (size_t i = 0; i < n; i++)
            out[i] = i;
        return n;
    }
    threshold = (uint64_t)scaled_rate(q);
    limit = (threshold >> 48) + 1; /* only prefixes below it can fall heads */
    rare = limit <= 0x2000;
    pn_stream_enter(rng);
    while (seen < n) {
        const unsigned char *words = pn_stream_words(rng, (n - seen + 3) / 4, &count);

        for (size_t i = 0; i < count; i++, seen += 4) {
            uint64_t word = pn_load_word(words + 8 * i);

            if (!rare || any_below(word, limit))
                taken += toss(rng, word, threshold, seen, n - seen < 4 ? n - seen : 4, out + taken);
        }
    }
    return taken;
}

#define WORD (8 * sizeof(size_t)) /* bits */

/* ---- subsets ----
 * Floyd: for j = n - count .. n - 1 draw t <= j; take t, or j when t is taken already. */

static size_t lowest_bit(size_t word)
{
#ifdef __GNUC__
    return (size_t)__builtin_ctzll(word);
#else
    size_t bit = 0;

    while ((word >> bit & 1) == 0)
        bit++;
    return bit;
#endif
}

/* The set bits of a word, lowest first: `each` is one of them while there are any. */
static bool next_bit(size_t *word, size_t *each)
{
    if (*word == 0)
        return false;
    *each = lowest_bit(*word);
    *word &= *word - 1;
    return true;
}

/* Bits in order, and cleared for the next draw.  The bits of `blocks` say which words of `taken` have any. */
static void read_bitmap(size_t *taken, size_t *blocks, size_t count, size_t *out)
{
    size_t found = 0, block, bit;

    for (size_t i = 0; found < count; i++) {
        while (next_bit(&blocks[i], &block)) {
            size_t place = WORD * i + block;

            while (next_bit(&taken[place], &bit))
                out[found++] = WORD * place + bit;
        }
    }
}

static void floyd_bitmap(pn_rng *rng, size_t n, size_t count, size_t *taken, size_t *out)
{
    size_t *blocks = taken + n / WORD + 1;

    for (size_t j = n - count; j < n; j++) {
        size_t t = (size_t)pn_rng_below(rng, (uint64_t)j + 1);

        if (taken[t / WORD] >> (t % WORD) & 1)
            t = j;
        taken[t / WORD] |= (size_t)1 << (t % WORD);
        blocks[t / WORD / WORD] |= (size_t)1 << (t / WORD % WORD);
    }
    read_bitmap(taken, blocks, count, out);
}

/* An open table of index + 1, a power of two long and at most half full.  False when the index is there already. */
static bool insert(size_t *table, size_t size, size_t index)
{
    size_t place = (size_t)((uint64_t)index * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (size - 1);

    while (table[place] != 0 && table[place] != index + 1)
        place = (place + 1) & (size - 1);
    if (table[place] != 0)
        return false;
    table[place] = index + 1;
    return true;
}

static int compare(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static void floyd_table(pn_rng *rng, size_t n, size_t count, size_t *table, size_t size, size_t *out)
{
    for (size_t j = n - count, i = 0; j < n; j++, i++) {
        out[i] = (size_t)pn_rng_below(rng, (uint64_t)j + 1);
        if (!insert(table, size, out[i])) {
            out[i] = j;
            (void)insert(table, size, j);
        }
    }
    qsort(out, count, sizeof *out, compare);
    memset(table, 0, size * sizeof *table);
}

/* Beyond so many words for every record of the subset the memory that a bitmap touches costs more than sorting. */
static bool fits_bitmap(size_t n, size_t count)
{
    return n / WORD / 128 < count;
}

size_t pn_sample_scratch(size_t n, size_t count)
{
    size_t size = 2;

    if (fits_bitmap(n, count))
        return n / WORD + 1 + n / WORD / WORD + 1;
    while (size / 2 < count)
        size *= 2;
    return size;
}

void pn_sample_subset(pn_rng *rng, size_t n, size_t count, size_t *scratch, size_t *out)
{
    if (fits_bitmap(n, count))
        floyd_bitmap(rng, n, count, scratch, out);
    else
        floyd_table(rng, n, count, scratch, pn_sample_scratch(n, count), out);
}

pn_status pn_sample_without_replacement(pn_rng *rng, size_t n, size_t count, size_t *out, pn_err *err)
{
    size_t *scratch;

    if (count == 0 || count > n)
        return pn_fail(err, PN_EDIM, "sample: count must be from 1 to the number of records %zu, got %zu", n, count);
    PN_TRY(pn_new_zeroed(&scratch, pn_sample_scratch(n, count), err,
                         "sample: not enough memory to draw %zu of %zu records", count, n));
    pn_sample_subset(rng, n, count, scratch, out);
    pn_free(scratch);
    return PN_OK;
}

void pn_sample_with_replacement(pn_rng *rng, size_t n, size_t count, size_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (size_t)pn_rng_below(rng, n);
}

/* ---- directions ---- */

void pn_sample_sphere(pn_rng *rng, size_t n, double *out)
{
    double square;

    do {
        pn_rng_normals(rng, n, out);
        square = 0.0;
        for (size_t i = 0; i < n; i++)
            square += out[i] * out[i];
    } while (!(square > 0x1p-200));
    for (size_t i = 0; i < n; i++)
        out[i] /= sqrt(square);
}

/* The radius has distribution function r^n. */
void pn_sample_ball(pn_rng *rng, size_t n, double *out)
{
    double radius;

    pn_sample_sphere(rng, n, out);
    radius = pow(pn_rng_uniform(rng), 1.0 / (double)n);
    for (size_t i = 0; i < n; i++)
        out[i] *= radius;
}
