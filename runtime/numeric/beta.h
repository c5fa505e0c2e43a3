/* beta.h -- binomial probabilities and tails, by the regularised incomplete beta function, and the normal quantile.
 * Depends on: libm.  Used by: privacy (audits). */
#ifndef PN_NUMERIC_BETA_H
#define PN_NUMERIC_BETA_H

#include <stddef.h>

/** P(X = k) for X ~ Binomial(n, p), p in [0, 1]; 0 for k > n.  Relative error about 1e-14 and no overflow for any n <
 *  2^53.
 *  Source: the saddle-point form of Loader (2000). */
double pn_binomial_pmf(size_t k, size_t n, double p);

/** Both tails of X ~ Binomial(n, p): *below = P(X < k), *above = P(X >= k).  The smaller one has relative error about
 *  1e-13 (p itself taken as exact), the other is its complement.  O(sqrt(n)) steps. */
void pn_binomial_tails(size_t k, size_t n, double p, double *below, double *above);

/** z with P(N(0, 1) <= z) = p, to the last few bits, for p in (0, 1); -inf at 0 and +inf at 1. */
double pn_normal_quantile(double p);

#endif
