/* permute_and_flip_test.c -- laws and costs of permute_and_flip.c, which is compiled here so that words and proposals
 * can be counted.  Chi-square of drawn counts, false-alarm rate 1e-6 each, beside laws that are computed from the
 * definition: over all subsets of a few candidates, and by an integral over time of many. */
#include <stdlib.h>
#include <string.h>

#include "random/selection.h"
#include "random/stream.h"

static unsigned long words_drawn;

static uint64_t counted_word(pn_rng *rng)
{
    words_drawn++;
    return pn_stream_word(rng);
}

static uint64_t counted_below(pn_rng *rng, uint64_t n)
{
    words_drawn++; /* and again where a number is too large: with a chance below n/2^64 */
    return pn_rng_below(rng, n);
}

#define pn_stream_word       counted_word
#define pn_rng_below         counted_below
#define pn_score_levels_flip counted_flip
#include "runtime/random/permute_and_flip.c"
#undef pn_stream_word
#undef pn_rng_below
#undef pn_score_levels_flip

#include "check.h"
#include "runtime/random/chi_square.h"

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

/* ---- a problem: whole scores, single or of pairs +-|x| ---- */

typedef struct problem {
    pn_score_levels levels;
    double *x;
    size_t count;
    bool pairs;
    int64_t best;
} problem;

static int64_t score_of(const void *of, size_t j, bool second)
{
    const problem *self = of;

    return (int64_t)(second ? -self->x[j] : self->x[j]);
}

static void open(problem *self, size_t count, bool pairs, uint64_t num, uint64_t den)
{
    *self = (problem){ .count = count, .x = calloc(count, sizeof(double)), .pairs = pairs };
    if (!CHECK(self->x && pn_score_levels_reserve(&self->levels, count, NULL) == PN_OK))
        exit(check_summary());
    self->levels.view.of = self;
    self->levels.view.score = score_of;
    self->levels.view.rate = (pn_rate){ num, den };
}

/* From the numbers themselves, as a mechanism makes them. */
static void level(problem *self)
{
    if (self->pairs)
        pn_score_levels_of_pairs(&self->levels, self->x, self->count, 1.0, 0x1p40);
    else
        pn_score_levels_of_singles(&self->levels, self->x, self->count, 1.0, 0x1p40);
    self->levels.view.best = self->best = (int64_t)self->levels.largest;
}

/* Kept ones, whose bounds are up to `slack` too high. */
static void level_kept(problem *self, double slack, pn_rng *rng)
{
    double rate = (double)self->levels.view.rate.num / (double)self->levels.view.rate.den;
    double *bounds = calloc(self->count, sizeof *bounds);

    if (!CHECK(bounds != NULL))
        exit(check_summary());
    for (size_t j = 0; j < self->count; j++)
        bounds[j] = rate * self->x[j] + fabs(rate * self->x[j]) * 0x1p-50 + slack * pn_rng_uniform(rng);
    pn_score_levels_of_bounds(&self->levels, bounds, self->count, self->pairs);
    pn_score_levels_arrange(&self->levels);
    self->levels.view.best = pn_score_levels_best(&self->levels);
    free(bounds);
}

static void done(problem *self)
{
    pn_score_levels_clear(&self->levels);
    free(self->x);
}

/* ---- the law ---- */

/* P(i) = sum over subsets that have i of the chance that just their coins come up, shared by all in it. */
static void law_by_subsets(const double *w, size_t count, double *law)
{
    memset(law, 0, count * sizeof *law);
    for (size_t set = 1; set < (size_t)1 << count; set++) {
        double chance = 1.0, members = 0.0;

        for (size_t i = 0; i < count; i++) {
            bool is = set >> i & 1;

            chance *= is ? w[i] : 1.0 - w[i];
            members += is;
        }
        for (size_t i = 0; i < count; i++)
            law[i] += (set >> i & 1) ? chance / members : 0.0;
    }
}

/* Of kinds with n[k] candidates of weight w[k]: n w integral over [0, 1] of prod (1 - t w)^n, one of the kind left out.
 * By Simpson's rule in -ln t, whose error is below 1e-9 here. */
static void law_by_time(const double *w, const double *n, size_t kinds, double *law)
{
    const int steps = 8000;
    const double far = 60.0;

    for (size_t k = 0; k < kinds; k++) {
        double sum = 0.0;

        for (int i = 0; i <= steps; i++) {
            double t = exp(-far * i / steps), fall = 0.0;

            for (size_t h = 0; h < kinds; h++) {
                double left = n[h] - (h == k);

                fall += left > 0.0 ? left * log1p(-t * w[h]) : 0.0;
            }
            sum += (i == 0 || i == steps ? 1.0 : i % 2 ? 4.0 : 2.0) * t * exp(fall);
        }
        law[k] = n[k] * w[k] * sum * far / steps / 3.0;
    }
}

static double gap_rate(const problem *self, int64_t score)
{
    return (double)(self->best - score) * (double)self->levels.view.rate.num / (double)self->levels.view.rate.den;
}

/* counts[2j + second], or by j alone of singles; the number of draws that ended in an error. */
static int draw_counts(problem *self, uint64_t seed, int draws, double *counts)
{
    pn_rng *rng = seeded(seed);
    int refused = 0;

    for (int i = 0; i < draws; i++) {
        bool second;
        size_t j;

        if (counted_flip(rng, &self->levels.view, &j, &second, NULL) == PN_OK)
            counts[self->pairs ? 2 * j + second : j]++;
        else
            refused++;
    }
    pn_rng_free(rng);
    return refused;
}

enum { FEW = 8 };

static size_t few_law(const problem *self, double *law)
{
    size_t candidates = self->count * (self->pairs ? 2 : 1);
    double w[FEW];

    for (size_t i = 0; i < candidates; i++)
        w[i] = exp(-gap_rate(self, score_of(self, self->pairs ? i / 2 : i, self->pairs && i % 2)));
    law_by_subsets(w, candidates, law);
    return candidates;
}

/* Pearson's statistic of cells that are expected 50 times or more, one of each candidate and one of all that are not;
 * the 1e-6 quantile of as many degrees of freedom, or more.  A last cell of less than 50 is seen at most 100 times,
 * but for a chance of 1e-9. */
static bool agrees(const double *counts, const double *law, size_t candidates, double draws)
{
    double seen[FEW + 1] = { 0 }, want[FEW + 1] = { 0 };
    size_t cells = 1;

    for (size_t i = 0; i < candidates; i++) {
        size_t cell = law[i] * draws >= 50.0 ? cells++ : 0;

        seen[cell] += counts[i];
        want[cell] += law[i];
    }
    if (want[0] * draws < 50.0)
        return seen[0] <= 100.0 && (cells == 2 || chi_square(seen + 1, want + 1, cells - 1) < CHI2_7);
    return cells == 1 || chi_square(seen, want, cells) < (cells <= 8 ? CHI2_7 : CHI2_9);
}

static void draws_are(problem *self, uint64_t seed)
{
    const int draws = (int)check_times(100000, 1000000);
    double law[FEW], counts[FEW] = { 0 };
    size_t candidates = few_law(self, law);

    CHECK(draw_counts(self, seed, draws, counts) == 0);
    CHECK(agrees(counts, law, candidates, draws));
}

static void few(const double *x, size_t count, bool pairs, uint64_t num, uint64_t den)
{
    pn_rng *rng = seeded(1);
    problem p;

    open(&p, count, pairs, num, den);
    memcpy(p.x, x, count * sizeof *x);
    level(&p);
    draws_are(&p, 2);
    level_kept(&p, 0.0, rng);
    CHECK(p.levels.view.best == p.best);
    draws_are(&p, 3);
    level_kept(&p, 3.0, rng);
    CHECK(p.levels.view.best == p.best);
    draws_are(&p, 4);
    done(&p);
    pn_rng_free(rng);
}

static void a_few_candidates_have_their_law(void)
{
    static const double one_two[] = { 0.0, -1.0, -3.0 }, ties[] = { 0.0, 0.0, -2.0, -5.0 },
                        equal[] = { 7.0, 7.0, 7.0, 7.0 }, ahead[] = { 40.0, 3.0, 2.0, 1.0 },
                        edges[] = { 16.0, 8.0, 0.0, -8.0, -16.0, 15.0 }, signs[] = { 5.0, 4.0, 0.0, 9.0 },
                        zeros[] = { 0.0, 0.0, 0.0 };

    few(one_two, 3, false, 1, 1);
    few(ties, 4, false, 1, 3);
    few(equal, 4, false, 3, 7);
    few(ahead, 4, false, 1, 4);
    few(edges, 6, false, 1, 8); /* scores on the edges of levels, and one beside */
    few(edges, 6, false, 0, 1); /* a rate of 0 tells nothing apart */
    few(signs, 4, true, 1, 4);
    few(signs, 4, true, 1, 9);
    few(zeros, 3, true, 1, 1);
    few(signs, 1, false, 1, 1);
    few(signs, 1, true, 1, 9);
}

/* The numbers that an independent program found by visiting in random order. */
static void the_law_is_that_of_visits_in_random_order(void)
{
    static const double scores[2][4] = { { 0.0, -1.0, -3.0 }, { 0.0, 0.0, -2.0, -5.0 } };
    static const double laws[2][4] = { { 0.7972719581932582, 0.1808871141042655, 0.0218409277 },
                                       { 0.3910322103, 0.3910322103, 0.1630580424, 0.0548775370 } };

    for (size_t c = 0; c < 2; c++) {
        double law[FEW], by_time[4], w[4], one[4] = { 1.0, 1.0, 1.0, 1.0 };
        problem p;

        open(&p, 3 + c, false, 1, c == 0 ? 1 : 3);
        memcpy(p.x, scores[c], p.count * sizeof(double));
        level(&p);
        for (size_t i = 0; i < p.count; i++)
            w[i] = exp(-gap_rate(&p, (int64_t)p.x[i]));
        law_by_time(w, one, p.count, by_time);
        CHECK(few_law(&p, law) == p.count);
        for (size_t i = 0; i < p.count; i++) {
            CHECK_CLOSE(law[i], laws[c][i], 1e-10);
            CHECK_CLOSE(by_time[i], law[i], 1e-9);
        }
        done(&p);
    }
}

/* ---- faults that the tests above must see ---- */

/* The upper edge of the level in place of the largest score; a rate of 0.8 of what it should be. */
static void another_maximum_or_rate_is_another_law(void)
{
    static const double x[] = { 5.0, 4.0, 0.0, -2.0 };

    for (int fault = 0; fault < 3; fault++) {
        double law[FEW], counts[FEW] = { 0 };
        pn_rng *rng = seeded(5);
        problem p;
        int refused;

        open(&p, 4, false, 1, 4);
        memcpy(p.x, x, sizeof x);
        level(&p);
        CHECK(few_law(&p, law) == 4);
        level_kept(&p, 0.0, rng);
        CHECK(p.levels.view.top == 8); /* 5/4 is below 2, which is a score of 8 */
        if (fault == 1)
            p.levels.view.best = 8;
        if (fault == 2) {
            p.levels.view.rate.den = 5;
            level_kept(&p, 0.0, rng);
        }
        refused = draw_counts(&p, 6, 100000, counts);
        CHECK((refused == 0 && agrees(counts, law, 4, 100000.0)) == (fault == 0));
        done(&p);
        pn_rng_free(rng);
    }
}

/* Of a hundred draws: each finds it out but for a chance below one half. */
static pn_status ends(const problem *self, pn_rng *rng, pn_err *err)
{
    pn_status status = PN_OK;
    bool second;
    size_t j;

    for (int i = 0; i < 100 && status == PN_OK; i++)
        status = counted_flip(rng, &self->levels.view, &j, &second, err);
    return status;
}

static void a_score_above_its_level_ends_the_run(void)
{
    static const double x[] = { 5.0, 5.0, 0.0 };
    pn_rng *rng = seeded(7);
    problem p;
    pn_err err;

    open(&p, 3, false, 1, 2);
    memcpy(p.x, x, sizeof x);
    level(&p);
    p.levels.view.best = 4;
    CHECK(ends(&p, rng, &err) == PN_EPRIVACY);
    CHECK(strstr(err.message, "a score is above its level, which is a fault in Penumbra") != NULL);
    p.levels.view.best = 6;
    CHECK(ends(&p, rng, &err) == PN_EPRIVACY);
    level(&p);
    p.x[1] = 9.0; /* after its level was made */
    CHECK(ends(&p, rng, &err) == PN_EPRIVACY);
    done(&p);
    pn_rng_free(rng);
}

/* ---- many candidates ---- */

/* Kinds of candidates: n[k] of them at score[k], in shuffled places.  Counts by kind; and, of all that are chosen, how
 * often a place is in each fifth: as often as its kind has members there. */
static void many_are(const double *score, const double *n, size_t kinds, uint64_t num, uint64_t den, double slack)
{
    const int draws = (int)check_times(5000, 50000);
    double counts[FEW] = { 0 }, law[FEW], w[FEW], fifths[5] = { 0 }, share[5] = { 0 }, total = 0.0;
    size_t *place;
    pn_rng *rng = seeded(8);
    problem p;

    for (size_t k = 0; k < kinds; k++)
        total += n[k];
    open(&p, (size_t)total, false, num, den);
    place = calloc(p.count, sizeof *place);
    if (!CHECK(place != NULL))
        exit(check_summary());
    pn_rng_permutation(rng, p.count, place);
    for (size_t k = 0, at = 0; k < kinds; k++) {
        for (size_t i = 0; i < (size_t)n[k]; i++)
            p.x[place[at++]] = score[k];
    }
    level(&p);
    if (slack >= 0.0)
        level_kept(&p, slack, rng);
    CHECK(p.levels.view.best == p.best);
    for (size_t k = 0; k < kinds; k++)
        w[k] = exp(-gap_rate(&p, (int64_t)score[k]));
    law_by_time(w, n, kinds, law);
    for (size_t j = 0; j < p.count; j++) {
        for (size_t k = 0; k < kinds; k++)
            share[5 * j / p.count] += p.x[j] == score[k] ? law[k] / n[k] : 0.0;
    }
    for (int i = 0; i < draws; i++) {
        bool second;
        size_t j;

        CHECK(counted_flip(rng, &p.levels.view, &j, &second, NULL) == PN_OK);
        fifths[5 * j / p.count]++;
        for (size_t k = 0; k < kinds; k++)
            counts[k] += p.x[j] == score[k];
    }
    CHECK(chi_square(fifths, share, 5) < CHI2_5);
    CHECK(agrees(counts, law, kinds, draws));
    free(place);
    pn_rng_free(rng);
    done(&p);
}

static void many_candidates_have_their_law(void)
{
    static const double level0[] = { 3.0 }, lots[] = { 200000.0 };
    static const double far[] = { 14.0, 0.0 }, one[] = { 1.0, 200000.0 };
    static const double steps[] = { 0.0, -1.0, -2.0, -3.0, -5.0, -8.0, -12.0 },
                        rising[] = { 1.0, 3.0, 10.0, 30.0, 200.0, 3000.0, 100000.0 };
    static const double cluster[] = { 12.0, 5.0 }, thousand[] = { 1000.0, 99000.0 };

    many_are(level0, lots, 1, 1, 1, -1.0);
    many_are(far, one, 2, 1, 1, -1.0);
    many_are(far, one, 2, 3, 4, 2.0);
    many_are(steps, rising, 7, 1, 1, -1.0);
    many_are(steps, rising, 7, 7, 8, 0.0);
    many_are(steps, rising, 7, 7, 8, 1.5);
    many_are(cluster, thousand, 2, 1, 1, 0.5);
}

/* ---- what it costs ---- */

/* Mean words of a draw from `count` candidates of a fixed shape: a tenth at each of ten gaps, one ahead. */
static double words_of(size_t count, double gap, double slack)
{
    const int draws = 400;
    pn_rng *rng = seeded(9);
    problem p;

    open(&p, count, true, 1, 4);
    for (size_t j = 0; j < count; j++)
        p.x[j] = (double)(1 + 4 * (j % 10));
    p.x[count / 2] = 40.0 + gap;
    if (slack < 0.0)
        level(&p);
    else
        level_kept(&p, slack, rng);
    words_drawn = 0;
    for (int i = 0; i < draws; i++) {
        bool second;
        size_t j;

        CHECK(counted_flip(rng, &p.levels.view, &j, &second, NULL) == PN_OK);
    }
    done(&p);
    pn_rng_free(rng);
    return (double)words_drawn / draws;
}

/* Plain visits take a word for each candidate that comes before the one taken: up to 400,000 here. */
static void words_do_not_grow_with_the_number_of_candidates(void)
{
    static const double gaps[] = { 0.0, 100.0 };

    for (size_t g = 0; g < 2; g++) {
        double least = INFINITY, most = 0.0;

        for (size_t count = 2000; count <= (size_t)check_times(200000, 20000000); count *= 10) {
            double words = words_of(count, gaps[g], g == 0 ? -1.0 : 0.5);

            least = fmin(least, words);
            most = fmax(most, words);
        }
        CHECK(most < 1.5 * least + 8.0); /* the last factor of 2 in 2^-s takes proposals to and fro */
        CHECK(most < 200.0);
    }
}

static void note(void *owner)
{
    *(bool *)owner = true;
}

/* One candidate is ahead by 20 of a thousand that might be as good, for all that levels say: half of them are tried. */
static void a_tightening_follows_a_draw_of_many_proposals(void)
{
    enum { N = 1000 };
    pn_rng *rng = seeded(10);
    bool called = false, second;
    problem p;
    size_t j;

    open(&p, N, false, 1, 1);
    p.x[3] = 20.0;
    p.levels.view.tighten = note;
    p.levels.view.owner = &called;
    level_kept(&p, 0.0, rng);
    CHECK(counted_flip(rng, &p.levels.view, &j, &second, NULL) == PN_OK && j == 3 && !called);
    for (size_t i = 0; i < N; i++)
        CHECK(pn_score_levels_set(&p.levels, i, 20.0));
    pn_score_levels_arrange(&p.levels);
    p.levels.view.best = pn_score_levels_best(&p.levels);
    for (int i = 0; i < 100 && !called; i++)
        CHECK(counted_flip(rng, &p.levels.view, &j, &second, NULL) == PN_OK && j == 3);
    CHECK(called);
    done(&p);
    pn_rng_free(rng);
}

int main(void)
{
    the_law_is_that_of_visits_in_random_order();
    a_few_candidates_have_their_law();
    another_maximum_or_rate_is_another_law();
    a_score_above_its_level_ends_the_run();
    many_candidates_have_their_law();
    words_do_not_grow_with_the_number_of_candidates();
    a_tightening_follows_a_draw_of_many_proposals();
    return check_summary();
}
