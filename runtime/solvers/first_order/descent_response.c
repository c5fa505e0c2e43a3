/* descent_response.c -- how the answer of gradient_descent and sgd follows the noise of its gradients on a quadratic.
 * Depends on: descent.h.  Used by: descent.c.
 *
 * Along an eigenvector of curvature h of the mean loss and m of r a step from y takes
 *     x' = (y - eta (h y + e))/(1 + eta m),
 * with r taken by its gradient x' = y - eta ((h + m) y + e): x' = f y - u e, e noise of variance v.  y is x, or with
 * momentum beta x + beta (x - x before).  The average goes to (1 - w) average + w x'.  All that is linear, so that the
 * covariances of x, x before and the average follow from their last ones, and so does what is left of the start's
 * distance from the minimum, 1. */
#include <math.h>

#include "solvers/first_order/descent.h"

typedef struct walk {
    double x, before, average;     /* without noise: parts of the start's distance */
    double xx, xb, bb, xa, ba, aa; /* covariances: x, b before, a average */
} walk;

/* One step of factor f, whose noise has the variance `noise`; w: the new point's weight in the average. */
static void step(walk *at, double f, double noise, double beta, double w)
{
    double c = 1.0 + beta, yy = c * c * at->xx - 2.0 * c * beta * at->xb + beta * beta * at->bb;
    double yx = c * at->xx - beta * at->xb, ya = c * at->xa - beta * at->ba, y = c * at->x - beta * at->before;
    walk next = { .x = f * y, .before = at->x, .xx = f * f * yy + noise, .xb = f * yx, .bb = at->xx };

    next.average = (1.0 - w) * at->average + w * next.x;
    next.ba = (1.0 - w) * at->xa + w * next.xb;
    next.xa = (1.0 - w) * f * ya + w * next.xx;
    next.aa = (1.0 - w) * (1.0 - w) * at->aa + 2.0 * w * (1.0 - w) * f * ya + w * w * next.xx;
    *at = next;
}

static pn_status check(const pn_descent *plan, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(plan->base.objective);
    bool kinks = pn_objective_regulariser(plan->base.objective) && !isfinite(bounds->reg.smoothness);
    const char *why = plan->subgradient                   ? "the loss has kinks"
                      : plan->output == PN_DESCENT_RANDOM ? "the answer is a random point of its path"
                      : plan->problem.composite.extra     ? "of the term behind prox= only its operator is known"
                      : kinks                             ? "the regulariser has kinks"
                                                          : NULL;

    if (!why)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "%s: %s, so that no law of the answer is known", plan->base.owner, why);
}

pn_status pn_descent_respond(const pn_plan *base, double loss, double regular, pn_response *out, pn_err *err)
{
    const pn_descent *plan = (const pn_descent *)base;
    double deviation = pn_gradient_noise_deviation(&plan->noise), a = plan->tail;
    bool averages = plan->output == PN_DESCENT_AVERAGE, smooth = plan->problem.composite.smooth != NULL;
    walk at = { .x = 1.0, .before = 1.0 };

    PN_TRY(check(plan, err));
    for (size_t t = 1; t <= base->iterations; t++) {
        double eta = pn_schedule_at(&plan->step, t), divisor = smooth ? 1.0 : 1.0 + eta * regular;
        double u = eta * deviation / divisor;

        step(&at, (1.0 - eta * (smooth ? loss + regular : loss)) / divisor, u * u, plan->momentum,
             (1.0 + a) / ((double)t + a));
    }
    out->variance = averages ? at.aa : at.xx;
    out->left = averages ? at.average : at.x;
    out->start = plan->problem.start;
    if (!isfinite(out->variance) || !isfinite(out->left))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the steps are too long for a curvature of %g, so that the run "
                       "diverges",
                       base->owner, loss + regular);
    return PN_OK;
}
