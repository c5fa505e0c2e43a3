/* score_levels_law_test.c -- the law of proposals by enumeration: score_levels.c is compiled here with masses of 3
 * bits that are kept by digits of 3 bits, and every place, every digit and both sides of every last coin are gone
 * through.  No sampling, no seed.  ceil(8 exp(-d)) is far from 8 exp(-d), so that it is the coin of the digits which
 * makes the law. */
#include "random/tables/noise_table.h"
#include "random/selection.h"
#include "random/stream.h"

typedef struct mini_mass {
    pn_wide mass;
    uint64_t kept[16];
} mini_mass;

#include "runtime/random/level_mini_table.h"

pn_u128 walk_place(pn_rng *rng, pn_u128 n);
uint64_t walk_digit(pn_rng *rng);
bool walk_coin(pn_rng *rng, pn_u128 num, pn_u128 den);

#define LEVEL_MASSES               mini_levels
#define LEVEL_WORDS                16
#define pn_below_wide              walk_place
#define pn_stream_word             walk_digit
#define pn_bernoulli_exp           walk_coin
#define pn_score_levels_draw       mini_draw
#define pn_score_levels_reserve    mini_reserve
#define pn_score_levels_clear      mini_clear
#define pn_score_levels_of_pairs   mini_of_pairs
#define pn_score_levels_of_singles mini_of_singles
#include "runtime/random/score_levels.c"

#include "check.h"

/* ---- the walk ---- */

#define DEPTH 24

static struct {
    uint64_t index[DEPTH], options[DEPTH];
    size_t depth, length;
    double weight;
} path;

static uint64_t choose(uint64_t options)
{
    if (path.depth == path.length) {
        path.index[path.length] = 0;
        path.options[path.length++] = options;
    }
    return path.index[path.depth++];
}

pn_u128 walk_place(pn_rng *rng, pn_u128 n)
{
    (void)rng;
    path.weight /= (double)n;
    return choose((uint64_t)n);
}

uint64_t walk_digit(pn_rng *rng)
{
    (void)rng;
    path.weight /= 8.0;
    return choose(8);
}

bool walk_coin(pn_rng *rng, pn_u128 num, pn_u128 den)
{
    double up = exp(-(double)num / (double)den);
    bool is = choose(2) == 1;

    (void)rng;
    path.weight *= is ? up : 1.0 - up;
    return is;
}

static void first_path(void)
{
    path.length = path.depth = 0;
    path.weight = 1.0;
}

static bool next_path(void)
{
    path.length = path.depth;
    while (path.length > 0 && ++path.index[path.length - 1] == path.options[path.length - 1])
        path.length--;
    path.depth = 0;
    path.weight = 1.0;
    return path.length > 0;
}

/* ---- the law ---- */

#define COUNT 4

static int64_t sizes[COUNT];

static int64_t score_of_pair(const void *of, size_t j, bool second)
{
    (void)of;
    return second ? -sizes[j] : sizes[j];
}

static int64_t score_of_single(const void *of, size_t j, bool second)
{
    (void)of;
    (void)second;
    return sizes[j];
}

/* Chances of candidates 2j and 2j + 1, the second one's, given that one is taken. */
static void enumerate(const pn_level_view *view, double *law)
{
    const envelope from = envelope_of(view);
    double taken = 0.0;

    for (size_t i = 0; i < 2 * COUNT; i++)
        law[i] = 0.0;
    first_path();
    do {
        size_t j = 0;
        bool second = false;

        if (propose(NULL, view, &from, &j, &second) == TAKEN) {
            law[2 * j + second] += path.weight;
            taken += path.weight;
        }
    } while (next_path());
    for (size_t i = 0; i < 2 * COUNT; i++)
        law[i] /= taken;
}

static void softmax(double *law, double rate, bool pairs)
{
    double sum = 0.0;

    for (size_t i = 0; i < 2 * COUNT; i++) {
        law[i] = exp(rate * (double)(i % 2 ? -sizes[i / 2] : sizes[i / 2])) * (pairs || i % 2 == 0);
        sum += law[i];
    }
    for (size_t i = 0; i < 2 * COUNT; i++)
        law[i] /= sum;
}

static void law_is(const int64_t *given, unsigned num, unsigned den, bool pairs)
{
    pn_score_levels levels = { 0 };
    double x[COUNT], law[2 * COUNT], want[2 * COUNT];

    for (size_t j = 0; j < COUNT; j++)
        x[j] = (double)(sizes[j] = given[j]);
    CHECK(mini_reserve(&levels, COUNT, NULL) == PN_OK);
    levels.view.score = pairs ? score_of_pair : score_of_single;
    levels.view.rate = (pn_rate){ num, den };
    (pairs ? mini_of_pairs : mini_of_singles)(&levels, x, COUNT, 1.0, 100.0);
    enumerate(&levels.view, law);
    softmax(want, (double)num / den, pairs);
    for (size_t i = 0; i < 2 * COUNT; i++)
        CHECK_CLOSE(law[i], want[i], 1e-12);
    mini_clear(&levels);
}

static void proposals_have_the_law_of_the_weights(void)
{
    static const int64_t close[COUNT] = { 5, 5, 4, 0 }, spread[COUNT] = { 30, 1, 14, 7 }, nothing[COUNT] = { 0 },
                         signs[COUNT] = { -9, 4, -1, 3 };

    law_is(close, 3, 7, true);
    law_is(spread, 1, 8, true);
    law_is(nothing, 1, 2, true);
    law_is(close, 0, 1, true); /* a rate of 0 tells nothing apart */
    law_is(close, 3, 7, false);
    law_is(signs, 1, 2, false);
    law_is(signs, 0, 1, false);
}

/* Kept levels of singles whose bounds are up to `slack` above their scores, all below 0 among them. */
static void kept_law_is(const int64_t *given, unsigned num, unsigned den, const double *slack, bool pairs)
{
    pn_score_levels levels = { 0 };
    double bounds[COUNT], law[2 * COUNT], want[2 * COUNT];

    CHECK(mini_reserve(&levels, COUNT, NULL) == PN_OK);
    for (size_t j = 0; j < COUNT; j++) {
        sizes[j] = given[j];
        bounds[j] = (double)given[j] * num / den + 30.0;
    }
    levels.view.score = pairs ? score_of_pair : score_of_single;
    levels.view.rate = (pn_rate){ num, den };
    pn_score_levels_of_bounds(&levels, bounds, COUNT, pairs);
    for (size_t j = 0; j < COUNT; j++) /* in turn, as vertices move them */
        CHECK(pn_score_levels_set(&levels, j, (double)given[j] * num / den + slack[j]));
    pn_score_levels_arrange(&levels);
    enumerate(&levels.view, law);
    softmax(want, (double)num / den, pairs);
    for (size_t i = 0; i < 2 * COUNT; i++)
        CHECK_CLOSE(law[i], want[i], 1e-12);
    mini_clear(&levels);
}

static void kept_levels_keep_the_law(void)
{
    static const int64_t below[COUNT] = { -9, -40, -11, -9 }, signs[COUNT] = { -9, 4, -1, 3 },
                         far[COUNT] = { 0, -200, 6, 5 }, sizes_of[COUNT] = { 5, 0, 4, 1 };
    static const double tight[COUNT] = { 0.0 }, stale[COUNT] = { 2.5, 0.0, 1.0, 0.75 };

    kept_law_is(below, 1, 2, tight, false);
    kept_law_is(below, 3, 7, stale, false);
    kept_law_is(signs, 1, 2, tight, false);
    kept_law_is(signs, 1, 1, stale, false);
    kept_law_is(far, 1, 1, tight, false);
    kept_law_is(far, 0, 1, tight, false);
    kept_law_is(sizes_of, 1, 2, stale, true);
    kept_law_is(sizes_of, 1, 1, tight, true);
}

int main(void)
{
    kept_levels_keep_the_law();
    proposals_have_the_law_of_the_weights();
    return check_summary();
}
