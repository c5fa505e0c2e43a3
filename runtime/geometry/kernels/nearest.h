/* nearest.h -- the point of a convex set that is nearest to x, for a set that can only say which of its points is least
 * in a
 * direction.  Depends on: core.  Used by: polytope.c, fallback.c, objective/measures/nearest_in_hull.c. */
#ifndef PN_GEOMETRY_NEAREST_H
#define PN_GEOMETRY_NEAREST_H

#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

/* The set, as Wolfe's method sees it. */
typedef struct pn_least_oracle {
    void *self;
    size_t dim;
    /* point[dim] <- the point of the set with the least <y, point>. */
    pn_status (*least)(void *self, const double *y, double *point, pn_err *err);
    /* stop as soon as the distance is shown to be <= reach or > reach; negative: find the nearest point */
    double reach;
    double scale;      /* >= the squared distance of x to every point of the set, > 0 */
    double near;       /* > 0: content as soon as the distance is known to within it, that is <p, p - v> <= near |p| */
    double gap;        /* give up with PN_ENUMERIC when <p, p - v> stays above it, p = nearest - x; +inf: never */
    size_t limit;      /* steps */
    const char *owner; /* what messages start with */
} pn_least_oracle;

/**
 * Wolfe's minimum-norm-point method.
 *   residual  [dim] out: nearest - x.
 *   start     [dim] a point of the set.
 * *distance: the length of residual; when it was shown to be > reach, a lower bound that is > reach; when neither was
 * shown and `gap` is finite and met, at most reach.
 * It goes on until the duality gap is 1e-15 of scale, or as near as the arithmetic gets, or as `near` says.
 * Errors: PN_ENOMEM, PN_ENUMERIC, what `least` fails with.
 * Source: Wolfe (1976), Finding the nearest point in a polytope.
 */
pn_status pn_nearest_by(double *residual, double *distance, const pn_least_oracle *oracle, const double *x,
                        const double *start, pn_err *err);

/** The same over conv of the rows of `vertices`, at least one, which ends after finitely many steps. */
pn_status pn_nearest_point(double *residual, double *distance, pn_mat vertices, const double *x, double reach,
                           pn_err *err);

#endif
