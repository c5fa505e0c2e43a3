/* fallback.c -- projection, membership, gauge and sampling for sets that have only a support function or a membership
 * test.
 * Depends on: fallback.h, far_points.h, nearest.h.  Used by: set.c, composite.c, far_points.c. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/convex/fallback.h"
#include "geometry/convex/far_points.h"
#include "geometry/convex/gauge_by_project.h"
#include "geometry/kernels/nearest.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

/* What a projection by support points must reach, in units of the squared diameter and of the rounding of far
 * points. */
#define GAP_OF_SIZE  1e-10
#define GAP_OF_SCALE 1e-14

/* A set whose width in some direction is below this part of its radius counts as flat for the gauge. */
#define FLAT            1e-9
#define GAUGE_PRECISION 1e-11

#define MOST_SAMPLED_POINTS 32

/* ---- the nearest point ---- */

/* How far its square may be from the least one, for points at distances of `size`. */
static double gap_asked(double size, double diameter)
{
    return GAP_OF_SIZE * diameter * diameter + GAP_OF_SCALE * size * size;
}

typedef struct support_search {
    const pn_set *set;
    double *back; /* [dim] -y */
} support_search;

static pn_status least_by_support(void *self, const double *y, double *point, pn_err *err)
{
    support_search *search = self;
    const pn_set *set = search->set;
    double value;
    pn_status status;

    for (size_t j = 0; j < set->dim; j++)
        search->back[j] = -y[j];
    status = set->ops->support(set, search->back, point, &value, err);
    if (status == PN_OK && !isfinite(value))
        status = pn_fail(err, PN_ENUMERIC, "C:project: the support function of %s is not finite", set->ops->name);
    return status;
}

/* residual <- nearest point - x, work[2 dim]; see fallback.h. */
static pn_status nearest(double *residual, double *distance, const pn_set *set, const double *x, double reach,
                         size_t steps, double *work, pn_err *err)
{
    support_search search = { set, work };
    double *start = work + set->dim, diameter = set->ops->diameter(set, PN_L2), size;
    pn_least_oracle oracle = { .self = &search, .dim = set->dim, .least = least_by_support, .reach = reach };

    set->ops->center(set, residual);
    for (size_t j = 0; j < set->dim; j++)
        residual[j] -= x[j];
    PN_TRY(least_by_support(&search, residual, start, err));
    for (size_t j = 0; j < set->dim; j++)
        residual[j] = start[j] - x[j];
    size = pn_lp_norm(PN_L2, set->dim, residual) + diameter;
    if (size == 0.0)
        size = 1.0; /* the set is the point x */
    oracle.scale = size * size;
    if (!pn_square_fits(size))
        return pn_fail(err, PN_EDOMAIN, "C:project: the squared distance to %s is out of the range of numbers",
                       set->ops->name);
    oracle.gap = steps > 0 ? DBL_MAX : gap_asked(size, diameter);
    oracle.limit = steps > 0 ? steps : 2000 + 50 * set->dim;
    oracle.owner = "C:project";
    return pn_nearest_by(residual, distance, &oracle, x, start, err);
}

static pn_status need_support(const pn_set *set, pn_err *err)
{
    if (set->ops->support && pn_set_is_bounded(set))
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "C:project: %s %s; support points find the nearest point of bounded sets",
                   set->ops->name, set->ops->support ? "is unbounded" : "has neither projection nor support function");
}

pn_status pn_nearest_by_support(double *residual, double *distance, const pn_set *set, const double *x, double reach,
                                size_t steps, pn_err *err)
{
    double *work;
    pn_status status;

    PN_TRY(need_support(set, err));
    PN_TRY(pn_new(&work, 2 * set->dim, err, "C:project: out of memory"));
    status = nearest(residual, distance, set, x, reach, steps, work, err);
    pn_free(work);
    return status;
}

/* Is the point that was found as near to the nearest one as is asked? */
static bool will_do(const pn_set *set, const double *x, const pn_far_point *found)
{
    double size = pn_lp_norm(PN_L2, set->dim, x) + set->ops->radius(set, PN_L2), below = fmax(found->below, 0.0);

    return (found->distance - below) * (found->distance + below) <= gap_asked(size, set->ops->diameter(set, PN_L2));
}

/* Support points alone, as many as it takes, may come nearer than that, and may come nowhere. */
static pn_status by_support_alone(const pn_set *set, const double *x, double reach, double *y, pn_far_point *found,
                                  pn_err *err)
{
    double *residual, distance = INFINITY;
    pn_status status;

    PN_TRY(pn_new(&residual, set->dim, err, "C:project: out of memory"));
    status = pn_nearest_by_support(residual, &distance, set, x, reach, 0, err);
    if (status == PN_OK) {
        found->distance = distance;
        found->below = distance > reach ? distance : 0.0;
        for (size_t j = 0; j < set->dim; j++)
            y[j] = x[j] + residual[j];
    }
    pn_free(residual);
    return status == PN_ENUMERIC && will_do(set, x, found) ? PN_OK : status;
}

/* *y, owned: about the nearest point, and whether it is in reach, when that is >= 0. */
static pn_status search(double **y, const pn_set *set, const double *x, double reach, pn_far_point *found, pn_err *err)
{
    pn_status status;

    PN_TRY(need_support(set, err));
    PN_TRY(pn_new(y, set->dim, err, "C:project: out of memory"));
    status = pn_nearest_by_far_points(set, x, reach, *y, found, err);
    if (status != PN_OK || found->fine || (reach >= 0.0 && (found->distance <= reach || found->below > reach)))
        return status;
    return set->ops->approach && will_do(set, x, found) ? PN_OK : by_support_alone(set, x, reach, *y, found, err);
}

pn_status pn_project_by_support(const pn_set *set, double *x, pn_err *err)
{
    double *y = NULL;
    pn_far_point found = { .normal = NULL };
    pn_status status = search(&y, set, x, -1.0, &found, err);

    if (status == PN_OK)
        memcpy(x, y, set->dim * sizeof *x);
    pn_free(y);
    return status;
}

pn_status pn_contains_by_support(const pn_set *set, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double *y = NULL, reach = tolerance + 1e-12 * set->ops->radius(set, PN_L2);
    pn_far_point found = { .normal = NULL };
    pn_status status = search(&y, set, x, reach, &found, err);

    *inside = status == PN_OK && found.below <= reach;
    pn_free(y);
    return status;
}

/* ---- the gauge ---- */

/* x / t in the set?  The tolerance is relative to the point. */
static pn_status multiple_contains(const pn_set *set, const double *x, double t, double *point, bool *inside,
                                   pn_err *err)
{
    double size = 0.0;

    for (size_t j = 0; j < set->dim; j++) {
        point[j] = x[j] / t;
        size = fmax(size, fabs(point[j]));
    }
    return set->ops->contains(set, point, 1e-13 * size, inside, err);
}

static pn_status origin_is_inside(const pn_set *set, double *point, pn_err *err)
{
    double radius = set->ops->radius(set, PN_L2);
    bool inside = false;
    pn_status status;

    memset(point, 0, set->dim * sizeof *point);
    status = set->ops->contains(set, point, isfinite(radius) ? 1e-12 * radius : 0.0, &inside, err);
    if (status == PN_OK && !inside)
        status = pn_fail(err, PN_EUNSUPPORTED,
                         "C:gauge: the origin is not in %s, and a gauge measures multiples of a set about the origin",
                         set->ops->name);
    return status;
}

/* low < gauge <= high: low doubles until x / high is inside.  An unbounded set starts from 1 and may hold x / t for all
 * t. */
static pn_status bracket(const pn_set *set, const double *x, double *point, double *low, double *high, pn_err *err)
{
    double size = pn_lp_norm(PN_L2, set->dim, x), radius = set->ops->radius(set, PN_L2);
    double last = isfinite(radius) ? size / (FLAT * radius) : size / FLAT;
    bool inside = false;
    pn_status status;

    *high = isfinite(radius) ? size / radius : size;
    if (isfinite(radius))
        *low = *high * (1.0 - 1e-11);
    for (*low = isfinite(radius) ? *low : 0.0;;) {
        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = multiple_contains(set, x, *high, point, &inside, err);
        if (status != PN_OK || inside)
            break;
        if (!(*high < last)) {
            *low = *high = INFINITY;
            return PN_OK;
        }
        *low = *high;
        *high *= 2.0;
    }
    while (status == PN_OK && inside && *low == 0.0) { /* unbounded: how far down? */
        if (*high < FLAT * size) {
            *high = 0.0;
            return PN_OK;
        }
        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = multiple_contains(set, x, 0.5 * *high, point, &inside, err);
        *low = inside ? 0.0 : 0.5 * *high;
        *high = inside ? 0.5 * *high : *high;
    }
    return status;
}

static pn_status bisect(const pn_set *set, const double *x, double *point, double *gauge, pn_err *err)
{
    double low, high;
    pn_status status = bracket(set, x, point, &low, &high, err);

    while (status == PN_OK && isfinite(high) && high - low > GAUGE_PRECISION * high) {
        double middle = 0.5 * low + 0.5 * high;
        bool inside = false;

        status = pn_stop_asked(err);
        if (status == PN_OK)
            status = multiple_contains(set, x, middle, point, &inside, err);
        if (inside)
            high = middle;
        else
            low = middle;
    }
    *gauge = high;
    return status;
}

pn_status pn_gauge_by_search(const pn_set *set, const double *x, double *gauge, pn_err *err)
{
    double *point = pn_alloc(set->dim, sizeof *point), value = 0.0;
    pn_status status;

    PN_TRY(pn_made(point, err, "C:gauge: out of memory"));
    status = origin_is_inside(set, point, err);
    if (status == PN_OK && pn_lp_norm(PN_LINF, set->dim, x) > 0.0)
        status = pn_set_can_project(set) ? pn_gauge_by_project(set, x, &value, NULL, NULL, err)
                                         : bisect(set, x, point, &value, err);
    if (status == PN_OK)
        *gauge = value;
    pn_free(point);
    return status;
}

/* ---- a point somewhere in the set ---- */

/* x <- sum of Dirichlet(1, .., 1) weights times support points in Gaussian directions; work[2 dim] */
static pn_status mix_support_points(const pn_set *set, pn_rng *rng, double *x, double *work, pn_err *err)
{
    size_t count = set->dim < MOST_SAMPLED_POINTS ? set->dim + 1 : MOST_SAMPLED_POINTS;
    double *direction = work, *point = work + set->dim, total = 0.0;

    memset(x, 0, set->dim * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        double weight = -log1p(-pn_rng_uniform(rng)), value;
        pn_status status;

        pn_rng_normals(rng, set->dim, direction);
        status = set->ops->support(set, direction, point, &value, err);
        if (status != PN_OK)
            return status;
        pn_axpy(set->dim, weight, point, x);
        total += weight;
    }
    for (size_t j = 0; j < set->dim; j++)
        x[j] /= total;
    return PN_OK;
}

/* A set known by its projection alone: the nearest point to a Gaussian one of the set's size. */
static pn_status project_normal(const pn_set *set, pn_rng *rng, double *x, pn_err *err)
{
    double spread = set->ops->radius(set, PN_L2) / sqrt((double)set->dim);

    pn_rng_normals(rng, set->dim, x);
    for (size_t j = 0; j < set->dim; j++)
        x[j] *= spread;
    return set->ops->project(set, x, err);
}

pn_status pn_sample_by_support(const pn_set *set, pn_rng *rng, double *x, pn_err *err)
{
    double *work;
    pn_status status;

    if (!pn_set_is_bounded(set))
        return pn_fail(err, PN_EUNSUPPORTED, "C:sample: %s is unbounded; bounded sets can be sampled", set->ops->name);
    if (!set->ops->support)
        return project_normal(set, rng, x, err);
    work = pn_alloc(set->dim, 2 * sizeof *work);
    PN_TRY(pn_made(work, err, "C:sample: out of memory"));
    status = mix_support_points(set, rng, x, work, err);
    pn_free(work);
    return status;
}
