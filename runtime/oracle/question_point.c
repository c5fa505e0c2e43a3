/* question_point.c -- points that a solver computes from the records without noise, and that leave once, with it: the
 * end of a run whose sensitivity its plan has proven, and the minimum of a perturbed objective.
 * Their sensitivity is the plan's: output_perturbation_bound.c, objective_perturbation_plan.c.
 * Depends on: question.h.  Used by: question.c's table, plans of perturbation. */
#include <math.h>
#include <string.h>

#include "oracle/question.h"
#include "random/noise.h"

/* ---- the noise of a point ---- */

/* Of pure epsilon, a coordinate: rounding takes 2^-40 of it, and the scale below has to settle beside that. */
#define LEAST_PURE 0x1p-30

/* l1 sensitivity sqrt(p) Delta: the scale at which it is epsilon, rounding to the lattice of that scale included. */
static double laplace_scale(const pn_gradient_noise *noise, double epsilon)
{
    double l1 = sqrt((double)noise->dim) * noise->sensitivity * (1.0 + 0x1p-50);
    double left = epsilon * (1.0 - 1e-12) - 4.0 * (double)noise->dim * PN_LAPLACE_ETA, scale = l1 / left;

    for (int i = 0; i < 8; i++)
        scale = pn_lattice_l1(l1, scale, noise->dim, noise->bound, 1) / left;
    return scale * (1.0 + 1e-12);
}

/* Rounding moves values by a part of the noise's scale, which bounds what noise can hide. */
static pn_status too_small(const pn_question *self, const pn_request *request, const char *owner, pn_err *err)
{
    double least = self->laplace ? (double)self->dim * LEAST_PURE : pn_gradient_noise_least(&self->noise, request);
    bool rho = request->kind == PN_RHO;

    if (!isfinite(least))
        return pn_fail(err, PN_EBUDGET, "%s: no %s pays for the release%s", owner, rho ? "rho" : "epsilon",
                       rho ? "" : " at a delta this small; give a larger one, 1/n^2 say");
    return pn_fail(err, PN_EBUDGET,
                   "%s: the budget is too small for the release: %s is %.4g, and the least is about %.4g", owner,
                   rho ? "rho" : "epsilon", rho ? request->rho : request->epsilon, least);
}

pn_status pn_point_noise(pn_question *self, const pn_request *request, const char *owner, pn_err *err)
{
    pn_gradient_noise *noise = &self->noise;

    self->laplace = request->kind == PN_EPSILON_DELTA && request->delta == 0.0;
    if (self->laplace && request->epsilon < (double)self->dim * LEAST_PURE)
        return too_small(self, request, owner, err);
    noise->sigma = self->laplace ? laplace_scale(noise, request->epsilon) : pn_gradient_noise_tight(noise, request, 1);
    if (!(noise->sigma >= 0x1p-900 && noise->sigma <= 0x1p900))
        return too_small(self, request, owner, err);
    return pn_question_price(self, err);
}

/* ---- the rows ---- */

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
