/* mirror_descent.c -- theta <- argmin over C of eta <g, theta> + D_Psi(theta, theta_t), g the gradient with noise; the
 * answer is the average of the points at which gradients were taken.
 * Depends on: mirror_descent.h, objective, geometry, privacy.  Used by: solvers.c's table.
 * Source: Talwar, Thakurta, Zhang (2014), Algorithm 2, in the form that its proof uses (mirror-descent.md section
 * 2). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/first_order/mirror_descent.h"

typedef struct md_state {
    pn_state base;           /* first */
    pn_mechanism *mechanism; /* NULL without privacy */
    double *x;               /* [state_dim] the current point of the potential */
    double *next;            /* [state_dim] what a step leaves unfinished when it fails */
    double *theta, *average; /* [p] */
    double *gradient;        /* [p] */
    double *pulled;          /* [state_dim] gradient in the potential's coordinates; gradient itself when not lifted */
    double *normals;         /* [p] when noise without privacy is asked for */
    double weight;           /* total, of the average */
    double value;            /* at theta; raw, NaN where it may not be shown */
    bool paid;               /* `gradient` has been released, and the step from it has not been made */
} md_state;

static const md_plan *plan_of(const md_state *self)
{
    return (const md_plan *)self->base.plan;
}

static bool lifted(const md_plan *plan)
{
    return plan->potential->lift.data != NULL;
}

static void md_destroy(pn_state *state)
{
    md_state *self = (md_state *)state;

    pn_mechanism_free(self->mechanism);
    if (self->theta != self->x)
        pn_free(self->theta);
    if (self->pulled != self->gradient)
        pn_free(self->pulled);
    pn_free(self->x);
    pn_free(self->next);
    pn_free(self->average);
    pn_free(self->gradient);
    pn_free(self->normals);
    pn_free(self);
}

static pn_status allocate(md_state *self, pn_err *err)
{
    const md_plan *plan = plan_of(self);
    size_t p = pn_objective_dim(plan->base.objective), m = plan->state_dim;

    self->x = pn_alloc(m, sizeof(double));
    self->next = pn_alloc(m, sizeof(double));
    self->theta = lifted(plan) ? pn_alloc(p, sizeof(double)) : self->x;
    self->gradient = pn_alloc(p, sizeof(double));
    self->pulled = lifted(plan) ? pn_alloc(m, sizeof(double)) : self->gradient;
    self->average = pn_calloc(p, sizeof(double));
    self->normals = plan->root ? pn_alloc(p, sizeof(double)) : NULL;
    if (!self->x || !self->next || !self->theta || !self->gradient || !self->pulled || !self->average ||
        (plan->root && !self->normals))
        return pn_fail(err, PN_ENOMEM, "solve.mirror_descent: out of memory for %zu coordinates", p);
    memcpy(self->x, plan->start, m * sizeof(double));
    return PN_OK;
}

/* theta = V^T x for weights x on the rows of V; without a lift theta is x. */
static void show_theta(md_state *self)
{
    if (lifted(plan_of(self)))
        pn_mirror_unlift(plan_of(self)->potential->lift, self->x, self->theta);
}

static pn_status md_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    md_state *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "solve.mirror_descent: out of memory"));
    self->base.plan = plan;
    status = allocate(self, err);
    if (status == PN_OK)
        status = pn_gradient_noise_open(&self->mechanism, &plan_of(self)->noise, err);
    if (status == PN_OK)
        status = pn_objective_prepare(plan->objective, plan->iterations, context->task, err);
    if (status != PN_OK) {
        md_destroy(&self->base);
        return status;
    }
    show_theta(self);
    *out = &self->base;
    return PN_OK;
}

/* gradient += root z: noise that a user asks for and that protects nobody. */
static void add_plain_noise(md_state *self, pn_rng *rng)
{
    const md_plan *plan = plan_of(self);
    size_t p = pn_objective_dim(plan->base.objective);

    pn_rng_normals(rng, p, self->normals);
    for (size_t j = 0; j < p; j++) {
        if (plan->root_count == p * p && p > 1)
            self->gradient[j] += pn_dot(p, plan->root + j * p, self->normals);
        else
            self->gradient[j] += plan->root[plan->root_count == 1 ? 0 : j] * self->normals[j];
    }
}

/* (ii) of the spec's schedules: eta_t = 2 / (Delta (t+1)) with weight t; else a constant step and equal weights. */
static double step_size(const md_plan *plan, size_t t)
{
    return plan->strongly_convex > 0.0 ? 2.0 / (plan->strongly_convex * ((double)t + 1.0)) : plan->step;
}

static void add_to_average(md_state *self, size_t t)
{
    double weight = plan_of(self)->strongly_convex > 0.0 ? (double)t : 1.0, share;
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

    if (lifted(plan))
        pn_mat_times_vec(plan->potential->lift, self->gradient, self->pulled);
    PN_TRY(pn_mirror_step(plan->potential, set, self->x, self->pulled, eta, plan->state_dim, self->next, err));
    memcpy(self->x, self->next, plan->state_dim * sizeof(double));
    show_theta(self);
    return PN_OK;
}

/* The gradient of this step, from the objective (with noise) or from a caller's oracle,
 * and the value where it may be shown. */
static pn_status sample(md_state *self, pn_step_context *context, double *value, pn_err *err)
{
    const md_plan *plan = plan_of(self);
    pn_objective *objective = plan->base.objective;
    pn_status status;

    if (!plan->oracle.sample) {
        status = pn_noisy_gradient(objective, self->mechanism, context, "mirror_descent", self->theta, value,
                                   self->gradient, err);
        if (status == PN_OK && plan->root)
            add_plain_noise(self, context->rng);
        return status;
    }
    status = pn_objective_evaluate(objective, self->theta, value, NULL, context->task, err);
    return status != PN_OK
               ? status
               : plan->oracle.sample(plan->oracle.self, self->theta, pn_objective_dim(objective), self->gradient, err);
}

/* The gradient with its noise, and what follows from it without fail. */
static pn_status take_gradient(md_state *self, pn_step_context *context, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    bool show_value =
        !self->mechanism || pn_rng_simulated(context->rng); /* a real run never computes what it may not show */

    self->value = NAN;
    PN_TRY(sample(self, context, show_value ? &self->value : NULL, err));
    if (!self->mechanism && isnan(self->value)) /* only here: whether a private run ends must not depend on the data */
        return pn_objective_undefined(plan->objective, "solve.mirror_descent", err);
    self->base.gradients += pn_objective_data(plan->objective)->n;
    add_to_average(self, self->base.step + 1);
    self->paid = true;
    return PN_OK;
}

/* A step that failed after its release and is tried again draws nothing new. */
static pn_status md_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    md_state *self = (md_state *)state;
    pn_status status = self->paid ? PN_OK : take_gradient(self, context, err);

    if (status != PN_OK)
        return status;
    row->value = self->value;
    row->step_size = step_size(plan_of(self), state->step + 1);
    if (state->step + 1 < state->plan->iterations) /* what follows the last gradient is no part of the answer */
        status = move(self, row->step_size, err);
    self->paid = status != PN_OK;
    return status;
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
    .plan = md_plan_new,
    .destroy_plan = md_plan_destroy,
    .start = md_start,
    .step = md_step,
    .current = md_current,
    .destroy = md_destroy,
};
