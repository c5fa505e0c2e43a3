/* sparse_vector_test.c -- above-threshold: its law against a computed one, its guarantee by enumeration, its charge,
 * its end.  The source is compiled here, so that scales and the noisy threshold can be looked at.  Seeds are fixed; a
 * true law fails each statistical check with probability 1e-6, a scale off by 1.1 never passes. */
#include "runtime/privacy/mechanism/sparse_vector.c"

#include <stdlib.h>
#include <string.h>

#include "privacy/accounting/accountant.h"

#include "check.h"
#include "fail_alloc.h"

typedef struct setup {
    double epsilon, sensitivity, threshold;
    size_t answers;
    bool monotone, restart;
    double bound; /* 0: none */
} setup;

static void fill(pn_arg args[8], const setup *with)
{
    memset(args, 0, 8 * sizeof *args);
    args[EPSILON] = (pn_arg){ .given = true, .real = with->epsilon };
    args[SENSITIVITY] = (pn_arg){ .given = true, .real = with->sensitivity };
    args[THRESHOLD] = (pn_arg){ .given = true, .real = with->threshold };
    args[ANSWERS] = (pn_arg){ .given = true, .count = with->answers };
    args[MONOTONE] = (pn_arg){ .given = true, .flag = with->monotone };
    args[RESTART] = (pn_arg){ .given = true, .flag = with->restart };
    if (with->bound > 0.0)
        args[BOUND] = (pn_arg){ .given = true, .real = with->bound };
}

static sparse_vector *made(const setup *with)
{
    pn_mechanism *mechanism = NULL;
    pn_arg args[8];
    pn_err err;

    fill(args, with);
    if (!CHECK(pn_mechanism_from_args(&mechanism, "sparse_vector", args,
                                      with->monotone ? PN_ADD_REMOVE : PN_REPLACE_ONE, &err) == PN_OK)) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(check_summary());
    }
    return (sparse_vector *)mechanism;
}

static pn_ledger *budget(double rho, pn_neighbours neighbours, bool teaching)
{
    pn_budget terms = { .epsilon = NAN, .delta = 0.0, .rho = rho, .neighbours = neighbours, .teaching = teaching };
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

/* ---- the law, computed ---- */

#define QUERIES  4
#define OUTCOMES (1 << QUERIES)

static double laplace_below(double x)
{
    return x < 0.0 ? exp(x) / 2.0 : 1.0 - exp(-x) / 2.0;
}

/* Chance that value + Lap(scale) reaches the noisy threshold. */
static double reaches(double value, double threshold, double scale)
{
    return 1.0 - laplace_below((threshold - value) / scale);
}

/* law[bits]: chance of the answers `bits` (bit i: query i was above) to the values, those after the end counting as
 * below; by the rule in threshold noise, at steps of b/16 over +-40 b.  Restarting takes the chances of the parts. */
static double run_chance(const sparse_vector *self, double b, const double *values, unsigned bits, size_t first)
{
    double sum = 0.0, threshold = self->threshold, w = self->law.w;
    size_t last = first;

    for (int k = -16 * 40; k < 16 * 40; k++) {
        double rho = ((double)k + 0.5) / 16.0,
               chance = (laplace_below(rho + 1.0 / 32.0) - laplace_below(rho - 1.0 / 32.0));
        size_t left = self->law.answers;

        for (last = first; last < QUERIES && left > 0; last++) {
            double above = reaches(values[last], threshold + rho * b, w * b);

            chance *= bits >> last & 1 ? above : 1.0 - above;
            left -= bits >> last & 1;
            if (self->law.restart && (bits >> last & 1)) {
                last++;
                break;
            }
        }
        sum += chance;
    }
    if (self->law.restart && last < QUERIES && last > first && (bits >> (last - 1) & 1))
        sum *= run_chance(self, b, values, bits, last);
    return sum;
}

/* More positive answers than there are cannot be given. */
static bool possible(const sparse_vector *self, unsigned bits)
{
    return (size_t)__builtin_popcount(bits) <= self->law.answers;
}

static void compute_law(const sparse_vector *self, double b, const double *values, double law[OUTCOMES])
{
    for (unsigned bits = 0; bits < OUTCOMES; bits++)
        law[bits] = possible(self, bits) ? run_chance(self, b, values, bits, 0) : 0.0;
}

/* Restarted runs end with the last positive answer; the recursion above does not know, so that form is tested with as
 * many answers as there are queries. */
static const setup setups[] = {
    { 2.0, 0.5, 1.0, 1, false, false, 0.0 }, { 2.0, 0.5, 1.0, 2, false, false, 9.0 },
    { 3.0, 0.5, 1.0, 4, false, true, 0.0 },  { 1.5, 0.5, 1.0, 2, true, false, 0.0 },
    { 3.0, 0.5, 1.0, 4, true, true, 9.0 },
};
#define SETUPS (sizeof setups / sizeof setups[0])

/* Pearson's statistic over the outcomes with an expectation of at least 20, the others as one cell;
 * *cells counts them. */
static double statistic(const double *counts, const double *law, double total, size_t *cells)
{
    double rest = 0.0, rest_law = 0.0, sum = 0.0;

    *cells = 0;
    for (int i = 0; i < OUTCOMES; i++) {
        double expected = total * law[i];

        if (expected < 20.0) {
            rest += counts[i];
            rest_law += expected;
            continue;
        }
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
        ++*cells;
    }
    if (rest_law >= 20.0) {
        sum += (rest - rest_law) * (rest - rest_law) / rest_law;
        ++*cells;
    }
    return sum;
}

/* Upper quantiles of chi-square at 1e-6 for 1 to 15 degrees of freedom. */
static double threshold_for(size_t freedom)
{
    static const double table[] = { 23.928127, 27.631021, 30.664850, 33.376841, 35.888187,
                                    38.258336, 40.521831, 42.700914, 44.810938, 46.863047,
                                    48.865643, 50.825252, 52.747068, 54.635306, 56.493443 };

    return table[(freedom < 1 ? 1 : freedom > 15 ? 15 : freedom) - 1];
}

static void answers_have_the_computed_law(void)
{
    static const double values[QUERIES] = { 0.4, 1.3, 0.9, 2.0 };
    enum { TRIALS = 200000 };

    for (size_t k = 0; k < SETUPS; k++) {
        sparse_vector *self = made(&setups[k]);
        double counts[OUTCOMES] = { 0.0 }, law[OUTCOMES], wide[OUTCOMES], narrow[OUTCOMES], sum = 0.0;
        pn_rng *rng = seeded(k);
        size_t cells;

        for (int t = 0; t < TRIALS; t++) {
            bool above[QUERIES];
            pn_release out = { .above = above };
            unsigned bits = 0;

            (void)sparse_draw(&self->base, values, QUERIES, rng, &out, NULL);
            for (size_t i = 0; i < out.count; i++)
                bits |= (unsigned)above[i] << i;
            counts[bits]++;
        }
        compute_law(self, self->scale, values, law);
        compute_law(self, self->scale * 1.1, values, wide);
        compute_law(self, self->scale / 1.1, values, narrow);
        for (int i = 0; i < OUTCOMES; i++)
            sum += law[i];
        CHECK_CLOSE(sum, 1.0, 1e-4);
        CHECK(statistic(counts, law, TRIALS, &cells) < threshold_for(cells - 1));
        CHECK(statistic(counts, wide, TRIALS, &cells) > threshold_for(cells - 1));
        CHECK(statistic(counts, narrow, TRIALS, &cells) > threshold_for(cells - 1));
        pn_mechanism_free(&self->base);
        pn_rng_free(rng);
    }
}

/* The largest |ln(P/Q)| of an outcome. */
static double worst_ratio(const sparse_vector *self, const double *one, const double *two)
{
    double p[OUTCOMES], q[OUTCOMES], worst = 0.0;

    compute_law(self, self->scale, one, p);
    compute_law(self, self->scale, two, q);
    for (int i = 0; i < OUTCOMES; i++) {
        if (p[i] > 0.0 && q[i] > 0.0)
            worst = fmax(worst, fabs(log(p[i] / q[i])));
    }
    return worst;
}

/* Every value moves by up to the sensitivity, near the threshold and far from it. */
static void random_neighbours(const sparse_vector *self, bool monotone, pn_rng *rng, double *one, double *two)
{
    for (size_t i = 0; i < QUERIES; i++) {
        double place = pn_rng_uniform(rng) < 0.3 ? 0.0 : (pn_rng_uniform(rng) - 0.5) * 10.0 * self->scale * self->law.w;
        double sign = monotone || pn_rng_uniform(rng) < 0.5 ? 1.0 : -1.0;
        double size = pn_rng_uniform(rng) < 0.8 ? 1.0 : pn_rng_uniform(rng);

        one[i] = self->threshold + place;
        two[i] = one[i] + sign * size * self->sensitivity;
    }
}

static void no_outcome_tells_neighbours_apart_by_more_than_epsilon(void)
{
    for (size_t k = 0; k < SETUPS; k++) {
        sparse_vector *self = made(&setups[k]);
        pn_rng *rng = seeded(100 + k);
        double worst = 0.0, one[QUERIES], two[QUERIES];

        for (int trial = 0; trial < 25; trial++) {
            random_neighbours(self, setups[k].monotone, rng, one, two);
            worst = fmax(worst, worst_ratio(self, one, two));
        }
        CHECK(worst <= setups[k].epsilon * (1.0 + 1e-3));
        pn_mechanism_free(&self->base);
        pn_rng_free(rng);
    }
}

/* Three values far above the threshold that go up, and stay below only if the threshold is high; then one that goes
 * down and is above all the same.  Less noise than charged for would exceed epsilon here. */
static void the_worst_case_comes_near_epsilon(void)
{
    sparse_vector *self = made(&setups[0]);
    double high = self->threshold + 12.0 * self->scale, low = self->threshold, d = self->sensitivity;
    const double one[QUERIES] = { high, high, high, low }, two[QUERIES] = { high + d, high + d, high + d, low - d };
    double worst = worst_ratio(self, one, two);

    CHECK(worst <= setups[0].epsilon * (1.0 + 1e-3) && worst >= setups[0].epsilon * 0.95);
    self->scale /= 1.1;
    CHECK(worst_ratio(self, one, two) > setups[0].epsilon * 1.04);
    pn_mechanism_free(&self->base);
}

/* ---- the comparison ---- */

/* The next noise is known from a second stream of the same seed. */
static void a_tie_is_above_and_one_step_less_is_below(void)
{
    const setup with = { 1.0, 1.0, 0.0, 100, false, false, 0.0 };
    sparse_vector *self = made(&with);

    for (uint64_t seed = 0; seed < 40; seed++) {
        pn_rng *rng = seeded(seed), *twin = seeded(seed);
        double value = seed < 20 ? 0.3 : -1e15 - (double)seed; /* of 2^88 steps and more */
        pn_steps m = pn_lattice_round_far(value, self->law.step, PN_LATTICE_FARTHEST);
        pn_sparse_run run;

        begin(&run, self, rng);
        (void)noise(twin, 1);
        run.noisy_threshold = m + noise(twin, self->law.w);
        CHECK(answer(&run, value));
        run.noisy_threshold = m + noise(twin, self->law.w) + 1;
        CHECK(!answer(&run, value));
        pn_rng_free(rng);
        pn_rng_free(twin);
    }
    pn_mechanism_free(&self->base);
}

static void the_largest_values_compare_as_they_should(void)
{
    const setup with = { 1.0, 1.0, 0.0, 100, false, false, 0.0 };
    sparse_vector *self = made(&with);
    const double values[4] = { 1e300, -1e300, 0x1p70, -0x1p70 };
    pn_rng *rng = seeded(1);
    bool above[4];
    pn_release out = { .above = above };

    CHECK(sparse_draw(&self->base, values, 4, rng, &out, NULL) == PN_OK && out.count == 4);
    CHECK(above[0] && !above[1] && above[2] && !above[3]);
    pn_mechanism_free(&self->base);
    pn_rng_free(rng);
}

static void restarting_draws_the_threshold_anew_and_only_then(void)
{
    for (int restart = 0; restart <= 1; restart++) {
        const setup with = { 4.0, 1.0, 0.0, 50, false, restart == 1, 0.0 };
        sparse_vector *self = made(&with);
        pn_rng *rng = seeded(7);
        pn_sparse_run run;

        begin(&run, self, rng);
        for (int i = 0; i < 200 && run.left > 1; i++) {
            pn_steps before = run.noisy_threshold;
            bool above = answer(&run, 0.0);

            CHECK((run.noisy_threshold != before) == (above && restart == 1));
        }
        CHECK(run.left < 50);
        pn_mechanism_free(&self->base);
        pn_rng_free(rng);
    }
}

/* ---- the charge ---- */

static void the_scales_cost_what_is_charged(void)
{
    for (size_t answers = 1; answers <= 1000000; answers *= 10) {
        for (int form = 0; form < 8; form++) {
            const setup with = { 0.7, 3.0, 0.0, answers, form & 1, form & 2, form & 4 ? 50.0 : 0.0 };
            sparse_vector *self = made(&with);
            double c = with.restart ? 1.0 : (double)answers, runs = with.restart ? (double)answers : 1.0;
            double k = with.monotone ? 1.0 : 2.0, w = self->law.w;
            double cost = self->charged / self->scale * (1.0 + k * c / w) + SLACK;

            CHECK(self->charged > self->sensitivity);
            CHECK(runs * cost <= with.epsilon && runs * cost >= with.epsilon * (1.0 - 1e-6));
            CHECK_CLOSE(pn_event_epsilon(self->base.event, 1, 0.0, NULL), with.epsilon, 1e-12);
            CHECK(pn_event_epsilon(self->base.event, 1, 0.0, NULL) <= with.epsilon);
            CHECK_CLOSE(self->base.event->ops->zcdp(self->base.event), with.epsilon * with.epsilon / 2.0 / runs, 1e-12);
            /* never far from the split 1 : (k c)^(2/3), which real w = (k c)^(1/3) would give */
            CHECK((1.0 + k * c / w) * sqrt(1.0 + w * w) <= 1.03 * pow(1.0 + pow(k * c, 2.0 / 3.0), 1.5));
            pn_mechanism_free(&self->base);
        }
    }
}

static void options_that_prove_nothing_are_refused(void)
{
    const setup good = { 1.0, 1.0, 0.0, 1, false, false, 0.0 };
    setup bad[6];
    pn_mechanism *mechanism = NULL;
    pn_arg args[8];
    pn_err err;

    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].epsilon = 0x1p-41;
    bad[1].epsilon = 2000.0;
    bad[2].sensitivity = 1e-300;
    bad[3].answers = MAX_ANSWERS + 1;
    bad[4].threshold = 1e30;
    bad[5].epsilon = 0x1p-39;
    bad[5].answers = 1 << 20;
    for (int i = 0; i < 6; i++) {
        fill(args, &bad[i]);
        if (i == 5)
            args[RESTART].flag = true;
        CHECK(pn_mechanism_from_args(&mechanism, "sparse_vector", args, PN_REPLACE_ONE, &err) == PN_EINVAL);
    }
    fill(args, &good);
    args[MONOTONE].flag = true;
    CHECK(pn_mechanism_from_args(&mechanism, "sparse_vector", args, PN_REPLACE_ONE, &err) == PN_EPRIVACY);
    CHECK(strstr(err.message, "moves some values up and others down") != NULL);
    CHECK(mechanism == NULL);
}

/* ---- runs ---- */

static void a_run_gives_the_answers_of_a_release_and_then_halts(void)
{
    const setup with = { 2.0, 1.0, 1.0, 3, false, true, 20.0 };
    const double values[] = { 0.0, 5.0, 1.0, -3.0, 9.0, 2.0, 2.0, 0.0, 19.0, 19.0, 19.0 };
    enum { N = sizeof values / sizeof values[0] };
    sparse_vector *self = made(&with);
    pn_ledger *ledger = budget(10.0, PN_REPLACE_ONE, true);
    pn_rng *rng = seeded(5), *same = seeded(5);
    bool above[N] = { false }, one = false;
    pn_release out = { .above = above };
    pn_sparse_run *run = NULL;
    size_t positive = 0;
    pn_err err;

    CHECK(pn_mechanism_release(&self->base, ledger, "list", rng, values, N, &out, &err) == PN_OK);
    CHECK(out.simulated && out.count <= N);
    CHECK(pn_sparse_run_new(&run, &self->base, ledger, "stream", same, &err) == PN_OK);
    CHECK(pn_ledger_entries(ledger) == 2 && strcmp(pn_ledger_entry(ledger, 1).label, "stream") == 0);
    pn_mechanism_free(&self->base); /* a run needs it no longer */
    for (size_t i = 0; i < out.count; i++) {
        CHECK(pn_sparse_run_above(run, values[i], &one, &err) == PN_OK && one == above[i]);
        positive += one;
        CHECK(pn_sparse_run_left(run) == 3 - positive);
    }
    CHECK(positive == 3 && pn_sparse_run_simulated(run));
    CHECK(pn_sparse_run_above(run, 19.0, &one, &err) == PN_EBUDGET && strstr(err.message, "halted"));
    CHECK(pn_sparse_run_above(run, NAN, &one, &err) == PN_EBUDGET);
    CHECK(pn_rng_u64(rng) == pn_rng_u64(same));
    CHECK(pn_ledger_entries(ledger) == 2);
    pn_sparse_run_free(run);
    pn_sparse_run_free(NULL);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    pn_rng_free(same);
}

static void what_is_refused_draws_nothing_and_costs_nothing(void)
{
    const setup with = { 2.0, 1.0, 0.0, 2, false, false, 4.0 };
    static const double bad[] = { NAN, INFINITY, -4.5 };
    sparse_vector *self = made(&with);
    pn_ledger *poor = budget(1e-6, PN_REPLACE_ONE, true), *rich = budget(10.0, PN_REPLACE_ONE, true);
    pn_ledger *strict = budget(10.0, PN_REPLACE_ONE, false), *other = budget(10.0, PN_ZERO_OUT, true);
    pn_rng *rng = seeded(5), *same = seeded(5);
    pn_sparse_run *run = NULL;
    bool above = true;
    pn_release out = { .above = &above, .count = 9 };
    pn_err err;

    self->base.clamps = false; /* strict */
    CHECK(pn_sparse_run_new(&run, &self->base, NULL, "x", rng, &err) == PN_EINVAL);
    CHECK(pn_sparse_run_new(&run, &self->base, poor, "x", rng, &err) == PN_EBUDGET);
    CHECK(pn_sparse_run_new(&run, &self->base, strict, "x", rng, &err) == PN_EPRIVACY);
    CHECK(pn_sparse_run_new(&run, &self->base, other, "x", rng, &err) == PN_EPRIVACY);
    for (size_t i = 0; i < 3; i++)
        CHECK(pn_mechanism_release(&self->base, rich, "x", rng, &bad[i], 1, &out, &err) == PN_EDOMAIN);
    out.above = NULL;
    CHECK(pn_mechanism_release(&self->base, rich, "x", rng, bad, 1, &out, &err) == PN_EINVAL);
    CHECK(run == NULL && above && out.count == 9);
    CHECK(pn_ledger_entries(poor) + pn_ledger_entries(rich) + pn_ledger_entries(strict) + pn_ledger_entries(other) ==
          0);
    CHECK(pn_rng_u64(rng) == pn_rng_u64(same));
    CHECK(pn_sparse_run_new(&run, &self->base, rich, NULL, rng, &err) == PN_OK);
    CHECK(strcmp(pn_ledger_entry(rich, 0).label, "sparse_vector") == 0);
    (void)noise(same, 1);
    for (size_t i = 0; i < 3; i++)
        CHECK(pn_sparse_run_above(run, bad[i], &above, &err) == PN_EDOMAIN && !strstr(err.message, "4.5"));
    CHECK(pn_rng_u64(rng) == pn_rng_u64(same));
    pn_sparse_run_free(run);
    pn_mechanism_free(&self->base);
    pn_ledger_free(poor);
    pn_ledger_free(rich);
    pn_ledger_free(strict);
    pn_ledger_free(other);
    pn_rng_free(rng);
    pn_rng_free(same);
}

static pn_status open_and_ask(void *restart, pn_err *err)
{
    const setup with = { 1.0, 1.0, 0.0, 2, false, *(bool *)restart, 0.0 };
    pn_budget terms = { .epsilon = NAN, .rho = 1.0, .neighbours = PN_REPLACE_ONE, .teaching = true };
    pn_mechanism *mechanism = NULL;
    pn_sparse_run *run = NULL;
    pn_ledger *ledger = NULL;
    pn_rng *rng = NULL;
    pn_arg args[8];
    bool above;
    pn_status status;

    fill(args, &with);
    status = pn_mechanism_from_args(&mechanism, "sparse_vector", args, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 1, err);
    if (status == PN_OK)
        status = pn_ledger_new(&ledger, &terms, err);
    if (status == PN_OK)
        status = pn_sparse_run_new(&run, mechanism, ledger, "x", rng, err);
    if (status != PN_OK && ledger)
        CHECK(pn_ledger_spent(ledger) == 0.0);
    if (status == PN_OK)
        status = pn_sparse_run_above(run, 1.0, &above, err);
    pn_sparse_run_free(run);
    pn_mechanism_free(mechanism);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    return status;
}

static void only_sparse_vector_is_opened(void)
{
    pn_selection_options options = { PN_SELECT_EXPONENTIAL, 1.0, 1.0, 0.0, 1.0, PN_REPLACE_ONE, 0.0 };
    pn_ledger *ledger = budget(10.0, PN_REPLACE_ONE, true);
    pn_mechanism *mechanism = NULL;
    pn_sparse_run *run = NULL;
    pn_rng *rng = seeded(1);

    CHECK(pn_mechanism_selection(&mechanism, &options, NULL) == PN_OK);
    CHECK(pn_sparse_run_new(&run, mechanism, ledger, "x", rng, NULL) == PN_EUNSUPPORTED);
    CHECK(run == NULL && pn_ledger_entries(ledger) == 0);
    pn_mechanism_free(mechanism);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

int main(void)
{
    answers_have_the_computed_law();
    no_outcome_tells_neighbours_apart_by_more_than_epsilon();
    the_worst_case_comes_near_epsilon();
    a_tie_is_above_and_one_step_less_is_below();
    the_largest_values_compare_as_they_should();
    restarting_draws_the_threshold_anew_and_only_then();
    the_scales_cost_what_is_charged();
    options_that_prove_nothing_are_refused();
    a_run_gives_the_answers_of_a_release_and_then_halts();
    what_is_refused_draws_nothing_and_costs_nothing();
    only_sparse_vector_is_opened();
    for (int restart = 0; restart <= 1; restart++) {
        bool flag = restart == 1;

        fail_alloc_sweep("sparse_vector", open_and_ask, &flag);
    }
    return check_summary();
}
