/* special.h -- the normal law in the tails, where the C library's erfc gives up.
 * Depends on: libm.  Used by: privacy. */
#ifndef PN_NUMERIC_SPECIAL_H
#define PN_NUMERIC_SPECIAL_H

/** exp(x^2) erfc(x), to about 1e-15 relative, for any x; +inf below -26.6. */
double pn_erfcx(double x);

/** ln P(N(0,1) <= x), to about (1 + x^2) 1e-16 relative for x > 0 and 1e-15 below; 0 at +inf, -inf at -inf. */
double pn_log_normal_cdf(double x);

#endif
