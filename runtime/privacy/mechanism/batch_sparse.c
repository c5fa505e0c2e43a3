/* batch_sparse.c -- the sparse vector technique on a batch that nobody knows: pay, draw the batch,
 * answer until one query is above.
 * Depends on: batch_sparse.h, mechanism.h (its row sparse_vector), sampler.h.  Used by: solvers.
 * See noise.md section 7, accounting.md section 4f, second-order.md sections 4 and 6. */
#include <math.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "privacy/mechanism/batch_sparse.h"
#include "privacy/mechanism/mechanism.h"
#include "privacy/mechanism/sampler.h"

struct pn_batch_sparse {
    pn_sampler *sampler; /* NULL: all records */
    pn_sparse_run *run;
    size_t count; /* records of the batch */
};

/* ---- what it costs ---- */

static pn_status check_options(const pn_batch_sparse_options *options, pn_err *err)
{
    if (options->batch < 1 || options->batch > options->n)
        return pn_fail(err, PN_EINVAL, "batch_sparse: batch must be a whole number from 1 to n = %zu, got %zu",
                       options->n, options->batch);
    if (!(options->sensitivity > 0.0 && isfinite(options->sensitivity)))
        return pn_fail(err, PN_EINVAL, "batch_sparse: sensitivity must be a positive number, got %g",
                       options->sensitivity);
    if (!(options->error >= 0.0 && isfinite(options->error)))
        return pn_fail(err, PN_EINVAL, "batch_sparse: error must be a number >= 0, got %g", options->error);
    if (!(options->bound > 0.0))
        return pn_fail(err, PN_EINVAL, "batch_sparse: bound must be a positive number, or infinite, got %g",
                       options->bound);
    return PN_OK;
}

/* Neighbours' computed values differ by what the exact ones do and an error on either side. */
static double charged(const pn_batch_sparse_options *options)
{
    double sum = options->sensitivity + 2.0 * options->error;

    sum = options->error > 0.0 ? nextafter(sum, INFINITY) : sum;
    return PN_MUTANT("search_sensitivity_half") ? sum / 2.0 : sum;
}

static pn_status make_mechanism(pn_mechanism **out, const pn_batch_sparse_options *options, pn_err *err)
{
    pn_arg args[] = { { .given = true, .real = options->epsilon },
                      { .given = true, .real = charged(options) },
                      { .given = true, .real = 0.0 },
                      { .given = true, .count = 1 },
                      { .given = false },
                      { .given = false },
                      { .given = isfinite(options->bound), .real = options->bound },
                      { .given = true, .flag = isfinite(options->bound) } /* strict: the bound is certified */ };

    return pn_mechanism_from_args(out, "sparse_vector", args, options->neighbours, err);
}

static pn_status make_sampler(pn_sampler **out, const pn_batch_sparse_options *options, pn_err *err)
{
    pn_arg args[3] = { { .given = true, .count = options->n }, { .given = true, .count = options->batch } };

    *out = NULL;
    return options->batch < options->n ? pn_sampler_from_args(out, "fixed", args, options->neighbours, err) : PN_OK;
}

/* The mechanism with the event of a run on a batch that the sampler draws. */
static pn_status make(pn_mechanism **mechanism, pn_sampler **sampler, const pn_batch_sparse_options *options,
                      pn_err *err)
{
    pn_event *sampled = NULL;
    pn_status status = check_options(options, err);

    *mechanism = NULL;
    *sampler = NULL;
    if (status == PN_OK)
        status = make_sampler(sampler, options, err);
    if (status == PN_OK)
        status = make_mechanism(mechanism, options, err);
    if (status != PN_OK || !*sampler)
        return status;
    status = (*sampler)->ops->event(*sampler, (*mechanism)->event, &sampled, err);
    if (status == PN_OK) {
        pn_event_free((*mechanism)->event);
        (*mechanism)->event = sampled;
    }
    return status;
}

pn_status pn_batch_sparse_price(pn_event **out, const pn_batch_sparse_options *options, pn_err *err)
{
    pn_mechanism *mechanism;
    pn_sampler *sampler;
    pn_status status = make(&mechanism, &sampler, options, err);

    *out = status == PN_OK ? pn_event_keep(mechanism->event) : NULL;
    pn_mechanism_free(mechanism);
    pn_sampler_free(sampler);
    return status;
}

/* ---- a run ---- */

/* The fault "search_unpaid": next to nothing is charged. */
static pn_status make_free(pn_mechanism *mechanism, pn_err *err)
{
    pn_neighbours neighbours = mechanism->event->neighbours;

    pn_event_free(mechanism->event);
    return pn_event_sparse_vector(&mechanism->event, 0x1p-100, 1, neighbours, err);
}

pn_status pn_batch_sparse_open(pn_batch_sparse **out, const pn_batch_sparse_options *options, pn_ledger *ledger,
                               const char *label, pn_rng *rng, pn_err *err)
{
    pn_batch_sparse *self = pn_calloc(1, sizeof *self);
    pn_mechanism *mechanism = NULL;
    pn_status status;

    *out = NULL;
    PN_TRY(pn_made(self, err, "batch_sparse: out of memory"));
    self->count = options->n;
    status = make(&mechanism, &self->sampler, options, err);
    if (status == PN_OK && PN_MUTANT("search_unpaid"))
        status = make_free(mechanism, err);
    if (status == PN_OK) /* charges what a run on a secret batch costs */
        status = pn_sparse_run_new(&self->run, mechanism, ledger, label, rng, err);
    if (status == PN_OK && self->sampler)
        status = pn_sampler_draw(self->sampler, rng, &self->count, err);
    pn_mechanism_free(mechanism);
    if (status != PN_OK) {
        pn_batch_sparse_free(self);
        return status;
    }
    *out = self;
    return PN_OK;
}

const size_t *pn_batch_sparse_rows(const pn_batch_sparse *self, size_t *count)
{
    *count = self->count;
    return self->sampler ? self->sampler->indices : NULL;
}

pn_status pn_batch_sparse_above(pn_batch_sparse *self, double value, bool *above, pn_err *err)
{
    return pn_sparse_run_above(self->run, value, above, err);
}

void pn_batch_sparse_free(pn_batch_sparse *self)
{
    if (!self)
        return;
    pn_sparse_run_free(self->run);
    pn_sampler_free(self->sampler);
    pn_free(self);
}
