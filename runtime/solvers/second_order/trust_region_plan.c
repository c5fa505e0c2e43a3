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

/* ---- numbers of the derivation at the head of trust_region.h ---- */

double tr_threshold(const tr_constants *of)
{
    return sqrt(of->lipschitz) * sqrt(of->tolerance);
}

double tr_gradient_limit(const tr_constants *of)
{
    return of->tolerance / 12.0;
}

double tr_hessian_limit(const tr_constants *of)
{
    return tr_threshold(of) / 6.0;
}

double tr_decrease(const tr_constants *of)
{
    return of->tolerance * sqrt(of->tolerance) / (6.0 * sqrt(of->lipschitz));
}

double tr_sure_decrease(const tr_constants *of, double e, double E)
{
    double r = of->radius;

    return r * (r * (tr_threshold(of) - E) / 2.0 - e - of->lipschitz * r * r / 6.0);
}

size_t tr_iterations(const tr_constants *of, size_t cap)
{
    double steps = ceil(of->gap / tr_decrease(of) * (1.0 - 0x1p-40)); /* 2000.0000000000002 is 2000 */

    if (!(steps < (double)cap))
        return cap;
    return steps > 1.0 ? (size_t)steps : 1;
}

/* ---- what the run releases ---- */

/* A run of the plan's steps at a multiplier z, and Hessians at `factor` times that. */
typedef struct whole_run {
    const pn_model *model;
    size_t steps;
    double factor;
} whole_run;

/* All of it as one event: a pn_program. */
static pn_status run_event(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    const whole_run *run = self;
    const pn_model_part parts[] = { { run->model, false, z, run->steps },
                                    { run->model, true, z * run->factor, run->steps } };

    *count = 1;
    return pn_model_run_event(event, parts, 2, err);
}

/* The noise multiplier with which `steps` steps take the whole budget, two equal queries each. */
static pn_status noise_for(const tr_problem *at, size_t steps, double *z, pn_err *err)
{
    whole_run run = { &at->plan->model, steps, 1.0 };
    const pn_program program = { run_event, &run };

    return pn_model_run_noise(z, &at->plan->model, &at->plan->base, at->common, &program, err);
}

/* ---- what its errors are ---- */

/* A union over steps and over what errs in one. */
static tr_errors errors_of(const tr_problem *at, size_t steps, double z)
{
    const pn_model *model = &at->plan->model;
    bool batches = model->batch < model->n;
    double each = at->plan->of.failure / (2.0 * (double)steps * (batches && model->is_private ? 2.0 : 1.0));
    double gradient = pn_model_gradient_sampling(model, each), hessian = pn_model_hessian_sampling(model, each);

    return (tr_errors){ gradient + pn_model_gradient_noise(model, z, each),
                        hessian + pn_model_hessian_noise(model, z * at->own[TR_HESS_NOISE_FACTOR].real, each), gradient,
                        hessian };
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
    here = errors_of(at, steps, z);
    *gradient = here.gradient / tr_gradient_limit(&of);
    *hessian = here.hessian / tr_hessian_limit(&of);
    return PN_OK;
}

/* The least tolerance at which it speaks: strain falls as the tolerance grows. */
static pn_status find_reachable(tr_problem *at, pn_err *err)
{
    const pn_model *model = &at->plan->model;
    double low = 0x1p-60, high = 0x1p60, gradient = 0.0, hessian = 0.0;

    if (!model->is_private && model->batch == model->n)
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

    if (gap->given && floor->given)
        return pn_fail(err, PN_EINVAL, "%s: give either gap or floor, from which it follows, not both", owner);
    *out = gap->real;
    if (floor->given)
        PN_TRY(gap_above(at, floor->real, err));
    else if (!gap->given)
        PN_TRY(pn_first_order_gap(&at->plan->problem, 0.0, out, err));
    *out = isnan(*out) ? INFINITY : *out;
    if (!isfinite(*out) && !at->common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL,
                       "%s: nothing bounds f(start) - min f, so no number of steps follows; give gap=, floor= or "
                       "iterations=",
                       owner);
    return PN_OK;
}

/* a, r and T. */
static pn_status choose(tr_problem *at, pn_err *err)
{
    const pn_arg *tolerance = &at->own[TR_TOLERANCE_GRADIENT], *radius = &at->own[TR_RADIUS];
    tr_constants *of = &at->plan->of;

    if (at->plan->base.request.without_records && !tolerance->given)
        at->reachable = 0x1p-20; /* any can be reached, and none was asked for */
    if (!tolerance->given && !(at->reachable > 0.0))
        return pn_fail(err, PN_EINVAL, "%s: without noise every tolerance can be reached; give tolerance={gradient=}",
                       owner);
    of->tolerance = tolerance->given ? tolerance->real : at->reachable;
    of->radius = radius->given ? radius->real : sqrt(of->tolerance / of->lipschitz);
    if (!(of->radius > 0.0) || !isfinite(of->radius))
        return pn_fail(err, PN_EINVAL, "%s: no radius follows from a = %g and M = %g; give radius=", owner,
                       of->tolerance, of->lipschitz);
    at->plan->base.iterations = tr_iterations(of, at->cap);
    return PN_OK;
}

static pn_status read_constants(tr_problem *at, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(at->plan->base.objective);
    const pn_arg *claimed = &at->own[TR_SMOOTHNESS], *steps = &at->common[PN_OPT_ITERATIONS];

    at->cap = steps->given ? steps->count : MOST;
    at->plan->of.failure = at->own[TR_FAILURE].real;
    at->plan->lowest = isnan(bounds->strong_convexity) ? -INFINITY : bounds->strong_convexity;
    if (claimed->given)
        at->plan->lowest = fmax(at->plan->lowest, -claimed->real);
    PN_TRY(check_regulariser(at, err));
    PN_TRY(read_lipschitz(at, err));
    PN_TRY(read_gap(at, err));
    PN_TRY(find_reachable(at, err));
    return choose(at, err);
}

/* ---- noise ---- */

static pn_status refuse(const tr_problem *at, pn_err *err)
{
    const pn_set *set = pn_objective_set(at->plan->base.objective);

    if (set && isfinite(set->ops->radius(set, PN_L2)))
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "%s: steps leave a bounded set, and second-order points of one are another thing; leave set= out", owner);
    if (set && strcmp(set->ops->name, "free") != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: steps do not stay in a set; leave set= out", owner);
    PN_TRY(pn_gradient_noise_check(&at->plan->base, at->common, err));
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
    whole_run run = { &plan->model, plan->base.iterations, at->own[TR_HESS_NOISE_FACTOR].real };

    PN_TRY(noise_for(at, plan->base.iterations, &plan->gradient_z, err));
    plan->hessian_z = plan->gradient_z * run.factor;
    plan->error = errors_of(at, plan->base.iterations, plan->gradient_z);
    if (plan->model.is_private)
        return run_event(&run, plan->gradient_z, &plan->base.event, &plan->base.charges, err);
    plan->base.samples = plan->model.batch < plan->model.n;
    plan->of.failure = plan->base.samples ? plan->of.failure : 0.0;
    return PN_OK;
}

/* ---- the plan ---- */

static pn_status fill(tr_problem *at, pn_err *err)
{
    tr_plan *plan = at->plan;
    pn_objective *objective = plan->base.objective;
    const pn_arg *own = at->own;

    PN_TRY(pn_model_read(&plan->model, owner, objective, &plan->base.request, own[TR_BATCH].count,
                         own[TR_HESSIAN_NOISE].count == 0, own[TR_HESSIAN_BOUND].count == 1, err));
    PN_TRY(refuse(at, err));
    PN_TRY(pn_first_order_read(&plan->problem, owner, objective, &at->common[PN_OPT_START], NULL, NULL, err));
    PN_TRY(read_constants(at, err));
    PN_TRY(attach_noise(at, err));
    tr_explain(at);
    return PN_OK;
}

pn_status tr_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err)
{
    tr_plan *plan;
    tr_problem at = { .common = common, .own = own };
    pn_status status;

    PN_TRY(pn_new_zeroed(&plan, 1, err, "%s: out of memory", owner));
    pn_plan_begin(&plan->base, objective, request);
    at.plan = plan;
    status = fill(&at, err);
    if (status == PN_OK)
        *out = &plan->base;
    else
        pn_plan_free(&plan->base);
    return status;
}

void tr_plan_destroy(pn_plan *plan)
{
    pn_first_order_clear(&((tr_plan *)plan)->problem);
    pn_free(plan);
}
