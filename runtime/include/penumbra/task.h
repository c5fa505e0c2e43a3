/* task.h -- the context of a long call: who is told of progress, who may stop it, how many threads help.
 * What takes long takes a `pn_task *`; NULL means one thread, no progress, not to be stopped.  Results do not depend
 * on the number of threads.  Depends on: status.h. */
#ifndef PENUMBRA_TASK_H
#define PENUMBRA_TASK_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_task pn_task;

/* What a progress callback is told.  `done` and `total` count the same unit; total 0 means unknown.  What is not
 * known is NaN, and NULL for the unit. */
typedef struct pn_progress {
    const char *label; /* "frank_wolfe", "reading a9a.gz"; borrowed for the call */
    double done, total;
    double value; /* of what is being minimised or estimated, as far as the work has it anyway; not private */
    double spent,
        budget;       /* what this run has charged by now, of how much: no guarantee of a run that is stopped here */
    const char *unit; /* static: of both, "epsilon" or "rho" */
} pn_progress;

/* Called on the thread that started the work, at most every few milliseconds.  A status other than PN_OK stops the work
 * with that status (PN_ECALLBACK when a user's function failed). */
typedef pn_status (*pn_progress_fn)(void *self, const pn_progress *progress, pn_err *err);

/**
 * threads  helpers plus the caller; 0 asks for one per online processor, 1 starts no thread.
 * Errors:  PN_ENOMEM.  Fewer threads than asked for is not an error.
 */
pn_status pn_task_new(pn_task **out, unsigned threads, pn_err *err);
void pn_task_free(pn_task *task);

/** Set (or clear with NULL) the listener; `self` is kept. */
void pn_task_listen(pn_task *task, pn_progress_fn listener, void *self);

/** Ask the work to stop at its next check.  Safe in a signal handler and from any thread. */
void pn_task_cancel(pn_task *task);

/** Forget an earlier cancel; whoever starts a new piece of work calls it. */
void pn_task_reset(pn_task *task);

/** Whether the work should end, for whatever reason. */
bool pn_task_cancelled(const pn_task *task);

/** PN_OK, or why the work should end: PN_ECANCELLED, PN_ELIMIT.  NULL is allowed.  The message begins with `owner`
 *  unless that is NULL. */
pn_status pn_task_stopped(const pn_task *task, const char *owner, pn_err *err);

/** For a host: from now on work may take `seconds` of wall clock (0 or infinity: no end), then it stops with
 *  PN_ELIMIT; an earlier pn_task_halt is forgotten. */
void pn_task_govern(pn_task *task, double seconds);

/** As pn_task_cancel, but it holds for all work until the next pn_task_govern, whatever pn_task_reset forgets. */
void pn_task_halt(pn_task *task);

/** How many threads it has, the caller included; 1 for NULL. */
unsigned pn_task_threads(const pn_task *task);

#ifdef __cplusplus
}
#endif

#endif
