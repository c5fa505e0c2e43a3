/* score_levels_best_test.c -- the largest score among kept levels, beside a look at all of them. */
#include "check.h"
#include "random/rng.h"
#include "random/score_levels.h"

enum { N = 5000 };

static double x[N];

static int64_t score_of(const void *of, size_t j, bool second)
{
    (void)of;
    return (int64_t)(second ? -x[j] : x[j]);
}

/* At rate 1/16, with bounds that are up to `slack` too high. */
static void level(pn_score_levels *levels, double slack, bool pairs, pn_rng *rng)
{
    static double bounds[N];

    for (size_t j = 0; j < N; j++)
        bounds[j] = x[j] / 16.0 + slack * pn_rng_uniform(rng);
    pn_score_levels_of_bounds(levels, bounds, N, pairs);
}

/* Tight, loose, raised and lowered since; the exact score where the largest bound is another coordinate's. */
static void the_largest_score_is_found_by_any_bounds(void)
{
    pn_rng *rng = NULL;
    pn_score_levels levels = { .view = { .score = score_of, .rate = { 1, 16 } } };

    CHECK(pn_rng_seeded(&rng, 11, NULL) == PN_OK && pn_score_levels_reserve(&levels, N, NULL) == PN_OK);
    for (int trial = 0; trial < 200; trial++) {
        bool pairs = trial % 2 == 0;
        double most = -INFINITY, spread = exp(14.0 * pn_rng_uniform(rng)), lift = pairs ? 0.0 : -0.9 * spread;

        for (size_t j = 0; j < N; j++)
            x[j] = floor(spread * pn_rng_uniform(rng) * pn_rng_uniform(rng) + lift);
        level(&levels, trial % 3 == 0 ? 0.0 : 4.0, pairs, rng);
        for (int i = 0; i < 50; i++) {
            size_t j = (size_t)pn_rng_below(rng, N);

            x[j] = floor(x[j] * 0.9) + (i % 5 == 0 ? 16.0 : 0.0);
            if (!pn_score_levels_set(&levels, j, x[j] / 16.0))
                level(&levels, 1.0, pairs, rng);
        }
        for (size_t j = 0; j < N; j++)
            most = fmax(most, x[j]);
        CHECK(pn_score_levels_best(&levels) == (int64_t)most);
    }
    pn_score_levels_clear(&levels);
    pn_rng_free(rng);
}

int main(void)
{
    the_largest_score_is_found_by_any_bounds();
    return check_summary();
}
