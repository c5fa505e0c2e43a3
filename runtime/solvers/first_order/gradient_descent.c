/* gradient_descent.c -- x <- prox_{eta (r + C)}(x - eta (gradient of the mean loss + noise)): DP-GD, with all that is
 * public taken by a proximal step where it has one.
 * Depends on: gradient_descent.h, objective, privacy.  Used by: solvers.c's table.
 * Source: Wang, Ye, Xu (2017), Algorithm 4; variance-reduced.md sections 6, 7e and 8. */
#include <math.h>
#include <string.h>

#include "solvers/first_order/gradient_descent.h"

typedef struct gd_state {
    pn_state base;    /* first */
    double *x;        /* [p] the current point */
    double *ahead;    /* [p] with momentum: x and `momentum` times the last step, where the next gradient is taken */
    double *next;     /* [p] what an update leaves unfinished when it fails */
    double *gradient; /* [p] of the losses, as released */
    double *kept;     /* [p] the average, or the point that was drawn; NULL for the last one */
    size_t averaged;  /* points in the average */
    size_t drawn;     /* steps before the point that a random output keeps */
} gd_state;

static const gd_plan *plan_of(const gd_state *self)
{
    return (const gd_plan *)self->base.plan;
}

static void gd_rooms(pn_state *state, pn_room *room)
{
    gd_state *self = (gd_state *)state;
    const gd_plan *plan = plan_of(self);
    size_t p = plan->problem.p;

    pn_room_take(room, &self->x, p);
    pn_room_take(room, &self->ahead, plan->momentum > 0.0 ? p : 0);
    pn_room_take(room, &self->next, p);
    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->kept, plan->output == GD_LAST ? 0 : p);
}

static double *from(const gd_state *self)
{
    return self->ahead ? self->ahead : self->x;
}

static pn_status gd_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    gd_state *self = (gd_state *)state;
    const gd_plan *plan = plan_of(self);

    (void)err;
    memcpy(self->x, plan->problem.start, plan->problem.p * sizeof(double));
    memcpy(from(self), plan->problem.start, plan->problem.p * sizeof(double));
    if (plan->output == GD_RANDOM) /* before any step, so that it cannot depend on what they show */
        self->drawn = pn_ask_below(ask, state->plan->iterations);
    return PN_OK;
}

static pn_status gd_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    gd_state *self = (gd_state *)state;

    return pn_ask_losses(ask, from(self), &row->value, self->gradient, err);
}

static void add_to_average(gd_state *self)
{
    size_t p = plan_of(self)->problem.p;
    double a = plan_of(self)->tail, share = (1.0 + a) / ((double)++self->averaged + a); /* Shamir, Zhang (2013) */

    for (size_t j = 0; j < p; j++)
        self->kept[j] += share * (self->x[j] - self->kept[j]);
}

/* next = the point after the step; true where it has diverged, and the answer stays the point before. */
static pn_status move(gd_state *self, double eta, pn_err *err)
{
    const pn_first_order *problem = &plan_of(self)->problem;
    const double *at = from(self);
    size_t p = problem->p;

    memcpy(self->next, self->gradient, p * sizeof(double));
    PN_TRY(pn_composite_gradient(&problem->composite, at, p, self->next, err));
    for (size_t j = 0; j < p; j++)
        self->next[j] = at[j] - eta * self->next[j];
    if (pn_has_diverged(&self->base, self->next, p))
        return PN_OK;
    return pn_composite_step(&problem->composite, self->next, p, eta, err);
}

static void arrive(gd_state *self)
{
    size_t p = plan_of(self)->problem.p;

    for (size_t j = 0; self->ahead && j < p; j++)
        self->ahead[j] = self->next[j] + plan_of(self)->momentum * (self->next[j] - self->x[j]);
    memcpy(self->x, self->next, p * sizeof(double));
}

static pn_status gd_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    gd_state *self = (gd_state *)state;
    const gd_plan *plan = plan_of(self);

    row->step_size = pn_schedule_at(&plan->step, state->step + 1);
    PN_TRY(move(self, row->step_size, err));
    if (plan->output == GD_RANDOM && state->step == self->drawn)
        memcpy(self->kept, self->x, plan->problem.p * sizeof(double));
    if (plan->output == GD_AVERAGE && plan->subgradient)
        add_to_average(self);
    if (!state->finished)
        arrive(self);
    if (plan->output == GD_AVERAGE && !plan->subgradient && !state->finished)
        add_to_average(self);
    return PN_OK;
}

static void gd_current(const pn_state *state, double *theta)
{
    const gd_state *self = (const gd_state *)state;
    gd_output output = plan_of(self)->output;
    bool kept = output == GD_AVERAGE ? self->averaged > 0 : output == GD_RANDOM && state->step > self->drawn;

    memcpy(theta, kept ? self->kept : self->x, plan_of(self)->problem.p * sizeof(double));
}

const pn_solver_ops pn_solver_gradient_descent = {
    .name = "gradient_descent",
    .doc =
        "Gradient descent on the whole data set with Gaussian noise on each mean gradient, and a proximal step for the "
        "regulariser and the set.  The answer is the last point where the risk is strongly convex or of "
        "Polyak-Lojasiewicz type, the average where it is convex, a random one where it is neither.",
    .source = "Wang, Ye, Xu (2017), Algorithm 4, with the noise and all constants exact",
    .params = gd_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .passes = true,
    .plan = gd_plan_new,
    .destroy_plan = gd_plan_destroy,
    .state = sizeof(gd_state),
    .rooms = gd_rooms,
    .begin = gd_begin,
    .query = gd_query,
    .update = gd_update,
    .current = gd_current,
};
