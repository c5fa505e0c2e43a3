/* boxed_entropy.h -- steps of entropies over what a box leaves of a simplex or an l1 ball.
 * Depends on: set.h.  Used by: potential_entropy.c, potential_signed_entropy.c. */
#ifndef PN_GEOMETRY_BOXED_ENTROPY_H
#define PN_GEOMETRY_BOXED_ENTROPY_H

#include "geometry/convex/set.h"

/** x[n] = argmin of radius sum x ln(x/radius) - <c, x> over {x >= 0, sum x = size} and a box that meets it (a set of
 *  pn_set_is_a_box).  x may be c.  Errors: PN_EDOMAIN where an entry of the box is below 0; PN_ENOMEM. */
pn_status pn_entropy_boxed_step(double radius, double size, const pn_set *box, const double *c, double *x, pn_err *err);
/** The same of the entropy of 2n weights of potential_signed_entropy.c, over the l1 ball of that radius and a box. */
pn_status pn_signed_entropy_boxed_step(double radius, const pn_set *box, const double *c, double *x, pn_err *err);

#endif
