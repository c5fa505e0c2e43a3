/* stop.c -- the task that a thread has entered.  Depends on: stop.h.  Used by: stop.h's callers. */
#include "core/stop.h"

#define WORK_UNASKED ((size_t)1 << 20) /* multiplications, a millisecond */

static _Thread_local const pn_task *current;

const pn_task *pn_stop_enter(const pn_task *task)
{
    const pn_task *before = current;

    current = task;
    return before;
}

pn_status pn_stop_asked(pn_err *err)
{
    return pn_task_stopped(current, NULL, err);
}

pn_status pn_stop_worked(size_t *work, size_t more, pn_err *err)
{
    *work += more;
    if (*work < WORK_UNASKED)
        return PN_OK;
    *work = 0;
    return pn_stop_asked(err);
}
