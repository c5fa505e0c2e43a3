/* question_prefix.c -- running sums of mean gradients: each push adds the gradient at a point to a private stream, by
 * any factorization of continual/prefix.h, and one event pays for all of them.
 *
 * A leaf is the mean gradient of all records, or of the next batch of an order that is drawn once and used again in
 * every pass.  Replacing a record moves a leaf that it is in by 2 G over its records (leaving it out: by G), and twice
 * the error of computing.  A record is in every leaf, or in one of every floor(n/batch): these are the participations
 * and their separation, which nobody has to promise.
 * Depends on: question.h, continual/prefix.h.  Used by: question.c's table. */
#include <math.h>
#include <string.h>

#include "oracle/question.h"

static pn_status certify(pn_question *self, pn_err *err)
{
    pn_request request = { .kind = self->exact ? PN_NONPRIVATE : PN_RHO, .neighbours = self->neighbours };
    size_t n = pn_objective_data(self->objective)->n;
    double moved = pn_contributions(self->neighbours), size, error;

    if (self->scheme && strcmp(self->scheme, "shuffled") != 0)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "prefix: its batches are \"shuffled\": an order that is drawn once and cut into batches, got \"%s\"",
            self->scheme);
    PN_TRY(pn_gradient_noise_read(&self->noise, "prefix", self->objective, &request, err));
    self->dim = self->noise.dim;
    if (!self->scheme || self->exact)
        return PN_OK;
    if (self->batch < 1 || self->batch > n)
        return pn_fail(err, PN_EINVAL, "prefix: a batch has 1 to %zu records, got %zu", n, self->batch);
    size = (double)self->batch;
    error = pn_objective_batch_error(self->objective, self->batch, self->noise.lipschitz) / size * (1.0 + 1e-14);
    self->noise.sensitivity =
        (moved * self->noise.lipschitz / size + 2.0 * sqrt((double)self->dim) * error) * (1.0 + 1e-14);
    self->noise.bound = self->noise.lipschitz * (1.0 + 0x1p-30) + error;
    self->noise.basis.divisor = size;
    self->noise.basis.value = self->noise.sensitivity;
    return PN_OK;
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    (void)room;
    return pn_objective_losses(self->objective, batch, asked->x, value, out, task, err);
}

pn_status pn_question_set_horizon(pn_question *self, size_t steps, pn_err *err)
{
    size_t n = pn_objective_data(self->objective)->n, between = self->scheme ? n / self->batch : 1;
    pn_prefix_options *how = &self->prefix;

    how->dim = self->dim;
    how->horizon = steps * self->each;
    how->sensitivity = self->exact ? 1.0 : self->noise.sensitivity;
    how->bound = self->exact ? 0.0 : self->noise.bound;
    how->neighbours = self->neighbours;
    how->participations = (how->horizon + between - 1) / between;
    how->separation = how->participations > 1 ? between : 0; /* of one pass there is none to keep */
    how->noiseless = self->exact;
    if (how->matrix.data && how->matrix.rows != how->horizon)
        return pn_fail(err, PN_EDIM, "prefix: matrix has %zu rows, and a run pushes %zu times", how->matrix.rows,
                       how->horizon);
    return self->exact ? pn_question_design(self, NULL, err) : PN_OK;
}

static pn_status new_design(pn_question *self, const pn_prefix_options *options, pn_err *err)
{
    pn_prefix_design_free(self->design);
    self->design = NULL;
    PN_TRY(pn_prefix_design_new(&self->design, options, err));
    pn_event_free(self->event);
    self->event = self->exact ? NULL : pn_event_keep(pn_prefix_design_event(self->design));
    return PN_OK;
}

pn_status pn_question_design(pn_question *self, const pn_request *request, pn_err *err)
{
    pn_prefix_options options = self->prefix;

    options.sigma = 0.0;
    if (request && request->kind == PN_RHO)
        options.rho = request->rho;
    if (request && request->kind == PN_EPSILON_DELTA) {
        options.epsilon = request->epsilon;
        options.delta = request->delta;
    }
    return new_design(self, &options, err);
}

pn_status pn_question_design_at(pn_question *self, double multiplier, pn_err *err)
{
    pn_prefix_options options = self->prefix;

    if (!self->design) { /* to learn its gain */
        options.sigma = options.sensitivity;
        PN_TRY(new_design(self, &options, err));
    }
    options.sigma = multiplier * options.sensitivity * pn_prefix_gain(self->design);
    return new_design(self, &options, err);
}

const pn_question_ops pn_question_prefix = {
    .name = "prefix",
    .doc = "A running sum of mean gradients, released after every push by a factorization of prefix sums.",
    .source = "Kairouz et al. (2021); Choquette-Choo et al. (2023); Dvijotham et al. (2024)",
    .answer = PN_ANSWER_SUMS,
    .batches = true,
    .certify = certify,
    .compute = compute,
};
