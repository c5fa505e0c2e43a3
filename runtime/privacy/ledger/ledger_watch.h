/* ledger_watch.h -- seeing the charges that a thread makes: a ledger does not know whose records it pays for, and who
 * began the run does.
 * Depends on: ledger.h.  Used by: session.h, bindings. */
#ifndef PN_PRIVACY_LEDGER_WATCH_H
#define PN_PRIVACY_LEDGER_WATCH_H

#include "privacy/ledger/ledger.h"

/* `seen` is called once for each charge, when it is sure to be admitted and before it counts; under the ledger's lock,
 * so it asks no ledger about prices.  What it returns other than PN_OK refuses the charge: nothing is charged then. */
typedef struct pn_ledger_watch {
    pn_status (*seen)(void *self, const pn_ledger *ledger, pn_event *event, size_t count, pn_err *err);
    void *self;
} pn_ledger_watch;

/** From now on `watch` (kept; NULL: nobody) sees the charges of this thread.  Returns who saw them before, to be put
 *  back. */
const pn_ledger_watch *pn_ledger_watched(const pn_ledger_watch *watch);

/** For ledgers: tell whoever watches this thread.  ledger: the one that is charged; NULL: none is. */
pn_status pn_ledger_tell(const pn_ledger *ledger, pn_event *event, size_t count, pn_err *err);

#endif
