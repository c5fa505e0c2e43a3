/* accountant_zcdp.c -- adds up rho of zero-concentrated differential privacy.
 * Depends on: accountant.h, conversion.h, event_leaf.h.  Used by: the table in accountant.c. */
#include "core/alloc.h"
#include "privacy/accountant_ops.h"
#include "privacy/conversion.h"
#include "privacy/event_leaf.h"

typedef struct zcdp_accountant {
    pn_accountant base;
    pn_sum rho;
} zcdp_accountant;

static pn_status create(pn_accountant **out, const pn_arg *args, pn_err *err)
{
    zcdp_accountant *self = pn_calloc(1, sizeof *self);

    (void)args;
    if (!self)
        return pn_fail(err, PN_ENOMEM, "accountant.zcdp: out of memory");
    self->base.ops = &pn_accountant_zcdp_ops;
    *out = &self->base;
    return PN_OK;
}

static void destroy(pn_accountant *base)
{
    pn_free(base);
}

static pn_status add(pn_accountant *base, pn_event *event, size_t count, pn_err *err)
{
    (void)err;
    pn_event_add_zcdp(event, count, &((zcdp_accountant *)base)->rho);
    return PN_OK;
}

static double zcdp(const pn_accountant *base)
{
    return ((const zcdp_accountant *)base)->rho.high;
}

static double rdp(const pn_accountant *base, double alpha)
{
    return base->events ? pn_curve_zcdp(zcdp(base), alpha) : 0.0;
}

static double curve_rdp(const void *self, double alpha)
{
    return rdp(self, alpha);
}

static double epsilon(const pn_accountant *base, double delta, double *order)
{
    pn_curve curve = { curve_rdp, base };

    return pn_curve_epsilon(&curve, delta, delta > 0.0 ? pn_zcdp_guess(zcdp(base), delta) : 0.0, order);
}

static double delta(const pn_accountant *base, double at_epsilon)
{
    pn_curve curve = { curve_rdp, base };
    double rho = zcdp(base);

    return pn_curve_delta(&curve, at_epsilon, rho > 0.0 ? 1.0 + at_epsilon / (2.0 * rho) : 0.0);
}

const pn_accountant_ops pn_accountant_zcdp_ops = {
    .name = "zcdp",
    .doc = "Adds rho of zero-concentrated differential privacy and converts at the best real order.",
    .source = "Bun, Steinke (2016); Canonne, Kamath, Steinke (2020)",
    .create = create,
    .destroy = destroy,
    .add = add,
    .epsilon = epsilon,
    .delta = delta,
    .rdp = rdp,
    .zcdp = zcdp,
};
