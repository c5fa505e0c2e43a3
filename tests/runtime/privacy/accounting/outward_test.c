/* outward_test.c -- what is stated of privacy is rounded towards more of it: every conversion against the same formula
 * in long double, at points so many that rounding to nearest would be on the wrong side of some; and calibrated noise
 * against the price of its events.  Long double has 11 more bits; where it has not, nothing is compared.
 * Depends on: check.h, privacy/. */
#include <float.h>

#include "check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/event.h"
#include "privacy/event/gaussian.h"
#include "random/noise.h"
#include "random/rng.h"

enum { POINTS = 20000 };

static pn_rng *rng;

static double between(double low, double high) /* evenly in logarithms */
{
    return low * exp(pn_rng_uniform(rng) * log(high / low));
}

/* How often the numbers were above the exact ones, and by how many last places at most: an upper bound,
 * but no fantasy. */
typedef struct outward {
    size_t points, wrong;
    double most;
} outward;

static void see(outward *so_far, double stated, long double exact, double unit)
{
    double off = (double)(((long double)stated - exact) / (long double)unit);

    so_far->points++;
    so_far->wrong += !(off >= 0.0);
    so_far->most = fmax(so_far->most, off);
}

/* ---- Renyi orders ---- */

static long double exact_epsilon(long double alpha, long double rdp, long double delta)
{
    return rdp + log1pl(-1.0L / alpha) - (logl(delta) + logl(alpha)) / (alpha - 1.0L);
}

static void an_order_is_converted_upward(void)
{
    outward up = { 0, 0, 0.0 }, back = { 0, 0, 0.0 };

    for (int i = 0; i < POINTS; i++) {
        double alpha = 1.0 + between(1e-3, 1e5), rdp = between(1e-6, 1e3), delta = between(1e-15, 0.5), budget;
        long double exact = exact_epsilon((long double)alpha, (long double)rdp, (long double)delta);
        double size = rdp + fabs(log(delta)) / (alpha - 1.0) + 1.0;

        if (exact > 0.0L)
            see(&up, pn_rdp_epsilon(alpha, rdp, delta), exact, DBL_EPSILON * size);
        budget = pn_rdp_budget(alpha, rdp, delta);
        exact = (long double)rdp - exact_epsilon((long double)alpha, 0.0L, (long double)delta);
        see(&back, -budget, -exact, DBL_EPSILON * size);
        CHECK(budget <= 0.0 || pn_rdp_epsilon(alpha, budget, delta) <= rdp);
    }
    CHECK(up.points > POINTS / 2 && up.wrong == 0 && up.most < 100.0);
    CHECK(back.points == POINTS && back.wrong == 0 && back.most < 100.0);
}

/* A curve whose every question is converted exactly: no answer may be below the least of them. */
typedef struct asked {
    double rho, epsilon;
    long double least; /* ln delta */
} asked;

static double ask(const void *self, double alpha)
{
    asked *at = *(asked *const *)self;
    long double a = (long double)alpha - 1.0L, rdp = (long double)at->rho * (long double)alpha;

    if (isinf(alpha))
        return INFINITY;
    at->least = fminl(at->least, a * ((long double)(double)rdp - (long double)at->epsilon) +
                                     a * log1pl(-1.0L / (long double)alpha) - logl((long double)alpha));
    return (double)rdp;
}

static void a_curve_is_converted_upward(void)
{
    outward up = { 0, 0, 0.0 };

    for (int i = 0; i < POINTS / 10; i++) {
        asked at = { .rho = between(1e-3, 30.0), .least = INFINITY }, *self = &at;
        pn_curve curve = { ask, &self };
        double delta;

        at.epsilon = at.rho + between(0.5, 12.0) * sqrt(at.rho);
        delta = pn_curve_delta(&curve, at.epsilon, 0.0);
        if (delta < 1.0)
            see(&up, log(delta) * (1.0 + DBL_EPSILON), at.least, DBL_EPSILON * (fabs(log(delta)) + 1.0));
    }
    CHECK(up.points > POINTS / 20 && up.most < 1e4);
    CHECK(up.wrong <= up.points / 100); /* the logarithm here has roundings of its own */
}

static void a_budget_is_met_by_its_rho(void)
{
    for (int i = 0; i < 300; i++) {
        double epsilon = between(1e-3, 50.0), delta = between(1e-12, 0.1), rho = pn_zcdp_rho(epsilon, delta);

        CHECK(rho > 0.0 && pn_zcdp_epsilon(rho, pn_ideal_delta(delta)) <= epsilon);
        CHECK(pn_zcdp_epsilon(rho * (1.0 + 1e-6), pn_ideal_delta(delta)) > epsilon);
        CHECK(pn_ideal_delta(delta) < delta);
    }
}

/* ---- Gaussian noise ---- */

/* Phi(a) - exp(epsilon) Phi(-b), in a range where it keeps its digits. */
static long double exact_gaussian_delta(double mu, double epsilon)
{
    long double m = (long double)mu, e = (long double)epsilon, root = sqrtl(2.0L);

    return 0.5L * erfcl(-(m / 2.0L - e / m) / root) - expl(e) * 0.5L * erfcl((m / 2.0L + e / m) / root);
}

static void gaussian_noise_is_priced_upward(void)
{
    outward delta = { 0, 0, 0.0 }, epsilon = { 0, 0, 0.0 }, mu = { 0, 0, 0.0 };

    for (int i = 0; i < POINTS / 10; i++) {
        double m = between(0.05, 6.0), e = between(0.01, 8.0), d, priced, least;
        long double exact = exact_gaussian_delta(m, e);

        if (!(exact > 1e-6L))
            continue; /* digits cancel */
        d = (double)exact;
        see(&delta, pn_gaussian_delta(m, e), exact * (1.0L + 1e-14L), DBL_EPSILON * d);
        priced = pn_gaussian_epsilon(m, d);
        see(&epsilon, -(double)exact_gaussian_delta(m, priced), -exact * (1.0L - 1e-14L), DBL_EPSILON * d);
        least = pn_gaussian_mu(e, d);
        see(&mu, -(double)exact_gaussian_delta(least, e), -exact * (1.0L - 1e-14L), DBL_EPSILON * d);
    }
    CHECK(delta.points > 200 && delta.wrong == 0 && epsilon.wrong == 0 && mu.wrong == 0);
}

/* ---- calibration ---- */

/* The price of `count` such releases, of the event that each one charges. */
static double price_of(const pn_gaussian_releases *want, double sigma)
{
    double charged = pn_lattice_l2(want->sensitivity, sigma, want->dim, want->bound, 1), out;
    pn_event *event = NULL;

    CHECK(pn_event_gaussian(&event, sigma, charged, want->dim, PN_REPLACE_ONE, NULL) == PN_OK);
    out = pn_event_epsilon(event, want->count, want->delta, NULL);
    pn_event_free(event);
    return out;
}

static void releases_cost_what_was_given_for_them(void)
{
    static const size_t dims[] = { 1, 54, 1000000, (size_t)1 << 40 }, counts[] = { 1, 7, 10000, (size_t)1 << 24 };
    size_t made = 0;

    for (int i = 0; i < 400; i++) {
        pn_gaussian_releases want = { .epsilon = between(1e-2, 10.0),
                                      .delta = between(1e-10, 1e-2),
                                      .rho = NAN,
                                      .sensitivity = between(1e-4, 10.0),
                                      .bound = i % 2 ? INFINITY : 3.0,
                                      .dim = dims[i % 4],
                                      .count = counts[i / 4 % 4] };
        double sigma = pn_calibrate_gaussian_releases(&want);

        if (isnan(sigma))
            continue;
        made++;
        CHECK(price_of(&want, sigma) <= want.epsilon);
        if (want.dim < 1000000 && want.count <= 10000)
            CHECK(price_of(&want, sigma * (1.0 - 1e-4)) > want.epsilon);
    }
    CHECK(made > 200);
}

static void releases_cost_the_rho_that_was_given_for_them(void)
{
    static const size_t dims[] = { 1, 54, 1000000 }, counts[] = { 1, 3, 7, 10000, 12345678 };

    for (int i = 0; i < 3000; i++) {
        pn_gaussian_releases want = { .epsilon = NAN,
                                      .delta = NAN,
                                      .rho = between(1e-3, 10.0),
                                      .sensitivity = between(1e-4, 10.0),
                                      .bound = i % 2 ? INFINITY : 3.0,
                                      .dim = dims[i % 3],
                                      .count = counts[i / 3 % 5] };
        double sigma = pn_calibrate_gaussian_releases(&want);
        long double mu =
            (long double)pn_lattice_l2(want.sensitivity, sigma, want.dim, want.bound, 1) / (long double)sigma;

        CHECK((long double)want.count * mu * mu / 2.0L <= (long double)want.rho);
        CHECK((long double)want.count * mu * mu / 2.0L >= (long double)want.rho * (1.0L - 1e-9L));
    }
}

/* ---- parameters ---- */

static double of_event(const char *name, double noise, double sensitivity, double order)
{
    pn_arg args[3] = { { .given = true, .real = noise }, { .given = true, .real = sensitivity }, { 0 } };
    pn_event *event = NULL;
    double value = NAN;

    if (CHECK(pn_event_from_args(&event, name, args, PN_REPLACE_ONE, NULL) == PN_OK))
        value = order > 0.0 ? pn_event_rdp(event, order) : pn_event_zcdp(event);
    pn_event_free(event);
    return value;
}

/* Half of all quotients, and of their squares, are below the exact one when they are rounded to the nearest. */
static void a_quotient_of_parameters_is_priced_upward(void)
{
    outward pure = { 0, 0, 0.0 }, choice = { 0, 0, 0.0 }, rho = { 0, 0, 0.0 }, renyi = { 0, 0, 0.0 };

    for (int i = 0; i < POINTS; i++) {
        double noise = between(1e-3, 1e6), sensitivity = between(1e-3, 1e3), order = 1.0 + between(1e-2, 1e3);
        long double e = (long double)sensitivity / (long double)noise, square = e * e / 2.0L;

        see(&pure, of_event("laplace", noise, sensitivity, INFINITY), e, DBL_EPSILON * (double)e);
        see(&choice, of_event("report_noisy_max", noise, sensitivity, INFINITY), 2.0L * e, DBL_EPSILON * (double)e);
        see(&rho, of_event("gaussian", noise, sensitivity, 0.0), square, DBL_EPSILON * (double)square);
        square *= (long double)order;
        see(&renyi, of_event("gaussian", noise, sensitivity, order), square, DBL_EPSILON * (double)square);
    }
    CHECK(pure.wrong == 0 && pure.most <= 1.0);
    CHECK(choice.wrong == 0 && choice.most <= 2.0);
    CHECK(rho.wrong == 0 && rho.most <= 3.0);
    CHECK(renyi.wrong == 0 && renyi.most <= 4.0);
}

int main(void)
{
    if (LDBL_MANT_DIG < DBL_MANT_DIG + 8)
        return !CHECK(true);
    CHECK(pn_rng_seeded(&rng, 7, NULL) == PN_OK);
    an_order_is_converted_upward();
    a_curve_is_converted_upward();
    a_budget_is_met_by_its_rho();
    gaussian_noise_is_priced_upward();
    releases_cost_what_was_given_for_them();
    releases_cost_the_rho_that_was_given_for_them();
    a_quotient_of_parameters_is_priced_upward();
    pn_rng_free(rng);
    return check_summary();
}
