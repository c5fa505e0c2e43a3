/* newton_plan.c -- steps, shares, noise and price of private Newton.
 * Depends on: newton.h, privacy, objective.  Used by: newton.c.
 * Source: Ganesh, Haghifam, Steinke, Thakurta (2023); the rest is derived beside each number. */
#include <math.h>

#include "core/alloc.h"
#include "oracle/gradient_noise.h"
#include "solvers/engine/work.h"
#include "solvers/second_order/newton.h"

static const char *const gradients[] = { "auto", "full", "differences", NULL };

enum { GRADIENTS_AUTO = 0, GRADIENTS_FULL, GRADIENTS_DIFFERENCES };

/* Chosen once, by the training loss on a9a, ijcnn1, cal_housing and abalone at epsilon 0.1, 1, 10 and 30
 * (logistic, smooth hinge, huber, softmax, Poisson and clipped squared losses), which is flat around them: a Hessian
 * share of 0.1 to 0.25, a start share of 0.3 to 0.5, 4 to 7
 * matrices.  Each of them may stay what it is whatever the budget: how much a release counts is a matter of its noise
 * beside what a step changes, and gains see to that as it comes about.  Steps are another matter.  Along directions
 * whose curvature is below the least eigenvalue each one covers but a part of the way, which pays only where the noise
 * of the gradients is small enough for what is found there to be worth having: from 10 steps to 20 as r falls from 3e-4
 * to a quarter of it. */
#define STEPS         10.0
#define STEPS_LARGE   20.0
#define NOISE         3e-4
#define HESSIAN_SHARE 0.15
#define START_SHARE   0.4
#define DAMPING       0.5
#define MATRICES_MOST 5 /* of those by default, one in two steps */
#define PLAIN_STEPS   100
#define STEPS_MOST    10000

/* In the order of the NW_ constants. */
const pn_param nw_params[] = {
    { "hessians", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "steps that release one, evenly spread: at the start a majorant, later Hessians, which correct what is known; "
      "default one in two steps, at most 5" },
    { "hessian_share", PN_REAL, PN_OPTIONAL, PN_FRACTION, HESSIAN_SHARE, NULL,
      "share of the budget (rho, or mu^2) for all Hessians together" },
    { "start_share", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL,
      "share of the gradients' budget for the one at the start; default 0.4 where later ones are differences from "
      "it, else an equal part" },
    { "damping", PN_REAL, PN_OPTIONAL, PN_POSITIVE, DAMPING, NULL,
      "eigenvalues of a released Hessian are raised to this times the expected operator norm of its noise" },
    { "gradients", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, gradients,
      "differences: later releases are of gradients less the one at the start; full: of gradients; auto: what has less "
      "noise" },
    PN_HESSIAN_NOISE_PARAM,
    PN_PARAM_END,
};

typedef struct nw_problem {
    nw_plan *plan;
    const pn_arg *common, *own;
    pn_slopes slopes;
    double row; /* R; +inf */
} nw_problem;

/* ---- noise ---- */

/* Of gradients whose slopes are known beforehand to be at most `slope`. */
static void rest_on_slopes(pn_model *model, double slope, double row)
{
    model->gradient_basis.rule = "slopes";
    model->gradient_basis.contribution = isfinite(row) ? slope * row : 2.0 * model->lipschitz;
    model->gradient_basis.value = model->gradient_sensitivity;
    pn_basis_add(&model->gradient_basis, "slope", slope);
    pn_basis_add(&model->gradient_basis, "row", row);
}

/* Sensitivities of the first and of later gradients. */
static void choose_gradients(nw_problem *at)
{
    nw_plan *plan = at->plan;
    double whole = plan->model.gradient_sensitivity, start, change;
    size_t wanted = at->own[NW_GRADIENTS].count;
    bool known = isfinite(at->row) && pn_objective_clip(plan->base.objective) == 0.0;

    plan->first = pn_model_majorant(&plan->model);
    plan->again = pn_objective_loss(plan->base.objective)->margins == 1 ? plan->first : plan->model;
    plan->last = plan->model;
    plan->again.bare = plan->last.bare = true;
    plan->later = plan->model;
    start = known ? fmin(pn_model_moved(&plan->model, at->slopes.start, 1.0), whole) : whole;
    change = known ? fmin(pn_model_moved(&plan->model, at->slopes.change, 2.0), 2.0 * whole) : 2.0 * whole;
    plan->first.gradient_sensitivity = start;
    if (start < whole)
        rest_on_slopes(&plan->first, at->slopes.start, at->row);
    plan->differences = wanted == GRADIENTS_DIFFERENCES ||
                        (wanted == GRADIENTS_AUTO && start * start + change * change < whole * whole);
    if (!plan->differences)
        return;
    plan->later.gradient_sensitivity = change;
    rest_on_slopes(&plan->later, change < 2.0 * whole ? at->slopes.change : 2.0 * plan->model.lipschitz / at->row,
                   at->row);
    plan->later.gradient_bound = 2.0 * plan->model.gradient_bound;
}

static double start_share(const nw_problem *at)
{
    double equal = 1.0 / (double)at->plan->base.iterations;

    if (at->plan->base.iterations == 1 || !at->own[NW_START_SHARE].given)
        return at->plan->differences && at->plan->base.iterations > 1 ? START_SHARE : equal;
    return at->own[NW_START_SHARE].real;
}

/* Parts of 1/z^2 that each release has. */
typedef struct shares {
    double first, hessian, later;
} shares;

static shares shares_of(const nw_problem *at)
{
    double steps = (double)at->plan->base.iterations, hessian = at->own[NW_HESSIAN_SHARE].real;
    double start = start_share(at);

    return (shares){ (1.0 - hessian) * start, hessian / (double)at->plan->matrices,
                     steps > 1.0 ? (1.0 - hessian) * (1.0 - start) / (steps - 1.0) : 0.0 };
}

/* What a run at a multiplier z releases: it is split by the shares. */
static void find_parts(const nw_problem *at, double z, pn_model_part parts[PN_MODEL_PARTS])
{
    const nw_plan *plan = at->plan;
    shares of = shares_of(at);
    double hessian_z = z / sqrt(of.hessian);

    parts[0] = (pn_model_part){ &plan->first, false, z / sqrt(of.first), 1 };
    parts[1] = (pn_model_part){ &plan->first, true, hessian_z, 1 };
    parts[2] = (pn_model_part){ &plan->again, true, hessian_z, plan->matrices > 2 ? plan->matrices - 2 : 0 };
    parts[3] = (pn_model_part){ &plan->last, true, hessian_z, plan->matrices > 1 };
    parts[4] = (pn_model_part){ &plan->later, false, z / sqrt(of.later), plan->base.iterations - 1 };
}

/* The whole run: a pn_program. */
static pn_status run_event(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    pn_model_part parts[PN_MODEL_PARTS];

    find_parts(self, z, parts);
    *count = 1;
    return pn_model_run_event(event, parts, PN_MODEL_PARTS, err);
}

bool nw_majorant_is_hessian(const nw_plan *plan)
{
    const pn_objective *objective = plan->base.objective;

    return pn_objective_loss(objective)->quadratic && pn_objective_clip(objective) == 0.0;
}

double nw_hessian_deviation(const nw_plan *plan)
{
    return (plan->matrices > 1 ? plan->last : plan->first).hessian_sensitivity * plan->hessian_z;
}

/* E ||noise of a Hessian||, nearly, is sqrt(2 d) or 2 sqrt(d) deviations. */
double nw_least(const nw_plan *plan, const pn_model *model, double variance)
{
    double d = (double)model->order, norm = sqrt(variance) * (model->frobenius ? sqrt(2.0 * d) : 2.0 * sqrt(d));

    return fmax(plan->damping * norm, pn_objective_bounds(plan->base.objective)->reg.strong_convexity);
}

/* Gradients after the first, or their differences from it. */
static pn_status ask_later(nw_plan *plan, pn_err *err)
{
    pn_question *later;

    PN_TRY(pn_plan_ask(&later, &plan->base, &pn_question_point, err));
    later->dim = plan->model.dim;
    later->batches = pn_model_gradient_options(&plan->later, plan->later_z);
    later->basis = plan->later.gradient_basis;
    later->times = plan->base.iterations - 1;
    return pn_question_price(later, err);
}

static pn_status attach_noise(nw_problem *at, pn_err *err)
{
    nw_plan *plan = at->plan;
    const pn_program program = { run_event, at };
    shares of = shares_of(at);
    pn_model_part parts[PN_MODEL_PARTS];
    double z;

    if (!plan->model.is_private)
        return PN_OK;
    PN_TRY(pn_model_run_noise(&z, &plan->model, &plan->base, at->common, &program, err));
    plan->first_z = z / sqrt(of.first);
    plan->hessian_z = z / sqrt(of.hessian);
    plan->later_z = of.later > 0.0 ? z / sqrt(of.later) : 0.0;
    plan->base.sigma = of.later > 0.0 ? 0.0 : plan->first.gradient_sensitivity * plan->first_z;
    PN_TRY(run_event(at, z, &plan->base.event, &plan->base.charges, err));
    find_parts(at, z, parts);
    pn_model_rests(&plan->base, parts, PN_MODEL_PARTS - 1); /* the last is a question */
    return plan->later_z > 0.0 ? ask_later(plan, err) : PN_OK;
}

/* ---- problem and steps ---- */

static pn_status check_problem(const pn_plan *plan, pn_err *err)
{
    pn_objective *objective = plan->objective;
    const pn_bounds *bounds = pn_objective_bounds(objective);
    const pn_loss *loss = pn_objective_loss(objective);

    if (loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "a black box has no derivatives; use solve.zeroth_order, or a formula of the margin");
    if (!bounds->loss.smooth && bounds->loss.continuous)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the slope of %s jumps, so it has no Hessian; use solve.gradient_descent, or a smooth loss",
                       loss->name);
    if (!bounds->loss.smooth) { /* it may jump itself, which no other solver of second order takes either */
        pn_hessian_bounds none;

        return pn_objective_hessian_bounds(objective, &none, err);
    }
    if (!bounds->loss.convex || !bounds->convex)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s is not known to be convex; use solve.second_order, which finds second-order stationary "
                       "points",
                       bounds->loss.convex ? "the objective" : loss->name);
    if (pn_objective_regulariser(objective) && !isfinite(bounds->reg.smoothness))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the regulariser has kinks; use solve.gradient_descent, which takes its proximal step");
    return PN_OK;
}

static pn_status check_steps(const nw_plan *plan, pn_err *err)
{
    size_t steps = plan->base.iterations;

    if (steps > STEPS_MOST)
        return pn_fail(err, PN_EINVAL, "iterations must be at most %d, got %zu", STEPS_MOST, steps);
    if (plan->matrices > steps)
        return pn_fail(err, PN_EINVAL, "hessians must be at most the number of steps, %zu, got %zu", steps,
                       plan->matrices);
    return PN_OK;
}

/* r: the norm of the noise on one gradient with all of the budget, as a part of what a record's gradient can be. */
static double noise_part(const nw_plan *plan)
{
    const pn_model *model = &plan->model;
    double mu = sqrt(2.0 * pn_gradient_noise_rho(&plan->base.request));

    return model->gradient_sensitivity * sqrt((double)model->dim) / (mu * model->lipschitz);
}

static void choose_steps(nw_problem *at)
{
    nw_plan *plan = at->plan;
    const pn_arg *matrices = &at->own[NW_HESSIANS], *steps = &at->common[PN_OPT_ITERATIONS];
    size_t half;

    plan->base.iterations = PLAIN_STEPS;
    if (plan->model.is_private) {
        plan->noise_part = noise_part(plan);
        plan->base.iterations = (size_t)rint(fmin(fmax(STEPS * sqrt(NOISE / plan->noise_part), STEPS), STEPS_LARGE));
    }
    if (steps->given)
        plan->base.iterations = steps->count;
    else if (matrices->given && matrices->count > plan->base.iterations)
        plan->base.iterations = matrices->count;
    half = (plan->base.iterations + 1) / 2;
    plan->matrices = matrices->given ? matrices->count : half < MATRICES_MOST ? half : MATRICES_MOST;
    plan->damping = at->own[NW_DAMPING].real;
}

/* ---- its lines ---- */

/* To which eigenvalues of the majorant are raised. */
static double first_least(const nw_plan *plan)
{
    double deviation = plan->first.hessian_sensitivity * plan->hessian_z;

    return nw_least(plan, &plan->first, deviation * deviation);
}

static void explain_matrices(nw_plan *plan, double share, const char *unit)
{
    pn_plan *base = &plan->base;
    const char *where =
        plan->model.frobenius ? "on the diagonal, 1/sqrt(2) of it beside" : "on each entry on and above the diagonal";
    double first = plan->first.hessian_sensitivity * plan->hessian_z;

    pn_plan_add(base, "matrices", (double)plan->matrices,
                "a majorant at the start, Hessians evenly spread over the steps; %g of %s for all", share, unit);
    pn_plan_add(base, "majorant noise", first,
                plan->first.order < plan->model.dim ? "%s, in the block of each margin alike" : "%s", where);
    if (plan->matrices > 1)
        pn_plan_add(base, "Hessian noise", nw_hessian_deviation(plan), "%s", where);
    pn_plan_add(
        base, "least eigenvalue", first_least(plan),
        "to which those of the majorant are raised; %g x the norm of the noise, or mu of r; later ones likewise",
        plan->damping);
}

static void explain_noise(nw_plan *plan, double start_share, double hessian_share)
{
    pn_plan *base = &plan->base;
    const char *unit = base->request.kind == PN_RHO ? "rho" : "mu^2";

    pn_plan_add(base, "D_g at the start", plan->first.gradient_sensitivity, "%s", "slopes there are at most |l'(z0)|");
    pn_plan_add(base, "start noise", plan->first.gradient_sensitivity * plan->first_z,
                "on each coordinate of the gradient at the start; %g of %s", (1.0 - hessian_share) * start_share, unit);
    if (base->iterations > 1) {
        pn_plan_add(base, plan->differences ? "D_g differences" : "D_g later", plan->later.gradient_sensitivity, "%s",
                    plan->differences ? "a slope is within max |l'(z) - l'(z0)| of that at the start"
                                      : "gradients in full: differences would have more noise");
        pn_plan_add(base, "later noise", plan->later.gradient_sensitivity * plan->later_z,
                    "on each coordinate of the gradients of %zu steps, each with an equal part of the rest",
                    base->iterations - 1);
    }
    explain_matrices(plan, hessian_share, unit);
    pn_plan_add_text(base, "step size", "damped", "%s",
                     "as released numbers advise: whole steps as a rule, back to the start where they promise nothing");
}

static void warn_of_hessian(nw_plan *plan)
{
    double least = first_least(plan);

    if (least >= plan->model.bounds.record)
        pn_plan_warn(
            &plan->base,
            "the Hessian's noise, of norm %.3g, is above B_H = %.3g: at n = %zu, d = %zu nothing is left of it, and "
            "steps are those of gradient descent; more records or fewer features would help",
            least / plan->damping, plan->model.bounds.record, plan->model.n, plan->model.dim);
}

/* Slopes over a wide set may be far above those at the start, and so is the noise: P d/(2 least) is what noise P on
 * each coordinate costs along directions of the least eigenvalue, slope^2/(2 B_H) the least that a gradient as large as
 * `slope` can gain. */
static void warn_of_slopes(nw_plan *plan, double slope)
{
    double later = plan->later.gradient_sensitivity * plan->later_z, releases = (double)plan->base.iterations - 1.0;
    double cost = later * later / releases * (double)plan->model.dim / (2.0 * first_least(plan));

    if (pn_objective_clip(plan->base.objective) == 0.0 && plan->model.lipschitz > 2.0 * slope &&
        cost > 0.02 * slope * slope / (2.0 * plan->model.bounds.record))
        pn_plan_warn(
            &plan->base,
            "within the set a record's gradient may be up to %.3g, %.3g times what it is at the start, and the noise "
            "on gradients hides as much: give the objective clip=%.3g in place of the set, or a smaller set",
            plan->model.lipschitz, plan->model.lipschitz / slope, slope);
}

static void warn_of_size(nw_plan *plan)
{
    double d = (double)plan->model.dim, seconds = pn_hessian_seconds(plan->base.objective, 0.0);

    if (seconds * (double)plan->matrices > 30.0)
        pn_plan_warn(&plan->base,
                     "each of %zu matrices has %zu x %zu numbers (%.2g GB), and its eigenvalues take of the order of "
                     "%.0f s: solve.gradient_descent and solve.sgd suit so many coordinates",
                     plan->matrices, plan->model.dim, plan->model.dim, 8e-9 * d * d, seconds);
}

/* slope: |l'| at the start times R, at most. */
static void explain(nw_problem *at, double slope)
{
    nw_plan *plan = at->plan;
    pn_plan *base = &plan->base;
    double first = start_share(at), hessian = at->own[NW_HESSIAN_SHARE].real;
    bool is_private = plan->model.is_private;

    pn_plan_add(base, "records n", (double)plan->model.n, "public");
    pn_model_explain(&plan->model, 0.0, base);
    if (is_private && !at->common[PN_OPT_ITERATIONS].given)
        pn_plan_add(base, "steps T", (double)base->iterations,
                    "10 to 20: more for less noise, of norm %.2g B_g if one gradient had all of the budget",
                    plan->noise_part);
    else
        pn_plan_add(base, "steps T", (double)base->iterations, "%s",
                    is_private ? "as given" : "at most: a run ends where the decrement is about rounding");
    if (is_private)
        explain_noise(plan, first, hessian);
    base->gradients = (double)base->iterations * (double)plan->model.n;
    base->seconds = (double)base->iterations * pn_pass_seconds(base->objective) +
                    (double)plan->matrices * pn_hessian_seconds(base->objective, (double)plan->model.n);
    pn_plan_add(base, "gradients", base->gradients, "T n");
    pn_plan_add_text(base, "excess risk bound", "none", "%s", "the article's needs a line search on unnoised values");
    pn_plan_set(base, "iterations", (double)base->iterations, true);
    pn_plan_set(base, "hessians", (double)plan->matrices, true);
    pn_plan_set(base, "hessian_share", hessian, false);
    pn_plan_set(base, "start_share", first, false);
    pn_plan_set(base, "damping", plan->damping, false);
    if (!is_private)
        return;
    warn_of_hessian(plan);
    if (base->iterations > 1)
        warn_of_slopes(plan, slope);
    warn_of_size(plan);
}

/* ---- the plan ---- */

pn_status nw_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    nw_plan *plan = (nw_plan *)base;
    pn_objective *objective = base->objective;
    nw_problem problem = { .plan = plan, .common = common, .own = own }, *at = &problem;

    PN_TRY(check_problem(base, err));
    PN_TRY(pn_model_read(&plan->model, base->owner, objective, &base->request, 0, own[NW_HESSIAN_NOISE].count == 0,
                         false, err));
    choose_steps(at);
    PN_TRY(pn_gradient_noise_check(base, common, err));
    PN_TRY(check_steps(plan, err));
    PN_TRY(pn_first_order_read(&plan->problem, base->owner, objective, &common[PN_OPT_START], NULL, NULL, err));
    PN_TRY(pn_slopes_read(&at->slopes, objective, plan->problem.start, err));
    at->row = pn_objective_data(objective)->bounds.norm[PN_L2];
    if (plan->model.is_private)
        choose_gradients(at);
    PN_TRY(attach_noise(at, err));
    explain(at, at->slopes.start * at->row);
    return PN_OK;
}

void nw_plan_destroy(pn_plan *plan)
{
    pn_first_order_clear(&((nw_plan *)plan)->problem);
    pn_free(plan);
}
