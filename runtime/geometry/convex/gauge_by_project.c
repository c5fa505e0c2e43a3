/* gauge_by_project.c -- the gauge of a set that can be projected on, by Newton's method along the ray.
 * A projection by formula gives the plane through P(s x) with normal s x - P(s x).  One by iteration gives a point of
 * the set and a normal w that is nearly that: the plane is then <w, v> = h(w), h the support function, which has the
 * whole set below it whatever the iteration left, so that the gauge is never too large.  Where s x is so near to the
 * set that these normals cut no deeper, those of far_points.c do.
 * Depends on: gauge_by_project.h, far_points.h, numeric/blas.h.  Used by: set.c, set_polar.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/convex/far_points.h"
#include "geometry/convex/gauge_by_project.h"
#include "numeric/blas.h"

#define FLAT       1e-9  /* a set that reaches no farther on the ray, in units of its radius, is flat there */
#define ON         1e-13 /* s x is this near to the set: it is on it */
#define CLEAR      1e-12 /* normals of points nearer than this are rounding */
#define PRECISION  1e-14
#define ENOUGH     1e-11
#define STALLED    1e-6
#define KEPT       8
#define MOST_STEPS 200
#define BEGIN      1.01 /* from outside, so that there is a normal */

typedef struct ray {
    const pn_set *set;
    const double *x;
    double size;      /* ||x|| */
    double *point;    /* [dim] s x */
    double *nearest;  /* [dim] scratch */
    double *residual; /* [dim] s x - P(s x) */
    double distance;  /* its length */
    double along;     /* <residual, x> */
    double *best;     /* [dim] the normal, or NULL */
    double reached;
    double *recent; /* [KEPT dim] the last residuals */
    double heights[KEPT];
    size_t count;
} ray;

/* The same for a plane that is found from far points; distance is then the length of the normal. */
static pn_status look_beyond(ray *r, double s, pn_err *err)
{
    pn_far_point found = { .normal = r->residual };

    for (size_t j = 0; j < r->set->dim; j++)
        r->point[j] = s * r->x[j];
    PN_TRY(pn_nearest_by_far_points(r->set, r->point, -1.0, r->nearest, &found, err));
    r->distance = pn_lp_norm(PN_L2, r->set->dim, r->residual);
    r->along = pn_dot(r->set->dim, r->residual, r->x);
    return PN_OK;
}

static bool by_iteration(const pn_set *set)
{
    return !set->ops->project;
}

static pn_status look_from(ray *r, double s, pn_err *err)
{
    size_t dim = r->set->dim;
    pn_status status;

    for (size_t j = 0; j < dim; j++)
        r->point[j] = s * r->x[j];
    memcpy(r->residual, r->point, dim * sizeof *r->residual);
    status = by_iteration(r->set) ? pn_point_near(r->set, r->point, r->residual, err)
                                  : pn_set_project(r->set, r->residual, dim, err);
    for (size_t j = 0; status == PN_OK && j < dim; j++)
        r->residual[j] = r->point[j] - r->residual[j];
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

/* *move: from s x down to the plane with the residual for its normal, at least 0. */
static pn_status to_the_plane(const ray *r, double s, double *move, pn_err *err)
{
    double height = 0.0;

    *move = r->distance / r->along * r->distance;
    if (!by_iteration(r->set))
        return PN_OK;
    PN_TRY(r->set->ops->support(r->set, r->residual, NULL, &height, err));
    *move = fmax(s - fmax(height, 0.0) / r->along, 0.0);
    return PN_OK;
}

static pn_status descend(ray *r, double *gauge, pn_err *err)
{
    double s, last;
    bool endless, beyond = false;
    pn_status status = start_outside(r, &s, &endless, err);

    last = FLAT * s;
    *gauge = endless ? 0.0 : INFINITY;
    if (endless || !(s > 0.0)) /* the set is the origin */
        return status;
    for (int step = 0; status == PN_OK && step < MOST_STEPS; step++) {
        double move = 0.0;

        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = beyond ? look_beyond(r, s, err) : look_from(r, s, err);
        if (status != PN_OK || r->distance <= (beyond ? 0.0 : ON * s * r->size))
            break;
        remember(r, s);
        if (r->along > 0.0)
            status = to_the_plane(r, s, &move, err);
        s -= move;
        if (status != PN_OK || !(s > last))
            return status;
        if (beyond ? move <= ENOUGH * s : move <= PRECISION * s && !by_iteration(r->set))
            break;
        beyond = beyond || (by_iteration(r->set) && move <= STALLED * s);
    }
    *gauge = 1.0 / s;
    return status == PN_OK ? choose_normal(r, *gauge, err) : status;
}

pn_status pn_gauge_by_project(const pn_set *set, const double *x, double *gauge, double *normal, double *reached,
                              pn_err *err)
{
    double *work = pn_calloc(set->dim, (normal ? 4 + KEPT : 3) * sizeof *work), value = 0.0;
    ray r = { .set = set, .x = x, .size = pn_lp_norm(PN_L2, set->dim, x), .residual = work };
    pn_status status = PN_OK;

    PN_TRY(pn_made(work, err, "C:gauge: out of memory"));
    r.point = work + set->dim;
    r.nearest = work + 2 * set->dim;
    if (normal) {
        r.best = work + 3 * set->dim;
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
