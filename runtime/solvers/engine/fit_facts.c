/* fit_facts.c -- what is known of a plan and of a fit, for those who cannot look into them.
 * Depends on: solver.h.  Used by: hosts. */
#include "solvers/engine/solver.h"

/* ---- plans ---- */

const char *pn_plan_solver(const pn_plan *plan)
{
    return plan->solver->name;
}

size_t pn_plan_iterations(const pn_plan *plan)
{
    return plan->iterations;
}

bool pn_plan_is_private(const pn_plan *plan)
{
    return plan->request.kind != PN_NONPRIVATE;
}

bool pn_plan_is_proven(const pn_plan *plan)
{
    return plan->proven;
}

double pn_plan_epsilon(const pn_plan *plan)
{
    return plan->epsilon;
}

double pn_plan_delta(const pn_plan *plan)
{
    return plan->delta;
}

double pn_plan_rho(const pn_plan *plan)
{
    return plan->rho;
}

double pn_plan_bound(const pn_plan *plan)
{
    return plan->bound;
}

double pn_plan_predicted(const pn_plan *plan)
{
    return plan->predicted;
}

bool pn_plan_hopeless(const pn_plan *plan)
{
    return plan->hopeless;
}

double pn_plan_gradients(const pn_plan *plan)
{
    return plan->gradients;
}

double pn_plan_sigma(const pn_plan *plan)
{
    return plan->sigma;
}

const char *pn_plan_warning(const pn_plan *plan, size_t index)
{
    if (index >= PN_PLAN_WARNINGS || plan->warnings[index][0] == '\0')
        return NULL;
    return plan->warnings[index];
}

/* ---- fits ---- */

const double *pn_fit_theta(const pn_fit *fit)
{
    return fit->theta;
}

size_t pn_fit_dim(const pn_fit *fit)
{
    return fit->p;
}

size_t pn_fit_steps(const pn_fit *fit)
{
    return fit->steps;
}

uint64_t pn_fit_gradients(const pn_fit *fit)
{
    return fit->gradients;
}

double pn_fit_seconds(const pn_fit *fit)
{
    return fit->seconds;
}

const char *pn_fit_stopped(const pn_fit *fit)
{
    return fit->stopped;
}

const pn_trace_row *pn_fit_trace(const pn_fit *fit, size_t *rows)
{
    *rows = fit->rows;
    return fit->trace;
}

bool pn_fit_is_private(const pn_fit *fit)
{
    return fit->is_private && fit->proven && !fit->simulated;
}

double pn_fit_epsilon(const pn_fit *fit)
{
    return fit->epsilon;
}

double pn_fit_delta(const pn_fit *fit)
{
    return fit->delta;
}

double pn_fit_rho(const pn_fit *fit)
{
    return fit->rho;
}

pn_neighbours pn_fit_neighbours(const pn_fit *fit)
{
    return fit->neighbours;
}

const pn_certificate *pn_fit_certificate(const pn_fit *fit)
{
    return &fit->certificate;
}
