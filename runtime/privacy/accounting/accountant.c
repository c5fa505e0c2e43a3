/* accountant.c -- the table of accountants.  Depends on: accountant.h.  Used by: bindings. */
#include <stdio.h>
#include <string.h>

#include "core/size.h"
#include "privacy/accounting/accountant_ops.h"

static const pn_accountant_ops *const table[] = { &pn_accountant_rdp_ops, &pn_accountant_zcdp_ops,
                                                  &pn_accountant_pld_ops, &pn_accountant_advanced_ops, NULL };

const pn_accountant_ops *const *pn_accountant_table(void)
{
    return table;
}

pn_status pn_accountant_new(pn_accountant **out, const char *name, pn_arg *args, pn_err *err)
{
    char owner[80];
    pn_status status;
    size_t i = 0;

    *out = NULL;
    while (table[i] && strcmp(table[i]->name, name) != 0)
        i++;
    if (!table[i])
        return pn_fail(err, PN_EUNSUPPORTED,
                       "accountant: there is no accountant '%.60s'; there are rdp, zcdp, "
                       "pld, advanced",
                       name);
    (void)snprintf(owner, sizeof owner, "accountant.%s", name);
    status = pn_args_check(owner, table[i]->params, args, err);
    return status == PN_OK ? table[i]->create(out, args, err) : status;
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
