/* objective_perturbation.c -- minimise the sum of the losses plus a quadratic term and a random linear one, once, and
 * mask what the minimum is short of exact with a little noise on the answer.
 * Depends on: objective_perturbation.h, perturbed_minimum.h, privacy/.  Used by: solvers.c's table.
 * Source: Chaudhuri, Monteleoni, Sarwate (2011); Kifer, Smith, Thakurta (2012); Iyengar et al. (2019), approximate
 * minima; constants as derived in mirror-descent.md section 3 (the articles' hold for other neighbours or not at
 * all). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/perturbation/objective_perturbation.h"
#include "solvers/perturbation/perturbed_minimum.h"

typedef struct op_state {
    pn_state base;                    /* first */
    pn_perturbation *release;         /* paid for, not made yet; NULL before */
    double *theta, *linear, *minimum; /* [p] each, one block; linear and minimum are as private as the data */
} op_state;

static const op_plan *plan_of(const op_state *self)
{
    return (const op_plan *)self->base.plan;
}

static void op_destroy(pn_state *state)
{
    op_state *self = (op_state *)state;

    pn_perturbation_free(self->release);
    pn_free(self->theta);
    pn_free(self);
}

static pn_status op_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    op_state *self = pn_calloc(1, sizeof *self);
    size_t p = pn_objective_dim(plan->objective);

    (void)context;
    if (self)
        self->theta = pn_calloc(3, p * sizeof(double));
    if (!self || !self->theta) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "solve.objective_perturbation: out of memory for %zu coordinates", p);
    }
    self->base.plan = plan;
    self->linear = self->theta + p;
    self->minimum = self->theta + 2 * p;
    memcpy(self->theta, plan_of(self)->start, p * sizeof(double));
    *out = &self->base;
    return PN_OK;
}

/* How many gradients and steps the minimum took depends on the records,
 * so only runs without privacy count and report them. */
static pn_status minimise(op_state *self, const pn_step_context *context, pn_err *err)
{
    uint64_t gradients = 0;
    const op_plan *plan = plan_of(self);
    bool open = plan->base.request.kind == PN_NONPRIVATE || pn_rng_simulated(context->rng);
    const pn_perturbed_problem problem = { .owner = "solve.objective_perturbation",
                                           .label = "objective perturbation",
                                           .objective = plan->base.objective,
                                           .linear = self->linear,
                                           .center = plan->start,
                                           .weight = plan->weight,
                                           .strong_convexity = plan->noise.strong_convexity,
                                           .smoothness = plan->smoothness,
                                           .tolerance = plan->tolerance,
                                           .residual = plan->residual,
                                           .most_steps = plan->most_steps,
                                           .quiet = !open };
    pn_status status = pn_perturbed_minimum(&problem, self->minimum, &gradients, context->task, err);

    self->base.gradients += open ? gradients : 0;
    if (!open && status != PN_OK && !pn_is_stop(status) && status != PN_ENOMEM) /* what it says may hold numbers */
        return pn_fail(err, status, "solve.objective_perturbation: the minimum was not found; nothing is released");
    return status;
}

/* Mask the minimum, and project: what is done to noisy values reveals nothing more. */
static pn_status publish(op_state *self, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    const pn_set *set = pn_objective_set(plan->objective);
    pn_status status = pn_perturbation_release(self->release, self->minimum, self->minimum, err);

    if (status == PN_OK && set)
        status = set->ops->project(set, self->minimum, err);
    return status;
}

/* A run that was interrupted and goes on keeps what it paid for: the same linear term. */
static pn_status op_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    op_state *self = (op_state *)state;
    const op_plan *plan = plan_of(self);
    bool is_private = state->plan->request.kind != PN_NONPRIVATE;
    pn_status status = PN_OK;

    if (is_private && !self->release)
        status = pn_perturbation_open(&self->release, &plan->noise, context->ledger, "objective_perturbation",
                                      context->rng, self->linear, err);
    if (status == PN_OK)
        status = minimise(self, context, err);
    if (status == PN_OK && is_private)
        status = publish(self, err);
    if (status != PN_OK)
        return status;
    memcpy(self->theta, self->minimum, pn_objective_dim(state->plan->objective) * sizeof(double));
    row->value = row->gap = NAN;
    return PN_OK;
}

static void op_current(const pn_state *state, double *theta)
{
    memcpy(theta, ((const op_state *)state)->theta, pn_objective_dim(state->plan->objective) * sizeof(double));
}

const pn_solver_ops pn_solver_objective_perturbation = {
    .name = "objective_perturbation",
    .doc = "One private minimum of the losses plus a quadratic and a random linear term, over a set or all of R^p: for "
           "smooth convex losses of one margin.  The guarantee holds for the point that is returned: the minimum is "
           "found to a certified tolerance, which noise on the answer hides; private runs take sets whose support and "
           "projection are known to a bound, and none of a user's functions.",
    .source = "Kifer, Smith, Thakurta (2012) and Iyengar et al. (2019), approximate minima, constants for replaced "
              "records",
    .params = op_params,
    .reveals = PN_REVEALS_FAILURE,
    .is_private = true,
    .plan = op_plan_new,
    .destroy_plan = op_plan_destroy,
    .start = op_start,
    .step = op_step,
    .current = op_current,
    .destroy = op_destroy,
};
