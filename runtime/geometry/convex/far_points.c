/* far_points.c -- see far_points.h.  Depends on: far_points.h, fallback.h, upper.h, numeric/blas.h.
 * Used by: fallback.c, gauge_by_project.c.
 *
 * Iterations for the point P(x) of C that is nearest to x get slow where x is near to a curved border: at distance d of
 * a border that bends with a radius r their rates are those of the condition r/d.  From x + u, u of a length L along
 * the normal, the condition is r/L, and where u is normal to C at y = P(x + u), y is nearest to x, too, or, with x
 * inside, y is the point of the border above it.  The direction of u is found by
 *     u  <-  L w/||w||,   w = x + u - P(x + u),
 * the proximal point method for min h(u) - <u, x>, h the support function, of which w is the proximal step (Moreau).
 * Errors of the direction fall by 1/(1 + r/L) each time: L is shortened where that is slow.
 *
 * Each w gives a plane, and with it the bound <w, x> - h(w) <= ||w|| d(x, C); each y is a point of C.  For the largest
 * such bound b and the nearest y so far ||y - P(x)||^2 <= ||x - y||^2 - b^2, as P(x) is nearest.  Where x is inside no
 * plane is above it, and a y is as far from it as the border is: then the way from y to a point of C on the other side
 * of x leads near to x.
 * Source: Rockafellar (1976), Monotone operators and the proximal point algorithm. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "geometry/convex/fallback.h"
#include "geometry/convex/far_points.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

#define LENGTH       0.1 /* L at first, of the l2 radius, */
#define SHORTEST     1e-6
#define SHORTEN      3.0
#define EXACT        1e-15 /* of the squared size: what is left of an iteration that got to its end */
#define MOST_ROUNDS  40
#define MOST_UNENDED 8
#define RISE         1e-14
#define FINE         1e-8 /* of the size: near enough */
#define ROUNDING     1e-14
#define STILL        1e-14

typedef struct far {
    const pn_set *set;
    const double *x;
    size_t dim;
    double size, length;
    double *target, *u, *w, *y, *inner; /* [dim] */
    double *best;                       /* [dim] the caller's: the nearest y so far */
    double steep;                       /* ||w|| */
    double moved;                       /* how far y is from the last one */
    double left;                        /* by which y is not the nearest point of x + u: a bound of the square */
    double shortest;                    /* L is to be */
    int unended;                        /* rounds of which the iteration did not get to its end */
    pn_far_point *found;
} far;

pn_status pn_point_near(const pn_set *set, const double *x, double *y, pn_err *err)
{
    double unused;

    if (!set->ops->approach || !pn_square_fits(pn_lp_norm(PN_L2, set->dim, x) + set->ops->radius(set, PN_L2))) {
        PN_TRY(pn_nearest_by_support(y, &unused, set, x, -1.0, 100 + 4 * set->dim, err));
        pn_axpy(set->dim, 1.0, x, y);
        return PN_OK;
    }
    memcpy(y, x, set->dim * sizeof *y);
    return set->ops->approach(set, y, &unused, err);
}

static double distance_between(const double *a, const double *b, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

static void keep(far *at, const double *y)
{
    double distance = distance_between(at->x, y, at->dim);

    if (!(distance < at->found->distance))
        return;
    at->found->distance = distance;
    memcpy(at->best, y, at->dim * sizeof *y);
}

/* From x + u: y, w and what they tell. */
static pn_status look(far *at, pn_err *err)
{
    double height = 0.0, below;

    PN_TRY(pn_stop_asked(err));
    for (size_t j = 0; j < at->dim; j++)
        at->target[j] = at->x[j] + at->u[j];
    memcpy(at->w, at->y, at->dim * sizeof *at->w);
    PN_TRY(pn_point_near(at->set, at->target, at->y, err));
    at->moved = distance_between(at->w, at->y, at->dim);
    for (size_t j = 0; j < at->dim; j++)
        at->w[j] = at->target[j] - at->y[j];
    at->steep = pn_lp_norm(PN_L2, at->dim, at->w);
    keep(at, at->y);
    if (!(at->steep > 0.0))
        return PN_OK;
    PN_TRY(at->set->ops->support(at->set, at->w, NULL, &height, err));
    at->left = height - pn_dot(at->dim, at->w, at->y);
    below = (pn_dot(at->dim, at->w, at->x) - height) / at->steep;
    if (!(below > at->found->below))
        return PN_OK;
    at->found->below = below;
    for (size_t j = 0; at->found->normal && j < at->dim; j++)
        at->found->normal[j] = at->w[j] / at->steep;
    return PN_OK;
}

/* No plane is above x: it may be on the way from y to a point below x. */
static pn_status look_below(far *at, pn_err *err)
{
    double along = 0.0, square = 0.0, part;

    for (size_t j = 0; j < at->dim; j++)
        at->target[j] = at->x[j] - at->length / at->steep * at->w[j];
    PN_TRY(pn_point_near(at->set, at->target, at->inner, err));
    for (size_t j = 0; j < at->dim; j++) {
        along += (at->x[j] - at->inner[j]) * (at->y[j] - at->inner[j]);
        square += (at->y[j] - at->inner[j]) * (at->y[j] - at->inner[j]);
    }
    part = square > 0.0 ? fmin(fmax(along / square, 0.0), 1.0) : 0.0;
    pn_mix(at->dim, part, at->y, at->inner, at->inner);
    keep(at, at->inner);
    return PN_OK;
}

static bool near_enough(const far *at, double reach)
{
    double distance = at->found->distance, below = fmax(at->found->below, 0.0);

    at->found->fine = (distance - below) * (distance + below) <=
                      fmax(FINE * FINE * at->size * at->size, ROUNDING * at->size * distance);
    return at->found->fine || (reach >= 0.0 && (distance <= reach || below > reach));
}

/* L for the next round: longer where the iteration did not get to its end, and never again so short, shorter where the
 * direction is slow. */
static void choose_length(far *at, double before)
{
    double radius = at->set->ops->radius(at->set, PN_L2);

    if (at->left > EXACT * at->size * at->size) {
        at->unended++;
        at->shortest = fmin(SHORTEN * at->length, radius);
        at->length = at->shortest;
    } else if (at->moved > before / SHORTEN) {
        at->length = fmax(at->length / SHORTEN, at->shortest);
    }
}

/* Where the plane is asked for: does it still rise? */
static bool done(const far *at, double reach, int round, double below)
{
    if (at->found->normal)
        return round > 2 && at->found->below - below <= RISE * at->size;
    return near_enough(at, reach) || (round > 2 && at->moved <= STILL * at->size);
}

static pn_status come_near(far *at, double reach, pn_err *err)
{
    double radius = at->set->ops->radius(at->set, PN_L2), before = INFINITY, below = -INFINITY;

    PN_TRY(look(at, err));
    for (int round = 1; round < MOST_ROUNDS && !done(at, reach, round, below); round++) {
        if (!(at->steep > 0.0) || at->found->below >= LENGTH * radius || at->unended > MOST_UNENDED)
            break;
        below = at->found->below;
        for (size_t j = 0; j < at->dim; j++)
            at->u[j] = at->length / at->steep * at->w[j];
        PN_TRY(look(at, err));
        if (!at->found->normal && !(at->found->below > 0.0) && at->steep > 0.0 && !near_enough(at, reach))
            PN_TRY(look_below(at, err));
        if (round > 1)
            choose_length(at, before);
        before = at->moved;
    }
    (void)near_enough(at, reach);
    return PN_OK;
}

pn_status pn_nearest_by_far_points(const pn_set *set, const double *x, double reach, double *y, pn_far_point *found,
                                   pn_err *err)
{
    size_t dim = set->dim;
    double radius = set->ops->radius(set, PN_L2);
    far at = { .set = set, .x = x, .dim = dim, .best = y, .found = found };
    pn_status status;

    found->distance = INFINITY;
    found->below = -INFINITY;
    if (found->normal)
        memset(found->normal, 0, dim * sizeof *found->normal);
    at.size = pn_lp_norm(PN_L2, dim, x) + radius;
    at.length = LENGTH * radius;
    at.shortest = SHORTEST * radius;
    PN_TRY(pn_new_zeroed(&at.target, 5 * dim, err, "C:project: out of memory"));
    at.u = at.target + dim;
    at.w = at.target + 2 * dim;
    at.y = at.target + 3 * dim;
    at.inner = at.target + 4 * dim;
    status = come_near(&at, reach, err);
    pn_free(at.target);
    return status;
}
