/* session.h -- what was spent on each data set since a session began, whatever ledgers paid for it, and the limit that
 * somebody may have set.  Data sets are told by their origins (core/origin.h), so that clipping, picking or loading
 * again does not begin anew.
 *
 * What counts.  Who begins a run or asks for an answer makes a pn_spending and wraps the call in PN_SPENDING: the
 * ledgers that are charged inside tell it, before the noise is drawn (ledger_watch.h).  A run without a ledger of the
 * caller's counts as its whole plan from its first charge on, as its fit states, wherever it ends.  One with a ledger
 * counts as what the ledger is charged.  Simulated noise and exact results are counted by number, and cost nothing
 * that could be added up.
 * One thread.  Depends on: core/origin.h, tally.h, ledger.h, ledger_watch.h.  Used by: bindings/privacy/lsession.c. */
#ifndef PN_PRIVACY_SESSION_H
#define PN_PRIVACY_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/origin.h"
#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_watch.h"
#include "privacy/ledger/tally.h"

/* What one data set has cost; fields are for reading, sums by relation. */
typedef struct pn_bill {
    pn_origin *origin; /* kept */
    pn_tally tally[PN_RELATIONS];
    size_t releases[PN_RELATIONS]; /* runs and answers that paid */
    size_t simulated, exact;       /* runs and answers with seeded noise; results without any */
    pn_ledger *budget;             /* kept; NULL: no limit */
    size_t next;                   /* among those of one place, from 1 */
} pn_bill;

typedef struct pn_session pn_session;

/** Errors: PN_ENOMEM. */
pn_status pn_session_new(pn_session **out, pn_err *err);
void pn_session_free(pn_session *session); /* NULL allowed */

size_t pn_session_count(const pn_session *session);
/** Account number `index` from 0, in the order of the first release; lives as long as the session. */
pn_bill *pn_session_at(const pn_session *session, size_t index);
/** That of the origin; NULL where there is none yet. */
pn_bill *pn_session_find(const pn_session *session, const pn_origin *origin);
/** The same, and a new one where there is none.  Errors: PN_ENOMEM. */
pn_status pn_session_account(pn_session *session, pn_origin *origin, pn_bill **out, pn_err *err);

/** delta at which the price of a data set is stated: 1/n^2, for one record 1/4. */
double pn_bill_delta(const pn_bill *account);
/** The price of what was spent under one relation: see pn_tally_epsilon. */
pn_status pn_bill_price(pn_bill *account, pn_neighbours relation, double *delta, double *epsilon, pn_err *err);

/**
 * `ledger` (kept) is the limit from now on.  It is charged at once with what was spent before.
 * Errors: PN_EBUDGET when that is more than it covers, PN_EPRIVACY when something was spent under another relation:
 * both charge nothing.  PN_EINVAL when there is a limit already; PN_EIO, PN_ENOMEM.
 */
pn_status pn_bill_limit(pn_bill *account, pn_ledger *ledger, pn_err *err);

/** *out (borrowed): the ledger to be charged for a release on those records, when `given` (NULL: none) was asked for:
 *  that, or the limit.  Errors: PN_EPRIVACY for one that is neither the limit nor within it; starts with `owner`. */
pn_status pn_bill_ledger(const pn_bill *account, pn_ledger *given, const char *owner, pn_ledger **out, pn_err *err);

/* A run or an answer on its way. */
typedef struct pn_spending {
    pn_ledger_watch watch;
    const pn_ledger_watch *before;
    pn_bill *account; /* NULL: nobody's records, and nothing is counted */
    pn_event *whole;  /* kept by the caller; NULL: what is charged counts */
    size_t times;     /* of `whole` */
    bool simulated, begun;
} pn_spending;

/** Lives at *out until its last PN_SPENDING: it may not be moved. */
void pn_spending_init(pn_spending *out, pn_bill *account, bool simulated);
void pn_spending_enter(pn_spending *spending);
/** Gives `status` back. */
pn_status pn_spending_leave(pn_spending *spending, pn_status status);
/* The status of `call`, whose charges count for the data set; they may nest. */
#define PN_SPENDING(spending, call) (pn_spending_enter(spending), pn_spending_leave((spending), (call)))

#endif
