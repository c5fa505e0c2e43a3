/* block_frank_wolfe.c -- minimise a smooth convex f over M_1 x ... x M_d: a random subset T of the blocks moves, x_i <-
 * (1 - gamma) x_i + gamma s_i with s_i = argmin over M_i of <s, grad_i f(x_t)>, all by the gradient at x_t;
 * gamma_t = 2/(p_min t + 2).  Not private.
 * Depends on: block_frank_wolfe.h, objective, geometry.  Used by: solvers.c's table.
 * Source: Lou, Cheung (2018), Algorithm 1. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/frank_wolfe/block_frank_wolfe.h"

typedef struct bfw_state {
    pn_state base;                    /* first */
    double *theta, *gradient, *point; /* [p] each; gradient holds -grad f while a step looks for vertices */
    size_t *drawn;                    /* [blocks] T */
    size_t count;
    bool has_drawn; /* and the step has not been made: tried again it keeps its blocks */
} bfw_state;

static const bfw_plan *plan_of(const bfw_state *self)
{
    return (const bfw_plan *)self->base.plan;
}

static void bfw_destroy(pn_state *state)
{
    bfw_state *self = (bfw_state *)state;

    pn_free(self->theta);
    pn_free(self->gradient);
    pn_free(self->point);
    pn_free(self->drawn);
    pn_free(self);
}

static pn_status allocate(bfw_state *self, pn_err *err)
{
    const bfw_plan *plan = plan_of(self);
    size_t p = pn_objective_dim(plan->base.objective);

    self->theta = pn_alloc(p, sizeof(double));
    self->gradient = pn_alloc(p, sizeof(double));
    self->point = pn_alloc(p, sizeof(double));
    self->drawn = pn_alloc(plan->sampling->blocks, sizeof *self->drawn);
    PN_TRY(pn_made(self->theta && self->gradient && self->point && self->drawn, err,
                   "solve.block_frank_wolfe: out of memory for %zu coordinates", p));
    memcpy(self->theta, plan->start, p * sizeof(double));
    return PN_OK;
}

static pn_status bfw_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    bfw_state *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "solve.block_frank_wolfe: out of memory"));
    self->base.plan = plan;
    status = allocate(self, err);
    if (status == PN_OK)
        status = pn_objective_prepare(plan->objective, plan->iterations, context->task, err);
    if (status != PN_OK) {
        bfw_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

static pn_status take_gradient(bfw_state *self, pn_step_context *context, double *value, pn_err *err)
{
    pn_objective *objective = self->base.plan->objective;
    const pn_gradient_oracle *oracle = &plan_of(self)->oracle;
    size_t p = pn_objective_dim(objective);
    pn_status status = pn_objective_evaluate(objective, self->theta, value, oracle->sample ? NULL : self->gradient,
                                             context->task, err);

    if (status == PN_OK && oracle->sample)
        status = oracle->sample(oracle->self, self->theta, p, self->gradient, err);
    if (status == PN_OK && !oracle->sample)
        self->base.gradients += pn_objective_data(objective)->n;
    for (size_t j = 0; status == PN_OK && j < p; j++)
        self->gradient[j] = -self->gradient[j];
    return status;
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
            across -= self->gradient[j] * self->theta[j];
        *gap += across;
    }
    return PN_OK;
}

/* Operation by operation as frank_wolfe moves: with all blocks in T the bits are the same. */
static void move_block(bfw_state *self, size_t i, double gamma)
{
    const pn_blocks *blocks = pn_block_structure_blocks(plan_of(self)->structure);
    size_t first = blocks->first[i], count = blocks->first[i + 1] - first;

    for (size_t j = 0; j < count; j++)
        self->theta[first + j] *= 1.0 - gamma;
    pn_atom_add(&(pn_atom){ .count = count, .value = self->point + first }, gamma, self->theta + first);
}

static pn_status bfw_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    bfw_state *self = (bfw_state *)state;
    const bfw_plan *plan = plan_of(self);
    double gap = 0.0;
    pn_status status = PN_OK;

    if (!self->has_drawn)
        status = pn_block_sampling_draw(plan->sampling, context->rng, self->drawn, &self->count, err);
    self->has_drawn = status == PN_OK;
    if (status == PN_OK)
        status = take_gradient(self, context, &row->value, err);
    if (status == PN_OK)
        status = find_vertices(self, &gap, err);
    if (status == PN_OK && (isnan(row->value) || isnan(gap)))
        status = pn_objective_undefined(plan->base.objective, "solve.block_frank_wolfe", err);
    if (status != PN_OK)
        return status;
    for (size_t k = 0; k < self->count; k++)
        move_block(self, self->drawn[k], bfw_step_size(plan, state->step, self->drawn[k]));
    row->step_size = bfw_step_size(plan, state->step, plan->compensated ? self->drawn[0] : 0);
    if (self->count == plan->sampling->blocks && !plan->oracle.sample)
        row->gap = gap;
    self->has_drawn = false;
    return PN_OK;
}

static void bfw_current(const pn_state *state, double *theta)
{
    const bfw_state *self = (const bfw_state *)state;

    memcpy(theta, self->theta, pn_objective_dim(state->plan->objective) * sizeof(double));
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
    .plan = bfw_plan_new,
    .destroy_plan = bfw_plan_destroy,
    .start = bfw_start,
    .step = bfw_step,
    .current = bfw_current,
    .destroy = bfw_destroy,
};
