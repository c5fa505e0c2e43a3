/* fit_privacy.c -- see fit_privacy.h.  Depends on: fit_privacy.h.  Used by: run.c. */
#include <math.h>

#include "solvers/engine/fit_privacy.h"

static double request_epsilon(const pn_plan *plan)
{
    return plan->request.kind == PN_RHO ? NAN : plan->simulation_only ? INFINITY : plan->epsilon;
}

pn_status pn_spent_of(pn_spent *out, const pn_plan *plan, const pn_oracle *ask, pn_err *err)
{
    pn_event *event = NULL;
    size_t count;

    PN_TRY(pn_oracle_charged(ask, &event, &count, err));
    out->event = event;
    out->times = count;
    out->epsilon = NAN;
    out->rho = !event ? 0.0 : plan->simulation_only ? INFINITY : (double)count * event->ops->zcdp(event);
    if (plan->request.kind != PN_RHO)
        out->epsilon = !event                  ? 0.0
                       : plan->simulation_only ? INFINITY
                       : event == plan->event && count == pn_plan_charges(plan)
                           ? plan->epsilon
                           : pn_event_epsilon(event, count, plan->delta, NULL);
    return PN_OK;
}

/* Whether it was public from the start what the run asks: all of its plan.  A step in Lua may have left questions out
 * because of an answer. */
static bool ended_as_planned(const pn_plan *plan, const pn_state *state)
{
    const pn_solver_ops *solver = plan->solver;

    return !solver->adaptive && !solver->by_questions && !state->finished && state->step >= plan->iterations;
}

/* The price of the first k steps holds for a k that was chosen before anything was released.  Who ends a run early, be
 * it the solver, a function of the caller's, Ctrl-C, a limit or a ledger that others charge, may have seen what it
 * released; the run up to there is a post-processing of all of it, so the plan's whole budget holds wherever it
 * ends. */
pn_status pn_fit_state_privacy(pn_fit *fit, const pn_plan *plan, const pn_oracle *ask, const pn_state *state,
                               bool simulated, pn_err *err)
{
    pn_spent charged;

    fit->epsilon = fit->delta = fit->rho = fit->charged_epsilon = fit->charged_rho = NAN;
    fit->is_private = plan->request.kind != PN_NONPRIVATE;
    fit->simulated = simulated;
    fit->proven = plan->proven;
    fit->neighbours = plan->request.neighbours;
    if (plan->without_records) {
        fit->is_private = true;
        fit->delta = plan->delta;
        fit->rho = fit->charged_rho = plan->rho;
        fit->epsilon = fit->charged_epsilon = plan->epsilon;
        fit->certificate = (pn_certificate){ 0 }; /* of the stand-in */
    }
    if (!fit->is_private || plan->without_records)
        return PN_OK;
    PN_TRY(pn_spent_of(&charged, plan, ask, err));
    if (plan->request.kind != PN_RHO)
        fit->delta = plan->delta;
    fit->rho = fit->charged_rho = charged.rho;
    fit->epsilon = fit->charged_epsilon = charged.epsilon;
    fit->charged = charged.event;
    fit->charged_times = charged.times;
    if (charged.event && !ended_as_planned(plan, state)) {
        fit->rho = plan->simulation_only ? INFINITY : plan->rho;
        fit->epsilon = request_epsilon(plan);
    }
    return PN_OK;
}
