/* frank_wolfe_common.c -- what the Frank-Wolfe plans are made of.
 * Depends on: frank_wolfe.h.  Used by: frank_wolfe_plan.c, frank_wolfe_convex.c, block_frank_wolfe*.c. */
#include <math.h>
#include <string.h>

#include "solvers/engine/first_order.h"
#include "solvers/engine/work.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

const char *const fw_steps[] = { "standard", "paper", NULL };
const char *const fw_presets[] = { "practical", "theory", NULL };

void fw_explain_gradient(pn_plan *plan, const fw_problem *at)
{
    double clip = pn_objective_clip(at->objective);

    if (at->bounds->source == PN_BOUND_CLIPPED)
        pn_plan_add(plan, "clip", clip, "l2 norm to which each record's gradient is scaled down: enforced");
    else
        pn_plan_add(plan, "slope bound s", at->bounds->slope, "max |dl/dz| over |z| <= %.4g, certified",
                    at->bounds->margin.high);
}

void fw_explain_curvature(pn_plan *plan, const fw_problem *at)
{
    const char *why = at->bounds->loss.missing[0] ? at->bounds->loss.missing : at->bounds->reg.missing;

    if (at->bounded)
        pn_plan_add(plan, "curvature Gamma", at->gamma, "max l'' (diameter x record bound)^2%s, worst case",
                    pn_objective_regulariser(at->objective) ? " + that of r" : "");
    else
        pn_plan_add_text(plan, "curvature Gamma", "unbounded", "%.180s", why);
    if (at->bounded && !at->bounds->convex)
        pn_plan_add_text(plan, "convex", "no", "Hessian >= %.4g; steps lead to a stationary point",
                         at->bounds->strong_convexity);
}

/* Why there is no bound on the excess risk, or NULL. */
const char *fw_no_bound(const fw_problem *at)
{
    if (!fw_is_standard(at))
        return at->step->text ? "the constant step does not converge" : PN_SCHEDULE_NO_BOUND;
    if (at->bounds->source == PN_BOUND_CLIPPED)
        return "clipped gradients are not those of f";
    if (!at->bounded)
        return "the curvature is unbounded";
    if (isinf(at->lag))
        return at->slopes == PN_PATH_STALE ? "stale slopes are not those of f" : "the third derivative is unbounded";
    return at->bounds->convex ? NULL : "f is not convex";
}

void fw_plan_nonprivate(fw_plan *plan, const fw_problem *at, const pn_arg *common)
{
    size_t most = pn_steps_within(at->seconds);
    bool given = common[PN_OPT_ITERATIONS].given;

    plan->base.iterations = given ? common[PN_OPT_ITERATIONS].count : most < FW_DEFAULT_STEPS ? most : FW_DEFAULT_STEPS;
    pn_plan_work(&plan->base, at->seconds, given ? 0.0 : FW_DEFAULT_STEPS);
    pn_plan_add(&plan->base, "records n", at->n, "public");
    pn_plan_add(&plan->base, "steps T", (double)plan->base.iterations,
                given                                      ? "as given"
                : plan->base.iterations < FW_DEFAULT_STEPS ? "as many as about 4 s of work allow"
                                                           : "the default");
    if (!at->bounds->certified)
        return;
    fw_explain_curvature(&plan->base, at);
    if (fw_no_bound(at) || plan->noise.scheme)
        return;
    plan->base.bound = 2.0 * at->gamma / ((double)plan->base.iterations + 2.0);
    pn_plan_add(&plan->base, "excess risk bound", plan->base.bound, "2 Gamma / (T + 2)");
}

size_t fw_steps_within(double each, double first)
{
    return pn_steps_within(each / fmax(1.0 - first / PN_WORK_SECONDS, 0.25));
}

bool fw_is_standard(const fw_problem *at)
{
    return !at->step || (at->step->text && at->step->count == 0);
}

void fw_move(double *theta, size_t count, const pn_atom *atom, double mu)
{
    for (size_t j = 0; j < count; j++)
        theta[j] *= 1.0 - mu;
    pn_atom_add(atom, mu, theta);
}

pn_status fw_choose_step(fw_plan *plan, const fw_problem *at, pn_err *err)
{
    const pn_arg *step = at->step;
    pn_schedule *of = &plan->step;

    pn_plan_set(&plan->base, "iterations", (double)plan->base.iterations, true);
    if (fw_is_standard(at)) {
        *of = (pn_schedule){ .law = PN_STEP_HARMONIC, .eta = 1.0 };
        return PN_OK;
    }
    of->eta = step->text ? 1.0 / ((double)plan->base.iterations + 2.0) : step->real;
    if (step->text)
        pn_plan_warn(&plan->base,
                     "step=\"paper\" keeps about 1/e of the start's weight and does not converge; no bound");
    PN_TRY(pn_schedule_read(of, &plan->base, &fw_params[FW_STEP], step, err));
    if (!step->text && !of->each)
        pn_plan_set(&plan->base, "step", of->eta, false);
    pn_schedule_explain(of, &plan->base, "step mu", of->eta, step->text ? "1/(T + 2)" : "as given");
    return PN_OK;
}

pn_status fw_check_set(const pn_plan *plan, pn_err *err)
{
    const pn_set *set = pn_objective_set(plan->objective);

    PN_TRY(pn_plan_need_bounded_set(plan, err));
    if (!set->ops->support)
        return pn_fail(err, PN_EUNSUPPORTED, "the set must have a support function, and %s has none", set->ops->name);
    return PN_OK;
}

pn_status fw_read(fw_problem *at, pn_plan *base, const pn_arg *start, const pn_arg *step, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(base->objective);

    *at = (fw_problem){ .objective = base->objective,
                        .set = pn_objective_set(base->objective),
                        .bounds = bounds,
                        .request = &base->request,
                        .n = (double)pn_objective_data(base->objective)->n,
                        .gamma = isfinite(bounds->curvature) ? bounds->curvature : 0.0,
                        .bounded = isfinite(bounds->curvature),
                        .seconds = pn_pass_seconds(base->objective),
                        .step = step };
    PN_TRY(fw_check_set(base, err));
    PN_TRY(pn_plan_start(&base->start, base->objective, start, err));
    at->start = base->start;
    return PN_OK;
}

size_t fw_best_steps(double gamma, double a, size_t fallback)
{
    double steps = a > 0.0 ? pow(4.0 * gamma / a, 2.0 / 3.0) : (double)fallback;

    return (size_t)fmin(fmax(round(steps), 1.0), FW_MAX_STEPS);
}

/* ---- the default number of steps ---- */

/* What is left after T steps is some hundredths of 2 Gamma/(T + 2), whose Gamma is of the worst record and the whole
 * diameter, while the noise costs a good part of what the bound says.  With parts k and v of the two terms of
 * 2 Gamma/T + a sqrt(T) the best T is (k/v)^(2/3) of the bound's: a constant, the only thing of the problem that no
 * public number tells.  On 72 synthetic problems over four sets and 63 on three data sets the best power of two was an
 * eighth or a sixteenth, but where the noise of so few steps is more than there is to gain: there the answer is the
 * mean of vertices at random, and the more of them the nearer it is to the centre.  tests/bench/README.md has what this
 * does on others. */
#define PRACTICAL_PART 8.0

pn_status fw_read_preset(fw_problem *at, const pn_plan *plan, const pn_arg *preset, const pn_arg *common, pn_err *err)
{
    const char *calibration = common[PN_OPT_CALIBRATION].text;
    bool paper = calibration && strcmp(calibration, "paper") == 0;
    pn_first_order first = { 0 };
    pn_status status;

    at->gap = 0.0;
    if (at->request->kind == PN_NONPRIVATE || fw_no_bound(at) || (preset->given ? preset->count == FW_THEORY : paper))
        return PN_OK;
    status = pn_first_order_read(&first, plan->owner, plan->objective, &common[PN_OPT_START], NULL, NULL, err);
    if (status == PN_OK)
        status = pn_first_order_gap(&first, first.strong_convexity, &at->gap, err);
    pn_first_order_clear(&first);
    if (!isfinite(at->gap))
        at->gap = 0.0;
    return status == PN_EUNSUPPORTED ? PN_OK : status; /* a set without a projection */
}

size_t fw_practical_steps(const fw_problem *at, double a, size_t best)
{
    size_t few = (size_t)fmax(round((double)best / PRACTICAL_PART), 1.0);

    return a > 0.0 && at->gap > 0.0 && a * sqrt((double)few) <= at->gap ? few : best;
}

void fw_explain_theory(pn_plan *plan, const fw_problem *at, double a, size_t best)
{
    pn_plan_add(plan, "theory preset", 2.0 * at->gamma / ((double)best + 2.0) + a * sqrt((double)best),
                "the least bound, about, which preset=\"theory\" has: T = %zu", best);
}

/* Gradients find a way where their noise is no longer than two slopes: of the problems that frank_wolfe's warning was
 * made on, gradient_descent over the l2 ball around the set ended lower in every run that is warned of. */
bool fw_descent_pays(const fw_problem *at)
{
    const pn_request *request = at->request;

    return (request->kind == PN_RHO || request->delta > 0.0) &&
           pn_contributions(request->neighbours) * sqrt((double)at->set->dim) <=
               2.0 * at->n * sqrt(2.0 * pn_gradient_noise_rho(request));
}
