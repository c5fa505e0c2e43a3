/* question_point.c -- points that a solver computes from the records without noise, and that leave once, with it: the
 * end of a run whose sensitivity its plan has proven, and the minimum of a perturbed objective.
 * Their sensitivity is the plan's: output_perturbation_bound.c, objective_perturbation_plan.c.
 * Depends on: question.h.  Used by: question.c's table, plans of perturbation. */
#include <string.h>

#include "oracle/question.h"

static pn_status certify(pn_question *self, pn_err *err)
{
    return pn_fail(err, PN_EUNSUPPORTED, "%s: its sensitivity is that of a whole run, which a plan proves",
                   self->ops->name);
}

static pn_status compute(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err)
{
    (void)batch;
    (void)room;
    (void)value;
    (void)task;
    (void)err;
    memcpy(out, asked->x, self->dim * sizeof *out);
    return PN_OK;
}

const pn_question_ops pn_question_point = {
    .name = "point",
    .doc = "A point that was computed from the records, with noise for the distance that one of them can move it.",
    .source = "Chaudhuri, Monteleoni, Sarwate (2011)",
    .answer = PN_ANSWER_MASKED,
    .certify = certify,
    .compute = compute,
};

const pn_question_ops pn_question_minimum = {
    .name = "minimum",
    .doc = "The minimum of an objective with a random linear term, found to a tolerance that noise on it hides.",
    .source = "Kifer, Smith, Thakurta (2012); Iyengar et al. (2019)",
    .answer = PN_ANSWER_MASKED,
    .certify = certify,
    .compute = compute,
};
