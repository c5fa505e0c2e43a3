/* tally.h -- what was spent, without a limit: events and how often each, equal ones together, so that a million equal
 * releases take the room of one.  Depends on: event.h, accountant.h.  Used by: session.h. */
#ifndef PN_PRIVACY_TALLY_H
#define PN_PRIVACY_TALLY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/event/event.h"

typedef struct pn_tally_entry {
    pn_event *event;    /* kept */
    size_t count, next; /* next: of those that share a place in the table, from 1; 0: the last */
} pn_tally_entry;

/* All zeros: empty.  Its events have one relation, which the caller sees to. */
typedef struct pn_tally {
    pn_tally_entry *entry; /* in the order in which they came */
    size_t count, room;
    size_t *place; /* [places] the first entry of each, from 1; 0: none */
    size_t places; /* a power of two */
    /* what all of it costs at `at`; priced is false while that has to be worked out again */
    bool priced;
    double at, epsilon;
} pn_tally;

void pn_tally_clear(pn_tally *tally);
/** Add `event`, `count` times; a count that would be beyond 2^48 stays there.  Errors: PN_ENOMEM, nothing is added. */
pn_status pn_tally_add(pn_tally *tally, pn_event *event, size_t count, pn_err *err);
/** All of it as one event (a new reference); NULL for an empty one.  Errors: PN_ENOMEM. */
pn_status pn_tally_event(const pn_tally *tally, pn_event **out, pn_err *err);

/**
 * The price as if the list had been fixed beforehand: the least epsilon that pn_event_epsilon certifies at *delta.
 *   delta  in: wanted, in (0, 1).  Out: that, or more where events that are (epsilon, delta)-DP by themselves were
 *          added: their own deltas add up, beside the one that the rest is stated at.
 * Errors: PN_ENOMEM.
 */
pn_status pn_tally_epsilon(pn_tally *tally, double *delta, double *epsilon, pn_err *err);
/** rho of zCDP; +inf when an event has none. */
double pn_tally_rho(const pn_tally *tally);

#endif
