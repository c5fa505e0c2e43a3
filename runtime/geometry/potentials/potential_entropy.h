/* potential_entropy.h -- the entropy of weights, for the rows that use it.
 * Depends on: core.  Used by: potential_entropy.c, potential_polytope.c. */
#ifndef PN_GEOMETRY_POTENTIAL_ENTROPY_H
#define PN_GEOMETRY_POTENTIAL_ENTROPY_H

#include <stddef.h>

#include "core/status.h"

/** radius sum x ln(x / radius), +inf where an entry is negative. */
double pn_entropy_value(double radius, const double *x, size_t n);
/** out[n], which may be x.  Errors: PN_EDOMAIN where an entry is not positive. */
pn_status pn_entropy_gradient(double radius, const double *x, size_t n, double *out, pn_err *err);
/** out[n], which may be u: where the gradient is u.  Errors: PN_ENUMERIC when that overflows. */
pn_status pn_entropy_inverse(double radius, const double *u, size_t n, double *out, pn_err *err);
/** x[n], which may be c: argmin of the entropy - <c, x> over the simplex of that size.  c finite. */
void pn_entropy_simplex_step(double radius, double size, const double *c, size_t n, double *x);

#endif
