/* selection_mechanism_test.c -- the lattice of scores, the price of the rounded parameters, and what a release does
 * when memory is short.  The source is compiled here, so that the integers themselves can be looked at. */
#include "runtime/privacy/mechanism/selection_mechanism.c"

#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

static selection_mechanism *made(const pn_selection_options *options)
{
    pn_mechanism *mechanism = NULL;
    pn_err err;

    if (!CHECK(pn_mechanism_selection(&mechanism, options, &err) == PN_OK))
        exit(check_summary());
    return (selection_mechanism *)mechanism;
}

static double between(pn_rng *rng, double low, double high)
{
    return low + (high - low) * pn_rng_uniform(rng);
}

/* Neighbouring scores, each computed with an error of its own, never move an integer by more than D. */
static void a_record_moves_an_integer_by_at_most_the_shift(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
    for (int trial = 0; trial < 300; trial++) {
        double bound = exp2(between(rng, -30.0, 30.0)), sensitivity = bound * exp2(between(rng, -40.0, 1.0));
        double error = trial % 3 == 0 ? 0.0 : sensitivity * exp2(between(rng, -25.0, 2.0));
        pn_selection_options options = { PN_SELECT_EXPONENTIAL, 1.0, sensitivity, error, bound, PN_REPLACE_ONE, 0.0 };
        selection_mechanism *self = made(&options);
        int64_t furthest = 0;

        for (int i = 0; i < 1000; i++) {
            double q = between(rng, -1.01, 1.01) * bound, sign = i % 2 ? 1.0 : -1.0;
            int64_t moved = pn_score_choice_round(&self->choice, q + sign * error) -
                            pn_score_choice_round(&self->choice, q - sign * (sensitivity + error));

            moved = moved < 0 ? -moved : moved;
            furthest = moved > furthest ? moved : furthest;
        }
        CHECK((uint64_t)furthest <= self->shift);
        CHECK((double)pn_score_choice_round(&self->choice, bound) <= 0x1p52 &&
              (double)pn_score_choice_round(&self->choice, -bound) >= -0x1p52);
        pn_mechanism_free(&self->base);
    }
    pn_rng_free(rng);
}

static void the_unit_is_the_smallest_power_of_two_that_will_do(void)
{
    static const struct {
        double sensitivity, error, bound;
        int exponent;
        uint64_t shift;
    } cases[] = {
        { 1.0, 0.0, 1.0, -20, (1 << 20) + 1 },     /* sensitivity 2^-20 */
        { 1.5, 0.0, 1.0, -19, 3 * (1 << 18) + 1 }, /* 1.5 2^-20 rounded up to 2^-19 */
        { 1.0, 0x1p-17, 1.0, -16, (1 << 16) + 1 }, /* 2 score_error */
        { 1.0, 0.5, 1.0, -12, 1 << 13 },           /* (1 + 2 score_error) 2^12: no further than sensitivity 2^-12 */
        { 1.0, 3.0, 1.0, -12, 1 << 13 },           /* scores of +-1 are never more than 2 apart */
        { 1.0, 3.0, 0x1p20, -12, 7 << 12 },        { 1.0, 0x1p800, 0x1p40, -12, UINT64_C(1) << 53 },
        { 1.0, 0.0, 0x1p40, -12, (1 << 12) + 1 }, /* score_bound 2^-52 */
        { 0.75, 0x1p-3, 1.0, -12, 1 << 12 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pn_selection_options options = { PN_SELECT_LAPLACE, 1.0, cases[i].sensitivity, cases[i].error, cases[i].bound,
                                         PN_REPLACE_ONE,    0.0 };
        selection_mechanism *self = made(&options);

        CHECK(self->unit_exponent == cases[i].exponent);
        CHECK(self->shift == cases[i].shift);
        pn_mechanism_free(&self->base);
    }
}

/* What the event costs, 2 sensitivity / scale rounded upward, is never below the epsilon of the draw, and above it by
 * an ulp or two at most. */
static void the_charge_is_never_below_what_is_drawn(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 2, NULL) == PN_OK);
    for (int i = 0; i < 20000; i++) {
        double epsilon = pn_dyadic_value(pn_dyadic_floor(exp2(between(rng, -40.0, 10.0))));
        double sensitivity = exp2(between(rng, -900.0, 899.0)), scale = scale_for(sensitivity, epsilon);
        double charged = 2.0 * pn_quotient_up(sensitivity, scale);

        if (!CHECK(charged >= epsilon && fma(-charged, scale, 2.0 * sensitivity) <= 0.0))
            break;
        CHECK(charged <= epsilon * (1.0 + 0x1p-50));
    }
    pn_rng_free(rng);
}

static void options_outside_their_range_are_refused(void)
{
    const pn_selection_options good = { PN_SELECT_LAPLACE, 1.0, 1.0, 0.0, 1.0, PN_REPLACE_ONE, 0.0 };
    pn_selection_options bad[11];
    pn_mechanism *mechanism = NULL;

    for (size_t i = 0; i < 11; i++)
        bad[i] = good;
    bad[0].law = (pn_selection)3;
    bad[1].neighbours = (pn_neighbours)3;
    bad[2].epsilon = NAN;
    bad[3].epsilon = 2000.0;
    bad[4].sensitivity = 0.0;
    bad[5].sensitivity = INFINITY;
    bad[6].score_error = -1.0;
    bad[7].score_error = NAN;
    bad[8].score_bound = 0.0;
    bad[9].pairs = NAN;
    bad[10].pairs = 0x1p-901;
    for (size_t i = 0; i < 11; i++)
        CHECK(pn_mechanism_selection(&mechanism, &bad[i], NULL) == PN_EINVAL);
    CHECK(mechanism == NULL);
}

/* ---- releases ---- */

static pn_ledger *budget(double epsilon, bool simulated, pn_err *err)
{
    pn_budget terms = {
        .epsilon = epsilon, .delta = 0.0, .rho = NAN, .neighbours = PN_REPLACE_ONE, .teaching = simulated
    };
    pn_ledger *ledger = NULL;

    (void)pn_ledger_new(&ledger, &terms, err);
    return ledger;
}

/* Two releases, the second with more candidates; a failed allocation on the way is not paid for. */
static pn_status release_twice(void *self, pn_err *err)
{
    const double scores[5] = { 1.0, 2.0, 3.0, 2.0, 1.0 };
    pn_selection_options options = { *(pn_selection *)self, 0.25, 1.0, 0.0, 10.0, PN_REPLACE_ONE, 0.0 };
    pn_mechanism *mechanism = NULL;
    pn_release release = { .index = 99 };
    pn_ledger *ledger = budget(1.0, true, err);
    pn_rng *rng = NULL;
    pn_status status = ledger ? pn_mechanism_selection(&mechanism, &options, err) : PN_ENOMEM;

    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 3, err);
    for (size_t n = 3; n <= 5 && status == PN_OK; n += 2) {
        release.index = 99;
        status = pn_mechanism_release(mechanism, ledger, "choice", rng, scores, n, &release, err);
        CHECK(status == PN_OK ? release.index < n && release.simulated : release.index == 99);
    }
    if (status == PN_OK)
        CHECK_CLOSE(pn_ledger_remaining(ledger), 0.5, 1e-12);
    pn_rng_free(rng);
    pn_mechanism_free(mechanism);
    pn_ledger_free(ledger);
    return status;
}

static void the_door_checks_before_it_charges(void)
{
    const double scores[2] = { 1.0, 2.0 }, broken[2] = { 1.0, NAN };
    pn_selection_options options = { PN_SELECT_EXPONENTIAL, 0.25, 1.0, 0.0, 10.0, PN_REPLACE_ONE, 0.0 };
    selection_mechanism *self = made(&options);
    pn_ledger *real = budget(1.0, false, NULL);
    pn_release release = { .index = 99 };
    pn_rng *secure = NULL, *seeded = NULL;

    CHECK(pn_rng_secure(&secure, NULL) == PN_OK && pn_rng_seeded(&seeded, 1, NULL) == PN_OK);
    CHECK(pn_mechanism_release(&self->base, NULL, "x", secure, scores, 2, &release, NULL) == PN_EINVAL);
    CHECK(pn_mechanism_release(&self->base, real, "x", secure, scores, 0, &release, NULL) == PN_EDIM);
    CHECK(pn_mechanism_release(&self->base, real, "x", seeded, scores, 2, &release, NULL) == PN_EPRIVACY);
    CHECK(pn_mechanism_release(&self->base, real, "x", secure, broken, 2, &release, NULL) == PN_EDOMAIN);
    CHECK(release.index == 99 && pn_ledger_entries(real) == 0);
    CHECK(pn_mechanism_release(&self->base, real, NULL, secure, scores, 2, &release, NULL) == PN_OK);
    CHECK(release.index < 2 && !release.simulated);
    CHECK(pn_ledger_entries(real) == 1 && strcmp(pn_ledger_entry(real, 0).label, "exponential") == 0);
    pn_ledger_close(real);
    release.index = 99;
    CHECK(pn_mechanism_release(&self->base, real, "x", secure, scores, 2, &release, NULL) == PN_EBUDGET);
    CHECK(release.index == 99);
    pn_mechanism_free(&self->base);
    pn_mechanism_free(NULL);
    pn_ledger_free(real);
    pn_rng_free(secure);
    pn_rng_free(seeded);
}

/* ---- many candidates ---- */

#define NUMBERS 400
#define CELLS   10

/* Candidates of one cell have one score: that of their number, or of its negative. */
static size_t cell_of(size_t number, bool other)
{
    return 2 * (number % 5) + other;
}

/* Numbers by levels, counted by cell. */
static void draw_many(const pn_selection_options *options, const double *x, size_t count, int draws, double *cells)
{
    selection_mechanism *self = made(options);
    pn_release release = { .index = 0 };
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 21, NULL) == PN_OK);
    CHECK(self->base.ops->prepare(&self->base, count, NULL) == PN_OK);
    CHECK(self->choice.levels.capacity == count); /* not by proposals over all */
    for (int i = 0; i < draws; i++) {
        CHECK(self->base.ops->draw(&self->base, x, count, rng, &release, NULL) == PN_OK);
        cells[options->pairs != 0.0 ? cell_of(release.index / 2, release.index % 2)
                                    : cell_of(release.index % NUMBERS, release.index >= NUMBERS)]++;
    }
    pn_rng_free(rng);
    pn_mechanism_free(&self->base);
}

/* The sampler for few candidates, over the same whole scores. */
static void draw_by_proposals(const pn_selection_options *options, const double *x, int draws, double *cells)
{
    selection_mechanism *self = made(options);
    int64_t scores[2 * NUMBERS];
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 22, NULL) == PN_OK);
    for (size_t j = 0; j < NUMBERS; j++) {
        scores[2 * j] = pn_score_choice_round(&self->choice, options->pairs * x[j]);
        scores[2 * j + 1] = pn_score_choice_round(&self->choice, -options->pairs * x[j]);
    }
    for (int i = 0; i < draws; i++) {
        size_t chosen = pn_select_exponential(rng, scores, 2 * NUMBERS, self->law_epsilon, self->shift);

        cells[cell_of(chosen / 2, chosen % 2)]++;
    }
    pn_rng_free(rng);
    pn_mechanism_free(&self->base);
}

/* Of two samples of one law (a - b)^2/(a + b) summed up is chi-square: false-alarm rate 1e-6.  Pairs, and the same
 * candidates as single scores, against proposals over all; epsilon is large, so that 1.1 of it is seen. */
static void many_candidates_have_the_law_of_few(void)
{
    static const double values[5] = { 0.0, -0.1, 0.25, 0.4, -0.55 };
    const int draws = (int)check_times(50000, 500000);
    pn_selection_options options = { PN_SELECT_EXPONENTIAL, 8.0, 1.0, 0.0, 2.0, PN_REPLACE_ONE, -1.5 },
                         single = options;
    double x[NUMBERS], both[2 * NUMBERS], a[CELLS] = { 0 }, b[CELLS] = { 0 }, c[CELLS] = { 0 }, d[CELLS] = { 0 };
    double pairs = 0.0, singles = 0.0, wrong = 0.0;

    for (size_t j = 0; j < NUMBERS; j++) {
        x[j] = values[j % 5];
        both[j] = options.pairs * x[j];
        both[NUMBERS + j] = -both[j];
    }
    single.pairs = 0.0;
    draw_many(&options, x, NUMBERS, draws, a);
    draw_many(&single, both, 2 * NUMBERS, draws, b);
    draw_by_proposals(&options, x, draws, c);
    options.epsilon *= 1.1;
    draw_many(&options, x, NUMBERS, draws, d);
    for (int i = 0; i < CELLS; i++) {
        pairs += (a[i] - c[i]) * (a[i] - c[i]) / (a[i] + c[i]);
        singles += (b[i] - c[i]) * (b[i] - c[i]) / (b[i] + c[i]);
        wrong += (d[i] - c[i]) * (d[i] - c[i]) / (d[i] + c[i]);
    }
    CHECK(pairs < CHI2_9 && singles < CHI2_9);
    CHECK(wrong > CHI2_9);
}

/* Laplace noise and permute-and-flip go over both candidates of every number. */
static void other_laws_know_pairs_as_well(void)
{
    const double x[3] = { 0.0, -1000.0, 1.0 };
    pn_ledger *ledger = budget(1e6, true, NULL);
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 23, NULL) == PN_OK);
    for (pn_selection law = PN_SELECT_EXPONENTIAL; law <= PN_SELECT_LAPLACE; law++) {
        for (double pairs = -2.0; pairs <= 2.0; pairs += 4.0) {
            pn_selection_options options = { law, 1.0, 1.0, 0.0, 4000.0, PN_REPLACE_ONE, pairs };
            selection_mechanism *self = made(&options);
            pn_release release = { .index = 99 };

            CHECK(pn_mechanism_release(&self->base, ledger, "x", rng, x, 3, &release, NULL) == PN_OK);
            CHECK(release.index == (pairs < 0.0 ? 2 : 3)); /* but for a chance of exp(-999) */
            pn_mechanism_free(&self->base);
        }
    }
    pn_rng_free(rng);
    pn_ledger_free(ledger);
}

/* ---- whole scores ---- */

static int64_t whole_score(const void *of, size_t j, bool second)
{
    const double *sizes = of;

    return (int64_t)(second ? -sizes[j] : sizes[j]);
}

/* Checked and charged before anything is drawn; levels of another rate, or for another law, are refused. */
static void whole_scores_go_through_the_same_door(pn_selection law)
{
    static const double sizes[4] = { 0.0, 5000.0, 1.0, 2.0 };
    pn_selection_options options = { law, 0.25, 1.0, 0.0, 10.0, PN_REPLACE_ONE, 0.0 };
    pn_score_levels levels = { .view = { .of = sizes, .score = whole_score } };
    selection_mechanism *self = made(&options), *other;
    pn_ledger *real = budget(0.5, false, NULL), *lesson = budget(0.5, true, NULL);
    pn_rng *seeded = NULL;
    bool second = true;
    size_t j = 99;

    options.law = PN_SELECT_LAPLACE;
    other = made(&options);
    CHECK(pn_rng_seeded(&seeded, 24, NULL) == PN_OK && pn_score_levels_reserve(&levels, 4, NULL) == PN_OK);
    levels.view.rate = pn_mechanism_choice_rate(&self->base, 8);
    CHECK((double)levels.view.rate.num / (double)levels.view.rate.den == 0.25 / 16.0);
    pn_score_levels_of_pairs(&levels, sizes, 4, 1.0, 1e6);
    levels.view.best = (int64_t)levels.largest;
    CHECK(pn_mechanism_choose(&self->base, real, "x", seeded, &levels.view, 8, &j, &second, NULL) == PN_EPRIVACY);
    CHECK(pn_mechanism_choose(&self->base, lesson, "x", seeded, &levels.view, 4, &j, &second, NULL) == PN_EINVAL);
    CHECK(pn_mechanism_choose(&other->base, lesson, "x", seeded, &levels.view, 8, &j, &second, NULL) == PN_EINVAL);
    CHECK(j == 99 && pn_ledger_entries(real) == 0 && pn_ledger_entries(lesson) == 0);
    CHECK(pn_mechanism_choose(&self->base, lesson, "x", seeded, &levels.view, 8, &j, &second, NULL) == PN_OK);
    CHECK(j == 1 && !second && pn_ledger_entries(lesson) == 1); /* but for a chance of exp(-78) */
    CHECK_CLOSE(pn_ledger_remaining(lesson), 0.25, 1e-12);
    CHECK(pn_mechanism_choose(&self->base, lesson, "x", seeded, &levels.view, 8, &j, &second, NULL) == PN_OK);
    j = 99;
    CHECK(pn_mechanism_choose(&self->base, lesson, "x", seeded, &levels.view, 8, &j, &second, NULL) == PN_EBUDGET);
    CHECK(j == 99);
    pn_score_levels_clear(&levels);
    pn_mechanism_free(&self->base);
    pn_mechanism_free(&other->base);
    pn_ledger_free(real);
    pn_ledger_free(lesson);
    pn_rng_free(seeded);
}

static void a_row_whose_bound_is_strict_refuses_what_is_beyond(void)
{
    pn_arg args[6] = { { .given = true, .real = 1.0 },
                       { .given = true, .real = 1.0 },
                       { .given = true, .real = 4.0 },
                       { .given = false },
                       { .given = true, .flag = true } };
    const double inside[2] = { 4.0, -4.0 }, beyond[2] = { 4.0, -4.5 };
    pn_ledger *ledger = budget(10.0, true, NULL);
    pn_release release = { .index = 99 };
    pn_mechanism *mechanism = NULL;
    pn_rng *rng = NULL;
    pn_err err;

    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
    CHECK(pn_mechanism_from_args(&mechanism, "exponential", args, PN_REPLACE_ONE, &err) == PN_OK);
    CHECK(pn_mechanism_release(mechanism, ledger, "x", rng, beyond, 2, &release, &err) == PN_EDOMAIN);
    CHECK(release.index == 99 && pn_ledger_entries(ledger) == 0);
    CHECK(!strstr(err.message, "4.5") && !strstr(err.message, "2"));
    CHECK(pn_mechanism_release(mechanism, ledger, "x", rng, inside, 2, &release, &err) == PN_OK);
    pn_mechanism_free(mechanism);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

static void the_table_knows_its_rows(void)
{
    pn_arg args[8] = { { .given = true, .real = 1.0 }, { .given = true, .real = 1.0 } };
    pn_mechanism *mechanism = NULL;
    size_t selections = 0;
    pn_err err;

    for (const pn_mechanism_ops *const *ops = pn_mechanism_table(); *ops; ops++) {
        CHECK((*ops)->doc && (*ops)->source && (*ops)->params);
        if ((*ops)->output != PN_GIVES_INDEX)
            continue;
        selections++;
        CHECK(pn_mechanism_from_args(&mechanism, (*ops)->name, args, PN_ADD_REMOVE, &err) == PN_OK);
        CHECK(mechanism->event->neighbours == PN_ADD_REMOVE);
        pn_mechanism_free(mechanism);
    }
    CHECK(selections == 3);
    CHECK(pn_mechanism_from_args(&mechanism, "dice", args, PN_REPLACE_ONE, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "pn_mechanism_from_args: there is no mechanism \"dice\"; known are exponential, ") ==
          err.message);
}

int main(void)
{
    a_record_moves_an_integer_by_at_most_the_shift();
    the_unit_is_the_smallest_power_of_two_that_will_do();
    the_charge_is_never_below_what_is_drawn();
    options_outside_their_range_are_refused();
    the_door_checks_before_it_charges();
    many_candidates_have_the_law_of_few();
    other_laws_know_pairs_as_well();
    whole_scores_go_through_the_same_door(PN_SELECT_EXPONENTIAL);
    whole_scores_go_through_the_same_door(PN_SELECT_PERMUTE_AND_FLIP);
    a_row_whose_bound_is_strict_refuses_what_is_beyond();
    the_table_knows_its_rows();
    for (pn_selection law = PN_SELECT_EXPONENTIAL; law <= PN_SELECT_LAPLACE; law++)
        fail_alloc_sweep(pn_selection_names[law], release_twice, &law);
    return check_summary();
}
