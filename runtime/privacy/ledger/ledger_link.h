/* ledger_link.h -- a budget that is in another process: the ledger here asks, the one there charges.
 *
 * A process that runs a script of somebody's who is not trusted must not be the one that keeps the books.  It has a
 * linked ledger, of which every function of ledger.h that looks at charges, or makes one, puts a question to whoever
 * holds the budget; the answer to "charge" comes when the charge is made, and before that no noise is drawn.  Nothing
 * of the other side's is trusted: events arrive as text, are read as a ledger's file is,
 * and are charged under the lock of the real ledger.
 * Depends on: ledger.h, ledger_impl.h.  Used by: bindings/curator/. */
#ifndef PN_PRIVACY_LEDGER_LINK_H
#define PN_PRIVACY_LEDGER_LINK_H

#include "privacy/ledger/ledger.h"

typedef enum pn_ledger_wish {
    PN_WISH_COVERS = 0, /* event, count -> status */
    PN_WISH_RESERVE,    /* event, count -> status */
    PN_WISH_SPEND,      /* event, count, label -> status */
    PN_WISH_PRICE,      /* event, count -> number */
    PN_WISH_SPENT,      /* -> number */
    PN_WISH_REMAINING,  /* -> number */
    PN_WISH_SLACK,      /* -> slack */
    PN_WISH_GAUSSIAN,   /* -> count: 0 or 1 */
    PN_WISH_ENTRIES,    /* -> count */
    PN_WISH_ENDED,      /* -> text, empty for one that has not ended */
    PN_WISH_THEOREM,    /* -> text */
    PN_WISHES
} pn_ledger_wish;

#define PN_LINK_EVENT 65536 /* bytes of an event's text, the zero byte included */
#define PN_LINK_LABEL 128

typedef struct pn_ledger_question {
    pn_ledger_wish wish;
    size_t count;
    const char *event; /* as event_text.h writes it, for neighbours as the budget's; NULL without */
    const char *label; /* NULL without */
} pn_ledger_question;

typedef struct pn_ledger_answer {
    pn_status status;
    double number;
    pn_slack slack;
    size_t count;
    char text[PN_ERR_MAX]; /* of PN_WISH_ENDED and PN_WISH_THEOREM; the message where the status is not PN_OK */
} pn_ledger_answer;

/* Puts the question to the other process.  A status other than PN_OK: there was no answer. */
typedef pn_status (*pn_ledger_ask)(void *self, const pn_ledger_question *question, pn_ledger_answer *answer,
                                   pn_err *err);

/** A ledger whose charges are made by whoever answers `ask`; `self` is kept.  budget: as the real one has it; its
 *  orders are left out.  Slices, splits, retiring and entries are not to be had of it.  Errors: as pn_ledger_new. */
pn_status pn_ledger_linked(pn_ledger **out, const pn_budget *budget, pn_ledger_ask ask, void *self, pn_err *err);

/** Answer a question that came from outside, of the real ledger. */
void pn_ledger_answer_to(pn_ledger *ledger, const pn_ledger_question *question, pn_ledger_answer *answer);

#endif
