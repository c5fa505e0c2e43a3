/* base_curve.h -- the privacy profile and the Renyi curve of the mechanism that a selection runs, whatever it is.
 * Private to privacy/.  Depends on: event.h.  Used by: event_selection.c, event_either.c. */
#ifndef PN_PRIVACY_BASE_CURVE_H
#define PN_PRIVACY_BASE_CURVE_H

#include "privacy/event/event.h"

#define PN_BASE_ORDERS 305

/* Orders alpha - 1 = 2^e (1 + j/16) from 2^-4 to 2^15, and the base's divergence at each. */
typedef struct pn_base_curve {
    const pn_event *event; /* borrowed */
    double mu;             /* of one Gaussian that it is, composed or not; NaN for others */
    double orders[PN_BASE_ORDERS], divergences[PN_BASE_ORDERS];
} pn_base_curve;

void pn_base_curve_read(pn_base_curve *out, const pn_event *event);

/** A bound on its Renyi divergence of order alpha in (1, inf]. */
double pn_base_rdp(const pn_event *event, double alpha);

/** An upper bound on its delta at epsilon >= 0, in both directions: exactly that of Gaussian noise, that of the pairs
 *  of a single event, or the least over the orders of the optimal conversion. */
double pn_base_delta(const pn_base_curve *curve, double epsilon);

#endif
