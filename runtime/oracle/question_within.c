/* question_within.c -- how many records have short gradients: the share of those whose gradient at x has an l2 norm of
 * at most c, which is public and may be another number each time.  Quantiles of these norms are followed by asking it,
 * as clips that adapt do.
 *
 * A record adds 0 or 1, centred -1/2 or 1/2, to n times the mean: replacing one moves it by 1/n, leaving it out by
 * 1/(2 n).  The sum is exact; the division and the centring are off by at most 2^-52.
 * Depends on: question.h.  Used by: question.c's table.  Source: Andrew, Thakkar, McMahan, Ramaswamy (2021). */
#include <math.h>

#include "oracle/question.h"

static pn_status certify(pn_question *self, pn_err *err)
{
    size_t n = pn_objective_data(self->objective)->n;

    if (pn_objective_loss(self->objective)->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "within: a black box has no gradients");
    PN_TRY(pn_question_need_norms(self, err));
    PN_TRY(pn_dataset_need_records(pn_objective_data(self->objective), self->ops->name, err));
    self->clips = true;
    self->dim = 1;
    self->room = n * pn_loss_inputs(pn_objective_loss(self->objective));
    self->offset = 0.5;
    self->noise =
        (pn_gradient_noise){ .dim = 1,
                             .neighbours = self->neighbours,
                             .lipschitz = 0.5,
                             .sensitivity = (self->neighbours == PN_REPLACE_ONE ? 1.0 : 0.5) / (double)n + 0x1p-51,
                             .bound = 0.5 * (1.0 + 0x1p-30) };
    self->noise.basis = (pn_basis){ .rule = "range",
                                    .norm = "l2",
                                    .contributions = pn_contributions(self->neighbours),
                                    .contribution = 0.5,
                                    .factor = 1.0,
                                    .divisor = (double)n,
                                    .value = self->noise.sensitivity };
    pn_basis_add(&self->noise.basis, "low", 0.0);
    pn_basis_add(&self->noise.basis, "high", 1.0);
    return PN_OK;
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    size_t n = pn_objective_data(self->objective)->n, within = 0;

    (void)batch;
    (void)value;
    PN_TRY(pn_objective_factors(self->objective, asked->x, NULL, room, task, err));
    for (size_t i = 0; i < n; i++)
        within += pn_objective_gradient_norm(self->objective, room, i) <= asked->tau;
    *out = (double)within / (double)n - self->offset;
    return PN_OK;
}

const pn_question_ops pn_question_within = {
    .name = "within",
    .doc = "The share of records whose gradient has at most a given l2 norm, with Gaussian noise.",
    .source = "Andrew, Thakkar, McMahan, Ramaswamy (2021)",
    .answer = PN_ANSWER_NUMBERS,
    .certify = certify,
    .compute = compute,
};
