/* second_order_phase.c -- what a run of second-order descent may spend: the value at the start that says how many
 * iterations there can be, the noise of a phase, when the next one begins, when all is over, and what has been charged.
 * Depends on: second_order_run.h, oracle.  Used by: second_order.c.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM,
 * sections on the budget and on two phases. */
#include <math.h>

#include "solvers/second_order/second_order_run.h"

/* ---- the value at the start, which says how many iterations there can be ---- */

/* f(w0) is at most what is released plus the shift, with probability >= 1 - zeta. */
pn_status so_take_value(so_state *self, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    double value, sigma = plan->value.z * plan->value.sensitivity;

    if (plan->value.cost > 0.0) {
        PN_TRY(pn_ask_start_value(self->ask, &plan->value, self->base.theta, &value, err));
        self->valued = true;
        pn_allowance_take(&self->allowance, plan->value.cost);
        self->records += plan->model.n;
        value += plan->regular + sigma * sqrt(2.0 * log(1.0 / plan->of.failure));
        self->iterations = so_iterations(&plan->of, value - plan->floor, plan->cap);
    }
    self->stage = SO_OPEN;
    return PN_OK;
}

/* ---- phases ---- */

/* The plan's own where nothing was released that changes it. */
static pn_status choose_noise(const so_state *self, size_t phase, so_noise *noise, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    bool first = phase + 1 < plan->phases; /* of two */
    size_t iterations = first ? so_first_iterations(plan, self->iterations) : self->iterations;

    *noise = plan->first;
    if (phase == 0 && !self->valued)
        return PN_OK;
    return so_noise_of(plan, pn_allowance_left(&self->allowance) * (first ? plan->first_share : 1.0), iterations, noise,
                       err);
}

/* Iterations past T cost no more than what is left, and each at least a gradient. */
static size_t most_of(const so_state *self, size_t phase, const so_noise *noise)
{
    const so_plan *plan = so_plan_of(self);
    double fit;

    if (!plan->filter || !plan->model.is_private || phase + 1 < plan->phases)
        return noise->iterations;
    fit = floor(pn_allowance_left(&self->allowance) / noise->gradient_cost * (1.0 + 1e-9)) + 1.0;
    return fit < (double)plan->base.iterations ? (size_t)fmax(fit, (double)noise->iterations) : plan->base.iterations;
}

void so_finish(so_state *self, const char *why, bool moves)
{
    self->ending = why;
    self->stage = moves ? SO_MOVE : SO_MADE;
}

const char *so_out_of_iterations(const so_state *self)
{
    return so_plan_of(self)->model.is_private ? "budget" : "iterations";
}

/* In place of the current one, which stays after a failure. */
static pn_status open_phase(so_state *self, size_t number, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    so_phase phase = { .number = number };

    PN_TRY(choose_noise(self, number, &phase.noise, err));
    PN_TRY(pn_model_open(&phase.release, &plan->model, phase.noise.z, phase.noise.z, err));
    phase.most = most_of(self, number, &phase.noise);
    pn_model_close(self->phase.release);
    self->phase = phase;
    self->in_phase = 0;
    return PN_OK;
}

/* Whether this phase goes on, another one begins, or all is over. */
static bool goes_on(so_state *self)
{
    const so_plan *plan = so_plan_of(self);
    const so_noise *noise = &self->phase.noise;
    bool last = self->phase.number + 1 >= plan->phases, past = self->in_phase >= noise->iterations;

    if (past && !(last && plan->filter && plan->model.is_private))
        return false;
    return !plan->model.is_private || pn_allowance_fits(&self->allowance, noise->whole);
}

pn_status so_first_phase(so_state *self, pn_err *err)
{
    PN_TRY(open_phase(self, 0, err));
    if (!goes_on(self))
        return pn_fail(err, PN_EBUDGET, "the remaining budget does not pay for one more iteration");
    self->stage = SO_GRADIENT;
    return PN_OK;
}

pn_status so_next(so_state *self, pn_err *err)
{
    const char *over = so_out_of_iterations(self);
    pn_status status = PN_OK;
    bool more = goes_on(self);

    if (!more && self->phase.number + 1 < so_plan_of(self)->phases) {
        over = "budget";
        status = open_phase(self, self->phase.number + 1, err);
        if (status != PN_OK && status != PN_EBUDGET)
            return status;
        more = status == PN_OK && goes_on(self); /* too little is left for one more phase: that is no failure */
    }
    so_finish(self, more ? NULL : over, true);
    return PN_OK;
}
