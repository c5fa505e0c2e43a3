/* ledger_watch.c -- see ledger_watch.h.  Depends on: ledger_watch.h.  Used by: ledger_charge.c, bindings. */
#include "privacy/ledger/ledger_watch.h"

static _Thread_local const pn_ledger_watch *current;

const pn_ledger_watch *pn_ledger_watched(const pn_ledger_watch *watch)
{
    const pn_ledger_watch *before = current;

    current = watch;
    return before;
}

pn_status pn_ledger_tell(const pn_ledger *ledger, pn_event *event, size_t count, pn_err *err)
{
    return current ? current->seen(current->self, ledger, event, count, err) : PN_OK;
}
