/* calibrate.h -- the largest privacy parameter per release that a total allows.
 * Depends on: accountant.h.  Used by: plans, bindings.  Spec: accounting.md section 6, frank-wolfe.md section 3. */
#ifndef PN_PRIVACY_CALIBRATE_H
#define PN_PRIVACY_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * The epsilon of one selection such that `count` of them, each chosen after seeing the ones before, cost at most `epsilon` at
 * `delta` by pn_event_epsilon: the best of the Renyi curves, zCDP and the pure total.
 *   epsilon        total, finite and > 0.     delta  in [0, 1); at 0 the answer is epsilon/count.
 *   count          >= 1.
 *   bounded_range  true for the exponential mechanism (event exponential), false for noise that is charged as Laplace's
 *                  (event report_noisy_max with 2 sensitivity/scale equal to the answer to within 2^-51).
 *   order          may be NULL; the Renyi order of the conversion, inf when pure composition is best.
 * Returns a number on the safe side: evaluated afresh it costs at most epsilon.  NaN for arguments outside their ranges, and for
 * less than 1e-200 per release.
 */
double pn_calibrate_exponential(double epsilon, double delta, size_t count, bool bounded_range, double *order);

/** The same under a zCDP budget rho > 0: sqrt(8 rho/count) for bounded range, sqrt(2 rho/count) otherwise. */
double pn_calibrate_exponential_rho(double rho, size_t count, bool bounded_range);

#endif
