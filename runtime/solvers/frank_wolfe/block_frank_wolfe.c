/* block_frank_wolfe.c -- minimise a smooth convex f over M_1 x ... x M_d: a random subset T of the blocks moves, x_i <-
 * (1 - gamma) x_i + gamma s_i with s_i = argmin over M_i of <s, grad_i f(x_t)>, all by the gradient at x_t;
 * gamma_t = 2/(p_min t + 2).  Not private.
 * Depends on: block_frank_wolfe.h, frank_wolfe.h, objective, geometry.  Used by: solvers.c's table.
 * Source: Lou, Cheung (2018), Algorithm 1. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/frank_wolfe/block_frank_wolfe.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

static void bfw_plan_destroy(pn_plan *plan)
{
    bfw_plan *self = (bfw_plan *)plan;

    pn_block_structure_free(self->structure);
    pn_block_sampling_free(self->sampling);
    pn_free(self);
}

typedef struct bfw_state {
    pn_state base;            /* first */
    double *gradient, *point; /* [p] each; gradient holds -grad f while a step looks for vertices */
    size_t *drawn;            /* [blocks] T */
    size_t count;
    bool has_drawn; /* and the step has not been made: tried again it keeps its blocks */
} bfw_state;

static const bfw_plan *plan_of(const bfw_state *self)
{
    return (const bfw_plan *)self->base.plan;
}

static void bfw_rooms(pn_state *state, pn_room *room)
{
    bfw_state *self = (bfw_state *)state;
    size_t p = pn_objective_dim(state->plan->objective);

    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->point, p);
}

static pn_status bfw_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    bfw_state *self = (bfw_state *)state;
    const bfw_plan *plan = plan_of(self);

    (void)ask;
    return pn_new(&self->drawn, plan->sampling->blocks, err, "out of memory for %zu blocks", plan->sampling->blocks);
}

static void bfw_end(pn_state *state)
{
    pn_free(((bfw_state *)state)->drawn);
}

/* Blocks that are drawn stay so when what follows fails. */
static pn_status bfw_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    bfw_state *self = (bfw_state *)state;
    const bfw_plan *plan = plan_of(self);
    size_t p = pn_objective_dim(state->plan->objective);

    if (!self->has_drawn)
        PN_TRY(pn_ask_blocks(ask, plan->sampling, self->drawn, &self->count, err));
    self->has_drawn = true;
    PN_TRY(pn_ask_source(ask, &plan->oracle, self->base.theta, &row->value, self->gradient, err));
    for (size_t j = 0; j < p; j++)
        self->gradient[j] = -self->gradient[j];
    return PN_OK;
}

/* point = the vertex of block i for g = -grad; its intervals by the rule of the box: the upper end for 0. */
static pn_status find_vertex(bfw_state *self, size_t i, double *across, pn_err *err)
{
    const pn_blocks *blocks = pn_block_structure_blocks(plan_of(self)->structure);
    size_t first = blocks->first[i];

    if (blocks->set)
        return blocks->set[i]->ops->support(blocks->set[i], self->gradient + first, self->point + first, across, err);
    self->point[first] = self->gradient[first] < 0.0 ? blocks->low[i] : blocks->high[i];
    *across = self->point[first] * self->gradient[first];
    return PN_OK;
}

/* Vertices of all drawn blocks; *gap = the sum of <theta_i - s_i, grad_i>. */
static pn_status find_vertices(bfw_state *self, double *gap, pn_err *err)
{
    const pn_blocks *blocks = pn_block_structure_blocks(plan_of(self)->structure);

    *gap = 0.0;
    for (size_t k = 0; k < self->count; k++) {
        size_t i = self->drawn[k];
        double across;

        PN_TRY(find_vertex(self, i, &across, err));
        for (size_t j = blocks->first[i]; j < blocks->first[i + 1]; j++)
            across -= self->gradient[j] * self->base.theta[j];
        *gap += across;
    }
    return PN_OK;
}

/* What block i moves by in step t, from 0. */
static double step_size(const bfw_plan *plan, size_t t, size_t i)
{
    const pn_block_sampling *sampling = plan->sampling;
    double now = (double)t;

    if (!plan->compensated)
        return 2.0 / (sampling->least * now + 2.0);
    return fmin(2.0 / ((now + plan->late + 2.0 * (double)sampling->blocks) * sampling->ops->inclusion(sampling, i)),
                1.0);
}

static pn_status bfw_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    bfw_state *self = (bfw_state *)state;
    const bfw_plan *plan = plan_of(self);
    const pn_blocks *blocks = pn_block_structure_blocks(plan->structure);
    double gap = 0.0;

    PN_TRY(find_vertices(self, &gap, err));
    if (isnan(gap))
        return pn_objective_undefined(plan->base.objective, state->plan->owner, err);
    for (size_t k = 0; k < self->count; k++) {
        size_t i = self->drawn[k], first = blocks->first[i], count = blocks->first[i + 1] - first;

        fw_move(self->base.theta + first, count, &(pn_atom){ .count = count, .value = self->point + first },
                step_size(plan, state->step, i));
    }
    row->step_size = step_size(plan, state->step, plan->compensated ? self->drawn[0] : 0);
    if (self->count == plan->sampling->blocks && !plan->oracle.sample)
        row->gap = gap;
    self->has_drawn = false;
    return PN_OK;
}

const pn_solver_ops pn_solver_block_frank_wolfe = {
    .name = "block_frank_wolfe",
    .doc =
        "Frank-Wolfe over a product of blocks (box, linf_ball, C:product(D)): each step moves a random subset of them, "
        "drawn by any pn.sampling, by inexact gradients or vertices if need be.  Not private: federated_frank_wolfe "
        "is.",
    .source = "Lou, Cheung (2018), Algorithm 1 and Theorem 1",
    .params = bfw_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = false,
    .plan_size = sizeof(bfw_plan),
    .fill = bfw_fill,
    .destroy_plan = bfw_plan_destroy,
    .passes = true,
    .state = sizeof(bfw_state),
    .rooms = bfw_rooms,
    .begin = bfw_begin,
    .query = bfw_query,
    .update = bfw_update,
    .end = bfw_end,
};
