/* additive_mechanism_test.c -- Gaussian and Laplace releases: the law, the lattice, the charge, and what is refused
 * before it.  Seeds are fixed; a true law fails each statistical check with probability 1e-6,
 * a scale off by 1.1 never passes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/accounting/accountant.h"
#include "privacy/event/gaussian.h"
#include "privacy/mechanism/mechanism.h"
#include "random/noise.h"

#include "check.h"
#include "fail_alloc.h"
#include "runtime/random/chi_square.h"

#define DRAWS 200000

static pn_arg real(double x)
{
    return (pn_arg){ .given = true, .real = x };
}

static pn_arg count(size_t n)
{
    return (pn_arg){ .given = true, .count = n };
}

static pn_mechanism *gaussian(double sigma, double sensitivity, size_t dim, double bound, bool exact)
{
    pn_arg args[6] = { real(sigma), real(sensitivity), count(dim), { 0 }, { .given = true, .flag = exact } };
    pn_mechanism *mechanism = NULL;
    pn_err err;

    if (bound < INFINITY)
        args[3] = real(bound);
    if (!CHECK(pn_mechanism_from_args(&mechanism, "gaussian", args, PN_REPLACE_ONE, &err) == PN_OK))
        exit(check_summary());
    return mechanism;
}

/* scale > 0, or else epsilon > 0 */
static pn_mechanism *laplace(double scale, double epsilon, double sensitivity, size_t dim, double bound)
{
    pn_arg args[6] = { { 0 }, { 0 }, real(sensitivity), count(dim), { 0 } };
    pn_mechanism *mechanism = NULL;
    pn_err err;

    if (scale > 0.0)
        args[0] = real(scale);
    if (epsilon > 0.0)
        args[1] = real(epsilon);
    if (bound < INFINITY)
        args[4] = real(bound);
    if (!CHECK(pn_mechanism_from_args(&mechanism, "laplace", args, PN_REPLACE_ONE, &err) == PN_OK))
        exit(check_summary());
    return mechanism;
}

static pn_status analytic(pn_mechanism **out, double epsilon, double delta, double sensitivity, size_t dim, pn_err *err)
{
    pn_arg args[6] = { real(epsilon), real(delta), real(sensitivity), count(dim), { 0 } };

    return pn_mechanism_from_args(out, "analytic_gaussian", args, PN_REPLACE_ONE, err);
}

static pn_ledger *budget(double rho, bool teaching)
{
    pn_budget terms = { .epsilon = NAN, .delta = 0.0, .rho = rho, .neighbours = PN_REPLACE_ONE, .teaching = teaching };
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

/* One release of x[n] on a ledger that pays for everything. */
static void release(pn_mechanism *mechanism, pn_rng *rng, const double *x, size_t n, double *out)
{
    pn_ledger *ledger = budget(1e300, true);
    pn_release result = { .values = out };

    CHECK(pn_mechanism_release(mechanism, ledger, NULL, rng, x, n, &result, NULL) == PN_OK);
    CHECK(result.simulated);
    pn_ledger_free(ledger);
}

/* ---- the law ---- */

static double normal_below(double x)
{
    return erfc(-x / sqrt(2.0)) / 2.0;
}

static double laplace_below(double x)
{
    return x < 0.0 ? exp(x) / 2.0 : 1.0 - exp(-x) / 2.0;
}

/* Six cells cut at -2, -1, 0, 1, 2 scales from the value. */
static double statistic(const double *noisy, size_t n, double value, double scale, double (*below)(double))
{
    double counts[6] = { 0.0 }, law[6];

    for (size_t i = 0; i < n; i++) {
        double cell = floor((noisy[i] - value) / scale) + 3.0;

        counts[(size_t)fmin(fmax(cell, 0.0), 5.0)]++;
    }
    for (int i = 0; i < 6; i++)
        law[i] = (i == 5 ? 1.0 : below(i - 2.0)) - (i == 0 ? 0.0 : below(i - 3.0));
    return chi_square(counts, law, 6);
}

static void check_law(pn_mechanism *mechanism, uint64_t seed, size_t n, double scale, double (*below)(double))
{
    double *x = malloc(n * sizeof *x), value = 0.3 * scale;
    pn_rng *rng = seeded(seed);

    for (size_t i = 0; i < n; i++)
        x[i] = value;
    release(mechanism, rng, x, n, x); /* in place */
    CHECK(statistic(x, n, value, scale, below) < CHI2_5);
    CHECK(statistic(x, n, value, scale * 1.1, below) > CHI2_5);
    CHECK(statistic(x, n, value, scale / 1.1, below) > CHI2_5);
    CHECK(statistic(x, n, value + scale * 0.1, scale, below) > CHI2_5);
    pn_mechanism_free(mechanism);
    pn_rng_free(rng);
    free(x);
}

static void every_mechanism_has_its_law(void)
{
    pn_mechanism *mechanism = NULL;

    check_law(gaussian(2.5, 1.0, DRAWS, INFINITY, false), 1, DRAWS, 2.5, normal_below);
    check_law(gaussian(1e-200, 1e-200, DRAWS, INFINITY, false), 2, DRAWS, 1e-200, normal_below);
    check_law(gaussian(2.5, 1.0, DRAWS, 4.0, true), 3, DRAWS, 2.5, normal_below);
    check_law(laplace(2.5, 0.0, 1.0, DRAWS, INFINITY), 4, DRAWS, 2.5, laplace_below);
    if (CHECK(analytic(&mechanism, 1.0, 1e-5, 1.0, DRAWS, NULL) == PN_OK))
        check_law(mechanism, 5, DRAWS, 3.730631635, normal_below);
}

/* ---- the lattice ---- */

static bool is_multiple(double x, double step)
{
    return rint(x / step) * step == x;
}

static void outputs_are_whole_steps_whatever_the_last_bit_of_the_value(void)
{
    const double step = ldexp(0.3, -40);
    pn_mechanism *mechanisms[] = { gaussian(0.3, 1.0, 1000, INFINITY, false), gaussian(0.3, 1.0, 1000, 9.0, true),
                                   laplace(0.3, 0.0, 1.0, 1000, INFINITY) };
    double x[1000], out[1000];

    for (size_t k = 0; k < 3; k++) {
        pn_rng *rng = seeded(k);
        bool all = true;

        for (size_t i = 0; i < 1000; i++)
            x[i] = i % 2 ? nextafter(0.1 + (double)i * 1e-3, 1.0) : 0.1 + (double)i * 1e-3;
        release(mechanisms[k], rng, x, 1000, out);
        for (size_t i = 0; i < 1000; i++)
            all = all && is_multiple(out[i], step);
        CHECK(all);
        pn_mechanism_free(mechanisms[k]);
        pn_rng_free(rng);
    }
}

/* Noise of a seed is the same for two inputs: what remains is the rounded values. */
static void neighbours_stay_neighbours_beyond_the_clamp(void)
{
    const double edges[] = { 0x1p62, 0x1p63, -0x1p62, -0x1p63 };
    pn_mechanism *mechanism = gaussian(0.3, 1.0, 4, INFINITY, false);
    const double step = ldexp(0.3, -40), moved = 1.0 / step;
    double x[4], y[4], far[4] = { 1e300, -1e300, 0x1p63, -0x1p63 };

    for (int i = 0; i < 4; i++) {
        x[i] = edges[i] * step;
        y[i] = (edges[i] + moved) * step;
    }
    for (uint64_t seed = 0; seed < 20; seed++) {
        pn_rng *one = seeded(seed), *two = seeded(seed), *three = seeded(seed);
        double a[4], b[4], c[4];

        release(mechanism, one, x, 4, a);
        release(mechanism, two, y, 4, b);
        release(mechanism, three, far, 4, c);
        for (int i = 0; i < 4; i++) {
            CHECK(fabs(a[i] - b[i]) / step <= moved * (1.0 + 0x1p-50) + 0x1p11); /* doubles are 2^10 steps apart here */
            CHECK_CLOSE(fabs(c[i]), fmin(fabs(far[i]), PN_LATTICE_FARTHEST * step), 1e-15 * fabs(c[i]));
            CHECK(signbit(c[i]) == (i % 2 == 1));
        }
        pn_rng_free(one);
        pn_rng_free(two);
        pn_rng_free(three);
    }
    pn_mechanism_free(mechanism);
}

/* ---- the charge ---- */

static void check_event(const pn_mechanism *mechanism, const char *name, double scale, double sensitivity, size_t draws)
{
    pn_arg args[4];

    CHECK(strcmp(mechanism->event->ops->name, name) == 0);
    mechanism->event->ops->args(mechanism->event, args);
    CHECK(args[0].real == scale);
    CHECK(args[1].real == sensitivity);
    CHECK(args[2].count == draws);
}

static void rounding_and_every_draw_are_in_the_charge(void)
{
    static const double bounds[] = { INFINITY, 3.0 };

    for (size_t i = 0; i < 2; i++) {
        pn_mechanism *g = gaussian(2.0, 0.5, 100, bounds[i], false), *e = gaussian(2.0, 0.5, 100, bounds[i], true);
        pn_mechanism *l = laplace(2.0, 0.0, 0.5, 100, bounds[i]);
        double l2 = pn_lattice_l2(0.5, 2.0, 100, bounds[i], 1), l1 = pn_lattice_l1(0.5, 2.0, 100, bounds[i], 1);

        CHECK(l2 >= 0.5 + 10.0 * 0x1p-39 && l1 >= 0.5 + 100.0 * 0x1p-39);
        check_event(g, "gaussian", 2.0, l2, 100);
        check_event(e, "gaussian", 2.0, l2, 100);
        check_event(l, "laplace", 2.0, l1, 100);
        CHECK(g->domain == bounds[i] && g->dim == 100);
        pn_mechanism_free(g);
        pn_mechanism_free(e);
        pn_mechanism_free(l);
    }
}

/* Balle, Wang (2018); the numbers are computed in multiprecision from the formula. */
static void analytic_gaussian_keeps_its_epsilon_and_wastes_nothing(void)
{
    static const struct {
        double epsilon, delta, sigma;
    } cases[] = {
        { 1.0, 1e-5, 3.730631635 }, { 0.5, 1e-6, 8.057618481 }, { 8.0, 1e-6, 0.652935384 }, { 0.01, 1e-8, 412.356942 }
    };

    for (size_t i = 0; i < 4; i++) {
        for (size_t dim = 1; dim <= 10000; dim *= 100) {
            pn_mechanism *mechanism = NULL;
            pn_slack slack;
            pn_arg args[4];
            double certified, less;

            if (!CHECK(analytic(&mechanism, cases[i].epsilon, cases[i].delta, 1.0, dim, NULL) == PN_OK))
                continue;
            slack = pn_event_slack(mechanism->event, 1);
            mechanism->event->ops->args(mechanism->event, args);
            certified =
                pn_slack_epsilon(pn_gaussian_epsilon(args[1].real / args[0].real, pn_ideal_delta(cases[i].delta)),
                                 cases[i].delta, slack);
            less = pn_gaussian_epsilon(args[1].real / args[0].real * (1.0 + 1e-8), pn_ideal_delta(cases[i].delta));
            CHECK(slack.epsilon > 0.0 && args[2].count == dim);
            CHECK(certified <= cases[i].epsilon);
            CHECK(less > cases[i].epsilon);
            /* without a bound rounding adds sqrt(dim) 1025 steps to the sensitivity;
             * 2^-35 of epsilon is the ledger's */
            CHECK_CLOSE(args[0].real / cases[i].sigma, 1.0,
                        1e-9 + 1025.1 * 0x1p-40 * sqrt((double)dim) * args[0].real + 0x1p-35 / cases[i].epsilon);
            CHECK(args[0].real >= cases[i].sigma * (1.0 - 1e-9));
            pn_mechanism_free(mechanism);
        }
    }
}

static void laplace_keeps_its_epsilon_and_wastes_nothing(void)
{
    for (double epsilon = 0x1p-30; epsilon <= 64.0; epsilon *= 7.0) {
        for (size_t dim = 1; dim <= 1000; dim *= 10) {
            pn_mechanism *mechanism = laplace(0.0, epsilon, 2.0, dim, 5.0);
            double cost = pn_event_epsilon(mechanism->event, 1, 0.0, NULL);

            CHECK(cost <= epsilon && cost >= epsilon * (1.0 - 1e-14));
            pn_mechanism_free(mechanism);
        }
    }
}

/* ---- what is refused ---- */

static void a_refused_release_draws_nothing_gives_nothing_and_costs_nothing(void)
{
    static const struct {
        double values[2];
        size_t n;
        pn_status status;
    } cases[] = { { { 1.0, 2.0 }, 1, PN_EDIM },           { { 1.0, 2.0 }, 0, PN_EDIM },
                  { { 1.0, NAN }, 2, PN_EDOMAIN },        { { -INFINITY, 0.0 }, 2, PN_EDOMAIN },
                  { { 1.0, -4.0000001 }, 2, PN_EDOMAIN }, { { 1.0, 2.0 }, 2, PN_EBUDGET } };
    pn_mechanism *mechanisms[] = { gaussian(1.0, 1.0, 2, 4.0, false), laplace(1.0, 0.0, 1.0, 2, 4.0) };
    pn_rng *rng = seeded(1), *same = seeded(1);
    pn_ledger *poor = budget(0.1, true);

    for (size_t k = 0; k < 2; k++) {
        mechanisms[k]->clamps = false; /* strict */
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            double values[2] = { 77.0, 78.0 };
            pn_release out = { .values = values, .index = 9, .count = 9 };
            pn_err err;

            CHECK(pn_mechanism_release(mechanisms[k], poor, "x", rng, cases[i].values, cases[i].n, &out, &err) ==
                  cases[i].status);
            CHECK(values[0] == 77.0 && values[1] == 78.0 && out.index == 9 && out.count == 9 && !out.simulated);
            CHECK(!strstr(err.message, "4.0000001") && !strstr(err.message, "entry"));
        }
        pn_mechanism_free(mechanisms[k]);
    }
    CHECK(pn_ledger_entries(poor) == 0 && pn_ledger_remaining(poor) == 0.1);
    CHECK(pn_rng_u64(rng) == pn_rng_u64(same));
    pn_ledger_free(poor);
    pn_rng_free(rng);
    pn_rng_free(same);
}

static void seeded_noise_is_refused_by_a_real_budget_and_marked_on_a_teaching_one(void)
{
    pn_mechanism *mechanism = gaussian(1.0, 1.0, 1, INFINITY, false);
    pn_ledger *real_ledger = budget(10.0, false), *teaching = budget(10.0, true);
    pn_rng *rng = seeded(1), *secure = NULL;
    double x = 1.0, y = 77.0;
    pn_release out = { .values = &y };

    CHECK(pn_rng_secure(&secure, NULL) == PN_OK);
    CHECK(pn_mechanism_release(mechanism, real_ledger, "x", rng, &x, 1, &out, NULL) == PN_EPRIVACY);
    CHECK(y == 77.0 && pn_ledger_entries(real_ledger) == 0);
    CHECK(pn_mechanism_release(mechanism, teaching, "x", rng, &x, 1, &out, NULL) == PN_OK && out.simulated);
    CHECK(pn_mechanism_release(mechanism, real_ledger, "x", secure, &x, 1, &out, NULL) == PN_OK && !out.simulated);
    CHECK(y != 77.0 && pn_ledger_entries(real_ledger) == 1);
    CHECK(pn_mechanism_release(mechanism, NULL, "x", secure, &x, 1, &out, NULL) == PN_EINVAL);
    out.values = NULL;
    CHECK(pn_mechanism_release(mechanism, real_ledger, "x", secure, &x, 1, &out, NULL) == PN_EINVAL);
    CHECK(pn_ledger_entries(real_ledger) == 1);
    pn_mechanism_free(mechanism);
    pn_ledger_free(real_ledger);
    pn_ledger_free(teaching);
    pn_rng_free(rng);
    pn_rng_free(secure);
}

static void another_relation_is_refused(void)
{
    pn_arg args[6] = { real(1.0), real(1.0), count(1) };
    pn_mechanism *mechanism = NULL;
    pn_ledger *ledger = budget(10.0, true);
    pn_rng *rng = seeded(1);
    double x = 1.0, y = 77.0;
    pn_release out = { .values = &y };

    CHECK(pn_mechanism_from_args(&mechanism, "gaussian", args, PN_ZERO_OUT, NULL) == PN_OK);
    CHECK(pn_mechanism_release(mechanism, ledger, "x", rng, &x, 1, &out, NULL) == PN_EPRIVACY);
    CHECK(y == 77.0 && pn_ledger_entries(ledger) == 0);
    pn_mechanism_free(mechanism);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
}

static void options_outside_their_range_are_refused(void)
{
    pn_mechanism *mechanism = NULL;
    pn_arg sigma[6] = { real(1e-300), real(1.0), count(1) }, wide[6] = { real(1.0), real(1e300), count(1) };
    pn_arg both[6] = { real(1.0), real(1.0), real(1.0) }, none[6] = { { 0 }, { 0 }, real(1.0) };

    CHECK(pn_mechanism_from_args(&mechanism, "gaussian", sigma, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    CHECK(pn_mechanism_from_args(&mechanism, "gaussian", wide, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    CHECK(pn_mechanism_from_args(&mechanism, "laplace", both, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    CHECK(pn_mechanism_from_args(&mechanism, "laplace", none, PN_REPLACE_ONE, NULL) == PN_EINVAL);
    CHECK(analytic(&mechanism, 1e-200, 1e-5, 1.0, (size_t)1 << 50, NULL) == PN_EINVAL); /* rounding alone costs more */
    CHECK(mechanism == NULL);
}

/* ---- memory ---- */

static pn_status make_and_release(void *self, pn_err *err)
{
    pn_arg args[6] = { real(1.0), real(1.0), count(3), { 0 }, { 0 } };
    pn_budget terms = { .epsilon = NAN, .rho = 1.0, .neighbours = PN_REPLACE_ONE, .teaching = true };
    double x[3] = { 1.0, 2.0, 3.0 }, y[3] = { 77.0, 77.0, 77.0 };
    pn_release out = { .values = y };
    pn_mechanism *mechanism = NULL;
    pn_ledger *ledger = NULL;
    pn_rng *rng = NULL;
    pn_status status = pn_mechanism_from_args(&mechanism, self, args, PN_REPLACE_ONE, err);

    if (status == PN_OK)
        status = pn_rng_seeded(&rng, 1, err);
    if (status == PN_OK)
        status = pn_ledger_new(&ledger, &terms, err);
    if (status == PN_OK)
        status = pn_mechanism_release(mechanism, ledger, "x", rng, x, 3, &out, err);
    CHECK((status == PN_OK) == (y[0] != 77.0));
    if (ledger)
        CHECK((status == PN_OK) == (pn_ledger_spent(ledger) > 0.0));
    pn_mechanism_free(mechanism);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    return status;
}

int main(void)
{
    every_mechanism_has_its_law();
    outputs_are_whole_steps_whatever_the_last_bit_of_the_value();
    neighbours_stay_neighbours_beyond_the_clamp();
    rounding_and_every_draw_are_in_the_charge();
    analytic_gaussian_keeps_its_epsilon_and_wastes_nothing();
    laplace_keeps_its_epsilon_and_wastes_nothing();
    a_refused_release_draws_nothing_gives_nothing_and_costs_nothing();
    seeded_noise_is_refused_by_a_real_budget_and_marked_on_a_teaching_one();
    another_relation_is_refused();
    options_outside_their_range_are_refused();
    fail_alloc_sweep("gaussian", make_and_release, "gaussian");
    return check_summary();
}
