/* output_perturbation.c -- gradient steps, or the minimum itself, on the records as they are, and noise once on where
 * they end.  Nothing of the way there leaves: a run that is interrupted has its start and has spent nothing.
 * Depends on: output_perturbation.h, oracle.  Used by: solvers.c's table.
 * Source: Chaudhuri, Monteleoni, Sarwate (2011); Zhang, Zheng, Mou, Wang (2017); Wu et al. (2017); constants as derived
 * in output_perturbation_bound.c. */
#include <math.h>
#include <string.h>

#include "core/mutant.h"
#include "minimise/descent.h"
#include "solvers/engine/first_order.h"
#include "solvers/perturbation/output_perturbation.h"

typedef struct output_state {
    pn_state base;        /* first */
    double *x, *gradient; /* [p] as private as the data */
    double *next;         /* [p] what a step leaves unfinished when it fails */
    double *released;     /* [p] the end point with its noise */
    size_t done;          /* batches of this pass */
    uint64_t counted;     /* t of the steps so far */
} output_state;

static const output_plan *plan_of(const output_state *self)
{
    return (const output_plan *)self->base.plan;
}

static void output_rooms(pn_state *state, pn_room *room)
{
    output_state *self = (output_state *)state;

    PN_ROOM_TAKE(room, state->dim, &self->x, &self->gradient, &self->next, &self->released);
}

static pn_status output_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    output_state *self = (output_state *)state;

    memcpy(self->x, state->plan->start, self->base.dim * sizeof(double));
    if (plan_of(self)->method != OUTPUT_GD)
        return PN_OK;
    return pn_objective_prepare(state->plan->objective, state->plan->iterations, pn_ask_task(ask), err);
}

/* ---- steps ---- */

/* The gradient of the batch and of the regulariser where that is smooth;
 * the value where it may be shown and costs nothing. */
static pn_status take_gradient(output_state *self, const pn_batch *batch, double *value, pn_task *task, pn_err *err)
{
    const output_plan *plan = plan_of(self);
    const pn_regulariser *reg = pn_objective_regulariser(plan->base.objective);
    double extra = 0.0;

    PN_TRY(pn_objective_losses(plan->base.objective, batch, self->x, batch ? NULL : value, self->gradient, task, err));
    if (reg)
        PN_TRY(reg->ops->evaluate(reg, self->base.dim, self->x, value ? &extra : NULL,
                                  plan->prox ? NULL : self->gradient, err));
    if (value)
        *value += extra;
    return PN_OK;
}

static pn_status one_step(output_state *self, double *value, pn_task *task, pn_err *err)
{
    const output_plan *plan = plan_of(self);
    const output_schedule *s = &plan->schedule;
    const pn_set *set = pn_objective_set(plan->base.objective);
    const pn_batch batch = { .rows = plan->order ? plan->order + self->done * s->batch : NULL,
                             .count = s->batch,
                             .denominator = (double)s->batch };
    double eta = output_step_size(s, (double)self->counted + 1.0);
    size_t p = self->base.dim;

    PN_TRY(take_gradient(self, plan->order ? &batch : NULL, value, task, err));
    if (PN_MUTANT("output_steps"))
        eta *= 2.0;
    for (size_t j = 0; j < p; j++)
        self->next[j] = self->x[j] - eta * self->gradient[j];
    if (plan->prox)
        PN_TRY(pn_prox_apply(plan->prox, self->next, p, eta, err));
    else if (set)
        PN_TRY(pn_set_project(set, self->next, p, err));
    memcpy(self->x, self->next, p * sizeof(double));
    self->counted++;
    return PN_OK;
}

/* A pass that was stopped goes on where it was. */
static pn_status one_pass(output_state *self, double *value, pn_oracle *ask, pn_err *err)
{
    const output_schedule *s = &plan_of(self)->schedule;

    for (; self->done < s->batches; self->done++) {
        PN_TRY(pn_look_for_cancel(pn_ask_task(ask), self->base.plan->owner, err));
        PN_TRY(one_step(self, value, pn_ask_task(ask), err));
        pn_ask_count(ask, s->batch);
    }
    return PN_OK;
}

static pn_status minimise(output_state *self, pn_oracle *ask, pn_err *err)
{
    const output_plan *plan = plan_of(self);

    if (self->done)
        return PN_OK;
    memset(self->next, 0, self->base.dim * sizeof(double)); /* no linear term */
    PN_TRY(op_minimise(&plan->minimum, &plan->certificate, "output perturbation", self->next, self->x, ask, err));
    self->done = 1;
    return PN_OK;
}

/* ---- failures ---- */

/* Of a private run it says nothing more, since that may hold numbers of the records.  A minimum that is missed says
 * something about them by itself, which costs what the release would have. */
static pn_status compute(output_state *self, pn_oracle *ask, double *value, pn_err *err)
{
    bool exact = plan_of(self)->method == OUTPUT_EXACT;
    pn_status status = exact ? minimise(self, ask, err) : one_pass(self, pn_ask_shows(ask) ? value : NULL, ask, err);

    if (!pn_plan_is_private(self->base.plan) || status == PN_OK || pn_is_stop(status) || status == PN_ENOMEM)
        return status;
    if (exact && status == PN_ENUMERIC)
        PN_TRY(pn_ask_forfeit(ask, err));
    return pn_fail(err, status, "%s; nothing is released",
                   exact ? "the minimum was not found to the tolerance" : "a step could not be made");
}

static bool is_last(const output_state *self)
{
    return self->base.step + 1 == self->base.plan->iterations;
}

static pn_status output_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    output_state *self = (output_state *)state;
    double value = NAN;

    PN_TRY(compute(self, ask, &value, err));
    row->value = plan_of(self)->order ? NAN : value;
    return pn_plan_is_private(self->base.plan) && is_last(self) ? pn_ask_masked(ask, self->x, self->released, err)
                                                                : PN_OK;
}

/* What is done to noisy values reveals nothing more. */
static pn_status output_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    output_state *self = (output_state *)state;
    const output_plan *plan = plan_of(self);
    const pn_set *set = pn_objective_set(plan->base.objective);
    size_t p = self->base.dim;

    if (pn_plan_is_private(self->base.plan) && is_last(self)) {
        memcpy(self->next, self->released, p * sizeof(double));
        PN_TRY(set ? pn_set_project(set, self->next, p, err) : PN_OK);
        memcpy(state->theta, self->next, p * sizeof(double));
    }
    if (!pn_plan_is_private(self->base.plan) && !pn_has_diverged(state, self->x, p))
        memcpy(state->theta, self->x, p * sizeof(double));
    row->step_size = plan->method == OUTPUT_EXACT ? 0.0 : output_step_size(&plan->schedule, (double)self->counted);
    self->done = 0;
    return PN_OK;
}

const pn_solver_ops pn_solver_output_perturbation = {
    .name = "output_perturbation",
    .doc = "Gradient descent, passes over batches, or the minimum of a strongly convex objective, computed without "
           "noise and released once with it: noise for the distance that one record can move the end point, its "
           "rounding included.  For smooth convex losses, certified bounds and none of a user's functions.",
    .source = "Chaudhuri, Monteleoni, Sarwate (2011); Zhang, Zheng, Mou, Wang (2017); Wu et al. (2017); constants as "
              "derived",
    .params = output_params,
    .reveals = PN_REVEALS_FAILURE,
    .is_private = true,
    .plan_size = sizeof(output_plan),
    .fill = output_fill,
    .destroy_plan = output_plan_destroy,
    .state = sizeof(output_state),
    .rooms = output_rooms,
    .begin = output_begin,
    .query = output_query,
    .update = output_update,
};
