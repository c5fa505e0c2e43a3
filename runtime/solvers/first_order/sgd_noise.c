/* sgd_noise.c -- the noise of sgd: the article's, or that of the sampling that runs, by either accountant, and what
 * other batches and steps would have.
 * Depends on: sgd.h, oracle/gradient_batch.h.  Used by: sgd_plan.c, descent.c.
 * Spec: accounting.md section 4, variance-reduced.md 7d. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/first_order/sgd.h"

static bool by_loss_distribution(const sgd_problem *at)
{
    return strcmp(at->own[SGD_ACCOUNTANT].text, "pld") == 0;
}

/* 32 G^2 ln(n/delta) ln(1/delta) / epsilon^2 for steps on single records. */
static double article_sigma(const pn_descent *plan)
{
    const pn_request *request = &plan->base.request;

    return plan->problem.lipschitz * sqrt(32.0 * log(plan->problem.n / request->delta) * log(1.0 / request->delta)) /
           request->epsilon;
}

static pn_status check_request(const sgd_problem *at, pn_err *err)
{
    const pn_plan *plan = &at->plan->base;

    PN_TRY(pn_gradient_noise_check(plan, at->common, err));
    if (by_loss_distribution(at) && plan->request.kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: accountant=\"pld\" prices epsilon at delta; give both, or leave it out", plan->owner);
    if (by_loss_distribution(at) && at->paper)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: accountant=\"pld\" goes with calibration=\"tight\"", plan->owner);
    return PN_OK;
}

pn_status sgd_choose_noise(const sgd_problem *at, pn_err *err)
{
    pn_descent *plan = at->plan;

    if (at->is_private)
        PN_TRY(check_request(at, err));
    if (at->paper)
        plan->noise.paper.sigma = article_sigma(plan);
    PN_TRY(pn_batch_attach(&plan->base, &plan->noise, at->own[SGD_ACCOUNTANT].text, err));
    return at->paper ? pn_gradient_noise_check_paper(&plan->base, err) : PN_OK;
}

/* ---- explanation ---- */

void sgd_explain_noise(const sgd_problem *at)
{
    pn_plan *plan = &at->plan->base;

    pn_batch_explain(plan, &plan->questions[0],
                     at->paper     ? "; sqrt(32 ln(n/delta) ln(1/delta)) G/epsilon, the article's"
                     : plan->whole ? ", by the privacy loss distribution of the run: charged at once"
                                   : ", by the Renyi curve of the sampling");
    if (at->is_private && !at->paper && !by_loss_distribution(at))
        pn_plan_later(plan);
}

static void explain_other(const pn_plan *plan, pn_plan_lines *out, const char *name, size_t batch, size_t steps)
{
    const pn_question *gradient = &plan->questions[0];
    double sigma;
    char text[48];

    if (batch < 1 || batch > gradient->batches.n || steps < 1)
        return;
    sigma = pn_batch_noise_at(plan, gradient->scheme, batch, steps);
    if (isnan(sigma))
        return;
    (void)snprintf(text, sizeof text, "sigma %.4g", sigma);
    pn_lines_add(out, name, NAN, text, "batch %zu, T = %zu: %.4g gradients", batch, steps,
                 (double)batch * (double)steps);
}

void sgd_what_if(const pn_plan *plan, pn_plan_lines *out)
{
    size_t batch = plan->questions[0].batch, steps = plan->iterations;

    explain_other(plan, out, "with b/2", batch / 2, steps);
    explain_other(plan, out, "with 2 b", 2 * batch, steps);
    explain_other(plan, out, "with 2 T", batch, 2 * steps);
}
