/* zeroth_order.c -- from function values to stationary points: an online learner of steps Delta_t in a small ball is
 * fed with noisy gradients at random points of the segments [x, x + Delta_t],
 * and the mean of an epoch's points is the answer.  One step is one round.
 * Depends on: zeroth_order.h.  Used by: solvers.c's table.
 * Source: Zhang, Tran, Cutkosky (2024), Algorithms 1 to 3; zeroth-order.md sections 4 and 6. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/engine/first_order.h"
#include "solvers/zeroth_order/zeroth_order.h"

typedef struct zo_state {
    pn_state base; /* first */
    pn_single_pass *records;
    pn_rng *noise;             /* permutations and nodes */
    pn_rng *points, *picks;    /* s_t; which epoch's mean is the answer */
    pn_address_key directions; /* public: independent of the data */
    double *block;             /* [9 dim] behind all that follow */
    double *x, *delta;
    double *w, *previous;         /* where gradients are taken in this round and the one before */
    double *leaf, *gradient;      /* what is pushed; what is released */
    double *mean, *mean_gradient; /* of the epoch's rounds so far */
    double *answer;               /* of completed epochs */
    size_t epochs;                /* completed */
    double best;                  /* smallest ||mean_gradient|| of those */
    bool placed;                  /* w is this round's */
    bool taken;                   /* `gradient` is this round's, and the step has not been made */
} zo_state;

static const zo_plan *plan_of(const zo_state *self)
{
    return (const zo_plan *)self->base.plan;
}

static void zo_destroy(pn_state *state)
{
    zo_state *self = (zo_state *)state;

    pn_single_pass_free(self->records);
    pn_rng_free(self->noise);
    pn_rng_free(self->points);
    pn_rng_free(self->picks);
    pn_address_key_erase(&self->directions);
    pn_free(self->block);
    pn_free(self);
}

/* ---- starting ---- */

static pn_status allocate(zo_state *self, pn_err *err)
{
    const zo_plan *plan = plan_of(self);
    double **const parts[] = { &self->x,        &self->delta,         &self->w,
                               &self->previous, &self->leaf,          &self->gradient,
                               &self->mean,     &self->mean_gradient, &self->answer };
    const size_t count = sizeof parts / sizeof parts[0];

    PN_TRY(pn_new_zeroed(&self->block, count * plan->dim, err, "solve.%s: out of memory for %zu coordinates",
                         self->base.plan->solver->name, plan->dim));
    for (size_t i = 0; i < count; i++)
        *parts[i] = self->block + i * plan->dim;
    memcpy(self->x, plan->start, plan->dim * sizeof(double));
    return PN_OK;
}

static pn_status allocate_streams(zo_state *self, const pn_rng *rng, pn_err *err)
{
    pn_rng **const streams[] = { &self->noise, &self->points, &self->picks };
    pn_status status = PN_OK;

    for (uint64_t i = 0; status == PN_OK && i < sizeof streams / sizeof streams[0]; i++)
        status = pn_rng_split(streams[i], rng, i, err);
    return status;
}

/* Each draw has a stream of its own: more noise does not change where gradients are taken.  Their common key is drawn
 * from the caller's stream, so that its next run is another one, and last,
 * so that a start that failed leaves it as it was. */
static void key_streams(zo_state *self, pn_rng *rng)
{
    enum { WORDS = 64 };
    pn_rng *const streams[] = { self->noise, self->points, self->picks };
    pn_address_key key;

    pn_address_key_draw(&key, rng);
    pn_address_key_draw(&self->directions, rng);
    for (uint64_t i = 0; i < sizeof streams / sizeof streams[0]; i++)
        pn_rng_address(streams[i], &key, (const uint64_t[PN_ADDRESS_WORDS]){ i }, WORDS);
    pn_address_key_erase(&key);
}

static pn_status zo_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    zo_state *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "solve.%s: out of memory", plan->solver->name));
    self->base.plan = plan;
    status = allocate(self, err);
    if (status == PN_OK)
        status = allocate_streams(self, context->rng, err);
    if (status == PN_OK)
        status = pn_single_pass_new(&self->records, &plan_of(self)->slices, err);
    if (status != PN_OK) {
        zo_destroy(&self->base);
        return status;
    }
    key_streams(self, context->rng);
    *out = &self->base;
    return PN_OK;
}

/* ---- a gradient ---- */

/* w = x + s Delta, once a round, however often it is tried. */
static void place(zo_state *self)
{
    double s, *before = self->previous;

    if (self->placed)
        return;
    s = pn_rng_uniform(self->points);
    self->previous = self->w;
    self->w = before;
    for (size_t j = 0; j < plan_of(self)->dim; j++)
        self->w[j] = self->x[j] + s * self->delta[j];
    self->placed = true;
}

/* Of the first leaf of a stream the gradient, of all others the difference to the round before: at most 2 D away, and
 * clipped as if it were that far. */
static pn_status estimate(zo_state *self, const pn_smoothed_call *call, pn_task *task, pn_err *err)
{
    const zo_plan *plan = plan_of(self);
    pn_objective *objective = plan->base.objective;

    if (pn_single_pass_leaf(self->records) == 0)
        return pn_smoothed_gradient(objective, &plan->smoothing, call, self->w, self->leaf, task, err);
    return pn_smoothed_difference(objective, &plan->smoothing, call, self->w, self->previous, 2.0 * plan->choice.ball,
                                  self->leaf, task, err);
}

/* A round that failed here is tried again with the same point, records and directions, and pays nothing twice. */
static pn_status take_gradient(zo_state *self, pn_step_context *context, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    uint64_t values = 0;
    pn_smoothed_call call = { .key = &self->directions, .call = self->base.step, .evaluations = &values };
    pn_status status;

    place(self);
    status = pn_single_pass_take(self->records, context->ledger, plan->solver->name, false, self->noise, &call.rows,
                                 &call.count, err);
    if (status == PN_OK)
        status = estimate(self, &call, context->task, err);
    if (status == PN_OK)
        status = pn_single_pass_push(self->records, self->leaf, self->gradient, context->task, err);
    if (status != PN_OK)
        return status;
    context->releases += plan->event != NULL;
    self->base.gradients += values;
    self->taken = true;
    return PN_OK;
}

/* ---- a step ---- */

static void add_to_mean(double *mean, const double *x, size_t dim, double count)
{
    for (size_t j = 0; j < dim; j++)
        mean[j] += (x[j] - mean[j]) / count;
}

/* x <- x + Delta; Delta <- Proj_D(Delta - eta g). */
static void learn(zo_state *self, const double *g)
{
    const zo_plan *plan = plan_of(self);
    size_t dim = plan->dim;
    double norm;

    for (size_t j = 0; j < dim; j++)
        self->x[j] += self->delta[j];
    for (size_t j = 0; j < dim; j++)
        self->delta[j] -= plan->choice.step * g[j];
    norm = pn_lp_norm(PN_L2, dim, self->delta);
    for (size_t j = 0; norm > plan->choice.ball && j < dim; j++)
        self->delta[j] *= plan->choice.ball / norm;
}

/* By reservoir: whenever the run ends, each completed epoch is the answer with the same probability. */
static bool is_answer(zo_state *self, double certificate)
{
    switch (plan_of(self)->output) {
    case ZO_RANDOM:
        return pn_rng_below(self->picks, self->epochs) == 0;
    case ZO_BEST:
        return self->epochs == 1 || certificate < self->best;
    default:
        return true;
    }
}

/* The learner and the oracle begin anew where the epoch has ended. */
static void finish_epoch(zo_state *self, pn_trace_row *row)
{
    size_t dim = plan_of(self)->dim;

    row->certificate = pn_lp_norm(PN_L2, dim, self->mean_gradient);
    self->epochs++;
    if (is_answer(self, row->certificate))
        memcpy(self->answer, self->mean, dim * sizeof(double));
    self->best = self->epochs == 1 ? row->certificate : fmin(self->best, row->certificate);
    memset(self->delta, 0, dim * sizeof(double));
    memset(self->mean, 0, dim * sizeof(double));
    memset(self->mean_gradient, 0, dim * sizeof(double));
}

static pn_status zo_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    zo_state *self = (zo_state *)state;
    const zo_plan *plan = plan_of(self);
    const pn_regulariser *reg = pn_objective_regulariser(plan->base.objective);
    size_t dim = plan->dim, round = state->step % plan->choice.rounds + 1;
    double *g = self->leaf; /* free again */
    pn_status status = self->taken ? PN_OK : take_gradient(self, context, err);

    if (status != PN_OK)
        return status;
    memcpy(g, self->gradient, dim * sizeof(double));
    if (reg && (status = reg->ops->evaluate(reg, dim, self->w, NULL, g, err)) != PN_OK)
        return status;
    self->placed = self->taken = false;
    add_to_mean(self->mean, self->w, dim, (double)round);
    add_to_mean(self->mean_gradient, g, dim, (double)round);
    learn(self, g);
    row->step_size = pn_lp_norm(PN_L2, dim, self->delta);
    row->point = self->w;
    row->estimate = self->gradient;
    if (!pn_has_diverged(state, self->delta, dim))
        (void)pn_has_diverged(state, self->x, dim);
    if (round == plan->choice.rounds)
        finish_epoch(self, row);
    return PN_OK;
}

static void zo_current(const pn_state *state, double *theta)
{
    const zo_state *self = (const zo_state *)state;
    const double *point = self->epochs > 0 ? self->answer : state->step > 0 ? self->mean : self->x;

    memcpy(theta, point, plan_of(self)->dim * sizeof(double));
}

/* Passes are paid for when they begin. */
static pn_status zo_spent(const pn_state *state, pn_event **out, pn_err *err)
{
    const zo_state *self = (const zo_state *)state;
    size_t paid = pn_single_pass_paid(self->records);

    *out = NULL;
    if (!state->plan->event || paid == 0)
        return PN_OK;
    return pn_event_repeated(out, state->plan->event, paid, err);
}

const pn_solver_ops pn_solver_zeroth_order = {
    .name = "zeroth_order",
    .doc =
        "Stationary points of losses that need be neither smooth nor convex, from values alone: gradients of the loss "
        "smoothed over a ball, differences of them in private prefix sums, each record used once a pass.  Takes black "
        "boxes.",
    .source = "Zhang, Tran, Cutkosky (2024), Algorithms 1 to 3, Theorem 4.9",
    .params = zo_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .clips_values = true,
    .plan = zo_plan_new,
    .destroy_plan = zo_plan_destroy,
    .start = zo_start,
    .step = zo_step,
    .current = zo_current,
    .destroy = zo_destroy,
    .spent = zo_spent,
};

const pn_solver_ops pn_solver_zeroth_order_naive = {
    .name = "zeroth_order_naive",
    .doc = "zeroth_order with a fresh gradient of a fresh batch in every round, and fresh noise: what the article sets "
           "its method beside, with its best batch.",
    .source = "Zhang, Tran, Cutkosky (2024), Section 3",
    .params = zo_naive_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .clips_values = true,
    .plan = zo_naive_plan_new,
    .destroy_plan = zo_plan_destroy,
    .start = zo_start,
    .step = zo_step,
    .current = zo_current,
    .destroy = zo_destroy,
    .spent = zo_spent,
};
