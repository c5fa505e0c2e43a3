/* upper.h -- norms rounded outward, so that a radius is never smaller than the truth.
 * Depends on: core.  Used by: the sets of this room. */
#ifndef PN_GEOMETRY_UPPER_H
#define PN_GEOMETRY_UPPER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/view.h"

/* A norm is finish(join of term(x_j)); the pieces are open so that a caller may leave coordinates out. */
long double pn_norm_term(pn_lp norm, long double x);
long double pn_norm_join(pn_lp norm, long double a, long double b);
/** The norm from the joined terms of `n` coordinates, rounded up past the rounding of their sum. */
double pn_norm_finish(pn_lp norm, long double joined, size_t n);

/** An upper bound of the norm of x[n], within 1e-15 relative for n <= 1000. */
double pn_norm_upper(pn_lp norm, const double *x, size_t n);

/** As pn_norm_upper of x - y; y may be NULL. */
double pn_distance_upper(pn_lp norm, const double *x, const double *y, size_t n);

/** The smallest double that is at least a * b and a + b respectively, for finite a, b >= 0
 *  (a subnormal product: one of the two smallest). */
double pn_times_up(double a, double b);
double pn_plus_up(double a, double b);

/** Whether squares of numbers of this size, and their rounding, are within the range of doubles: from 1e-120 to
 *  1e120. */
bool pn_square_fits(double size);

#endif
