/* selection_law_test.c -- the laws of selection.c by enumeration: its source is compiled here against a stream that walks
 * through every outcome of every draw, and the probabilities of the paths are added up.  No sampling, no seed. */
#include <setjmp.h>
#include <stdlib.h>

#define pn_rng_below               walk_below
#define pn_rng_u64                 walk_u64
#define pn_dyadic_floor            walked_dyadic_floor
#define pn_dyadic_value            walked_dyadic_value
#define pn_bernoulli_exp           walked_bernoulli_exp
#define pn_discrete_laplace        walked_discrete_laplace
#define pn_select_exponential      walked_select_exponential
#define pn_select_permute_and_flip walked_select_permute_and_flip
#define pn_select_laplace          walked_select_laplace
#include "../../../runtime/random/selection.c"

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

/* A word, given that it is below 7 * 20!: the intervals between the numbers 7 * 20!/k!, which are all that it is compared
 * with.  The draws above are repeated until one is not, so they change no law. */
uint64_t walk_u64(pn_rng *rng)
{
    uint64_t edges[21] = { 0 }, edge = 7;
    uint64_t i;

    (void)rng;
    for (int k = 20; k >= 1; edge *= (uint64_t)k--)
        edges[21 - k] = edge;
    i = choose(20);
    weigh((double)(edges[i + 1] - edges[i]) / (double)edges[20]);
    return edges[i];
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
        if (setjmp(path.cut) == 0)
            law[run()] += path.weight;
        else
            lost += path.weight;
        path.length = path.depth; /* a cut path ends where it was cut */
    } while (next_path());
    return lost;
}

/* ---- coins ---- */

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

static size_t permute_and_flip(void)
{
    size_t order[COUNT];

    return walked_select_permute_and_flip(NULL, scores, COUNT, epsilon, shift, order);
}

/* By definition: the mean over all orders of the chance that i is the first to be accepted. */
static void permute_and_flip_law(double *law, double per_unit)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    int64_t best = largest(scores, COUNT);

    law[0] = law[1] = law[2] = 0.0;
    for (int o = 0; o < 6; o++) {
        double reached = 1.0 / 6.0;

        for (int place = 0; place < 3; place++) {
            double accepted = exp(-per_unit * (double)(best - scores[orders[o][place]]));

            law[orders[o][place]] += reached * accepted;
            reached *= 1.0 - accepted;
        }
    }
}

static void permute_and_flip_is(const int64_t *given, double eps, uint64_t units)
{
    double law[COUNT], want[COUNT];

    for (int i = 0; i < COUNT; i++)
        scores[i] = given[i];
    epsilon = walked_dyadic_floor(eps);
    shift = units;
    CHECK(walked_dyadic_value(epsilon) == eps);
    CHECK(enumerate(permute_and_flip, law, COUNT) < 1e-9);
    permute_and_flip_law(want, eps / (2.0 * (double)units));
    for (int i = 0; i < COUNT; i++)
        CHECK_CLOSE(law[i], want[i], 1e-9);
}

static void permute_and_flip_has_its_law(void)
{
    static const int64_t spread[] = { 0, -1, -3 }, ties[] = { -2, 5, 5 }, equal[] = { 4, 4, 4 }, far[] = { 9, 8, 0 };
    double law[COUNT];

    permute_and_flip_is(ties, 2.0, 1);
    permute_and_flip_is(equal, 2.0, 1);
    permute_and_flip_is(far, 0.5, 1);
    permute_and_flip_is(spread, 2.0, 3);
    permute_and_flip_is(spread, 2.0, 1);
    /* noise.md: scores (0, -1, -3), epsilon/(2 D) = 1 */
    CHECK(enumerate(permute_and_flip, law, COUNT) < 1e-9);
    CHECK_CLOSE(law[0], 0.797271958, 1e-9);
    CHECK_CLOSE(law[1], 0.180887114, 1e-9);
    CHECK_CLOSE(law[2], 0.021840928, 1e-9);
}

/* One proposal of the exponential mechanism: the index, or COUNT when it was turned down. */
static size_t first_proposal(void)
{
    rate r = rate_per_unit(epsilon, shift);
    size_t i = (size_t)walk_below(NULL, COUNT);

    return accept(NULL, largest(scores, COUNT), scores[i], r) ? i : COUNT;
}

static void proposals_are_accepted_in_proportion_to_the_weights(void)
{
    double law[COUNT + 1];

    scores[0] = 0;
    scores[1] = 1;
    scores[2] = 2;
    epsilon = walked_dyadic_floor(2.0);
    shift = 1;
    CHECK(enumerate(first_proposal, law, COUNT + 1) < 1e-12);
    for (int i = 0; i < COUNT; i++)
        CHECK_CLOSE(law[i], exp((double)scores[i] - 2.0) / 3.0, 1e-12);
}

int main(void)
{
    coins_have_probability_exp_minus_g();
    permute_and_flip_has_its_law();
    proposals_are_accepted_in_proportion_to_the_weights();
    return check_summary();
}
