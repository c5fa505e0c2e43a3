/* width.h -- the Gaussian width G_C = E max_{v in C} <b, v>, b standard normal: what the error of private learning over
 * C follows (the dimension enters only through it).  Depends on: geometry/convex/set.h.  Used by: sets,
 * solvers (plans), bindings.
 * Source: Talwar, Thakurta, Zhang (2014), section 2; geometry.md sections 1 and 2. */
#ifndef PN_GEOMETRY_WIDTH_H
#define PN_GEOMETRY_WIDTH_H

#include "geometry/convex/set.h"
#include "penumbra/set.h"

extern const char *const pn_width_methods[]; /* "auto", "exact", "quadrature", "monte_carlo", NULL */

#endif
