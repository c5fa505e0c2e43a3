/* stop.h -- stopping work that is handed no task, as that of sets and of single passes over records: in its long loops
 * it asks whether the task that its thread has entered is to end.  Depends on: task.h.  Used by: data/, geometry/;
 * bindings that call them for somebody who may press Ctrl-C. */
#ifndef PN_CORE_STOP_H
#define PN_CORE_STOP_H

#include "core/task.h"

/** From now on such work of this thread stops with `task`, or with nothing for NULL.  Returns the one before, which the
 *  caller enters again before `task` is freed. */
const pn_task *pn_stop_enter(const pn_task *task);

/** PN_OK, or why the task that this thread has entered is to end: PN_ECANCELLED, PN_ELIMIT. */
pn_status pn_stop_asked(pn_err *err);

/** Of loops that count their multiplications in *work, 0 at first: pn_stop_asked once in every million. */
pn_status pn_stop_worked(size_t *work, size_t more, pn_err *err);

#endif
