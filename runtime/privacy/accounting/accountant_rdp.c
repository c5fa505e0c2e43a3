/* accountant_rdp.c -- adds up Renyi curves and converts at the best real order,
 * alpha = inf (pure composition) included.
 * Depends on: accountant.h, accountant_terms.h.  Used by: the table in accountant.c. */
#include "privacy/accounting/accountant_ops.h"
#include "privacy/accounting/accountant_terms.h"

static pn_status create(pn_accountant **out, const pn_arg *args, pn_err *err)
{
    (void)args;
    return pn_terms_accountant_new(out, &pn_accountant_rdp_ops, err);
}

static pn_status epsilon(const pn_accountant *base, double delta, double *out, double *order, pn_err *err)
{
    (void)err;
    *out = pn_terms_epsilon(pn_terms_of(base), delta, order);
    return PN_OK;
}

static pn_status delta(const pn_accountant *base, double at_epsilon, double *out, pn_err *err)
{
    (void)err;
    *out = pn_terms_delta(pn_terms_of(base), at_epsilon);
    return PN_OK;
}

const pn_accountant_ops pn_accountant_rdp_ops = {
    .name = "rdp",
    .doc = "Adds Renyi curves and converts at the best order in (1, inf]; pure composition is the order inf.",
    .source = "Mironov (2017); Canonne, Kamath, Steinke (2020)",
    .create = create,
    .destroy = pn_terms_accountant_destroy,
    .add = pn_terms_accountant_add,
    .epsilon = epsilon,
    .delta = delta,
    .rdp = pn_terms_accountant_rdp,
    .zcdp = pn_terms_accountant_zcdp,
};
