/* zeroth_order_noise.c -- what a record moves in zeroth-order optimization, the noise that hides it,
 * and what both leave of the bound.
 * Depends on: zeroth_order.h, gradient_noise.h.  Used by: zeroth_order_plan.c.
 * Spec: zeroth-order.md sections 3 to 6. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "privacy/accounting/accountant.h"
#include "oracle/gradient_noise.h"
#include "solvers/zeroth_order/zeroth_order.h"

/* ---- sensitivity ---- */

/* Of the mean over `batch` records whose terms have norm `norm`, as computed.  Replacing one moves it by two terms;
 * under zero_out a record that is out adds nothing while the divisor stays, and that is one term.
 * Both data sets round. */
static double leaf_sensitivity(const zo_work *at, double norm, size_t batch)
{
    const zo_plan *plan = at->plan;
    double terms = plan->base.request.neighbours == PN_REPLACE_ONE ? 2.0 : 1.0;
    double rounding = 2.0 * pn_smoothed_error(&plan->smoothing, plan->dim, batch, norm);

    if (PN_MUTANT("leaf_sensitivity_half"))
        terms *= 0.5;
    return (terms * norm / (double)batch + rounding) * (1.0 + 0x1p-50);
}

/* On every entry of a leaf. */
static double entry_bound(const zo_work *at, double norm, size_t batch)
{
    return (norm + pn_smoothed_error(&at->plan->smoothing, at->plan->dim, batch, norm)) * (1.0 + 0x1p-50);
}

static void read_sensitivity(zo_work *at)
{
    const zo_plan *plan = at->plan;
    const zo_choice *choice = &plan->choice;
    double gradient = pn_smoothed_norm(&plan->smoothing, plan->dim);
    double difference = pn_smoothed_difference_norm(&plan->smoothing, plan->dim, 2.0 * choice->ball);
    bool later = choice->method.oracle == ZO_VARIANCE_REDUCED && choice->rounds > 1;

    at->first_sensitivity = leaf_sensitivity(at, gradient, choice->first);
    at->other_sensitivity = later ? leaf_sensitivity(at, difference, choice->others) : 0.0;
    at->prefix.sensitivity = fmax(at->first_sensitivity, at->other_sensitivity);
    at->prefix.bound =
        fmax(entry_bound(at, gradient, choice->first), later ? entry_bound(at, difference, choice->others) : 0.0);
}

/* ---- the design ---- */

const char *const zo_sum_factorizations[ZO_SUM_COUNT] = {
    [ZO_TREE] = "binary", [ZO_HONAKER] = "binary", [ZO_SQRT] = "sqrt", [ZO_BLT] = "blt"
};

static void name_method(zo_work *at)
{
    pn_prefix_options *prefix = &at->prefix;
    zo_sum sum = at->plan->choice.method.sum;

    if (at->plan->choice.method.oracle == ZO_NAIVE) { /* one leaf a stream: the sum is the leaf */
        *prefix = (pn_prefix_options){ .factorization = "binary", .estimator_given = true };
        return;
    }
    if (!prefix->factorization)
        prefix->factorization = zo_sum_factorizations[sum];
    if ((sum == ZO_TREE || sum == ZO_HONAKER) && !prefix->estimator_given) {
        prefix->estimator = sum == ZO_TREE ? PN_PREFIX_PLAIN : PN_PREFIX_HONAKER;
        prefix->estimator_given = true;
    }
    prefix->keep_root =
        prefix->keep_root || (sum == ZO_TREE && !at->prefix_given); /* as the article's tree is priced */
}

/* rho of the whole run, for budgets that are split between passes or were begun by others. */
static double rho_of_run(const pn_request *request)
{
    if (pn_request_is_renyi(request))
        return pn_zcdp_rho(request->epsilon, pn_ideal_delta(request->delta));
    return pn_gradient_noise_rho(request);
}

static bool affordable(const pn_request *request, pn_event *event, size_t charges)
{
    if (request->kind == PN_RHO)
        return (double)charges * event->ops->zcdp(event) <= request->rho;
    return pn_event_epsilon(event, charges, request->delta, NULL) <= request->epsilon;
}

/* Equal parts of rho, a little less than all of it: tails and rounding want their share of every charge. */
static pn_status design_by_rho(zo_work *at, double rho, pn_err *err)
{
    zo_plan *plan = at->plan;
    const pn_request *request = &plan->base.request;
    double part = rho / (double)plan->passes, least = 1e-3 * part;

    at->prefix.epsilon = at->prefix.delta = 0.0;
    for (double less = 1e-9; part > least; less = fmin(4.0 * less, 0.05)) {
        pn_status status;

        part *= 1.0 - less;
        at->prefix.rho = part;
        status = pn_prefix_design_new(&plan->design, &at->prefix, err);
        if (status != PN_OK || affordable(request, pn_prefix_design_event(plan->design), plan->passes))
            return status;
        pn_prefix_design_free(plan->design);
        plan->design = NULL;
    }
    return pn_fail(err, PN_EBUDGET, "%s: the budget is too small for %zu passes; use fewer", at->owner, plan->passes);
}

/* The exact curve of one stream where it is the whole price. */
static pn_status design_by_budget(zo_work *at, pn_err *err)
{
    const pn_request *request = &at->plan->base.request;

    if (at->plan->passes > 1 || pn_request_is_renyi(request))
        return design_by_rho(at, rho_of_run(request), err);
    if (request->kind == PN_RHO) {
        at->prefix.rho = request->rho;
    } else {
        at->prefix.epsilon = request->epsilon;
        at->prefix.delta = request->delta;
    }
    return pn_prefix_design_new(&at->plan->design, &at->prefix, err);
}

static pn_status new_design(zo_work *at, pn_err *err)
{
    const pn_request *request = &at->plan->base.request;
    pn_prefix_options *prefix = &at->prefix;
    pn_status status;

    if (!at->is_private) {
        prefix->noiseless = true;
        prefix->bound = 0.0;
        if (!isfinite(prefix->sensitivity)) /* nothing is clipped */
            prefix->sensitivity = 1.0;
        return pn_prefix_design_new(&at->plan->design, prefix, err);
    }
    status = design_by_budget(at, err);
    if (status != PN_EBUDGET || request->kind == PN_RHO)
        return status;
    /* At epsilon of 50 and more the tails of drawn noise need half of delta, which only Renyi prices give them. */
    return design_by_rho(at, pn_zcdp_rho(request->epsilon, 0.499 * request->delta), err);
}

/* Leaf by leaf where noise follows it. */
static pn_status add_sensitivities(zo_work *at, double **all, pn_err *err)
{
    size_t horizon = at->prefix.horizon;

    if (at->prefix.scale != PN_PREFIX_BY_NODE)
        return PN_OK;
    PN_TRY(pn_new(all, horizon, err, "%s: out of memory for %zu rounds", at->owner, horizon));
    for (size_t t = 0; t < horizon; t++)
        (*all)[t] = t == 0 ? at->first_sensitivity : at->other_sensitivity;
    at->prefix.sensitivities = *all;
    at->prefix.sensitivity = 0.0;
    return PN_OK;
}

/* ---- error, step and bound ---- */

/* The mean over rounds of the variance of a coordinate's noise. */
static pn_status mean_variance(const zo_work *at, double *mean, pn_err *err)
{
    size_t rounds = at->prefix.horizon;
    double *all, sum = 0.0;

    *mean = 0.0;
    if (!at->is_private)
        return PN_OK;
    PN_TRY(pn_new(&all, rounds, err, "%s: out of memory for %zu rounds", at->owner, rounds));
    pn_prefix_variances(at->plan->design, rounds, all);
    for (size_t t = 0; t < rounds; t++)
        sum += all[t];
    pn_free(all);
    *mean = sum / (double)rounds;
    return PN_OK;
}

/* The shape of the noise of what runs.  Of sums whose shape is not known all of it may be past and drift. */
static zo_noise shape_of(const zo_work *at)
{
    static const zo_noise unknown = { .gain = 1.0, .spread = 1.0, .past = 1.0, .drift = 1.0 };
    const zo_choice *choice = &at->plan->choice;
    bool known = choice->method.oracle == ZO_VARIANCE_REDUCED &&
                 strcmp(at->prefix.factorization, zo_sum_factorizations[choice->method.sum]) == 0;
    zo_noise noise;

    for (size_t i = 0; known && at->prefix_given && pn_prefix_params[i].name; i++) {
        static const char *const harmless[] = { "factorization", "estimator", "keep_root", "memory" };
        bool is_harmless = !at->own[ZO_PREFIX + i].given;

        for (size_t k = 0; k < 4; k++)
            is_harmless = is_harmless || strcmp(pn_prefix_params[i].name, harmless[k]) == 0;
        known = is_harmless;
    }
    return known && zo_sum_noise(choice->method.sum, at->prefix.keep_root, choice->rounds, &noise) ? noise : unknown;
}

/* From what runs: this smoothing with its groups, these batches, this design. */
static void set_errors(zo_work *at)
{
    pn_smoothing how = at->plan->smoothing;
    zo_noise noise = shape_of(at);

    how.lipschitz = at->problem.lipschitz; /* also where nothing is clipped */
    zo_set_errors(&at->problem, &how, &noise, &at->plan->choice);
}

/* The gradient of r is added to what is estimated of the loss: both slopes count. */
static void finish_choice(zo_work *at)
{
    zo_choice *choice = &at->plan->choice;
    zo_problem whole = at->problem;

    if (isfinite(at->regulariser_slope))
        whole.lipschitz += at->regulariser_slope;
    set_errors(at);
    if (!at->own[ZO_STEP].given && !at->practical)
        choice->step = 0.0;
    zo_finish(&whole, choice);
}

pn_status zo_make_design(zo_work *at, pn_err *err)
{
    zo_plan *plan = at->plan;
    zo_choice *choice = &plan->choice;
    bool naive = choice->method.oracle == ZO_NAIVE;
    double *all = NULL, variance;
    pn_status status;

    name_method(at);
    at->prefix.dim = plan->dim;
    at->prefix.horizon = naive ? 1 : choice->rounds;
    at->prefix.neighbours = plan->base.request.neighbours;
    read_sensitivity(at);
    choice->sensitivity = at->prefix.sensitivity;
    status = add_sensitivities(at, &all, err);
    if (status == PN_OK)
        status = new_design(at, err);
    pn_free(all);
    if (status == PN_OK)
        status = mean_variance(at, &variance, err);
    if (status != PN_OK)
        return status;
    choice->sigma = pn_prefix_design_sigma(plan->design);
    choice->noise = sqrt((double)plan->dim * variance);
    plan->base.sigma = sqrt(variance);
    plan->base.event = at->is_private ? pn_event_keep(pn_prefix_design_event(plan->design)) : NULL;
    plan->base.charges = plan->passes;
    finish_choice(at);
    return PN_OK;
}
