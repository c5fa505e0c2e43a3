/* width.h -- the Gaussian width G_C = E max_{v in C} <b, v>, b standard normal: what the error of private learning over C
 * follows (the dimension enters only through it).  Depends on: geometry/convex/set.h.  Used by: sets, solvers (plans), bindings.
 * Source: Talwar, Thakurta, Zhang (2014), section 2; geometry.md sections 1 and 2. */
#ifndef PN_GEOMETRY_WIDTH_H
#define PN_GEOMETRY_WIDTH_H

#include "geometry/convex/set.h"

extern const char *const pn_width_methods[]; /* "auto", "exact", "quadrature", "monte_carlo", NULL */

/**
 * The width by the method asked for; auto takes the first of exact, quadrature, composition, Monte Carlo that the set has.  Asking
 * for "quadrature" is content with an exact value.  A scaled, reflected or shifted set has |factor| times the width of what it wraps.
 * Monte Carlo: the mean of N draws of w(b) = max <b, v>, or of (w(b) + w(-b))/2 where the set is not symmetric and half its diameter
 * is less than its radius.  Either is a function of b with mean G_C and Lipschitz constant rho = min(radius, diameter/2), so the
 * half-width is rho sqrt(2 ln(2/(1 - confidence))/N).  (Half the diameter alone is no such constant of w(b): the simplex has the
 * circumradius sqrt(1 - 1/p) > sqrt(1/2).)  The same seed gives the same numbers whatever the number of threads; a second call with
 * the same rng draws anew.
 * Errors: PN_EUNSUPPORTED for an unbounded set, and for a method that the set does not have; PN_EINVAL for a tolerance <= 0, one
 * that takes more than 1e9 draws, or a confidence outside (0, 1); PN_ECANCELLED; PN_ENOMEM; what the set's support fails with.
 * *out is untouched on failure.
 */
pn_status pn_set_width(const pn_set *set, const pn_width_options *how, pn_width *out, pn_err *err);

#endif
