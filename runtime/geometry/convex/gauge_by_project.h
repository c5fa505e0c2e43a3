/* gauge_by_project.h -- the gauge of a set that can be projected on.
 * Depends on: set.h.  Used by: set.c, set_polar.c. */
#ifndef PN_GEOMETRY_GAUGE_BY_PROJECT_H
#define PN_GEOMETRY_GAUGE_BY_PROJECT_H

#include "geometry/convex/set.h"

/**
 * *gauge = min{t >= 0 : x in tC} for a set that holds the origin, which is not looked at: the projection of s x gives a
 * plane between s x and the set, which cuts the ray at the next s.  That is Newton's method for the distance of s x,
 * which is convex in s: it comes down on the boundary from outside, fast over curved sets and after finitely many steps
 * over polytopes.  To the accuracy of the projection.
 *   normal  [dim] out, or NULL: y with <y, v> <= 1 over the set (as its support function says) and <y, x> nearly
 *           *gauge; 0 when there is none.  Untouched on failure.
 *   *reached  out when normal is not NULL: <normal, x>.
 * Infinity when no multiple above 1e-9 of the set's size is inside; 0 when an unbounded set holds x / t for all t.
 * Errors: what the projection and the support function fail with; PN_ENOMEM.
 */
pn_status pn_gauge_by_project(const pn_set *set, const double *x, double *gauge, double *normal, double *reached,
                              pn_err *err);

#endif
