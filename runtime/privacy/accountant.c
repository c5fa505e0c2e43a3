/* accountant.c -- the table of accountants, and what an event costs by itself.
 * Depends on: accountant.h, conversion.h.  Used by: ledger, plans, calibration, bindings. */
#include <stdio.h>
#include <string.h>

#include "privacy/accountant_ops.h"
#include "privacy/conversion.h"
#include "privacy/event_leaf.h"

static const pn_accountant_ops *const table[] = { &pn_accountant_rdp_ops, &pn_accountant_zcdp_ops, NULL };

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
        return pn_fail(err, PN_EUNSUPPORTED, "accountant: there is no accountant '%.60s'; there are rdp, zcdp", name);
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
    if (accountant->events > 0 && accountant->neighbours != event->neighbours)
        return pn_fail(err, PN_EPRIVACY,
                       "accountant.%s: the event is for \"%s\" neighbours, those before for \"%s\"; what they protect "
                       "differs, so they do not add up",
                       name, pn_neighbours_names[event->neighbours], pn_neighbours_names[accountant->neighbours]);
    status = accountant->ops->add(accountant, event, count, err);
    if (status == PN_OK) {
        accountant->neighbours = event->neighbours;
        accountant->events++;
    }
    return status;
}

/* ---- an event by itself ---- */

typedef struct repeated {
    const pn_event *event;
    size_t count;
} repeated;

static double repeated_rdp(const void *self, double alpha)
{
    const repeated *r = self;
    pn_sum sum = { 0.0, 0.0 };

    pn_event_add_rdp(r->event, r->count, alpha, &sum);
    return sum.high;
}

double pn_event_epsilon(const pn_event *event, size_t count, double delta, double *order)
{
    repeated r = { event, count };
    pn_curve curve = { repeated_rdp, &r };
    pn_sum rho = { 0.0, 0.0 };

    pn_event_add_zcdp(event, count, &rho);
    return pn_curve_epsilon(&curve, delta, delta > 0.0 ? pn_zcdp_guess(rho.high, delta) : 0.0, order);
}
