/* accountant_terms.c -- a growing list of events with counts.
 * Depends on: accountant_terms.h, conversion.h.  Used by: accountant_*.c. */
#include "privacy/accounting/accountant_terms.h"

#include "core/alloc.h"
#include "core/size.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/conversion.h"

pn_status pn_terms_add(pn_terms *self, pn_event *event, size_t count, const char *owner, pn_err *err)
{
    pn_term *last = self->count ? &self->terms[self->count - 1] : NULL;

    if (last && pn_event_same(last->event, event) && pn_size_add(&last->count, last->count, count))
        return PN_OK;
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 8;
        pn_term *terms = pn_resize(self->terms, room, sizeof *terms);

        PN_TRY(pn_made(terms, err, "accountant.%s: out of memory for %zu events", owner, room));
        self->terms = terms;
        self->room = room;
    }
    self->terms[self->count++] = (pn_term){ pn_event_keep(event), count };
    return PN_OK;
}

void pn_terms_clear(pn_terms *self)
{
    for (size_t i = 0; i < self->count; i++)
        pn_event_free(self->terms[i].event);
    pn_free(self->terms);
    *self = (pn_terms){ 0 };
}

double pn_terms_rdp(const pn_terms *self, double alpha)
{
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < self->count; i++)
        pn_event_add_rdp(self->terms[i].event, self->terms[i].count, alpha, &sum);
    return sum.high;
}

double pn_terms_zcdp(const pn_terms *self)
{
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < self->count; i++)
        pn_event_add_zcdp(self->terms[i].event, self->terms[i].count, &sum);
    return sum.high;
}

pn_slack pn_terms_slack(const pn_terms *self)
{
    pn_slack sum = { 0.0, 0.0, 0.0 };

    for (size_t i = 0; i < self->count; i++)
        pn_slack_add(&sum, 1.0, pn_event_slack(self->terms[i].event, self->terms[i].count));
    return sum;
}

static double curve_rdp(const void *self, double alpha)
{
    return pn_terms_rdp(self, alpha);
}

double pn_terms_epsilon(const pn_terms *self, double delta, double *order)
{
    pn_curve curve = { curve_rdp, self };

    return pn_curve_release_epsilon(&curve, pn_terms_zcdp(self), delta, pn_terms_slack(self), order);
}

/* The order where rho-zCDP spends epsilon is (epsilon + rho)/(2 rho). */
double pn_terms_delta(const pn_terms *self, double epsilon)
{
    pn_curve curve = { curve_rdp, self };
    pn_slack extra = pn_terms_slack(self);
    double rho = pn_terms_zcdp(self), ideal = fmax(0.0, epsilon - extra.epsilon);

    ideal = pn_curve_delta(&curve, ideal, rho > 0.0 ? 1.0 + ideal / (2.0 * rho) : 0.0);
    return pn_slack_delta(ideal, epsilon, extra);
}

pn_status pn_terms_walk(const pn_terms *self, pn_terms_visit visit, void *visitor, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t i = 0; i < self->count && status == PN_OK; i++) {
        size_t parts;
        const pn_term *terms = pn_event_terms(self->terms[i].event, &parts);
        double count = (double)self->terms[i].count;

        if (!terms)
            status = visit(visitor, self->terms[i].event, count, err);
        for (size_t j = 0; j < parts && status == PN_OK; j++)
            status = visit(visitor, terms[j].event, count * (double)terms[j].count, err);
    }
    return status;
}

/* ---- an accountant that is nothing else ---- */

pn_status pn_terms_accountant_new(pn_accountant **out, const pn_accountant_ops *ops, pn_err *err)
{
    pn_terms_accountant *self;

    PN_TRY(pn_new_zeroed(&self, 1, err, "accountant.%s: out of memory", ops->name));
    self->base.ops = ops;
    *out = &self->base;
    return PN_OK;
}

void pn_terms_accountant_destroy(pn_accountant *self)
{
    pn_terms_clear(&((pn_terms_accountant *)self)->terms);
    pn_free(self);
}

pn_status pn_terms_accountant_add(pn_accountant *self, pn_event *event, size_t count, pn_err *err)
{
    return pn_terms_add(&((pn_terms_accountant *)self)->terms, event, count, self->ops->name, err);
}

double pn_terms_accountant_rdp(const pn_accountant *self, double alpha)
{
    return pn_terms_rdp(pn_terms_of(self), alpha);
}

double pn_terms_accountant_zcdp(const pn_accountant *self)
{
    return pn_terms_zcdp(pn_terms_of(self));
}
