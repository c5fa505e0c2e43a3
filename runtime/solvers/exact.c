/* exact.c -- the non-private minimum over the set, as the yardstick for excess risk: accelerated projected gradient with
 * backtracking and restart, certified by the Frank-Wolfe duality gap; plain Frank-Wolfe where the set has no projection.
 * Depends on: solver.h.  Used by: bindings, examples.
 * Source: Beck, Teboulle (2009), FISTA; O'Donoghue, Candes (2015), gradient restart; Jaggi (2013), the gap. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/solver.h"

typedef struct search {
    pn_objective *objective;
    const pn_set *set;
    pn_task *task;
    size_t p;
    double *x, *y, *gradient_y, *trial, *gradient, *point; /* [p] each, one block */
    double curvature; /* current estimate of the Lipschitz constant of the gradient */
    double momentum;
    double gap;
} search;

#define VECTORS 6

static double dot(const double *a, const double *b, size_t p)
{
    double sum = 0.0;

    for (size_t j = 0; j < p; j++)
        sum += a[j] * b[j];
    return sum;
}

/* The duality gap at `x` with `gradient` there: <g, x> + max <-g, s>; leaves the minimising vertex in `point` and the
 * gradient negated. */
static pn_status measure(search *at, const double *x, pn_err *err)
{
    double along = dot(at->gradient, x, at->p), across = NAN;
    pn_status status;

    for (size_t j = 0; j < at->p; j++)
        at->gradient[j] = -at->gradient[j];
    status = at->set->ops->support(at->set, at->gradient, at->point, &across, err);
    at->gap = along + across;
    return status;
}

/* trial = P(y - g(y)/L) with L doubled until <g(trial) - g(y), d> <= L |d|^2 / 2, d = trial - y.  For convex f this implies
 * that the quadratic model lies above f, and unlike a comparison of values it does not drown in rounding near the minimum.
 * `gradient` is then g(trial). */
static pn_status backtrack(search *at, pn_err *err)
{
    if (isnan(dot(at->gradient_y, at->gradient_y, at->p)))
        return pn_objective_undefined(at->objective, "solve.exact", err);
    for (int tries = 0; tries < 100; tries++) {
        double bend = 0.0, squared = 0.0;
        pn_status status;

        for (size_t j = 0; j < at->p; j++)
            at->trial[j] = at->y[j] - at->gradient_y[j] / at->curvature;
        if ((status = at->set->ops->project(at->set, at->trial, err)) != PN_OK ||
            (status = pn_objective_evaluate(at->objective, at->trial, NULL, at->gradient, at->task, err)) != PN_OK)
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
    return pn_fail(err, PN_ENUMERIC, "solve.exact: no step size decreases the objective%s",
                   pn_objective_bounds(at->objective)->loss.smooth ? "" : ", whose slope jumps; smooth the loss");
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
    for (size_t j = 0; j < at->p; j++) {
        at->y[j] = at->trial[j] + weight * (at->trial[j] - at->x[j]);
        at->x[j] = at->trial[j];
    }
}

static pn_status projected_step(search *at, pn_err *err)
{
    pn_status status = pn_objective_evaluate(at->objective, at->y, NULL, at->gradient_y, at->task, err);

    if (status == PN_OK)
        status = backtrack(at, err);
    if (status != PN_OK)
        return status;
    accelerate(at);
    at->curvature *= 0.95; /* let the estimate fall again where f is flatter */
    return measure(at, at->x, err);
}

/* For sets without projection: plain Frank-Wolfe. */
static pn_status vertex_step(search *at, size_t iteration, double tol, pn_err *err)
{
    double mu = 2.0 / ((double)iteration + 2.0);
    pn_status status = pn_objective_evaluate(at->objective, at->x, NULL, at->gradient, at->task, err);

    if (status == PN_OK)
        status = measure(at, at->x, err);
    if (status != PN_OK)
        return status;
    for (size_t j = 0; at->gap > tol && j < at->p; j++)
        at->x[j] += mu * (at->point[j] - at->x[j]);
    return PN_OK;
}

static pn_status iterate(search *at, double tol, size_t max_iterations, pn_err *err)
{
    for (size_t i = 0; i < max_iterations; i++) {
        pn_status status = pn_task_report(at->task, "exact minimum", (double)i, 0.0, err);

        if (status == PN_OK)
            status = at->set->ops->project ? projected_step(at, err) : vertex_step(at, i, tol, err);
        if (status != PN_OK)
            return status;
        if (at->gap <= tol)
            return PN_OK;
    }
    return pn_fail(err, PN_ENUMERIC,
                   "solve.exact: the duality gap is still above tol = %g after %zu iterations; "
                   "give a larger tol or max_iterations",
                   tol, max_iterations);
}

static pn_status open_search(search *at, pn_err *err)
{
    at->x = pn_calloc(VECTORS, at->p * sizeof(double));
    if (!at->x)
        return pn_fail(err, PN_ENOMEM, "solve.exact: out of memory for %zu coordinates", at->p);
    at->y = at->x + at->p;
    at->gradient_y = at->x + 2 * at->p;
    at->trial = at->x + 3 * at->p;
    at->gradient = at->x + 4 * at->p;
    at->point = at->x + 5 * at->p;
    at->set->ops->center(at->set, at->x);
    memcpy(at->y, at->x, at->p * sizeof(double));
    return pn_objective_prepare(at->objective, 500, at->task, err);
}

pn_status pn_solve_exact(pn_objective *objective, double tol, size_t max_iterations, double *theta, double *value,
                         double *gap, pn_task *task, pn_err *err)
{
    search at = { .objective = objective,
                  .set = pn_objective_set(objective),
                  .task = task,
                  .momentum = 1.0,
                  .curvature = 1.0,
                  .p = pn_objective_dim(objective) };
    pn_status status;

    if (!at.set)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.exact: the objective has no constraint set; give set= to pn.objective");
    if (!pn_set_is_bounded(at.set))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.exact: needs a bounded set for its duality gap, %s is unbounded; a large l2_ball around the "
                       "solution gives the same minimum",
                       at.set->ops->name);
    if (!(tol > 0.0))
        return pn_fail(err, PN_EINVAL, "solve.exact: tol must be a positive number, got %g", tol);
    if (pn_objective_regulariser(objective) && !isfinite(pn_objective_bounds(objective)->reg.largest_curvature))
        return pn_fail(err, PN_EUNSUPPORTED, "solve.exact: the regulariser %s has kinks; a smooth one is needed",
                       pn_objective_regulariser(objective)->row->name);
    if (pn_objective_clip(objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "solve.exact: clipped gradients are not those of f; leave clip out");
    status = open_search(&at, err);
    if (status == PN_OK)
        status = iterate(&at, tol, max_iterations, err);
    if (status == PN_OK)
        status = pn_objective_evaluate(objective, at.x, value, NULL, task, err);
    if (status == PN_OK) {
        memcpy(theta, at.x, at.p * sizeof(double));
        *gap = at.gap;
    }
    pn_free(at.x);
    return status;
}
