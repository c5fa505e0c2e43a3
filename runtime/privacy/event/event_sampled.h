/* event_sampled.h -- mechanisms on a random part of the records, open to the code that knows their loss pairs.
 * Private to
 * privacy/.  Depends on: event.h.  Used by: event_sampled.c, pair code, ledgers.  See accounting.md section 4. */
#ifndef PN_PRIVACY_EVENT_SAMPLED_H
#define PN_PRIVACY_EVENT_SAMPLED_H

#include "privacy/event/event.h"

typedef struct pn_sampled {
    pn_event base;
    pn_event *inner; /* kept; a Gaussian, or an event with a pure epsilon.  Its relation is base.neighbours */
    double q;        /* in [0, 1]; batch/n for a fixed size */
    size_t batch, n; /* both 0 for Poisson sampling */
    bool gaussian;   /* what inner is */
    double level;    /* Gaussian: z = sigma / sensitivity.  Otherwise the amplified epsilon, ln(1 + q(e^epsilon - 1)) */
} pn_sampled;

/** `event` as a sampled one; NULL when it is something else. */
const pn_sampled *pn_event_sampled(const pn_event *event);

#endif
