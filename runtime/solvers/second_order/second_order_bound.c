/* second_order_bound.c -- what private second-order descent is proved to need: constants of its steps,
 * iterations, records.  Numbers only.
 * Depends on: second_order.h.  Used by: second_order_plan.c, second_order_problem.c, tests.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM;
 * second-order.md sections 2 and 4.  Derived again here:
 *
 * Gradient step, g~ = g + e, ||e|| <= c1 eps_g < c1 ||g~||, smoothness G:
 *     f(w - gamma g~) <= f(w) - gamma ||g~||^2 (1 - c1 - G gamma/2),
 * a decrease of (1 - 2 c1) ||g~||^2/(2 G) at gamma = 1/G, and of c_g gamma ||g~||^2 for every gamma <= gbar_g = 2
 * (1 - c1 - c_g)/G.  Curvature step, H~ = H + E, ||E|| <= c eps_H < c |lam|, p.g~ <= 0,
 * so that p.g <= ||e|| <= c2 lam^2/M: at gamma = t |lam|/M
 *     f(w + gamma p) <= f(w) - (|lam|^3/M^2) (t^2 (1 - c)/2 - c2 t - t^3/6),
 * that is 2 (1/3 - c2 - c) |lam|^3/M^2 at t = 2, and at least (c_H/2) gamma^2 |lam| where t^2 - 3 (1 - c - c_H) t + 6
 * c2 <= 0: t in [t1, t2].  A search tests steps above gbar only, and takes gbar, which needs no test, where none
 * passes.  An accepted step has lowered f by the test's amount less the test's error; half is left to it. */
#include <math.h>

#include "solvers/second_order/second_order.h"

#define MOST_TESTS 1000.0

/* ---- constants ---- */

/* The steps that pass a curvature test for sure are t |lam|/M with t in [t1, t2]: roots of t^2 - 3 a t + 6 c2. */
static void curvature_range(so_constants *of)
{
    double a = 1.0 - of->c - of->c_h, root = a * a / 4.0 - 2.0 * of->c2 / 3.0;

    of->t1 = of->t2 = NAN;
    if (!(a > 0.0 && root > 0.0))
        return;
    of->t1 = 1.5 * a - 3.0 * sqrt(root);
    of->t2 = 1.5 * a + 3.0 * sqrt(root);
}

/* b0 beta^i <= 1 at last. */
static double tests_of(double b0, double beta)
{
    return ceil(log(b0) / -log(beta));
}

typedef struct requirement {
    bool holds;
    const char *text; /* before the number */
    double value;
} requirement;

static pn_status check_all(const requirement *list, size_t count, pn_err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!list[i].holds)
            return pn_fail(err, PN_EINVAL, "%s %g", list[i].text, list[i].value);
    }
    return PN_OK;
}

static bool positive(double x)
{
    return x > 0.0 && isfinite(x);
}

static pn_status check_steps(const so_constants *of, pn_err *err)
{
    const requirement list[] = {
        { positive(of->gradient), "tolerance.gradient must be a positive number, got", of->gradient },
        { positive(of->hessian), "tolerance.hessian must be a positive number, got", of->hessian },
        { of->c1 < 0.5, "c1 must be in (0, 1/2) for gradient steps to lower f, got", of->c1 },
        { of->c + of->c2 < 1.0 / 3.0, "c + c2 must be below 1/3 for curvature steps to lower f, got", of->c + of->c2 },
    };

    return check_all(list, sizeof list / sizeof list[0], err);
}

static pn_status check_search(const so_constants *of, pn_err *err)
{
    const requirement list[] = {
        { of->c1 + of->c_g < 1.0,
          "c_g must be positive and c1 + c_g below 1 for any step to pass its test, got c_g =", of->c_g },
        { isfinite(of->t2),
          "c_h must be positive and (1 - c - c_h)^2/4 above 2 c2/3 for any step to pass its test, got c_h =", of->c_h },
        { of->beta_h > of->t1 / of->t2, "beta_h must be above t1/t2 of the steps that pass for sure, got", of->beta_h },
        { of->b0 >= 1.0, "b0 must be at least 1: searches start above the sure step, got", of->b0 },
        { tests_of(of->b0, of->beta_g) <= MOST_TESTS, "beta_g makes a search of more than 1000 tests, got",
          of->beta_g },
        { tests_of(of->b0, of->beta_h) <= MOST_TESTS, "beta_h makes a search of more than 1000 tests, got",
          of->beta_h },
    };

    return check_all(list, sizeof list / sizeof list[0], err);
}

/* The least decrease of a step at the thresholds, by either branch; a search leaves half of its own to its error. */
static void derive_decrease(so_constants *of, bool line_search)
{
    double g2 = of->eps_g * of->eps_g, h3 = of->eps_h * of->eps_h * of->eps_h / of->lipschitz / of->lipschitz;
    double gradient = (1.0 - 2.0 * of->c1) * g2 / (2.0 * of->smoothness);
    double curvature = 2.0 * (1.0 / 3.0 - of->c2 - of->c) * h3;

    if (line_search) {
        gradient = of->c_g * of->step_g * g2 / 2.0;
        curvature = of->c_h * of->t2 * of->t2 * h3 / 4.0;
    }
    of->decrease = fmin(gradient, curvature);
    of->by_gradient = gradient * (1.0 - 1e-12) <= curvature;
}

pn_status so_derive(so_constants *of, bool line_search, pn_err *err)
{
    PN_TRY(check_steps(of, err));
    of->eps_g = of->gradient / (1.0 + of->c1);
    of->eps_h = of->hessian / (1.0 + of->c + of->lanczos);
    of->gradient_limit = fmin(of->c1 * of->eps_g, of->c2 * of->eps_h * of->eps_h / of->lipschitz);
    of->hessian_limit = of->c * of->eps_h;
    of->step_g = 2.0 * (1.0 - of->c1 - of->c_g) / of->smoothness;
    if (line_search) {
        curvature_range(of);
        PN_TRY(check_search(of, err));
        of->tests_g = (size_t)tests_of(of->b0, of->beta_g);
        of->tests_h = (size_t)tests_of(of->b0, of->beta_h);
    }
    derive_decrease(of, line_search);
    return PN_OK;
}

size_t so_iterations(const so_constants *of, double gap, size_t cap)
{
    double steps = ceil(gap / of->decrease);

    if (!(steps > 1.0)) /* false for NaN */
        return 1;
    return steps >= (double)cap ? cap : (size_t)steps;
}

/* ---- conditions ---- */

/* Noise and sampling of the tests of one search per unit of step and of the direction's length, whatever step is
 * tested.  AboveThreshold with thresholds of 2 D/epsilon: 8 D (ln tests + ln(2/beta))/epsilon with probability >=
 * 1 - beta, beta = zeta/T.  Hoeffding, for differences in +- lipschitz a unit, all tests of all searches. */
static double search_records(const so_constants *of, const so_search_error *at, size_t tests, double limit)
{
    double sensitivity = at->sensitivity * (at->slope ? 1.0 : of->b0), count = (double)tests,
           T = (double)at->iterations;
    double noise = 0.0, sampling = 0.0;

    if (tests > 0 && at->epsilon > 0.0)
        noise = 8.0 / at->epsilon * sensitivity * (log(count) + log(2.0 * T / of->failure));
    if (tests > 0 && at->batch < at->records)
        sampling = at->lipschitz * sqrt(2.0 * log(2.0 / (of->failure / (count * T))) / at->batch);
    return pn_records_for(at->records, noise, sampling, limit);
}

double so_gradient_search_records(const so_constants *of, const so_search_error *at)
{
    return search_records(of, at, of->tests_g, of->c_g * of->eps_g / 2.0);
}

double so_curvature_search_records(const so_constants *of, const so_search_error *at)
{
    return search_records(of, at, of->tests_h, of->c_h * of->t2 * of->eps_h * of->eps_h / (4.0 * of->lipschitz));
}
