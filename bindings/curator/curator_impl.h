/* curator_impl.h -- what the files of a curator share: who has registered what, and the two ways to run a script.
 * Depends on: host.h, data/dataset.h, privacy/ledger/ledger.h.  Private to bindings/curator/. */
#ifndef PNL_CURATOR_IMPL_H
#define PNL_CURATOR_IMPL_H

#include <pthread.h>
#include <sys/types.h>

#include "bindings/embed/host.h"
#include "data/dataset.h"
#include "privacy/ledger/ledger.h"

/* A data set under the curator's name for it: a view, so that neither its file's name nor the names of its features are
 * shown. */
typedef struct pnl_registered {
    pn_dataset view;
    char *name;
    int shared; /* a descriptor of the records for other processes; -1 until one is needed */
} pnl_registered;

struct pnl_curator {
    pnl_host_options limits; /* with the functions below, which call */
    pnl_host_progress progress;
    pnl_host_log log; /* these of the host's, either may be NULL, */
    void *self;       /* with this */
    pn_ledger *ledger;
    pnl_registered **data;
    size_t count;
    bool inside;          /* scripts run in this process */
    char *program;        /* that runs them in others; NULL: to be looked for */
    pthread_mutex_t lock; /* of the four below */
    bool running, cancelled;
    pnl_host *host; /* of the script that runs inside, or NULL */
    int process;    /* a descriptor of the process that runs it elsewhere, or -1 */
};

typedef struct pnl_script {
    const char *code, *name;
    size_t size;
} pnl_script;

/** Run it in this process (inside.c) or in one of its own (process.c); as pnl_curator_run. */
pn_status pnl_script_inside(pnl_curator *curator, const pnl_script *script, char **answer, pn_err *err);
pn_status pnl_script_elsewhere(pnl_curator *curator, const pnl_script *script, char **answer, pn_err *err);

/** Path of the program beside which this library stands, allocated; *out stays as it is when there is none.  False when
 *  memory ran out. */
bool pnl_find_program(char **out);

/** Text for a terminal, allocated: control characters but for tabs and ends of lines as \xHH, those beyond ASCII, too.
 *  NULL when memory is short. */
char *pnl_visible(const char *text, size_t size);

/* How a script has filled the ledger, which keeps its entries when the script has ended. */
typedef struct pnl_growth {
    size_t entries, times;
} pnl_growth;
#define PNL_MOST_CHARGES 10000
/** Look at the ledger after something may have been charged; false once the script has added too many entries. */
bool pnl_growth_allowed(pnl_growth *growth, const pn_ledger *ledger);
/** PN_EPRIVACY, with what is said then. */
pn_status pnl_growth_refused(pn_err *err);

#endif
