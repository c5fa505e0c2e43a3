/* selection_law_test.c -- the laws of selection.c by enumeration: its source is compiled here against a stream that
 * walks through every outcome of every draw, and the probabilities of the paths are added up.  No sampling, no seed. */
#include <setjmp.h>
#include <stdlib.h>

#include "random/stream.h"

#define pn_rng_below          walk_below
#define pn_stream_word        walk_word
#define NEXT_BUNDLE           walk_bundle
#define pn_rate_of            walked_rate_of
#define pn_below_wide         walked_below_wide
#define pn_dyadic_floor       walked_dyadic_floor
#define pn_dyadic_value       walked_dyadic_value
#define pn_bernoulli_exp      walked_bernoulli_exp
#define pn_discrete_laplace   walked_discrete_laplace
#define pn_select_exponential walked_select_exponential
#define pn_select_laplace     walked_select_laplace
uint64_t walk_below(pn_rng *rng, uint64_t n);
uint64_t walk_word(pn_rng *rng);
uint64_t walk_bundle(pn_rng *rng);
#include "runtime/random/selection.c"

#include "check.h"

/* ---- the walk ---- */

#define DEPTH 64
#define PRUNE 1e-14 /* a path rarer than this is cut and counted as lost */

static struct {
    uint64_t index[DEPTH], options[DEPTH];
    size_t depth, length;
    double weight;
    jmp_buf cut;
} path;

/* Integers below this denominator are compared with one numerator only, so two values stand for all. */
static uint64_t split_den, split_num;

static void weigh(double probability)
{
    path.weight *= probability;
    if (path.weight < PRUNE || path.depth >= DEPTH)
        longjmp(path.cut, 1);
}

static uint64_t choose(uint64_t options)
{
    if (path.depth == path.length && path.depth < DEPTH) {
        path.index[path.length] = 0;
        path.options[path.length++] = options;
    }
    return path.depth < DEPTH ? path.index[path.depth++] : 0;
}

uint64_t walk_below(pn_rng *rng, uint64_t n)
{
    uint64_t value;

    (void)rng;
    if (n == split_den) {
        bool high = choose(2) == 1;

        weigh((double)(high ? split_den - split_num : split_num) / (double)split_den);
        return high ? split_num : 0;
    }
    value = choose(n);
    weigh(1.0 / (double)n);
    return value;
}

/* Words below 7 * 20! are compared with 7 * 20!/k!, and as the rest of a number that begins with a byte, with 256 times
 * that less byte times the limit: the ends of the intervals in which a word makes no difference. */
static uint64_t edges[64];
static size_t edge_count;

static int compare_edges(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void find_edges(bool after_a_byte)
{
    static const unsigned bytes[] = { 0, 2, 10, 42 };

    edge_count = 0;
    edges[edge_count++] = 0;
    edges[edge_count++] = WORD_LIMIT;
    for (size_t k = 0; k < FACTORIALS; k++) {
        edges[edge_count++] = inverse_factorial[k];
        for (size_t i = 0; i < 4 && after_a_byte; i++) {
            pn_u128 scaled = (pn_u128)inverse_factorial[k] << 8, base = (pn_u128)bytes[i] * WORD_LIMIT;

            if (scaled > base && scaled - base < WORD_LIMIT)
                edges[edge_count++] = (uint64_t)(scaled - base);
        }
    }
    qsort(edges, edge_count, sizeof *edges, compare_edges);
}

/* A word, given that it is below the limit: the draws are repeated until one is, so that changes no law. */
uint64_t walk_word(pn_rng *rng)
{
    uint64_t i;

    (void)rng;
    i = choose(edge_count - 1);
    weigh((double)(edges[i + 1] - edges[i]) / (double)WORD_LIMIT);
    return edges[i];
}

static uint64_t bundle_options; /* indices below it in a bundle */
static unsigned bundle_coins;   /* coins that can matter; the others stay 0 */

/* Given that the index is not drawn again.  A coin is one byte that comes up or one that fails, with the chances that
 * every_byte_is_of_a_known_kind finds for all of them. */
uint64_t walk_bundle(pn_rng *rng)
{
    uint64_t options = bundle_options, index = choose(options), bundle;

    (void)rng;
    weigh(1.0 / (double)options);
    bundle = (((index << 32) + options - 1) / options + 1) << 32;
    for (unsigned i = 0; i < bundle_coins; i++) {
        bool up = choose(2) == 1;

        weigh(up ? exp(-1.0) : 1.0 - exp(-1.0));
        bundle |= (uint64_t)(up ? 100 : 200) << (8 * i);
    }
    return bundle;
}

/* Move to the next path; false after the last. */
static bool next_path(void)
{
    while (path.length > 0 && ++path.index[path.length - 1] == path.options[path.length - 1])
        path.length--;
    return path.length > 0;
}

typedef size_t (*experiment)(void);

/* law[outcomes] of the experiment; returns the probability that was cut. */
static double enumerate(experiment run, double *law, size_t outcomes)
{
    volatile double lost = 0.0;

    for (size_t i = 0; i < outcomes; i++)
        law[i] = 0.0;
    path.length = 0;
    do {
        path.depth = 0;
        path.weight = 1.0;
        if (setjmp(path.cut) == 0) {
            size_t outcome = run(); /* before the weight is read */

            law[outcome] += path.weight;
        } else {
            lost += path.weight;
        }
        path.length = path.depth; /* a cut path ends where it was cut */
    } while (next_path());
    return lost;
}

/* ---- coins ---- */

static unsigned known_byte;

static size_t toss_known(void)
{
    return coin_exp_one_from(NULL, known_byte);
}

/* Four bytes leave the coin to what follows them.  What bundle_fails takes for a failure is one, always. */
static void every_byte_is_of_a_known_kind(void)
{
    unsigned down = 0, up = 0, undecided = 0;
    double total = 0.0;

    find_edges(true);
    for (known_byte = 0; known_byte < 256; known_byte++) {
        double law[2];

        CHECK(enumerate(toss_known, law, 2) < 1e-12);
        total += law[1] / 256.0;
        if (law[0] > 0.0 && law[1] > 0.0) {
            undecided++;
            CHECK(known_byte == 0 || known_byte == 2 || known_byte == 10 || known_byte == 42);
        } else {
            *(law[1] > 0.0 ? &up : &down) += 1;
        }
        CHECK(bundle_fails(known_byte, 1) == (law[1] == 0.0 && known_byte != 1));
        for (unsigned coin = 1; coin < 7; coin++) {
            uint64_t bundle = ~(UINT64_C(255) << (8 * coin)) & UINT64_C(0xff7f7f7f7f7f7f7f); /* the others come up */

            bundle |= (uint64_t)known_byte << (8 * coin);
            CHECK(bundle_fails(bundle, coin + 1) == (law[1] == 0.0 && known_byte != 1));
            CHECK(!bundle_fails(bundle, coin));
        }
    }
    CHECK(down == 160 && up == 92 && undecided == 4);
    CHECK_CLOSE(total, exp(-1.0), 1e-12);
    find_edges(false);
}

static size_t toss(void)
{
    return walked_bernoulli_exp(NULL, split_num, split_den);
}

static size_t toss_whole(void)
{
    return walked_bernoulli_exp(NULL, split_num + 2 * split_den, split_den);
}

/* Denominators are beyond the k that a path reaches, so that a coin 1/k is not taken for one of them. */
static void coins_have_probability_exp_minus_g(void)
{
    static const unsigned fractions[][2] = { { 0, 40 },  { 1, 40 },  { 20, 40 },     { 27, 40 },
                                             { 39, 40 }, { 40, 41 }, { 17, 1000003 } };

    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        double law[2];

        split_num = fractions[i][0];
        split_den = fractions[i][1];
        CHECK(enumerate(toss, law, 2) < 1e-12);
        CHECK_CLOSE(law[1], exp(-(double)split_num / (double)split_den), 1e-12);
        CHECK_CLOSE(law[0] + law[1], 1.0, 1e-12);
        CHECK(enumerate(toss_whole, law, 2) < 1e-11);
        CHECK_CLOSE(law[1], exp(-2.0 - (double)split_num / (double)split_den), 1e-11);
    }
    split_den = 0;
}

/* ---- selections ---- */

#define COUNT 3
static int64_t scores[COUNT];
static pn_dyadic epsilon;
static uint64_t shift;

/* One proposal of the exponential mechanism: the index, or COUNT when it was turned down. */
static size_t first_proposal(void)
{
    pn_rate r = pn_rate_of(epsilon, shift);
    uint64_t bundle;
    size_t i = bundle_index(NULL, COUNT, &bundle);

    return accept(NULL, bundle, (uint64_t)(largest(scores, COUNT) - scores[i]), r, rate_below(r)) ? i : COUNT;
}

static void proposals_are_accepted_in_proportion_to_the_weights(void)
{
    double law[COUNT + 1];

    scores[0] = 0;
    scores[1] = 1;
    scores[2] = 2;
    epsilon = walked_dyadic_floor(2.0);
    shift = 1;
    bundle_options = COUNT;
    bundle_coins = 2;
    CHECK(enumerate(first_proposal, law, COUNT + 1) < 1e-12);
    for (int i = 0; i < COUNT; i++)
        CHECK_CLOSE(law[i], exp((double)scores[i] - 2.0) / 3.0, 1e-12);
}

int main(void)
{
    every_byte_is_of_a_known_kind();
    coins_have_probability_exp_minus_g();
    proposals_are_accepted_in_proportion_to_the_weights();
    return check_summary();
}
