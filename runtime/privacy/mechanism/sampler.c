/* sampler.c -- the table of sampling schemes, and the event of Gaussian noise on the batches that they draw.
 * Depends on: sampler.h, sampler_row.h.  Used by: solvers, bindings.  See accounting.md sections 1 and 4. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/options.h"
#include "core/table.h"
#include "privacy/mechanism/sampler_row.h"

#define ROW(name) &pn_sampler_##name,
static const pn_sampler_ops *const rows[] = { PN_SAMPLERS(ROW) NULL };
PN_TABLE(samplers, pn_sampler_ops, "sampler", "sampler", rows);

const pn_sampler_ops *const *pn_sampler_table(void)
{
    return rows;
}

const char pn_sampler_no_replacement[] = "sampler.with_replacement: there is no such scheme: a record that is drawn "
                                         "several times weighs as often, and no bound for that composes; use fixed "
                                         "(with batch = 1 the two are the same)";

pn_status pn_sampler_from_args(pn_sampler **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_status status;
    const pn_sampler_ops *row;

    *out = NULL;
    if (strcmp(name, "with_replacement") == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s", pn_sampler_no_replacement);
    row = pn_table_open(&samplers, __func__, name, args, &status, err);
    return row ? row->create(out, args, neighbours, err) : status;
}

pn_status pn_sampler_new(pn_sampler **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_neighbours neighbours = PN_REPLACE_ONE;
    pn_status status = strcmp(name, "with_replacement") == 0
                           ? PN_OK
                           : pn_neighbours_read(&neighbours, options, &samplers, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_sampler_from_args(out, name, args, neighbours, err) : status;
}

void pn_sampler_free(pn_sampler *sampler)
{
    if (sampler)
        sampler->ops->destroy(sampler);
}

size_t pn_sampler_events(const pn_sampler *sampler, size_t batches)
{
    return batches / sampler->per_event + (batches % sampler->per_event != 0);
}

pn_status pn_sampler_draw(pn_sampler *sampler, pn_rng *rng, size_t *count, pn_err *err)
{
    return sampler->ops->draw(sampler, rng, count, err);
}

/* ---- the event ---- */

static pn_status check_gaussian(const pn_sampler *sampler, double sigma, double contribution, double rounding,
                                pn_err *err)
{
    const char *name = sampler->ops->name;

    if (!(sigma > 0.0 && isfinite(sigma)))
        return pn_fail(err, PN_EINVAL, "sampler.%s: sigma must be a positive number, got %g", name, sigma);
    if (!(contribution > 0.0 && isfinite(contribution)))
        return pn_fail(err, PN_EINVAL, "sampler.%s: contribution must be a positive number, got %g", name,
                       contribution);
    if (!(rounding >= 0.0 && isfinite(rounding)))
        return pn_fail(err, PN_EINVAL, "sampler.%s: rounding must be a number >= 0, got %g", name, rounding);
    return PN_OK;
}

pn_status pn_sampler_gaussian(pn_event **out, const pn_sampler *sampler, double sigma, double contribution,
                              double rounding, size_t draws, pn_err *err)
{
    double sensitivity = sampler->ops->sensitivity(sampler) * contribution;
    pn_status status = check_gaussian(sampler, sigma, contribution, rounding, err);
    pn_event *batch = NULL;

    *out = NULL;
    if (status != PN_OK)
        return status;
    if (rounding > 0.0)
        sensitivity = nextafter(sensitivity + rounding, INFINITY);
    status = pn_event_gaussian(&batch, sigma, sensitivity, draws, sampler->neighbours, err);
    if (status == PN_OK)
        status = sampler->ops->event(sampler, batch, out, err);
    pn_event_free(batch);
    return status;
}

/* ---- for the schemes ---- */

static pn_status check_proof(const pn_sampler_ops *ops, const pn_sampler_proof *proof, pn_neighbours neighbours,
                             pn_err *err)
{
    char has[64] = "";

    if ((unsigned)neighbours > PN_ZERO_OUT)
        return pn_fail(err, PN_EINVAL, "sampler.%s: there is no neighbouring relation number %d", ops->name,
                       (int)neighbours);
    if (proof->has[neighbours])
        return PN_OK;
    for (int i = 0; i < 3; i++) {
        if (proof->has[i]) {
            (void)strcat(has, has[0] ? ", " : "");
            (void)strcat(has, pn_neighbours_names[i]);
        }
    }
    return pn_fail(err, PN_EUNSUPPORTED, "sampler.%s: there is no bound under neighbours = \"%s\": %s; it has %s",
                   ops->name, pn_neighbours_names[neighbours], proof->because, has);
}

pn_status pn_sampler_make_all(pn_sampler **out, size_t size, const pn_sampler_ops *ops, const pn_sampler_proof *proof,
                              size_t n, size_t batch, pn_neighbours neighbours, pn_err *err)
{
    pn_status status = check_proof(ops, proof, neighbours, err);
    pn_sampler *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    if (batch < 1 || batch > n)
        return pn_fail(err, PN_EINVAL, "sampler.%s: batch must be a whole number from 1 to n = %zu, got %zu", ops->name,
                       n, batch);
    self = pn_calloc(1, size);
    PN_TRY(pn_made(self, err, "sampler.%s: out of memory", ops->name));
    self->ops = ops;
    self->neighbours = neighbours;
    self->n = n;
    self->batch = batch;
    self->per_event = 1;
    *out = self;
    return PN_OK;
}

pn_status pn_sampler_make(pn_sampler **out, size_t size, const pn_sampler_ops *ops, const pn_sampler_proof *proof,
                          size_t n, size_t batch, pn_neighbours neighbours, pn_err *err)
{
    PN_TRY(pn_sampler_make_all(out, size, ops, proof, n, batch, neighbours, err));
    (*out)->indices = pn_alloc(n, sizeof *(*out)->indices);
    if ((*out)->indices)
        return PN_OK;
    pn_sampler_destroy(*out);
    *out = NULL;
    return pn_fail(err, PN_ENOMEM, "sampler.%s: not enough memory for %zu records", ops->name, n);
}

void pn_sampler_destroy(pn_sampler *self)
{
    pn_free(self->indices);
    pn_free(self);
}

double pn_sampler_whole(const pn_sampler *self)
{
    return pn_contributions(self->neighbours);
}

pn_status pn_sampler_same_event(const pn_sampler *self, pn_event *batch_event, pn_event **out, pn_err *err)
{
    (void)self;
    (void)err;
    *out = pn_event_keep(batch_event);
    return PN_OK;
}

const size_t *pn_sampler_batch(const pn_sampler *sampler)
{
    return sampler->indices;
}
