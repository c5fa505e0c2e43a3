/* trust_region_plan.c -- tolerance, steps, noise and price of the private trust-region method.
 * Depends on: trust_region.h, privacy, objective.  Used by: trust_region.c.
 * Source: Wang, Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust region method. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "oracle/gradient_noise.h"
#include "solvers/engine/work.h"
#include "solvers/second_order/trust_region.h"

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

/* A problem while its plan is made. */
typedef struct tr_problem {
    tr_plan *plan;
    const pn_arg *common, *own;
    size_t cap;         /* of T */
    bool held_back;     /* the tolerance is larger than noise asks for, so that its steps are within the default work */
    double reachable;   /* the least a for which the theorem's conditions hold; 0 without noise and batches */
    bool hessian_binds; /* and which of the two it is that asks for it */
} tr_problem;

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
static void find_parts(const whole_run *run, double z, pn_model_part parts[2])
{
    parts[0] = (pn_model_part){ run->model, false, z, run->steps };
    parts[1] = (pn_model_part){ run->model, true, z * run->factor, run->steps };
}

static pn_status run_event(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    pn_model_part parts[2];

    find_parts(self, z, parts);
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
                       "the regulariser %s has kinks, where there are no second derivatives; use reg.l2 or "
                       "reg.nonconvex",
                       reg->row->name);
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
                       "f is quadratic (M = 0), so no radius follows; give hessian_lipschitz=, or use solve.newton");
    if (!isfinite(at->plan->of.lipschitz))
        return pn_fail(err, PN_EINVAL,
                       "nothing certifies how fast the Hessian of f (%s loss) changes; use a loss with a bounded third "
                       "derivative (logistic, sigmoid), claim hessian_lipschitz=, or " PN_HOW_TO_BOUND_ROWS,
                       pn_objective_loss(at->plan->base.objective)->name);
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
    double value = 0.0, above;

    PN_TRY(reg ? reg->ops->evaluate(reg, problem->p, problem->start, &value, NULL, err) : PN_OK);
    PN_TRY(pn_first_order_loss_gap(problem, &above, err));
    value += above + pn_objective_bounds(problem->objective)->loss.value.low;
    at->plan->of.gap = value - floor;
    if (value <= floor)
        return pn_fail(err, PN_EINVAL, "floor = %g is not below what bounds f at the start, %g", floor, value);
    return PN_OK;
}

/* f at the start less the least that f can be, at most. */
static pn_status read_gap(tr_problem *at, pn_err *err)
{
    const pn_arg *gap = &at->own[TR_GAP], *floor = &at->own[TR_FLOOR];
    double *out = &at->plan->of.gap;

    if (gap->given && floor->given)
        return pn_fail(err, PN_EINVAL, "give either gap or floor, from which it follows, not both");
    *out = gap->real;
    if (floor->given)
        PN_TRY(gap_above(at, floor->real, err));
    else if (!gap->given)
        PN_TRY(pn_first_order_gap(&at->plan->problem, 0.0, out, err));
    *out = isnan(*out) ? INFINITY : *out;
    if (!isfinite(*out) && !at->common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL,
                       "nothing bounds f(start) - min f, so no number of steps follows; give gap=, floor= or "
                       "iterations=");
    return PN_OK;
}

static double step_seconds(const tr_problem *at)
{
    const pn_model *model = &at->plan->model;

    return pn_step_seconds(at->plan->base.objective, (double)model->batch) +
           pn_hessian_seconds(at->plan->base.objective, (double)model->batch);
}

/* A tolerance has so many steps; the smallest of those whose steps are within the default work. */
static void choose_tolerance(tr_problem *at)
{
    tr_constants *of = &at->plan->of;
    size_t most = pn_steps_within(step_seconds(at)), steps;

    of->tolerance = at->reachable;
    steps = tr_iterations(of, at->cap);
    if (at->common[PN_OPT_ITERATIONS].given || steps <= most)
        return;
    at->held_back = true;
    of->tolerance = pow(6.0 * sqrt(of->lipschitz) * of->gap / (double)most, 2.0 / 3.0);
    pn_plan_held_back(&at->plan->base, (double)steps * step_seconds(at));
}

/* a, r and T. */
static pn_status choose(tr_problem *at, pn_err *err)
{
    const pn_arg *tolerance = &at->own[TR_TOLERANCE_GRADIENT], *radius = &at->own[TR_RADIUS];
    tr_constants *of = &at->plan->of;

    if (at->plan->base.request.without_records && !tolerance->given)
        at->reachable = 0x1p-20; /* any can be reached, and none was asked for */
    if (!tolerance->given && !(at->reachable > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "without noise every tolerance can be reached, so none is chosen; give "
                       "tolerance={gradient=}");
    of->tolerance = tolerance->real;
    if (!tolerance->given)
        choose_tolerance(at);
    of->radius = radius->given ? radius->real : sqrt(of->tolerance / of->lipschitz);
    if (!(of->radius > 0.0) || !isfinite(of->radius))
        return pn_fail(err, PN_EINVAL, "a = %g and M = %g give no radius; give radius=", of->tolerance, of->lipschitz);
    at->plan->base.iterations = tr_iterations(of, at->cap);
    at->plan->base.seconds = (double)at->plan->base.iterations * step_seconds(at);
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
    const pn_set *set = pn_objective_constraint(at->plan->base.objective);

    if (set && isfinite(set->ops->radius(set, PN_L2)))
        return pn_fail(err, PN_EUNSUPPORTED, "the steps may leave a bounded set; leave set= out");
    if (set)
        return pn_fail(err, PN_EUNSUPPORTED, "the steps may leave the set; leave set= out");
    PN_TRY(pn_gradient_noise_check(&at->plan->base, at->common, err));
    if (at->own[TR_HESS_NOISE_FACTOR].real < 1.0)
        return pn_fail(err, PN_EINVAL,
                       "hess_noise_factor must be at least 1, got %g: below it the Hessian would cost more than "
                       "its share",
                       at->own[TR_HESS_NOISE_FACTOR].real);
    return PN_OK;
}

static pn_status attach_noise(tr_problem *at, pn_err *err)
{
    tr_plan *plan = at->plan;
    whole_run run = { &plan->model, plan->base.iterations, at->own[TR_HESS_NOISE_FACTOR].real };
    pn_model_part parts[2];

    PN_TRY(noise_for(at, plan->base.iterations, &plan->gradient_z, err));
    plan->hessian_z = plan->gradient_z * run.factor;
    plan->error = errors_of(at, plan->base.iterations, plan->gradient_z);
    if (plan->model.is_private) {
        find_parts(&run, plan->gradient_z, parts);
        pn_model_rests(&plan->base, parts, 2);
        return run_event(&run, plan->gradient_z, &plan->base.event, &plan->base.charges, err);
    }
    plan->base.samples = plan->model.batch < plan->model.n;
    plan->of.failure = plan->base.samples ? plan->of.failure : 0.0;
    return PN_OK;
}

/* ---- its lines ---- */

static void explain_problem(tr_problem *at)
{
    tr_plan *plan = at->plan;
    const tr_constants *of = &plan->of;
    pn_plan *base = &plan->base;

    pn_plan_add(base, "records n", plan->problem.n, "public");
    pn_model_explain(&plan->model, plan->hessian_z > plan->gradient_z ? 0.0 : plan->gradient_z, base);
    pn_plan_add(base, "f's M", of->lipschitz, "Lipschitz constant of f's Hessian, r included; %s",
                at->own[TR_HESSIAN_LIPSCHITZ].given ? "as claimed" : "certified");
    pn_plan_add(base, "start gap", of->gap, "%s",
                at->own[TR_GAP].given     ? "as claimed: f(start) - min f at most"
                : at->own[TR_FLOOR].given ? "bound on f at the start, from public numbers, less the claimed floor"
                                          : "bound on f(start) - min f, from public numbers");
    pn_plan_add(base, "tolerance a", of->tolerance, "%s",
                at->own[TR_TOLERANCE_GRADIENT].given ? "as given"
                : at->held_back                      ? "the smallest whose steps take about 4 s of work"
                                                     : "the smallest for which the noise is as small as needed");
    pn_plan_add(base, "end: gradient", 1.75 * of->tolerance, "1.75 a: at most, where the run ends by its own test");
    pn_plan_add(base, "end: eigenvalue", -13.0 / 6.0 * tr_threshold(of), "-(13/6) sqrt(M a): at least, likewise");
    pn_plan_add(base, "radius r", of->radius, "%s", at->own[TR_RADIUS].given ? "as given" : "sqrt(a/M)");
    pn_plan_add(base, "steps T", (double)base->iterations, "%s; fewer where the run's own test ends it",
                base->iterations < at->cap            ? "6 sqrt(M) gap/a^1.5, at most"
                : at->common[PN_OPT_ITERATIONS].given ? "as given, at most"
                                                      : "capped, at most");
    pn_plan_set(base, "iterations", (double)base->iterations, true);
    if (plan->model.batch < plan->model.n)
        pn_plan_set(base, "batch", (double)plan->model.batch, true);
}

/* How far noise goes, beside what the theorem allows, and which n would bring it there. */
static void explain_error(tr_problem *at, const char *name, const char *needs, double error, double limit,
                          double sampling)
{
    pn_plan *base = &at->plan->base;

    pn_plan_add(base, name, error, "at most, with probability %g over all steps; asked for: %.4g",
                1.0 - at->plan->of.failure, limit);
    pn_plan_add(base, needs, pn_records_for((double)at->plan->model.n, error - sampling, sampling, limit),
                "records for which it would be that small");
}

static void explain_noise(tr_problem *at)
{
    tr_plan *plan = at->plan;
    const pn_model *model = &plan->model;
    pn_plan *base = &plan->base;
    const tr_errors *of = &plan->error;

    base->gradients =
        (double)base->iterations * (model->batch < model->n ? 2.0 * (double)model->batch : (double)model->n);
    pn_plan_add(base, "gradients", base->gradients, "%s",
                model->batch < model->n ? "2 T m, at most: each query has its own batch of m" : "T n, at most");
    if (model->is_private) {
        pn_plan_add(base, "multiplier z", plan->gradient_z, "noise of a query in units of what a record moves it");
        if (plan->hessian_z > plan->gradient_z)
            pn_plan_add(base, "Hessian's z", plan->hessian_z,
                        "hess_noise_factor times it: the run costs less than it was given");
    }
    if (model->is_private || model->batch < model->n) {
        explain_error(at, "gradient off by", "n for gradients", of->gradient, tr_gradient_limit(&plan->of),
                      of->gradient_sampling);
        explain_error(at, "Hessian off by", "n for Hessians", of->hessian, tr_hessian_limit(&plan->of),
                      of->hessian_sampling);
        pn_plan_add(base, "reachable a", at->reachable, "the least tolerance for which both are as small as asked for");
    }
    pn_plan_add_text(base, "excess risk bound", "none",
                     "what is certified is how near the answer is to a second-order stationary point");
}

/* Whether a target says nothing: any point passes it. */
static bool hopeless(const tr_problem *at)
{
    const tr_plan *plan = at->plan;
    const pn_bounds *bounds = pn_objective_bounds(plan->base.objective);
    double slope = bounds->lipschitz[PN_L2] + bounds->reg.gradient * sqrt((double)plan->model.dim);

    return at->reachable > 0.0 && 1.75 * at->reachable >= slope &&
           -13.0 / 6.0 * sqrt(plan->of.lipschitz * at->reachable) <= fmax(plan->lowest, -bounds->smoothness);
}

static void warn(tr_problem *at)
{
    tr_plan *plan = at->plan;
    const tr_constants *of = &plan->of;
    double a = at->reachable;

    if (hopeless(at))
        pn_plan_warn(
            &plan->base,
            "hopeless: no tolerance below %.3g, which every point meets, is reachable at n = %zu, d = %zu; the "
            "noise of the %s is the obstacle; more records, fewer features or a larger budget would help",
            a, plan->model.n, plan->model.dim, at->hessian_binds ? "Hessian" : "gradient");
    else if (of->tolerance < a * 0.998)
        pn_plan_warn(&plan->base,
                     "tolerance.gradient = %g is below what this budget can reach with certainty at n = %zu, d = %zu: "
                     "gradient %.3g, eigenvalue -%.3g (for a = %.3g, %s)",
                     of->tolerance, plan->model.n, plan->model.dim, 1.75 * a, 13.0 / 6.0 * sqrt(of->lipschitz * a), a,
                     at->hessian_binds ? "for the Hessian's noise" : "for the gradient's noise");
    if (at->own[TR_RADIUS].given &&
        tr_sure_decrease(of, tr_gradient_limit(of), tr_hessian_limit(of)) < tr_decrease(of) * (1.0 - 1e-9))
        pn_plan_warn(
            &plan->base,
            "radius = %g is not sqrt(a/M) = %.4g: the number of steps is not proven to suffice; the certificate is",
            of->radius, sqrt(of->tolerance / of->lipschitz));
}

/* ---- the plan ---- */

pn_status tr_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    tr_plan *plan = (tr_plan *)base;
    pn_objective *objective = base->objective;
    tr_problem problem = { .plan = plan, .common = common, .own = own }, *at = &problem;

    PN_TRY(pn_model_read(&plan->model, base->owner, objective, &base->request, own[TR_BATCH].count,
                         own[TR_HESSIAN_NOISE].count == 0, own[TR_HESSIAN_BOUND].count == 1, err));
    PN_TRY(refuse(at, err));
    PN_TRY(pn_first_order_read(&plan->problem, base->owner, objective, &common[PN_OPT_START], NULL, NULL, err));
    PN_TRY(read_constants(at, err));
    PN_TRY(attach_noise(at, err));
    explain_problem(at);
    explain_noise(at);
    warn(at);
    return PN_OK;
}

void tr_plan_destroy(pn_plan *plan)
{
    pn_first_order_clear(&((tr_plan *)plan)->problem);
    pn_free(plan);
}
