/* sampler_declared.c -- a coin for every record, anew for every batch, each with a rate that was declared for it.
 * Depends on: sampler_row.h, random/sample.h, core/alloc.h.  Used by: the table in sampler.c.
 *
 * A record with the rate q_i is released by the pair of Poisson sampling at q_i.  Under a larger rate q it is the same
 * mixture of laws that neighbours share, with the weight 1 - q_i/q, and of the pair at q: no hockey stick is larger, by
 * joint convexity.  So the pair at the largest rate dominates that of every record, in each release and, the rates
 * being public, in any number of them. */
#include <math.h>

#include "core/alloc.h"
#include "privacy/mechanism/sampler_row.h"
#include "random/sample.h"

typedef struct declared {
    pn_sampler base; /* first */
    double *rates;   /* [n] that the coins have */
    double most;     /* the largest, which is accounted */
} declared;

static const pn_param params[] = {
    { "q", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL,
      "chance of each record to be in a batch, from 0 to 1: public, whoever the record is" },
    PN_PARAM_END,
};

static void destroy(pn_sampler *self)
{
    pn_free(((declared *)self)->rates);
    pn_sampler_destroy(self);
}

static pn_status check_rates(pn_vec q, double *expected, double *most, pn_err *err)
{
    *expected = *most = 0.0;
    if (q.n < 1)
        return pn_fail(err, PN_EDIM, "sampler.declared: q must have an entry for each record, got none");
    for (size_t i = 0; i < q.n; i++) {
        if (!(q.data[i] >= 0.0 && q.data[i] <= 1.0))
            return pn_fail(err, PN_EINVAL, "sampler.declared: q must hold numbers from 0 to 1, got %g at entry %zu",
                           q.data[i], i + 1);
        *expected += q.data[i];
        *most = fmax(*most, q.data[i]);
    }
    return *most > 0.0 ? PN_OK
                       : pn_fail(err, PN_EINVAL,
                                 "sampler.declared: q is 0 at every entry, so that no record is ever drawn; give some "
                                 "record a chance");
}

static pn_status create(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    static const pn_sampler_proof proof = {
        { true, false, true }, "rates that are declared for the records by their number say how many there are"
    };
    const pn_vec q = args[0].vector;
    double expected, most;
    declared *self;
    pn_status status;

    *out = NULL;
    PN_TRY(check_rates(q, &expected, &most, err));
    status = pn_sampler_make(out, sizeof(declared), &pn_sampler_declared, &proof, q.n,
                             (size_t)fmax(1.0, round(expected)), neighbours, err);
    self = (declared *)*out;
    if (status != PN_OK)
        return status;
    self->most = pn_poisson_rate(most);
    self->rates = pn_alloc(q.n, sizeof *self->rates);
    if (!self->rates) {
        destroy(*out);
        *out = NULL;
        return pn_fail(err, PN_ENOMEM, "sampler.declared: not enough memory for %zu records", q.n);
    }
    for (size_t i = 0; i < q.n; i++)
        self->rates[i] = pn_poisson_rate(q.data[i]);
    return PN_OK;
}

static double sensitivity(const pn_sampler *self)
{
    (void)self;
    return 1.0;
}

static pn_status event(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err)
{
    return pn_event_poisson_sampled(out, ((const declared *)self)->most, batch_event, self->neighbours, err);
}

/* Neighbours in number with the same rate are drawn together. */
static pn_status draw(pn_sampler *base, pn_rng *rng, size_t *count, pn_err *err)
{
    const double *rates = ((const declared *)base)->rates;
    size_t end, taken = 0;

    (void)err;
    for (size_t first = 0; first < base->n; first = end) {
        size_t before = taken;

        for (end = first + 1; end < base->n && rates[end] == rates[first];)
            end++;
        if (rates[first] > 0.0)
            taken += pn_sample_poisson(rng, rates[first], end - first, base->indices + taken);
        for (size_t i = before; i < taken; i++)
            base->indices[i] += first;
    }
    *count = taken;
    return PN_OK;
}

const pn_sampler_ops pn_sampler_declared = {
    .name = "declared",
    .doc =
        "Each record is in each batch with its own probability q[i], independently: by public strata, say.  The "
        "probabilities are public and stay with the number of the record when it is replaced or made null; they must "
        "not depend on what the records hold.  Its event is poisson_sampled at the largest of them, of Gaussian noise "
        "with sensitivity contribution: what the run costs the record that is drawn most often.  One with a smaller q "
        "loses what poisson_sampled at its own q says.  The sum is not weighted: dividing a record by its q makes its "
        "contribution 1/q times as large, for which there is no event.",
    .source = "Mironov, Talwar, Zhang (2019); Zhu, Dong, Wang (2022) for replace_one; Balle, Barthe, Gaboardi (2018)",
    .params = params,
    .create = create,
    .destroy = destroy,
    .sensitivity = sensitivity,
    .event = event,
    .draw = draw,
};
