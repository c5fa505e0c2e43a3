/* accelerated_mirror_descent.c -- from y = z = x_0, for k = 0, 1, ..., with A = c (k + 2)/(4 L_C) and r = 2/(k + 2):
 *     x = r z + (1 - r) y,   h = gradient at x + noise,   z <- argmin over C of D(z', z) + A <h, z'>,
 *     y <- r z' + (1 - r) y ("triangle"), or argmin over C of (L_C/2) |y' - x|^2 + <h, y'> ("printed").
 * The answer is y.  Both steps see the same h and nothing else of the data: there is no form with an exact gradient in
 * the y-step, which the article prints and which no noise would make private.
 * Depends on: accelerated_mirror_descent.h, objective, geometry, privacy.  Used by: solvers.c's table.
 * Source: Wang, Ye, Xu (2017), Algorithm 3, corrected (variance-reduced.md section 5). */
#include <math.h>
#include <string.h>

#include "core/mutant.h"
#include "numeric/blas.h"
#include "solvers/first_order/accelerated_mirror_descent.h"

typedef struct amd_state {
    pn_state base;    /* first */
    double *z, *next; /* [state_dim] z of the potential; what an update leaves unfinished when it fails */
    double *corner;   /* [p] z as a point of the set: z itself when not lifted */
    double *y, *x;    /* [p] */
    double *gradient; /* [p] of the losses, as released */
    double *h;        /* [p] the same with the gradient of r; room for the next y */
    double *pulled;   /* [state_dim] h in the potential's coordinates; NULL when not lifted */
} amd_state;

static const amd_plan *plan_of(const amd_state *self)
{
    return (const amd_plan *)self->base.plan;
}

static bool lifted(const amd_plan *plan)
{
    return plan->potential->lift.data != NULL;
}

static void amd_rooms(pn_state *state, pn_room *room)
{
    amd_state *self = (amd_state *)state;
    const amd_plan *plan = plan_of(self);
    size_t p = plan->first.p, m = plan->state_dim;

    pn_room_take(room, &self->z, m);
    pn_room_take(room, &self->next, m);
    pn_room_take(room, &self->corner, lifted(plan) ? p : 0);
    pn_room_take(room, &self->y, p);
    pn_room_take(room, &self->x, p);
    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->h, p);
    pn_room_take(room, &self->pulled, lifted(plan) ? m : 0);
    if (!lifted(plan))
        self->corner = self->z;
}

static pn_status amd_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    amd_state *self = (amd_state *)state;
    const amd_plan *plan = plan_of(self);

    (void)ask;
    (void)err;
    memcpy(self->z, plan->start, plan->state_dim * sizeof(double));
    if (lifted(plan))
        pn_mirror_unlift(plan->potential->lift, self->z, self->corner);
    memcpy(self->y, self->corner, plan->first.p * sizeof(double));
    return PN_OK;
}

/* out = r a + (1 - r) b; out may be either. */
static void mix(size_t n, double r, const double *a, const double *b, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = b[j] + r * (a[j] - b[j]);
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

    return plan->potential->strong_convexity * c * ((double)self->base.step + 2.0) / (4.0 * plan->smoothness);
}

static pn_status amd_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    amd_state *self = (amd_state *)state;

    mix(plan_of(self)->first.p, ratio(self), self->corner, self->y, self->x);
    return pn_ask_losses(ask, self->x, &row->value, self->gradient, err);
}

/* next = the step of z along h. */
static pn_status step_z(amd_state *self, double eta, pn_err *err)
{
    const amd_plan *plan = plan_of(self);
    const double *along = self->h;

    if (plan->euclidean) {
        memcpy(self->next, self->z, plan->state_dim * sizeof(double));
        pn_axpy(plan->state_dim, -eta, self->h, self->next);
        return pn_composite_step(&plan->first.composite, self->next, plan->state_dim, eta, err);
    }
    if (lifted(plan)) {
        pn_mat_times_vec(plan->potential->lift, self->h, self->pulled);
        along = self->pulled;
    }
    return pn_mirror_step(plan->potential, plan->first.composite.set, self->z, along, eta, plan->state_dim, self->next,
                          err);
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
    pn_status status;

    memcpy(self->h, self->gradient, p * sizeof(double));
    status = pn_composite_gradient(&plan->first.composite, self->x, p, self->h, err);
    if (status == PN_OK)
        status = step_z(self, eta, err);
    if (status == PN_OK && plan->printed)
        status = project_y(self, err);
    if (status != PN_OK)
        return status;
    memcpy(self->z, self->next, plan->state_dim * sizeof(double));
    if (lifted(plan))
        pn_mirror_unlift(plan->potential->lift, self->z, self->corner);
    if (plan->printed)
        memcpy(self->y, self->h, p * sizeof(double));
    else
        mix(p, ratio(self), self->corner, self->y, self->y);
    return PN_OK;
}

static pn_status amd_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    amd_state *self = (amd_state *)state;

    row->step_size = step_size(self);
    PN_TRY(move(self, row->step_size, err));
    (void)pn_has_diverged(state, self->y, plan_of(self)->first.p);
    return PN_OK;
}

static void amd_current(const pn_state *state, double *theta)
{
    const amd_state *self = (const amd_state *)state;

    memcpy(theta, self->y, plan_of(self)->first.p * sizeof(double));
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
    .plan = amd_plan_new,
    .destroy_plan = amd_plan_destroy,
    .state = sizeof(amd_state),
    .rooms = amd_rooms,
    .begin = amd_begin,
    .query = amd_query,
    .update = amd_update,
    .current = amd_current,
};
