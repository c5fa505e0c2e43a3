/* support_by_project.c -- max <g, x> by projections of far points.
 * Depends on: support_by_project.h, numeric/blas.h.  Used by: custom_set.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/convex/support_by_project.h"
#include "numeric/blas.h"

#define REACH                                                                                                          \
    1e3 /* t ||g|| in radii: curved sets lose that factor of the error in a step, and as much is lost to rounding */
#define TOLERANCE  1e-10
#define ACCEPT     1e-7 /* when the steps are used up */
#define FARTHEST   1e5
#define STEPS_EACH 10
#define MOST_STEPS 300

void pn_proximal_ahead(double *start, double *last, const double *best, const double *g, double *since, size_t dim)
{
    double forward = 0.0, momentum;

    for (size_t j = 0; j < dim; j++)
        forward += g[j] * (best[j] - last[j]);
    *since = forward > 0.0 ? *since + 1.0 : 0.0;
    momentum = *since / (*since + 3.0);
    for (size_t j = 0; j < dim; j++) {
        start[j] = best[j] + momentum * (best[j] - last[j]);
        last[j] = best[j];
    }
}

/* next <- P(x + t g); *step = ||next - x|| */
static pn_status one_step(const pn_set *set, const double *g, double t, const double *x, double *next, double *step,
                          double *scratch, pn_err *err)
{
    pn_status status;

    memcpy(next, x, set->dim * sizeof *next);
    pn_axpy(set->dim, t, g, next);
    status = set->ops->project(set, next, err);
    for (size_t j = 0; status == PN_OK && j < set->dim; j++)
        scratch[j] = next[j] - x[j];
    *step = status == PN_OK ? pn_lp_norm(PN_L2, set->dim, scratch) : INFINITY;
    return status;
}

/* x ends as the maximiser. */
static pn_status climb(const pn_set *set, const double *g, double size, double *x, double *next, double *scratch,
                       pn_err *err)
{
    double radius = set->ops->radius(set, PN_L2), t = REACH * radius / size, step = INFINITY, since = 0.0;
    double *last = scratch + set->dim;

    memcpy(last, x, set->dim * sizeof *last);

    for (int i = 0; i < MOST_STEPS; i++) {
        pn_status status = pn_stop_asked(err);

        if (status == PN_OK)
            status = one_step(set, g, t, x, next, &step, scratch, err);
        if (status != PN_OK)
            return status;
        if (step * 2.0 * radius / t <= TOLERANCE * radius * size)
            break;
        pn_proximal_ahead(x, last, next, g, &since, set->dim);
        t = i % STEPS_EACH == STEPS_EACH - 1 ? fmin(2.0 * t, FARTHEST * radius / size)
                                             : t; /* along faces, nearly normal to g */
    }
    memcpy(x, next, set->dim * sizeof *x);
    if (step * 2.0 * radius / t <= ACCEPT * radius * size)
        return PN_OK;
    return pn_fail(err, PN_ENUMERIC, "C:support: %d projections on %s did not find the largest <g, x>", MOST_STEPS,
                   set->ops->name);
}

pn_status pn_support_by_project(const pn_set *set, const double *g, double *point, double *value, pn_err *err)
{
    double size = pn_lp_norm(PN_L2, set->dim, g), *x = pn_alloc(set->dim, 4 * sizeof *x);
    pn_status status = PN_OK;

    PN_TRY(pn_made(x, err, "C:support: out of memory"));
    set->ops->center(set, x);
    if (size > 0.0 && set->ops->radius(set, PN_L2) > 0.0)
        status = climb(set, g, size, x, x + set->dim, x + 2 * set->dim, err);
    if (status == PN_OK) {
        *value = pn_dot(set->dim, g, x);
        if (point)
            memcpy(point, x, set->dim * sizeof *point);
    }
    pn_free(x);
    return status;
}
