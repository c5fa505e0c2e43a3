/* sampler_fixed.c -- batches of a fixed size, drawn without replacement, anew each time.
 * Depends on: sampler_row.h, random/sample.h, core/alloc.h.  Used by: the table in sampler.c.
 * See accounting.md section 4b. */
#include "core/alloc.h"
#include "privacy/mechanism/sampler_row.h"
#include "random/sample.h"

typedef struct fixed {
    pn_sampler base; /* first */
    size_t *scratch; /* of a draw; zeros between draws */
} fixed;

static const pn_param params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records" },
    { "batch", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records in a batch, at most n" },
    PN_PARAM_END,
};

static void destroy(pn_sampler *self)
{
    pn_free(((fixed *)self)->scratch);
    pn_sampler_destroy(self);
}

static pn_status create(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    static const pn_sampler_proof proof = {
        { true, false, false },
        "the bound for batches of a fixed size needs neighbours with the same n, where a record has taken another's "
        "place",
    };

    size_t n = args[0].count, batch = args[1].count;
    pn_status status = pn_sampler_make(out, sizeof(fixed), &pn_sampler_fixed, &proof, n, batch, neighbours, err);
    fixed *self = (fixed *)*out;

    if (status != PN_OK)
        return status;
    self->scratch = pn_calloc(pn_sample_scratch(n, batch), sizeof *self->scratch);
    if (self->scratch)
        return PN_OK;
    destroy(&self->base);
    *out = NULL;
    return pn_fail(err, PN_ENOMEM, "sampler.fixed: not enough memory for batches of %zu records", batch);
}

static pn_status event(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err)
{
    return pn_event_fixed_sampled(out, self->batch, self->n, batch_event, self->neighbours, err);
}

static pn_status draw(pn_sampler *self, pn_rng *rng, size_t *count, pn_err *err)
{
    (void)err;
    pn_sample_subset(rng, self->n, self->batch, ((fixed *)self)->scratch, self->indices);
    *count = self->batch;
    return PN_OK;
}

const pn_sampler_ops pn_sampler_fixed = {
    .name = "fixed",
    .doc = "Exactly `batch` different records in every batch, every subset equally likely; replace_one only.  Its "
           "event is fixed_sampled of Gaussian noise with sensitivity 2 contribution: the exchanged record may be in "
           "the batch.",
    .source = "Balle, Barthe, Gaboardi (2018); Sason, Verdu (2016)",
    .params = params,
    .create = create,
    .destroy = destroy,
    .sensitivity = pn_sampler_whole,
    .event = event,
    .draw = draw,
};
