/* task.h -- the context of a long call: who is told of progress, who may stop it, which threads help.
 * Every function that loops over more than a few thousand things takes a `pn_task *`; NULL means one thread, no
 * progress, not to be stopped.  Depends on: status.h, POSIX threads.  Used by: every room. */
#ifndef PN_CORE_TASK_H
#define PN_CORE_TASK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "penumbra/task.h"

/** Whether a status says that the work was stopped from outside: PN_ECANCELLED or PN_ELIMIT. */
bool pn_is_stop(pn_status status);

/** A second listener, a host's: it hears all that the first could hear, which it is called before.  NULL ends that. */
void pn_task_watch(pn_task *task, pn_progress_fn watcher, void *self);
bool pn_task_watched(const pn_task *task);

/**
 * Report progress and look for a cancel; rate-limited, so it may be called often.
 * Returns PN_OK, PN_ECANCELLED ("stopped by the user"), PN_ELIMIT (a host's limit of time),
 * or what the listener returned.
 */
pn_status pn_task_report(pn_task *task, const char *label, double done, double total, pn_err *err);
/** As pn_task_report for work that can say more than how much is done. */
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
