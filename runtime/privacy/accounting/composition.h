/* composition.h -- composition of (epsilon, delta) statements themselves, without Renyi curves.
 * Depends on: libm.  Used by: accountants, tests.  See accounting.md section 3. */
#ifndef PN_PRIVACY_COMPOSITION_H
#define PN_PRIVACY_COMPOSITION_H

#include <stddef.h>

/** The smallest delta at `target` >= 0 for `count` adaptive (epsilon, delta)-DP releases: optimal when nothing else is
 *  known about them.  epsilon > 0, delta in [0, 1), count >= 1, else NaN.  Takes `count` steps; the relative error,
 *  about count epsilon 2^-52, is rounded upward.  Source: Kairouz, Oh, Viswanath (2015), Theorem 3.3 as a sum. */
double pn_kov_delta(double epsilon, double delta, size_t count, double target);

/** The smallest epsilon at total `target` delta in (0, 1), in [0, count epsilon]; +inf when even that needs more. */
double pn_kov_epsilon(double epsilon, double delta, size_t count, double target);

/** Advanced composition: the total epsilon of `count` releases of epsilon each; the total delta is count delta +
 *  slack_delta.  For reproducing published numbers.  slack_delta in (0, 1).  Source: Dwork, Rothblum, Vadhan (2010). */
double pn_advanced_epsilon(double epsilon, size_t count, double slack_delta);

/** The same for releases of different epsilons, never worse: sum e tanh(e/2) + sqrt(2 ln(1/slack_delta) sum e^2), given
 *  the two sums.  Source: Kairouz, Oh, Viswanath (2015), Theorem 3.5; Dwork, Roth (2014). */
double pn_advanced_epsilon_sums(double sum_drift, double sum_squares, double slack_delta);

/** The drift of one release: epsilon tanh(epsilon/2), its mean privacy loss under randomised response. */
double pn_advanced_drift(double epsilon);

#endif
