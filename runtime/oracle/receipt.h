/* receipt.h -- what a run has been charged, event by event, and what its instruments draw on.
 * Depends on: privacy/event, privacy/ledger, random.  Used by: oracle.c, model_release.c, line_search.c, least_eigen.c.
 */
#ifndef PN_ORACLE_RECEIPT_H
#define PN_ORACLE_RECEIPT_H

#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"

#define PN_RECEIPT_ROWS 32

typedef struct pn_receipt {
    pn_event *event[PN_RECEIPT_ROWS]; /* kept; in the order of their first charges */
    size_t times[PN_RECEIPT_ROWS];
    size_t rows;
} pn_receipt;

/** Whether another event has a place: to be asked before it is charged.  NULL: yes.
 *  Errors: PN_EUNSUPPORTED for more than PN_RECEIPT_ROWS of them. */
pn_status pn_receipt_room(const pn_receipt *self, const pn_event *event, pn_err *err);
/** `event` has been charged `times` times.  NULL: nothing. */
void pn_receipt_add(pn_receipt *self, pn_event *event, size_t times);
/** All of it: *count times *event (a new reference); NULL for nothing.  Errors: PN_ENOMEM. */
pn_status pn_receipt_total(const pn_receipt *self, pn_event **event, size_t *count, pn_err *err);
void pn_receipt_clear(pn_receipt *self);

/* Where an instrument is charged, and what it draws from. */
typedef struct pn_step_context {
    pn_ledger *ledger; /* NULL when non-private */
    pn_rng *rng;       /* NULL when non-private */
    pn_task *task;
    pn_receipt *receipt; /* NULL: nobody keeps one */
    size_t releases;     /* counted by instruments */
} pn_step_context;

#endif
