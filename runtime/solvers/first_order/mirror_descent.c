/* mirror_descent.c -- theta <- argmin over C of eta <g, theta> + D_Psi(theta, theta_t), g the gradient with noise; the
 * answer is the average of the points at which gradients were taken.
 * Depends on: mirror_descent.h, objective, geometry, privacy.  Used by: solvers.c's table.
 * Source: Talwar, Thakurta, Zhang (2014), Algorithm 2, in the form that its proof uses (mirror-descent.md section
 * 2). */
#include <math.h>
#include <string.h>

#include "numeric/blas.h"
#include "solvers/first_order/mirror_descent.h"

typedef struct md_state {
    pn_state base;           /* first */
    double *x;               /* [state_dim] the current point of the potential */
    double *next;            /* [state_dim] what an update leaves unfinished when it fails */
    double *theta, *average; /* [p]; theta is x itself when not lifted */
    double *gradient;        /* [p] */
    double *pulled;          /* [state_dim] gradient in the potential's coordinates; NULL when not lifted */
    double *normals;         /* [p] when noise without privacy is asked for */
    double weight;           /* total, of the average */
} md_state;

static const md_plan *plan_of(const md_state *self)
{
    return (const md_plan *)self->base.plan;
}

static bool lifted(const md_plan *plan)
{
    return plan->potential->lift.data != NULL;
}

static void md_rooms(pn_state *state, pn_room *room)
{
    md_state *self = (md_state *)state;
    const md_plan *plan = plan_of(self);
    size_t p = pn_objective_dim(plan->base.objective), m = plan->state_dim;

    pn_room_take(room, &self->x, m);
    pn_room_take(room, &self->next, m);
    pn_room_take(room, &self->theta, lifted(plan) ? p : 0);
    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->pulled, lifted(plan) ? m : 0);
    pn_room_take(room, &self->average, p);
    pn_room_take(room, &self->normals, plan->root ? p : 0);
    if (!lifted(plan))
        self->theta = self->x;
}

/* theta = V^T x for weights x on the rows of V; without a lift theta is x. */
static void show_theta(md_state *self)
{
    if (lifted(plan_of(self)))
        pn_mirror_unlift(plan_of(self)->potential->lift, self->x, self->theta);
}

static pn_status md_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    md_state *self = (md_state *)state;

    (void)ask;
    (void)err;
    memcpy(self->x, plan_of(self)->start, plan_of(self)->state_dim * sizeof(double));
    show_theta(self);
    return PN_OK;
}

/* gradient += root z: noise that a user asks for and that protects nobody. */
static void add_plain_noise(md_state *self, pn_oracle *ask)
{
    const md_plan *plan = plan_of(self);
    size_t p = pn_objective_dim(plan->base.objective);

    pn_ask_normals(ask, p, self->normals);
    for (size_t j = 0; j < p; j++) {
        if (plan->root_count == p * p && p > 1)
            self->gradient[j] += pn_dot(p, plan->root + j * p, self->normals);
        else
            self->gradient[j] += plan->root[plan->root_count == 1 ? 0 : j] * self->normals[j];
    }
}

static void add_to_average(md_state *self, size_t t)
{
    double weight = plan_of(self)->step.law == PN_STEP_HARMONIC ? (double)t : 1.0, share;
    size_t p = pn_objective_dim(self->base.plan->objective);

    self->weight += weight;
    share = weight / self->weight;
    for (size_t j = 0; j < p; j++)
        self->average[j] += share * (self->theta[j] - self->average[j]);
}

static pn_status move(md_state *self, double eta, pn_err *err)
{
    const md_plan *plan = plan_of(self);
    const pn_set *set = pn_objective_set(plan->base.objective);
    const double *along = self->gradient;

    if (lifted(plan)) {
        pn_mat_times_vec(plan->potential->lift, self->gradient, self->pulled);
        along = self->pulled;
    }
    return pn_mirror_step(plan->potential, set, self->x, along, eta, plan->state_dim, self->next, err);
}

/* The gradient of this step, from the records (with noise) or from a caller's source of samples. */
static pn_status md_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    md_state *self = (md_state *)state;
    const md_plan *plan = plan_of(self);
    const pn_gradient_oracle *source = &plan->oracle;

    if (source->sample) {
        PN_TRY(pn_ask_value(ask, self->theta, &row->value, err));
        return source->sample(source->self, self->theta, pn_objective_dim(plan->base.objective), self->gradient, err);
    }
    PN_TRY(pn_ask_gradient(ask, self->theta, &row->value, self->gradient, err));
    if (plan->root)
        add_plain_noise(self, ask);
    return PN_OK;
}

static pn_status md_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    md_state *self = (md_state *)state;
    bool more = state->step + 1 < state->plan->iterations; /* what follows the last gradient is no part of the answer */

    row->step_size = pn_schedule_at(&plan_of(self)->step, state->step + 1);
    PN_TRY(more ? move(self, row->step_size, err) : PN_OK);
    add_to_average(self, state->step + 1);
    if (!more)
        return PN_OK;
    memcpy(self->x, self->next, plan_of(self)->state_dim * sizeof(double));
    show_theta(self);
    return PN_OK;
}

static void md_current(const pn_state *state, double *theta)
{
    const md_state *self = (const md_state *)state;

    memcpy(theta, self->weight > 0.0 ? self->average : self->theta,
           pn_objective_dim(state->plan->objective) * sizeof(double));
}

const pn_solver_ops pn_solver_mirror_descent = {
    .name = "mirror_descent",
    .doc = "Mirror descent on the mean gradient plus Gaussian noise, in the geometry of the constraint set: the error "
           "follows the Gaussian width of the set, not the dimension.  The answer is the average iterate.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 2 and Theorem 3.2, constants as proven",
    .params = md_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .passes = true,
    .plan = md_plan_new,
    .destroy_plan = md_plan_destroy,
    .state = sizeof(md_state),
    .rooms = md_rooms,
    .begin = md_begin,
    .query = md_query,
    .update = md_update,
    .current = md_current,
};
