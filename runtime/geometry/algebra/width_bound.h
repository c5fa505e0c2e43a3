/* width_bound.h -- upper bounds of Gaussian widths that take no draws.
 * Depends on: set.h.  Used by: solvers (plans). */
#ifndef PN_GEOMETRY_WIDTH_BOUND_H
#define PN_GEOMETRY_WIDTH_BOUND_H

#include "geometry/convex/set.h"

/**
 * *most >= G_C, certified: the set's formula or quadrature where it has one, else the least of what its parts, its
 * vertices and the balls around it tell.  +inf of an unbounded set.  At most a few passes over the set's numbers.
 * Errors: PN_ENOMEM.
 */
pn_status pn_set_width_at_most(double *most, const pn_set *set, pn_err *err);

#endif
