/* sampler_poisson.c -- a coin for every record, anew for every batch.
 * Depends on: sampler_row.h, random/sample.h.  Used by: the table in sampler.c.
 * See accounting.md sections 4a and 4c. */
#include <math.h>

#include "privacy/mechanism/sampler_row.h"
#include "random/sample.h"

typedef struct poisson {
    pn_sampler base; /* first */
    double rate;     /* that the coins have, and that is accounted */
} poisson;

static const pn_param params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records" },
    { "q", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "chance of each record to be in a batch, at most 1" },
    PN_PARAM_END,
};

static pn_status create(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    static const pn_sampler_proof proof = { { true, true, true }, "" };
    double q = args[1].real, expected = round(q * (double)args[0].count);
    size_t n = args[0].count;
    pn_status status;

    *out = NULL;
    if (!(q <= 1.0))
        return pn_fail(err, PN_EINVAL, "sampler.poisson: q must be in (0, 1], got %g", q);
    status = pn_sampler_make(out, sizeof(poisson), &pn_sampler_poisson, &proof, n,
                             expected < 1.0 ? 1 : (size_t)expected, neighbours, err);
    if (status == PN_OK)
        ((poisson *)*out)->rate = pn_poisson_rate(q);
    return status;
}

/* Both the coin of a record that is there or not and that of either version of a replaced one decide about one
 * contribution. */
static double sensitivity(const pn_sampler *self)
{
    (void)self;
    return 1.0;
}

static pn_status event(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err)
{
    return pn_event_poisson_sampled(out, ((const poisson *)self)->rate, batch_event, self->neighbours, err);
}

static pn_status draw(pn_sampler *self, pn_rng *rng, size_t *count, pn_err *err)
{
    (void)err;
    *count = pn_sample_poisson(rng, ((const poisson *)self)->rate, self->n, self->indices);
    return PN_OK;
}

const pn_sampler_ops pn_sampler_poisson = {
    .name = "poisson",
    .doc =
        "Each record is in each batch with probability q, independently; batches vary in size.  The rate that is "
        "charged is that of the coins, q rounded up to 64 bits.  Its event is poisson_sampled of Gaussian noise with "
        "sensitivity contribution.",
    .source = "Mironov, Talwar, Zhang (2019); Zhu, Dong, Wang (2022) for replace_one",
    .params = params,
    .create = create,
    .destroy = pn_sampler_destroy,
    .sensitivity = sensitivity,
    .event = event,
    .draw = draw,
};
