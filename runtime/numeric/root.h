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

/** The double in the middle of those from low to high, by their number. */
double pn_middle(double low, double high);

/**
 * A root of a monotone f between low and high, by Newton's steps inside a bracket that every value narrows; a step that
 * would leave the bracket, or follows one that did not halve |f|, goes to the middle of its doubles instead.
 *   f  also writes its derivative (0, infinity or NaN: then the middle is taken).
 * Ends at f = 0, when a step changes nothing, or when the bracket has closed; at most 200 calls.  When f has one sign
 * at both ends the result is the end with the smaller |f|.
 */
double pn_newton(double (*f)(void *self, double x, double *slope), void *self, double low, double high);

/** The same root from x, which is near it: plain steps as long as each halves |f|, and then pn_newton where the root
 *  still can be. */
double pn_newton_near(double (*f)(void *self, double x, double *slope), void *self, double x, double low, double high);

#endif
