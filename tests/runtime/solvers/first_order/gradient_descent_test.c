/* gradient_descent_test.c -- the bounds of gradient descent against closed forms and against the recursions that they
 * sum up.
 * Depends on: solvers/first_order/gradient_descent.h, check.h.  Numbers: mirror-descent.md section 5. */
#include <math.h>

#include "check.h"
#include "solvers/first_order/gradient_descent.h"

/* Item 4: h = (1, .1), x0 = (1, 1), eta = 1, sigma = .05, T = 30. */
static void test_the_bound_of_the_quadratic(void)
{
    gd_constants of = {
        .rule = GD_RULE_LINEAR, .p = 2.0, .smoothness = 1.0, .strong_convexity = 0.1, .gap = 0.55, .distance = INFINITY
    };

    CHECK_CLOSE(gd_risk(&of, 30.0, 1.0, 0.0025), 0.047255358, 1e-8);
    of.proximal = true; /* at eta = 1/L a proximal step promises the same */
    CHECK_CLOSE(gd_risk(&of, 30.0, 1.0, 0.0025), 0.047255358, 1e-8);
    CHECK(isinf(gd_risk(&of, 30.0, 1.1, 0.0025)));
    of.proximal = false;
    CHECK(isfinite(gd_risk(&of, 30.0, 1.9, 0.0025)) && isinf(gd_risk(&of, 30.0, 2.0, 0.0025)));
}

/* gap <- q gap + e v, step by step. */
static void test_the_linear_rule_sums_its_recursion(void)
{
    gd_constants of = { .rule = GD_RULE_LINEAR, .p = 7.0, .smoothness = 2.0, .strong_convexity = 0.3, .gap = 4.0 };
    double eta = 0.4, v = 0.01, plain = of.gap, proximal = of.gap;

    of.prox_convexity = 0.2;
    for (int t = 1; t <= 50; t++) {
        plain = (1.0 - 2.0 * 0.3 * eta * (1.0 - eta)) * plain + 2.0 * eta * eta * 7.0 * v / 2.0;
        proximal = (1.0 - 0.3 * eta / (1.0 + 0.2 * eta)) * proximal + eta * 7.0 * v / (2.0 * (1.0 + 0.2 * eta));
        of.proximal = false;
        CHECK_CLOSE(gd_risk(&of, t, eta, v), plain, 1e-12);
        of.proximal = true;
        CHECK_CLOSE(gd_risk(&of, t, eta, v), proximal, 1e-12);
    }
    of.strong_convexity = 0.0;
    CHECK(isinf(gd_risk(&of, 5.0, eta, v)));
}

static void test_other_rules(void)
{
    gd_constants of = {
        .rule = GD_RULE_CONVEX, .p = 4.0, .smoothness = 1.0, .slope = 3.0, .gap = 2.0, .distance = 5.0
    };

    CHECK_CLOSE(gd_risk(&of, 100.0, 0.1, 0.5), 25.0 / 20.0 + 0.1 * 2.0 / 1.8, 1e-12);
    CHECK_CLOSE(gd_risk(&of, 100.0, 1.0, 0.5), 25.0 / 200.0 + 2.0, 1e-12);
    CHECK(isinf(gd_risk(&of, 100.0, 1.01, 0.5)));
    of.tail = 3.0;
    CHECK_CLOSE(gd_risk(&of, 97.0, 0.1, 0.5), 4.0 * 25.0 / 20.0 + 0.1 * 2.0 / 1.8, 1e-12);
    of.tail = 0.0;
    of.rule = GD_RULE_KINKS;
    of.kick = 7.0;
    CHECK_CLOSE(gd_risk(&of, 100.0, 0.1, 0.5), 25.0 / 20.0 + 0.07 + 0.05 * 11.0, 1e-12);
    of.rule = GD_RULE_STATIONARY; /* section 7.2: 2 L gap/T + p v at 1/L */
    CHECK_CLOSE(gd_risk(&of, 100.0, 1.0, 0.5), 2.0 * 2.0 / 100.0 + 2.0, 1e-12);
    of.proximal = true;
    CHECK_CLOSE(gd_risk(&of, 100.0, 1.0, 0.5), 4.0 * 2.0 / 100.0 + 6.0 * 2.0, 1e-12);
}

/* T = sqrt(2 L gap/p)/s of section 7.3, to the next whole number. */
static void test_the_best_steps(void)
{
    gd_constants of = { .rule = GD_RULE_STATIONARY, .p = 3.0, .smoothness = 0.25, .gap = 0.7 };
    double best = sqrt(2.0 * 0.25 * 0.7 / 3.0) / 1e-3;
    size_t steps = gd_best_steps(&of, 4.0, 1e-6, 100000);

    CHECK(fabs((double)steps - best) < 1.0);
    CHECK(gd_best_steps(&of, 4.0, 1e-6, 100) == 100);
    CHECK(gd_best_steps(&of, 9.0, 1e-6, 100) == 0); /* beyond 2/L */
}

int main(void)
{
    test_the_bound_of_the_quadratic();
    test_the_linear_rule_sums_its_recursion();
    test_other_rules();
    test_the_best_steps();
    return check_summary();
}
