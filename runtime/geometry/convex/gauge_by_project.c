/* gauge_by_project.c -- the gauge of a set that can be projected on, by Newton's method along the ray.
 * Depends on: gauge_by_project.h, numeric/blas.h.  Used by: set.c, set_polar.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/convex/gauge_by_project.h"
#include "numeric/blas.h"

#define FLAT       1e-9  /* a set that reaches no farther on the ray, in units of its radius, is flat there */
#define ON         1e-13 /* s x is this near to the set: it is on it */
#define CLEAR      1e-12 /* normals of points nearer than this are rounding */
#define PRECISION  1e-14
#define ENOUGH     1e-11
#define KEPT       8
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
    double *recent; /* [KEPT dim] the last residuals */
    double heights[KEPT];
    size_t count;
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

/* The residual is to be looked at when the boundary is found. */
static void remember(ray *r, double s)
{
    double *place = r->recent + r->count % KEPT * r->set->dim;

    if (!r->best || !(r->distance > CLEAR * s * r->size))
        return;
    memcpy(place, r->residual, r->set->dim * sizeof *place);
    r->heights[r->count % KEPT] = s * r->along - r->distance * r->distance; /* at the projection */
    r->count++;
}

/* best <- the residual that reaches farthest along x when scaled to support value 1.  The last ones are the most exact,
 * until rounding shows; the support function may be dear. */
static pn_status choose_normal(ray *r, double gauge, pn_err *err)
{
    size_t dim = r->set->dim, looked = r->count < KEPT ? r->count : KEPT;

    for (size_t k = 1; r->best && k <= looked && !(r->reached >= gauge * (1.0 - ENOUGH)); k++) {
        const double *normal = r->recent + (r->count - k) % KEPT * dim;
        double height = r->heights[(r->count - k) % KEPT], along = pn_dot(dim, normal, r->x);
        pn_status status = PN_OK;

        if (r->set->ops->support)
            status = r->set->ops->support(r->set, normal, NULL, &height, err);
        if (status != PN_OK)
            return status;
        if (!(height > 0.0) || !isfinite(height) || !(along / height > r->reached))
            continue;
        r->reached = along / height;
        for (size_t j = 0; j < dim; j++)
            r->best[j] = normal[j] / height;
    }
    return PN_OK;
}

/* s outside the set, unless an unbounded one is *endless along the ray. */
static pn_status start_outside(ray *r, double *s, bool *endless, pn_err *err)
{
    double radius = r->set->ops->radius(r->set, PN_L2);

    *s = BEGIN * (isfinite(radius) ? radius : 1.0) / r->size;
    *endless = false;
    while (!isfinite(radius)) {
        pn_status status = look_from(r, *s, err);

        if (status != PN_OK || r->distance > ON * *s * r->size)
            return status;
        *endless = *s * r->size > 1.0 / FLAT;
        if (*endless)
            break;
        *s *= 4.0;
    }
    return PN_OK;
}

static pn_status descend(ray *r, double *gauge, pn_err *err)
{
    double s, last;
    bool endless;
    pn_status status = start_outside(r, &s, &endless, err);

    last = FLAT * s;
    *gauge = endless ? 0.0 : INFINITY;
    if (endless || !(s > 0.0)) /* the set is the origin */
        return status;
    for (int step = 0; status == PN_OK && step < MOST_STEPS; step++) {
        double move;

        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = look_from(r, s, err);
        if (status != PN_OK || r->distance <= ON * s * r->size)
            break;
        remember(r, s);
        move = r->along > 0.0 ? r->distance / r->along * r->distance : 0.0; /* to the plane through P(s x) */
        s -= move;
        if (!(s > last))
            return status;
        if (move <= PRECISION * s)
            break;
    }
    *gauge = 1.0 / s;
    return status == PN_OK ? choose_normal(r, *gauge, err) : status;
}

pn_status pn_gauge_by_project(const pn_set *set, const double *x, double *gauge, double *normal, double *reached,
                              pn_err *err)
{
    double *work = pn_calloc(set->dim, (normal ? 2 + KEPT : 1) * sizeof *work), value = 0.0;
    ray r = { .set = set, .x = x, .size = pn_lp_norm(PN_L2, set->dim, x), .residual = work };
    pn_status status = PN_OK;

    PN_TRY(pn_made(work, err, "C:gauge: out of memory"));
    if (normal) {
        r.best = work + set->dim;
        r.recent = r.best + set->dim;
    }
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
