/* second_order_phase.c -- what a run of second-order descent may spend: the value at the start that says how many
 * iterations there can be, the noise of a phase, when the next one begins, when all is over, and what has been charged.
 * Depends on: second_order_run.h, privacy.  Used by: second_order.c.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM,
 * sections on the budget and on two phases. */
#include <math.h>

#include "core/mutant.h"
#include "privacy/mechanism/mechanism.h"
#include "solvers/second_order/second_order_run.h"

void so_clear_phase(so_phase *phase)
{
    pn_model_close(phase->release);
    pn_event_free(phase->search);
    pn_event_free(phase->products);
    phase->release = NULL;
    phase->search = phase->products = NULL;
}

/* ---- the value at the start, which says how many iterations there can be ---- */

/* The mean loss plus noise of both signs: noise of one sign would leave values that only one of two neighbours can
 * give. */
static pn_status noisy_value(const so_state *self, pn_mechanism *noise, pn_step_context *context, double *value,
                             pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    double exact;
    pn_release release = { .values = value };
    pn_status status;

    PN_TRY(pn_objective_losses(plan->base.objective, NULL, self->w, &exact, NULL, context->task, err));
    exact = exact >= -plan->value_bound ? fmin(exact, plan->value_bound) : -plan->value_bound;
    status = pn_mechanism_release(noise, context->ledger, "second_order value", context->rng, &exact, 1, &release, err);
    if (status == PN_OK && PN_MUTANT("second_order_value_folded"))
        *value = exact + fabs(*value - exact);
    return status;
}

/* f(w0) is at most what is released plus the shift, with probability >= 1 - zeta. */
pn_status so_take_value(so_state *self, pn_step_context *context, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    double sigma = plan->value_z * plan->value_sensitivity, value = NAN;
    pn_mechanism *noise = NULL;
    pn_status status = PN_OK;

    if (plan->value_cost > 0.0) {
        status = so_value_open(&noise, plan, plan->value_z, err);
        if (status == PN_OK)
            status = noisy_value(self, noise, context, &value, err);
        if (status == PN_OK)
            self->value_event = pn_event_keep(noise->event);
        pn_mechanism_free(noise);
    }
    if (status != PN_OK)
        return status;
    self->stage = SO_OPEN;
    if (!self->value_event)
        return PN_OK;
    context->releases++;
    pn_allowance_take(&self->allowance, plan->value_cost);
    self->base.gradients += plan->model.n;
    value += plan->regular + sigma * sqrt(2.0 * log(1.0 / plan->of.failure));
    self->iterations = so_iterations(&plan->of, plan->line_search, value - plan->floor, plan->cap);
    return PN_OK;
}

/* ---- phases ---- */

/* What one iteration may cost: its dearest branch. */
static double whole(const so_noise *noise)
{
    return noise->gradient_cost + noise->hessian_cost + noise->search_cost;
}

static size_t phase_iterations(const so_state *self)
{
    const so_plan *plan = so_plan_of(self);

    if (plan->phases < 2 || self->phase > 0)
        return self->iterations;
    return plan->first_iterations ? plan->first_iterations : (size_t)ceil(sqrt((double)self->iterations));
}

/* The plan's own where nothing was released that changes it. */
static pn_status choose_noise(const so_state *self, so_noise *noise, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    double left = pn_allowance_left(&self->allowance);

    if (self->phase == 0 && !self->value_event) {
        *noise = plan->first;
        return PN_OK;
    }
    if (!plan->model.is_private) {
        *noise = (so_noise){ .iterations = phase_iterations(self) };
        return PN_OK;
    }
    if (self->phase + 1 < plan->phases)
        left *= plan->first_share;
    return so_noise_of(plan, left, phase_iterations(self), noise, err);
}

/* What releases of gradient and Hessian do not price themselves. */
static pn_status price(const so_plan *plan, so_phase *phase, pn_err *err)
{
    const so_noise *noise = &phase->noise;
    pn_status status = PN_OK;

    if (plan->model.is_private && plan->eigen == SO_MATRIX_FREE)
        status = pn_model_hessian_event(&plan->model, noise->z, &phase->products, err);
    if (status == PN_OK && noise->search_epsilon > 0.0)
        status = pn_line_search_event(&plan->model, noise->search_epsilon, &phase->search, err);
    return status;
}

/* Iterations past T cost no more than what is left, and each at least a gradient. */
static size_t most_of(const so_state *self, const so_noise *noise)
{
    const so_plan *plan = so_plan_of(self);
    double fit;

    if (!plan->filter || !plan->model.is_private || self->phase + 1 < plan->phases)
        return noise->iterations;
    fit = floor(pn_allowance_left(&self->allowance) / noise->gradient_cost * (1.0 + 1e-9)) + 1.0;
    return fit < (double)plan->base.iterations ? (size_t)fmax(fit, (double)noise->iterations) : plan->base.iterations;
}

void so_finish(so_state *self, const char *why)
{
    self->base.finished = true;
    self->base.stopped = why;
    self->stage = SO_MADE;
}

/* Without private runs there is no budget, and T iterations are all. */
const char *so_out_of_iterations(const so_state *self)
{
    return so_plan_of(self)->model.is_private ? "budget" : "iterations";
}

static pn_status open_phase(so_state *self, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    so_phase *now = &self->phases[self->phase], phase = { .searches = 0 };
    pn_status status = choose_noise(self, &phase.noise, err);

    if (status == PN_OK)
        status = price(plan, &phase, err);
    if (status == PN_OK)
        status = pn_model_open(&phase.release, &plan->model, phase.noise.z, phase.noise.z, err);
    if (status != PN_OK) {
        so_clear_phase(&phase);
        return status;
    }
    phase.most = most_of(self, &phase.noise);
    so_clear_phase(now); /* of a try that came to nothing */
    *now = phase;
    self->in_phase = 0;
    return PN_OK;
}

/* Whether this phase goes on, another one begins, or all is over. */
static bool goes_on(so_state *self)
{
    const so_plan *plan = so_plan_of(self);
    const so_phase *phase = &self->phases[self->phase];
    bool last = self->phase + 1 >= plan->phases, past = self->in_phase >= phase->noise.iterations;

    if (!plan->model.is_private)
        return !past;
    if (past && !(last && plan->filter))
        return false;
    return pn_allowance_fits(&self->allowance, whole(&phase->noise));
}

pn_status so_first_phase(so_state *self, pn_step_context *context, pn_err *err)
{
    pn_status status = open_phase(self, err);

    (void)context;
    if (status != PN_OK)
        return status;
    if (!goes_on(self))
        return pn_fail(err, PN_EBUDGET, "solve.second_order: what is left of the budget does not pay for an iteration");
    self->stage = SO_GRADIENT;
    return PN_OK;
}

pn_status so_next(so_state *self, pn_step_context *context, pn_err *err)
{
    pn_status status;

    (void)context;
    if (goes_on(self)) {
        self->stage = SO_MADE;
        return PN_OK;
    }
    if (self->phase + 1 >= so_plan_of(self)->phases) {
        so_finish(self, so_out_of_iterations(self));
        return PN_OK;
    }
    self->phase++;
    status = open_phase(self, err);
    if (status == PN_OK && goes_on(self)) {
        self->stage = SO_MADE;
        return PN_OK;
    }
    if (status == PN_OK || status == PN_EBUDGET) { /* too little is left for one more phase: that is no failure */
        so_finish(self, "budget");
        return PN_OK;
    }
    self->phase--;
    return status;
}

/* ---- what has been charged ---- */

typedef struct charges {
    pn_event *parts[1 + 3 * SO_PHASE_COUNT];
    size_t count;
} charges;

/* `times` times the event of one release; what a run did not make is left out. */
static pn_status add_event(charges *of, pn_event *event, size_t times, pn_err *err)
{
    pn_status status;

    if (!event || times == 0)
        return PN_OK;
    status = pn_event_repeated(&of->parts[of->count], event, times, err);
    of->count += status == PN_OK;
    return status;
}

static pn_status add_phase(charges *of, const so_phase *phase, pn_err *err)
{
    pn_event *releases = NULL;
    pn_status status = phase->release ? pn_model_spent(phase->release, &releases, err) : PN_OK;

    if (status == PN_OK)
        status = add_event(of, releases, 1, err);
    if (status == PN_OK)
        status = add_event(of, phase->search, phase->searches, err);
    if (status == PN_OK)
        status = add_event(of, phase->products, phase->queries, err);
    pn_event_free(releases);
    return status;
}

pn_status so_spent(const pn_state *state, pn_event **out, pn_err *err)
{
    const so_state *self = (const so_state *)state;
    charges of = { .count = 0 };
    pn_status status = add_event(&of, self->value_event, 1, err);

    *out = NULL;
    for (size_t k = 0; k < SO_PHASE_COUNT && status == PN_OK; k++)
        status = add_phase(&of, &self->phases[k], err);
    if (status == PN_OK && of.count > 0)
        status = pn_event_compose(out, of.parts, of.count, err);
    for (size_t k = 0; k < of.count; k++)
        pn_event_free(of.parts[k]);
    return status;
}
