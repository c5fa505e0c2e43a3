/* mirror_descent.c -- theta <- argmin over C of Psi(theta) + <sum of eta g, theta>, g gradients with noise, or as
 * printed argmin over C of eta <g, theta> + D_Psi(theta, theta_t); the answer is the mean of the later half of the
 * points, or of all.
 * Depends on: mirror_descent.h, objective, geometry, privacy.  Used by: solvers.c's table.
 * Source: Talwar, Thakurta, Zhang (2014), Section 3, in the form that its proof uses (mirror-descent.md section
 * 2). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/first_order/mirror_descent.h"

static void md_plan_destroy(pn_plan *plan)
{
    md_plan *self = (md_plan *)plan;

    pn_mirror_space_clear(&self->space);
    pn_schedule_clear(&self->step);
    pn_free(self->root);
    pn_free(self);
}

typedef struct md_state {
    pn_state base; /* first */
    pn_mirror_point at;
    double *average;  /* [p] */
    double *gradient; /* [p] */
    double *normals;  /* [p] when noise without privacy is asked for */
    double weight;    /* total, of the average */
} md_state;

static const md_plan *plan_of(const md_state *self)
{
    return (const md_plan *)self->base.plan;
}

static size_t dim_of(const md_state *self)
{
    return pn_objective_dim(self->base.plan->objective);
}

static void md_rooms(pn_state *state, pn_room *room)
{
    md_state *self = (md_state *)state;
    const md_plan *plan = plan_of(self);
    size_t p = dim_of(self);

    pn_mirror_rooms(&plan->space, p, room, &self->at);
    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->average, p);
    pn_room_take(room, &self->normals, plan->root ? p : 0);
}

static pn_status md_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    md_state *self = (md_state *)state;

    (void)ask;
    (void)err;
    pn_mirror_begin(&plan_of(self)->space, &self->at);
    memcpy(state->theta, self->at.theta, state->dim * sizeof(double));
    return PN_OK;
}

/* gradient += root z: noise that a user asks for and that protects nobody. */
static void add_plain_noise(md_state *self, pn_oracle *ask)
{
    const md_plan *plan = plan_of(self);
    size_t p = dim_of(self);

    pn_ask_normals(ask, p, self->normals);
    for (size_t j = 0; j < p; j++) {
        if (plan->root_count == p * p && p > 1)
            self->gradient[j] += pn_dot(p, plan->root + j * p, self->normals);
        else
            self->gradient[j] += plan->root[plan->root_count == 1 ? 0 : j] * self->normals[j];
    }
}

/* Before the first point of the answer, what there is is the mean so far. */
static void add_to_average(md_state *self, size_t t)
{
    double weight = plan_of(self)->step.law == PN_STEP_HARMONIC ? (double)t : 1.0;

    self->base.theta = self->average;
    self->weight = t == plan_of(self)->skipped + 1 ? weight : self->weight + weight;
    pn_mix(dim_of(self), weight / self->weight, self->at.theta, self->average, self->average);
}

/* The gradient of this step, from the records (with noise) or from a caller's source of samples. */
static pn_status md_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    md_state *self = (md_state *)state;
    const md_plan *plan = plan_of(self);

    PN_TRY(pn_ask_source(ask, &plan->oracle, self->at.theta, &row->value, self->gradient, err));
    if (plan->root && !plan->oracle.sample)
        add_plain_noise(self, ask);
    return PN_OK;
}

static pn_status md_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    md_state *self = (md_state *)state;
    const pn_mirror_space *space = &plan_of(self)->space;
    bool after = plan_of(self)->after; /* else what follows the last gradient is no part of the answer */
    bool moves = after || state->step + 1 < state->plan->iterations;

    row->step_size = pn_schedule_at(&plan_of(self)->step, state->step + 1);
    PN_TRY(moves ? pn_mirror_move(space, &self->at, self->gradient, row->step_size, err) : PN_OK);
    if (!after)
        add_to_average(self, state->step + 1);
    if (moves)
        pn_mirror_arrive(space, &self->at);
    if (after)
        add_to_average(self, state->step + 1);
    pn_mirror_remark(space, &self->at, state->step + 1, state->remark, sizeof state->remark);
    return PN_OK;
}

const pn_solver_ops pn_solver_mirror_descent = {
    .name = "mirror_descent",
    .doc = "Mirror descent on the mean gradient plus Gaussian noise, in the geometry of the constraint set: the error "
           "follows the Gaussian width of the set, not the dimension.  The answer is the mean of the later half of the "
           "points; preset=\"theory\" is the article's plan.",
    .source =
        "Talwar, Thakurta, Zhang (2014), Section 3 and Theorem 3.2; steps and bound for the noise of the whole budget",
    .params = md_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .passes = true,
    .plan_size = sizeof(md_plan),
    .fill = md_fill,
    .destroy_plan = md_plan_destroy,
    .state = sizeof(md_state),
    .rooms = md_rooms,
    .begin = md_begin,
    .query = md_query,
    .update = md_update,
};
