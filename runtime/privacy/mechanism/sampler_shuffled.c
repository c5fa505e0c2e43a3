/* sampler_shuffled.c -- passes over the records in random order, cut into disjoint batches.
 * No amplification is claimed: a record is in one batch of a pass, so a pass costs what one batch costs.  The noise of
 * the other batches has the same law for both neighbours, sampled or ideal, so only the draws of one batch are charged.
 * Depends on: sampler_row.h, core/alloc.h.  Used by: the table in sampler.c.  See accounting.md section 4e. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/mechanism/sampler_row.h"

typedef struct shuffled {
    pn_sampler base; /* first */
    size_t *order;   /* [n] of the running pass */
    size_t next;     /* of order; n: a new pass begins */
} shuffled;

static const pn_param params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "records" },
    { "batch", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL,
      "records in a batch, at most n; the last of a pass may have fewer" },
    PN_PARAM_END,
};

static void destroy(pn_sampler *self)
{
    pn_free(((shuffled *)self)->order);
    pn_sampler_destroy(self);
}

static pn_status create(pn_sampler **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    static const pn_sampler_proof proof = { { true, false, true }, "adding a record would move the batches" };
    size_t n = args[0].count, batch = args[1].count;
    pn_status status = pn_sampler_make(out, sizeof(shuffled), &pn_sampler_shuffled, &proof, n, batch, neighbours, err);
    shuffled *self = (shuffled *)*out;

    if (status != PN_OK)
        return status;
    self->base.per_event = n / batch + (n % batch != 0);
    self->next = n;
    self->order = pn_alloc(n, sizeof *self->order);
    if (self->order)
        return PN_OK;
    destroy(*out);
    *out = NULL;
    return pn_fail(err, PN_ENOMEM, "sampler.shuffled: not enough memory for %zu records", n);
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static pn_status draw(pn_sampler *base, pn_rng *rng, size_t *count, pn_err *err)
{
    shuffled *self = (shuffled *)base;
    size_t left;

    (void)err;
    if (self->next == base->n) {
        pn_rng_permutation(rng, base->n, self->order);
        self->next = 0;
    }
    left = base->n - self->next;
    *count = left < base->batch ? left : base->batch;
    memcpy(base->indices, self->order + self->next, *count * sizeof *base->indices);
    qsort(base->indices, *count, sizeof *base->indices, by_size);
    self->next += *count;
    return PN_OK;
}

const pn_sampler_ops pn_sampler_shuffled = {
    .name = "shuffled",
    .doc = "Passes over all records in random order, in disjoint batches.  One event covers a whole pass; nothing is "
           "gained from the secrecy of the order.  The event is Gaussian noise: a record of contribution C is in one "
           "batch of the pass and moves it by 2 C when it is replaced, by C when it is made null; no other neighbours.",
    .source = "McSherry (2009), parallel composition",
    .params = params,
    .create = create,
    .destroy = destroy,
    .sensitivity = pn_sampler_whole,
    .event = pn_sampler_same_event,
    .draw = draw,
};
