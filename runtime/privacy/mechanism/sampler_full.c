/* sampler_full.c -- every batch is all records: no secret, no amplification.
 * Depends on: sampler_row.h.  Used by: the table in sampler.c.  See accounting.md section 1. */
#include "privacy/mechanism/sampler_row.h"

static const pn_param params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records" },
    PN_PARAM_END,
};

static pn_status create(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    static const pn_sampler_proof proof = { { true, true, true }, "" };

    return pn_sampler_make_all(out, sizeof(pn_sampler), &pn_sampler_full, &proof, args[0].count, args[0].count,
                               neighbours, err);
}

static pn_status draw(pn_sampler *self, pn_rng *rng, size_t *count, pn_err *err)
{
    (void)rng;
    (void)err;
    *count = self->n;
    return PN_OK;
}

const pn_sampler_ops pn_sampler_full = {
    .name = "full",
    .doc = "All records in every batch.  Its event is Gaussian noise: a record of contribution C moves the sum by C "
           "when it is added, removed or made null, and by 2 C when it is replaced.",
    .source = "Mironov (2017); Bun, Steinke (2016)",
    .params = params,
    .create = create,
    .destroy = pn_sampler_destroy,
    .sensitivity = pn_sampler_whole,
    .event = pn_sampler_same_event,
    .draw = draw,
};
