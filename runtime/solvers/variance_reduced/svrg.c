/* svrg.c -- the epochs of DP-SVRG and DP-SVRG++: a step of the machine is an epoch.
 * Depends on: svrg.h, oracle.  Used by: solvers.c's table.
 * Source: Wang, Ye, Xu (2017), Algorithms 1 and 2, with the noise of variance-reduced.md section 3; Xiao, Zhang (2014);
 * Allen-Zhu, Yuan (2016). */
#include <math.h>
#include <string.h>

#include "minimise/averaged_step.h"
#include "solvers/variance_reduced/svrg.h"

/* What the epoch does next: a failure, or a cancel, leaves it there. */
typedef enum stage { SNAPSHOT = 0, INNER } stage;

typedef struct svrg_state {
    pn_state base; /* first */
    stage stage;
    size_t inner;        /* steps done in this epoch */
    pn_lazy_steps *lazy; /* makes the inner steps; NULL: `move` does */
    double *x, *y, *v;   /* [p] the iterate, the snapshot, its gradient as released */
    double *average;     /* [p] of the iterates of this epoch */
    double *direction;   /* [p] batch sum of differences, with its noise */
    double *next;        /* [p] */
    double apart;        /* ||x - y||_2 */
} svrg_state;

static const svrg_plan *plan_of(const svrg_state *self)
{
    return (const svrg_plan *)self->base.plan;
}

/* ---- life ---- */

const char *svrg_lazy_obstacle(const svrg_plan *plan, pn_lazy_options *how)
{
    *how = (pn_lazy_options){ .owner = plan->base.owner,
                              .objective = plan->base.objective,
                              .composite = &plan->problem.composite,
                              .batch = plan->shape.batch,
                              .most = svrg_epoch_steps(&plan->shape, plan->shape.epochs),
                              .tail = plan->tail };
    return plan->base.request.kind != PN_NONPRIVATE ? "noise falls on every coordinate" : pn_lazy_obstacle(how);
}

static void svrg_rooms(pn_state *state, pn_room *room)
{
    svrg_state *self = (svrg_state *)state;

    PN_ROOM_TAKE(room, state->dim, &self->x, &self->y, &self->v, &self->average, &self->direction, &self->next);
}

static pn_status svrg_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    svrg_state *self = (svrg_state *)state;
    const svrg_plan *plan = plan_of(self);
    pn_lazy_options how;

    (void)ask;
    memcpy(self->x, plan->problem.start, self->base.dim * sizeof(double));
    memcpy(self->base.theta, plan->problem.start, self->base.dim * sizeof(double));
    return svrg_lazy_obstacle(plan, &how) ? PN_OK : pn_lazy_new(&self->lazy, &how, err);
}

static void svrg_end(pn_state *state)
{
    pn_lazy_free(((svrg_state *)state)->lazy);
}

/* ---- asking ---- */

/* Every difference is clipped to it; what it is rests on public points only. */
static double reach(const svrg_state *self)
{
    const svrg_plan *plan = plan_of(self);
    double most = 2.0 * plan->problem.lipschitz;

    if (plan->base.request.kind == PN_NONPRIVATE)
        return INFINITY;
    if (plan->printed)
        return most;
    return fmin(most, plan->reach * pn_objective_bounds(plan->base.objective)->loss_smoothness * self->apart);
}

static pn_status lazy_step(svrg_state *self, pn_oracle *ask, pn_err *err)
{
    pn_batch batch;
    const double *factors;

    PN_TRY(pn_ask_rows(ask, &batch, &factors, err));
    return pn_lazy_step(self->lazy, &batch, factors, self->x, err);
}

static pn_status svrg_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    svrg_state *self = (svrg_state *)state;
    size_t steps = svrg_epoch_steps(&plan_of(self)->shape, state->step + 1);

    if (self->stage == SNAPSHOT) {
        memcpy(self->y, self->base.theta, self->base.dim * sizeof(double));
        return pn_ask_snapshot(ask, self->y, steps, &row->value, self->v, err);
    }
    return self->lazy ? lazy_step(self, ask, err)
                      : pn_ask_difference(ask, self->x, self->y, reach(self), self->direction, err);
}

/* ---- moving ---- */

static void begin_epoch(svrg_state *self)
{
    size_t p = self->base.dim;

    if (!plan_of(self)->goes_on)
        memcpy(self->x, self->y, p * sizeof(double));
    self->apart = 0.0;
    for (size_t j = 0; plan_of(self)->goes_on && j < p; j++)
        self->apart += (self->x[j] - self->y[j]) * (self->x[j] - self->y[j]);
    self->apart = sqrt(self->apart);
    if (self->lazy)
        pn_lazy_begin(self->lazy, self->v, pn_schedule_at(&plan_of(self)->step, self->base.step + 1));
    self->inner = 0;
    self->stage = INNER;
}

/* x <- prox(x - eta (direction/b + v + public gradient)), the average of iterates and the distance from the
 * snapshot. */
static pn_status move(svrg_state *self, pn_err *err)
{
    const svrg_plan *plan = plan_of(self);
    const bool whole = plan->printed && plan->base.request.kind != PN_NONPRIVATE; /* v is in every direction */
    pn_averaged_step step = {
        .p = self->base.dim,
        .direction = self->direction,
        .share = 1.0 / (double)plan->shape.batch,
        .v = whole ? NULL : self->v,
        .y = self->y,
        .eta = pn_schedule_at(&plan->step, self->base.step + 1),
        .weight = (plan->tail + 1.0) / (plan->tail + (double)self->inner + 1.0), /* 1 for the first */
        .x = self->x,
        .average = self->average,
        .next = self->next,
    };

    return pn_averaged_step_make(&step, &plan->problem.composite, &self->apart, err);
}

/* The step that lazy_step has made as far as records go. */
static void catch_up(svrg_state *self, bool last)
{
    if (last)
        pn_lazy_finish(self->lazy, self->x, self->average);
    self->apart = pn_lazy_within(self->lazy, SVRG_FAR) ? 0.0 : INFINITY;
}

static pn_status svrg_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    svrg_state *self = (svrg_state *)state;
    size_t steps = svrg_epoch_steps(&plan_of(self)->shape, state->step + 1);

    if (self->stage == SNAPSHOT) {
        begin_epoch(self);
        state->more = true;
        return PN_OK;
    }
    if (self->lazy)
        catch_up(self, self->inner + 1 == steps);
    else
        PN_TRY(move(self, err));
    self->inner++;
    state->finished = !(self->apart <= SVRG_FAR); /* out of bounds: the last answer stands */
    state->more = !state->finished && self->inner < steps;
    if (state->more)
        return PN_OK;
    self->stage = SNAPSHOT;
    if (state->finished) {
        state->stopped = "diverged";
        return PN_OK;
    }
    row->step_size = pn_schedule_at(&plan_of(self)->step, state->step + 1);
    memcpy(self->base.theta, self->average, self->base.dim * sizeof(double));
    return PN_OK;
}

/* ---- the rows ---- */

static const char *const noise_params[] = { "form", "anchor_share", "reach", "accountant", NULL };

#define SVRG_ROW                                                                                                       \
    .params = svrg_params, .noise_params = noise_params, .reveals = PN_REVEALS_PAID, .is_private = true,               \
    .plan_size = sizeof(svrg_plan), .fill = svrg_fill, .what_if = svrg_what_if, .destroy_plan = svrg_plan_destroy,     \
    .state = sizeof(svrg_state), .rooms = svrg_rooms, .begin = svrg_begin, .query = svrg_query, .update = svrg_update, \
    .end = svrg_end

const pn_solver_ops pn_solver_svrg = {
    .name = "svrg",
    .doc =
        "Proximal stochastic gradients with variance reduction: each epoch takes one gradient of all records at a "
        "snapshot and many steps that correct it on small batches, so that the risk of gradient descent is reached "
        "with far fewer gradients when the problem is badly conditioned.  For smooth losses and any regulariser with a "
        "proximal operator.  The answer is the average of the last epoch; a step of plan:steps() is an epoch.",
    .source = "Wang, Ye, Xu (2017), Algorithm 1 and Theorem 4.2; noise from the accountant, not from its constants",
    SVRG_ROW,
};

const pn_solver_ops pn_solver_svrg_pp = {
    .name = "svrg_pp",
    .doc = "SVRG++ for convex objectives without strong convexity: as svrg, but every epoch has twice the steps of the "
           "one before and goes on from its last iterate.  The answer is the average of the last epoch; a step of "
           "plan:steps() is an epoch.",
    .source = "Wang, Ye, Xu (2017), Algorithm 2 and Theorem 4.4; Allen-Zhu, Yuan (2016)",
    SVRG_ROW,
};
