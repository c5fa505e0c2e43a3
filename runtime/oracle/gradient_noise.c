/* gradient_noise.c -- see gradient_noise.h.  Depends on: gradient_noise.h, question.h, privacy.
 * Used by: plans of first-order solvers. */
#include <math.h>
#include <string.h>

#include "core/stop.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/gaussian.h"
#include "random/noise.h"
#include "oracle/gradient_batch.h"

pn_status pn_gradient_noise_read(pn_gradient_noise *noise, const char *owner, const pn_objective *objective,
                                 const pn_request *request, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    double n = (double)pn_objective_data(objective)->n, error;

    *noise = (pn_gradient_noise){ .lipschitz = bounds->lipschitz[PN_L2],
                                  .dim = pn_objective_dim(objective),
                                  .neighbours = request->neighbours,
                                  .records = n };
    if (pn_objective_loss(objective)->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: a black box has no gradients; zeroth-order solvers take it", owner);
    if (request->kind == PN_NONPRIVATE)
        return PN_OK;
    PN_TRY(pn_request_need_n(request, owner, err));
    error = pn_objective_gradient_error(objective);
    if (!isfinite(noise->lipschitz) || !isfinite(error))
        return pn_fail(
            err, PN_EPRIVACY,
            "%s: the gradient of a record is not bounded; give clip= to pn.objective, or " PN_HOW_TO_BOUND_ROWS, owner);
    noise->sensitivity =
        (pn_contributions(request->neighbours) * noise->lipschitz / n + 2.0 * sqrt((double)noise->dim) * error) *
        (1.0 + 1e-14);
    noise->bound = noise->lipschitz * (1.0 + 0x1p-30) + error;
    noise->basis = (pn_basis){ .rule = "gradient",
                               .norm = "l2",
                               .contributions = pn_contributions(request->neighbours),
                               .contribution = noise->lipschitz,
                               .factor = 1.0,
                               .divisor = n,
                               .value = noise->sensitivity };
    return PN_OK;
}

double pn_gradient_noise_rho(const pn_request *request)
{
    double mu;

    if (request->kind == PN_RHO)
        return request->rho;
    mu = pn_gaussian_mu(request->epsilon, request->delta);
    return mu * mu / 2.0;
}

pn_request pn_request_part(const pn_request *request, double part)
{
    pn_request out = *request;

    out.ledger = NULL;
    out.epsilon *= part;
    out.delta *= part;
    out.rho *= part;
    return out;
}

double pn_gradient_noise_unit(const pn_gradient_noise *noise, const pn_plan *plan, size_t steps)
{
    double sigma;

    if (plan->request.kind == PN_NONPRIVATE)
        return 0.0;
    if (noise->paper.sigma > 0.0)
        return noise->paper.sigma;
    sigma = noise->scheme && steps > 0 ? pn_batch_noise_at(plan, noise->scheme, (size_t)noise->records, steps) : NAN;
    if (isnan(sigma))
        return noise->sensitivity / sqrt(2.0 * pn_gradient_noise_rho(&plan->request));
    return hypot(sigma, noise->sampling) / sqrt((double)steps);
}

double pn_gradient_noise_deviation(const pn_gradient_noise *noise)
{
    return hypot(noise->sigma, noise->sampling);
}

bool pn_request_is_renyi(const pn_request *request)
{
    return request->ledger && request->kind == PN_EPSILON_DELTA && pn_ledger_entries(request->ledger) > 0 &&
           !pn_ledger_gaussian(request->ledger);
}

pn_unit pn_request_unit(const pn_request *request)
{
    return request->kind == PN_RHO ? PN_UNIT_RHO : pn_request_is_renyi(request) ? PN_UNIT_RENYI : PN_UNIT_GAUSSIAN;
}

pn_status pn_request_allowance(pn_allowance *out, double *z, const pn_request *request, const char *owner, pn_unit unit,
                               bool paper, const pn_program *program, pn_err *err)
{
    pn_run_budget budget = pn_request_budget(request, owner, NULL);

    PN_TRY(pn_allowance_open(out, &budget, unit, paper, unit == PN_UNIT_RENYI ? program : NULL, err));
    return z ? pn_allowance_noise(out, out->total, program, z, err) : PN_OK;
}

/* What `steps` releases with that sigma cost; +inf when there is no price, NaN without memory. */
static double price(const pn_gradient_noise *noise, const pn_request *request, size_t steps, double sigma)
{
    double charged = pn_lattice_l2(noise->sensitivity, sigma, noise->dim, noise->bound, 1), epsilon;
    pn_event *event = NULL;

    if (pn_event_gaussian(&event, sigma, charged, noise->dim, request->neighbours, NULL) != PN_OK)
        return NAN;
    epsilon = pn_event_epsilon(event, steps, request->delta, NULL);
    pn_event_free(event);
    return epsilon;
}

/* At epsilon of 50 and more the tails of drawn noise need half of delta, which only Renyi prices give them, and noise
 * that is small beside the sensitivity has no price at all: the first sigma above the one of zCDP whose price fits. */
static double tight_at_large_epsilon(const pn_gradient_noise *noise, const pn_request *request, size_t steps,
                                     pn_gaussian_releases *want)
{
    double sigma;

    want->rho = pn_zcdp_rho(request->epsilon, 0.499 * request->delta) * (1.0 - 1e-6);
    sigma = pn_calibrate_gaussian_releases(want);
    /* A price falls as sigma grows: where the last has none that fits, as at a delta below what the tails of drawn
     * noise take, the others need no asking. */
    if (!(price(noise, request, steps, fmin(sigma * 3e8, 0x1p900)) <= request->epsilon)) /* 1.05^400 < 3e8 */
        return NAN;
    for (int i = 0; i < 400 && sigma <= 0x1p900 && pn_stop_asked(NULL) == PN_OK; i++) {
        if (price(noise, request, steps, sigma) <= request->epsilon)
            return sigma;
        sigma *= 1.05;
    }
    return NAN;
}

double pn_gradient_noise_tight(const pn_gradient_noise *noise, const pn_request *request, size_t steps)
{
    double sigma;
    pn_gaussian_releases want = { .epsilon = request->epsilon,
                                  .delta = request->delta,
                                  .rho = request->kind == PN_RHO ? request->rho : NAN,
                                  .sensitivity = noise->sensitivity,
                                  .bound = noise->bound,
                                  .dim = noise->dim,
                                  .count = steps };

    if (pn_request_is_renyi(request))
        want.rho = pn_zcdp_rho(request->epsilon, pn_ideal_delta(request->delta)) * (1.0 - 1e-9);
    sigma = pn_calibrate_gaussian_releases(&want);
    if (!isnan(sigma) || request->kind == PN_RHO)
        return sigma;
    return tight_at_large_epsilon(noise, request, steps, &want);
}

/* The article's: sqrt(32 T) L ln(T/delta) / (n epsilon), for requests of epsilon and delta. */
static double paper_sigma(const pn_gradient_noise *noise, const pn_request *request, double n, size_t steps)
{
    double t = (double)steps;

    return sqrt(32.0 * t) * noise->lipschitz * log(t / request->delta) / (n * request->epsilon);
}

pn_status pn_gradient_noise_wang(pn_gradient_noise *noise, const pn_plan *plan, const pn_arg *common, size_t steps,
                                 const pn_arg *c, pn_err *err)
{
    const double proven = 6.0 + 4.0 * 1.41421356237309504880; /* (1 - 1/sqrt 2)^-2 */
    const pn_request *request = &plan->request;
    double tail;

    PN_TRY(pn_paper_c_check(plan->owner, common, c, err));
    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") != 0 || request->kind != PN_EPSILON_DELTA ||
        request->delta == 0.0)
        return PN_OK;
    tail = log(1.0 / request->delta);
    if (!c->given && request->epsilon > tail)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "%s: calibration=\"paper\" is proven for epsilon <= ln(1/delta) = %.4g, and no constant makes it true far "
            "beyond; use calibration=\"tight\", or give c= and what the noise costs is charged",
            plan->owner, tail);
    noise->paper = (pn_paper_noise){ .sigma = sqrt((c->given ? c->real : proven) * (double)steps * tail) *
                                              noise->lipschitz / (noise->records * request->epsilon),
                                     .formula = "sqrt(c T ln(1/delta)) G / (n epsilon), the article's",
                                     .charged = c->given };
    return PN_OK;
}

/* ---- the least budget ---- */

static bool drawable(double sigma)
{
    return sigma >= 0x1p-900 && sigma <= 0x1p900;
}

static bool one_release_fits(const pn_gradient_noise *noise, const pn_request *request, double budget)
{
    pn_request with = *request;

    if (request->kind == PN_RHO)
        with.rho = budget;
    else
        with.epsilon = budget;
    return drawable(pn_gradient_noise_tight(noise, &with, 1));
}

double pn_gradient_noise_least(const pn_gradient_noise *noise, const pn_request *request)
{
    double low = request->kind == PN_RHO ? request->rho : request->epsilon, high = low;

    while (high < 0x1p5 && !one_release_fits(noise, request, high)) {
        low = high;
        high *= 4.0;
    }
    if (!one_release_fits(noise, request, high))
        return INFINITY;
    for (int i = 0; high > low * 1.001 && i < 64; i++) { /* low is a quarter of high at least */
        double middle = sqrt(low * high);

        if (one_release_fits(noise, request, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- the plan's part ---- */

static pn_status too_small(const pn_plan *plan, const pn_gradient_noise *noise, pn_err *err)
{
    const pn_request *request = &plan->request;
    bool rho = request->kind == PN_RHO;
    const char *name = plan->owner;
    double least;

    if (one_release_fits(noise, request, rho ? request->rho : request->epsilon))
        return pn_fail(err, PN_EBUDGET, "%s: the budget is too small for %zu steps; use fewer iterations", name,
                       plan->iterations);
    least = pn_gradient_noise_least(noise, request);
    if (!isfinite(least))
        return pn_fail(err, PN_EBUDGET, "%s: no %s pays for a single release%s", name, rho ? "rho" : "epsilon",
                       rho ? "" : " at a delta this small; give a larger one, 1/n^2 say");
    if (rho)
        return pn_fail(err, PN_EBUDGET,
                       "%s: the budget is too small for a single release: rho is %.4g, and the least is %.4g", name,
                       request->rho, least);
    return pn_fail(
        err, PN_EBUDGET,
        "%s: the budget is too small for a single release: epsilon is %.4g, and the least at delta %.4g is %.4g", name,
        request->epsilon, request->delta, least);
}

pn_status pn_gradient_noise_check(const pn_plan *plan, const pn_arg *common, pn_err *err)
{
    const pn_request *request = &plan->request;

    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0 &&
        (request->kind != PN_EPSILON_DELTA || request->delta == 0.0))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: calibration=\"paper\" is stated for epsilon and delta; give both",
                       plan->owner);
    return pn_request_need_delta(request, plan->owner, err);
}

static pn_status choose_sigma(const pn_plan *plan, pn_gradient_noise *noise, bool paper, pn_err *err)
{
    const pn_request *request = &plan->request;
    double n = (double)pn_objective_data(plan->objective)->n;

    if (!paper)
        noise->sigma = pn_gradient_noise_tight(noise, request, plan->iterations);
    else if (noise->paper.sigma > 0.0)
        noise->sigma = noise->paper.sigma;
    else
        noise->sigma = paper_sigma(noise, request, n, plan->iterations);
    return drawable(noise->sigma) ? PN_OK : too_small(plan, noise, err);
}

pn_status pn_paper_c_check(const char *owner, const pn_arg *common, const pn_arg *c, pn_err *err)
{
    if (!c->given || strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "%s: c= belongs to calibration=\"paper\"; give that as well, or leave c out", owner);
}

void pn_plan_paper_price(pn_plan *plan)
{
    const pn_request *request = &plan->request;
    double price = pn_event_epsilon(plan->event, pn_plan_charges(plan), request->delta, NULL);

    pn_plan_add(plan, "certified epsilon", price, "what that noise costs at delta, and what is charged");
    plan->proven = price <= request->epsilon;
    if (isinf(price))
        pn_plan_warn(plan,
                     "no epsilon is certified for the article's noise with this c, so it cannot be run; a larger c, or "
                     "calibration=\"tight\"");
    else if (!plan->proven)
        pn_plan_warn(plan,
                     "the article's noise with this c costs epsilon %.4g, not the %.4g asked for: %.4g is charged",
                     price, request->epsilon, price);
}

pn_status pn_gradient_noise_check_paper(const pn_plan *plan, pn_err *err)
{
    const pn_request *request = &plan->request;
    double price = pn_event_epsilon(plan->event, pn_plan_charges(plan), request->delta, NULL);

    if (price <= request->epsilon)
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "%s: the article's noise costs epsilon %.6g at delta %g, more than the %g asked for; use "
                   "calibration=\"tight\"",
                   plan->owner, price, request->delta, request->epsilon);
}

static void explain(pn_plan *plan, const pn_gradient_noise *noise, bool paper)
{
    double c = pn_contributions(noise->neighbours);
    bool rho = plan->request.kind == PN_RHO;

    pn_plan_add(plan, "sensitivity Delta", noise->sensitivity,
                "%g x the gradient bound/n: what one record moves the mean gradient in l2, rounding included", c);
    pn_plan_add(plan, "noise sigma", noise->sigma, "per coordinate; %s",
                paper ? noise->paper.sigma > 0.0 ? noise->paper.formula
                                                 : "sqrt(32 T) L ln(T/delta) / (n epsilon), the article's"
                : rho ? "Delta sqrt(T / (2 rho)), on the lattice"
                      : "Delta sqrt(T) / mu(epsilon, delta), on the lattice");
}

/* ---- batches ---- */

pn_status pn_gradient_noise_batch(pn_gradient_noise *noise, pn_plan *plan, const pn_arg *common, const pn_arg *batch,
                                  pn_err *err)
{
    const pn_dataset *data = pn_objective_data(plan->objective);
    bool is_private = plan->request.kind != PN_NONPRIVATE;
    pn_question gradient;

    PN_TRY(pn_gradient_noise_read(noise, plan->owner, plan->objective, &plan->request, err));
    pn_plan_question(&gradient, plan, &pn_question_gradient);
    PN_TRY(pn_batch_read(&gradient, plan->owner, batch, err));
    if (!gradient.scheme)
        return PN_OK;
    if (is_private && strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: calibration=\"paper\" is about gradients of all records; leave batch out, or use "
                       "calibration=\"tight\"",
                       plan->owner);
    if (is_private && noise->neighbours == PN_ZERO_OUT && strcmp(gradient.scheme, "fixed") == 0)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "%s: batches of scheme \"fixed\" have a proof for neighbours=\"replace_one\" only; use \"poisson\" "
            "under \"zero_out\"",
            plan->owner);
    noise->scheme = gradient.scheme;
    noise->records = (double)gradient.batch;
    noise->sampling =
        sqrt(pn_batch_variance(noise->scheme, (double)data->n, noise->records, noise->lipschitz) / (double)noise->dim);
    if (!batch[PN_BATCH_SCHEME].given) /* else `batch` is no number */
        pn_plan_set(plan, "batch", noise->records, true);
    return PN_OK;
}

static pn_status attach_batches(pn_plan *plan, pn_gradient_noise *noise, pn_err *err)
{
    PN_TRY(pn_batch_attach(plan, noise, "rdp", err));
    pn_plan_add(plan, "batch b", noise->records, "as given: records of a step%s",
                strcmp(noise->scheme, "poisson") == 0 ? ", expected" : "");
    pn_batch_explain(plan, &plan->questions[0], ", by the Renyi curve of the sampling");
    return PN_OK;
}

pn_status pn_gradient_noise_attach(pn_plan *plan, pn_gradient_noise *noise, const pn_arg *common, pn_err *err)
{
    bool paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0;
    pn_question *question;

    if (plan->request.kind != PN_NONPRIVATE)
        PN_TRY(pn_gradient_noise_check(plan, common, err));
    if (noise->scheme)
        return attach_batches(plan, noise, err);
    plan->gradients = (double)plan->iterations * noise->records;
    if (plan->request.kind == PN_NONPRIVATE)
        return PN_OK;
    PN_TRY(choose_sigma(plan, noise, paper, err));
    PN_TRY(pn_plan_ask(&question, plan, &pn_question_gradient, err));
    question->noise = *noise;
    question->dim = noise->dim;
    PN_TRY(pn_question_price(question, err));
    plan->event = pn_event_keep(question->event);
    plan->sigma = noise->sigma;
    explain(plan, noise, paper);
    if (!noise->paper.charged)
        return paper ? pn_gradient_noise_check_paper(plan, err) : PN_OK;
    if (isinf(pn_event_epsilon(plan->event, plan->iterations, plan->request.delta, NULL)))
        return pn_gradient_noise_check_paper(plan, err);
    pn_plan_paper_price(plan);
    return PN_OK;
}
