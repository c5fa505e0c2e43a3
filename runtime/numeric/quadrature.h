/* quadrature.h -- integrals over an interval, adaptively.  Depends on: libm.  Used by: geometry (widths). */
#ifndef PN_NUMERIC_QUADRATURE_H
#define PN_NUMERIC_QUADRATURE_H

/**
 * The integral of f from low to high (finite, low <= high), by Gauss-Kronrod rules of 7 and 15 points: the piece with
 * the largest estimated error is halved until the sum of the estimates is below tolerance * |integral|,
 * or 200 pieces are reached.
 *   tolerance  relative, >= 0; below 1e-14 rounding decides.
 *   error      an estimate of the absolute error, rounding included; may be NULL.
 * f must be finite inside; it is never asked at the ends.  A peak narrower than 1/50 of the interval may be missed:
 * split there.
 * Source: Piessens, de Doncker-Kapenga, Ueberhuber, Kahaner (1983), QUADPACK, routine QAG.
 */
double pn_integrate(double (*f)(void *self, double x), void *self, double low, double high, double tolerance,
                    double *error);

#endif
