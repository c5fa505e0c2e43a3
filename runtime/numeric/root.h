/* root.h -- one-dimensional searches: the boundary of a monotone predicate and the minimum of a unimodal function.
 * Depends on: libm.  Used by: privacy (calibration, accountants), geometry. */
#ifndef PN_NUMERIC_ROOT_H
#define PN_NUMERIC_ROOT_H

#include <stdbool.h>

/**
 * Argmin of a unimodal f over [low, high] by golden section.
 *   tolerance  width of the last bracket, > 0; a smaller one than the doubles allow ends at their spacing.
 * Returns the best point that f was asked for, the two ends included, so a minimum at an end is found exactly.  f may
 * return +infinity, not NaN.  low > high is read as [high, low].
 */
double pn_golden_min(double (*f)(void *self, double x), void *self, double low, double high, double tolerance);

/**
 * The largest double x in [low, high] with !above(x), to the last bit, for a predicate that is false and then true.
 * At most 66 calls, whatever the interval (the search halves the number of doubles in it, not its length).
 * Returns high when above(high) is false, and low when above(low) is already true: a caller for whom that is an error
 * asks above(low) first.  low <= high, both finite.
 */
double pn_bisect(bool (*above)(void *self, double x), void *self, double low, double high);

#endif
