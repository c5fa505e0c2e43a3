/* sgd.c -- x <- prox_{eta r}(x - eta (g + noise)), g the mean gradient over a batch that nobody knows.
 * Depends on: sgd.h, objective, privacy.  Used by: solvers.c's table.
 * Source: Bassily, Smith, Thakurta (2014), Algorithm 1; Abadi et al. (2016); variance-reduced.md 7d,
 * accounting.md section 4. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "privacy/mechanism/sampler.h"
#include "solvers/first_order/sgd.h"

typedef struct sgd_state {
    pn_state base;             /* first */
    pn_batch_release *release; /* NULL without privacy, where the sampler draws */
    pn_sampler *sampler;
    double *x, *next; /* [p] */
    double *average;  /* [p] NULL when the last point is asked for */
    double *gradient; /* [p] */
    double *from;     /* [p] where the gradient is taken: x and `momentum` times the last step; NULL without: x */
    bool taken;       /* `gradient` is that of this step, released when private, and the step has not been made */
    bool charged;     /* plan->event, where it is the whole run's */
} sgd_state;

static const sgd_plan *plan_of(const sgd_state *self)
{
    return (const sgd_plan *)self->base.plan;
}

static void sgd_destroy(pn_state *state)
{
    sgd_state *self = (sgd_state *)state;

    pn_batch_release_free(self->release);
    pn_sampler_free(self->sampler);
    pn_free(self->x);
    pn_free(self->next);
    pn_free(self->average);
    pn_free(self->gradient);
    pn_free(self->from);
    pn_free(self);
}

static pn_status allocate(sgd_state *self, pn_err *err)
{
    const sgd_plan *plan = plan_of(self);
    size_t p = plan->first.p;

    self->x = pn_alloc(p, sizeof(double));
    self->next = pn_alloc(p, sizeof(double));
    self->gradient = pn_alloc(p, sizeof(double));
    self->average = plan->last ? NULL : pn_calloc(p, sizeof(double));
    self->from = plan->momentum > 0.0 ? pn_alloc(p, sizeof(double)) : NULL;
    if (!self->x || !self->next || !self->gradient || (!plan->last && !self->average) ||
        (plan->momentum > 0.0 && !self->from))
        return pn_fail(err, PN_ENOMEM, "solve.sgd: out of memory for %zu coordinates", p);
    memcpy(self->x, plan->first.start, p * sizeof(double));
    if (self->from)
        memcpy(self->from, plan->first.start, p * sizeof(double));
    return PN_OK;
}

/* Without privacy the relation says nothing: that with every scheme is taken. */
static pn_status open_batches(sgd_state *self, pn_err *err)
{
    const pn_batch_release_options *batches = &plan_of(self)->batches;
    bool poisson = strcmp(batches->scheme, "poisson") == 0;
    pn_arg args[3] = { { .given = true, .count = batches->n } };

    if (self->base.plan->event)
        return pn_batch_release_new(&self->release, batches, err);
    args[1] =
        poisson ? (pn_arg){ .given = true, .real = batches->q } : (pn_arg){ .given = true, .count = batches->batch };
    return pn_sampler_from_args(&self->sampler, batches->scheme, args, PN_REPLACE_ONE, err);
}

static pn_status sgd_start(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err)
{
    sgd_state *self = pn_calloc(1, sizeof *self);
    pn_status status;

    (void)context;
    PN_TRY(pn_made(self, err, "solve.sgd: out of memory"));
    self->base.plan = plan;
    status = allocate(self, err);
    if (status == PN_OK)
        status = open_batches(self, err);
    if (status != PN_OK) {
        sgd_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

/* ---- a gradient ---- */

/* A file is synced at every charge: there a few dozen steps are paid for at once,
 * and an early end loses the rest of them. */
static size_t steps_to_pay(const sgd_state *self, const pn_ledger *ledger)
{
    size_t most = self->base.plan->iterations, left = most - pn_batch_release_paid(self->release), block = 1;

    if (plan_of(self)->whole)
        return left;
    if (pn_ledger_path(ledger))
        block = most / 64 > 1 ? most / 64 : 1;
    return left < block ? left : block;
}

static pn_status pay(sgd_state *self, pn_step_context *context, pn_err *err)
{
    const sgd_plan *plan = plan_of(self);
    pn_status status = PN_OK;

    if (pn_batch_release_left(self->release) > 0)
        return PN_OK;
    if (plan->whole && !self->charged) {
        status = pn_ledger_spend(context->ledger, plan->base.event, 1, "sgd", err);
        self->charged = status == PN_OK;
    }
    if (status == PN_OK)
        status = pn_batch_release_pay(self->release, context->ledger, "sgd", context->rng,
                                      steps_to_pay(self, context->ledger), plan->whole, err);
    return status;
}

static pn_status draw(sgd_state *self, pn_step_context *context, pn_batch *batch, pn_err *err)
{
    pn_status status;

    if (self->release)
        return pn_batch_release_draw(self->release, context->rng, &batch->rows, &batch->count, err);
    status = pn_sampler_draw(self->sampler, context->rng, &batch->count, err);
    batch->rows = self->sampler->indices;
    return status;
}

static const double *point_of(const sgd_state *self)
{
    return self->from ? self->from : self->x;
}

/* The sum of the batch's gradients; a coin that fell for nobody makes it 0. */
static pn_status add_up(sgd_state *self, const pn_batch *batch, pn_task *task, pn_err *err)
{
    pn_objective *objective = self->base.plan->objective;

    if (batch->count > 0)
        return pn_objective_losses(objective, batch, point_of(self), NULL, self->gradient, task, err);
    memset(self->gradient, 0, plan_of(self)->first.p * sizeof(double));
    return PN_OK;
}

/* How many records a coin fell for is a secret: then their expected number is counted. */
static size_t counted(const sgd_state *self, const pn_batch *batch)
{
    return self->release && strcmp(plan_of(self)->batches.scheme, "poisson") == 0 ? (size_t)plan_of(self)->divisor
                                                                                  : batch->count;
}

static pn_status take_gradient(sgd_state *self, pn_step_context *context, pn_err *err)
{
    const sgd_plan *plan = plan_of(self);
    pn_batch batch = { .denominator = 1.0 };
    pn_status status = self->release ? pay(self, context, err) : PN_OK;

    if (status == PN_OK)
        status = draw(self, context, &batch, err);
    if (status == PN_OK)
        status = add_up(self, &batch, context->task, err);
    if (status == PN_OK && self->release)
        status = pn_batch_release_make(self->release, context->rng, 1.0, self->gradient, self->gradient, err);
    if (status != PN_OK)
        return status;
    for (size_t j = 0; j < plan->first.p; j++)
        self->gradient[j] /= plan->divisor;
    context->releases += self->release != NULL;
    self->base.gradients += counted(self, &batch);
    self->taken = true;
    return PN_OK;
}

/* ---- a step ---- */

static double step_size(const sgd_plan *plan, double t)
{
    switch (plan->schedule) {
    case SGD_SQRT:
        return plan->step / sqrt(t);
    case SGD_INVERSE:
        return plan->step / t;
    default:
        return plan->step;
    }
}

/* Leaves x alone when it fails. */
static pn_status move(sgd_state *self, double eta, pn_err *err)
{
    const pn_first_order *first = &plan_of(self)->first;
    const double *from = point_of(self);
    double *other;

    memcpy(self->next, self->gradient, first->p * sizeof(double));
    PN_TRY(pn_composite_gradient(&first->composite, from, first->p, self->next, err));
    for (size_t j = 0; j < first->p; j++)
        self->next[j] = from[j] - eta * self->next[j];
    PN_TRY(pn_composite_step(&first->composite, self->next, first->p, eta, err));
    for (size_t j = 0; self->from && j < first->p; j++)
        self->from[j] = self->next[j] + plan_of(self)->momentum * (self->next[j] - self->x[j]);
    other = self->x;
    self->x = self->next;
    self->next = other;
    return PN_OK;
}

/* After the step: x is the new point and next the one that the gradient belongs to. */
static void add_to_average(sgd_state *self)
{
    const sgd_plan *plan = plan_of(self);
    const double *point = plan->subgradient ? self->next : self->x;
    double a = plan->tail, share = (1.0 + a) / ((double)(self->base.step + 1) + a); /* Shamir, Zhang (2013) */

    for (size_t j = 0; self->average && j < plan->first.p; j++)
        self->average[j] += share * (point[j] - self->average[j]);
}

/* A step that failed after its release and is tried again draws nothing new. */
static pn_status sgd_step(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err)
{
    sgd_state *self = (sgd_state *)state;

    PN_TRY(self->taken ? PN_OK : take_gradient(self, context, err));
    row->step_size = step_size(plan_of(self), (double)state->step + 1.0);
    PN_TRY(move(self, row->step_size, err));
    self->taken = false;
    add_to_average(self);
    (void)pn_has_diverged(state, self->x, plan_of(self)->first.p);
    return PN_OK;
}

static void sgd_current(const pn_state *state, double *theta)
{
    const sgd_state *self = (const sgd_state *)state;
    bool average = self->average && state->step > 0;

    memcpy(theta, average ? self->average : self->x, plan_of(self)->first.p * sizeof(double));
}

/* Also of steps that were paid for and not made. */
static pn_status sgd_spent(const pn_state *state, pn_event **out, pn_err *err)
{
    const sgd_state *self = (const sgd_state *)state;
    size_t per_event, paid;

    *out = NULL;
    if (!self->release || pn_batch_release_paid(self->release) == 0)
        return PN_OK;
    if (plan_of(self)->whole) {
        *out = pn_event_keep(state->plan->event);
        return PN_OK;
    }
    (void)pn_batch_release_event(self->release, &per_event);
    paid = pn_batch_release_paid(self->release) / per_event;
    return pn_event_repeated(out, state->plan->event, paid, err);
}

const pn_solver_ops pn_solver_sgd = {
    .name = "sgd",
    .doc =
        "Stochastic gradient descent: a step on a fresh batch's mean gradient plus Gaussian noise, which secrecy of "
        "the batch makes smaller; any set, regulariser and convex or smooth loss.  The price is that of the sampling "
        "that runs.",
    .source = "Bassily, Smith, Thakurta (2014), Algorithm 1; Balle, Barthe, Gaboardi (2018) for the price of batches",
    .params = sgd_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .by_records = true,
    .plan = sgd_plan_new,
    .what_if = sgd_what_if,
    .destroy_plan = sgd_plan_destroy,
    .start = sgd_start,
    .step = sgd_step,
    .current = sgd_current,
    .destroy = sgd_destroy,
    .spent = sgd_spent,
};
