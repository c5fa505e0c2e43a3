/* question_gradient.c -- mean gradients, and means of phi(z, y) x, which are gradients of a loss whose slope is phi.
 * One record adds at most G to the sum in l2, certified or clipped: replacing it moves the mean by 2 G/n, leaving it
 * out by G/n, to which twice the error of computing it comes (pn_gradient_noise_read).  G of phi is max |phi| R.
 *
 * A gradient that is asked with a clip c scales every record's down to c, which is public: the noise for c = 1 is
 * multiplied by c, and the event is the same for every c.
 * Depends on: question.h.  Used by: question.c's table, gradient_noise.c. */
#include <math.h>
#include <string.h>

#include "oracle/question.h"

#define LEAST 0x1p-400

static pn_status certify(pn_question *self, pn_err *err)
{
    pn_request request = { .kind = self->exact ? PN_NONPRIVATE : PN_RHO, .neighbours = self->neighbours };

    PN_TRY(pn_gradient_noise_read(&self->noise, self->ops->name, self->objective, &request, err));
    self->dim = self->noise.dim;
    if (!self->exact) { /* noise has to have a scale, where all gradients are zero */
        self->noise.lipschitz = fmax(self->noise.lipschitz, LEAST);
        self->noise.sensitivity = fmax(self->noise.sensitivity, LEAST);
        self->noise.bound = fmax(self->noise.bound, LEAST);
    }
    if (self->clips) {
        PN_TRY(pn_question_need_norms(self, err));
        self->room = pn_objective_data(self->objective)->n * (pn_loss_inputs(pn_objective_loss(self->objective)) + 1);
        return pn_question_batches(self, 1.0, err);
    }
    if (!self->scheme)
        return PN_OK;
    self->basis.rule = self->noise.basis.rule;
    return pn_question_batches(self, self->exact ? 1.0 : self->noise.lipschitz, err);
}

/* No record's gradient is longer than it was certified to be. */
static double longest(const pn_question *self, const pn_asked *asked)
{
    return self->clips ? fmin(asked->tau, pn_objective_bounds(self->objective)->lipschitz[PN_L2]) : 1.0;
}

/* The difference from gradients of 0. */
static pn_status compute_clipped(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                                 double *out, pn_task *task, pn_err *err)
{
    size_t n = pn_objective_data(self->objective)->n, inputs = pn_loss_inputs(pn_objective_loss(self->objective));
    pn_batch all = { .count = n, .denominator = 1.0 };

    if (!batch->rows)
        all.rows = pn_question_everybody(self, room + inputs * n);
    memset(room, 0, inputs * n * sizeof *room);
    return pn_objective_batch_differences(self->objective, batch->rows ? batch : &all, asked->x, room,
                                          longest(self, asked), out, task, err);
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    if (self->clips)
        return compute_clipped(self, asked, batch, room, out, task, err);
    return pn_objective_losses(self->objective, batch && batch->rows ? batch : NULL, asked->x, value, out, task, err);
}

const pn_question_ops pn_question_gradient = {
    .name = "gradient",
    .doc = "The mean gradient of the losses with Gaussian noise.",
    .source = "Bassily, Smith, Thakurta (2014)",
    .answer = PN_ANSWER_NUMBERS,
    .batches = true,
    .certify = certify,
    .compute = compute,
    .scale = longest,
};

/* ---- moment ---- */

static pn_status certify_moment(pn_question *self, pn_err *err)
{
    const pn_bounds *bounds;

    PN_TRY(pn_question_of_phi(self, true, err));
    bounds = pn_objective_bounds(self->objective);
    if (!self->exact && !isfinite(bounds->slope))
        return pn_fail(err, PN_EPRIVACY,
                       "moment: phi is not bounded: for margins in [%g, %g] %s; give the objective a bounded set, clip "
                       "labels, or take a bounded phi",
                       bounds->margin.low, bounds->margin.high, bounds->loss.missing);
    PN_TRY(certify(self, err));
    self->noise.basis.rule = "moment";
    pn_basis_add(&self->noise.basis, "slope", bounds->slope);
    pn_basis_add(&self->noise.basis, "row", pn_objective_data(self->objective)->bounds.norm[PN_L2]);
    if (self->basis.rule && strcmp(self->basis.rule, "gradient") == 0)
        self->basis.rule = NULL;
    return PN_OK;
}

static pn_status compute_moment(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                                double *value, double *out, pn_task *task, pn_err *err)
{
    (void)value; /* phi is the slope of no loss that is known */
    return compute(self, asked, batch, room, NULL, out, task, err);
}

const pn_question_ops pn_question_moment = {
    .name = "moment",
    .doc = "The mean of phi(z, y) x over the records, z = <x, theta>, with Gaussian noise; phi is traced and bounded.",
    .source = "sensitivity 2 max |phi| R/n",
    .answer = PN_ANSWER_NUMBERS,
    .batches = true,
    .certify = certify_moment,
    .compute = compute_moment,
};
