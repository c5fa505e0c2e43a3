/* descent.c -- accelerated projected or proximal gradients with a certificate.  Depends on: descent.h.
 * Used by: exact.c, perturbed_minimum.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "minimise/descent.h"

typedef struct search {
    const pn_descent *how;
    size_t p;
    double *x, *y, *gradient_y, *trial, *gradient; /* [p] each, one block with the next */
    double *point;    /* what trial is the projection or proximal point of; after the gap was measured, its vertex */
    double curvature; /* current estimate of the Lipschitz constant of the gradient */
    double momentum;
    double certificate;
} search;

#define VECTORS 6

static pn_status gradient_at(const search *at, const double *x, double *gradient, pn_err *err)
{
    return at->how->gradient(at->how->self, x, gradient, err);
}

/* The norm of the subgradient of f plus h, or plus the set's indicator, that the last step leaves at x,
 * which is its trial. */
static double residual(search *at)
{
    for (size_t j = 0; j < at->p; j++)
        at->point[j] = at->gradient[j] + at->curvature * (at->point[j] - at->x[j]);
    return pn_lp_norm(PN_L2, at->p, at->point);
}

/* The duality gap at `x` with `gradient` there: <g, x> + max <-g, s>; leaves the minimising vertex in `point` and the
 * gradient negated.  Without a set: the gradient's norm.  Or the residual. */
static pn_status measure(search *at, const double *x, pn_err *err)
{
    double along, across = NAN;
    const pn_set *set = at->how->set;
    pn_status status;

    if (at->how->prox || (set && at->how->residual)) {
        at->certificate = residual(at);
        return PN_OK;
    }
    if (!set) {
        at->certificate = pn_lp_norm(PN_L2, at->p, at->gradient);
        return PN_OK;
    }
    along = pn_dot(at->p, at->gradient, x);
    for (size_t j = 0; j < at->p; j++)
        at->gradient[j] = -at->gradient[j];
    status = set->ops->support(set, at->gradient, at->point, &across, err);
    at->certificate = along + across;
    return status;
}

/* trial = P(y - g(y)/L), or prox of size 1/L there */
static pn_status try_step(search *at, pn_err *err)
{
    const pn_set *set = at->how->set;

    for (size_t j = 0; j < at->p; j++)
        at->point[j] = at->trial[j] = at->y[j] - at->gradient_y[j] / at->curvature;
    if (at->how->prox)
        return pn_prox_apply(at->how->prox, at->trial, at->p, 1.0 / at->curvature, err);
    return set ? set->ops->project(set, at->trial, err) : PN_OK;
}

/* try_step with L doubled until <g(trial) - g(y), d> <= L |d|^2 / 2, d = trial - y.  For convex f this implies
 * that the quadratic model lies above f, and unlike a comparison of values it does not drown in rounding near the
 * minimum.  `gradient` is then g(trial). */
static pn_status backtrack(search *at, pn_err *err)
{
    for (int tries = 0; tries < 100; tries++) {
        double bend = 0.0, squared = 0.0;
        pn_status status = try_step(at, err);

        if (status != PN_OK || (status = gradient_at(at, at->trial, at->gradient, err)) != PN_OK)
            return status;
        for (size_t j = 0; j < at->p; j++) {
            double d = at->trial[j] - at->y[j];

            bend += (at->gradient[j] - at->gradient_y[j]) * d;
            squared += d * d;
        }
        if (bend <= 0.5 * at->curvature * squared)
            return PN_OK;
        at->curvature *= 2.0;
    }
    return pn_fail(err, PN_ENUMERIC, "%s: no step size decreases the objective%s", at->how->owner,
                   at->how->smooth ? "" : ", whose slope jumps; smooth the loss");
}

/* x <- trial, y <- trial + weight (trial - x) */
static void advance(search *at, double weight)
{
    for (size_t j = 0; j < at->p; j++) {
        at->y[j] = at->trial[j] + weight * (at->trial[j] - at->x[j]);
        at->x[j] = at->trial[j];
    }
}

static void accelerate(search *at)
{
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * at->momentum * at->momentum));
    double weight = (at->momentum - 1.0) / next, uphill = 0.0;

    for (size_t j = 0; j < at->p; j++)
        uphill += (at->y[j] - at->trial[j]) * (at->trial[j] - at->x[j]);
    if (uphill > 0.0) { /* momentum points away from the step: start it afresh */
        next = 1.0;
        weight = 0.0;
    }
    at->momentum = next;
    advance(at, weight);
}

static pn_status searching_step(search *at, pn_err *err)
{
    pn_status status = gradient_at(at, at->y, at->gradient_y, err);

    if (status == PN_OK)
        status = backtrack(at, err);
    if (status != PN_OK)
        return status;
    accelerate(at);
    status = measure(at, at->x, err);
    at->curvature *= 0.95; /* let the estimate fall again where f is flatter */
    return status;
}

static pn_status constant_step(search *at, pn_err *err)
{
    double root = sqrt(at->how->strong_convexity / at->how->smoothness);
    pn_status status = gradient_at(at, at->y, at->gradient_y, err);

    if (status == PN_OK)
        status = try_step(at, err);
    if (status == PN_OK)
        status = gradient_at(at, at->trial, at->gradient, err);
    if (status != PN_OK)
        return status;
    advance(at, (1.0 - root) / (1.0 + root));
    return measure(at, at->x, err);
}

/* For sets without projection: plain Frank-Wolfe. */
static pn_status vertex_step(search *at, size_t iteration, pn_err *err)
{
    double mu = 2.0 / ((double)iteration + 2.0);
    pn_status status = gradient_at(at, at->x, at->gradient, err);

    if (status == PN_OK)
        status = measure(at, at->x, err);
    if (status != PN_OK)
        return status;
    for (size_t j = 0; at->certificate > at->how->tolerance && j < at->p; j++)
        at->x[j] += mu * (at->point[j] - at->x[j]);
    return PN_OK;
}

pn_status pn_look_for_cancel(const pn_task *task, const char *owner, pn_err *err)
{
    return pn_task_stopped(task, owner, err);
}

/* The value that is told is the certificate: what has to fall to the tolerance. */
static pn_status tell(const search *at, size_t step, pn_err *err)
{
    const pn_descent *how = at->how;
    const pn_progress now = { how->label, (double)step, 0.0, isfinite(at->certificate) ? at->certificate : NAN,
                              NAN,        NAN,          NULL };

    return how->quiet ? pn_look_for_cancel(how->task, how->owner, err) : pn_task_tell(how->task, &now, err);
}

static pn_status iterate(search *at, bool *reached, pn_err *err)
{
    const pn_descent *how = at->how;
    bool projects = how->prox || !how->set || how->set->ops->project;

    *reached = false;
    for (size_t i = 0; i < how->most_steps && !*reached; i++) {
        pn_status status = tell(at, i, err);

        if (status == PN_OK)
            status = !projects               ? vertex_step(at, i, err)
                     : how->smoothness > 0.0 ? constant_step(at, err)
                                             : searching_step(at, err);
        if (status != PN_OK)
            return status;
        *reached = at->certificate <= how->tolerance;
    }
    return PN_OK;
}

pn_status pn_descend(const pn_descent *how, double *x, double *certificate, bool *reached, pn_err *err)
{
    size_t p = how->p;
    search at = { .how = how,
                  .p = p,
                  .x = pn_calloc(VECTORS, p * sizeof(double)),
                  .curvature = how->smoothness > 0.0 ? how->smoothness : 1.0,
                  .momentum = 1.0,
                  .certificate = INFINITY };
    pn_status status;

    PN_TRY(pn_made(at.x, err, "%s: out of memory for %zu coordinates", how->owner, p));
    at.y = at.x + p;
    at.gradient_y = at.x + 2 * p;
    at.trial = at.x + 3 * p;
    at.gradient = at.x + 4 * p;
    at.point = at.x + 5 * p;
    memcpy(at.x, x, p * sizeof *x);
    memcpy(at.y, x, p * sizeof *x);
    status = iterate(&at, reached, err);
    memcpy(x, at.x, p * sizeof *x);
    *certificate = at.certificate;
    pn_free(at.x);
    return status;
}
