/* question_hessian.c -- the Hessian of the mean loss, packed, with symmetric noise that is isotropic in Frobenius norm:
 * entries beside the diagonal are multiplied by sqrt(2) before the noise and divided by it after.
 * Sensitivity: model_noise.c.
 * Depends on: question.h, model_noise.h, numeric/symmetric.h.  Used by: question.c's table. */
#include <math.h>
#include <string.h>

#include "numeric/symmetric.h"
#include "oracle/question.h"

static pn_status certify(pn_question *self, pn_err *err)
{
    pn_request request = { .kind = self->exact ? PN_NONPRIVATE : PN_RHO, .neighbours = self->neighbours };

    if (self->scheme && strcmp(self->scheme, "fixed") != 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "hessian: batches must have a fixed size, got scheme=\"%s\"; give scheme=\"fixed\", or "
                       "batch=false for all records",
                       self->scheme);
    PN_TRY(pn_model_read(&self->model, "hessian", self->objective, &request, self->scheme ? self->batch : 0, true,
                         false, err));
    self->dim = self->model.packed;
    self->batches = pn_model_hessian_options(&self->model, 1.0);
    self->basis = self->model.hessian_basis;
    self->divisor = self->model.batch == self->model.n ? 1.0 : (double)self->model.batch;
    return PN_OK;
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    (void)room;
    PN_TRY(pn_objective_quadratic(self->objective, batch->rows ? batch : NULL, asked->x, batch->rows ? NULL : value,
                                  NULL, out, task, err));
    pn_packed_scale_off(out, self->model.order, sqrt(2.0));
    return PN_OK;
}

static void finish(const pn_question *self, double *out)
{
    pn_packed_scale_off(out, self->model.order, sqrt(0.5));
}

const pn_question_ops pn_question_hessian = {
    .name = "hessian",
    .doc = "The Hessian of the mean loss, packed, with symmetric Gaussian noise.",
    .source = "Gao, Wright; sensitivity as derived from the loss",
    .answer = PN_ANSWER_NUMBERS,
    .batches = true,
    .certify = certify,
    .compute = compute,
    .finish = finish,
};
