/* far_points.h -- the nearest point of a set that is projected on by an iteration, where that is slow: near the border.
 * Depends on: set.h.  Used by: fallback.c, gauge_by_project.c. */
#ifndef PN_GEOMETRY_FAR_POINTS_H
#define PN_GEOMETRY_FAR_POINTS_H

#include <stdbool.h>

#include "geometry/convex/set.h"

typedef struct pn_far_point {
    double distance; /* of y from x, or an upper bound of it */
    double below;    /* a lower bound of the distance of x from the set, by the best plane; <= 0: x is below it */
    bool fine;       /* y is within 1e-8 of the size of the nearest point, or as near as rounding lets one know */
    /* in: where that plane's normal, of length 1, is to be put, [dim]; NULL: it is not asked for.  0 where there is
     * none, as the set has the whole neighbourhood of x */
    double *normal;
} pn_far_point;

/**
 * y[dim] <- a point of a bounded set with a support function, which is within sqrt(distance^2 - below^2) of the point
 * nearest to x, and fine if it gets there; with `normal` it goes on until the plane rises no more.
 *   reach  >= 0: it ends as soon as the distance of the set is known to be at most that, or above it; < 0: none.
 * Errors: what the support function and `approach` fail with; PN_ECANCELLED; PN_ENOMEM.
 */
pn_status pn_nearest_by_far_points(const pn_set *set, const double *x, double reach, double *y, pn_far_point *found,
                                   pn_err *err);

/** y[dim] <- a point of such a set that is near to x: what `approach` finds, or a limited number of support points.
 *  Its normal x - y is good as far as x is away from the set. */
pn_status pn_point_near(const pn_set *set, const double *x, double *y, pn_err *err);

#endif
