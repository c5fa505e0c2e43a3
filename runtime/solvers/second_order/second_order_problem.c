/* second_order_problem.c -- the options of second-order descent, and what they and the objective say about the problem.
 * Depends on: second_order.h.  Used by: second_order_plan.c.  See second-order.md sections 1, 2 and 4. */
#include <math.h>

#include "solvers/engine/first_order.h"
#include "solvers/second_order/second_order.h"

static const char *const svts[] = { "slope", "value", NULL };
const char *const so_eigens[] = { "auto", "dense", "lanczos", "matrix_free", NULL };

const pn_param so_params[] = {
    { "tolerance.gradient", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "a_g: a point with a gradient of at most this norm is looked for; by default tolerance.hessian^2/M, else one "
      "that is twice the typical noise" },
    { "tolerance.hessian", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "a_H: whose Hessian has no eigenvalue below minus this; by default sqrt(M a_g), or more where noise asks for "
      "it" },
    { "line_search", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "steps by private backtracking (sparse vector technique) in place of the short ones of the theory" },
    { "svt", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, svts,
      "what the tests of a line search look at: the decrease divided by the step (less noise), or the decrease" },
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "records that every gradient, Hessian and search draws anew; by default all" },
    { "phases", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL,
      "1, or 2: first a few steps with little noise, then all that is left" },
    { "first_share", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.75, NULL, "share of the budget for phase 1 of 2" },
    { "first_iterations", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "steps of phase 1 of 2; by default the root of those of phase 2, rounded up" },
    { "use_filter", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "go on past T while what steps have saved pays for whole iterations" },
    { "smoothness", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "G of the objective, in place of what is certified: steps rest on it, privacy does not" },
    { "hessian_lipschitz", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "M of the objective's Hessian, in place of what is certified: steps rest on it, privacy does not" },
    { "gap", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "objective at the start less its least value, at most: T rests on it; by default from the loss's range" },
    { "floor", PN_REAL, PN_OPTIONAL, PN_ANY, NAN, NULL,
      "f_low, a lower bound on the objective; by default from the ranges of loss and regulariser" },
    { "value_share", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, -1.0, NULL,
      "share of the budget that releases the objective at the start, which T then rests on; in [0, 1); by default "
      "0.01 where it depends on records and no gap is claimed" },
    PN_HESSIAN_NOISE_PARAM,
    PN_HESSIAN_BOUND_PARAM,
    { "eigen", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, so_eigens,
      "how the least eigenpair is found; matrix_free stores no Hessian and is for simulated runs only" },
    { "failure", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.1, NULL,
      "zeta: the noise of a whole run exceeds its bounds with at most this probability" },
    { "c", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.1, NULL, "of eps_H, what the Hessian's noise may take; c + c2 < 1/3" },
    { "c1", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.1, NULL, "of eps_g, what the gradient's noise may take; below 1/2" },
    { "c2", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0 / 12.0, NULL,
      "of eps_H^2/M, what the gradient's noise may take at curvature steps; c + c2 < 1/3" },
    { "c_g", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.6, NULL,
      "gradient steps of length t have to lower f by c_g t ||g||^2; c1 + c_g < 1" },
    { "c_h", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.25, NULL,
      "curvature steps of length t have to lower f by c_h t^2 |lam|/2; (1 - c - c_h)^2/4 > 2 c2/3" },
    { "beta_g", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.6, NULL, "factor between the tests of gradient steps" },
    { "beta_h", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.5, NULL,
      "factor between the tests of curvature steps, above t1/t2 of the steps that pass for sure" },
    { "b0", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 20.0, NULL,
      "the first step that is tested is this many times the sure one; at least 1" },
    PN_PARAM_END,
};

/* ---- constants ---- */

static void read_options(so_work *at)
{
    const pn_arg *own = at->own;
    so_plan *plan = at->plan;

    plan->line_search = own[SO_LINE_SEARCH].flag;
    plan->slope = own[SO_SVT].count == 0;
    plan->filter = own[SO_USE_FILTER].flag;
    plan->eigen = (pn_eigen)own[SO_EIGEN].count;
    plan->phases = own[SO_PHASES].count;
    plan->first_share = own[SO_FIRST_SHARE].real;
    plan->first_iterations = own[SO_FIRST_ITERATIONS].count;
    plan->of = (so_constants){ .gradient = own[SO_TOLERANCE_GRADIENT].real,
                               .hessian = own[SO_TOLERANCE_HESSIAN].real,
                               .smoothness = own[SO_SMOOTHNESS].real,
                               .lipschitz = own[SO_HESSIAN_LIPSCHITZ].real,
                               .c = own[SO_C].real,
                               .c1 = own[SO_C1].real,
                               .c2 = own[SO_C2].real,
                               .c_g = own[SO_CG].real,
                               .c_h = own[SO_CH].real,
                               .beta_g = own[SO_BETA_G].real,
                               .beta_h = own[SO_BETA_H].real,
                               .b0 = own[SO_B0].real,
                               .failure = own[SO_FAILURE].real };
}

/* What is about something that the run does not have would be ignored. */
static pn_status check_options(const so_work *at, pn_err *err)
{
    static const struct {
        int option;
        bool two; /* of phases = 2; else of line_search */
    } parts[] = { { SO_FIRST_SHARE, true }, { SO_FIRST_ITERATIONS, true }, { SO_SVT, false },    { SO_CG, false },
                  { SO_CH, false },         { SO_BETA_G, false },          { SO_BETA_H, false }, { SO_B0, false } };
    const pn_arg *own = at->own;
    size_t phases = at->plan->phases;

    if (phases > 2)
        return pn_fail(err, PN_EINVAL, "phases must be 1 or 2, got %zu", phases);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (own[parts[i].option].given && !(parts[i].two ? phases == 2 : at->plan->line_search))
            return pn_fail(err, PN_EINVAL, "%s= is about %s; leave it out or give that as well",
                           so_params[parts[i].option].name, parts[i].two ? "phases=2" : "line_search=true");
    }
    if (own[SO_GAP].given && own[SO_FLOOR].given)
        return pn_fail(err, PN_EINVAL, "give gap= or floor=, not both: a gap needs no floor");
    if (own[SO_GAP].given && own[SO_VALUE_SHARE].given && own[SO_VALUE_SHARE].real > 0.0)
        return pn_fail(err, PN_EINVAL, "give gap= or value_share=, not both: a gap is used in place of a value");
    if (!(own[SO_VALUE_SHARE].real < 1.0))
        return pn_fail(err, PN_EINVAL, "value_share must be in [0, 1), got %g", own[SO_VALUE_SHARE].real);
    return PN_OK;
}

static pn_status check_loss(const so_work *at, pn_err *err)
{
    const pn_objective *objective = at->plan->base.objective;
    const pn_bounds *bounds = pn_objective_bounds(objective);
    const pn_loss *loss = pn_objective_loss(objective);

    if (loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "a black box has values only, and this solver needs second derivatives; use "
                       "solve.zeroth_order");
    if (!bounds->loss.smooth && bounds->loss.continuous && isfinite(bounds->slope))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the slope of the %s loss jumps, and this solver needs second derivatives; use logistic or "
                       "sigmoid, or solve.sgd or solve.zeroth_order",
                       loss->name);
    return PN_OK;
}

/* Kinks are what those of the table that have a proximal operator may have. */
static pn_status check_public_part(const so_work *at, pn_err *err)
{
    const pn_objective *objective = at->plan->base.objective;
    const pn_set *set = pn_objective_constraint(objective);
    const pn_regulariser *reg = pn_objective_regulariser(objective);

    if (reg && reg->row->prox && !isfinite(pn_objective_bounds(objective)->reg.smoothness))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the regulariser %s has kinks, and this solver needs its Hessian; use l2 or nonconvex",
                       reg->row->name);
    if (set && !pn_set_can_project(set))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s has no projection, which keeps its points in the set; leave set= out, or give project= "
                       "to a custom set",
                       set->ops->name);
    return PN_OK;
}

/* G and M of f: as claimed, else as certified. */
static pn_status read_smoothness(so_work *at, pn_err *err)
{
    pn_objective *objective = at->plan->base.objective;
    const pn_bounds *bounds = pn_objective_bounds(objective);
    const pn_hessian_bounds *hessian = &at->plan->model.bounds;
    so_constants *of = &at->plan->of;
    const char *name = pn_objective_loss(objective)->name;

    at->certified_smoothness = fmin(bounds->smoothness, hessian->record + bounds->reg.smoothness);
    at->certified_lipschitz = fmin(bounds->hessian_lipschitz, hessian->lipschitz + bounds->reg.hessian_lipschitz);
    if (!at->own[SO_SMOOTHNESS].given)
        of->smoothness = at->certified_smoothness;
    if (!at->own[SO_HESSIAN_LIPSCHITZ].given)
        of->lipschitz = at->certified_lipschitz;
    if (!(of->smoothness > 0.0 && isfinite(of->smoothness)))
        return pn_fail(err, PN_EINVAL,
                       "the smoothness G of the objective (%s loss) is certified as %g, and step sizes need a "
                       "positive number; %s",
                       name, of->smoothness,
                       of->smoothness > 0.0 ? "claim smoothness=, or " PN_HOW_TO_BOUND_ROWS
                                            : "a linear objective has no stationary points");
    if (of->lipschitz == 0.0)
        return pn_fail(err, PN_EINVAL,
                       "the Hessian of the objective is constant (M = 0), so that no step along negative curvature "
                       "is the right one; use solve.gradient_descent, or claim hessian_lipschitz= above 0");
    if (!isfinite(of->lipschitz))
        return pn_fail(
            err, PN_EINVAL,
            "nothing certifies how fast the Hessian of the objective (%s loss) changes; use a loss with a "
            "bounded third derivative (logistic, sigmoid), claim hessian_lipschitz=, or " PN_HOW_TO_BOUND_ROWS,
            name);
    return PN_OK;
}

/* ---- the start ---- */

static pn_status read_start(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    pn_objective *objective = plan->base.objective;
    const pn_regulariser *reg = pn_objective_regulariser(objective);

    PN_TRY(pn_plan_start(&plan->base.start, objective, &at->common[PN_OPT_START], err));
    PN_TRY(pn_start_value_read(&plan->value, objective, plan->base.request.neighbours, plan->base.start, err));
    return reg ? reg->ops->evaluate(reg, plan->model.dim, plan->base.start, &plan->regular, NULL, err) : PN_OK;
}

/* A lower bound on f: the least loss, and the least r, which is 0 for those of the table. */
static void read_floor(so_work *at)
{
    so_plan *plan = at->plan;
    const pn_regulariser *reg = pn_objective_regulariser(plan->base.objective);
    const pn_bounds *bounds = pn_objective_bounds(plan->base.objective);

    plan->floor = at->own[SO_FLOOR].real;
    if (!at->own[SO_FLOOR].given)
        plan->floor = reg && !pn_regulariser_in_table(reg) ? -INFINITY : bounds->loss.value.low;
    plan->gap = at->own[SO_GAP].given ? at->own[SO_GAP].real : plan->value.each.high + plan->regular - plan->floor;
    if (isnan(plan->gap))
        plan->gap = INFINITY;
}

static pn_status check_gap(const so_work *at, pn_err *err)
{
    const so_plan *plan = at->plan;

    if (plan->model.is_private && at->own[SO_VALUE_SHARE].given && at->own[SO_VALUE_SHARE].real > 0.0 &&
        !(isfinite(plan->floor) && isfinite(plan->value.bound)))
        return pn_fail(err, PN_EINVAL, "value_share= needs %s",
                       isfinite(plan->value.bound) ? "floor=: nothing bounds the objective from below"
                                                   : "losses that are bounded at the start; " PN_HOW_TO_BOUND_ROWS);
    if (plan->gap < 0.0)
        return pn_fail(err, PN_EINVAL, "floor = %g is above what the objective is at the start, at most %g",
                       plan->floor, plan->value.each.high + plan->regular);
    if (isinf(plan->gap) && !at->common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL,
                       "nothing bounds the objective %s, so no number of iterations follows; give %sgap= or "
                       "iterations=",
                       isinf(plan->floor) ? "from below" : "at the start", isinf(plan->floor) ? "floor=, " : "");
    return PN_OK;
}

pn_status so_read_problem(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    const pn_arg *own = at->own;

    read_options(at);
    PN_TRY(check_options(at, err));
    PN_TRY(check_loss(at, err));
    PN_TRY(check_public_part(at, err));
    PN_TRY(pn_gradient_noise_check(&plan->base, at->common, err));
    PN_TRY(pn_model_read(&plan->model, plan->base.owner, plan->base.objective, &plan->base.request, own[SO_BATCH].count,
                         own[SO_HESSIAN_NOISE].count == 0, own[SO_HESSIAN_BOUND].count == 1, err));
    PN_TRY(read_smoothness(at, err));
    PN_TRY(read_start(at, err));
    if (pn_least_needs_start(plan->eigen, plan->model.dim))
        plan->of.lanczos = 0.1;
    read_floor(at);
    return check_gap(at, err);
}
