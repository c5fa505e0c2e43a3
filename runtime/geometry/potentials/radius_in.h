/* radius_in.h -- how large a set is in any norm.  Depends on: set.h, norm.h.  Used by: bindings, solvers (plans). */
#ifndef PN_GEOMETRY_RADIUS_IN_H
#define PN_GEOMETRY_RADIUS_IN_H

#include "geometry/convex/set.h"
#include "geometry/potentials/norm.h"

/**
 * max N(x) over C, or an upper bound; inf for unbounded sets.  Exact over lists of vertices of at most 1e8 numbers, and
 * for the ball of the norm itself and its multiples; else the least of radius_lp(C) max {N(x) : ||x||_lp <= 1} over l1,
 * l2 and linf.  It is as precise as the norm is.
 * Errors: PN_EDIM when the norm has another dimension; PN_EUNSUPPORTED when no bound is known; PN_ENOMEM;
 * what the norm fails with.
 */
pn_status pn_set_radius_in(const pn_set *set, const pn_norm *norm, double *radius, pn_err *err);

#endif
