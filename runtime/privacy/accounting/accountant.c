/* accountant.c -- the table of accountants.  Depends on: accountant.h.  Used by: bindings. */
#include "core/options.h"
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

pn_status pn_accountant_from_args(pn_accountant **out, const char *name, pn_arg *args, pn_err *err)
{
    return pn_accountant_open(out, __func__, name, args, err);
}

pn_status pn_accountant_new(pn_accountant **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_status status = pn_options_read(options, &accountants, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_accountant_from_args(out, name, args, err) : status;
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

pn_status pn_accountant_epsilon(const pn_accountant *accountant, double delta, double *epsilon, pn_err *err)
{
    if (!(delta >= 0.0 && delta < 1.0))
        return pn_fail(err, PN_EINVAL, "accountant.%s: delta must be a number from 0 up to but not including 1, got %g",
                       accountant->ops->name, delta);
    return accountant->ops->epsilon(accountant, delta, epsilon, NULL, err);
}

pn_status pn_accountant_delta(const pn_accountant *accountant, double epsilon, double *delta, pn_err *err)
{
    if (!(epsilon >= 0.0))
        return pn_fail(err, PN_EINVAL, "accountant.%s: epsilon must be a number >= 0, got %g", accountant->ops->name,
                       epsilon);
    return accountant->ops->delta(accountant, epsilon, delta, err);
}
