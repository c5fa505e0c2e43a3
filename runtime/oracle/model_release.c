/* model_release.c -- draw a batch, compute, add noise: the one way in which solvers of second order look at
 * records.
 * Depends on: model_release.h, privacy/mechanism, numeric/symmetric.h.
 * Used by: second_order*.c, trust_region*.c, newton*.c.
 *
 * The Hessian is released as its packed upper triangle, one draw an entry: it is symmetric because nothing else was
 * drawn.  For noise that is isotropic in Frobenius norm the entries beside the diagonal are multiplied by sqrt(2)
 * before, and divided by it after.
 *
 * r is public: its part is put into the caller's arrays before anything is charged,
 * so that no failure of it comes after a release. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "core/view.h"
#include "numeric/symmetric.h"
#include "privacy/mechanism/sampler.h"
#include "oracle/model_release.h"

struct pn_model_release {
    const pn_model *model;
    pn_batch_release *gradient, *hessian; /* NULL: without noise */
    pn_event *pair;                       /* of both at once; NULL where there are not both */
    pn_sampler *sampler;                  /* of batches without noise; else NULL */
    double *gradient_sum, *hessian_sum;   /* [dim], [packed]: never the caller's before there is noise on them */
    double *fault;                        /* [3 packed] under a fault, else NULL */
};

/* One call. */
typedef struct asked {
    pn_model_release *self;
    pn_step_context *context;
    const char *label;
    const double *theta;
    double *value;             /* NULL: not asked for */
    double *gradient, *packed; /* NULL: not asked for */
} asked;

static bool sees_all(const pn_model_release *self)
{
    return self->model->batch == self->model->n;
}

/* ---- life ---- */

void pn_model_close(pn_model_release *self)
{
    if (!self)
        return;
    pn_batch_release_free(self->gradient);
    pn_batch_release_free(self->hessian);
    pn_event_free(self->pair);
    pn_sampler_free(self->sampler);
    pn_free(self->gradient_sum);
    pn_free(self->hessian_sum);
    pn_free(self->fault);
    pn_free(self);
}

static pn_status open_noise(pn_model_release *self, double gradient_z, double hessian_z, pn_err *err)
{
    pn_batch_release_options gradient = pn_model_gradient_options(self->model, gradient_z);
    pn_batch_release_options hessian = pn_model_hessian_options(self->model, hessian_z);
    pn_status status = PN_OK;

    if (gradient_z != 0.0)
        status = pn_batch_release_new(&self->gradient, &gradient, err);
    if (status == PN_OK && hessian_z != 0.0)
        status = pn_batch_release_new(&self->hessian, &hessian, err);
    if (status == PN_OK && self->gradient && self->hessian) {
        pn_event *parts[2] = { pn_batch_release_event(self->gradient, NULL),
                               pn_batch_release_event(self->hessian, NULL) };

        status = pn_event_compose(&self->pair, parts, 2, err);
    }
    return status;
}

static pn_status open_parts(pn_model_release *self, double gradient_z, double hessian_z, pn_err *err)
{
    const pn_model *model = self->model;
    pn_arg args[] = { { .given = true, .count = model->n }, { .given = true, .count = model->batch }, { 0 } };
    pn_status status = open_noise(self, gradient_z, hessian_z, err);

    if (status == PN_OK && !sees_all(self) && !model->is_private)
        status = pn_sampler_from_args(&self->sampler, "fixed", args, PN_REPLACE_ONE, err);
    if (status != PN_OK)
        return status;
    self->gradient_sum = pn_calloc(model->dim, sizeof(double));
    self->hessian_sum = pn_calloc(model->packed, sizeof(double));
    if (PN_MUTANT("hessian_noise_reused") || PN_MUTANT("hessian_not_symmetric"))
        self->fault = pn_calloc(model->packed, 3 * sizeof(double));
    PN_TRY(pn_made(self->gradient_sum && self->hessian_sum, err, "model: out of memory for a Hessian of order %zu",
                   model->order));
    return PN_OK;
}

pn_status pn_model_open(pn_model_release **out, const pn_model *model, double gradient_z, double hessian_z, pn_err *err)
{
    pn_model_release *self = pn_calloc(1, sizeof *self);
    pn_status status;

    *out = NULL;
    PN_TRY(pn_made(self, err, "model: out of memory"));
    self->model = model;
    status = open_parts(self, gradient_z, hessian_z, err);
    if (status != PN_OK) {
        pn_model_close(self);
        return status;
    }
    *out = self;
    return PN_OK;
}

/* ---- what is public ---- */

static pn_status check_asked(const asked *a, pn_err *err)
{
    const pn_model_release *self = a->self;

    if (self->model->is_private && ((a->gradient && !self->gradient) || (a->packed && !self->hessian)))
        return pn_fail(err, PN_EPRIVACY,
                       "second-order model: a private run was opened without noise for what it "
                       "asks");
    return PN_OK;
}

/* The caller's arrays = the part of r. */
static pn_status put_regulariser(const asked *a, double *extra, pn_err *err)
{
    const pn_model *model = a->self->model;
    const pn_regulariser *reg = pn_objective_regulariser(model->objective);
    pn_status status = PN_OK;

    *extra = 0.0;
    if (a->gradient)
        memset(a->gradient, 0, model->dim * sizeof(double));
    if (a->packed)
        memset(a->packed, 0, model->packed * sizeof(double));
    if (reg && ((a->gradient && !model->bare) || a->value))
        status = reg->ops->evaluate(reg, model->dim, a->theta, a->value ? extra : NULL,
                                    model->bare ? NULL : a->gradient, err);
    if (reg && status == PN_OK && a->packed && !model->bare)
        status = pn_objective_add_regular_hessian(model->objective, a->theta, a->packed, err);
    return status;
}

/* ---- paying and drawing batches ---- */

/* One release is paid for; it may have been, by a call that failed after paying. */
static pn_status pay(const asked *a, pn_batch_release *release, pn_err *err)
{
    pn_event *event = release ? pn_batch_release_event(release, NULL) : NULL;

    if (!release || pn_batch_release_left(release) > 0)
        return PN_OK;
    PN_TRY(pn_receipt_room(a->context->receipt, event, err));
    PN_TRY(pn_batch_release_pay(release, a->context->ledger, a->label, a->context->rng, 1, false, err));
    pn_receipt_add(a->context->receipt, event, 1);
    return PN_OK;
}

/* Both fit or neither is charged.  Reserved, because the first charge by itself might choose orders that the second
 * does not fit. */
static pn_status pay_all(const asked *a, pn_err *err)
{
    pn_model_release *self = a->self;
    pn_batch_release *gradient = a->gradient ? self->gradient : NULL, *hessian = a->packed ? self->hessian : NULL;
    pn_status status = PN_OK;

    if (gradient && hessian && a->context->ledger && pn_batch_release_left(gradient) == 0 &&
        pn_batch_release_left(hessian) == 0)
        status = pn_ledger_reserve(a->context->ledger, self->pair, 1, err);
    if (status == PN_OK)
        status = pay(a, gradient, err);
    return status == PN_OK ? pay(a, hessian, err) : status;
}

/* *batch as it was for all records. */
static pn_status next_batch(const asked *a, pn_batch_release *release, pn_batch *batch, pn_err *err)
{
    pn_sampler *sampler = a->self->sampler;
    pn_status status = PN_OK;

    if (release)
        return pn_batch_release_draw(release, a->context->rng, &batch->rows, &batch->count, err);
    if (sampler) {
        status = pn_sampler_draw(sampler, a->context->rng, &batch->count, err);
        batch->rows = sampler->indices;
    }
    return status;
}

/* ---- computing ---- */

static void scale_off(const pn_model_release *self, double *packed, double factor)
{
    if (self->hessian && self->model->frobenius)
        pn_packed_scale_off(packed, self->model->order, factor);
}

/* Means over all records, in one pass where both are asked for. */
static pn_status compute_whole(const asked *a, pn_err *err)
{
    pn_model_release *self = a->self;
    pn_objective *objective = self->model->objective;

    if (!a->packed)
        return pn_objective_losses(objective, NULL, a->theta, a->value, self->gradient_sum, a->context->task, err);
    if (self->model->majorant)
        return pn_objective_majorant(objective, a->theta, a->value, a->gradient ? self->gradient_sum : NULL,
                                     self->hessian_sum, a->context->task, err);
    return pn_objective_quadratic(objective, NULL, a->theta, a->value, a->gradient ? self->gradient_sum : NULL,
                                  self->hessian_sum, a->context->task, err);
}

/* Sums over batches, each its own. */
static pn_status compute_batches(const asked *a, pn_err *err)
{
    pn_model_release *self = a->self;
    pn_objective *objective = self->model->objective;
    pn_batch batch = { .denominator = 1.0 };
    pn_status status = PN_OK;

    if (a->gradient) {
        status = next_batch(a, self->gradient, &batch, err);
        if (status == PN_OK)
            status = pn_objective_losses(objective, &batch, a->theta, NULL, self->gradient_sum, a->context->task, err);
    }
    if (status != PN_OK || !a->packed)
        return status;
    PN_TRY(next_batch(a, self->hessian, &batch, err));
    return pn_objective_quadratic(objective, &batch, a->theta, NULL, NULL, self->hessian_sum, a->context->task, err);
}

/* Before the first of two releases.  Both in full: where the first one is says something about the records. */
static pn_status check_finite(const asked *a, pn_err *err)
{
    const pn_model *model = a->self->model;
    bool fine = !a->gradient || pn_first_nonfinite(a->self->gradient_sum, model->dim) == model->dim;

    fine &= !a->packed || pn_first_nonfinite(a->self->hessian_sum, model->packed) == model->packed;
    return fine ? PN_OK : pn_objective_undefined(model->objective, "model", err);
}

/* ---- releasing ---- */

/* What careless authors write; `sum` is what was released from. */
static void break_hessian(const asked *a, double *sum)
{
    pn_model_release *self = a->self;
    size_t packed = self->model->packed;
    double *out = self->hessian_sum, *noise = sum + packed, *other = noise + packed;
    pn_rng *rng = a->context->rng;
    const size_t *rows;
    size_t count;

    if (PN_MUTANT("hessian_noise_reused")) { /* drawn once and kept */
        bool first = pn_batch_release_paid(self->hessian) == 1;

        for (size_t k = 0; k < packed; k++) {
            noise[k] = first ? out[k] - sum[k] : noise[k];
            out[k] = sum[k] + noise[k];
        }
        return;
    }
    /* Each triangle by its own noise under one charge, and the two averaged. */
    (void)pn_batch_release_pay(self->hessian, a->context->ledger, NULL, rng, 1, true, NULL);
    (void)pn_batch_release_draw(self->hessian, rng, &rows, &count, NULL);
    (void)pn_batch_release_make(self->hessian, rng, 1.0, sum, other, NULL);
    for (size_t j = 0, k = 0; j < self->model->order; j++) {
        for (size_t i = 0; i <= j; i++, k++)
            out[k] = i == j ? out[k] : (out[k] + other[k]) / 2.0;
    }
}

static pn_status release_hessian(const asked *a, pn_err *err)
{
    pn_model_release *self = a->self;
    double *fault = self->fault;

    scale_off(self, self->hessian_sum, sqrt(2.0));
    if (fault)
        memcpy(fault, self->hessian_sum, self->model->packed * sizeof *fault);
    PN_TRY(pn_batch_release_make(self->hessian, a->context->rng, 1.0, self->hessian_sum, self->hessian_sum, err));
    if (fault)
        break_hessian(a, fault);
    scale_off(self, self->hessian_sum, sqrt(0.5));
    a->context->releases++;
    return PN_OK;
}

static pn_status release_gradient(const asked *a, pn_err *err)
{
    pn_model_release *self = a->self;
    pn_status status =
        pn_batch_release_make(self->gradient, a->context->rng, 1.0, self->gradient_sum, self->gradient_sum, err);

    if (status == PN_OK)
        a->context->releases++;
    return status;
}

/* What is computed has been paid for; the batches of all records are drawn here, which is a formality. */
static pn_status add_noise(const asked *a, pn_err *err)
{
    pn_batch_release *gradient = a->gradient ? a->self->gradient : NULL, *hessian = a->packed ? a->self->hessian : NULL;
    pn_batch all = { 0 };
    pn_status status = PN_OK;

    if (gradient && sees_all(a->self))
        status = next_batch(a, gradient, &all, err);
    if (status == PN_OK && hessian && sees_all(a->self))
        status = next_batch(a, hessian, &all, err);
    if (status == PN_OK && gradient)
        status = release_gradient(a, err);
    if (status == PN_OK && hessian)
        status = release_hessian(a, err);
    return status;
}

/* out += sum / records: a sum over a batch becomes a mean only after its release. */
static void publish(const pn_model_release *self, const double *sum, size_t count, double *out)
{
    double divisor = sees_all(self) ? 1.0 : (double)self->model->batch;

    for (size_t k = 0; out && k < count; k++)
        out[k] += sum[k] / divisor;
}

static pn_status compute_and_pay(const asked *a, pn_err *err)
{
    pn_status status;

    if (sees_all(a->self)) {
        status = compute_whole(a, err);
        if (status == PN_OK)
            status = check_finite(a, err);
        return status == PN_OK ? pay_all(a, err) : status;
    }
    status = pay_all(a, err);
    if (status == PN_OK)
        status = compute_batches(a, err);
    return status == PN_OK ? check_finite(a, err) : status;
}

static pn_status release(const asked *a, uint64_t *records, pn_err *err)
{
    const pn_model *model = a->self->model;
    double extra = 0.0;
    pn_status status = check_asked(a, err);

    if (status == PN_OK)
        status = put_regulariser(a, &extra, err);
    if (status == PN_OK)
        status = compute_and_pay(a, err);
    if (status == PN_OK)
        status = add_noise(a, err);
    if (status != PN_OK)
        return status;
    publish(a->self, a->self->gradient_sum, model->dim, a->gradient);
    publish(a->self, a->self->hessian_sum, model->packed, a->packed);
    if (a->value)
        *a->value = sees_all(a->self) ? *a->value + extra : NAN;
    if (records)
        *records += model->batch * (a->gradient && a->packed && !sees_all(a->self) ? 2 : 1);
    return PN_OK;
}

pn_status pn_model_gradient(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                            double *value, double *gradient, uint64_t *records, pn_err *err)
{
    asked a = { self, context, label, theta, value, gradient, NULL };

    return release(&a, records, err);
}

pn_status pn_model_hessian(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                           double *packed, uint64_t *records, pn_err *err)
{
    asked a = { self, context, label, theta, NULL, NULL, packed };

    return release(&a, records, err);
}

pn_status pn_model_both(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                        double *value, double *gradient, double *packed, uint64_t *records, pn_err *err)
{
    asked a = { self, context, label, theta, value, gradient, packed };

    return release(&a, records, err);
}
