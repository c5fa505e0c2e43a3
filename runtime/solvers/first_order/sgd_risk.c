/* sgd_risk.c -- what the theory promises of stochastic gradient descent, without hidden constants.
 * Depends on: sgd.h.  Used by: sgd_plan.c.
 *
 * With v = E ||g - gradient||^2, m = E ||g||^2, a the tail of the average and D at least the distance of every point
 * from the minimiser:
 *   eta <= 1/L       average of the points after steps          (1+a) D^2/(2 eta (T+a)) + c eta v,
 *                    c = min(1, 1/(2 (1 - eta L)))
 *   eta              average of the points of the gradients     (1+a) D^2/(2 eta (T+a)) + eta m/2
 *   eta/sqrt(t)      average (a = 0)  (D^2/(2 eta) + eta m)/sqrt(T);   last  (D^2/eta + eta m) (2 + ln T)/sqrt(T)
 *   1/(mu t)         average (a = 0)  m (1 + ln T)/(2 mu T);           last  17 m (1 + ln T)/(mu T)
 * The first two by summing E ||x_{t+1} - x*||^2 with growing weights; the lasts: Shamir, Zhang (2013),
 * Theorems 1 and 2. */
#include <math.h>

#include "solvers/first_order/sgd.h"

static double constant_risk(const pn_descent *plan, const sgd_constants *of)
{
    double a = of->tail, slack = 1.0 - of->eta * of->smoothness, c = slack > 0.5 ? 0.5 / slack : 1.0;
    double travel = (1.0 + a) * of->distance * of->distance / (2.0 * of->eta * (of->steps + a));

    if (plan->output == PN_DESCENT_LAST)
        return INFINITY;
    if (plan->subgradient)
        return travel + of->eta * of->square / 2.0;
    return slack >= -1e-9 ? travel + c * of->eta * of->variance : INFINITY; /* a step of 1/L may be rounded */
}

static double sqrt_risk(const pn_descent *plan, const sgd_constants *of)
{
    double D2 = of->distance * of->distance, root = sqrt(of->steps);

    if (plan->output == PN_DESCENT_LAST)
        return (D2 / of->eta + of->eta * of->square) * (2.0 + log(of->steps)) / root;
    return of->tail == 0.0 ? (D2 / (2.0 * of->eta) + of->eta * of->square) / root : INFINITY;
}

static double inverse_risk(const pn_descent *plan, const sgd_constants *of)
{
    double shared = of->square * (1.0 + log(of->steps)) / (of->convexity * of->steps);
    bool classical = of->convexity > 0.0 && fabs(of->eta * of->convexity - 1.0) < 1e-9;

    if (!classical || (plan->output != PN_DESCENT_LAST && of->tail > 0.0))
        return INFINITY;
    return plan->output == PN_DESCENT_LAST ? 17.0 * shared : shared / 2.0;
}

double sgd_risk(const pn_descent *plan, const sgd_constants *of)
{
    switch (plan->step.law) {
    case PN_STEP_SQRT:
        return sqrt_risk(plan, of);
    case PN_STEP_INVERSE:
        return inverse_risk(plan, of);
    default:
        return constant_risk(plan, of);
    }
}
