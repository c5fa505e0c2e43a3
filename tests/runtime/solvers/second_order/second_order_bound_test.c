/* second_order_bound_test.c -- constants, iterations and records of private second-order descent against the published
 * numbers (second-order.md, section 11) and against what they promise.
 * Depends on: solvers/second_order/second_order.h, check.h. */
#include <string.h>

#include "check.h"
#include "solvers/second_order/second_order.h"

/* The shares and factors are the defaults. */
static so_constants given(double gradient, double smoothness, double lipschitz)
{
    return (so_constants){ .gradient = gradient,
                           .hessian = sqrt(lipschitz * gradient),
                           .smoothness = smoothness,
                           .lipschitz = lipschitz,
                           .c = so_params[SO_C].fallback,
                           .c1 = so_params[SO_C1].fallback,
                           .c2 = so_params[SO_C2].fallback,
                           .c_g = so_params[SO_CG].fallback,
                           .c_h = so_params[SO_CH].fallback,
                           .beta_g = so_params[SO_BETA_G].fallback,
                           .beta_h = so_params[SO_BETA_H].fallback,
                           .b0 = so_params[SO_B0].fallback,
                           .failure = so_params[SO_FAILURE].fallback };
}

static so_constants constants(double gradient, double smoothness, double lipschitz, bool line_search)
{
    so_constants of = given(gradient, smoothness, lipschitz);

    CHECK(so_derive(&of, line_search, NULL) == PN_OK);
    return of;
}

/* Item 1. */
static void published_constants(void)
{
    so_constants of = constants(0.06, 1.0, 1.0, true);
    size_t cap = (size_t)-1;

    CHECK_CLOSE(of.eps_g, 0.0545455, 5e-8);
    CHECK_CLOSE(of.eps_h, 0.2226809, 5e-8);
    CHECK_CLOSE(of.step_g, 0.6, 1e-15);
    CHECK_CLOSE(of.t1, 0.3037139, 5e-8);
    CHECK_CLOSE(of.t2, 1.6462861, 5e-8);
    CHECK_CLOSE(of.decrease, 0.000535537, 5e-10);
    CHECK(so_iterations(&of, 0.5, cap) == 934);
    of = constants(0.06, 1.0, 1.0, false);
    CHECK_CLOSE(of.decrease, 0.00119008, 5e-9);
    CHECK(so_iterations(&of, 0.5, cap) == 421);
    of = constants(0.03, 1.0, 1.0, false);
    CHECK(so_iterations(&of, 0.5, cap) == 1681);
    of = constants(0.03, 1.0, 1.0, true);
    CHECK(so_iterations(&of, 0.5, cap) == 3735);
    of = constants(0.06, 0.252, 0.1008936, false);
    CHECK(so_iterations(&of, 0.5, cap) == 106);
    of = constants(0.06, 0.252, 0.1008936, true);
    CHECK(so_iterations(&of, 0.5, cap) == 236);
}

/* Item 3: ||g~|| does not matter. */
static void published_search(void)
{
    so_constants of = constants(0.06, 1.0, 1.0, true);
    double step = of.b0 * of.step_g;

    CHECK_CLOSE(step, 12.0, 1e-12);
    CHECK(of.tests_g == 6);
    CHECK(of.tests_h == 5);
    for (size_t i = 0; i < of.tests_g; i++, step *= of.beta_g) {
        CHECK(step > of.step_g); /* what needs no test is not tested */
        CHECK(step - step * step / 2.0 < of.c_g * step);
    }
    CHECK(step <= of.step_g);
    of = constants(0.06, 1.0, 1.0, false);
    CHECK(of.tests_g == 0 && of.tests_h == 0);
}

static double noise_of_gradient(double n, double multiplier, double d, double each)
{
    return 2.0 / n * multiplier * (sqrt(d) + sqrt(2.0 * log(1.0 / each)));
}

static double noise_of_hessian(double sensitivity, double multiplier, double d, double each)
{
    return sensitivity * multiplier * (2.0 * sqrt(d) + 2.0 * sqrt(log(1.0 / each)));
}

static double multiplier_of(double epsilon, double n, double releases)
{
    double tail = log(n), root = sqrt(epsilon + tail) - sqrt(tail);

    return sqrt(releases / (2.0 * root * root));
}

/* Item 2; the multiplier is that of the article. */
static void published_records(void)
{
    so_constants of = constants(0.06, 1.0, 1.0, false);
    double n = 581012.0, z = multiplier_of(1.0, n, 2.0 * 421.0), weak = multiplier_of(0.2, n, 2.0 * 421.0);
    double each = of.failure / (2.0 * 421.0);

    CHECK_CLOSE(z, 152.267, 5e-4);
    /* the published ones are rounded, these are enough */
    CHECK(pn_records_for(n, noise_of_gradient(n, z, 54.0, each), 0.0, of.gradient_limit) == 854899.0 + 1.0);
    CHECK(pn_records_for(n, noise_of_gradient(n, weak, 54.0, each), 0.0, of.gradient_limit) == 4212631.0 + 1.0);
    CHECK(pn_records_for(n, noise_of_hessian(sqrt(2.0) * 0.25 / n, z, 54.0, each), 0.0, of.hessian_limit) ==
          50067.0 + 1.0);
    CHECK(pn_records_for(n, noise_of_hessian(2.0 * sqrt(54.0) * 0.25 / n, z, 54.0, each), 0.0, of.hessian_limit) ==
          520313.0);
}

/* Section 4. */
static void published_search_records(void)
{
    so_constants of = constants(0.06, 1.0, 1.0, true);
    double n = 581012.0, lambda = multiplier_of(1.0, n, 3.0 * 934.0);
    so_search_error at = { .records = n,
                           .batch = n,
                           .lipschitz = 1.0,
                           .sensitivity = 2.0 / n,
                           .epsilon = 1.0 / lambda,
                           .iterations = 934,
                           .slope = true };

    CHECK_CLOSE(lambda, 277.8, 0.05);
    CHECK_CLOSE(so_gradient_search_records(&of, &at), 3.16e6, 5e3);
    /* 64 lambda B_g M (ln i_max + ln(2T/zeta))/(c_h t2 eps_H^2): curvature steps ask for more */
    CHECK_CLOSE(so_curvature_search_records(&of, &at),
                64.0 * lambda * (log(5.0) + log(18680.0)) / (0.25 * 1.6462861 * 0.2226809 * 0.2226809), 10.0);
    at.slope = false;
    CHECK_CLOSE(so_gradient_search_records(&of, &at), 6.32e7, 5e4);
    at.epsilon = 0.0;
    CHECK(so_gradient_search_records(&of, &at) == 1.0);
}

/* The records that are named are those at which noise and sampling together meet the limit. */
static void records_meet_the_limit(void)
{
    double records = 1000.0, noise = 0.3, sampling = 0.2, limit = 0.05;
    double n = pn_records_for(records, noise, sampling, limit), less = n - 1.0;

    CHECK(noise * records / n + sampling * sqrt(records / n) <= limit);
    CHECK(noise * records / less + sampling * sqrt(records / less) > limit);
    CHECK(pn_records_for(records, 0.0, 0.0, limit) == 1.0);
    CHECK_CLOSE(pn_records_for(records, 0.0, sampling, limit), 16000.0, 1.0);
}

static void sampling_asks_for_more_records(void)
{
    so_constants of = constants(0.06, 1.0, 1.0, true);
    so_search_error at = { .records = 1e4,
                           .batch = 100.0,
                           .lipschitz = 1.0,
                           .sensitivity = 0.02,
                           .epsilon = 0.0,
                           .iterations = 10,
                           .slope = true };
    /* Hoeffding: sqrt(2 ln(2 tests T/zeta)/m) = c_g eps_g/2, m = n/100 */
    double m = 2.0 * log(2.0 * 6.0 * 10.0 / 0.1) / (0.3 * 0.0545454545 * 0.3 * 0.0545454545);

    CHECK_CLOSE(so_gradient_search_records(&of, &at) / (100.0 * m), 1.0, 1e-6);
    at.batch = at.records;
    CHECK(so_gradient_search_records(&of, &at) == 1.0);
}

/* The steps of the worst case: noise at its limits, third derivatives at M. */
static void decrease_is_really_there(void)
{
    so_constants of = constants(0.06, 0.7, 0.4, true);
    double decrease = constants(0.06, 0.7, 0.4, false).decrease;

    for (double g = of.eps_g; g < 1.0; g *= 1.3) {
        double e = of.gradient_limit, gamma = 1.0 / of.smoothness;

        CHECK(gamma * g * (g - e) - of.smoothness * gamma * gamma * g * g / 2.0 >= decrease * (1.0 - 1e-12));
        gamma = of.step_g;
        CHECK(gamma * g * (g - e) - of.smoothness * gamma * gamma * g * g / 2.0 >=
              of.c_g * gamma * g * g * (1.0 - 1e-12));
    }
    for (double lam = of.eps_h; lam < 2.0; lam *= 1.3) {
        double M = of.lipschitz, e = of.gradient_limit, E = of.hessian_limit;

        for (int i = 0; i < 3; i++) {
            double t = i == 0 ? 2.0 : i == 1 ? of.t1 : of.t2, gamma = t * lam / M;
            double fall = -gamma * e + gamma * gamma * (lam - E) / 2.0 - M * gamma * gamma * gamma / 6.0;

            CHECK(fall >= (i == 0 ? decrease : of.c_h / 2.0 * gamma * gamma * lam) * (1.0 - 1e-12));
        }
    }
    CHECK_CLOSE(
        of.decrease,
        fmin(of.c_g * of.step_g * of.eps_g * of.eps_g, of.c_h / 2.0 * of.t2 * of.t2 * pow(of.eps_h, 3.0) / 0.16) / 2.0,
        1e-15);
}

static bool refuses(so_constants of, bool line_search, const char *words)
{
    pn_err err = { 0 };

    return so_derive(&of, line_search, &err) == PN_EINVAL && strstr(err.message, words);
}

static void indefinite_constants(void)
{
    const so_constants good = given(0.1, 1.0, 1.0);
    so_constants of;

#define REFUSES(field, value, line_search, words)                                                                      \
    (of = good, of.field = (value), CHECK(refuses(of, line_search, words)))
    REFUSES(gradient, 0.0, false, "tolerance.gradient must be a positive number, got 0");
    REFUSES(gradient, NAN, false, "tolerance.gradient");
    REFUSES(hessian, -1.0, false, "tolerance.hessian must be a positive number, got -1");
    REFUSES(c1, 0.5, false, "c1 must be in (0, 1/2) for gradient steps to lower f, got 0.5");
    REFUSES(c, 0.25, false, "c + c2 must be below 1/3 for curvature steps to lower f, got 0.333333");
    REFUSES(c_g, 0.9, true, "c1 + c_g below 1");
    REFUSES(c_h, 0.5, true, "got c_h = 0.5");
    REFUSES(beta_h, 0.18, true, "beta_h must be above t1/t2"); /* .3037139/1.6462861 = .18448 */
    REFUSES(b0, 0.9, true, "b0 must be at least 1");
    REFUSES(beta_g, 0.999, true, "more than 1000 tests");
#undef REFUSES
    of = good;
    of.b0 = 0.9;
    of.c_h = 0.5;
    CHECK(!refuses(of, false, "")); /* without searches nothing rests on them */
}

static void iterations_are_clamped(void)
{
    so_constants of = constants(0.06, 1.0, 1.0, false);

    CHECK(so_iterations(&of, 0.5, 100) == 100);
    CHECK(so_iterations(&of, 0.0, 100) == 1);
    CHECK(so_iterations(&of, -3.0, 100) == 1);
    CHECK(so_iterations(&of, INFINITY, 100) == 100);
}

int main(void)
{
    published_constants();
    published_search();
    published_records();
    published_search_records();
    records_meet_the_limit();
    sampling_asks_for_more_records();
    decrease_is_really_there();
    indefinite_constants();
    iterations_are_clamped();
    return check_summary();
}
