/* custom_potential.h -- potentials that a host or a Lua table gives by functions,
 * and sums of a formula over the coordinates.
 * Depends on: potential.h, expr/.  Used by: bindings, hosts. */
#ifndef PN_GEOMETRY_CUSTOM_POTENTIAL_H
#define PN_GEOMETRY_CUSTOM_POTENTIAL_H

#include "expr/bound.h"
#include "geometry/potentials/potential.h"
#include "penumbra/potential.h"

/**
 * Psi(x) = sum_j psi(x_j) for the expression psi of one variable, on low <= x_j <= high (ends may be infinite).  The
 * constant is a certified lower bound of psi'' there, in the l2 norm.  Keeps `graph`.
 * Errors: PN_EINVAL for low >= high, for a slope that jumps, and where no positive lower bound of psi'' can be
 * certified; PN_EDOMAIN
 *         where psi is undefined; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_potential_separable(pn_potential **out, pn_graph *graph, pn_node root, pn_interval domain, pn_task *task,
                                 pn_err *err);

#endif
