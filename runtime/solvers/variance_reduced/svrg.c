/* svrg.c -- the epochs of DP-SVRG and DP-SVRG++: a step of the machine is an epoch.
 * Depends on: svrg.h, objective, privacy/mechanism/batch_release.h.  Used by: solvers.c's table.
 * Source: Wang, Ye, Xu (2017), Algorithms 1 and 2, with the noise of variance-reduced.md section 3; Xiao, Zhang (2014);
 * Allen-Zhu, Yuan (2016). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/mechanism/sampler.h"
#include "solvers/engine/descent.h"
#include "solvers/variance_reduced/svrg.h"
#include "solvers/variance_reduced/svrg_lazy.h"
#include "solvers/variance_reduced/svrg_move.h"

/* What the epoch does next: a failure, or a cancel, leaves it there, and nothing is drawn twice. */
typedef enum stage { SNAPSHOT = 0, INNER } stage;

typedef struct svrg_state {
    pn_state base; /* first */
    stage stage;
    size_t inner;              /* steps done in this epoch */
    bool directed;             /* `direction` has been released, and the step along it has not been made */
    pn_batch_release *anchor;  /* of v, as a batch of all records; NULL: v has no noise of its own */
    pn_batch_release *release; /* NULL: without noise, batches from `sampler` */
    pn_sampler *sampler;
    svrg_lazy *lazy;   /* makes the inner steps; NULL: `move` does */
    bool paid;         /* the whole run has been charged */
    double *x, *y, *v; /* [p] the iterate, the snapshot, its gradient as released */
    double *average;   /* [p] of the iterates of this epoch */
    double *answer;    /* [p] */
    double *direction; /* [p] batch sum of differences, with its noise */
    double *next;      /* [p] */
    double *factors;   /* [inputs][n] at the snapshot */
    double value;      /* at the snapshot; NaN where it may not be shown */
    double apart;      /* ||x - y||_2 */
} svrg_state;

#define VECTORS 7

static const svrg_plan *plan_of(const svrg_state *self)
{
    return (const svrg_plan *)self->base.plan;
}

static size_t dim_of(const svrg_state *self)
{
    return plan_of(self)->problem.p;
}

/* ---- life ---- */

static void svrg_destroy(pn_state *state)
{
    svrg_state *self = (svrg_state *)state;

    pn_batch_release_free(self->anchor);
    pn_batch_release_free(self->release);
    pn_sampler_free(self->sampler);
    svrg_lazy_free(self->lazy);
    pn_free(self->x);
    pn_free(self->factors);
    pn_free(self);
}

static pn_status allocate(svrg_state *self, pn_err *err)
{
    const svrg_plan *plan = plan_of(self);
    size_t p = dim_of(self), inputs = pn_loss_inputs(pn_objective_loss(plan->base.objective));

    self->x = pn_calloc(VECTORS, p * sizeof(double));
    self->factors = pn_alloc(pn_objective_data(plan->base.objective)->n, inputs * sizeof(double));
    PN_TRY(pn_made(self->x && self->factors, err, "solve.%s: out of memory for %zu coordinates",
                   plan->base.solver->name, p));
    self->y = self->x + p;
    self->v = self->x + 2 * p;
    self->average = self->x + 3 * p;
    self->answer = self->x + 4 * p;
    self->direction = self->x + 5 * p;
    self->next = self->x + 6 * p;
    memcpy(self->x, plan->problem.start, p * sizeof(double));
    memcpy(self->answer, plan->problem.start, p * sizeof(double));
    return PN_OK;
}

/* The source of batches, and of their noise. */
static pn_status open_batches(svrg_state *self, pn_err *err)
{
    const svrg_plan *plan = plan_of(self);
    pn_arg args[] = { { .given = true, .count = pn_objective_data(plan->base.objective)->n },
                      { .given = true, .count = plan->shape.batch },
                      { 0 } };

    if (plan->release.sigma > 0.0)
        return pn_batch_release_new(&self->release, &plan->release, err);
    return pn_sampler_from_args(&self->sampler, "fixed", args, PN_REPLACE_ONE, err);
}

static pn_status svrg_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    svrg_state *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "solve.%s: out of memory", plan->solver->name));
    self->base.plan = plan;
    status = allocate(self, err);
    if (status == PN_OK && plan_of(self)->anchor_release.sigma > 0.0)
        status = pn_batch_release_new(&self->anchor, &plan_of(self)->anchor_release, err);
    if (status == PN_OK)
        status = open_batches(self, err);
    if (status == PN_OK && !svrg_lazy_obstacle(plan_of(self)))
        status = svrg_lazy_new(&self->lazy, plan_of(self), err);
    (void)context;
    if (status != PN_OK) {
        svrg_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

/* ---- the snapshot ---- */

/* v at y, private or not, as the inner steps take it. */
static pn_status publish(svrg_state *self, pn_step_context *context, pn_err *err)
{
    const svrg_plan *plan = plan_of(self);
    const size_t *rows;
    size_t count;
    pn_status status;

    if (plan->printed && self->release) {
        for (size_t j = 0; j < dim_of(self); j++)
            self->v[j] *= (double)plan->shape.batch; /* in the unit of a batch's sum */
        return pn_batch_release_set_whole(self->release, self->v, err);
    }
    if (!self->anchor)
        return PN_OK;
    status = pn_batch_release_draw(self->anchor, context->rng, &rows, &count, err);
    return status == PN_OK ? pn_batch_release_make(self->anchor, context->rng, 1.0, self->v, self->v, err) : status;
}

/* A run that is priced as a whole is paid for before its first draw. */
static pn_status pay_whole(svrg_state *self, pn_step_context *context, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    pn_status status;

    if (!plan_of(self)->whole_price || self->paid)
        return PN_OK;
    status = pn_ledger_spend(context->ledger, plan->event, 1, plan->solver->name, err);
    self->paid = status == PN_OK;
    return status;
}

/* So that `releases` of them are paid for: some may be, of a try that failed after paying. */
static pn_status pay_up_to(svrg_state *self, pn_batch_release *release, size_t releases, const char *label,
                           pn_step_context *context, pn_err *err)
{
    size_t left = release ? pn_batch_release_left(release) : releases;

    return left >= releases
               ? PN_OK
               : pn_batch_release_pay(release, context->ledger, label, context->rng, releases - left, self->paid, err);
}

static pn_status pay_epoch(svrg_state *self, pn_step_context *context, pn_err *err)
{
    size_t steps = svrg_epoch_steps(&plan_of(self)->shape, self->base.step + 1);
    pn_status status = pay_whole(self, context, err);

    if (status == PN_OK)
        status = pay_up_to(self, self->anchor, 1, "svrg snapshot", context, err);
    if (status == PN_OK)
        status = pay_up_to(self, self->release, steps, "svrg steps", context, err);
    return status;
}

static pn_status snapshot(svrg_state *self, pn_step_context *context, pn_err *err)
{
    const svrg_plan *plan = plan_of(self);
    size_t p = dim_of(self);
    bool show = plan->base.request.kind == PN_NONPRIVATE || pn_rng_simulated(context->rng);
    pn_status status;

    PN_TRY(pay_epoch(self, context, err));
    memcpy(self->y, self->answer, p * sizeof(double));
    self->value = NAN;
    status = pn_objective_snapshot(plan->base.objective, self->y, self->factors, show ? &self->value : NULL, self->v,
                                   context->task, err);
    if (status == PN_OK)
        status = publish(self, context, err);
    if (status != PN_OK)
        return status;
    self->base.gradients += pn_objective_data(plan->base.objective)->n;
    if (!plan->goes_on)
        memcpy(self->x, self->y, p * sizeof(double));
    self->apart = 0.0;
    for (size_t j = 0; plan->goes_on && j < p; j++)
        self->apart += (self->x[j] - self->y[j]) * (self->x[j] - self->y[j]);
    self->apart = sqrt(self->apart);
    if (self->lazy)
        svrg_lazy_begin(self->lazy, self->v);
    self->inner = 0;
    self->stage = INNER;
    return PN_OK;
}

/* ---- an inner step ---- */

/* Every difference is clipped to it; what it is rests on public points only. */
static double reach(const svrg_state *self)
{
    const svrg_plan *plan = plan_of(self);
    double most = 2.0 * plan->problem.lipschitz;

    if (plan->printed || !self->release)
        return most;
    return fmin(most, plan->reach * pn_objective_bounds(plan->base.objective)->loss_smoothness * self->apart);
}

/* direction = batch sum of the differences; with v and noise in the printed form. */
static pn_status take_direction(svrg_state *self, pn_step_context *context, pn_err *err)
{
    const svrg_plan *plan = plan_of(self);
    pn_batch batch = { .denominator = 1.0 };
    double tau = reach(self);
    pn_status status;

    if (self->release) {
        status = pn_batch_release_draw(self->release, context->rng, &batch.rows, &batch.count, err);
    } else {
        status = pn_sampler_draw(self->sampler, context->rng, &batch.count, err);
        batch.rows = self->sampler->indices;
        tau = INFINITY;
    }
    if (status == PN_OK)
        status = pn_objective_batch_differences(plan->base.objective, &batch, self->x, self->factors, tau,
                                                self->direction, context->task, err);
    if (status == PN_OK && self->release)
        status = pn_batch_release_make(self->release, context->rng, plan->printed ? 1.0 : tau, self->direction,
                                       self->direction, err);
    if (status != PN_OK)
        return status;
    self->base.gradients += 2 * plan->shape.batch;
    self->directed = true;
    return PN_OK;
}

/* x <- prox(x - eta (direction/b + v + public gradient)), the average of iterates and the distance from the
 * snapshot. */
static pn_status move(svrg_state *self, pn_err *err)
{
    const svrg_plan *plan = plan_of(self);
    const bool whole = !(plan->printed && self->release);
    svrg_move step = {
        .p = dim_of(self),
        .direction = self->direction,
        .share = 1.0 / (double)plan->shape.batch,
        .v = whole ? self->v : NULL,
        .y = self->y,
        .eta = plan->shape.step,
        .weight = (plan->tail + 1.0) / (plan->tail + (double)self->inner + 1.0), /* 1 for the first */
        .x = self->x,
        .average = self->average,
        .next = self->next,
    };

    PN_TRY(svrg_move_make(&step, &plan->problem.composite, &self->apart, err));
    self->directed = false;
    self->inner++;
    return PN_OK;
}

static pn_status lazy_step(svrg_state *self, pn_step_context *context, pn_err *err)
{
    pn_batch batch = { .rows = self->sampler->indices, .denominator = 1.0 };
    pn_status status = pn_sampler_draw(self->sampler, context->rng, &batch.count, err);

    if (status == PN_OK)
        status = svrg_lazy_step(self->lazy, &batch, self->factors, self->x, err);
    if (status != PN_OK)
        return status;
    self->base.gradients += 2 * batch.count;
    self->inner++;
    if (self->inner == svrg_epoch_steps(&plan_of(self)->shape, self->base.step + 1))
        svrg_lazy_finish(self->lazy, self->x, self->average);
    self->apart = svrg_lazy_within(self->lazy, SVRG_FAR) ? 0.0 : INFINITY;
    return PN_OK;
}

static pn_status inner_step(svrg_state *self, pn_step_context *context, pn_err *err)
{
    pn_status status;

    if (self->lazy)
        return lazy_step(self, context, err);
    status = self->directed ? PN_OK : take_direction(self, context, err);
    return status == PN_OK ? move(self, err) : status;
}

/* What is left of an epoch that has gone out of bounds: the last answer stands. */
static pn_status give_up(svrg_state *self)
{
    self->base.finished = true;
    self->base.stopped = "diverged";
    self->stage = SNAPSHOT;
    return PN_OK;
}

static pn_status svrg_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    svrg_state *self = (svrg_state *)state;
    const svrg_plan *plan = plan_of(self);
    size_t steps = svrg_epoch_steps(&plan->shape, state->step + 1);
    pn_status status = self->stage == SNAPSHOT ? snapshot(self, context, err) : PN_OK;

    while (status == PN_OK && self->inner < steps) {
        status = pn_look_for_cancel(context->task, plan->base.solver->name, err);
        if (status == PN_OK)
            status = inner_step(self, context, err);
        if (status == PN_OK && !(self->apart <= SVRG_FAR)) {
            row->value = self->value;
            return give_up(self);
        }
    }
    if (status != PN_OK)
        return status;
    row->value = self->value;
    row->step_size = plan->shape.step;
    memcpy(self->answer, self->average, dim_of(self) * sizeof(double));
    self->stage = SNAPSHOT;
    return PN_OK;
}

static void svrg_current(const pn_state *state, double *theta)
{
    const svrg_state *self = (const svrg_state *)state;

    memcpy(theta, self->answer, dim_of(self) * sizeof(double));
}

/* ---- what has been charged ---- */

static pn_status svrg_spent(const pn_state *state, pn_event **out, pn_err *err)
{
    const svrg_state *self = (const svrg_state *)state;
    const svrg_plan *plan = plan_of(self);
    pn_event *parts[2] = { NULL, NULL };
    size_t count = 0, paid = self->release ? pn_batch_release_paid(self->release) : 0;
    size_t anchors = self->anchor ? pn_batch_release_paid(self->anchor) : 0;
    pn_status status = PN_OK;

    *out = NULL;
    if (plan->whole_price) {
        *out = self->paid ? pn_event_keep(plan->base.event) : NULL;
        return PN_OK;
    }
    if (anchors > 0)
        status = pn_event_repeated(&parts[count++], plan->anchor_event, anchors, err);
    if (status == PN_OK && paid > 0)
        status = pn_event_repeated(&parts[count++], plan->inner_event, paid, err);
    if (status == PN_OK && count > 0)
        status = pn_event_compose(out, parts, count, err);
    pn_event_free(parts[0]);
    pn_event_free(parts[1]);
    return status;
}

/* ---- the rows ---- */

const pn_solver_ops pn_solver_svrg = {
    .name = "svrg",
    .doc =
        "Proximal stochastic gradients with variance reduction: each epoch takes one gradient of all records at a "
        "snapshot and many steps that correct it on small batches, so that the risk of gradient descent is reached "
        "with far fewer gradients when the problem is badly conditioned.  For smooth losses and any regulariser with a "
        "proximal operator.  The answer is the average of the last epoch; a step of plan:steps() is an epoch.",
    .source = "Wang, Ye, Xu (2017), Algorithm 1 and Theorem 4.2; noise from the accountant, not from its constants",
    .params = svrg_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .by_records = true,
    .plan = svrg_plan_new,
    .what_if = svrg_what_if,
    .destroy_plan = svrg_plan_destroy,
    .start = svrg_start,
    .step = svrg_step,
    .current = svrg_current,
    .destroy = svrg_destroy,
    .spent = svrg_spent,
};

const pn_solver_ops pn_solver_svrg_pp = {
    .name = "svrg_pp",
    .doc = "SVRG++ for convex objectives without strong convexity: as svrg, but every epoch has twice the steps of the "
           "one before and goes on from its last iterate.  The answer is the average of the last epoch; a step of "
           "plan:steps() is an epoch.",
    .source = "Wang, Ye, Xu (2017), Algorithm 2 and Theorem 4.4; Allen-Zhu, Yuan (2016)",
    .params = svrg_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .by_records = true,
    .plan = svrg_pp_plan_new,
    .what_if = svrg_what_if,
    .destroy_plan = svrg_plan_destroy,
    .start = svrg_start,
    .step = svrg_step,
    .current = svrg_current,
    .destroy = svrg_destroy,
    .spent = svrg_spent,
};
