/* task.h -- the context of a long call: who is told of progress, who may stop it, which threads help.
 * Every function that loops over more than a few thousand things takes a `pn_task *`; NULL means one thread, no
 * progress, not to be stopped.  Depends on: status.h, POSIX threads.  Used by: every room. */
#ifndef PN_CORE_TASK_H
#define PN_CORE_TASK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct pn_task pn_task;

/* What a progress callback is told.  `done` and `total` count the same unit; total 0 means unknown.  What is not known is NaN, and
 * NULL for the unit. */
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
/** PN_OK, or why the work should end: PN_ECANCELLED, PN_ELIMIT.  NULL is allowed.  The message begins with `owner` unless that is NULL. */
pn_status pn_task_stopped(const pn_task *task, const char *owner, pn_err *err);
/** Whether a status says that the work was stopped from outside: PN_ECANCELLED or PN_ELIMIT. */
bool pn_is_stop(pn_status status);

/** For a host: from now on work may take `seconds` of wall clock (0 or infinity: no end), then it stops with PN_ELIMIT; an earlier
 *  pn_task_halt is forgotten. */
void pn_task_govern(pn_task *task, double seconds);
/** As pn_task_cancel, but it holds for all work until the next pn_task_govern, whatever pn_task_reset forgets. */
void pn_task_halt(pn_task *task);
/** A second listener, a host's: it hears all that the first could hear, which it is called before.  NULL ends that. */
void pn_task_watch(pn_task *task, pn_progress_fn watcher, void *self);
bool pn_task_watched(const pn_task *task);

/** Threads that pn_parallel uses, the caller included; 1 for NULL. */
unsigned pn_task_threads(const pn_task *task);

/**
 * Report progress and look for a cancel; rate-limited, so it may be called often.
 * Returns PN_OK, PN_ECANCELLED ("stopped by the user"), PN_ELIMIT (a host's limit of time), or what the listener returned.
 */
pn_status pn_task_report(pn_task *task, const char *label, double done, double total, pn_err *err);
/** The same for work that can say more than how much is done. */
pn_status pn_task_tell(pn_task *task, const pn_progress *progress, pn_err *err);
/** Whether a report made now would be heard: ask before working out what it costs time to tell.  False for NULL. */
bool pn_task_heard(const pn_task *task);

/* One block of parallel work; `worker` is in [0, pn_task_threads(task)), for per-thread scratch.  Must not fail. */
typedef void (*pn_block_fn)(void *self, size_t block, unsigned worker);

/**
 * Run body(self, 0..blocks-1), each once, on the task's threads, and wait.  Blocks are claimed in order but end in any
 * order: to be deterministic write per-block results and combine them in block order afterwards.  Not re-entrant: a
 * nested call runs on the calling thread alone.
 * Errors: PN_ECANCELLED, PN_ELIMIT when stopped between blocks (results are then incomplete).
 */
pn_status pn_parallel(pn_task *task, size_t blocks, pn_block_fn body, void *self, pn_err *err);

#endif
