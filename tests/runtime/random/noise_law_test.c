/* noise_law_test.c -- the laws of the samplers without sampling: a tiny copy of the Gaussian one, and the Laplace one,
 * run on streams that the test makes.  Every word is tried; where a word needs more bits, the number of those that
 * accept is found by bisection, since a larger uniform number is never accepted when a smaller one is not. */
#include <string.h>

#include "random/stream.h"

static const unsigned char *made_words(pn_rng *rng, size_t want, size_t *got);
static uint64_t made_extra(pn_rng *rng);
static void made_enter(pn_rng *rng);

#define pn_stream_words  made_words
#define pn_stream_extra  made_extra
#define pn_stream_enter  made_enter
#define pn_noise_laplace made_laplace
#include "runtime/random/noise_laplace.c"
#include "random/noise_sampler.h"

#include "check.h"
#include "runtime/random/noise_mini_table.h"

/* ---- the streams ---- */

#define LANES 10
#define AFTER 0x7f0008 /* a word that either sampler accepts at once */

static struct {
    unsigned char words[8 * LANES];
    size_t count, used;
    uint64_t after; /* what comes when the words are used up */
    uint64_t extra[4 * LANES];
    size_t extras, extra_used;
} stream;

static void start(void)
{
    memset(&stream, 0, sizeof stream);
}

static void add_word(uint64_t word)
{
    for (int i = 0; i < 8; i++)
        stream.words[8 * stream.count + (size_t)i] = (unsigned char)(word >> (8 * i));
    stream.count++;
}

static const unsigned char *made_words(pn_rng *rng, size_t want, size_t *got)
{
    static unsigned char after[8];
    size_t left = stream.count - stream.used;

    (void)rng;
    *got = left < want ? left : want;
    if (left == 0) {
        for (int i = 0; i < 8; i++)
            after[i] = (unsigned char)(stream.after >> (8 * i));
        *got = 1;
        stream.used++;
        stream.count++;
        return after;
    }
    stream.used += *got;
    return stream.words + 8 * (stream.used - *got);
}

static uint64_t made_extra(pn_rng *rng)
{
    (void)rng;
    if (stream.extra_used++ < stream.extras)
        return stream.extra[stream.extra_used - 1];
    return 0;
}

static void made_enter(pn_rng *rng)
{
    (void)rng;
}

/* ---- one word ---- */

typedef void (*fill_fn)(size_t n, int64_t *out);

static const sampler_shape mini = {
    .scale_bits = 6,
    .bin_bits = 2,
    .slot_bits = 9,
    .y_bits = 4,
    .body = 64,
    .bins = 208,
    .slots = mini_slots,
    .low = mini_low,
    .high = mini_high,
    .peaks = mini_peaks,
    .tail_ends = mini_tail_ends,
};
#define MINI_WORDS 65536
#define MINI_LAST  832 /* numbers are below it */

static void fill_mini(size_t n, int64_t *out)
{
    sampler_fill(NULL, &mini, n, out);
}

/* Extra bits for one word: those in front, then the 128 that it is accepted by. */
static bool accepts(fill_fn fill, uint64_t word, const uint64_t *front, size_t fronts, pn_u128 y, int64_t *k)
{
    start();
    add_word(word);
    for (size_t i = 0; i < fronts; i++)
        stream.extra[i] = front[i];
    stream.extra[fronts] = (uint64_t)(y >> 64);
    stream.extra[fronts + 1] = (uint64_t)y;
    stream.extras = fronts + 2;
    stream.after = AFTER;
    fill(1, k);
    return stream.used == 1;
}

/* The chance that the word is accepted, over its extra bits. */
static long double chance(fill_fn fill, uint64_t word, const uint64_t *front, size_t fronts, int64_t *k)
{
    pn_u128 low = 0, high = PN_WIDE_ONE; /* accepted below low; the answer is in low .. high */

    if (!accepts(fill, word, front, fronts, 0, k))
        return 0.0L;
    if (stream.extra_used <= fronts || accepts(fill, word, front, fronts, PN_WIDE_ONE, k))
        return 1.0L;
    while (low < high) {
        pn_u128 middle = low + (high - low) / 2;

        if (accepts(fill, word, front, fronts, middle, k))
            low = middle + 1;
        else
            high = middle;
    }
    (void)accepts(fill, word, front, fronts, 0, k);
    return (long double)low * 0x1p-128L;
}

/* ---- the tiny copy ---- */

/* Mass by number, of the words that are accepted at once and of those that need more bits. */
static long double at_once[2 * MINI_LAST], later[2 * MINI_LAST];

static void enumerate_tail(uint64_t word)
{
    pn_u128 start_of_bin = 0;
    bool ordered = true;

    for (size_t b = 0; b < mini.bins - mini.body; b++) {
        pn_u128 end = pn_wide_value(mini.tail_ends[b]), last = end - 1;
        uint64_t first[2] = { (uint64_t)(start_of_bin >> 64), (uint64_t)start_of_bin },
                 front[2] = { (uint64_t)(last >> 64), (uint64_t)last };
        int64_t k = 0, edge = 0;
        long double p;

        p = chance(fill_mini, word, front, 2, &k);
        ordered = ordered && accepts(fill_mini, word & ~(uint64_t)15, first, 2, 0, &edge) &&
                  accepts(fill_mini, word & ~(uint64_t)15, front, 2, 0, &k) && edge == k;
        later[k + MINI_LAST] += p * (long double)(end - start_of_bin) * 0x1p-128L / MINI_WORDS;
        start_of_bin = end;
    }
    {
        uint64_t beyond[2] = { UINT64_MAX, UINT64_MAX };
        int64_t k;

        CHECK(ordered && !accepts(fill_mini, word, beyond, 2, 0, &k));
    }
}

static void enumerate(void)
{
    for (uint64_t word = 0; word < MINI_WORDS; word++) {
        int64_t k = 0;
        long double p;

        if (word >> 7 == 511) {
            enumerate_tail(word);
            continue;
        }
        p = chance(fill_mini, word, NULL, 0, &k);
        if (p == 0.0L)
            continue;
        (void)accepts(fill_mini, word, NULL, 0, 0, &k);
        (stream.extra_used == 0 ? at_once : later)[k + MINI_LAST] += p / MINI_WORDS;
    }
}

static long double total(const long double *mass)
{
    long double sum = 0.0L;

    for (int i = 0; i < 2 * MINI_LAST; i++)
        sum += mass[i];
    return sum;
}

/* The law of a a + b b is exp(-k^2 / (2 S^2)) / Z up to 6 S. */
static bool has_the_law(long double a, long double b)
{
    long double norm = 0.0L, sum = a * total(at_once) + b * total(later), worst = 0.0L;

    for (int k = -MINI_LAST + 1; k < MINI_LAST; k++)
        norm += expl(-(long double)k * k / 8192.0L);
    for (int k = -384; k <= 384; k++) {
        long double got = (a * at_once[k + MINI_LAST] + b * later[k + MINI_LAST]) / sum;

        worst = fmaxl(worst, fabsl(got * norm / expl(-(long double)k * k / 8192.0L) - 1.0L));
    }
    return worst < 1e-12L;
}

static void the_tiny_copy_has_its_law(void)
{
    enumerate();
    CHECK(has_the_law(1.0L, 1.0L));
    CHECK(!has_the_law(1.0L, 1.01L)); /* a factor anywhere is seen */
    CHECK_CLOSE((double)(total(at_once) + total(later)), 0.90403498, 5e-9);
}

/* ---- the places of a vector ---- */

enum { AT_ONCE, LATER, REJECTED, KINDS };

static void add_lane(int kind, size_t lane)
{
    /* Slot 3 is bin 0, where first bits 0 accept and 15 is undecided; first bits from `high` on reject. */
    uint64_t offset = 1 + lane % 3, negative = lane / 3 % 2, word = 3 << 7 | negative << 6 | offset << 4;

    if (kind == AT_ONCE) {
        add_word(word);
        return;
    }
    add_word(word | 15);
    stream.extra[stream.extras++] = kind == LATER ? 0 : UINT64_MAX;
}

/* Runs 8 draws on the lanes of a pattern; kinds[j] becomes the kind of the lane in place j, and `places` says how many
 * came from the lanes.  False when the places are not in the order of the lanes. */
static bool in_order(unsigned pattern, long double *weight, const long double *odds, int *kinds, size_t *places)
{
    int64_t out[8], want[LANES];

    start();
    stream.after = AFTER;
    *places = 0;
    *weight = 1.0L;
    for (size_t lane = 0; lane < LANES; lane++, pattern /= KINDS) {
        int kind = (int)(pattern % KINDS);

        add_lane(kind, lane);
        *weight *= odds[kind];
        if (kind != REJECTED && *places < 8) {
            kinds[*places] = kind;
            want[(*places)++] = (int64_t)(1 + lane % 3) * (lane / 3 % 2 ? -1 : 1);
        }
    }
    fill_mini(8, out);
    return memcmp(out, want, *places * sizeof *out) == 0;
}

/* Given that place j is filled from the first lanes, its law mixes the two kinds of accepted words as all draws do. */
static void every_place_has_the_law(void)
{
    const long double odds[KINDS] = { total(at_once), total(later), 1.0L - total(at_once) - total(later) };
    long double mix[8][KINDS] = { { 0.0L } }, weight;
    unsigned patterns = 1, ordered = 0;
    int kinds[8];
    size_t places;

    for (int lane = 0; lane < LANES; lane++)
        patterns *= KINDS;
    for (unsigned p = 0; p < patterns; p++) {
        ordered += in_order(p, &weight, odds, kinds, &places);
        for (size_t j = 0; j < places; j++)
            mix[j][kinds[j]] += weight;
    }
    CHECK(ordered == patterns);
    for (int j = 0; j < 8; j++)
        CHECK(has_the_law(mix[j][AT_ONCE] / odds[AT_ONCE], mix[j][LATER] / odds[LATER]));
}

/* ---- Laplace ---- */

static void fill_laplace(size_t n, int64_t *out)
{
    made_laplace(NULL, 1, n, out);
}

static uint64_t laplace_of(uint64_t offset, uint64_t negative, uint64_t prefix, uint64_t keep)
{
    return offset << 24 | negative << 23 | prefix << 12 | keep;
}

/* U is kept with probability exp(-U / 2^40). */
static void fractions_are_kept_with_their_weight(void)
{
    static const uint64_t offsets[] = { 1,
                                        2,
                                        UINT64_C(0xffffffff),
                                        UINT64_C(0x100000000),
                                        UINT64_C(0x123456789a),
                                        UINT64_C(0x8000000000),
                                        UINT64_C(0xfeffffffff),
                                        UINT64_C(0xffffffffff) };

    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        long double sum = 0.0L;
        int64_t k = 0;

        for (uint64_t keep = 0; keep < 4096; keep++)
            sum += chance(fill_laplace, laplace_of(offsets[i], 1, 2047, keep), NULL, 0, &k) / 4096.0L;
        CHECK_CLOSE((double)(sum / expl(-(long double)offsets[i] * 0x1p-40L)), 1.0, 1e-15);
        (void)accepts(fill_laplace, laplace_of(offsets[i], 1, 2047, 0), NULL, 0, 0, &k);
        CHECK(k == -(int64_t)offsets[i]);
    }
}

/* The smallest 128-bit number, with these first 11 bits, for which G is below g. */
static pn_u128 whole_edge(uint64_t prefix, int64_t g)
{
    pn_u128 low = 0, high = PN_WIDE_ONE;
    int64_t k = 0;

    while (low < high) {
        pn_u128 middle = low + (high - low) / 2;
        uint64_t front[2] = { (uint64_t)(middle >> 64), (uint64_t)middle };

        (void)accepts(fill_laplace, laplace_of(1, 0, prefix, 0), front, 2, PN_WIDE_ONE, &k); /* G ends, U is kept */
        if (k >> 40 >= g)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* P(G >= g) = exp(-g). */
static void whole_parts_are_geometric(void)
{
    for (int64_t g = 1; g <= 7; g++) {
        long double sum = 0.0L;

        for (uint64_t prefix = 0; prefix < 2048; prefix++)
            sum += (long double)whole_edge(prefix, g) * 0x1p-128L / 2048.0L;
        CHECK_CLOSE((double)(sum / expl(-(long double)g)), 1.0, 1e-15);
    }
}

/* Past 8 a new number is drawn, so sums of 8 and of what follows appear; and the end of the range does not overflow. */
static void whole_parts_go_on(void)
{
    int64_t k = 0;

    start();
    add_word(laplace_of(5, 0, 0, 0));
    stream.extra[2] = 0; /* 8, then 8 again, then the number 2^-1: none */
    stream.extra[4] = UINT64_C(1) << 63;
    stream.extras = 5;
    fill_laplace(1, &k);
    CHECK(k == (INT64_C(16) << 40) + 5);
    start();
    add_word(laplace_of(5, 1, 0, 0)); /* extra words are 0 for ever */
    fill_laplace(1, &k);
    CHECK(k == -(INT64_C(1) << 62));
}

static void zero_has_one_sign(void)
{
    int64_t k = 1;

    CHECK(!accepts(fill_laplace, laplace_of(0, 1, 2047, 0), NULL, 0, 0, &k));
    CHECK(accepts(fill_laplace, laplace_of(0, 0, 2047, 0), NULL, 0, 0, &k) && k == 0);
    CHECK(accepts(fill_laplace, laplace_of(0, 1, 300, 0), NULL, 0, 0, &k) && k == -(INT64_C(1) << 40));
}

/* exp(-(block 2^40 + offset) / (w 2^40)) at 128 bits. */
static void wide_exponents_are_exact(void)
{
    static const uint32_t widths[] = { 1, 2, 3, 7, 1000003, (1u << 20) - 1 };

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        uint32_t w = widths[i];
        uint64_t block = w - 1, offset = UINT64_C(0xfedcba9876);
        long double want = ((long double)block + (long double)offset * 0x1p-40L) / (long double)w;

        CHECK_CLOSE((double)((long double)exponent_of(block, offset, w) * 0x1p-128L / want), 1.0, 1e-15);
        CHECK(exponent_of(0, 0, w) == 0);
    }
}

int main(void)
{
    the_tiny_copy_has_its_law();
    every_place_has_the_law();
    fractions_are_kept_with_their_weight();
    whole_parts_are_geometric();
    whole_parts_go_on();
    zero_has_one_sign();
    wide_exponents_are_exact();
    return check_summary();
}
