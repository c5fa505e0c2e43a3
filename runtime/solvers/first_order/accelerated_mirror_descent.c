/* accelerated_mirror_descent.c -- from y = z = x_0, for k = 0, 1, ..., with A = c (k + 2)/(4 L_C) and r = 2/(k + 2):
 *     x = r z + (1 - r) y,   h = gradient at x + noise,   z <- argmin over C of D(z', z) + A <h, z'>,
 *     y <- r z' + (1 - r) y ("triangle"), or argmin over C of (L_C/2) |y' - x|^2 + <h, y'> ("printed").
 * The answer is y.  Both steps see the same h and nothing else of the data: there is no form with an exact gradient in
 * the y-step, which the article prints and which no noise would make private.
 * Depends on: accelerated_mirror_descent.h, objective, geometry, privacy.  Used by: solvers.c's table.
 * Source: Wang, Ye, Xu (2017), Algorithm 3, corrected (mirror-descent.md section 6). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "numeric/blas.h"
#include "solvers/first_order/accelerated_mirror_descent.h"

static void amd_plan_destroy(pn_plan *plan)
{
    amd_plan *self = (amd_plan *)plan;

    pn_first_order_clear(&self->first);
    pn_mirror_space_clear(&self->space);
    pn_schedule_clear(&self->scale);
    pn_free(self);
}

typedef struct amd_state {
    pn_state base; /* first */
    pn_mirror_point z;
    double *x;        /* [p] */
    double *gradient; /* [p] of the losses, as released */
    double *h;        /* [p] the same with the gradient of r; room for the next y */
} amd_state;

static const amd_plan *plan_of(const amd_state *self)
{
    return (const amd_plan *)self->base.plan;
}

static void amd_rooms(pn_state *state, pn_room *room)
{
    amd_state *self = (amd_state *)state;
    size_t p = plan_of(self)->first.p;

    pn_mirror_rooms(&plan_of(self)->space, p, room, &self->z);
    pn_room_take(room, &self->x, p);
    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->h, p);
}

static pn_status amd_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    amd_state *self = (amd_state *)state;

    (void)ask;
    (void)err;
    pn_mirror_begin(&plan_of(self)->space, &self->z);
    memcpy(self->base.theta, self->z.theta, plan_of(self)->first.p * sizeof(double));
    return PN_OK;
}

static double ratio(const amd_state *self)
{
    return 2.0 / ((double)self->base.step + 2.0);
}

/* A in units of the potential, whose strong convexity is not 1. */
static double step_size(const amd_state *self)
{
    const amd_plan *plan = plan_of(self);
    double c = pn_schedule_at(&plan->scale, self->base.step + 1);

    return plan->space.potential->strong_convexity * c * ((double)self->base.step + 2.0) / (4.0 * plan->smoothness);
}

static pn_status amd_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    amd_state *self = (amd_state *)state;

    pn_mix(plan_of(self)->first.p, ratio(self), self->z.theta, self->base.theta, self->x);
    return pn_ask_losses(ask, self->x, &row->value, self->gradient, err);
}

/* The step of z along h. */
static pn_status step_z(amd_state *self, double eta, pn_err *err)
{
    const amd_plan *plan = plan_of(self);
    size_t p = plan->first.p;

    if (!plan->euclidean)
        return pn_mirror_move(&plan->space, &self->z, self->h, eta, err);
    memcpy(self->z.next, self->z.x, p * sizeof(double));
    pn_axpy(p, -eta, self->h, self->z.next);
    return pn_composite_step(&plan->first.composite, self->z.next, p, eta, err);
}

/* h <- the next y of the printed form. */
static pn_status project_y(amd_state *self, pn_err *err)
{
    const amd_plan *plan = plan_of(self);
    size_t p = plan->first.p;

    if (PN_MUTANT("exact_y_step")) /* as the article prints it */
        (void)pn_objective_losses(self->base.plan->objective, NULL, self->x, NULL, self->h, NULL, NULL);
    for (size_t j = 0; j < p; j++)
        self->h[j] = self->x[j] - plan->near * self->h[j];
    return plan->euclidean ? pn_composite_step(&plan->first.composite, self->h, p, plan->near, err)
                           : pn_set_project(plan->first.composite.set, self->h, p, err);
}

/* Nothing of the state changes before all that may fail has been done. */
static pn_status move(amd_state *self, double eta, pn_err *err)
{
    const amd_plan *plan = plan_of(self);
    size_t p = plan->first.p;

    memcpy(self->h, self->gradient, p * sizeof(double));
    PN_TRY(pn_composite_gradient(&plan->first.composite, self->x, p, self->h, err));
    PN_TRY(step_z(self, eta, err));
    PN_TRY(plan->printed ? project_y(self, err) : PN_OK);
    pn_mirror_arrive(&plan->space, &self->z);
    if (plan->printed)
        memcpy(self->base.theta, self->h, p * sizeof(double));
    else
        pn_mix(p, ratio(self), self->z.theta, self->base.theta, self->base.theta);
    return PN_OK;
}

static pn_status amd_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    amd_state *self = (amd_state *)state;

    row->step_size = step_size(self);
    PN_TRY(move(self, row->step_size, err));
    pn_mirror_remark(&plan_of(self)->space, &self->z, state->step + 1, state->remark, sizeof state->remark);
    (void)pn_has_diverged(state, self->base.theta, plan_of(self)->first.p);
    return PN_OK;
}

const pn_solver_ops pn_solver_accelerated_mirror_descent = {
    .name = "accelerated_mirror_descent",
    .doc = "Accelerated mirror descent on the mean gradient plus Gaussian noise, for smooth losses, in the geometry of "
           "the constraint set: the risk of mirror descent from about the square root of its number of gradients.",
    .source = "Wang, Ye, Xu (2017), Algorithm 3, with the noisy gradient in both steps and L of the norm",
    .params = amd_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .passes = true,
    .plan_size = sizeof(amd_plan),
    .fill = amd_fill,
    .destroy_plan = amd_plan_destroy,
    .state = sizeof(amd_state),
    .rooms = amd_rooms,
    .begin = amd_begin,
    .query = amd_query,
    .update = amd_update,
};
