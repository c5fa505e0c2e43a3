/* calibrate.h -- the largest privacy parameter per release, the least noise and the most steps that a total allows.
 * Depends on: accountant.h.  Used by: plans, bindings.  See accounting.md section 6, frank-wolfe.md section 3. */
#ifndef PN_PRIVACY_CALIBRATE_H
#define PN_PRIVACY_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "privacy/event/event.h"
#include "penumbra/accountant.h"

/**
 * The epsilon of one selection such that `count` of them, each chosen after seeing the ones before, cost at most
 * `epsilon` at `delta` by pn_event_epsilon: the best of the Renyi curves, zCDP and the pure total.
 *   epsilon        total, finite and > 0.     delta  in [0, 1); at 0 the answer is epsilon/count.
 *   count          >= 1.
 *   bounded_range  true for the exponential mechanism (event exponential), false for noise that is charged as Laplace's
 *                  (event report_noisy_max with 2 sensitivity/scale equal to the answer to within 2^-51).
 *   order          may be NULL; the Renyi order of the conversion, inf when pure composition is best.
 * Returns a number on the safe side: evaluated afresh it costs at most epsilon.  NaN for arguments outside their
 * ranges, and for less than 1e-200 per release.
 */
double pn_calibrate_exponential(double epsilon, double delta, size_t count, bool bounded_range, double *order);

/** pn_calibrate_exponential under a zCDP budget rho > 0: sqrt(8 rho/count) for bounded range,
 *  sqrt(2 rho/count) otherwise. */
double pn_calibrate_exponential_rho(double rho, size_t count, bool bounded_range);

/* Equal releases of values with Gaussian noise on the lattice (random/noise.h),
 * each chosen after seeing the ones before. */
typedef struct pn_gaussian_releases {
    double epsilon, delta; /* what they may cost together, by the exact curve; delta in (0, 1) */
    double rho;            /* instead: their zCDP budget; NaN when epsilon and delta are given */
    double sensitivity;    /* l2, of one exact query */
    double bound;          /* public bound on every |value|, INFINITY for none */
    size_t dim, count;     /* values of one release; releases */
} pn_gaussian_releases;

/**
 * The smallest sigma with which pn_event_epsilon(event, count, delta) <= epsilon, or count * zcdp(event) <= rho, holds
 * for the event of such a release: rounding and sampling are paid for.  A ledger of just that budget admits them.
 * NaN when no sigma does.
 * Source: Balle, Wang (2018); composition of Gaussian releases: Dong, Roth, Su (2022).
 */
double pn_calibrate_gaussian_releases(const pn_gaussian_releases *want);

/** The largest number of times that `event` can be taken, by pn_calibrate.  Errors: also PN_EUNSUPPORTED for an event
 *  that costs nothing. */
pn_status pn_calibrate_steps(size_t *out, double *reached, const pn_goal *goal, pn_event *event, pn_err *err);

/* pn_lattice_l2 or pn_lattice_l1 */
typedef double (*pn_charged_sensitivity)(double sensitivity, double scale, size_t n, double bound, int roundings);

/** The smallest scale (to a few ulps, on the safe side) at which the charged sensitivity is at most `ratio` scales, so
 *  that rounding is paid for by a little more noise and not by a higher cost.  NaN when no scale in [2^-900, 2^900]
 *  does: what the rounding of n values adds is in proportion to the scale. */
double pn_scale_for(pn_charged_sensitivity charged, double sensitivity, size_t n, double bound, double ratio);

#endif
