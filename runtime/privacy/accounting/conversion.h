/* conversion.h -- minimising a conversion over Renyi orders.  Private to privacy/.
 * Depends on: event.h (pn_slack), accountant.h (PN_TAIL_SHARE).  Used by: accountant*.c, ledger*.c.
 * See accounting.md section 3. */
#ifndef PN_PRIVACY_CONVERSION_H
#define PN_PRIVACY_CONVERSION_H

#include <stdbool.h>

#include "privacy/event/event.h"

/* A Renyi curve: order in (1, inf] -> bound, +inf where there is none. */
typedef struct pn_curve {
    double (*rdp)(const void *self, double alpha);
    const void *self;
} pn_curve;

/** min over alpha in (1, inf] of pn_rdp_epsilon(alpha, rdp(alpha), delta), delta in [0,1).
 *  At delta = 0 only alpha = inf
 *  counts.  *order (may be NULL) is the minimising order: pn_rdp_epsilon at it gives the returned number to the last
 *  bit; 0 when the result is +inf.  `guess` > 1 is one more order to look around, 0 for none. */
double pn_curve_epsilon(const pn_curve *curve, double delta, double guess, double *order);

/* The parts of delta that may be set aside for tails, the first that suffices being taken: PN_TAIL_SHARE for noise as
 * it is drawn, more at epsilon above 60, most where an event has a delta of its own.  Above one half only windows are
 * counted (pn_slack), which are all chances under one law, so that their sums need no doubling; at 1 nothing is left
 * for Renyi orders but inf, the sum of pure epsilons: then (epsilon, delta) add up, by basic composition. */
#define PN_TAIL_SHARES 6
extern const double pn_tail_shares[PN_TAIL_SHARES];

/** Whether what `slack` adds to delta at `epsilon` fits the share, a 128th of which is for the exponents: is
 *  exp(slack.epsilon/2) (delta (1 - share) + tail) <= delta, with the tail taken twice where some paths may be bounded
 *  by their windows and others by exp(epsilon)?  `room` <= 1 is the part of the share that may be used up. */
bool pn_tails_fit(pn_slack slack, double epsilon, double delta, double share, double room);

/** The smallest delta certified at epsilon >= 0; in [0, 1]. */
double pn_curve_delta(const pn_curve *curve, double epsilon, double guess);

/** epsilon at delta in [0,1) of a release with this curve (zCDP rho, or +inf) whose noise is drawn with `slack`: what
 *  pn_slack_epsilon makes of pn_curve_epsilon at pn_ideal_delta(delta).  Where the tails need more than that leaves
 *  them, as at epsilon above 60, a larger part of delta is set aside before the answer is +inf. */
double pn_curve_release_epsilon(const pn_curve *curve, double rho, double delta, pn_slack slack, double *order);

/** The order that the textbook conversion of rho-zCDP at delta in (0,1) would take; 0 when rho is infinite or 0. */
double pn_zcdp_guess(double rho, double delta);

#endif
