/* statistics.h -- mean, deviation, order and quantiles of numbers that are there to be looked at: nothing private.
 * Depends on: blas.h.  Used by: bindings/numeric. */
#ifndef PN_NUMERIC_STATISTICS_H
#define PN_NUMERIC_STATISTICS_H

#include <stddef.h>

/** Of x[n], n >= 1, added pairwise. */
double pn_mean(size_t n, const double *x);
/** sqrt(sum (x - mean)^2 / (n - 1)) of x[n], n >= 2: differences from the mean are squared, so that numbers far from 0
 *  lose no digits. */
double pn_deviation(size_t n, const double *x);
/** x[n] in rising order, NaN last. */
void pn_sort(size_t n, double *x);
/** Quantile q in [0, 1] of sorted x[n], n >= 1: at place 1 + (n - 1) q, on the line between the two numbers beside it;
 *  q = 0 is the least, 0.5 the median, 1 the largest.  NaN when x holds one.
 *  Source: Hyndman, Fan (1996), definition 7. */
double pn_quantile(size_t n, const double *x, double q);

#endif
