/* gauge_by_project.c -- the gauge of a set that can be projected on, by Newton's method along the ray.
 * Depends on: gauge_by_project.h, numeric/blas.h.  Used by: set.c, set_polar.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/gauge_by_project.h"
#include "numeric/blas.h"

#define FLAT       1e-9  /* a set that reaches no farther on the ray, in units of its radius, is flat there */
#define ON         1e-13 /* s x is this near to the set: it is on it */
#define CLEAR      1e-9  /* normals of points nearer than this are too rounded to keep */
#define PRECISION  1e-14
#define MOST_STEPS 200
#define BEGIN      1.01 /* from outside, so that there is a normal */

typedef struct ray {
    const pn_set *set;
    const double *x;
    double size;      /* ||x|| */
    double *residual; /* [dim] s x - P(s x) */
    double distance;  /* its length */
    double along;     /* <residual, x> */
    double *best;     /* [dim] the normal, or NULL */
    double reached;
} ray;

static pn_status look_from(ray *r, double s, pn_err *err)
{
    size_t dim = r->set->dim;
    pn_status status;

    for (size_t j = 0; j < dim; j++)
        r->residual[j] = s * r->x[j];
    status = pn_set_project(r->set, r->residual, dim, err);
    for (size_t j = 0; status == PN_OK && j < dim; j++)
        r->residual[j] = s * r->x[j] - r->residual[j];
    r->distance = status == PN_OK ? pn_lp_norm(PN_L2, dim, r->residual) : 0.0;
    r->along = status == PN_OK ? pn_dot(dim, r->residual, r->x) : 0.0;
    return status;
}

/* Keep the residual, scaled to support value 1, when it reaches farther along x. */
static pn_status keep_normal(ray *r, double s, pn_err *err)
{
    double height = s * r->along - r->distance * r->distance;
    pn_status status = PN_OK;

    if (!r->best || !(r->distance > CLEAR * s * r->size))
        return PN_OK;
    if (r->set->ops->support)
        status = r->set->ops->support(r->set, r->residual, NULL, &height, err);
    if (status != PN_OK || !(height > 0.0) || !isfinite(height) || !(r->along / height > r->reached))
        return status;
    r->reached = r->along / height;
    for (size_t j = 0; j < r->set->dim; j++)
        r->best[j] = r->residual[j] / height;
    return PN_OK;
}

/* s outside the set; 0 when an unbounded one goes on for ever. */
static pn_status start_outside(ray *r, double *s, pn_err *err)
{
    double radius = r->set->ops->radius(r->set, PN_L2);

    *s = BEGIN * (isfinite(radius) ? radius : 1.0) / r->size;
    while (!isfinite(radius)) {
        pn_status status = look_from(r, *s, err);

        if (status != PN_OK || r->distance > ON * *s * r->size)
            return status;
        if (*s * r->size > 1.0 / FLAT) {
            *s = 0.0;
            break;
        }
        *s *= 4.0;
    }
    return PN_OK;
}

static pn_status descend(ray *r, double *gauge, pn_err *err)
{
    double s, last;
    pn_status status = start_outside(r, &s, err);

    last = FLAT * s;
    *gauge = status == PN_OK && s == 0.0 ? 0.0 : INFINITY;
    if (s == 0.0)
        return status;
    for (int step = 0; status == PN_OK && step < MOST_STEPS; step++) {
        double move;

        status = look_from(r, s, err);
        if (status != PN_OK || r->distance <= ON * s * r->size)
            break;
        status = keep_normal(r, s, err);
        move = r->along > 0.0 ? r->distance / r->along * r->distance : 0.0; /* to the plane through P(s x) */
        s -= move;
        if (!(s > last))
            return status;
        if (move <= PRECISION * s)
            break;
    }
    *gauge = 1.0 / s;
    return status;
}

pn_status pn_gauge_by_project(const pn_set *set, const double *x, double *gauge, double *normal, double *reached,
                              pn_err *err)
{
    double *work = pn_calloc(set->dim, 2 * sizeof *work), value = 0.0;
    ray r = { .set = set, .x = x, .size = pn_lp_norm(PN_L2, set->dim, x), .residual = work };
    pn_status status = PN_OK;

    if (!work)
        return pn_fail(err, PN_ENOMEM, "C:gauge: out of memory");
    r.best = normal ? work + set->dim : NULL;
    if (r.size > 0.0)
        status = descend(&r, &value, err);
    if (status == PN_OK) {
        *gauge = value;
        if (normal) {
            memcpy(normal, r.best, set->dim * sizeof *normal);
            *reached = r.reached;
        }
    }
    pn_free(work);
    return status;
}
