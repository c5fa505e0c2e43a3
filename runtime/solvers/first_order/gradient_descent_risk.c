/* gradient_descent_risk.c -- what the theory promises of noisy gradient descent, without hidden constants.
 * Depends on: gradient_descent.h.  Used by: gradient_descent_plan.c.  Source: beside gd_risk in the header. */
#include <math.h>

#include "solvers/first_order/gradient_descent.h"

#define SLACK (1.0 + 1e-9) /* a step of 1/L may be rounded */

/* gap_{t+1} <= q gap_t + variance * e */
static bool recursion(const gd_constants *of, double eta, double *q, double *e)
{
    double L = of->smoothness, mu = of->strong_convexity, own = 1.0 + of->prox_convexity * eta;

    if (of->proximal) {
        *q = 1.0 - mu * eta / own;
        *e = eta * of->p / (2.0 * own);
        return eta * L <= SLACK;
    }
    *q = 1.0 - mu * eta * (2.0 - L * eta);
    *e = L * eta * eta * of->p / 2.0;
    return eta * L < 2.0;
}

static double linear_risk(const gd_constants *of, double steps, double eta, double variance)
{
    double q, e, left;

    if (!(of->strong_convexity > 0.0) || !recursion(of, eta, &q, &e) || !(q < 1.0))
        return INFINITY;
    q = fmax(q, 0.0);
    left = exp(steps * log(q)); /* 0 at q = 0 */
    return left * of->gap + variance * e * (1.0 - left) / (1.0 - q);
}

static double convex_risk(const gd_constants *of, double steps, double eta, double variance)
{
    double a = of->tail, D = of->distance, slack = 1.0 - eta * of->smoothness, c = slack > 0.5 ? 0.5 / slack : 1.0;

    if (!(slack >= 1.0 - SLACK))
        return INFINITY;
    return (1.0 + a) * D * D / (2.0 * eta * (steps + a)) + c * eta * of->p * variance;
}

static double kinks_risk(const gd_constants *of, double steps, double eta, double variance)
{
    double a = of->tail, D = of->distance;

    return (1.0 + a) * (D * D / (2.0 * eta) + of->kick) / (steps + a) +
           eta * (of->slope * of->slope + of->p * variance) / 2.0;
}

static double stationary_risk(const gd_constants *of, double steps, double eta, double variance)
{
    double L = of->smoothness, v = of->p * variance, room = 1.0 - L * eta / 2.0, gap = of->gap / (eta * steps);

    if (!(room > 0.0))
        return INFINITY;
    return of->proximal ? 2.0 * (gap + v) / room + 2.0 * v : (gap + L * eta * v / 2.0) / room;
}

double gd_risk(const gd_constants *of, double steps, double eta, double variance)
{
    switch (of->rule) {
    case GD_RULE_LINEAR:
        return linear_risk(of, steps, eta, variance);
    case GD_RULE_CONVEX:
        return convex_risk(of, steps, eta, variance);
    case GD_RULE_KINKS:
        return kinks_risk(of, steps, eta, variance);
    default:
        return stationary_risk(of, steps, eta, variance);
    }
}

/* Looked for one by one: the linear rule has no closed form, and the shape of the sum has not been shown to have one
 * valley. */
size_t gd_best_steps(const gd_constants *of, double eta, double unit, size_t most)
{
    double least = INFINITY;
    size_t best = 0;

    for (size_t steps = 1; steps <= most; steps++) {
        double t = (double)steps, risk = gd_risk(of, t, eta, t * unit);

        if (risk < least) {
            least = risk;
            best = steps;
        }
    }
    return best;
}
