/* accountant_rdp.c -- adds up Renyi curves and converts at the best real order, alpha = inf (pure composition) included.
 * Depends on: accountant.h, conversion.h, event_leaf.h.  Used by: the table in accountant.c. */
#include <math.h>

#include "core/alloc.h"
#include "privacy/accountant_ops.h"
#include "privacy/conversion.h"
#include "privacy/event_leaf.h"

typedef struct rdp_accountant {
    pn_accountant base;
    pn_term *terms; /* consecutive equal events are one term */
    size_t count, room;
} rdp_accountant;

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
    rdp_accountant *self = (rdp_accountant *)base;

    for (size_t i = 0; i < self->count; i++)
        pn_event_free(self->terms[i].event);
    pn_free(self->terms);
    pn_free(self);
}

static pn_status add(pn_accountant *base, pn_event *event, size_t count, pn_err *err)
{
    rdp_accountant *self = (rdp_accountant *)base;
    pn_term *last = self->count ? &self->terms[self->count - 1] : NULL;

    if (last && last->count <= (size_t)-1 - count && pn_event_same(last->event, event)) {
        last->count += count;
        return PN_OK;
    }
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 8;
        pn_term *terms = pn_resize(self->terms, room, sizeof *terms);

        if (!terms)
            return pn_fail(err, PN_ENOMEM, "accountant.rdp: out of memory for %zu events", room);
        self->terms = terms;
        self->room = room;
    }
    self->terms[self->count++] = (pn_term){ pn_event_keep(event), count };
    return PN_OK;
}

static double rdp(const pn_accountant *base, double alpha)
{
    const rdp_accountant *self = (const rdp_accountant *)base;
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < self->count; i++)
        pn_event_add_rdp(self->terms[i].event, self->terms[i].count, alpha, &sum);
    return sum.high;
}

static double zcdp(const pn_accountant *base)
{
    const rdp_accountant *self = (const rdp_accountant *)base;
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < self->count; i++)
        pn_event_add_zcdp(self->terms[i].event, self->terms[i].count, &sum);
    return sum.high;
}

static double curve_rdp(const void *self, double alpha)
{
    return rdp(self, alpha);
}

static pn_slack slack(const pn_accountant *base)
{
    const rdp_accountant *self = (const rdp_accountant *)base;
    pn_slack sum = { 0.0, 0.0 };

    for (size_t i = 0; i < self->count; i++) {
        pn_slack one = pn_event_slack(self->terms[i].event, self->terms[i].count);

        sum.epsilon += one.epsilon;
        sum.tail += one.tail;
    }
    return sum;
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
