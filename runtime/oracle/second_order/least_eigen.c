/* least_eigen.c -- see least_eigen.h.
 * Depends on: least_eigen.h, privacy/mechanism/sampler.h, random/symmetric_noise.h, objective.
 * Used by: second_order.c. */
#include <math.h>

#include "core/alloc.h"
#include "objective/regularisers/regulariser.h"
#include "privacy/mechanism/sampler.h"
#include "random/symmetric_noise.h"
#include "oracle/second_order/least_eigen.h"

/* ---- stored ---- */

/* An upper bound of the operator norm. */
static double frobenius(const double *packed, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++) {
        const double *column = packed + j * (j + 1) / 2;

        for (size_t i = 0; i < j; i++)
            sum += 2.0 * column[i] * column[i];
        sum += column[j] * column[j];
    }
    return sqrt(sum) * (1.0 + 1e-9);
}

bool pn_least_needs_start(pn_eigen how, size_t n)
{
    return how == PN_EIGEN_LANCZOS || how == PN_EIGEN_MATRIX_FREE || (how == PN_EIGEN_AUTO && n > PN_SYMMETRIC_DIRECT);
}

static void take(pn_least *out, const pn_smallest *found)
{
    *out = (pn_least){ .value = found->value, .error = found->error, .steps = found->steps > 0 };
}

static pn_status in_full(pn_least *out, double *x, const double *packed, size_t n, pn_err *err)
{
    pn_smallest found;
    pn_status status = pn_smallest_in_full(&found, x, packed, n, err);

    if (status == PN_OK)
        take(out, &found);
    return status;
}

typedef struct stored {
    const double *packed;
    size_t n;
} stored;

static pn_status stored_times(void *of, const double *x, double *y, pn_err *err)
{
    const stored *self = of;

    (void)err;
    pn_packed_times(1.0, self->packed, self->n, x, 0.0, y);
    return PN_OK;
}

/* Two statements about the start are relied on, each for half of the failure: the theorem's steps are enough, and the
 * start is not too far from the eigenvector. */
static pn_smallest_options to_tau(const pn_least_options *options, double norm)
{
    return (pn_smallest_options){ .tolerance = options->tau, .failure = options->failure / 2.0, .norm = norm };
}

static pn_status by_steps(pn_least *out, double *x, size_t n, pn_symmetric_fn times, void *self, double norm,
                          const pn_least_options *options, pn_task *task, pn_err *err)
{
    pn_smallest_options steps = to_tau(options, norm);
    pn_smallest found;

    PN_TRY(pn_smallest_lanczos(&found, x, n, times, self, &steps, options->start, task, err));
    take(out, &found);
    out->error += (double)n * 0x1p-50 * norm; /* of the products' rounding */
    return PN_OK;
}

/* Steps where they are fewer than what a factorization costs. */
static pn_status by_order(pn_least *out, double *x, const double *packed, size_t n, double norm,
                          const pn_least_options *options, pn_task *task, pn_err *err)
{
    pn_smallest_options either = to_tau(options, norm);
    pn_smallest found;

    PN_TRY(pn_smallest_eigen(&found, x, packed, n, &either, options->start, task, err));
    take(out, &found);
    out->error += out->steps ? (double)n * 0x1p-50 * norm : 0.0;
    return PN_OK;
}

pn_status pn_least_stored(pn_least *out, double *x, const double *packed, size_t n, const pn_least_options *options,
                          pn_task *task, pn_err *err)
{
    stored self = { packed, n };
    double norm = frobenius(packed, n);
    pn_status status;

    if (!isfinite(norm))
        return pn_fail(err, PN_EDOMAIN, "%s: the Hessian is not finite", options->owner);
    if (norm == 0.0 || !pn_least_needs_start(options->how, n))
        return in_full(out, x, packed, n, err);
    if (options->how != PN_EIGEN_LANCZOS)
        return by_order(out, x, packed, n, norm, options, task, err);
    status = by_steps(out, x, n, stored_times, &self, norm, options, task, err);
    return status == PN_ENUMERIC ? in_full(out, x, packed, n, err) : status;
}

/* ---- products ---- */

struct pn_products {
    const pn_model *model;
    const double *theta;
    double scale; /* of the noise; 0: none */
    pn_symmetric_noise noise;
    pn_sampler *sampler; /* of a true batch; NULL */
    pn_batch batch;
    pn_task *task;
    uint64_t records;
};

void pn_products_free(pn_products *self)
{
    if (!self)
        return;
    pn_address_key_erase(&self->noise.key);
    pn_sampler_free(self->sampler);
    pn_free(self);
}

static pn_status pay(const char *owner, const pn_model *model, double z, pn_step_context *context, const char *label,
                     pn_err *err)
{
    pn_event *event = NULL;
    pn_status status;

    if (!pn_rng_simulated(context->rng) || !pn_ledger_budget(context->ledger)->teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "%s: eigen=\"matrix_free\" is for simulations: the rounding of a product "
                       "depends on the records and no lattice hides it; use \"dense\" or \"lanczos\"",
                       owner);
    status = pn_model_hessian_event(model, z, &event, err);
    if (status == PN_OK)
        status = pn_receipt_room(context->receipt, event, err);
    if (status == PN_OK)
        status = pn_ledger_spend(context->ledger, event, 1, label, err);
    if (status == PN_OK)
        pn_receipt_add(context->receipt, event, 1);
    pn_event_free(event);
    return status;
}

static pn_status open_batch(pn_products *self, pn_err *err)
{
    const pn_model *model = self->model;
    pn_arg args[] = { { .given = true, .count = model->n }, { .given = true, .count = model->batch }, { 0 } };

    return model->batch < model->n ? pn_sampler_from_args(&self->sampler, "fixed", args, PN_REPLACE_ONE, err) : PN_OK;
}

pn_status pn_products_open(pn_products **out, const char *owner, const pn_model *model, double z, const double *theta,
                           pn_step_context *context, const char *label, pn_err *err)
{
    pn_products *self = pn_calloc(1, sizeof *self);
    pn_status status;

    *out = NULL;
    PN_TRY(pn_made(self, err, "%s: out of memory", owner));
    self->model = model;
    self->theta = theta;
    self->scale = z * model->hessian_sensitivity;
    self->noise.n = model->dim;
    self->noise.frobenius = model->frobenius;
    status = open_batch(self, err);
    if (status == PN_OK && z > 0.0)
        status = pay(owner, model, z, context, label, err);
    if (status == PN_OK && self->sampler)
        status = pn_sampler_draw(self->sampler, context->rng, &self->batch.count, err);
    if (status != PN_OK) {
        pn_products_free(self);
        return status;
    }
    if (self->sampler) {
        self->batch.rows = self->sampler->indices;
        self->batch.denominator = (double)model->batch;
    }
    if (z > 0.0) {
        pn_address_key_draw(&self->noise.key, context->rng);
        context->releases++;
    }
    *out = self;
    return PN_OK;
}

static pn_status noisy_times(void *of, const double *x, double *y, pn_err *err)
{
    pn_products *self = of;
    const pn_model *model = self->model;
    const pn_regulariser *reg = pn_objective_regulariser(model->objective);
    pn_status status = pn_objective_hessian_times(model->objective, self->sampler ? &self->batch : NULL, self->theta, x,
                                                  y, self->task, err);

    if (status == PN_OK && self->sampler && reg)
        status = reg->ops->curve(reg, model->dim, self->theta, x, y, err);
    if (status == PN_OK && self->scale > 0.0)
        status = pn_symmetric_noise_times(&self->noise, self->scale, x, y, self->task, err);
    self->records += model->batch;
    return status;
}

pn_status pn_products_least(pn_least *out, double *x, pn_products *self, double norm, const pn_least_options *options,
                            pn_task *task, uint64_t *records, pn_err *err)
{
    pn_status status;

    self->task = task;
    self->records = 0;
    status = by_steps(out, x, self->model->dim, noisy_times, self, norm, options, task, err);
    *records += self->records;
    return status;
}
