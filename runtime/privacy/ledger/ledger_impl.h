/* ledger_impl.h -- what the files of the ledger share.  Private to ledger*.c.
 * Depends on: ledger.h, ledger_filter.h, ledger_file.h.
 *
 * A ledger, its slices and its parts are one family: they are freed together, when nobody holds any of them, and the
 * one at the root has the file.
 *
 * Threads: the root's lock, which nests, guards the family: every function of ledger.h that looks at what charges
 * change takes it.  Several threads may charge one budget, and what is admitted is charged before another request is
 * looked at. */
#ifndef PN_PRIVACY_LEDGER_IMPL_H
#define PN_PRIVACY_LEDGER_IMPL_H

#include <pthread.h>

#include "privacy/ledger/ledger.h"
#include "privacy/ledger/ledger_file.h"
#include "privacy/ledger/ledger_filter.h"
#include "privacy/ledger/ledger_link.h"

#define PN_LEDGER_DEPTH 16 /* slices of slices */

typedef struct pn_entry {
    char *label;
    pn_event *event;
    size_t count;
} pn_entry;

/* A charge on its way through one ledger: under which filter it is admitted, and the memory for its entry. */
typedef struct pn_passage {
    pn_measure measures[PN_FILTER_DEFAULT_ORDERS];
    pn_filter scratch;
    const pn_filter *found;
    char *label;  /* NULL when it joins an entry: */
    size_t joins; /* its place */
} pn_passage;

/* Where the budget is, when it is in another process, and what it last said. */
typedef struct pn_link {
    pn_ledger_ask ask;
    void *self;
    char ended[PN_ERR_MAX], theorem[PN_ERR_MAX];
} pn_link;

struct pn_ledger {
    pn_ledger *root, *parent; /* root is itself at the top, where parent is NULL */
    size_t references;        /* of the root: to anybody in the family; atomic */
    pthread_mutex_t lock;     /* of the root */
    long process;             /* who may charge */
    pn_store *store;          /* of the root; NULL without a file */
    pn_link *link;            /* NULL for a budget of this process; else nothing below is charged here */
    char *name;               /* NULL at the top */
    size_t number;            /* among the parent's children, from 1 */
    bool part;                /* made by a split: its charges do not ask the parent's filter */
    pn_ledger **children;
    size_t child_count, child_room;
    size_t parts; /* that it was split into; 0: it was not */
    bool closed;  /* in this process */
    bool retired; /* for good */

    pn_budget budget;
    double *orders;   /* owned copy behind budget.orders; NULL without */
    pn_filter filter; /* its measures are owned, and enough for any choice */
    pn_filter_cache cache;
    bool fixed; /* the filter was set when the ledger was opened */
    pn_entry *entries;
    size_t count, room;
    pn_passage *passage;
};

static inline bool pn_ledger_is_rho(const pn_ledger *ledger)
{
    return ledger->budget.rho == ledger->budget.rho; /* not NaN */
}

/** Nothing in a child process: its copy of the lock may be held by a thread that is not there,
 *  and it does not charge. */
void pn_ledger_lock(const pn_ledger *ledger);
void pn_ledger_unlock(const pn_ledger *ledger);
bool pn_ledger_make_lock(pthread_mutex_t *lock);

/** The Renyi curve of all charges; self is a pn_ledger. */
double pn_ledger_rdp(const void *self, double alpha);

/** A ledger that belongs nowhere yet; `name` is copied. */
pn_status pn_ledger_make(pn_ledger **out, const pn_budget *budget, const char *name, pn_err *err);
/** Free one ledger, not its family. */
void pn_ledger_unmake(pn_ledger *ledger);
/** Room for `more` children. */
pn_status pn_ledger_make_room(pn_ledger *parent, size_t more, pn_err *err);
/** Put `child` below `parent`, which has room. */
void pn_ledger_adopt(pn_ledger *parent, pn_ledger *child, bool part);
/** The k parts of a split as children of `ledger`, which has none yet of this kind. */
pn_status pn_ledger_make_parts(pn_ledger *ledger, size_t k, pn_err *err);

/** Errors: PN_EINVAL naming both, where they are not the same. */
pn_status pn_budget_compare(const char *what, const pn_budget *there, const pn_budget *asked, pn_err *err);

/* Of a linked ledger: its questions. */
pn_status pn_link_charge(const pn_ledger *ledger, pn_ledger_wish wish, const pn_event *event, size_t count,
                         const char *label, pn_err *err);
/** NaN when there is no answer. */
double pn_link_price(const pn_ledger *ledger, const pn_event *event, size_t count);
/** False when there is no answer. */
bool pn_link_look(const pn_ledger *ledger, pn_ledger_wish wish, pn_ledger_answer *answer);
/** NULL for an empty one. */
const char *pn_link_text(const pn_ledger *ledger, pn_ledger_wish wish);

/* Records.  All are nothing without a file. */
pn_status pn_record_open(pn_ledger *root, pn_err *err);
pn_status pn_record_spend(pn_ledger *ledger, const pn_event *event, size_t count, const char *label, pn_err *err);
pn_status pn_record_slice(pn_ledger *parent, const pn_ledger *child, pn_err *err);
pn_status pn_record_split(pn_ledger *ledger, size_t k, pn_err *err);
pn_status pn_record_retire(pn_ledger *ledger, pn_err *err);

/** Charge without asking: `lists` has the orders chosen at this charge for the ledger and those above it, as written by
 *  pn_record_spend.  For reading a file. */
pn_status pn_ledger_replay_spend(pn_ledger *ledger, pn_event *event, size_t count, const char *label, const char *lists,
                                 pn_err *err);

#endif
