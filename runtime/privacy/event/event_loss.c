/* event_loss.c -- a mechanism by the privacy losses of its outcomes, measured or derived elsewhere.
 * Depends on: event_leaf.h, discrete_law.h, core/alloc.h.  Used by: the table in event.c. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/event/discrete_law.h"
#include "privacy/event/event_leaf.h"

enum { P, Q, LOSSES, PROBABILITIES, DELTA };

typedef struct loss_distribution {
    pn_event base;
    pn_discrete_law law;
    size_t n;
    double delta;
    double *first, *second; /* [n] each, as they were given: p and q, or losses and probabilities; one block */
} loss_distribution;

static const pn_discrete_law *law_of(const pn_event *self)
{
    return &((const loss_distribution *)self)->law;
}

static pn_status check_shape(const pn_arg *args, pn_err *err)
{
    bool laws = args[P].given && args[Q].given, losses = args[LOSSES].given && args[PROBABILITIES].given;
    size_t given = (size_t)args[P].given + args[Q].given + args[LOSSES].given + args[PROBABILITIES].given;
    const pn_arg *first = &args[laws ? P : LOSSES];

    if (laws == losses || given != 2 || (laws && args[DELTA].given))
        return pn_fail(err, PN_EINVAL,
                       "event.loss_distribution: give either p and q, the probabilities of the same outcomes under two "
                       "neighbours, or losses and probabilities, with delta for the loss that is infinite");
    if (first[0].vector.n != first[1].vector.n)
        return pn_fail(err, PN_EDIM,
                       laws
                           ? "event.loss_distribution: p has %zu entries and q %zu; give both for the same outcomes"
                           : "event.loss_distribution: losses has %zu entries and probabilities %zu; give one for each",
                       first[0].vector.n, first[1].vector.n);
    return PN_OK;
}

static void destroy(pn_event *self)
{
    pn_discrete_clear(&((loss_distribution *)self)->law);
    pn_free(((loss_distribution *)self)->first);
    pn_free(self);
}

static pn_status fill(loss_distribution *self, const pn_arg *first, pn_err *err)
{
    size_t n = self->n;

    PN_TRY(pn_new(&self->first, 2 * n, err, "event.loss_distribution: out of memory for %zu outcomes", n));
    self->second = self->first + n;
    if (n > 0) {
        memcpy(self->first, first[0].vector.data, n * sizeof *self->first);
        memcpy(self->second, first[1].vector.data, n * sizeof *self->second);
    }
    return self->law.both ? pn_discrete_from_laws(&self->law, self->first, self->second, n, err)
                          : pn_discrete_from_losses(&self->law, self->first, self->second, n, self->delta, err);
}

static pn_status create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    const pn_arg *first = &args[args[P].given ? P : LOSSES];
    pn_status status = check_shape(args, err);
    loss_distribution *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&self, 1, err, "event.loss_distribution: out of memory"));
    self->base = (pn_event){ &pn_event_loss_distribution_ops, neighbours, 1 };
    self->law.both = args[P].given;
    self->n = first[0].vector.n;
    self->delta = args[DELTA].real;
    status = fill(self, first, err);
    if (status == PN_OK)
        *out = &self->base;
    else
        destroy(&self->base);
    return status;
}

static double rdp(const pn_event *self, double alpha)
{
    return pn_discrete_rdp(law_of(self), alpha);
}

static double zcdp(const pn_event *self)
{
    return pn_discrete_zcdp(law_of(self));
}

static size_t pairs(const pn_event *self, bool attained, pn_pair out[2])
{
    return pn_discrete_pairs(law_of(self), attained, out);
}

static void arguments(const pn_event *self, pn_arg *args)
{
    const loss_distribution *d = (const loss_distribution *)self;
    pn_arg *first = &args[d->law.both ? P : LOSSES];

    for (size_t i = P; i <= DELTA; i++)
        args[i] = (pn_arg){ 0 };
    first[0] = (pn_arg){ .given = true, .vector = { d->first, d->n } };
    first[1] = (pn_arg){ .given = true, .vector = { d->second, d->n } };
    args[DELTA] = (pn_arg){ .given = !d->law.both, .real = d->delta };
}

static void describe(const pn_event *self, char *text, size_t size)
{
    const loss_distribution *d = (const loss_distribution *)self;
    const pn_discrete_law *law = &d->law;
    double infinite = law->both && law->q_infinite > law->p_infinite ? law->q_infinite : law->p_infinite;
    char more[48] = "";

    if (infinite > 0.0)
        (void)snprintf(more, sizeof more, ", infinite with %g", infinite);
    (void)snprintf(text, size, "loss_distribution(%zu outcomes, losses %g to %g%s)", d->n, law->outcomes[0].loss,
                   law->outcomes[law->n - 1].loss, more);
}

static const pn_param params[] = {
    { "p", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "probabilities of the outcomes under one of two neighbours" },
    { "q", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "probabilities of the same outcomes under the other one" },
    { "losses", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "in place of p and q: finite privacy losses ln(p/q) of a pair that dominates both orders of the neighbours" },
    { "probabilities", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "probabilities of the losses, under p" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_BELOW_ONE, 0.0, NULL, "probability under p of an infinite loss" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_loss_distribution_ops = {
    .name = "loss_distribution",
    .doc = "A mechanism whose privacy loss distribution is declared, for the event's neighbours: by two laws of its "
           "outcomes that are as easy to tell apart as those of any two neighbours, or easier, either of them being p, "
           "or by losses and their probabilities. At most 65536 outcomes. Probabilities are >= 0 and sum to 1 within "
           "1e-9; a sum above 1 is divided out, what is missing (by more than 2^-46) counts as an infinite loss, as "
           "does what one law alone can give. Renyi divergences are exact. Which neighbour has p may change from "
           "release to release: compositions of two laws are charged for the worse of both, at every loss. An infinite "
           "loss leaves no Renyi divergence: accountant.pld alone has a price then, and event.approximate at that "
           "price is what a ledger takes. rho-zCDP with (largest - smallest loss)^2/8, or the largest loss.",
    .source = "Sommer, Meiser, Mohammadi (2019); Zhu, Dong, Wang (2022); Cesar, Rogers (2021)",
    .params = params,
    .create = create,
    .destroy = destroy,
    .args = arguments,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = describe,
    .pairs = pairs,
};
