/* descent.c -- x <- prox_{eta (r + C)}(x - eta (g + noise)), all that is public taken by a proximal step where it has
 * one: gradient_descent, g the mean gradient of all records or of batches, and sgd, of a batch that nobody knows.
 * Depends on: gradient_descent.h, sgd.h, oracle.  Used by: solvers.c's table, gradient_descent_plan.c, sgd_plan.c.
 * Source: Wang, Ye, Xu (2017), Algorithm 4; Bassily, Smith, Thakurta (2014), Algorithm 1; Abadi et al. (2016);
 * mirror-descent.md sections 7 and 8, variance-reduced.md section 8. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/first_order/gradient_descent.h"
#include "solvers/first_order/sgd.h"

/* ---- the plan ---- */

const char *const pn_descent_outputs[] = { "auto", "last", "average", "random", "best", NULL };

static void descent_destroy(pn_plan *plan)
{
    pn_descent *self = (pn_descent *)plan;

    pn_first_order_clear(&self->problem);
    pn_schedule_clear(&self->step);
    pn_free(self);
}

pn_status pn_descent_check(pn_descent *self, const pn_arg *tail, double usual, pn_err *err)
{
    if (tail->given && self->output != PN_DESCENT_AVERAGE)
        return pn_fail(err, PN_EINVAL, "tail= is the weight of points in an average; give output=\"average\"");
    self->tail = tail->given ? tail->real : self->subgradient ? 0.0 : usual;
    return PN_OK;
}

pn_status pn_descent_need_smooth(const pn_descent *self, bool kinks, pn_err *err)
{
    if (!(self->momentum > 0.0 && kinks))
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "momentum= needs a smooth loss; leave it out, or use smooth_hinge or huber");
}

void pn_descent_explain_momentum(pn_descent *self, const pn_arg *given)
{
    if (self->momentum > 0.0)
        pn_plan_add(&self->base, "momentum beta", self->momentum, "%s",
                    given->given ? "as given" : "each step lasts 1/(1 - beta) times as long");
}

void pn_descent_explain_output(pn_descent *self)
{
    pn_plan_add_text(&self->base, "output", pn_descent_outputs[self->output], "%s",
                     self->output == PN_DESCENT_LAST ? "the last point"
                     : self->output == PN_DESCENT_RANDOM
                         ? "a point drawn before the first step; every release is charged"
                     : self->tail > 0.0 ? "of all points, later ones weigh more: t^tail"
                                        : "of all points");
}

/* ---- the run ---- */

typedef struct descent_state {
    pn_state base;    /* first */
    double *x;        /* [p] the current point */
    double *ahead;    /* [p] with momentum: x and `momentum` times the last step, where the next gradient is taken */
    double *next;     /* [p] what an update leaves unfinished when it fails */
    double *gradient; /* [p] of the losses, as released */
    double *kept;     /* [p] the average, or the point that was drawn; NULL for the last one */
    size_t averaged;  /* points in the average */
    size_t drawn;     /* steps before the point that a random output keeps */
} descent_state;

static const pn_descent *plan_of(const descent_state *self)
{
    return (const pn_descent *)self->base.plan;
}

static void descent_rooms(pn_state *state, pn_room *room)
{
    descent_state *self = (descent_state *)state;
    const pn_descent *plan = plan_of(self);
    size_t p = plan->problem.p;

    pn_room_take(room, &self->ahead, plan->momentum > 0.0 ? p : 0);
    pn_room_take(room, &self->next, p);
    pn_room_take(room, &self->gradient, p);
    pn_room_take(room, &self->kept, plan->output == PN_DESCENT_LAST ? 0 : p);
}

static double *from(const descent_state *self)
{
    return self->ahead ? self->ahead : self->x;
}

static pn_status descent_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    descent_state *self = (descent_state *)state;
    const pn_descent *plan = plan_of(self);

    (void)err;
    self->x = state->theta;
    memcpy(self->x, plan->problem.start, plan->problem.p * sizeof(double));
    memcpy(from(self), plan->problem.start, plan->problem.p * sizeof(double));
    if (plan->output == PN_DESCENT_RANDOM) /* before any step, so that it cannot depend on what they show */
        self->drawn = pn_ask_below(ask, state->plan->iterations);
    return PN_OK;
}

static pn_status descent_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    descent_state *self = (descent_state *)state;

    return pn_ask_losses(ask, from(self), &row->value, self->gradient, err);
}

static void add_to_average(descent_state *self)
{
    double a = plan_of(self)->tail, share = (1.0 + a) / ((double)++self->averaged + a); /* Shamir, Zhang (2013) */

    self->base.theta = self->kept;
    pn_mix(plan_of(self)->problem.p, share, self->x, self->kept, self->kept);
}

/* next = the point after the step; true where it has diverged, and the answer stays the point before. */
static pn_status move(descent_state *self, double eta, pn_err *err)
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

static void arrive(descent_state *self)
{
    size_t p = plan_of(self)->problem.p;

    for (size_t j = 0; self->ahead && j < p; j++)
        self->ahead[j] = self->next[j] + plan_of(self)->momentum * (self->next[j] - self->x[j]);
    memcpy(self->x, self->next, p * sizeof(double));
}

static pn_status descent_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    descent_state *self = (descent_state *)state;
    const pn_descent *plan = plan_of(self);

    row->step_size = pn_schedule_at(&plan->step, state->step + 1);
    PN_TRY(move(self, row->step_size, err));
    if (plan->output == PN_DESCENT_RANDOM && state->step == self->drawn)
        state->theta = memcpy(self->kept, self->x, plan->problem.p * sizeof(double));
    if (plan->output == PN_DESCENT_AVERAGE && plan->subgradient)
        add_to_average(self);
    if (!state->finished)
        arrive(self);
    if (plan->output == PN_DESCENT_AVERAGE && !plan->subgradient && !state->finished)
        add_to_average(self);
    return PN_OK;
}

/* ---- the two solvers ---- */

#define DESCENT_RUN                                                                                                    \
    .plan_size = sizeof(pn_descent), .destroy_plan = descent_destroy, .state = sizeof(descent_state),                  \
    .rooms = descent_rooms, .begin = descent_begin, .query = descent_query, .update = descent_update,                  \
    .respond = pn_descent_respond

static const char *const gd_noise_params[] = { "c", NULL };

const pn_solver_ops pn_solver_gradient_descent = {
    .name = "gradient_descent",
    .doc =
        "Gradient descent on the whole data set with Gaussian noise on each mean gradient, and a proximal step for the "
        "regulariser and the set.  The answer is the last point where the risk is strongly convex or of "
        "Polyak-Lojasiewicz type, the average where it is convex, a random one where it is neither.",
    .source = "Wang, Ye, Xu (2017), Algorithm 4, with the noise and all constants exact",
    .params = gd_params,
    .noise_params = gd_noise_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .passes = true,
    .fill = gd_fill,
    DESCENT_RUN,
};

static const char *const sgd_noise_params[] = { "accountant", NULL };

const pn_solver_ops pn_solver_sgd = {
    .name = "sgd",
    .doc =
        "Stochastic gradient descent: a step on a fresh batch's mean gradient plus Gaussian noise, which secrecy of "
        "the batch makes smaller; any set, regulariser and convex or smooth loss.  The price is that of the sampling "
        "that runs.",
    .source = "Bassily, Smith, Thakurta (2014), Algorithm 1; Balle, Barthe, Gaboardi (2018) for the price of batches",
    .params = sgd_params,
    .noise_params = sgd_noise_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .fill = sgd_fill,
    .what_if = sgd_what_if,
    DESCENT_RUN,
};
