/* intersection_step.h -- argmin over C n D n ... of Psi(x) - <c, x>, for a potential that has a closed step over one of
 * the sets.  Depends on: potential.h.  Used by: potential.c. */
#ifndef PN_GEOMETRY_INTERSECTION_STEP_H
#define PN_GEOMETRY_INTERSECTION_STEP_H

#include "geometry/potentials/potential.h"

/* A potential that is lifted for one of the sets has points of its own here, too; where it is least over that set has
 * to be in the others. */

/**
 * As pn_potential_step_within, for an intersection, scaled and shifted as may be: one root where a halfspace, slab or
 * hyperplane is all there is besides the set with the closed step, else pn_dual_step.
 * Errors: PN_EUNSUPPORTED for other sets, and without a closed step; as pn_dual_step.
 */
pn_status pn_intersection_step(const pn_potential *p, const pn_set *set, const double *c, double *y,
                               pn_step_limit *limit, pn_err *err);

/**
 * The same by the dual, whatever the sets are: at most PN_STEP_ROUNDS rounds with a limit, after which the best point
 * is taken and limit->reached says what is missing; without one 100 times as many, then PN_ENUMERIC.
 * Errors: PN_ECANCELLED; PN_ENOMEM; what projections, callbacks and the potential fail with.
 */
pn_status pn_dual_step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_step_limit *limit,
                       pn_err *err);

#endif
