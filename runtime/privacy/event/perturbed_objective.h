/* perturbed_objective.h -- the privacy of the exact minimiser of a sum of convex losses plus a Gaussian linear term.
 * With l(theta) = f(<x, theta>; y), f convex, ||grad l||_2 <= L, f'' ||x||^2 <= beta, Lam > 0 the strong convexity of
 * what does not depend on the data, and b ~ N(0, sigma^2 I), the minimiser of sum_i l_i + (Lam/2)||theta - theta0||^2 +
 * <b, theta> determines b, so the loss of its release is at most
 *     X = J + s^2/2 + s chi,    J = ln(1 + beta/Lam),  s = (l2 sensitivity of the sum of gradients)/sigma,
 * chi the norm of a standard Gaussian in the span of the records that differ: J bounds the ratio of the Jacobians, each
 * a determinant of the others' Hessian with one term of rank one added, the rest that of the densities of b and b + u
 * with ||u|| <= s sigma, u in that span though it varies with b.  Two records span a plane
 * (rank 2, rank 1 in one dimension); a record and nothing span a line (rank 1).
 * Depends on: gaussian.h, numeric/.  Used by: event_objective.c, solvers, tests.  See perturbation.md section 3.
 * Source: Chaudhuri, Monteleoni, Sarwate (2011); Kifer, Smith, Thakurta (2012), with the constants derived there. */
#ifndef PN_PRIVACY_PERTURBED_OBJECTIVE_H
#define PN_PRIVACY_PERTURBED_OBJECTIVE_H

#include "privacy/event/pair.h"

/* Everywhere below: s > 0, jacobian = J >= 0, rank 1 or 2; epsilon >= 0; delta in (0, 1); else NaN. */

/** E (1 - exp(epsilon - X))_+, which bounds the delta of the release; rounded upward by 1e-12 relative. */
double pn_perturbed_delta(double epsilon, double s, double jacobian, int rank);

/** The pair whose loss is X under P, and whose hockey stick is pn_perturbed_delta.  It bounds both orders of the
 *  neighbours, and what is adapted to the minimiser composes with it: the loss of both is at most X and that of the
 *  rest, whatever X is. */
void pn_pair_perturbed(pn_pair *out, double s, double jacobian, int rank);

/** The largest s with pn_perturbed_delta(epsilon, s, jacobian, rank) <= delta; 0 when jacobian >= epsilon. */
double pn_perturbed_s(double epsilon, double delta, double jacobian, int rank);

/** Bound on the Renyi divergence of order alpha in (1, inf]: ln E exp((alpha - 1) X) / (alpha - 1), rounded upward. */
double pn_perturbed_rdp(double s, double jacobian, int rank, double alpha);

/** The smallest rho with pn_perturbed_rdp <= rho alpha at every order: E X, the limit at order 1. */
double pn_perturbed_zcdp(double s, double jacobian, int rank);

#endif
