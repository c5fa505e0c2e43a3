/* cone.h -- what every closed convex cone shares, given its projection.  Depends on: set.h.  Used by: cone.c,
 * exponential_cone.c, and pn_unbounded_size by the flats. */
#ifndef PN_GEOMETRY_CONE_H
#define PN_GEOMETRY_CONE_H

#include "geometry/convex/set.h"

/** +inf, the radius and diameter of what is not bounded. */
double pn_unbounded_size(const pn_set *self, pn_lp norm);

/** An object of `ops` with `dim` coordinates and nothing else.  Errors: PN_ENOMEM. */
pn_status pn_cone_new(pn_set **out, const pn_set_ops *ops, size_t dim, pn_err *err);
void pn_cone_destroy(pn_set *self);

/* As in pn_set_ops, through self->ops->project. */
/** 0 at the origin for g in the polar cone, that is where the projection of g is within 1e-13 ||g|| of 0; else +inf. */
pn_status pn_cone_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err);
/** By the distance from the cone. */
pn_status pn_cone_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err);
/** 0 in the cone, to 1e-13 ||x||; inf outside. */
pn_status pn_cone_gauge(const pn_set *self, const double *x, double *value, pn_err *err);
void pn_cone_center(const pn_set *self, double *x); /* the origin */

#endif
