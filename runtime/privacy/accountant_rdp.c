/* accountant_rdp.c -- adds up Renyi curves and converts at the best real order, alpha = inf (pure composition) included.
 * Depends on: accountant.h, accountant_terms.h.  Used by: the table in accountant.c. */
#include <math.h>

#include "core/alloc.h"
#include "privacy/accountant_ops.h"
#include "privacy/accountant_terms.h"

typedef struct rdp_accountant {
    pn_accountant base;
    pn_terms terms;
} rdp_accountant;

static const pn_terms *terms_of(const pn_accountant *base)
{
    return &((const rdp_accountant *)base)->terms;
}

static pn_status create(pn_accountant **out, const pn_arg *args, pn_err *err)
{
    rdp_accountant *self = pn_calloc(1, sizeof *self);

    (void)args;
    if (!self)
        return pn_fail(err, PN_ENOMEM, "accountant.rdp: out of memory");
    self->base.ops = &pn_accountant_rdp_ops;
    *out = &self->base;
    return PN_OK;
}

static void destroy(pn_accountant *base)
{
    pn_terms_clear(&((rdp_accountant *)base)->terms);
    pn_free(base);
}

static pn_status add(pn_accountant *base, pn_event *event, size_t count, pn_err *err)
{
    return pn_terms_add(&((rdp_accountant *)base)->terms, event, count, "rdp", err);
}

static double rdp(const pn_accountant *base, double alpha)
{
    return pn_terms_rdp(terms_of(base), alpha);
}

static double zcdp(const pn_accountant *base)
{
    return pn_terms_zcdp(terms_of(base));
}

static pn_status epsilon(const pn_accountant *base, double delta, double *out, double *order, pn_err *err)
{
    (void)err;
    *out = pn_terms_epsilon(terms_of(base), delta, order);
    return PN_OK;
}

static pn_status delta(const pn_accountant *base, double at_epsilon, double *out, pn_err *err)
{
    (void)err;
    *out = pn_terms_delta(terms_of(base), at_epsilon);
    return PN_OK;
}

const pn_accountant_ops pn_accountant_rdp_ops = {
    .name = "rdp",
    .doc = "Adds Renyi curves and converts at the best order in (1, inf]; pure composition is the order inf.",
    .source = "Mironov (2017); Canonne, Kamath, Steinke (2020)",
    .create = create,
    .destroy = destroy,
    .add = add,
    .epsilon = epsilon,
    .delta = delta,
    .rdp = rdp,
    .zcdp = zcdp,
};
