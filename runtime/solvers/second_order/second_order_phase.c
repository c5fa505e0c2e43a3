/* second_order_phase.c -- what a run of second-order descent may spend: the value at the start that says how many
 * iterations there can be, the noise of a phase, when the next one begins, when all is over, and what has been charged.
 * Depends on: second_order_run.h, oracle.  Used by: second_order.c.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM,
 * sections on the budget and on two phases. */
#include <math.h>

#include "core/mutant.h"
#include "solvers/second_order/second_order_run.h"

void so_clear_phase(so_phase *phase)
{
    pn_model_close(phase->release);
    phase->release = NULL;
}

/* ---- the value at the start, which says how many iterations there can be ---- */

/* The mean loss plus noise of both signs: noise of one sign would leave values that only one of two neighbours can
 * give. */
static pn_status noisy_value(const so_state *self, double *value, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    double exact;

    PN_TRY(pn_objective_losses(plan->base.objective, NULL, self->w, &exact, NULL, pn_ask_task(self->ask), err));
    exact = exact >= -plan->value_bound ? fmin(exact, plan->value_bound) : -plan->value_bound;
    PN_TRY(pn_ask_masked(self->ask, &exact, value, err));
    if (PN_MUTANT("second_order_value_folded"))
        *value = exact + fabs(*value - exact);
    return PN_OK;
}

/* f(w0) is at most what is released plus the shift, with probability >= 1 - zeta. */
pn_status so_take_value(so_state *self, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    double sigma = plan->value_z * plan->value_sensitivity, value = NAN;

    self->stage = SO_OPEN;
    if (plan->value_cost == 0.0)
        return PN_OK;
    self->stage = SO_VALUE;
    PN_TRY(noisy_value(self, &value, err));
    self->stage = SO_OPEN;
    self->valued = true;
    pn_allowance_take(&self->allowance, plan->value_cost);
    self->records += plan->model.n;
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

    if (self->phase == 0 && !self->valued) {
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

void so_finish(so_state *self, const char *why, bool moves)
{
    self->ending = why;
    self->stage = moves ? SO_MOVE : SO_MADE;
}

/* Without private runs there is no budget, and T iterations are all. */
const char *so_out_of_iterations(const so_state *self)
{
    return so_plan_of(self)->model.is_private ? "budget" : "iterations";
}

static pn_status open_phase(so_state *self, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    so_phase *now = &self->phases[self->phase], phase = { .most = 0 };
    pn_status status = choose_noise(self, &phase.noise, err);

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

pn_status so_first_phase(so_state *self, pn_err *err)
{
    PN_TRY(open_phase(self, err));
    if (!goes_on(self))
        return pn_fail(err, PN_EBUDGET, "solve.second_order: what is left of the budget does not pay for an iteration");
    self->stage = SO_GRADIENT;
    return PN_OK;
}

pn_status so_next(so_state *self, pn_err *err)
{
    pn_status status;

    self->stage = SO_MOVE;
    if (goes_on(self))
        return PN_OK;
    if (self->phase + 1 >= so_plan_of(self)->phases) {
        so_finish(self, so_out_of_iterations(self), true);
        return PN_OK;
    }
    self->phase++;
    status = open_phase(self, err);
    if (status == PN_OK && goes_on(self))
        return PN_OK;
    if (status == PN_OK || status == PN_EBUDGET) { /* too little is left for one more phase: that is no failure */
        so_finish(self, "budget", true);
        return PN_OK;
    }
    self->phase--;
    self->stage = SO_NEXT;
    return status;
}
