/* numeric_step.h -- argmin over C of Psi(y) - <c, y> by iteration, for a potential and a set that know nothing of each
 * other.
 * Depends on: potential.h.  Used by: potential.c. */
#ifndef PN_GEOMETRY_NUMERIC_STEP_H
#define PN_GEOMETRY_NUMERIC_STEP_H

#include "geometry/potentials/potential.h"

/**
 * As pn_potential_step, whatever the row's own step: accelerated projected gradients (smooth_descent.h), by the
 * projection that pn_set_project has for C, until the gap max_v <grad Psi(y) - c, y - v> is below 1e-9 of the scale of
 * the terms, or as `limit` says (pn_potential_step_within).  Intersections are not asked for support points, which
 * would take longer than the steps: there it ends within 1e-13 of that scale by the residual of its last round.
 * c and y [set->dim] may be the same array; y is what it was on failure.
 * Errors: PN_EUNSUPPORTED when nothing projects on C; PN_EDOMAIN when no point of C with a gradient is found;
 * PN_ENUMERIC when it does not converge, without a limit; PN_ENOMEM; what callbacks return.
 */
pn_status pn_numeric_step(const pn_potential *p, const pn_set *set, const double *c, double *y, pn_step_limit *limit,
                          pn_err *err);

#endif
