/* sampler_fixed.c -- batches of a fixed size, drawn without replacement, anew each time.
 * Depends on: sampler_row.h, random/sample.h.  Used by: the table in sampler.c.  Spec: accounting.md section 4b. */
#include "privacy/sampler_row.h"
#include "random/sample.h"

static const pn_param params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records" },
    { "batch", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records in a batch, at most n" },
    PN_PARAM_END,
};

static pn_status create(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    static const pn_sampler_proof proof = {
        { true, false, false },
        "the bound for batches of a fixed size needs neighbours with the same n, where a record has taken another's "
        "place",
    };

    return pn_sampler_make(out, sizeof(pn_sampler), &pn_sampler_fixed, &proof, args[0].count, args[1].count, neighbours,
                           err);
}

static pn_status event(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err)
{
    return pn_event_fixed_sampled(out, self->batch, self->n, batch_event, self->neighbours, err);
}

static pn_status draw(pn_sampler *self, pn_rng *rng, size_t *count, pn_err *err)
{
    pn_status status = pn_sample_without_replacement(rng, self->n, self->batch, self->indices, err);

    if (status == PN_OK)
        *count = self->batch;
    return status;
}

const pn_sampler_ops pn_sampler_fixed = {
    .name = "fixed",
    .doc = "Exactly `batch` different records in every batch, every subset equally likely; replace_one only.  Its "
           "event is fixed_sampled of Gaussian noise with sensitivity 2 contribution: the exchanged record may be in "
           "the batch.",
    .source = "Balle, Barthe, Gaboardi (2018); Sason, Verdu (2016)",
    .params = params,
    .create = create,
    .destroy = pn_sampler_destroy,
    .sensitivity = pn_sampler_whole,
    .event = event,
    .draw = draw,
};
