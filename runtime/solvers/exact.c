/* exact.c -- the non-private minimum over the set, as the yardstick for excess risk: accelerated projected gradient with
 * backtracking and restart, certified by the Frank-Wolfe duality gap; plain Frank-Wolfe where the set has no projection.
 * Depends on: solver.h, descent.h.  Used by: bindings, examples. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/descent.h"
#include "solvers/solver.h"

typedef struct problem {
    pn_objective *objective;
    pn_task *task;
} problem;

static pn_status gradient(void *self, const double *x, double *out, pn_err *err)
{
    const problem *at = self;
    size_t p = pn_objective_dim(at->objective);
    pn_status status = pn_objective_evaluate(at->objective, x, NULL, out, at->task, err);

    for (size_t j = 0; status == PN_OK && j < p; j++) {
        if (isnan(out[j]))
            status = pn_objective_undefined(at->objective, "solve.exact", err);
    }
    return status;
}

static pn_status descend(problem *at, double tol, size_t max_iterations, double *x, double *gap, pn_err *err)
{
    pn_descent how = { .owner = "solve.exact",
                       .label = "exact minimum",
                       .gradient = gradient,
                       .self = at,
                       .set = pn_objective_set(at->objective),
                       .p = pn_objective_dim(at->objective),
                       .tolerance = tol,
                       .most_steps = max_iterations,
                       .smooth = pn_objective_bounds(at->objective)->loss.smooth,
                       .task = at->task };
    bool reached = false;
    pn_status status = pn_objective_prepare(at->objective, 500, at->task, err);

    how.set->ops->center(how.set, x);
    if (status == PN_OK)
        status = pn_descend(&how, x, gap, &reached, err);
    if (status == PN_OK && !reached)
        status = pn_fail(err, PN_ENUMERIC,
                         "solve.exact: the duality gap is still above tol = %g after %zu iterations; "
                         "give a larger tol or max_iterations",
                         tol, max_iterations);
    return status;
}

pn_status pn_solve_exact(pn_objective *objective, double tol, size_t max_iterations, double *theta, double *value,
                         double *gap, pn_task *task, pn_err *err)
{
    problem at = { objective, task };
    const pn_set *set = pn_objective_set(objective);
    size_t p = pn_objective_dim(objective);
    double *x, reached_gap = NAN;
    pn_status status;

    if (!set)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.exact: the objective has no constraint set; give set= to pn.objective");
    if (!pn_set_is_bounded(set))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "solve.exact: needs a bounded set for its duality gap, %s is unbounded; a large l2_ball around the "
            "solution gives the same minimum",
            set->ops->name);
    if (!(tol > 0.0))
        return pn_fail(err, PN_EINVAL, "solve.exact: tol must be a positive number, got %g", tol);
    if (pn_objective_regulariser(objective) && !isfinite(pn_objective_bounds(objective)->reg.largest_curvature))
        return pn_fail(err, PN_EUNSUPPORTED, "solve.exact: the regulariser %s has kinks; a smooth one is needed",
                       pn_objective_regulariser(objective)->row->name);
    if (pn_objective_clip(objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "solve.exact: clipped gradients are not those of f; leave clip out");
    x = pn_alloc(p, sizeof(double));
    if (!x)
        return pn_fail(err, PN_ENOMEM, "solve.exact: out of memory for %zu coordinates", p);
    status = descend(&at, tol, max_iterations, x, &reached_gap, err);
    if (status == PN_OK)
        status = pn_objective_evaluate(objective, x, value, NULL, task, err);
    if (status == PN_OK) {
        memcpy(theta, x, p * sizeof(double));
        *gap = reached_gap;
    }
    pn_free(x);
    return status;
}
