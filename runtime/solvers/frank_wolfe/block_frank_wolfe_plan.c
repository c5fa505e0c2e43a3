/* block_frank_wolfe_plan.c -- blocks, sampling, step sizes and the convergence bound of block-coordinate Frank-Wolfe.
 * Depends on: block_frank_wolfe.h, frank_wolfe.h.  Used by: block_frank_wolfe.c.
 * See distributed-frank-wolfe.md section 1.
 *
 * h_t = E f(x_t) - f* obeys h_{t+1} <= (1 - gamma p_min) h_t + gamma e + gamma^2 C/2 with gamma_t = 2/(p_min t + 2),
 * e the declared errors:
 *     h_T <= 2 (h_0 + C/p_min)/(p_min T + 2) + e/p_min.
 * Compensated steps gamma_t/(d p_i) of one block make the drift gamma/d whatever p is, and C' = sum C_i/(d^2 p_i) of C.
 * They are at most 1 from t0 = ceil(2/p_min) - 2d on: gamma_t = 2d/(t + t0 + 2d), h_T <=
 * max((t0 + 2d) h_0, 2 d^2 C')/(T + t0 + 2d) + d e'. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/kernels/upper.h"
#include "solvers/engine/work.h"
#include "solvers/frank_wolfe/block_frank_wolfe.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

#define MOST_STEPS 100000.0 /* unless more are asked for */

static const char *const sampling_class[] = { "pn.block_sampling", NULL };
static const char *const function_class[] = { "function", NULL };
static const char *const steps[] = { "universal", "compensated", NULL };

const pn_param bfw_params[] = {
    { "sampling", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, sampling_class,
      "which blocks a step moves; by default all of them" },
    { "step", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, steps,
      "universal: 2/(p_min t + 2); compensated: of serial sampling, longer for blocks that are drawn less often" },
    { "curvature", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "C of the bound, as of pn.curvature, in place of one from public numbers; of compensated steps C'" },
    { "gap", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "f(start) - min f, or a bound, in place of one from public numbers" },
    { "gradient_error", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.0, NULL,
      "l2 error of each block of the gradient, as of what oracle= returns, expected; enters the bound" },
    { "oracle_error", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, 0.0, NULL,
      "how much <s, gradient> of a block's vertex may be above the least, expected; enters the bound" },
    { "oracle", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, function_class,
      "function(theta) that returns a gradient [p], maybe an inexact one, in place of the objective's" },
    PN_PARAM_END,
};

typedef struct problem {
    bfw_plan *plan;
    const pn_objective *objective;
    const pn_set *set;
    const pn_bounds *bounds;
    const pn_blocks *blocks;
    const pn_arg *common, *own;
    double curvature, gap, error; /* C or C', h0, what e adds to the bound; +inf: unknown */
    const char *curvature_from, *gap_from;
} problem;

/* ---- blocks and sampling ---- */

static pn_status take_sampling(problem *at, pn_err *err)
{
    const pn_arg *given = &at->own[BFW_SAMPLING];
    pn_arg blocks = { .given = true, .count = at->blocks->count };
    pn_status status = PN_OK;

    if (given->given)
        at->plan->sampling = pn_block_sampling_keep((pn_block_sampling *)(size_t)given->object);
    else
        status = pn_block_sampling_new(&at->plan->sampling, "full", &blocks, err);
    if (status != PN_OK)
        return status;
    if (at->plan->sampling->blocks != at->blocks->count)
        return pn_fail(err, PN_EDIM, "the sampling has %zu blocks, the set has %zu", at->plan->sampling->blocks,
                       at->blocks->count);
    at->plan->base.samples = !at->plan->sampling->ops->groups || at->plan->sampling->least < 1.0;
    return PN_OK;
}

static pn_status take_steps(problem *at, pn_err *err)
{
    bfw_plan *plan = at->plan;
    double d = (double)at->blocks->count, rate = plan->sampling->least, each, wanted;

    plan->compensated = at->own[BFW_STEP].count == 1;
    if (plan->compensated && plan->sampling->ops != &pn_block_sampling_serial)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "step=\"compensated\" is for one block at a time, sampling=pn.sampling.serial{blocks=, p=}; got %s",
            plan->sampling->ops->name);
    if (plan->compensated) {
        plan->late = fmax(0.0, ceil(2.0 / rate * (1.0 - 0x1p-48)) - 2.0 * d);
        rate = 1.0 / d;
    }
    each = pn_pass_seconds(at->objective);
    wanted = fmin(ceil(FW_DEFAULT_STEPS / rate), MOST_STEPS);
    plan->base.iterations = at->common[PN_OPT_ITERATIONS].given ? at->common[PN_OPT_ITERATIONS].count
                                                                : (size_t)fmin(wanted, (double)pn_steps_within(each));
    pn_plan_work(&plan->base, each, at->common[PN_OPT_ITERATIONS].given ? 0.0 : wanted);
    return PN_OK;
}

static pn_status check_gradient(const problem *at, pn_err *err)
{
    const pn_arg *oracle = &at->own[BFW_ORACLE];

    if (oracle->given)
        at->plan->oracle = *(const pn_gradient_oracle *)oracle->object;
    else if (pn_objective_loss(at->objective)->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "a black box has no gradients; give oracle=, a function(theta)");
    for (size_t i = 0; at->blocks->set && i < at->blocks->count; i++) {
        if (!at->blocks->set[i]->ops->support)
            return pn_fail(err, PN_EUNSUPPORTED, "block %zu, %s, has no support function", i + 1,
                           at->blocks->set[i]->ops->name);
    }
    return PN_OK;
}

/* ---- what the bound is made of ---- */

/* C of C_ES, or C' = sup sum |A_i z_i|^2/(d^2 p_i). */
static pn_status find_curvature(problem *at, pn_err *err)
{
    const pn_block_sampling *sampling = at->plan->sampling;
    double d = (double)at->blocks->count, *weights;
    pn_expected_curvature found = { .value = INFINITY };
    pn_status status = PN_OK;

    if (at->own[BFW_CURVATURE].given) {
        at->curvature = at->own[BFW_CURVATURE].real;
        at->curvature_from = "as given";
        return PN_OK;
    }
    at->curvature_from = at->plan->compensated ? "C' = sum C_i/(d^2 p_i) over blocks, bounded by public numbers"
                                               : "expected curvature of the sampling, bounded by public numbers";
    if (!at->plan->compensated) {
        status = pn_objective_public_curvature(at->objective, sampling, &found, err);
        at->curvature = found.value;
        return status;
    }
    PN_TRY(pn_new(&weights, at->blocks->count, err, "out of memory for %zu blocks", at->blocks->count));
    for (size_t i = 0; i < at->blocks->count; i++)
        weights[i] = 1.0 / (d * d * sampling->ops->inclusion(sampling, i));
    at->curvature = pn_objective_weighted_curvature(at->objective, at->blocks, weights, 1.0);
    pn_free(weights);
    return PN_OK;
}

/* |f(start) - f(x)| <= L ||start - x|| in any norm, and no more than the loss can differ; with r by its gradient. */
static void find_gap(problem *at)
{
    const pn_bounds *bounds = at->bounds;
    const double *start = at->plan->base.start;
    size_t p = at->set->dim;
    double most = INFINITY, reach = INFINITY;

    if (at->own[BFW_GAP].given) {
        at->gap = at->own[BFW_GAP].real;
        at->gap_from = "as given";
        return;
    }
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double far = fmin(at->set->ops->diameter(at->set, (pn_lp)norm),
                          pn_plus_up(at->set->ops->radius(at->set, (pn_lp)norm), pn_norm_upper((pn_lp)norm, start, p)));

        if (bounds->source == PN_BOUND_CERTIFIED && bounds->loss.continuous && isfinite(bounds->lipschitz[norm]))
            most = fmin(most, bounds->lipschitz[norm] * far);
        if (norm == PN_L1)
            reach = far;
    }
    at->gap_from = "Lipschitz constant x farthest point of the set from the start, public";
    if (bounds->loss.value.high - bounds->loss.value.low < most) {
        most = bounds->loss.value.high - bounds->loss.value.low;
        at->gap_from = "range of the loss, public";
    }
    if (bounds->reg.gradient > 0.0)
        most += bounds->reg.gradient * reach;
    at->gap = most * (1.0 + 1e-14);
}

/* sum p_i (e_lo + e_pg D_i)/p_min; of compensated steps the plain sum over blocks. */
static void find_error(problem *at)
{
    const pn_block_sampling *sampling = at->plan->sampling;

    at->error = 0.0;
    for (size_t i = 0; i < at->blocks->count; i++) {
        double one = at->own[BFW_ORACLE_ERROR].real + at->own[BFW_GRADIENT_ERROR].real * at->blocks->diameter[i];

        at->error += at->plan->compensated ? one : one * sampling->ops->inclusion(sampling, i) / sampling->least;
    }
}

static double bound_of(const problem *at)
{
    const bfw_plan *plan = at->plan;
    double p = plan->sampling->least, d = (double)at->blocks->count, t = (double)plan->base.iterations;

    if (plan->compensated)
        return fmax((plan->late + 2.0 * d) * at->gap, 2.0 * d * d * at->curvature) / (t + plan->late + 2.0 * d) +
               at->error;
    return 2.0 * (at->gap + at->curvature / p) / (p * t + 2.0) + at->error;
}

static const char *no_bound(const problem *at)
{
    const fw_problem as = { .bounds = at->bounds, .bounded = isfinite(at->curvature) };
    const char *why = fw_no_bound(&as);

    return why              ? why
           : isinf(at->gap) ? "nothing bounds f(start) - min f; give gap="
           : at->plan->oracle.sample && !at->own[BFW_GRADIENT_ERROR].given
               ? "the error of oracle= is not known; give gradient_error=, 0 if it is exact"
               : NULL;
}

/* ---- the plan ---- */

static void explain_sampling(const problem *at)
{
    pn_plan *base = &at->plan->base;
    const pn_block_sampling *sampling = at->plan->sampling;

    pn_plan_add(base, "records n", (double)pn_objective_data(at->objective)->n, "public");
    pn_plan_add(base, "blocks d", (double)at->blocks->count, "of %s", at->set->ops->name);
    pn_plan_add_text(base, "sampling", sampling->ops->name, "which blocks a step moves");
    pn_plan_add(base, "p_min", sampling->least, "least probability of a block to be drawn");
    pn_plan_add(base, "E |T|", sampling->mean, "blocks in a step, expected");
    pn_plan_add(base, "steps T", (double)base->iterations, "%s",
                at->common[PN_OPT_ITERATIONS].given ? "as given"
                : at->plan->compensated             ? "100 d, at most 100000 and about 4 s of work, the default"
                                                    : "100/p_min, at most 100000 and about 4 s of work, the default");
    if (!at->plan->compensated) {
        pn_plan_add_text(base, "step gamma_t", "universal", "2/(p_min t + 2)");
        return;
    }
    pn_plan_add_text(base, "step gamma_t", "compensated",
                     "block i moves by gamma_t/(d p_i), gamma_t = 2d/(t + t0 + 2d)");
    pn_plan_add(base, "late start t0", at->plan->late, "max(0, ceil(2/p_min) - 2d): no block moves by more than 1");
}

static void explain_bound(const problem *at)
{
    pn_plan *base = &at->plan->base;

    if (isfinite(at->curvature))
        pn_plan_add(base, at->plan->compensated ? "curvature C'" : "curvature C", at->curvature, "%s",
                    at->curvature_from);
    else
        pn_plan_add_text(base, "curvature C", "unbounded", "%.180s",
                         at->bounds->loss.missing[0]  ? at->bounds->loss.missing
                         : at->bounds->reg.missing[0] ? at->bounds->reg.missing
                                                      : at->bounds->missing);
    if (isfinite(at->gap))
        pn_plan_add(base, "start gap h0", at->gap, "%s", at->gap_from);
    if (at->error > 0.0)
        pn_plan_add(base, "risk from errors", at->error, "%s",
                    at->plan->compensated ? "sum over blocks of oracle_error + gradient_error x diameter"
                                          : "e/p_min, e = sum p_i (oracle_error + gradient_error x diameter)");
    (void)pn_plan_bounds(base, bound_of(at), no_bound(at), "expected, over the draws; %s%s",
                         at->plan->compensated ? "max((t0 + 2d) h0, 2 d^2 C')/(T + t0 + 2d)"
                                               : "2 (h0 + C/p_min)/(p_min T + 2)",
                         at->error > 0.0 ? " + errors" : "");
}

pn_status bfw_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    bfw_plan *plan = (bfw_plan *)base;
    problem *at = &(problem){ .plan = plan,
                              .objective = base->objective,
                              .set = pn_objective_set(base->objective),
                              .bounds = pn_objective_bounds(base->objective),
                              .common = common,
                              .own = own };

    PN_TRY(fw_check_set(base, err));
    PN_TRY(pn_block_structure_new(&plan->structure, at->set, err));
    at->blocks = pn_block_structure_blocks(plan->structure);
    PN_TRY(take_sampling(at, err));
    PN_TRY(take_steps(at, err));
    PN_TRY(check_gradient(at, err));
    PN_TRY(pn_plan_start(&base->start, at->objective, &at->common[PN_OPT_START], err));
    PN_TRY(find_curvature(at, err));
    find_gap(at);
    find_error(at);
    pn_plan_set(base, "iterations", (double)base->iterations, true);
    explain_sampling(at);
    explain_bound(at);
    if (!plan->oracle.sample)
        plan->base.gradients = (double)pn_objective_data(at->objective)->n * (double)plan->base.iterations;
    return PN_OK;
}
