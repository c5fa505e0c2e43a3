/* accountant_zcdp.c -- adds up rho of zero-concentrated differential privacy.
 * Depends on: accountant.h, conversion.h, event_leaf.h.  Used by: the table in accountant.c. */
#include <math.h>

#include "core/alloc.h"
#include "privacy/accounting/accountant_ops.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/event_leaf.h"

typedef struct zcdp_accountant {
    pn_accountant base;
    pn_sum rho;
    pn_slack slack;
} zcdp_accountant;

static pn_status create(pn_accountant **out, const pn_arg *args, pn_err *err)
{
    zcdp_accountant *self = pn_calloc(1, sizeof *self);

    (void)args;
    PN_TRY(pn_made(self, err, "accountant.zcdp: out of memory"));
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
    zcdp_accountant *self = (zcdp_accountant *)base;

    (void)err;
    pn_event_add_zcdp(event, count, &self->rho);
    pn_slack_add(&self->slack, 1.0, pn_event_slack(event, count));
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

static pn_slack slack(const pn_accountant *base)
{
    return ((const zcdp_accountant *)base)->slack;
}

static pn_status epsilon(const pn_accountant *base, double delta, double *out, double *order, pn_err *err)
{
    pn_curve curve = { curve_rdp, base };
    double ideal = pn_ideal_delta(delta);

    (void)err;
    *out = pn_curve_epsilon(&curve, ideal, ideal > 0.0 ? pn_zcdp_guess(zcdp(base), ideal) : 0.0, order);
    *out = pn_slack_epsilon(*out, delta, slack(base));
    return PN_OK;
}

/* The order where rho-zCDP spends epsilon is (epsilon + rho)/(2 rho). */
static pn_status delta(const pn_accountant *base, double at_epsilon, double *out, pn_err *err)
{
    pn_curve curve = { curve_rdp, base };
    pn_slack extra = slack(base);
    double rho = zcdp(base), ideal = fmax(0.0, at_epsilon - extra.epsilon);

    (void)err;
    *out = pn_curve_delta(&curve, ideal, rho > 0.0 ? 1.0 + ideal / (2.0 * rho) : 0.0);
    *out = pn_slack_delta(*out, at_epsilon, extra);
    return PN_OK;
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
