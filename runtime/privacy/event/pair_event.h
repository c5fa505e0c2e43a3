/* pair_event.h -- the loss pairs of the events, for their tables.  Private to privacy/.
 * Depends on: event.h.  Used by: event_*.c, accountant_pld.c. */
#ifndef PN_PRIVACY_PAIR_EVENT_H
#define PN_PRIVACY_PAIR_EVENT_H

#include "privacy/event/event.h"

/* Each is a pn_event_ops.pairs.  A sampled event with rate 0 has no loss at all: 0 pairs.  Of two, the second is the
 * first with P and Q exchanged; accountants use the first alone. */
size_t pn_pairs_gaussian(const pn_event *event, bool attained, pn_pair pairs[2]);
size_t pn_pairs_laplace(const pn_event *event, bool attained, pn_pair pairs[2]);
size_t pn_pairs_pure(const pn_event *event, bool attained, pn_pair pairs[2]);
size_t pn_pairs_exponential(const pn_event *event, bool attained, pn_pair pairs[2]);
size_t pn_pairs_sampled(const pn_event *event, bool attained, pn_pair pairs[2]);

/** mu of a Gaussian pair, 0 for another one. */
double pn_pair_gaussian_mu(const pn_pair *pair);

#endif
