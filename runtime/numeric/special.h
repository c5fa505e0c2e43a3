/* special.h -- the normal law in the tails, where the C library's erfc gives up; the gamma law.
 * Depends on: libm.  Used by: numeric (beta), privacy, geometry (widths). */
#ifndef PN_NUMERIC_SPECIAL_H
#define PN_NUMERIC_SPECIAL_H

/** exp(x^2) erfc(x), to about 1e-15 relative, for any x; +inf below -26.6. */
double pn_erfcx(double x);

/** ln P(N(0,1) <= x), to about (1 + x^2) 1e-16 relative for x > 0 and 1e-15 below; 0 at +inf, -inf at -inf. */
double pn_log_normal_cdf(double x);

/** ln Gamma(x + 1) - ((x + 1/2) ln x - x + ln(2 pi)/2): what Stirling's formula misses; x > 0. */
double pn_stirling_rest(double x);

/** x ln(x/m) - x + m >= 0 for x, m > 0, without cancellation where they are close.  Source: Loader (2000). */
double pn_deviance(double x, double m);

/** Both tails of the gamma law of a shape > 0 and scale 1: *below = P(X <= x) = P(shape, x), *above = Q(shape, x), for
 *  x >= 0.  The smaller one has relative error about 1e-13 (absolutely so below 1e-300), the other is its complement.
 *  O(sqrt(shape)) steps.  chi with k degrees of freedom: P(chi <= t) is that of shape k/2 at t^2/2. */
void pn_gamma_tails(double shape, double x, double *below, double *above);

/** Gamma(x + 1/2) / Gamma(x), to about 1e-15 relative, x > 0.  sqrt(2) times it at x = p/2 is E||b||_2 in R^p. */
double pn_gamma_half_ratio(double x);

#endif
