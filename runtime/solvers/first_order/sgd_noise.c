/* sgd_noise.c -- the noise of sampled gradients: sensitivity, calibration to the sampling that runs,
 * and the plan's lines about it.
 * Depends on: sgd.h, privacy.  Used by: sgd_plan.c.  Spec: accounting.md section 4, variance-reduced.md 7d. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "oracle/question.h"
#include "privacy/accounting/calibrate_program.h"
#include "solvers/first_order/sgd.h"

static const char owner[] = "solve.sgd";

static bool is_poisson(const pn_batch_release_options *batches)
{
    return strcmp(batches->scheme, "poisson") == 0;
}

/* Contributions by which a record moves a sum in the event of the scheme: a coin decides about one. */
static double moved(const pn_batch_release_options *batches)
{
    return !is_poisson(batches) && batches->neighbours == PN_REPLACE_ONE ? 2.0 : 1.0;
}

/* ---- sensitivity ---- */

pn_status sgd_read_sensitivity(sgd_plan *plan, pn_err *err)
{
    const pn_request *request = &plan->base.request;

    if (pn_objective_loss(plan->base.objective)->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: a black box has no gradients; zeroth-order solvers take it", owner);
    if (request->kind == PN_NONPRIVATE)
        return PN_OK;
    if (request->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: neighbours=\"add_remove\" makes n secret, and sampling rates and means need it; use "
                       "\"replace_one\" or \"zero_out\"",
                       owner);
    if (!isfinite(plan->first.lipschitz))
        return pn_fail(err, PN_EPRIVACY,
                       "%s: the gradient of a record is not bounded; clip the rows, or give clip= to pn.objective",
                       owner);
    plan->batches.neighbours = request->neighbours;
    plan->batches.dim = plan->first.p;
    plan->batches.contribution = plan->first.lipschitz * (1.0 + 1e-14); /* products are rounded */
    return PN_OK;
}

void sgd_set_batch(const sgd_plan *plan, pn_batch_release_options *batches, size_t batch)
{
    size_t most = is_poisson(batches) ? batches->n : batch; /* records in a sum */

    batches->batch = batch;
    batches->q = (double)batch / (double)batches->n;
    if (plan->base.request.kind == PN_NONPRIVATE)
        return;
    batches->error = pn_objective_batch_error(plan->base.objective, most, batches->contribution);
    batches->bound = batches->contribution * (double)most * (1.0 + 0x1p-30) + batches->error;
}

/* ---- calibration ---- */

typedef struct run {
    pn_batch_release_options batches;
    size_t steps;
} run;

static double sigma_of(const pn_batch_release_options *batches, double multiplier)
{
    return multiplier * moved(batches) * batches->contribution;
}

/* The event of the run and how often it is taken. */
static pn_status event_of(const run *of, pn_event **event, size_t *count, pn_err *err)
{
    size_t per_event = 1;
    pn_status status = pn_batch_release_price(event, &per_event, &of->batches, err);

    *count = of->steps / per_event + (of->steps % per_event != 0);
    return status;
}

static pn_status release(void *self, double x, pn_event **event, size_t *count, pn_err *err)
{
    run *of = self;

    of->batches.sigma = sigma_of(&of->batches, x);
    return event_of(of, event, count, err);
}

/* batches.sigma of the run; *reached what it costs. */
static pn_status calibrate(run *of, const pn_request *request, const char *accountant, double *reached, pn_err *err)
{
    pn_run_budget budget = { .owner = owner,
                             .accountant = accountant,
                             .epsilon = request->epsilon,
                             .delta = request->delta,
                             .rho = request->kind == PN_RHO ? request->rho : NAN };
    pn_program program = { release, of };
    double z = NAN;
    pn_status status = pn_calibrate_run(&z, reached, &budget, &program, err);

    of->batches.sigma = sigma_of(&of->batches, z);
    return status;
}

/* 32 G^2 ln(n/delta) ln(1/delta) / epsilon^2 for steps on single records. */
static double article_sigma(const sgd_plan *plan)
{
    const pn_request *request = &plan->base.request;

    return plan->first.lipschitz * sqrt(32.0 * log(plan->first.n / request->delta) * log(1.0 / request->delta)) /
           request->epsilon;
}

static pn_status check_request(const sgd_plan *plan, bool paper, bool pld, pn_err *err)
{
    const pn_request *request = &plan->base.request;

    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: Gaussian noise needs a delta; give delta= as well, 1/n^2 say", owner);
    if (paper && request->kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: calibration=\"paper\" is stated for epsilon and delta; give both",
                       owner);
    if (pld && request->kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: accountant=\"pld\" prices epsilon at delta; give both, or leave it out", owner);
    if (pld && paper)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: accountant=\"pld\" goes with calibration=\"tight\"", owner);
    return PN_OK;
}

/* The run's price by its loss distribution is no sum of prices of steps: one event, charged at once. */
static pn_status take_whole(sgd_plan *plan, double reached, pn_err *err)
{
    plan->base.whole = true;
    plan->base.charges = 1;
    plan->base.accountant = "pld";
    return pn_event_approximate(&plan->base.event, reached, plan->base.request.delta, plan->base.request.neighbours,
                                err);
}

static pn_status check_article(sgd_plan *plan, pn_err *err)
{
    const pn_request *request = &plan->base.request;
    double price = pn_event_epsilon(plan->base.event, plan->base.charges, request->delta, NULL);

    if (price <= request->epsilon)
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "%s: the article's noise costs epsilon %.6g at delta %g, more than the %g asked for; use "
                   "calibration=\"tight\"",
                   owner, price, request->delta, request->epsilon);
}

/* What a step asks. */
static pn_status attach_question(sgd_plan *plan, pn_err *err)
{
    pn_question *gradient;

    PN_TRY(pn_plan_ask(&gradient, &plan->base, &pn_question_gradient, err));
    gradient->exact = plan->base.request.kind == PN_NONPRIVATE;
    gradient->scheme = plan->batches.scheme;
    gradient->batch = (size_t)plan->divisor;
    gradient->batches = plan->batches;
    gradient->divisor = plan->divisor;
    gradient->dim = plan->first.p;
    return gradient->exact ? PN_OK : pn_question_price(gradient, err);
}

static pn_status choose_noise(sgd_plan *plan, bool paper, const char *accountant, pn_err *err)
{
    bool pld = strcmp(accountant, "pld") == 0;
    run of = { plan->batches, plan->base.iterations };
    double reached = NAN;
    pn_status status;

    if (plan->base.request.kind == PN_NONPRIVATE)
        return PN_OK;
    status = check_request(plan, paper, pld, err);
    if (status == PN_OK && paper)
        of.batches.sigma = article_sigma(plan);
    else if (status == PN_OK)
        status = calibrate(&of, &plan->base.request, accountant, &reached, err);
    if (status != PN_OK)
        return status;
    plan->batches = of.batches;
    plan->base.sigma = of.batches.sigma / plan->divisor;
    if (pld)
        return take_whole(plan, reached, err);
    status = event_of(&of, &plan->base.event, &plan->base.charges, err);
    return status == PN_OK && paper ? check_article(plan, err) : status;
}

pn_status sgd_choose_noise(sgd_plan *plan, bool paper, const char *accountant, pn_err *err)
{
    PN_TRY(choose_noise(plan, paper, accountant, err));
    return attach_question(plan, err);
}

/* ---- explanation ---- */

double sgd_noise_at(const sgd_plan *plan, size_t batch, size_t steps)
{
    run of = { plan->batches, steps };

    sgd_set_batch(plan, &of.batches, batch);
    if (calibrate(&of, &plan->base.request, "rdp", NULL, NULL) != PN_OK)
        return NAN;
    return of.batches.sigma / (double)batch;
}

static void explain_other(const sgd_plan *plan, pn_plan_lines *out, const char *name, size_t batch, size_t steps)
{
    double sigma;
    char text[48];

    if (batch < 1 || batch > plan->batches.n || steps < 1)
        return;
    sigma = sgd_noise_at(plan, batch, steps);
    if (isnan(sigma))
        return;
    (void)snprintf(text, sizeof text, "sigma %.4g", sigma);
    pn_lines_add(out, name, NAN, text, "batch %zu, T = %zu: %.4g gradients", batch, steps,
                 (double)batch * (double)steps);
}

static void explain_scheme(sgd_plan *plan)
{
    const pn_batch_release_options *batches = &plan->batches;
    const char *what = is_poisson(batches) ? "each record by a coin of rate q; gradients are counted at T q n"
                       : strcmp(batches->scheme, "fixed") == 0
                           ? "of exactly that size, without replacement, anew each step"
                           : "a pass over all records in random order, in disjoint batches";

    pn_plan_add_text(&plan->base, "sampling", batches->scheme, "%s", what);
}

void sgd_explain_noise(sgd_plan *plan, bool paper, const char *accountant)
{
    const pn_request *request = &plan->base.request;
    const pn_batch_release_options *batches = &plan->batches;
    double z = batches->sigma / (moved(batches) * batches->contribution);
    bool amplified = strcmp(batches->scheme, "shuffled") != 0;

    explain_scheme(plan);
    if (request->kind == PN_NONPRIVATE)
        return;
    pn_plan_add(&plan->base, "rate q", batches->q, amplified ? "batch/n" : "batch/n; earns nothing here");
    pn_plan_add(&plan->base, "multiplier z", z, "noise on a sum / %g G%s", moved(batches),
                paper              ? "; sqrt(32 ln(n/delta) ln(1/delta)) G/epsilon, the article's"
                : plan->base.whole ? ", by the privacy loss distribution of the run: charged at once"
                                   : ", by the Renyi curve of the sampling");
    pn_plan_add(&plan->base, "noise sigma", plan->base.sigma, "per coordinate of a batch's mean gradient");
    if (request->kind == PN_RHO && amplified && batches->batch < batches->n)
        pn_plan_warn(
            &plan->base,
            "zCDP gives no credit for the secrecy of batches: under rho a batch of all %zu records has the least "
            "noise; epsilon and delta would reward sampling",
            batches->n);
    if (!paper && strcmp(accountant, "rdp") == 0)
        pn_plan_later(&plan->base);
}

void sgd_what_if(const pn_plan *base, pn_plan_lines *out)
{
    const sgd_plan *plan = (const sgd_plan *)base;
    size_t batch = plan->batches.batch, steps = base->iterations;

    explain_other(plan, out, "with b/2", batch / 2, steps);
    explain_other(plan, out, "with 2 b", 2 * batch, steps);
    explain_other(plan, out, "with 2 T", batch, 2 * steps);
}
