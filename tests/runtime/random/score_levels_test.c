/* score_levels_test.c -- laws and costs of score_levels.c, which is compiled here so that words can be counted
 * and the envelope can be looked at.  Laws are computed from it and drawn: chi-square, false-alarm rate 1e-6 each. */
#include <stdlib.h>

#include "random/selection.h"
#include "random/stream.h"

static unsigned long words_drawn;

static uint64_t counted_word(pn_rng *rng)
{
    words_drawn++;
    return pn_stream_word(rng);
}

static pn_u128 counted_below(pn_rng *rng, pn_u128 n)
{
    words_drawn += 2; /* and again where a number is too large: with the same chance for all */
    return pn_below_wide(rng, n);
}

#define pn_stream_word counted_word
#define pn_below_wide  counted_below
#include "runtime/random/score_levels.c"
#undef pn_below_wide
#undef pn_stream_word

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

/* ---- a problem: G, and candidates (j, -+) of score -+|G_j| ---- */

typedef struct problem {
    pn_score_levels levels;
    double *sizes; /* |G_j|, whole */
    size_t count;
} problem;

static int64_t pair_score(const void *of, size_t j, bool second)
{
    const problem *self = of;

    return (int64_t)(second ? -self->sizes[j] : self->sizes[j]);
}

static void open(problem *self, size_t count, uint64_t num, uint64_t den)
{
    *self = (problem){ .count = count, .sizes = calloc(count, sizeof(double)) };
    if (!CHECK(self->sizes && pn_score_levels_reserve(&self->levels, count, NULL) == PN_OK))
        exit(check_summary());
    self->levels.view.of = self;
    self->levels.view.score = pair_score;
    self->levels.view.rate = (pn_rate){ num, den };
    self->levels.paired = true;
}

static void level(problem *self)
{
    pn_score_levels_of_pairs(&self->levels, self->sizes, self->count, 1.0, 0x1p40);
}

static void done(problem *self)
{
    pn_score_levels_clear(&self->levels);
    free(self->sizes);
}

/* ---- laws from the envelope ---- */

static double mass_kept(unsigned below)
{
    double part = below ? 0.0 : 1.0;

    for (int i = PN_LEVEL_WORDS - 1; below && i >= 0; i--)
        part = (part + (double)pn_noise_levels[below].kept[i]) * 0x1p-64;
    return part * (double)pn_mass_of_level(below);
}

static double chance(const pn_level_view *view, unsigned below, int64_t score)
{
    pn_i128 apart = view->top - (pn_i128)(below * view->rate.den) - score * (pn_i128)view->rate.num;

    return apart < 0 ? NAN : mass_kept(below) * exp(-(double)apart / (double)view->rate.den);
}

static unsigned below_of(const pn_score_levels *levels, size_t j)
{
    return levels->top - levels->place[j];
}

/* law[2j + second]; the mean number of proposals. */
static double law_of(const pn_score_levels *levels, size_t count, double *law)
{
    const pn_level_view *view = &levels->view;
    double total = (double)envelope_of(view).total, taken = 0.0;

    for (size_t j = 0; j < count; j++) {
        double first = chance(view, below_of(levels, j), view->score(view->of, j, false));
        double second = chance(view, view->second_below, view->score(view->of, j, true));

        taken += first + second;
        if (law) {
            law[2 * j] = first;
            law[2 * j + 1] = second;
        }
    }
    for (size_t i = 0; law && i < 2 * count; i++)
        law[i] /= taken;
    return total / taken;
}

static double softmax(const problem *self, double *law)
{
    const pn_rate rate = self->levels.view.rate;
    double sum = 0.0;

    for (size_t i = 0; i < 2 * self->count; i++) {
        law[i] = exp((i % 2 ? -1.0 : 1.0) * self->sizes[i / 2] * (double)rate.num / (double)rate.den);
        sum += law[i];
    }
    for (size_t i = 0; i < 2 * self->count; i++)
        law[i] /= sum;
    return sum;
}

static void draws_are(problem *self, uint64_t seed, const double *law, double limit)
{
    const int draws = (int)check_times(100000, 1000000);
    double *counts = calloc(2 * self->count, sizeof *counts);
    pn_rng *rng = seeded(seed);
    size_t j;
    bool second;

    for (int i = 0; counts && i < draws; i++) {
        CHECK(pn_score_levels_draw(rng, &self->levels.view, &j, &second, NULL) == PN_OK);
        counts[2 * j + second]++;
    }
    CHECK(counts && chi_square(counts, law, 2 * self->count) < limit);
    pn_rng_free(rng);
    free(counts);
}

/* first[count]: the law of first candidates, computed with 120 digits elsewhere. */
static void law_is(const double *sizes, size_t count, uint64_t num, uint64_t den, const double *first, double proposals,
                   double limit)
{
    double law[10], want[10];
    problem p;

    open(&p, count, num, den);
    memcpy(p.sizes, sizes, count * sizeof *sizes);
    level(&p);
    CHECK_CLOSE(law_of(&p.levels, count, law), proposals, 1e-7);
    softmax(&p, want);
    for (size_t i = 0; i < 2 * count; i++)
        CHECK_CLOSE(law[i], want[i], 1e-14);
    for (size_t j = 0; j < count; j++)
        CHECK_CLOSE(law[2 * j], first[j], 1e-15);
    draws_are(&p, count, want, limit);
    done(&p);
}

/* Equal scores, and scores on the edges of levels. */
static void proposals_have_the_law_of_the_weights(void)
{
    static const double equal[] = { 5.0, 5.0, 5.0, 5.0 }, edges[] = { 8.0, 16.0, 7.0, 15.0, 0.0 },
                        of_equal[] = { 0.2466057707640639, 0.2466057707640639, 0.2466057707640639, 0.2466057707640639 },
                        of_edges[] = { 0.1229965950935311, 0.3343394094050806, 0.1085441141984929, 0.2950534932119466,
                                       0.0452479186689984 };

    law_is(equal, 4, 3, 7, of_equal, 2.4401519, CHI2_7);
    law_is(edges, 5, 1, 8, of_edges, 2.0497403, CHI2_9);
}

/* ---- levels that are given ---- */

/* As if the levels were these: three coordinates in one block. */
static void set_levels(problem *self, const unsigned *levels)
{
    begin(&self->levels, self->count, 0.0);
    for (size_t j = 0; j < self->count; j++)
        self->levels.place[j] = (uint8_t)levels[j];
    count_block(&self->levels, 0, self->count);
    pn_score_levels_arrange(&self->levels);
}

static void levels_that_are_too_high_cost_time_and_keep_the_law(void)
{
    static const unsigned stale[] = { 4, 3, 2 };
    problem p;
    double law[6], want[6];

    open(&p, 3, 1, 2);
    p.sizes[0] = p.sizes[1] = 5.0;
    set_levels(&p, stale);
    CHECK_CLOSE(law_of(&p.levels, 3, law), 8.5225791, 1e-7);
    softmax(&p, want);
    for (size_t i = 0; i < 6; i++)
        CHECK_CLOSE(law[i], want[i], 1e-14);
    draws_are(&p, 3, want, CHI2_5);
    done(&p);
}

/* A proposal of the first coordinate ends it: each draw has one but for a chance of 0.02. */
static void a_score_above_its_level_ends_the_run(void)
{
    static const unsigned wrong[] = { 1, 2, 0 };
    pn_status status = PN_OK;
    problem p;
    pn_rng *rng = seeded(4);
    size_t j;
    bool second;
    pn_err err;

    open(&p, 3, 1, 2);
    p.sizes[0] = p.sizes[1] = 5.0;
    set_levels(&p, wrong);
    for (int i = 0; i < 100 && status == PN_OK; i++)
        status = pn_score_levels_draw(rng, &p.levels.view, &j, &second, &err);
    CHECK(status == PN_EPRIVACY);
    CHECK(strstr(err.message, "a score is above its level, which is a fault in Penumbra") != NULL);
    pn_rng_free(rng);
    done(&p);
}

/* ---- proposals ---- */

#define MANY 1000000

/* Mean proposals of `ahead` coordinates at `high` and the others at `low`; *share of all that are high. */
static double proposals_of(size_t ahead, double high, double low, double *share)
{
    static double law[2 * MANY];
    double proposals;
    problem p;

    open(&p, MANY, 1, 1);
    for (size_t j = 0; j < MANY; j++)
        p.sizes[j] = j >= MANY - ahead ? high : low;
    level(&p);
    proposals = law_of(&p.levels, MANY, law);
    *share = 0.0;
    for (size_t j = MANY - ahead; j < MANY; j++)
        *share += law[2 * j];
    done(&p);
    return proposals;
}

static void no_histogram_asks_for_many_proposals(void)
{
    double share;

    CHECK_CLOSE(proposals_of(0, 0.0, 0.0, &share), 1.8591409, 1e-7);
    CHECK_CLOSE(proposals_of(1, 14.0, 0.0, &share), 2.1817559, 1e-7);
    CHECK_CLOSE(share, 0.3755084701, 1e-10);
    CHECK_CLOSE(proposals_of(1000, 12.0, 5.0, &share), 2.7214382, 1e-7);
    CHECK_CLOSE(share, 0.5232831046, 1e-10);
    CHECK_CLOSE(proposals_of(1, 60.0, 0.0, &share), 2.7182818, 1e-7);
    CHECK_CLOSE(proposals_of(1, 1e9, 0.0, &share), 2.7182818, 1e-7); /* levels beyond any table */
}

/* max (e^(x+1) + 1)/(e^x + e^-x) over whole x is 2.80232, at 2. */
static void proposals_on_tight_levels_are_bounded(void)
{
    pn_rng *rng = seeded(5);
    double largest = 0.0;

    for (long i = 0; i < check_times(10000, 100000); i++) {
        size_t count = 1 + (size_t)pn_rng_below(rng, 12);
        uint64_t den = 1 + pn_rng_below(rng, 30);
        double spread = exp(6.0 * pn_rng_uniform(rng)) * (double)den;
        problem p;

        open(&p, count, 1, den);
        for (size_t j = 0; j < count; j++)
            p.sizes[j] = floor(spread * pn_rng_uniform(rng) * pn_rng_uniform(rng));
        level(&p);
        largest = fmax(largest, law_of(&p.levels, count, NULL));
        done(&p);
    }
    CHECK(largest <= 2.80233);
    CHECK(largest > 2.7); /* they come near it */
    pn_rng_free(rng);
}

/* An empty column has a score of 0 and is a candidate like any other; the words of a draw do not grow. */
static void nothing_but_zeros_is_uniform_and_takes_as_many_words_whatever_their_number(void)
{
    double law[20], least = INFINITY, most = 0.0;
    pn_rng *rng = seeded(6);
    size_t j;
    bool second;
    problem p;

    open(&p, 10, 1, 1000);
    level(&p);
    for (int i = 0; i < 20; i++)
        law[i] = 0.05;
    draws_are(&p, 7, law, CHI2_19);
    done(&p);
    for (size_t i = 0, count = 10000; i < 3; i++, count *= 10) {
        open(&p, count, 1, 1000);
        level(&p);
        words_drawn = 0;
        for (int draw = 0; draw < 1000; draw++)
            CHECK(pn_score_levels_draw(rng, &p.levels.view, &j, &second, NULL) == PN_OK);
        least = fmin(least, (double)words_drawn);
        most = fmax(most, (double)words_drawn);
        done(&p);
    }
    CHECK(most < 1.1 * least); /* of 16 proposals each: deviations are of 0.3 % */
    pn_rng_free(rng);
}

/* ---- singles ---- */

static int64_t single_score(const void *of, size_t j, bool second)
{
    (void)second;
    return (int64_t)floor(((const double *)of)[j] * 4.0);
}

/* Scores are whole quarters, rounded down. */
static void singles_have_their_law(void)
{
    static const double x[6] = { -2.3, 0.7, -0.05, 1.9, -2.2, 0.0 };
    const int draws = (int)check_times(100000, 1000000);
    double counts[6] = { 0 }, law[6], sum = 0.0;
    pn_score_levels levels = { .view = { .of = x, .score = single_score, .rate = { 2, 7 } } };
    pn_rng *rng = seeded(8);
    size_t j;
    bool second;

    CHECK(pn_score_levels_reserve(&levels, 6, NULL) == PN_OK);
    pn_score_levels_of_singles(&levels, x, 6, 4.0, 5.0);
    for (size_t i = 0; i < 6; i++)
        sum += law[i] = exp(floor(4.0 * x[i]) * 2.0 / 7.0);
    for (size_t i = 0; i < 6; i++)
        law[i] /= sum;
    for (int i = 0; i < draws; i++) {
        CHECK(pn_score_levels_draw(rng, &levels.view, &j, &second, NULL) == PN_OK && !second);
        counts[j]++;
    }
    CHECK(chi_square(counts, law, 6) < CHI2_5);
    pn_rng_free(rng);
    pn_score_levels_clear(&levels);
}

/* What is beyond `most` stands as high as that; a NaN has the least score there is, or among pairs 0. */
static void numbers_beyond_their_bound_are_cut(void)
{
    static const double x[5] = { 1e300, NAN, -INFINITY, 5.0, 0.0 };
    pn_score_levels levels = { .view = { .of = x, .score = single_score, .rate = { 1, 1 } } };

    CHECK(pn_score_levels_reserve(&levels, 5, NULL) == PN_OK);
    pn_score_levels_of_singles(&levels, x, 5, 4.0, 5.0);
    CHECK(below_of(&levels, 0) == 0 && below_of(&levels, 3) == 0);
    CHECK(below_of(&levels, 1) == 38 && below_of(&levels, 2) == 38 &&
          below_of(&levels, 4) == 18); /* 40 - 1, 20 - 1, rounded down */
    pn_score_levels_of_pairs(&levels, x, 5, 4.0, 5.0);
    CHECK(below_of(&levels, 0) == 0 && below_of(&levels, 2) == 0 && below_of(&levels, 3) == 0 &&
          below_of(&levels, 1) == 20 && below_of(&levels, 4) == 20);
    CHECK(levels.view.top == 21 && levels.view.second_below == 21);
    pn_score_levels_clear(&levels);
}

/* Every coordinate is found by its rank, across blocks and in the pool of the lowest. */
static void every_coordinate_is_found_by_its_rank(void)
{
    enum { N = 3 * 4096 + 5 };
    static bool seen[N];
    pn_rng *rng = seeded(9);
    size_t found = 0;
    problem p;

    open(&p, N, 1, 1);
    for (size_t j = 0; j < N; j++)
        p.sizes[j] = floor(100.0 * pn_rng_uniform(rng));
    level(&p);
    for (unsigned d = 0; d < PN_LEVEL_COUNT; d++) {
        for (size_t rank = 0; rank < p.levels.view.counts[d]; rank++) {
            size_t j = p.levels.view.locate(p.levels.view.levels, d, rank);

            if (CHECK(j < N && !seen[j] && below_of(&p.levels, j) == d))
                seen[j] = true;
            found++;
        }
    }
    CHECK(found == N);
    CHECK(p.levels.view.counts[PN_LEVEL_COUNT - 1] > N / 4); /* the pool */
    pn_rng_free(rng);
    done(&p);
}

/* ---- levels that are kept ---- */

/* After any changes places and counts are those of levels that are made anew, but for the base, and so is the law. */
static void levels_that_are_kept_are_those_made_anew(void)
{
    enum { N = 3000 };
    static double bounds[N];
    pn_rng *rng = seeded(10);
    pn_score_levels levels = { .view = { .rate = { 1, 1 } } }, anew = { .view = { .rate = { 1, 1 } } };

    CHECK(pn_score_levels_reserve(&levels, N, NULL) == PN_OK && pn_score_levels_reserve(&anew, N, NULL) == PN_OK);
    for (size_t j = 0; j < N; j++)
        bounds[j] = 60.0 * pn_rng_uniform(rng);
    pn_score_levels_of_bounds(&levels, bounds, N, true);
    CHECK(levels.base == 19.0); /* 59 stands 26 places from the end */
    for (int i = 0; i < 20000; i++) {
        size_t j = (size_t)pn_rng_below(rng, N);

        bounds[j] = 80.0 * pn_rng_uniform(rng);
        CHECK(pn_score_levels_set(&levels, j, bounds[j]));
    }
    CHECK(!pn_score_levels_set(&levels, 0, 86.0) && !pn_score_levels_set(&levels, 0, NAN));
    pn_score_levels_arrange(&levels);
    pn_score_levels_of_pairs(&anew, bounds, N, 1.0, 1e9);
    CHECK(levels.view.top == anew.view.top && levels.view.second_below == anew.view.second_below);
    for (unsigned d = 0; d < 60; d++) /* below are all that stand at the base or under it */
        CHECK(levels.view.counts[d] == anew.view.counts[d]);
    for (size_t rank = 0; rank < levels.view.counts[30]; rank++)
        CHECK(levels.view.locate(&levels, 30, rank) == anew.view.locate(&anew, 30, rank));
    pn_score_levels_clear(&levels);
    pn_score_levels_clear(&anew);
    pn_rng_free(rng);
}

static void tighten(void *owner)
{
    problem *self = owner;

    level(self);
    self->levels.view.owner = NULL; /* it was called */
}

/* Levels of 40 for scores of 0 turn down all but exp(-40) of proposals. */
static void levels_are_tightened_when_proposals_are_turned_down(void)
{
    static const unsigned stale[] = { 40, 40, 40 };
    problem p;
    double law[6] = { 1.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6, 1.0 / 6 }, counts[6] = { 0 };
    pn_rng *rng = seeded(11);
    bool second;
    size_t j;

    open(&p, 3, 1, 2);
    p.levels.view.tighten = tighten;
    for (int i = 0; i < 6000; i++) {
        set_levels(&p, stale);
        p.levels.view.owner = &p;
        CHECK(pn_score_levels_draw(rng, &p.levels.view, &j, &second, NULL) == PN_OK);
        CHECK(p.levels.view.owner == NULL);
        counts[2 * j + second]++;
    }
    CHECK(chi_square(counts, law, 6) < CHI2_5);
    pn_rng_free(rng);
    done(&p);
}

/* ---- memory ---- */

static pn_status grow(void *self, pn_err *err)
{
    pn_score_levels levels = { 0 };
    pn_status status = pn_score_levels_reserve(&levels, 5000, err);

    (void)self;
    CHECK(pn_score_levels_reserve(&levels, PN_SCORE_LEVELS_MOST + 1, NULL) == PN_EUNSUPPORTED);
    if (status == PN_OK)
        status = pn_score_levels_reserve(&levels, 9000, err);
    CHECK(status == PN_OK ? levels.capacity == 9000 : levels.capacity != 9000);
    pn_score_levels_clear(&levels);
    return status;
}

int main(void)
{
    proposals_have_the_law_of_the_weights();
    levels_that_are_too_high_cost_time_and_keep_the_law();
    a_score_above_its_level_ends_the_run();
    no_histogram_asks_for_many_proposals();
    proposals_on_tight_levels_are_bounded();
    nothing_but_zeros_is_uniform_and_takes_as_many_words_whatever_their_number();
    singles_have_their_law();
    numbers_beyond_their_bound_are_cut();
    every_coordinate_is_found_by_its_rank();
    levels_that_are_kept_are_those_made_anew();
    levels_are_tightened_when_proposals_are_turned_down();
    fail_alloc_sweep("levels", grow, NULL);
    return check_summary();
}
