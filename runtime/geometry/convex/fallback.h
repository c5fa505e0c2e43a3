/* fallback.h -- what sets without an operation of their own get.  Depends on: set.h.  Used by: set.c. */
#ifndef PN_GEOMETRY_FALLBACK_H
#define PN_GEOMETRY_FALLBACK_H

#include "geometry/convex/set.h"

/** As pn_set_project, by what pn_set_ops.approach or support points find from far points (far_points.h).
 *  PN_EUNSUPPORTED for unbounded sets. */
pn_status pn_project_by_support(const pn_set *set, double *x, pn_err *err);
/** Within tolerance + 1e-12 of the radius, as the Euclidean distance goes.  Near the boundary of a curved set neither
 *  may show in reasonable time: a point that no plane separates from the set by more is then inside, when it is as near
 *  as pn_set_project comes (1e-8 of the size as a rule). */
pn_status pn_contains_by_support(const pn_set *set, const double *x, double tolerance, bool *inside, pn_err *err);
/**
 * residual[dim] <- nearest point - x, and *distance its length or what `reach` asks, by pn_nearest_by.
 *   steps  > 0: it ends after so many, with a point of the set that is as near as that; 0: as many as it takes.
 * Errors: PN_EUNSUPPORTED for unbounded sets; as pn_nearest_by.
 */
pn_status pn_nearest_by_support(double *residual, double *distance, const pn_set *set, const double *x, double reach,
                                size_t steps, pn_err *err);
/** As pn_set_gauge, by projections where the set can be projected on, else by bisection. */
pn_status pn_gauge_by_search(const pn_set *set, const double *x, double *gauge, pn_err *err);
/** As pn_set_sample, not uniform. */
pn_status pn_sample_by_support(const pn_set *set, pn_rng *rng, double *x, pn_err *err);

#endif
