/* newton.c -- w <- argmin over the set of <g, v - w> + <v - w, A (v - w)>/2: private Newton.  A is the Hessian of f, released under Gaussian
 * noise, its eigenvalues raised above that noise; g the gradient of f as far as releases tell.
 * Without privacy: Newton with a line search on values of f.
 * Depends on: newton.h, noisy_model.h, privacy/batch_release.h.  Used by: solver.c's table.
 * Source: Ganesh, Haghifam, Steinke, Thakurta (2023); Kalman (1960) for the gain.
 *
 * Between steps A predicts the gradient, g + A (w' - w), with an error of variance drift ||w' - w||^2 a coordinate: the noise in A and what the
 * curvature changes.  A released gradient, of variance s^2, corrects g by the part P/(P + s^2) of what it differs, P the variance of g
 * before, which leaves (1 - P/(P + s^2)) P: as the steps become short the estimate becomes the mean of all that was released. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/symmetric.h"
#include "privacy/batch_release.h"
#include "solvers/newton.h"

static const char owner[] = "solve.newton";

typedef struct nw_state {
    pn_state base;           /* first */
    pn_model_release *first; /* of the gradient at the start, and of Hessians */
    pn_batch_release *later; /* of other gradients; NULL without noise */
    nw_quadratic quadratic;
    double *w, *next;        /* [dim] the current point; what a step leaves unfinished when it fails */
    double *g;               /* [dim] of the mean loss at w, as known from releases */
    double *at_start;        /* [dim] as released there */
    double *regular, *along; /* [dim] gradient of r at w; of f; scratch */
    double *raw, *origin;    /* [dim] not released: the gradient at w; at the start, once `begun` */
    double *packed;          /* [packed] Hessian of the mean loss as released, without r */
    double *whole;           /* [packed] and with r */
    double variance;         /* P */
    double value;            /* of f at w; raw, NaN where it may not be shown */
    size_t hessians;         /* released */
    bool begun, released;    /* origin is there; g is that of w */
    bool current;            /* `quadratic` is that of `packed`, and of r at w */
} nw_state;

#define VECTORS 8

static const nw_plan *plan_of(const nw_state *self)
{
    return (const nw_plan *)self->base.plan;
}

static const pn_regulariser *regulariser_of(const nw_state *self)
{
    return pn_objective_regulariser(self->base.plan->objective);
}

/* ---- life ---- */

static void nw_destroy(pn_state *state)
{
    nw_state *self = (nw_state *)state;

    pn_model_close(self->first);
    pn_batch_release_free(self->later);
    nw_quadratic_clear(&self->quadratic);
    pn_free(self->w);
    pn_free(self->packed);
    pn_free(self);
}

static pn_status allocate(nw_state *self, pn_err *err)
{
    const pn_model *model = &plan_of(self)->model;
    size_t dim = model->dim;
    pn_status status = nw_quadratic_init(&self->quadratic, dim, err);

    if (status != PN_OK)
        return status;
    self->w = pn_calloc(VECTORS, dim * sizeof(double));
    self->packed = pn_calloc(2, model->packed * sizeof(double));
    if (!self->w || !self->packed)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory for a Hessian of %zu coordinates", owner, dim);
    self->next = self->w + dim;
    self->g = self->w + 2 * dim;
    self->at_start = self->w + 3 * dim;
    self->regular = self->w + 4 * dim;
    self->along = self->w + 5 * dim;
    self->raw = self->w + 6 * dim;
    self->origin = self->w + 7 * dim;
    self->whole = self->packed + model->packed;
    memcpy(self->w, plan_of(self)->problem.start, dim * sizeof(double));
    return PN_OK;
}

static pn_status open_releases(nw_state *self, pn_err *err)
{
    const nw_plan *plan = plan_of(self);
    pn_batch_release_options later;
    pn_status status;

    if (!plan->model.is_private)
        return PN_OK;
    status = pn_model_open(&self->first, &plan->first, plan->first_z, plan->hessian_z, err);
    if (status != PN_OK || plan->later_z == 0.0)
        return status;
    later = pn_model_gradient_options(&plan->later, plan->later_z);
    return pn_batch_release_new(&self->later, &later, err);
}

static pn_status nw_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    nw_state *self = pn_calloc(1, sizeof *self);
    pn_status status;

    if (!self)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory", owner);
    self->base.plan = plan;
    (void)context;
    status = allocate(self, err);
    if (status == PN_OK)
        status = open_releases(self, err);
    if (status != PN_OK) {
        nw_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

/* ---- what is public ---- */

/* regular = gradient of r at w, *value += r; `whole` += its Hessian where that is asked for. */
static pn_status take_regular(nw_state *self, double *value, bool hessian, pn_err *err)
{
    const pn_regulariser *reg = regulariser_of(self);
    size_t dim = plan_of(self)->model.dim;
    pn_status status;

    memset(self->regular, 0, dim * sizeof *self->regular);
    if (!reg)
        return PN_OK;
    status = reg->ops->evaluate(reg, dim, self->w, value, self->regular, err);
    if (status == PN_OK && hessian)
        status = pn_objective_add_regular_hessian(self->base.plan->objective, self->w, self->whole, err);
    return status;
}

/* `quadratic` for the point w: anew when a Hessian was released, or r has another one. */
static pn_status refresh(nw_state *self, pn_err *err)
{
    size_t packed = plan_of(self)->model.packed;
    bool keep = self->current && !regulariser_of(self);
    pn_status status;

    memcpy(self->whole, self->packed, packed * sizeof *self->whole);
    status = take_regular(self, NULL, !keep, err);
    if (status == PN_OK && !keep)
        status = nw_quadratic_set(&self->quadratic, self->whole, plan_of(self)->least, err);
    self->current = status == PN_OK;
    return status;
}

static const pn_set *set_of(const nw_state *self)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);

    return set && strcmp(set->ops->name, "free") != 0 ? set : NULL;
}

/* ---- releases ---- */

static bool shows(const pn_step_context *context)
{
    return pn_rng_simulated(context->rng);
}

/* What pn_model_both and pn_model_hessian add of r, found before they charge, so that nothing fails after. */
static pn_status prepare(nw_state *self, pn_err *err)
{
    memset(self->whole, 0, plan_of(self)->model.packed * sizeof *self->whole);
    return take_regular(self, NULL, true, err);
}

/* It is taken off again: steps add that of their own point. */
static void take_off(nw_state *self, double *gradient)
{
    const pn_model *model = &plan_of(self)->model;

    if (!regulariser_of(self))
        return;
    pn_axpy(model->packed, -1.0, self->whole, self->packed);
    if (gradient)
        pn_axpy(model->dim, -1.0, self->regular, gradient);
}

static pn_status release_first(nw_state *self, pn_step_context *context, pn_err *err)
{
    const nw_plan *plan = plan_of(self);
    double deviation = plan->first.gradient_sensitivity * plan->first_z;
    pn_status status = prepare(self, err);

    if (status == PN_OK)
        status = pn_model_both(self->first, context, "newton", self->w, shows(context) ? &self->value : NULL, self->g,
                               self->packed, &self->base.gradients, err);
    if (status != PN_OK)
        return status;
    take_off(self, self->g);
    memcpy(self->at_start, self->g, plan->model.dim * sizeof *self->g);
    self->variance = plan->differences ? 0.0 : deviation * deviation; /* differences all share what is off there */
    self->hessians = 1;
    self->current = false;
    return PN_OK;
}

/* The mean loss's gradient at w, less that at the start where differences are released; and f, where it may be shown. */
static pn_status compute(nw_state *self, pn_step_context *context, pn_err *err)
{
    const nw_plan *plan = plan_of(self);
    pn_objective *objective = plan->base.objective;
    double extra = 0.0;
    pn_status status = PN_OK;

    if (plan->differences && !self->begun) {
        status = pn_objective_losses(objective, NULL, plan->problem.start, NULL, self->origin, context->task, err);
        self->begun = status == PN_OK;
    }
    if (status == PN_OK && shows(context))
        status = take_regular(self, &extra, false, err);
    if (status == PN_OK)
        status = pn_objective_losses(objective, NULL, self->w, shows(context) ? &self->value : NULL, self->raw,
                                     context->task, err);
    if (status != PN_OK)
        return status;
    self->value += extra;
    if (plan->differences)
        pn_axpy(plan->model.dim, -1.0, self->origin, self->raw);
    return PN_OK;
}

static pn_status draw_later(nw_state *self, pn_step_context *context, pn_err *err)
{
    const size_t *rows;
    size_t count;
    pn_status status = PN_OK;

    if (pn_first_nonfinite(self->raw, plan_of(self)->model.dim) < plan_of(self)->model.dim)
        return pn_objective_undefined(plan_of(self)->base.objective, owner, err);
    if (pn_batch_release_left(self->later) == 0)
        status = pn_batch_release_pay(self->later, context->ledger, "newton", context->rng, 1, false, err);
    if (status == PN_OK)
        status = pn_batch_release_draw(self->later, context->rng, &rows, &count, err);
    if (status == PN_OK)
        status = pn_batch_release_make(self->later, context->rng, 1.0, self->raw, self->raw, err);
    if (status == PN_OK)
        context->releases++;
    return status;
}

static pn_status release_later(nw_state *self, pn_step_context *context, pn_err *err)
{
    const nw_plan *plan = plan_of(self);
    size_t dim = plan->model.dim;
    double deviation = plan->later.gradient_sensitivity * plan->later_z, gain;
    pn_status status = compute(self, context, err);

    if (status == PN_OK)
        status = draw_later(self, context, err);
    if (status != PN_OK)
        return status;
    if (plan->differences)
        pn_axpy(dim, 1.0, self->at_start, self->raw);
    gain = self->variance / (self->variance + deviation * deviation);
    for (size_t j = 0; j < dim; j++)
        self->g[j] += gain * (self->raw[j] - self->g[j]);
    self->variance *= 1.0 - gain;
    self->base.gradients += plan->model.n;
    return PN_OK;
}

/* Hessians of later steps; a step that failed after its gradient goes on here. */
static pn_status release_hessian(nw_state *self, pn_step_context *context, pn_err *err)
{
    size_t step = self->base.step + 1;
    pn_status status;

    if (self->hessians >= step || step > plan_of(self)->hessians)
        return PN_OK;
    status = prepare(self, err);
    if (status == PN_OK)
        status = pn_model_hessian(self->first, context, "newton", self->w, self->packed, NULL, err);
    if (status != PN_OK)
        return status;
    take_off(self, NULL);
    self->hessians = step;
    self->current = false;
    return PN_OK;
}

/* ---- a private step ---- */

/* Where the run stands after the step to `next`: the gradient there is what the losses' part of A predicts. */
static pn_status arrive(nw_state *self, pn_err *err)
{
    const nw_plan *plan = plan_of(self);
    size_t dim = plan->model.dim;
    const pn_regulariser *reg = regulariser_of(self);
    double squared = 0.0;
    pn_status status;

    for (size_t j = 0; j < dim; j++) {
        self->along[j] = self->next[j] - self->w[j];
        squared += self->along[j] * self->along[j];
    }
    nw_quadratic_times(&self->quadratic, self->along, self->raw);
    if (reg) {
        memset(self->regular, 0, dim * sizeof *self->regular);
        status = reg->ops->curve(reg, dim, self->w, self->along, self->regular, err);
        if (status != PN_OK)
            return status;
        pn_axpy(dim, -1.0, self->regular, self->raw);
    }
    pn_axpy(dim, 1.0, self->raw, self->g);
    self->variance += plan->drift * squared;
    memcpy(self->w, self->next, dim * sizeof *self->w);
    return PN_OK;
}

static pn_status move(nw_state *self, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    size_t dim = plan_of(self)->model.dim;
    pn_status status = refresh(self, err);

    if (status != PN_OK)
        return status;
    for (size_t j = 0; j < dim; j++)
        self->along[j] = self->g[j] + self->regular[j];
    row->gradient_norm = pn_lp_norm(PN_L2, dim, self->along);
    row->eigenvalue = self->quadratic.lowest;
    row->kind = self->hessians == self->base.step + 1 ? "newton" : "gradient";
    status =
        nw_quadratic_minimise(&self->quadratic, set_of(self), self->w, self->along, self->next, context->task, err);
    if (status != PN_OK || pn_has_diverged(&self->base, self->next, dim)) /* the answer stays the point before */
        return status;
    nw_keep_within(set_of(self), self->next, dim);
    row->step_size = 1.0;
    return arrive(self, err);
}

static pn_status private_step(nw_state *self, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    pn_status status = PN_OK;

    if (!self->released) {
        self->value = NAN;
        status = self->base.step == 0 ? release_first(self, context, err) : release_later(self, context, err);
        self->released = status == PN_OK;
    }
    if (status == PN_OK)
        status = release_hessian(self, context, err);
    if (status == PN_OK)
        status = move(self, context, row, err);
    if (status != PN_OK)
        return status;
    row->value = self->value;
    self->released = false;
    return PN_OK;
}

/* ---- without privacy ---- */

#define DECREASE 1e-4 /* of what the slope promises, for a step to be taken (Armijo) */
#define HALVINGS 60
#define ROUNDING 1e-13 /* of f, that is left to gain */

/* value, g and whole of f at w. */
static pn_status take_exact(nw_state *self, pn_step_context *context, pn_err *err)
{
    const pn_model *model = &plan_of(self)->model;
    double extra = 0.0;
    pn_status status =
        pn_objective_quadratic(model->objective, NULL, self->w, &self->value, self->g, self->whole, context->task, err);

    if (status == PN_OK)
        status = take_regular(self, &extra, true, err);
    if (status != PN_OK)
        return status;
    self->value += extra;
    if (isnan(self->value))
        return pn_objective_undefined(model->objective, owner, err);
    pn_axpy(model->dim, 1.0, self->regular, self->g);
    return nw_quadratic_set(&self->quadratic, self->whole, 0.0, err);
}

/* From w along `along`, whose slope is `slope` < 0: w moves unless no step is found. */
static pn_status line_search(nw_state *self, pn_step_context *context, double slope, double *step, pn_err *err)
{
    size_t dim = plan_of(self)->model.dim;
    double value;

    *step = 1.0;
    for (int k = 0; k < HALVINGS; k++, *step *= 0.5) {
        pn_status status;

        for (size_t j = 0; j < dim; j++)
            self->next[j] = self->w[j] + *step * self->along[j];
        status = pn_objective_evaluate(self->base.plan->objective, self->next, &value, NULL, context->task, err);
        if (status != PN_OK)
            return status;
        if (value <= self->value + DECREASE * *step * slope) {
            memcpy(self->w, self->next, dim * sizeof *self->w);
            return PN_OK;
        }
    }
    *step = 0.0;
    return PN_OK;
}

static pn_status exact_step(nw_state *self, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    const pn_model *model = &plan_of(self)->model;
    double slope;
    pn_status status = take_exact(self, context, err);

    if (status == PN_OK)
        status =
            nw_quadratic_minimise(&self->quadratic, set_of(self), self->w, self->g, self->next, context->task, err);
    if (status != PN_OK)
        return status;
    for (size_t j = 0; j < model->dim; j++)
        self->along[j] = self->next[j] - self->w[j];
    slope = pn_dot(model->dim, self->g, self->along);
    row->value = self->value;
    row->gradient_norm = pn_lp_norm(PN_L2, model->dim, self->g);
    row->eigenvalue = self->quadratic.lowest;
    row->kind = "newton";
    self->base.gradients += model->n;
    if (slope < 0.0)
        status = line_search(self, context, slope, &row->step_size, err);
    if (status == PN_OK && (row->step_size == 0.0 || -slope <= ROUNDING * fmax(1.0, fabs(self->value))))
        self->base.finished = true;
    return status;
}

/* ---- the interface ---- */

/* A step that failed after its release and is tried again draws nothing new. */
static pn_status nw_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    nw_state *self = (nw_state *)state;

    return plan_of(self)->model.is_private ? private_step(self, context, row, err)
                                           : exact_step(self, context, row, err);
}

static void nw_current(const pn_state *state, double *theta)
{
    const nw_state *self = (const nw_state *)state;

    memcpy(theta, self->w, plan_of(self)->model.dim * sizeof(double));
}

static pn_status nw_spent(const pn_state *state, pn_event **out, pn_err *err)
{
    const nw_state *self = (const nw_state *)state;
    size_t later = self->later ? pn_batch_release_paid(self->later) : 0;
    pn_event *parts[2] = { NULL, NULL };
    pn_status status = pn_model_spent(self->first, out, err);

    if (status != PN_OK || later == 0)
        return status;
    parts[0] = *out;
    *out = NULL;
    status = pn_event_repeated(&parts[1], pn_batch_release_event(self->later, NULL), later, err);
    if (status == PN_OK)
        status = pn_event_compose(out, parts, 2, err);
    pn_event_free(parts[0]);
    pn_event_free(parts[1]);
    return status;
}

const pn_solver_ops pn_solver_newton = {
    .name = "newton",
    .doc = "Private Newton for smooth convex losses: gradient and Hessian at the start are released under Gaussian "
           "noise, the Hessian's eigenvalues are raised above its noise, and a few steps follow with a fresh noisy "
           "gradient each.  Without privacy: Newton with a line search.",
    .source =
        "Ganesh, Haghifam, Steinke, Thakurta (2023), with the Hessian's sensitivity, differences of gradients and "
        "their gain derived anew",
    .params = nw_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .plan = nw_plan_new,
    .destroy_plan = nw_plan_destroy,
    .start = nw_start,
    .step = nw_step,
    .current = nw_current,
    .destroy = nw_destroy,
    .spent = nw_spent,
};
