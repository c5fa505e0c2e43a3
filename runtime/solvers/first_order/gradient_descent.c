/* gradient_descent.c -- x <- prox_{eta (r + C)}(x - eta (gradient of the mean loss + noise)): DP-GD, with all that is
 * public taken by a proximal step where it has one.
 * Depends on: gradient_descent.h, objective, privacy.  Used by: solvers.c's table.
 * Source: Wang, Ye, Xu (2017), Algorithm 4; variance-reduced.md sections 6, 7e and 8. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/first_order/gradient_descent.h"

typedef struct gd_state {
    pn_state base;           /* first */
    pn_mechanism *mechanism; /* NULL without privacy */
    double *x;               /* [p] the current point */
    double *from; /* [p] where the next gradient is taken: x and `momentum` times the last step; x without momentum */
    double *next; /* [p] what a step leaves unfinished when it fails */
    double *gradient; /* [p] of the losses, as released */
    double *kept;     /* [p] the average, or the point that was drawn; NULL for the last one */
    size_t averaged;  /* points in the average */
    size_t drawn;     /* steps before the point that a random output keeps */
    double value;     /* at `from`; raw, NaN where it may not be shown */
    bool paid;        /* `gradient` has been released, and the step from it has not been made */
} gd_state;

static const gd_plan *plan_of(const gd_state *self)
{
    return (const gd_plan *)self->base.plan;
}

static void gd_destroy(pn_state *state)
{
    gd_state *self = (gd_state *)state;

    pn_mechanism_free(self->mechanism);
    if (self->from != self->x)
        pn_free(self->from);
    pn_free(self->x);
    pn_free(self->next);
    pn_free(self->gradient);
    pn_free(self->kept);
    pn_free(self);
}

static pn_status allocate(gd_state *self, pn_err *err)
{
    const gd_plan *plan = plan_of(self);
    size_t p = plan->problem.p;

    self->x = pn_alloc(p, sizeof(double));
    self->from = plan->momentum > 0.0 ? pn_alloc(p, sizeof(double)) : self->x;
    self->next = pn_alloc(p, sizeof(double));
    self->gradient = pn_alloc(p, sizeof(double));
    self->kept = plan->output == GD_LAST ? NULL : pn_calloc(p, sizeof(double));
    if (!self->x || !self->from || !self->next || !self->gradient || (plan->output != GD_LAST && !self->kept))
        return pn_fail(err, PN_ENOMEM, "solve.gradient_descent: out of memory for %zu coordinates", p);
    memcpy(self->x, plan->problem.start, p * sizeof(double));
    memcpy(self->from, plan->problem.start, p * sizeof(double));
    return PN_OK;
}

static pn_status gd_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    gd_state *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "solve.gradient_descent: out of memory"));
    self->base.plan = plan;
    status = allocate(self, err);
    if (status == PN_OK)
        status = pn_gradient_noise_open(&self->mechanism, &plan_of(self)->noise, err);
    if (status == PN_OK)
        status = pn_objective_prepare(plan->objective, plan->iterations, context->task, err);
    if (status != PN_OK) {
        gd_destroy(&self->base);
        return status;
    }
    if (plan_of(self)->output == GD_RANDOM) /* before any step, so that it cannot depend on what they show */
        self->drawn = (size_t)pn_rng_below(context->rng, plan->iterations);
    *out = &self->base;
    return PN_OK;
}

/* The raw value of the objective where the gradient is taken, except for what the losses add.
 * *value is left alone without a regulariser. */
static pn_status add_public_value(const gd_state *self, double *value, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(self->base.plan->objective);

    return reg ? reg->ops->evaluate(reg, plan_of(self)->problem.p, self->from, value, NULL, err) : PN_OK;
}

/* The gradient of the losses with its noise, and the value where it may be shown.
 * What can fail without a release comes first. */
static pn_status take_gradient(gd_state *self, pn_step_context *context, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    bool show = !self->mechanism || pn_rng_simulated(context->rng); /* a real run never computes what it may not show */
    double losses = NAN, regular = 0.0;
    pn_status status = show ? add_public_value(self, &regular, err) : PN_OK;

    self->value = NAN;
    if (status == PN_OK)
        status = pn_noisy_losses(plan->objective, self->mechanism, context, "gradient_descent", self->from,
                                 show ? &losses : NULL, self->gradient, err);
    if (status != PN_OK)
        return status;
    if (!self->mechanism && isnan(losses)) /* only here: whether a private run ends must not depend on the data */
        return pn_objective_undefined(plan->objective, "solve.gradient_descent", err);
    self->value = losses + regular;
    self->base.gradients += pn_objective_data(plan->objective)->n;
    self->paid = true;
    return PN_OK;
}

static void add_to_average(gd_state *self)
{
    size_t p = plan_of(self)->problem.p;
    double a = plan_of(self)->tail, share = (1.0 + a) / ((double)++self->averaged + a); /* Shamir, Zhang (2013) */

    for (size_t j = 0; j < p; j++)
        self->kept[j] += share * (self->x[j] - self->kept[j]);
}

/* Everything happens in `next`, so that a step may be tried again from the gradient that has been paid for. */
static pn_status move(gd_state *self, double eta, pn_err *err)
{
    const pn_first_order *problem = &plan_of(self)->problem;
    size_t p = problem->p;

    memcpy(self->next, self->gradient, p * sizeof(double));
    PN_TRY(pn_composite_gradient(&problem->composite, self->from, p, self->next, err));
    for (size_t j = 0; j < p; j++)
        self->next[j] = self->from[j] - eta * self->next[j];
    if (pn_has_diverged(&self->base, self->next, p)) /* the answer stays the point before */
        return PN_OK;
    PN_TRY(pn_composite_step(&problem->composite, self->next, p, eta, err));
    for (size_t j = 0; self->from != self->x && j < p; j++)
        self->from[j] = self->next[j] + plan_of(self)->momentum * (self->next[j] - self->x[j]);
    memcpy(self->x, self->next, p * sizeof(double));
    return PN_OK;
}

/* A step that failed after its release and is tried again draws nothing new. */
static pn_status gd_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    gd_state *self = (gd_state *)state;
    const gd_plan *plan = plan_of(self);
    bool fresh = !self->paid;

    PN_TRY(fresh ? take_gradient(self, context, err) : PN_OK);
    if (fresh && plan->output == GD_RANDOM && state->step == self->drawn)
        memcpy(self->kept, self->x, plan->problem.p * sizeof(double));
    if (fresh && plan->subgradient)
        add_to_average(self);
    row->value = self->value;
    row->step_size = plan->step;
    PN_TRY(move(self, plan->step, err));
    if (plan->output == GD_AVERAGE && !plan->subgradient && !state->finished)
        add_to_average(self);
    self->paid = false;
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
    .plan = gd_plan_new,
    .destroy_plan = gd_plan_destroy,
    .start = gd_start,
    .step = gd_step,
    .current = gd_current,
    .destroy = gd_destroy,
};
