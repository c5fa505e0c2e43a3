/* zeroth_order.c -- from function values to stationary points: an online learner of steps Delta_t in a small ball is
 * fed with noisy gradients at random points of the segments [x, x + Delta_t],
 * and the mean of an epoch's points is the answer.  One step is one round.
 * Depends on: zeroth_order.h.  Used by: solvers.c's table.
 * Source: Zhang, Tran, Cutkosky (2024), Algorithms 1 to 3; zeroth-order.md sections 4 and 6. */
#include <math.h>
#include <string.h>

#include "numeric/blas.h"
#include "solvers/engine/first_order.h"
#include "solvers/zeroth_order/zeroth_order.h"

typedef struct zo_state {
    pn_state base; /* first */
    double *x, *delta;
    double *w, *previous;         /* where gradients are taken in this round and the one before */
    double *gradient, *g;         /* as released; with the regulariser's */
    double *mean, *mean_gradient; /* of the epoch's rounds so far */
    size_t epochs;                /* completed */
    double best;                  /* smallest ||mean_gradient|| of those */
    bool placed;                  /* w is this round's, and `picked` */
    bool picked;                  /* a random answer is that of the epoch which this round ends */
} zo_state;

static const zo_plan *plan_of(const zo_state *self)
{
    return (const zo_plan *)self->base.plan;
}

static void zo_rooms(pn_state *state, pn_room *room)
{
    zo_state *self = (zo_state *)state;
    PN_ROOM_TAKE(room, state->dim, &self->x, &self->delta, &self->w, &self->previous, &self->gradient, &self->g,
                 &self->mean, &self->mean_gradient);
}

static pn_status zo_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    zo_state *self = (zo_state *)state;

    (void)ask;
    (void)err;
    memcpy(self->x, state->plan->start, plan_of(self)->dim * sizeof(double));
    return PN_OK;
}

static bool ends_epoch(const zo_state *self)
{
    return (self->base.step + 1) % plan_of(self)->choice.rounds == 0;
}

/* w = x + s Delta, and whether a random answer is taken here, once a round, however often it is tried.  By reservoir:
 * whenever the run ends, each completed epoch is the answer with the same probability. */
static void place(zo_state *self, pn_oracle *ask)
{
    double s, *before = self->previous;

    if (self->placed)
        return;
    s = pn_ask_place(ask);
    self->previous = self->w;
    self->w = before;
    for (size_t j = 0; j < plan_of(self)->dim; j++)
        self->w[j] = self->x[j] + s * self->delta[j];
    if (plan_of(self)->output == ZO_RANDOM && ends_epoch(self))
        self->picked = pn_ask_pick(ask, self->epochs + 1) == 0;
    self->placed = true;
}

static pn_status zo_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    zo_state *self = (zo_state *)state;

    (void)row;
    place(self, ask);
    return pn_ask_smoothed(ask, self->w, self->previous, self->gradient, err);
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

static bool is_answer(const zo_state *self, double certificate)
{
    switch (plan_of(self)->output) {
    case ZO_RANDOM:
        return self->picked;
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
        memcpy(self->base.theta, self->mean, dim * sizeof(double));
    self->best = self->epochs == 1 ? row->certificate : fmin(self->best, row->certificate);
    memset(self->delta, 0, dim * sizeof(double));
    memset(self->mean, 0, dim * sizeof(double));
    memset(self->mean_gradient, 0, dim * sizeof(double));
}

static pn_status zo_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    zo_state *self = (zo_state *)state;
    const zo_plan *plan = plan_of(self);
    const pn_regulariser *reg = pn_objective_regulariser(plan->base.objective);
    size_t dim = plan->dim, round = state->step % plan->choice.rounds + 1;

    memcpy(self->g, self->gradient, dim * sizeof(double));
    PN_TRY(reg ? reg->ops->evaluate(reg, dim, self->w, NULL, self->g, err) : PN_OK);
    self->placed = false;
    add_to_mean(self->mean, self->w, dim, (double)round);
    if (self->epochs == 0)
        memcpy(state->theta, self->mean, dim * sizeof(double));
    add_to_mean(self->mean_gradient, self->g, dim, (double)round);
    learn(self, self->g);
    row->step_size = pn_lp_norm(PN_L2, dim, self->delta);
    row->point = self->w;
    row->estimate = self->gradient;
    if (!pn_has_diverged(state, self->delta, dim))
        (void)pn_has_diverged(state, self->x, dim);
    if (ends_epoch(self))
        finish_epoch(self, row);
    return PN_OK;
}

#define ZO_RUN                                                                                                         \
    .reveals = PN_REVEALS_PAID, .is_private = true, .clips_values = true, .plan_size = sizeof(zo_plan),                \
    .fill = zo_fill, .state = sizeof(zo_state), .rooms = zo_rooms, .begin = zo_begin, .query = zo_query,               \
    .update = zo_update

const pn_solver_ops pn_solver_zeroth_order = {
    .name = "zeroth_order",
    .doc =
        "Stationary points of losses that need be neither smooth nor convex, from values alone: gradients of the loss "
        "smoothed over a ball, differences of them in private prefix sums, each record used once a pass.  Takes black "
        "boxes.",
    .source = "Zhang, Tran, Cutkosky (2024), Algorithms 1 to 3, Theorem 4.9",
    .params = zo_params,
    ZO_RUN,
};

const pn_solver_ops pn_solver_zeroth_order_naive = {
    .name = "zeroth_order_naive",
    .doc = "zeroth_order with a fresh gradient of a fresh batch in every round, and fresh noise: the baseline that "
           "the article compares its method with, at its best batch.",
    .source = "Zhang, Tran, Cutkosky (2024), Section 3",
    .params = zo_naive_params,
    ZO_RUN,
};
