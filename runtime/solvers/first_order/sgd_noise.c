/* sgd_noise.c -- the noise of sampled gradients: sensitivity, calibration to the sampling that runs,
 * and the plan's lines about it.
 * Depends on: sgd.h, oracle.  Used by: sgd_plan.c.  Spec: accounting.md section 4, variance-reduced.md 7d. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "oracle/question.h"
#include "solvers/first_order/sgd.h"

static const char owner[] = "solve.sgd";

static bool is_poisson(const sgd_plan *plan)
{
    return strcmp(plan->gradient.scheme, "poisson") == 0;
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
    return PN_OK;
}

pn_status sgd_set_batch(const sgd_plan *plan, pn_question *gradient, size_t batch, pn_err *err)
{
    const char *scheme = gradient->scheme;

    *gradient = (pn_question){ .ops = &pn_question_gradient,
                               .objective = plan->base.objective,
                               .neighbours = plan->base.request.neighbours,
                               .exact = plan->base.request.kind == PN_NONPRIVATE,
                               .points = 1,
                               .each = 1,
                               .looks = 1,
                               .share = 1.0,
                               .per_event = 1,
                               .dim = plan->first.p,
                               .scheme = scheme,
                               .batch = batch };
    return pn_question_batches(gradient, gradient->exact ? 1.0 : plan->first.lipschitz, err);
}

/* ---- calibration ---- */

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

static pn_status find_noise(sgd_plan *plan, bool paper, const char *accountant, pn_err *err)
{
    bool pld = strcmp(accountant, "pld") == 0;
    pn_question *gradient = &plan->gradient;
    double reached = NAN;

    if (gradient->exact)
        return PN_OK;
    PN_TRY(check_request(plan, paper, pld, err));
    if (paper) {
        gradient->batches.sigma = article_sigma(plan);
        PN_TRY(pn_question_price(gradient, err));
    } else {
        PN_TRY(pn_askings_calibrate(&(pn_asking){ gradient, plan->base.iterations, false }, 1, &plan->base.request,
                                    owner, accountant, NULL, &reached, err));
    }
    plan->base.sigma = gradient->batches.sigma / plan->divisor;
    if (pld)
        return take_whole(plan, reached, err);
    plan->base.event = pn_event_keep(gradient->event);
    plan->base.charges = pn_question_events(gradient, plan->base.iterations);
    return paper ? check_article(plan, err) : PN_OK;
}

/* The plan has the question from here on. */
pn_status sgd_choose_noise(sgd_plan *plan, bool paper, const char *accountant, pn_err *err)
{
    pn_status status = find_noise(plan, paper, accountant, err);
    pn_question *asked;

    if (status == PN_OK)
        status = pn_plan_ask(&asked, &plan->base, &pn_question_gradient, err);
    if (status != PN_OK) {
        pn_question_clear(&plan->gradient);
        return status;
    }
    *asked = plan->gradient;
    return PN_OK;
}

/* ---- explanation ---- */

double sgd_noise_at(const sgd_plan *plan, size_t batch, size_t steps)
{
    pn_question other = { .scheme = plan->gradient.scheme };
    double sigma = NAN;

    if (sgd_set_batch(plan, &other, batch, NULL) == PN_OK &&
        pn_askings_calibrate(&(pn_asking){ &other, steps, false }, 1, &plan->base.request, owner, "rdp", NULL, NULL,
                             NULL) == PN_OK)
        sigma = other.batches.sigma / (double)batch;
    pn_question_clear(&other);
    return sigma;
}

static void explain_other(const sgd_plan *plan, pn_plan_lines *out, const char *name, size_t batch, size_t steps)
{
    double sigma;
    char text[48];

    if (batch < 1 || batch > plan->gradient.batches.n || steps < 1)
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
    const char *scheme = plan->gradient.scheme;
    const char *what = is_poisson(plan) ? "each record by a coin of rate q; gradients are counted at T q n"
                       : strcmp(scheme, "fixed") == 0 ? "of exactly that size, without replacement, anew each step"
                                                      : "a pass over all records in random order, in disjoint batches";

    pn_plan_add_text(&plan->base, "sampling", scheme, "%s", what);
}

void sgd_explain_noise(sgd_plan *plan, bool paper, const char *accountant)
{
    const pn_request *request = &plan->base.request;
    const pn_question *gradient = &plan->gradient;
    double moved = pn_question_moved(gradient), z = gradient->batches.sigma / (moved * gradient->batches.contribution);
    bool amplified = strcmp(gradient->scheme, "shuffled") != 0;

    explain_scheme(plan);
    if (request->kind == PN_NONPRIVATE)
        return;
    pn_plan_add(&plan->base, "rate q", gradient->batches.q, amplified ? "batch/n" : "batch/n; earns nothing here");
    pn_plan_add(&plan->base, "multiplier z", z, "noise on a sum / %g G%s", moved,
                paper              ? "; sqrt(32 ln(n/delta) ln(1/delta)) G/epsilon, the article's"
                : plan->base.whole ? ", by the privacy loss distribution of the run: charged at once"
                                   : ", by the Renyi curve of the sampling");
    pn_plan_add(&plan->base, "noise sigma", plan->base.sigma, "per coordinate of a batch's mean gradient");
    if (request->kind == PN_RHO && amplified && gradient->batch < gradient->batches.n)
        pn_plan_warn(
            &plan->base,
            "zCDP gives no credit for the secrecy of batches: under rho a batch of all %zu records has the least "
            "noise; epsilon and delta would reward sampling",
            gradient->batches.n);
    if (!paper && strcmp(accountant, "rdp") == 0)
        pn_plan_later(&plan->base);
}

void sgd_what_if(const pn_plan *base, pn_plan_lines *out)
{
    const sgd_plan *plan = (const sgd_plan *)base;
    size_t batch = plan->gradient.batch, steps = base->iterations;

    explain_other(plan, out, "with b/2", batch / 2, steps);
    explain_other(plan, out, "with 2 b", 2 * batch, steps);
    explain_other(plan, out, "with 2 T", batch, 2 * steps);
}
