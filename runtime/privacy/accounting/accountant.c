/* accountant.c -- the table of accountants.  Depends on: accountant.h.  Used by: bindings. */
#include "core/size.h"
#include "core/table.h"
#include "privacy/accounting/accountant_ops.h"

#define ROW(name) &pn_accountant_##name##_ops,
static const pn_accountant_ops *const rows[] = { PN_ACCOUNTANTS(ROW) NULL };
PN_TABLE(accountants, pn_accountant_ops, "accountant", "accountant", rows);

const pn_accountant_ops *const *pn_accountant_table(void)
{
    return rows;
}

pn_status pn_accountant_open(pn_accountant **out, const char *caller, const char *name, pn_arg *args, pn_err *err)
{
    pn_status status;
    const pn_accountant_ops *row = pn_table_open(&accountants, caller, name, args, &status, err);

    *out = NULL;
    return row ? row->create(out, args, err) : status;
}

pn_status pn_accountant_new(pn_accountant **out, const char *name, pn_arg *args, pn_err *err)
{
    return pn_accountant_open(out, __func__, name, args, err);
}

void pn_accountant_free(pn_accountant *accountant)
{
    if (accountant)
        accountant->ops->destroy(accountant);
}

pn_status pn_accountant_add(pn_accountant *accountant, pn_event *event, size_t count, pn_err *err)
{
    const char *name = accountant->ops->name;
    pn_status status;

    if (count == 0)
        return pn_fail(err, PN_EINVAL, "accountant.%s: count must be a whole number from 1, got 0", name);
    if (count > PN_SIZE_MAX)
        return pn_fail(err, PN_EINVAL, "accountant.%s: count must be at most 2^48, got %zu", name, count);
    if (accountant->events > 0 && accountant->neighbours != event->neighbours)
        return pn_fail(err, PN_EPRIVACY,
                       "accountant.%s: the event is for \"%s\" neighbours, those before for \"%s\"; what they protect "
                       "differs, so they do not add up",
                       name, pn_neighbours_names[event->neighbours], pn_neighbours_names[accountant->neighbours]);
    status = accountant->ops->add(accountant, event, count, err);
    if (status == PN_OK) {
        accountant->neighbours = event->neighbours;
        accountant->events++;
        accountant->releases += (double)count * pn_event_releases(event);
    }
    return status;
}
