/* question_gradient.c -- the mean gradient of the losses.
 * One record adds at most G to the sum in l2, certified or clipped: replacing it moves the mean by 2 G/n, leaving it
 * out by G/n, to which twice the error of computing it comes (pn_gradient_noise_read).
 * Depends on: question.h.  Used by: question.c's table, gradient_noise.c. */
#include "oracle/question.h"

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    (void)room;
    return pn_objective_losses(self->objective, batch, asked->x, value, out, task, err);
}

const pn_question_ops pn_question_gradient = {
    .name = "gradient",
    .doc = "The mean gradient of the losses with Gaussian noise.",
    .source = "Bassily, Smith, Thakurta (2014)",
    .answer = PN_ANSWER_NUMBERS,
    .batches = true,
    .compute = compute,
};
