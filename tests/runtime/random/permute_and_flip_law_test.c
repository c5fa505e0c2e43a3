/* permute_and_flip_law_test.c -- the law of permute_and_flip.c by enumeration: it is compiled here with masses of 3
 * bits, and all outcomes of all draws are gone through, those that no comparison tells apart in one.  No sampling, no
 * seed.  ceil(8 exp(-d)) is far from 8 exp(-d), so that the coin of the level is seen. */
#include <setjmp.h>
#include <string.h>

#include "random/tables/noise_table.h"
#include "random/selection.h"
#include "random/stream.h"

typedef struct mini_mass {
    pn_wide mass;
    uint64_t kept[16];
} mini_mass;

#include "runtime/random/level_mini_table.h"

pn_u128 walk_wide(pn_rng *rng, pn_u128 n);
uint64_t walk_below(pn_rng *rng, uint64_t n);
bool walk_coin(pn_rng *rng, pn_u128 num, pn_u128 den);
bool walk_level(pn_rng *rng, unsigned below);

#define LEVEL_MASSES mini_levels
#define LEVEL_WORDS  16
#define LEVEL_BITS   3
#include "random/level_coin.h" /* whose coin has a law of its own: score_levels_law_test.c */
#define pn_level_coin        walk_level
#define pn_below_wide        walk_wide
#define pn_rng_below         walk_below
#define pn_bernoulli_exp     walk_coin
#define pn_score_levels_flip mini_flip
#include "runtime/random/permute_and_flip.c"

#include "check.h"

/* ---- the walk ---- */

#define DEPTH 256
#define MOST  4 /* candidates */

static struct {
    unsigned index[DEPTH], options[DEPTH];
    size_t depth, length;
    double weight, prune; /* a path rarer than that is cut and counted as lost */
    jmp_buf cut;
} path;

/* One of so many options, with the chance that `chances` has for it. */
static unsigned choose(unsigned options, const double *chances)
{
    unsigned chosen;

    if (path.depth == DEPTH)
        longjmp(path.cut, 1);
    if (path.depth == path.length) {
        path.index[path.length] = 0;
        path.options[path.length++] = options;
    }
    chosen = path.index[path.depth++];
    path.weight *= chances[chosen];
    if (path.weight < path.prune)
        longjmp(path.cut, 1);
    return chosen;
}

static bool toss(double up)
{
    const double chances[] = { 1.0 - up, up };

    return choose(2, chances) == 1;
}

/* Numbers below another are compared with up to this, the most candidates on a level: what is beyond is one option. */
static unsigned compared;

uint64_t walk_below(pn_rng *rng, uint64_t n)
{
    double chances[MOST + 1];
    unsigned options = n > compared ? compared + 1 : (unsigned)n;

    (void)rng;
    for (unsigned i = 0; i < options; i++)
        chances[i] = 1.0 / (double)n;
    if (n > compared)
        chances[compared] = (double)(n - compared) / (double)n;
    return choose(options, chances);
}

/* Of eight: compared with 3 * 2, 2 * 3 or 1 * 7. */
pn_u128 walk_wide(pn_rng *rng, pn_u128 n)
{
    static const double chances[] = { 6.0 / 8, 1.0 / 8, 1.0 / 8 };
    unsigned chosen = choose(3, chances);

    (void)rng;
    CHECK(n == 8);
    return chosen == 0 ? 5 : 5 + chosen;
}

bool walk_coin(pn_rng *rng, pn_u128 num, pn_u128 den)
{
    (void)rng;
    return num == 0 || toss(exp(-(double)num / (double)den));
}

bool walk_level(pn_rng *rng, unsigned below)
{
    (void)rng;
    return toss(8.0 * exp(-(double)below) / (double)pn_mass_of_level(below));
}

static void begin_path(void)
{
    path.depth = 0;
    path.weight = 1.0;
}

/* The next path; false after the last. */
static bool next_path(void)
{
    path.length = path.depth; /* a cut one ends where it was cut */
    while (path.length > 0 && ++path.index[path.length - 1] == path.options[path.length - 1])
        path.length--;
    begin_path();
    return path.length > 0;
}

/* ---- coins ---- */

static double chance_of_none(uint64_t i, uint64_t m)
{
    volatile double law = 0.0;

    path.length = 0;
    begin_path();
    do {
        if (setjmp(path.cut) == 0 && none_of(NULL, i, m))
            law += path.weight;
    } while (next_path());
    return law;
}

static void none_of_several_comes_up_with_its_chance(void)
{
    path.prune = 1e-15;
    compared = MOST;
    for (uint64_t m = 1; m <= 6; m++) {
        for (uint64_t i = 0; i < m && i <= MOST; i++)
            CHECK_CLOSE(chance_of_none(i, m), pow(1.0 - 1.0 / (double)m, (double)i), 1e-12);
    }
}

/* ---- draws ---- */

static int64_t scores[MOST];
static size_t count;

static int64_t score_of(const void *of, size_t j, bool second)
{
    (void)of;
    return second ? -scores[j] : scores[j];
}

/* law[2j + second]; returns the chance of the paths that were cut. */
static double enumerate(const pn_level_view *view, double *law)
{
    volatile double lost = 0.0;

    memset(law, 0, 2 * MOST * sizeof *law);
    path.length = 0;
    begin_path();
    do {
        if (setjmp(path.cut) == 0) {
            bool second;
            size_t j;

            if (CHECK(mini_flip(NULL, view, &j, &second, NULL) == PN_OK))
                law[2 * j + second] += path.weight;
        } else {
            lost += path.weight;
        }
    } while (next_path());
    return lost;
}

/* Over all subsets of the candidates, that just those have a coin that comes up, shared by them. */
static void by_subsets(double rate, bool pairs, double *law)
{
    int64_t best = scores[0];

    for (size_t j = 1; j < count; j++)
        best = scores[j] > best ? scores[j] : best;
    memset(law, 0, 2 * MOST * sizeof *law);
    for (unsigned set = 1; set < 1u << (2 * count); set++) {
        double chance = 1.0, members = 0.0;

        for (size_t i = 0; i < 2 * count; i++) {
            double w = i % 2 && !pairs ? 0.0 : exp(-rate * (double)(best - score_of(NULL, i / 2, i % 2)));

            chance *= (set >> i & 1) ? w : 1.0 - w;
            members += set >> i & 1;
        }
        for (size_t i = 0; i < 2 * count; i++)
            law[i] += (set >> i & 1) ? chance / members : 0.0;
    }
}

/* To what the paths that were cut may hold, which is little beside the chances themselves. */
static void law_is(const int64_t *given, size_t n, unsigned num, unsigned den, const double *slack, bool pairs)
{
    pn_score_levels levels = { .view = { .score = score_of, .rate = { num, den } } };
    double bounds[MOST], law[2 * MOST], want[2 * MOST], lost;

    count = n;
    for (size_t j = 0; j < n; j++) {
        scores[j] = given[j];
        bounds[j] = (double)given[j] * num / den + slack[j];
    }
    CHECK(pn_score_levels_reserve(&levels, n, NULL) == PN_OK);
    pn_score_levels_of_bounds(&levels, bounds, n, pairs);
    pn_score_levels_arrange(&levels);
    levels.view.best = pn_score_levels_best(&levels);
    path.prune = n * (pairs ? 2 : 1) < 4 ? 1e-8 : 1e-7; /* to end soon */
    compared = pairs ? (unsigned)n : 1;
    for (unsigned below = 0; below < PN_LEVEL_COUNT; below++)
        compared = levels.view.counts[below] > compared ? (unsigned)levels.view.counts[below] : compared;
    lost = enumerate(&levels.view, law);
    by_subsets((double)num / den, pairs, want);
    CHECK(lost < (n == 3 ? 2e-3 : 2e-2));
    for (size_t i = 0; i < 2 * MOST; i++)
        CHECK_CLOSE(law[i] + lost / 2, want[i], lost / 2 + 1e-12);
    pn_score_levels_clear(&levels);
}

static void a_draw_has_the_law_of_visits_in_random_order(void)
{
    static const double tight[MOST] = { 0.0 }, stale[MOST] = { 0.5, 1.25, 2.0, 0.0 };
    static const int64_t steps[] = { 0, -1, -3 }, equal[] = { 4, 4, 4 }, ahead[] = { 9, 0, 1 }, ends[] = { 3, 0 },
                         ties[] = { 0, 0, -2, -5 };

    law_is(steps, 3, 1, 1, tight, false);
    law_is(steps, 3, 3, 2, tight, false);
    law_is(steps, 3, 1, 1, stale, false);
    law_is(equal, 3, 1, 2, tight, false);
    law_is(equal, 3, 0, 1, stale, false);
    law_is(ahead, 3, 1, 3, tight, false);
    law_is(ties, 4, 1, 3, tight, false);
    law_is(ends, 2, 2, 3, stale, true);
    law_is(ends, 1, 1, 2, tight, true);
}

int main(void)
{
    none_of_several_comes_up_with_its_chance();
    a_draw_has_the_law_of_visits_in_random_order();
    return check_summary();
}
