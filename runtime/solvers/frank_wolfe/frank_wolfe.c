/* frank_wolfe.c -- minimise a smooth convex f over a set by linear minimisation: theta <- (1 - mu) theta + mu s, where
 * s is the vertex with the smallest <s, grad f(theta)>, chosen privately,
 * or exactly for a gradient with or without noise; mu_t = 2/(t+2).
 * Depends on: frank_wolfe.h, objective, geometry, privacy.  Used by: solvers.c's table.
 * Source: Talwar, Thakurta, Zhang (2014), Algorithms 3 to 5; step size corrected after Jaggi (2013), since the
 * article's constant 1/(T+2) leaves a fraction of about 1/e of the start in the answer. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

typedef struct fw_state {
    pn_state base;                    /* first */
    pn_mechanism *mechanism;          /* a selection, or Gaussian noise on the gradient; NULL when non-private */
    bool selects;                     /* it is a selection */
    double *theta, *gradient, *point; /* [p] each */
    double *scores;                   /* [k], private only */
    double value;                     /* at theta; raw, NaN where it may not be shown */
    bool paid;                        /* `gradient` has been released, and no step was made to its vertex */
} fw_state;

static const fw_plan *plan_of(const fw_state *self)
{
    return (const fw_plan *)self->base.plan;
}

static void fw_destroy(pn_state *state)
{
    fw_state *self = (fw_state *)state;

    pn_mechanism_free(self->mechanism);
    pn_free(self->theta);
    pn_free(self->gradient);
    pn_free(self->point);
    pn_free(self->scores);
    pn_free(self);
}

static pn_status allocate(fw_state *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);
    const fw_plan *plan = plan_of(self);

    self->selects = plan->base.request.kind != PN_NONPRIVATE && plan->noise.sigma == 0.0;
    self->theta = pn_alloc(set->dim, sizeof(double));
    self->gradient = pn_alloc(set->dim, sizeof(double));
    self->point = pn_alloc(set->dim, sizeof(double));
    if (self->selects)
        self->scores = pn_alloc(set->ops->atom_count(set), sizeof(double));
    if (!self->theta || !self->gradient || !self->point || (self->selects && !self->scores))
        return pn_fail(err, PN_ENOMEM, "solve.%s: out of memory for %zu coordinates", plan->base.solver->name,
                       set->dim);
    memcpy(self->theta, plan_of(self)->start, set->dim * sizeof(double));
    return self->selects ? pn_mechanism_selection(&self->mechanism, &plan->selection, err)
                         : pn_gradient_noise_open(&self->mechanism, &plan->noise, err);
}

static pn_status fw_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    fw_state *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "solve.%s: out of memory", plan->solver->name));
    self->base.plan = plan;
    status = allocate(self, err);
    if (status == PN_OK)
        status = pn_objective_prepare(plan->objective, plan->iterations, context->task, err);
    if (status != PN_OK) {
        fw_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

static double step_size(const fw_plan *plan, size_t step)
{
    return plan->constant_step ? 1.0 / ((double)plan->base.iterations + 2.0) : 2.0 / ((double)step + 2.0);
}

/* theta <- (1 - mu) theta + mu atom; exactly the atom when mu is 1. */
static void move(fw_state *self, const pn_atom *atom, double mu)
{
    size_t p = pn_objective_set(self->base.plan->objective)->dim;

    for (size_t j = 0; j < p; j++)
        self->theta[j] *= 1.0 - mu;
    pn_atom_add(atom, mu, self->theta);
}

static pn_status private_atom(fw_state *self, pn_step_context *context, size_t *chosen, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);
    pn_release release = { 0 };
    pn_status status;

    for (size_t j = 0; j < set->dim; j++)
        self->gradient[j] = -self->gradient[j]; /* the mechanism looks for the largest score */
    set->ops->atom_scores(set, self->gradient, self->scores);
    status = pn_mechanism_release(self->mechanism, context->ledger, "frank_wolfe", context->rng, self->scores,
                                  set->ops->atom_count(set), &release, err);
    if (status == PN_OK)
        context->releases++;
    *chosen = release.index;
    return status;
}

static pn_status private_step(fw_state *self, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);
    size_t chosen = 0;
    pn_status status = private_atom(self, context, &chosen, err);
    pn_atom atom;

    if (status != PN_OK)
        return status;
    set->ops->atom(set, chosen, &atom, self->point);
    move(self, &atom, row->step_size);
    row->atom = chosen + 1;
    return PN_OK;
}

/* point = argmin <s, gradient>, by the support function of -gradient, which may have noise in it. */
static pn_status support_step(fw_state *self, pn_trace_row *row, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);
    double along = 0.0, across = NAN;
    pn_status status;

    for (size_t j = 0; j < set->dim; j++) {
        along += self->gradient[j] * self->theta[j];
        self->gradient[j] = -self->gradient[j];
    }
    status = set->ops->support(set, self->gradient, self->point, &across, err);
    if (status != PN_OK) { /* the gradient is needed again */
        for (size_t j = 0; j < set->dim; j++)
            self->gradient[j] = -self->gradient[j];
        return status;
    }
    if (!self->mechanism)
        row->gap = along + across;
    move(self, &(pn_atom){ .count = set->dim, .value = self->point }, row->step_size);
    return PN_OK;
}

/* The gradient, with noise unless a vertex is to be chosen by it. */
static pn_status take_gradient(fw_state *self, pn_step_context *context, pn_err *err)
{
    const pn_plan *plan = self->base.plan;
    bool show_value =
        !self->mechanism || pn_rng_simulated(context->rng); /* a real run never computes what it may not show */

    self->value = NAN;
    PN_TRY(pn_noisy_gradient(plan->objective, self->selects ? NULL : self->mechanism, context, plan->solver->name,
                             self->theta, show_value ? &self->value : NULL, self->gradient, err));
    self->base.gradients += pn_objective_data(plan->objective)->n;
    self->paid = !self->selects;
    return PN_OK;
}

/* A step that failed after its release and is tried again draws nothing new. */
static pn_status fw_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    fw_state *self = (fw_state *)state;
    pn_status status = self->paid ? PN_OK : take_gradient(self, context, err);

    row->step_size = step_size(plan_of(self), state->step);
    if (status != PN_OK)
        return status;
    row->value = self->value;
    status = self->selects ? private_step(self, context, row, err) : support_step(self, row, err);
    self->paid = self->paid && status != PN_OK;
    if (status == PN_OK && !self->mechanism &&
        (isnan(row->value) || isnan(row->gap))) /* only here: whether a private run ends must not depend on the data */
        return pn_objective_undefined(state->plan->objective, "solve.frank_wolfe", err);
    return status;
}

static void fw_current(const pn_state *state, double *theta)
{
    const fw_state *self = (const fw_state *)state;

    memcpy(theta, self->theta, pn_objective_set(state->plan->objective)->dim * sizeof(double));
}

const pn_solver_ops pn_solver_frank_wolfe = {
    .name = "frank_wolfe",
    .doc =
        "Frank-Wolfe over a constraint set; private over a polytope, by a private choice of the vertex at every step.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 4 with step 2/(t+2); Jaggi (2013)",
    .params = fw_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .plan = fw_plan_new,
    .destroy_plan = fw_plan_destroy,
    .start = fw_start,
    .step = fw_step,
    .current = fw_current,
    .destroy = fw_destroy,
};

const pn_solver_ops pn_solver_frank_wolfe_convex = {
    .name = "frank_wolfe_convex",
    .doc =
        "Frank-Wolfe over any bounded convex set with a support function: each step goes toward the vertex of the mean "
        "gradient plus Gaussian noise.  What the noise costs follows the Gaussian width of the set.",
    .source = "Talwar, Thakurta, Zhang (2014), Algorithm 5 with L^2 in the noise and step 2/(t+2); Jaggi (2013)",
    .params = fw_convex_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .plan = fw_convex_plan_new,
    .destroy_plan = fw_plan_destroy,
    .start = fw_start,
    .step = fw_step,
    .current = fw_current,
    .destroy = fw_destroy,
};
