/* fallback.h -- what sets without an operation of their own get.  Depends on: set.h.  Used by: set.c. */
#ifndef PN_GEOMETRY_FALLBACK_H
#define PN_GEOMETRY_FALLBACK_H

#include "geometry/convex/set.h"

/** As pn_set_project, by support points.  PN_EUNSUPPORTED for unbounded sets. */
pn_status pn_project_by_support(const pn_set *set, double *x, pn_err *err);
/** Within tolerance + 1e-12 of the radius, as the Euclidean distance goes, by support points.  Near the boundary of a
 *  curved set in many dimensions neither may show in reasonable time: a point that no plane separates from the set by
 *  more is then inside, when the duality gap is that of pn_set_project (in practice, within 1e-6 of the size). */
pn_status pn_contains_by_support(const pn_set *set, const double *x, double tolerance, bool *inside, pn_err *err);
/** As pn_set_gauge, by projections where the set can be projected on, else by bisection. */
pn_status pn_gauge_by_search(const pn_set *set, const double *x, double *gauge, pn_err *err);
/** As pn_set_sample, not uniform. */
pn_status pn_sample_by_support(const pn_set *set, pn_rng *rng, double *x, pn_err *err);

#endif
