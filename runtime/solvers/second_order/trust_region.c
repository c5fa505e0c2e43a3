/* trust_region.c -- w <- w + argmin over ||h|| <= r of <g~, h> + <h, H~ h>/2, with the gradient g~ and the Hessian H~
 * of the mean loss released at w under Gaussian noise, until the multiplier of a step is at most sqrt(M a): DP-TR.
 * Depends on: trust_region.h, numeric/trust_region.h, noisy_model_release.h.  Used by: solvers.c's table.
 * Source: Wang, Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust region method. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/second_order/trust_region.h"

typedef struct tr_state {
    pn_state base; /* first */
    pn_model_release *release;
    double *w, *next;          /* [dim] the current point; what a step leaves unfinished when it fails */
    double *gradient, *packed; /* [dim], [packed] as released at w */
    double value;              /* of f at w; raw, NaN where it may not be shown */
    bool released;             /* gradient and packed are those of w */
    tr_move last;              /* the step that led to w; NaN where none did */
} tr_state;

static const tr_plan *plan_of(const tr_state *self)
{
    return (const tr_plan *)self->base.plan;
}

static void tr_destroy(pn_state *state)
{
    tr_state *self = (tr_state *)state;

    pn_model_close(self->release);
    pn_free(self->w);
    pn_free(self->next);
    pn_free(self->gradient);
    pn_free(self->packed);
    pn_free(self);
}

static pn_status allocate(tr_state *self, pn_err *err)
{
    const pn_model *model = &plan_of(self)->model;

    self->w = pn_alloc(model->dim, sizeof(double));
    self->next = pn_alloc(model->dim, sizeof(double));
    self->gradient = pn_alloc(model->dim, sizeof(double));
    self->packed = pn_alloc(model->packed, sizeof(double));
    PN_TRY(pn_made(self->w && self->next && self->gradient && self->packed, err,
                   "solve.trust_region: out of memory for a Hessian of %zu coordinates", model->dim));
    memcpy(self->w, plan_of(self)->problem.start, model->dim * sizeof(double));
    return PN_OK;
}

static pn_status tr_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    tr_state *self = pn_calloc(1, sizeof *self);
    pn_status status;

    (void)context;
    PN_TRY(pn_made(self, err, "solve.trust_region: out of memory"));
    self->base.plan = plan;
    self->last = (tr_move){ NAN, NAN, NAN, NAN };
    status = allocate(self, err);
    if (status == PN_OK)
        status = pn_model_open(&self->release, &plan_of(self)->model, plan_of(self)->gradient_z,
                               plan_of(self)->hessian_z, err);
    if (status != PN_OK) {
        tr_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

/* Whether raw values may be shown: a real run never computes them. */
static bool shows(const tr_state *self, const pn_step_context *context)
{
    const tr_plan *plan = plan_of(self);

    return plan->model.batch == plan->model.n && (!plan->model.is_private || pn_rng_simulated(context->rng));
}

static pn_status release(tr_state *self, pn_step_context *context, pn_err *err)
{
    bool show = shows(self, context);
    pn_status status;

    self->value = NAN;
    status = pn_model_both(self->release, context, "trust_region", self->w, show ? &self->value : NULL, self->gradient,
                           self->packed, &self->base.gradients, err);
    self->released = status == PN_OK;
    return status;
}

static const char *kind_of(const pn_trust_step *step)
{
    return step->hard ? "hard" : step->multiplier > 0.0 ? "boundary" : "interior";
}

/* Was that the last step? */
static void look(tr_state *self)
{
    pn_state *state = &self->base;

    if (state->finished)
        return;
    state->finished = true;
    if (self->last.multiplier <= tr_threshold(&plan_of(self)->of))
        state->stopped = "certified";
    else if (state->step + 1 >= state->plan->iterations)
        state->stopped = "budget";
    else
        state->finished = false;
}

/* Everything happens in `next`, so that a step may be tried again from what has been paid for. */
static pn_status move(tr_state *self, pn_trace_row *row, pn_err *err)
{
    size_t dim = plan_of(self)->model.dim;
    pn_trust_step step;
    tr_move made;
    pn_status status =
        pn_trust_region(&step, self->next, dim, self->packed, self->gradient, plan_of(self)->of.radius, err);

    if (status != PN_OK)
        return status;
    made = (tr_move){ .multiplier = step.multiplier,
                      .least = step.least,
                      .length = sqrt(pn_dot(dim, self->next, self->next)),
                      .gradient_norm = sqrt(pn_dot(dim, self->gradient, self->gradient)) };
    for (size_t j = 0; j < dim; j++)
        self->next[j] += self->w[j];
    row->kind = kind_of(&step);
    row->gradient_norm = made.gradient_norm;
    row->eigenvalue = made.least;
    row->step_size = made.length;
    if (pn_has_diverged(&self->base, self->next, dim)) /* the answer stays the point before */
        return PN_OK;
    memcpy(self->w, self->next, dim * sizeof(double));
    self->last = made;
    return PN_OK;
}

/* A step that failed after its release and is tried again draws nothing new. */
static pn_status tr_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    tr_state *self = (tr_state *)state;
    pn_status status = self->released ? PN_OK : release(self, context, err);

    if (status == PN_OK)
        status = move(self, row, err);
    if (status != PN_OK)
        return status;
    row->value = self->value;
    self->released = false;
    look(self);
    return PN_OK;
}

static void tr_current(const pn_state *state, double *theta)
{
    const tr_state *self = (const tr_state *)state;

    memcpy(theta, self->w, plan_of(self)->model.dim * sizeof(double));
}

static pn_status tr_spent(const pn_state *state, pn_event **out, pn_err *err)
{
    return pn_model_spent(((const tr_state *)state)->release, out, err);
}

static void tr_certificate(const pn_state *state, pn_certificate *out)
{
    const tr_state *self = (const tr_state *)state;
    const tr_plan *plan = plan_of(self);

    *out = (pn_certificate){ .status = state->stopped ? state->stopped : "unfinished" };
    tr_certify(&plan->of, &self->last, plan->gradient_error, plan->hessian_error, plan->lowest, out);
}

const pn_solver_ops pn_solver_trust_region = {
    .name = "trust_region",
    .doc = "Every step releases gradient and Hessian of the mean loss under Gaussian noise, on all records or on fresh "
           "batches, and goes to the least value of that quadratic over a small ball, past saddle points too.  It ends "
           "where the ball no longer holds a step back, and certifies gradient and least eigenvalue there.",
    .source = "Wang, Xu, DP-trust region method, with all constants derived anew",
    .params = tr_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .plan = tr_plan_new,
    .destroy_plan = tr_plan_destroy,
    .start = tr_start,
    .step = tr_step,
    .current = tr_current,
    .destroy = tr_destroy,
    .spent = tr_spent,
    .adaptive = true,
    .certify = tr_certificate,
};
