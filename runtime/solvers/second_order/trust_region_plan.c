/* trust_region_plan.c -- tolerance, steps, noise and price of the private trust-region method.
 * Depends on: trust_region.h, privacy, objective.  Used by: trust_region.c.
 * Source: Wang, Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust region method. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "oracle/gradient_noise.h"
#include "solvers/second_order/trust_region.h"

static const char owner[] = "solve.trust_region";

#define MOST 100000 /* steps, by default */

/* In the order of the TR_ constants. */
const pn_param tr_params[] = {
    { "tolerance.gradient", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "a: the run ends at a gradient of at most 1.75 a and eigenvalues of at least -2.17 sqrt(M a) if the noise is as "
      "small as the theorem asks; by default the smallest for which it is" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "of the ball of a step, in place of sqrt(a/M), with which the number of steps is proven" },
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "records in each query's own fresh batch, without replacement; by default all" },
    { "smoothness", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "G of f, when it is known: no eigenvalue is below -G, and the certificate says so; privacy does not rest on it" },
    { "hessian_lipschitz", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "M of f's Hessian, in place of the certified one: steps and certificate rest on it, privacy does not" },
    { "gap", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "bound on f(start) - min f, in place of the one from public numbers" },
    { "floor", PN_REAL, PN_OPTIONAL, PN_ANY, NAN, NULL, "a number that f is never below, for the gap" },
    PN_HESSIAN_NOISE_PARAM,
    PN_HESSIAN_BOUND_PARAM,
    { "hess_noise_factor", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL,
      "multiplies the Hessian's noise; above 1 the run costs less than it was given, below 1 it is refused" },
    { "failure", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.1, NULL,
      "zeta: with this probability at most the noise of some step is larger than the certificate assumes" },
    PN_PARAM_END,
};

static bool is_private(const tr_problem *at)
{
    return at->request->kind != PN_NONPRIVATE;
}

/* ---- what the run releases ---- */

typedef struct whole_run {
    const pn_model *model;
    size_t steps;
    double hessian_factor;
} whole_run;

/* The whole run at a multiplier z, and that times the factor for Hessians, as one event: a pn_program. */
static pn_status run_event(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    const whole_run *run = self;
    pn_event *one[2] = { NULL, NULL }, *all[2] = { NULL, NULL };
    pn_status status = pn_model_gradient_event(run->model, z, &one[0], err);

    *count = 1;
    if (status == PN_OK)
        status = pn_model_hessian_event(run->model, z * run->hessian_factor, &one[1], err);
    for (int i = 0; i < 2 && status == PN_OK; i++)
        status = pn_event_repeated(&all[i], one[i], run->steps, err);
    if (status == PN_OK)
        status = pn_event_compose(event, all, 2, err);
    for (int i = 0; i < 2; i++) {
        pn_event_free(one[i]);
        pn_event_free(all[i]);
    }
    return status;
}

/* What the budget is counted in: exact for Gaussian noise on all records, Renyi for batches (in the article too) and
 * beside what a ledger has of others. */
static pn_unit unit_of(const tr_problem *at, bool paper)
{
    const pn_model *model = &at->plan->model;

    if (paper || at->request->kind == PN_RHO)
        return PN_UNIT_RHO;
    return model->batch < model->n || pn_request_is_renyi(at->request) ? PN_UNIT_RENYI : PN_UNIT_GAUSSIAN;
}

/* The noise multiplier with which `steps` steps take the whole budget, two equal queries each. */
static pn_status noise_for(const tr_problem *at, size_t steps, double *z, pn_err *err)
{
    const pn_request *request = at->request;
    bool paper = at->common[PN_OPT_CALIBRATION].count == 1 && at->plan->model.batch == at->plan->model.n;
    pn_unit unit = unit_of(at, paper);
    pn_run_budget budget = { .owner = owner,
                             .epsilon = request->epsilon,
                             .delta = request->delta,
                             .rho = request->kind == PN_RHO ? request->rho : NAN };
    whole_run run = { &at->plan->model, steps, 1.0 };
    pn_program program = { run_event, &run };
    pn_allowance allowance;
    pn_status status;

    *z = 0.0;
    if (!is_private(at))
        return PN_OK;
    status = pn_allowance_open(&allowance, &budget, unit, paper, unit == PN_UNIT_RENYI ? &program : NULL, err);
    return status == PN_OK ? pn_allowance_noise(&allowance, allowance.total, &program, z, err) : status;
}

/* ---- what its errors are ---- */

tr_errors tr_errors_of(const tr_problem *at, size_t steps, double z)
{
    const pn_model *model = &at->plan->model;
    bool batches = model->batch < model->n;
    double each = at->plan->of.failure / (2.0 * (double)steps * (batches && is_private(at) ? 2.0 : 1.0));
    tr_errors of = { 0.0, 0.0, 0.0, 0.0 };

    if (batches) {
        of.gradient_sampling = pn_model_gradient_sampling(model, each);
        of.hessian_sampling = pn_model_hessian_sampling(model, each);
    }
    of.gradient = of.gradient_sampling + (is_private(at) ? pn_model_gradient_noise(model, z, each) : 0.0);
    of.hessian = of.hessian_sampling +
                 (is_private(at) ? pn_model_hessian_noise(model, z * at->own[TR_HESS_NOISE_FACTOR].real, each) : 0.0);
    return of;
}

/* Errors as a part of what the theorem allows, at a tolerance; above 1 it is silent. */
static pn_status strain(const tr_problem *at, double tolerance, double *gradient, double *hessian, pn_err *err)
{
    tr_constants of = at->plan->of;
    size_t steps;
    double z;
    tr_errors here;

    of.tolerance = tolerance;
    steps = tr_iterations(&of, isfinite(of.gap) ? MOST : at->cap);
    PN_TRY(noise_for(at, steps, &z, err));
    here = tr_errors_of(at, steps, z);
    *gradient = here.gradient / tr_gradient_limit(&of);
    *hessian = here.hessian / tr_hessian_limit(&of);
    return PN_OK;
}

/* The least tolerance at which it speaks: strain falls as the tolerance grows. */
static pn_status find_reachable(tr_problem *at, pn_err *err)
{
    const pn_model *model = &at->plan->model;
    double low = 0x1p-60, high = 0x1p60, gradient = 0.0, hessian = 0.0;

    if (!is_private(at) && model->batch == model->n)
        return PN_OK;
    while (high / low > 1.002) {
        double middle = sqrt(low * high);

        PN_TRY(strain(at, middle, &gradient, &hessian, err));
        if (gradient <= 1.0 && hessian <= 1.0) {
            high = middle;
        } else {
            low = middle;
            at->hessian_binds = hessian > gradient;
        }
    }
    at->reachable = high;
    return PN_OK;
}

/* ---- constants ---- */

/* Those of the table have kinks where their slope is not Lipschitz; one that was typed is taken as it is claimed. */
static pn_status check_regulariser(const tr_problem *at, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(at->plan->base.objective);

    if (reg && pn_regulariser_in_table(reg) && !isfinite(pn_objective_bounds(at->plan->base.objective)->reg.smoothness))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: the regulariser %s has kinks, where there are no second derivatives; use reg.l2 or "
                       "reg.nonconvex",
                       owner, reg->row->name);
    return PN_OK;
}

static pn_status read_lipschitz(tr_problem *at, pn_err *err)
{
    const pn_arg *claimed = &at->own[TR_HESSIAN_LIPSCHITZ];
    const pn_bounds *bounds = pn_objective_bounds(at->plan->base.objective);
    double certified =
        fmin(bounds->hessian_lipschitz, at->plan->model.bounds.lipschitz + bounds->reg.hessian_lipschitz);

    at->plan->of.lipschitz = claimed->given ? claimed->real : certified;
    if (!(at->plan->of.lipschitz > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "%s: f is quadratic (M = 0), so no radius follows; give hessian_lipschitz=, or use solve.newton",
                       owner);
    if (!isfinite(at->plan->of.lipschitz))
        return pn_fail(
            err, PN_EINVAL,
            "%s: nothing certifies how fast the Hessian of f (%s loss) changes; clip the rows, use a loss with a "
            "bounded third derivative (logistic, sigmoid), or claim hessian_lipschitz=",
            owner, pn_objective_loss(at->plan->base.objective)->name);
    if (claimed->given && claimed->real < certified)
        pn_plan_warn(&at->plan->base,
                     "hessian_lipschitz = %g is claimed, certified is %g: steps and certificate rest on the claim, "
                     "privacy does not",
                     claimed->real, certified);
    return PN_OK;
}

/* f at the start is at most the losses' bound there and r, which is public. */
static pn_status gap_above(tr_problem *at, double floor, pn_err *err)
{
    const pn_first_order *problem = &at->plan->problem;
    const pn_regulariser *reg = pn_objective_regulariser(problem->objective);
    double value = 0.0;

    PN_TRY(reg ? reg->ops->evaluate(reg, problem->p, problem->start, &value, NULL, err) : PN_OK);
    value += pn_first_order_loss_gap(problem) + pn_objective_bounds(problem->objective)->loss.value.low;
    at->plan->of.gap = value - floor;
    if (value <= floor)
        return pn_fail(err, PN_EINVAL, "%s: floor = %g is not below what bounds f at the start, %g", owner, floor,
                       value);
    return PN_OK;
}

/* f at the start less the least that f can be, at most. */
static pn_status read_gap(tr_problem *at, pn_err *err)
{
    const pn_arg *gap = &at->own[TR_GAP], *floor = &at->own[TR_FLOOR];
    double *out = &at->plan->of.gap;
    pn_status status = PN_OK;

    if (gap->given && floor->given)
        return pn_fail(err, PN_EINVAL, "%s: give either gap or floor, from which it follows, not both", owner);
    *out = gap->real;
    if (floor->given)
        status = gap_above(at, floor->real, err);
    else if (!gap->given)
        status = pn_first_order_gap(&at->plan->problem, 0.0, out, err);
    if (status != PN_OK)
        return status;
    *out = isnan(*out) ? INFINITY : *out;
    if (!isfinite(*out) && !at->common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL,
                       "%s: nothing bounds f(start) - min f, so no number of steps follows; give gap=, floor= or "
                       "iterations=",
                       owner);
    return PN_OK;
}

static pn_status read_constants(tr_problem *at, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(at->plan->base.objective);
    const pn_arg *claimed = &at->own[TR_SMOOTHNESS];
    tr_constants *of = &at->plan->of;
    pn_status status = check_regulariser(at, err);

    at->cap = at->common[PN_OPT_ITERATIONS].given ? at->common[PN_OPT_ITERATIONS].count : MOST;
    of->failure = at->own[TR_FAILURE].real;
    at->plan->lowest = isnan(bounds->strong_convexity) ? -INFINITY : bounds->strong_convexity;
    if (claimed->given)
        at->plan->lowest = fmax(at->plan->lowest, -claimed->real);
    if (status == PN_OK)
        status = read_lipschitz(at, err);
    if (status == PN_OK)
        status = read_gap(at, err);
    if (status == PN_OK)
        status = find_reachable(at, err);
    if (status != PN_OK)
        return status;
    if (at->plan->base.request.without_records && !at->own[TR_TOLERANCE_GRADIENT].given)
        at->reachable = 0x1p-20; /* any can be reached, and none was asked for */
    if (!at->own[TR_TOLERANCE_GRADIENT].given && !(at->reachable > 0.0))
        return pn_fail(err, PN_EINVAL, "%s: without noise every tolerance can be reached; give tolerance={gradient=}",
                       owner);
    of->tolerance = at->own[TR_TOLERANCE_GRADIENT].given ? at->own[TR_TOLERANCE_GRADIENT].real : at->reachable;
    of->radius = at->own[TR_RADIUS].given ? at->own[TR_RADIUS].real : sqrt(of->tolerance / of->lipschitz);
    if (!(of->radius > 0.0) || !isfinite(of->radius))
        return pn_fail(err, PN_EINVAL, "%s: no radius follows from a = %g and M = %g; give radius=", owner,
                       of->tolerance, of->lipschitz);
    at->plan->base.iterations = tr_iterations(of, at->cap);
    return PN_OK;
}

/* ---- noise ---- */

static pn_status refuse(const tr_problem *at, pn_err *err)
{
    const pn_request *request = at->request;
    const pn_set *set = pn_objective_set(at->plan->base.objective);

    if (set && isfinite(set->ops->radius(set, PN_L2)))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "%s: steps leave a bounded set, and second-order points of one are another thing; leave set= out", owner);
    if (set && strcmp(set->ops->name, "free") != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: steps do not stay in a set; leave set= out", owner);
    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: Gaussian noise needs a delta; give delta= as well, 1/n^2 say", owner);
    if (at->common[PN_OPT_CALIBRATION].count == 1 && request->kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: calibration=\"paper\" is stated for epsilon and delta; give both",
                       owner);
    if (at->own[TR_HESS_NOISE_FACTOR].real < 1.0)
        return pn_fail(err, PN_EINVAL,
                       "%s: hess_noise_factor must be at least 1, got %g: below it the Hessian would cost more than "
                       "its share",
                       owner, at->own[TR_HESS_NOISE_FACTOR].real);
    return PN_OK;
}

static pn_status attach_noise(tr_problem *at, pn_err *err)
{
    tr_plan *plan = at->plan;
    tr_errors of;

    PN_TRY(noise_for(at, plan->base.iterations, &plan->gradient_z, err));
    plan->hessian_z = plan->gradient_z * at->own[TR_HESS_NOISE_FACTOR].real;
    of = tr_errors_of(at, plan->base.iterations, plan->gradient_z);
    plan->gradient_error = of.gradient;
    plan->hessian_error = of.hessian;
    if (!is_private(at)) {
        plan->base.samples = plan->model.batch < plan->model.n;
        plan->of.failure = plan->base.samples ? plan->of.failure : 0.0;
        return PN_OK;
    }
    return run_event(&(whole_run){ &plan->model, plan->base.iterations, at->own[TR_HESS_NOISE_FACTOR].real },
                     plan->gradient_z, &plan->base.event, &plan->base.charges, err);
}

/* ---- the plan ---- */

static pn_status fill(tr_problem *at, pn_err *err)
{
    tr_plan *plan = at->plan;
    size_t batch = at->own[TR_BATCH].given ? at->own[TR_BATCH].count : 0;
    pn_status status = pn_model_read(&plan->model, owner, plan->base.objective, at->request, batch,
                                     at->own[TR_HESSIAN_NOISE].count == 0, at->own[TR_HESSIAN_BOUND].count == 1, err);

    if (status == PN_OK)
        status = refuse(at, err);
    if (status == PN_OK)
        status = pn_first_order_read(&plan->problem, owner, plan->base.objective, &at->common[PN_OPT_START], NULL, NULL,
                                     err);
    if (status == PN_OK)
        status = read_constants(at, err);
    if (status == PN_OK)
        status = attach_noise(at, err);
    if (status != PN_OK)
        return status;
    tr_explain(at);
    return PN_OK;
}

pn_status tr_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err)
{
    tr_plan *plan = pn_calloc(1, sizeof *plan);
    tr_problem at = { .plan = plan, .request = request, .common = common, .own = own };
    pn_status status;

    PN_TRY(pn_made(plan, err, "%s: out of memory", owner));
    pn_plan_begin(&plan->base, objective, request);
    status = fill(&at, err);
    if (status != PN_OK) {
        pn_plan_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return PN_OK;
}

void tr_plan_destroy(pn_plan *plan)
{
    tr_plan *self = (tr_plan *)plan;

    pn_first_order_clear(&self->problem);
    pn_free(self);
}
