/* selections_test.c -- several selections for one charge: what they cost is what their law gives away, they are paid
 * for first, and no more are made than were paid for.  Seeds are fixed; a true law fails each check with probability
 * below 1e-6.  The source is built here with its faults, each of which one of the checks must notice.
 * Depends on: check.h, fail_alloc.h, chi_square.h, privacy/. */
#define _GNU_SOURCE
#define PN_MUTANTS
#include "privacy/mechanism/selections.c"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

enum { COUNT = 4 };

static pn_selections_options some(bool pure)
{
    return (pn_selections_options){ .scale = 0.7,
                                    .count = COUNT,
                                    .most = 3,
                                    .sum = 0.5,
                                    .root = 0.3,
                                    .score_error = 1e-9,
                                    .score_bound = 50.0,
                                    .pure = pure,
                                    .neighbours = PN_REPLACE_ONE };
}

static pn_selections *made(pn_selections_options options)
{
    pn_selections *self = NULL;
    pn_err err;

    if (!CHECK(pn_selections_new(&self, &options, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return self;
}

static pn_ledger *teaching(double rho)
{
    pn_budget terms = { .epsilon = NAN, .rho = rho, .neighbours = PN_REPLACE_ONE, .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK);
    return ledger;
}

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static pn_selections_options flipping(void)
{
    pn_selections_options options = some(true);

    options.flips = true;
    return options;
}

static double scale_of(const pn_selections *self)
{
    return 2.0 * (double)self->shift * ldexp(1.0, self->unit_exponent);
}

/* ---- what it costs ---- */

static void the_price_is_that_of_the_rounded_numbers(void)
{
    for (int error = 0; error < 3; error++) {
        for (int pure = 0; pure < 2; pure++) {
            pn_selections_options options = some(pure);
            pn_selections *self;
            double u, b, each;

            options.score_error = error == 0 ? 0.0 : error == 1 ? 1e-9 : 0.1;
            self = made(options);
            u = ldexp(1.0, self->unit_exponent);
            b = scale_of(self);
            each = 2.0 * options.score_error + u;
            CHECK(b >= options.scale && b <= options.scale + 2.0 * u && options.score_bound <= 0x1p52 * u);
            CHECK_CLOSE(self->cost,
                        pure ? 2.0 * (options.sum + COUNT * each) / b
                             : pow((options.root + sqrt(COUNT) * each) / b, 2.0) / 2.0,
                        1e-12 * self->cost);
            CHECK(strcmp(self->base.event->ops->name, pure ? "exponential" : "zcdp") == 0);
            if (pure) { /* flips have no bounded range */
                pn_selections *flips;

                options.flips = true;
                flips = made(options);
                CHECK(flips->cost == self->cost && strcmp(flips->base.event->ops->name, "pure") == 0);
                pn_selections_free(flips);
            }
            if (error == 0) /* rounding is next to nothing */
                CHECK_CLOSE(self->cost, pure ? 2.0 * 0.5 / 0.7 : 0.09 / 0.98, 1e-5 * self->cost);
            pn_selections_free(self);
        }
    }
}

/* Neighbouring scores, each computed with an error of its own: the integers move by at most (d + 2e + u)/u. */
/* Also where the price of the first scale is above the budget by less than one unit of the lattice takes away. */
static void a_scale_is_found_that_costs_no_more_than_the_budget(void)
{
    static const double roots[] = { 0.5, 0.50000000000000377, 0.3, 1.0 / 3.0, 2.0, 0x1p-30, 1e9 };
    static const double errors[] = { 0.0, 3.6772776663994622e-15, 1e-12, 1e-4 };

    for (size_t way = 0; way < sizeof roots / sizeof *roots * 4 * 3 * 2; way++) {
        pn_selections_options options = some(way % 2);
        double budget = (const double[]){ 0.125, 0.1, 1e-3 }[way / 2 % 3], least, error = errors[way / 6 % 4];
        double u = 2.0 * fmax(0x1p-20, fmin(2.0 * error, 0x1p-13)); /* in units of the sensitivity, at most */
        pn_selections *self;

        options.root = options.sum = roots[way / 24];
        options.score_error = error * options.root;
        options.score_bound = 2.0 * options.root;
        CHECK(pn_selections_scale(&options.scale, &options, budget, NULL) == PN_OK);
        least = options.pure ? 2.0 * options.sum / budget : options.root / sqrt(2.0 * budget);
        if (!CHECK(options.scale >= least && options.scale <= least * (1.0 + COUNT * (2.0 * error + u) + 0x1p-16)))
            continue;
        self = made(options);
        CHECK(pn_selections_cost(self) <= budget);
        pn_selections_free(self);
    }
}

static void a_record_moves_an_integer_by_no_more_than_is_charged(void)
{
    pn_rng *rng = seeded(3);
    pn_selections *self = made(some(false));
    double u = ldexp(1.0, self->unit_exponent), e = self->options.score_error;

    for (int i = 0; i < 20000; i++) {
        double score = 100.0 * pn_rng_uniform(rng) - 50.0, d = pn_rng_uniform(rng);
        int64_t moved =
            pn_score_choice_round(&self->choice, score + d + e) - pn_score_choice_round(&self->choice, score - e);

        CHECK((double)moved <= (d + 2.0 * e + u) / u * (1.0 + 1e-9));
    }
    CHECK(pn_score_choice_round(&self->choice, NAN) == pn_score_choice_round(&self->choice, -1e300) &&
          pn_score_choice_round(&self->choice, 1e300) == pn_score_choice_round(&self->choice, 50.0));
    pn_selections_free(self);
    pn_rng_free(rng);
}

/* ---- what the law gives away ---- */

/* ln P(the first, or the second, of scores +-ahead is chosen), by the law of random/selection.h with epsilon 1. */
static double log_chance(const pn_selections *self, double ahead, bool second)
{
    double gap = (double)(pn_score_choice_round(&self->choice, ahead) - pn_score_choice_round(&self->choice, -ahead)) /
                 (2.0 * (double)self->shift);

    if (self->options.flips)
        return (gap >= 0.0) == second ? -fabs(gap) - log(2.0) : log1p(-exp(-fabs(gap)) / 2.0);
    return -log1p(exp(second ? gap : -gap));
}

/* Two choices between two, of scores +-lean: a record moves those of choice r by d[r].  0 when no outcome is more than
 * the pure price apart, and no Renyi divergence above rho alpha. */
static int gives_away_more(pn_selections_options options, const double *d, double lean)
{
    bool pure = options.pure;
    pn_selections *self;
    double orders[] = { 1.25, 2.0, 5.0, 20.0, 100.0 }, worst = 0.0;
    double moment[5] = { -1e300, -1e300, -1e300, -1e300, -1e300 };
    int wrong = 0;

    options.count = 2;
    options.score_error = 0.0;
    options.sum = d[0] + d[1];
    options.root = sqrt(d[0] * d[0] + d[1] * d[1]);
    self = made(options);
    for (int outcome = 0; outcome < 4; outcome++) {
        double p = 0.0, q = 0.0;

        for (int r = 0; r < 2; r++) {
            p += log_chance(self, lean, outcome >> r & 1);
            q += log_chance(self, lean + d[r], outcome >> r & 1); /* one up by d, the other down */
        }
        worst = fmax(worst, fabs(p - q));
        for (int k = 0; k < 5; k++) {
            double term = orders[k] * p + (1.0 - orders[k]) * q;

            moment[k] = fmax(moment[k], term) + log1p(exp(-fabs(moment[k] - term))); /* logarithms */
        }
    }
    if (pure)
        wrong = worst > self->cost * (1.0 + 1e-12); /* which flips attain */
    for (int k = 0; !pure && k < 5; k++)
        wrong += moment[k] / (orders[k] - 1.0) > self->cost * orders[k];
    pn_selections_free(self);
    return wrong;
}

static int no_outcome_tells_more_than_is_charged(pn_selections_options options)
{
    static const double moves[][2] = { { 0.4, 0.3 }, { 0.5, 1e-9 }, { 0.3, -0.3 }, { 2.0, 1.0 }, { 0.01, 0.01 } };
    int wrong = 0;

    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        double d[2] = { moves[i][0], fabs(moves[i][1]) };

        for (double lean = -8.0; lean <= 8.0; lean += 0.25)
            wrong += gives_away_more(options, d, lean);
    }
    return wrong;
}

static int pure_law(void)
{
    return no_outcome_tells_more_than_is_charged(some(true));
}

static int flip_law(void)
{
    return no_outcome_tells_more_than_is_charged(flipping());
}

static int zcdp_law(void)
{
    return no_outcome_tells_more_than_is_charged(some(false));
}

/* Chances of three candidates are proportional to exp(score rate), or those that a random order of coins gives. */
static void law_of_three(const double *scores, double rate, bool flips, double *law)
{
    double best = fmax(fmax(scores[0], scores[1]), scores[2]), w[3], sum = 0.0;

    for (int i = 0; i < 3; i++)
        sum += w[i] = exp((scores[i] - best) * rate);
    for (int i = 0; i < 3; i++) {
        double a = w[(i + 1) % 3], b = w[(i + 2) % 3];

        law[i] = flips ? w[i] * (1.0 - (a + b) / 2.0 + a * b / 3.0) : w[i] / sum;
    }
}

static int candidates_have(pn_selections_options options)
{
    enum { DRAWS = 40000 };
    pn_selections *self = made(options);
    pn_ledger *ledger = teaching(1e12);
    pn_rng *rng = seeded(8);
    double scores[3] = { 0.0, 0.5, 1.0 }, counts[3] = { 0.0 }, law[3];
    size_t chosen;

    law_of_three(scores, 1.0 / 0.7, options.flips, law);
    for (int i = 0; i < DRAWS; i++) {
        if (i % COUNT == 0)
            CHECK(pn_selections_pay(self, ledger, NULL, rng, NULL) == PN_OK);
        CHECK(pn_selections_pick(self, rng, scores, 3, &chosen, NULL) == PN_OK);
        counts[chosen] += 1.0;
    }
    pn_selections_free(self);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    return chi_square(counts, law, 3) > CHI2_2;
}

static int candidates_have_their_chances(void)
{
    return candidates_have(some(false));
}

static int flips_have_their_chances(void)
{
    return candidates_have(flipping());
}

/* ---- the door ---- */

static int nothing_comes_before_paying_for(pn_selections_options options)
{
    pn_selections *self = made(options);
    pn_ledger *ledger = teaching(1.5 * self->base.event->ops->zcdp(self->base.event));
    pn_rng *rng = seeded(1);
    double scores[3] = { 0.0, 1.0, 2.0 };
    size_t chosen = 7;
    int wrong = 0;

    wrong += pn_selections_pick(self, rng, scores, 3, &chosen, NULL) != PN_EPRIVACY || chosen != 7;
    wrong += pn_selections_pay(self, NULL, NULL, rng, NULL) != PN_EINVAL;
    wrong += pn_selections_pay(self, ledger, "choices", rng, NULL) != PN_OK;
    wrong += pn_ledger_entries(ledger) != 1 || pn_ledger_entry(ledger, 0).event != self->base.event;
    for (int i = 0; i < COUNT; i++)
        wrong += pn_selections_pick(self, rng, scores, 3, &chosen, NULL) != PN_OK || chosen > 2;
    wrong += pn_selections_pick(self, rng, scores, 3, &chosen, NULL) != PN_EPRIVACY;
    wrong += pn_selections_pay(self, ledger, "choices", rng, NULL) != PN_EBUDGET;
    wrong += pn_selections_pick(self, rng, scores, 3, &chosen, NULL) != PN_EPRIVACY;
    pn_selections_free(self);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    return wrong;
}

static int nothing_comes_before_it_is_paid_for(void)
{
    return nothing_comes_before_paying_for(some(false));
}

static int no_flip_comes_before_it_is_paid_for(void)
{
    return nothing_comes_before_paying_for(flipping());
}

static void simulated_noise_is_for_teaching_alone(void)
{
    pn_budget terms = { .epsilon = NAN, .rho = 10.0, .neighbours = PN_REPLACE_ONE };
    pn_selections *self = made(some(false));
    pn_ledger *ledger = NULL;
    pn_rng *rng = seeded(1);

    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK);
    CHECK(pn_selections_pay(self, ledger, NULL, rng, NULL) == PN_EPRIVACY && pn_ledger_entries(ledger) == 0);
    pn_selections_free(self);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

static void options_that_make_no_sense_are_refused(void)
{
    double *const fields[] = { &(double){ 0.0 }, &(double){ NAN }, &(double){ INFINITY }, &(double){ -1.0 } };
    pn_selections *self;

    for (size_t i = 0; i < 4; i++) {
        for (int field = 0; field < 5; field++) {
            pn_selections_options options = some(false);
            double *at[] = { &options.scale, &options.sum, &options.root, &options.score_bound, &options.score_error };

            *at[field] = *fields[i];
            if (field < 4 || i > 0) /* no error is allowed */
                CHECK(pn_selections_new(&self, &options, NULL) == PN_EINVAL && self == NULL);
        }
    }
    for (int field = 0; field < 2; field++) {
        pn_selections_options options = some(false);

        *(field ? &options.count : &options.most) = 0;
        CHECK(pn_selections_new(&self, &options, NULL) == PN_EINVAL);
        options = some(false);
        options.flips = true; /* which are of no bounded range */
        CHECK(pn_selections_new(&self, &options, NULL) == PN_EINVAL);
    }
}

/* ---- whole scores on levels ---- */

enum { MOVED = 77 }; /* units of a score that a record moves it by */

static const double whole[3] = { -40.0, 25.0, 90.0 };

static int64_t whole_score(const void *of, size_t j, bool second)
{
    (void)of;
    (void)second;
    return (int64_t)whole[j];
}

static void level(pn_score_levels *levels, const pn_selections *self, double moves)
{
    levels->view.score = whole_score;
    levels->view.rate = pn_selections_rate(self, moves, MOVED);
    CHECK(pn_score_levels_reserve(levels, 3, NULL) == PN_OK);
    pn_score_levels_of_singles(levels, whole, 3, 1.0, 100.0);
    levels->view.best = (int64_t)levels->largest;
}

/* Chances are proportional to exp(score moves/(MOVED b)), and the rate is no higher than that. */
static int whole_scores_have(pn_selections_options options)
{
    enum { DRAWS = 40000 };
    const double moves = 0.25, rate = moves / (MOVED * 0.7);
    pn_selections *self = made(options);
    pn_ledger *ledger = teaching(1e12);
    pn_rng *rng = seeded(9);
    double counts[3] = { 0.0 }, law[3], found;
    pn_score_levels levels = { 0 };
    bool second;
    size_t j;

    level(&levels, self, moves);
    found = (double)levels.view.rate.num / (double)levels.view.rate.den;
    law_of_three(whole, rate, options.flips, law);
    for (int i = 0; i < DRAWS; i++) {
        if (i % 2 == 0)
            CHECK(pn_selections_pay(self, ledger, NULL, rng, NULL) == PN_OK);
        CHECK(pn_selections_choose(self, rng, &levels.view, moves, MOVED, &j, &second, NULL) == PN_OK);
        counts[j] += 1.0;
    }
    pn_score_levels_clear(&levels);
    pn_selections_free(self);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    return (chi_square(counts, law, 3) > CHI2_2) + !(found <= rate && found >= rate * (1.0 - 0x1p-18));
}

static int whole_scores_have_their_chances(void)
{
    return whole_scores_have(some(true));
}

static int flips_of_whole_scores_have_their_chances(void)
{
    return whole_scores_have(flipping());
}

/* sum 0.5, of a zCDP price root 0.3: as many moves fit as add up to that, and none without a charge. */
static void whole_scores_move_by_what_was_paid_for(void)
{
    for (int pure = 0; pure < 2; pure++) {
        const double moves = pure ? 0.25 : 0.3 * sqrt(0.5);
        pn_selections *self = made(some(pure));
        pn_score_levels levels = { 0 }, other = { 0 };
        pn_ledger *ledger = teaching(1e12);
        pn_rng *rng = seeded(1);
        bool second;
        size_t j;

        level(&levels, self, moves);
        level(&other, self, 0.5 * moves);
        CHECK(pn_selections_choose(self, rng, &levels.view, moves, MOVED, &j, &second, NULL) == PN_EPRIVACY);
        for (int round = 0; round < 2; round++) {
            CHECK(pn_selections_pay(self, ledger, NULL, rng, NULL) == PN_OK);
            CHECK(pn_selections_choose(self, rng, &other.view, moves, MOVED, &j, &second, NULL) == PN_EINVAL);
            CHECK(pn_selections_choose(self, rng, &levels.view, moves, MOVED, &j, &second, NULL) == PN_OK);
            CHECK(pn_selections_choose(self, rng, &levels.view, moves, MOVED, &j, &second, NULL) == PN_OK);
            CHECK(pn_selections_choose(self, rng, &levels.view, moves, MOVED, &j, &second, NULL) == PN_EPRIVACY);
        }
        pn_score_levels_clear(&levels);
        pn_score_levels_clear(&other);
        pn_selections_free(self);
        pn_ledger_free(ledger);
        pn_rng_free(rng);
    }
}

/* ---- the whole ---- */

/* Each holds in the sound code, and fails under its fault. */
static void faults_are_noticed(void)
{
    static const struct {
        const char *fault;
        int (*test)(void);
    } cases[] = { { "noise_scale", candidates_have_their_chances },
                  { "sensitivity_half", candidates_have_their_chances },
                  { "noise_scale", whole_scores_have_their_chances },
                  { "sensitivity_half", whole_scores_have_their_chances },
                  { "noise_scale", flips_have_their_chances },
                  { "sensitivity_half", flips_have_their_chances },
                  { "noise_scale", flips_of_whole_scores_have_their_chances },
                  { "sensitivity_half", flips_of_whole_scores_have_their_chances },
                  { "noise_scale", pure_law },
                  { "noise_scale", flip_law },
                  { "noise_scale", zcdp_law },
                  { "charge_after", nothing_comes_before_it_is_paid_for },
                  { "charge_after", no_flip_comes_before_it_is_paid_for } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(cases[i].test() == 0);
        CHECK(setenv("PENUMBRA_MUTANT", cases[i].fault, 1) == 0);
        CHECK(cases[i].test() != 0);
        CHECK(unsetenv("PENUMBRA_MUTANT") == 0);
    }
}

static pn_status scenario(void *flips, pn_err *err)
{
    pn_selections_options options = flips ? flipping() : some(true);
    pn_selections *self = NULL;
    pn_status status;

    status = pn_selections_new(&self, &options, err);
    pn_selections_free(self);
    return status;
}

int main(void)
{
    faults_are_noticed();
    the_price_is_that_of_the_rounded_numbers();
    a_scale_is_found_that_costs_no_more_than_the_budget();
    a_record_moves_an_integer_by_no_more_than_is_charged();
    whole_scores_move_by_what_was_paid_for();
    simulated_noise_is_for_teaching_alone();
    options_that_make_no_sense_are_refused();
    CHECK(fail_alloc_sweep("selections", scenario, NULL) >= 3);
    CHECK(fail_alloc_sweep("flips", scenario, &(bool){ true }) >= 3);
    return check_summary();
}
