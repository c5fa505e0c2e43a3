/* second_order_explain.c -- the lines, warnings and settings of a second-order plan.
 * Depends on: second_order.h.  Used by: second_order_plan.c.  See second-order.md sections 2 to 6. */
#include <math.h>
#include <stdio.h>

#include "solvers/second_order/second_order.h"

/* ---- targets ---- */

static const char *source_of_gradient(const so_work *at)
{
    if (at->own[SO_TOLERANCE_GRADIENT].given)
        return "as given";
    if (at->own[SO_TOLERANCE_HESSIAN].given)
        return "a_H^2/M";
    return at->practical
               ? "practical: noise is typically half of eps_g; the certificate, not the theorem, speaks for the answer"
               : "0.01 B_g; the default without privacy";
}

static const char *source_of_hessian(const so_work *at)
{
    const so_constants *of = &at->plan->of;

    if (at->own[SO_TOLERANCE_HESSIAN].given)
        return "as given";
    return of->hessian > sqrt(of->lipschitz * of->gradient) * (1.0 + 1e-6)
               ? "practical: noise is typically half of eps_H, which is above sqrt(M a_g)"
               : "sqrt(M a_g)";
}

static void explain_targets(so_work *at)
{
    const so_constants *of = &at->plan->of;
    pn_plan *plan = &at->plan->base;

    pn_plan_add(plan, "gradient a_g", of->gradient, "|| gradient of f || <= a_g: %s", source_of_gradient(at));
    pn_plan_add(plan, "curvature a_H", of->hessian, "least eigenvalue of the Hessian >= -a_H: %s",
                source_of_hessian(at));
    pn_plan_add(plan, "threshold eps_g", of->eps_g, "a_g/(1 + c1), c1 = %.3g; for released gradients", of->c1);
    if (of->lanczos > 0.0)
        pn_plan_add(plan, "threshold eps_H", of->eps_h, "a_H/(1 + c + %.3g), c = %.3g; the other part is Lanczos's",
                    of->lanczos, of->c);
    else
        pn_plan_add(plan, "threshold eps_H", of->eps_h, "a_H/(1 + c), c = %.3g; for released eigenvalues", of->c);
}

/* G or M.  The first of them that is claimed to be less than what is certified is warned of. */
static void explain_constant(so_work *at, const char *name, int option, double value, double certified)
{
    pn_plan *plan = &at->plan->base;
    char known[48] = "nothing is certified";
    bool less = at->own[option].given && value < certified * (1.0 - 1e-9);

    if (isfinite(certified))
        (void)snprintf(known, sizeof known, "%g is certified", certified);
    if (!at->own[option].given)
        pn_plan_add(plan, name, value, "certified, regulariser included");
    else if (isfinite(certified))
        pn_plan_add(plan, name, value, "as claimed; certified is %.6g", certified);
    else
        pn_plan_add(plan, name, value, "as claimed; nothing certifies it");
    if (less && !at->claims)
        pn_plan_warn(plan,
                     "%s = %g is claimed, %s: that steps lower the objective is no longer proven; privacy does not "
                     "rest on it",
                     so_params[option].name, value, known);
    at->claims |= less;
}

/* ---- iterations ---- */

static void explain_gap(so_work *at)
{
    const so_plan *plan = at->plan;
    pn_plan *base = &at->plan->base;

    if (at->own[SO_GAP].given)
        pn_plan_add(base, "gap", plan->gap, "f(w0) - f_low at most, as given");
    else if (isinf(plan->gap))
        pn_plan_add_text(base, "gap", "unknown", "nothing bounds f %s", isinf(plan->floor) ? "from below" : "at w0");
    else
        pn_plan_add(base, "gap", plan->gap, "f(w0) - f_low at most, f_low = %.4g %s; %s", plan->floor,
                    at->own[SO_FLOOR].given ? "as given" : "from the ranges of loss and regulariser",
                    plan->value.data_free ? "at w0 the loss is the same for all records"
                                          : "from the loss's range at w0");
    if (plan->value.cost > 0.0)
        pn_plan_add(base, "value at w0", plan->value.z * plan->value.sensitivity,
                    "noise (of both signs) with which it is released, for %.3g of the budget; plus a public shift of "
                    "sqrt(2 ln(1/zeta)) times that",
                    plan->value.cost / plan->allowance.total);
}

static void explain_iterations(so_work *at)
{
    const so_plan *plan = at->plan;
    const so_constants *of = &plan->of;
    pn_plan *base = &at->plan->base;
    const char *fewer = plan->value.cost > 0.0 ? "; fewer by the released value" : "";
    double wanted = plan->gap / of->decrease;

    pn_plan_add(base, "decrease a step", of->decrease, "%s",
                plan->line_search ? of->by_gradient ? "c_g gbar_g eps_g^2/2: of gradient steps, half for the tests"
                                                    : "c_H t2^2 eps_H^3/(4 M^2): of curvature steps, half for tests"
                : of->by_gradient ? "(1 - 2 c1) eps_g^2/(2 G): of gradient steps"
                                  : "2 (1/3 - c2 - c) eps_H^3/M^2: of curvature steps");
    if ((double)plan->cap < ceil(wanted))
        pn_plan_add(base, "iterations T", (double)plan->cap, "%s; the proof asks for gap/decrease = %.4g%s",
                    at->common[PN_OPT_ITERATIONS].given ? "as given" : "the most without iterations=", wanted, fewer);
    else
        pn_plan_add(base, "iterations T", (double)plan->cap, "gap/decrease%s", fewer);
    if (plan->filter && plan->model.is_private)
        pn_plan_add(base, "iterations at most", (double)base->iterations,
                    "past T while a whole one is left (use_filter)");
    pn_plan_set(base, "iterations", (double)plan->cap, true);
}

static void explain_search(so_work *at)
{
    const so_plan *plan = at->plan;
    const so_constants *of = &plan->of;
    pn_plan *base = &at->plan->base;

    if (!plan->line_search) {
        pn_plan_add_text(base, "steps", "short", "1/G along -g; 2 |lam|/M along the eigenvector of lam");
        return;
    }
    pn_plan_add_text(base, "steps", "line search", "sparse vector, tests of %s",
                     plan->slope ? "decrease/step: the same noise for every step" : "the decrease");
    pn_plan_add(base, "gradient steps", of->step_g, "2 (1 - c1 - c_g)/G is sure; at most %zu tests from %.3g times it",
                of->tests_g, of->b0);
    pn_plan_add(base, "curvature steps", of->t2, "|lam|/M is sure; at most %zu tests from %.3g times it", of->tests_h,
                of->b0);
}

/* ---- the budget ---- */

static void explain_noise(so_work *at, const char *name, const so_noise *noise, const char *when)
{
    pn_plan *base = &at->plan->base;

    pn_plan_add(base, name, noise->z, "noise/sensitivity of each of %d equal shares an iteration; %zu iteration%s%s",
                noise->search_epsilon > 0.0 ? 3 : 2, noise->iterations, noise->iterations == 1 ? "" : "s", when);
}

static void explain_budget(so_work *at)
{
    const so_plan *plan = at->plan;
    const so_noise *last = &at->second;
    pn_plan *base = &at->plan->base;

    if (!at->plan->model.is_private)
        return;
    pn_model_explain_allowance(&plan->allowance, base, at->common);
    if (plan->phases == 2)
        explain_noise(at, "phase 1 z", &plan->first, "");
    explain_noise(at, plan->phases == 2 ? "phase 2 z" : "multiplier z", last,
                  plan->phases == 2 ? " with what phase 1 leaves at least" : "");
    pn_plan_add(base, "gradient costs", last->gradient_cost, "of the budget; steps along it cost %s",
                last->search_cost > 0.0 ? "that and a search" : "no more");
    pn_plan_add(base, "Hessian costs", last->hessian_cost, "only where the released gradient is at most eps_g");
    if (last->search_epsilon > 0.0)
        pn_plan_add(base, "search costs", last->search_cost, "one of epsilon = 1/z = %.4g%s, however many tests",
                    last->search_epsilon, plan->model.batch < plan->model.n ? " on its batch" : "");
    if (plan->model.batch < plan->model.n && plan->allowance.unit == PN_UNIT_RHO)
        pn_plan_warn(base, "zCDP does not see that batches are secret: they cost what all records would; give epsilon "
                           "and delta in place of rho");
}

/* ---- conditions ---- */

static void explain_condition(so_work *at, const char *name, double error, double limit, const char *formula,
                              double records)
{
    if (isinf(error))
        pn_plan_add_text(&at->plan->base, name, "unknown", "%s = %.4g at most; nothing bounds it", formula, limit);
    else if (records <= 1.0)
        pn_plan_add(&at->plan->base, name, error, "%s = %.4g at most", formula, limit);
    else
        pn_plan_add(&at->plan->base, name, error, "%s = %.4g at most: needs n >= %.7g", formula, limit, records);
}

static void explain_tests(so_work *at, const char *name, double records)
{
    if (records > 1.0)
        pn_plan_add(&at->plan->base, name, records, "records for which their error takes at most half of a decrease");
}

static const char *no_promise(const so_work *at)
{
    const so_plan *plan = at->plan;

    if (at->claims)
        return "G or M is claimed, not certified";
    if (pn_objective_clip(plan->base.objective) > 0.0)
        return "clipped gradients are those of another function";
    if (!at->needs.enough)
        return at->practical ? "practical tolerances are below what the theorem reaches" : "the records are too few";
    if ((double)plan->cap < ceil(plan->gap / plan->of.decrease))
        return "iterations= ends it before the gap is used up";
    return pn_objective_constraint(plan->base.objective) ? "the proof is about steps that stay inside of the set"
                                                         : NULL;
}

/* Noise, each with probability zeta: gradients and Hessians; tests; the released value. */
static void explain_promise(so_work *at)
{
    const so_plan *plan = at->plan;
    const char *none = no_promise(at);
    double parts = 1.0 + (at->second.search_epsilon > 0.0 ? 1.0 : 0.0) + (plan->value.cost > 0.0 ? 1.0 : 0.0);
    double chance = 1.0 - fmin(1.0, parts * plan->of.failure);

    if (none)
        pn_plan_add_text(&at->plan->base, "promise", "none", "%s; the answer's certificate holds all the same", none);
    else
        pn_plan_add(&at->plan->base, "promise", so_is_exact(plan) ? 1.0 : chance,
                    "%s the answer has a gradient of at most a_g and no eigenvalue below -a_H%s",
                    so_is_exact(plan) ? "without noise" : "at least the probability that",
                    at->own[SO_GAP].given || at->own[SO_FLOOR].given ? ", if the gap is as claimed" : "");
}

/* In words, where the noise of a Hessian hides all of it; "" where not. */
static void hopeless(const so_work *at, char *text, size_t size)
{
    const pn_model *model = &at->plan->model;
    double noise = pn_model_hessian_noise(model, at->second.z, at->plan->of.failure / (2.0 * (double)at->plan->cap));

    text[0] = '\0';
    if (noise > model->bounds.record)
        (void)snprintf(text, size,
                       "; d = %zu is hopeless here: a Hessian's noise has norm up to %.3g, the Hessian at most %.3g",
                       model->dim, noise, model->bounds.record);
}

/* What a promise costs, for those who want one. */
static void explain_reachable(so_work *at)
{
    pn_plan *base = &at->plan->base;
    double M = at->plan->of.lipschitz;

    if (!at->practical || at->reachable == 0.0)
        return;
    if (isinf(at->reachable))
        pn_plan_add_text(base, "theorem reaches", "nothing", "no tolerance has the conditions hold with these records");
    else
        pn_plan_add(base, "theorem reaches", at->reachable,
                    "the smallest a_g with a promise, a_H = %.4g; tolerance={gradient=%.4g} asks for it",
                    sqrt(M * at->reachable), at->reachable * 1.001);
}

static void warn_of_tolerance(so_work *at)
{
    so_plan *plan = at->plan;
    const so_constants *of = &plan->of;
    double M = of->lipschitz, most = plan->model.lipschitz;
    char beyond[128];

    hopeless(at, beyond, sizeof beyond);
    if (at->practical && of->gradient > most)
        pn_plan_warn(&plan->base,
                     "the noise drowns the gradients: by public bounds they are at most %.3g, and only %.3g can be "
                     "told from noise; more records, fewer features or a larger budget would help%s",
                     most, of->gradient, beyond);
    else if (at->practical && beyond[0])
        pn_plan_warn(&plan->base, "curvature is not seen%s", beyond);
    else if (!at->practical && isfinite(at->reachable) && at->reachable > 0.0 && !at->needs.enough)
        pn_plan_warn(
            &at->plan->base,
            "tolerances (%.3g, %.3g) need n >= %.3g; the smallest that the theorem reaches here are gradient = %.4g, "
            "hessian = %.4g%s",
            of->gradient, of->hessian, at->needs.most, at->reachable, sqrt(M * at->reachable), beyond);
    else if (!at->practical && !at->needs.enough)
        pn_plan_warn(&at->plan->base, "tolerances (%.3g, %.3g) need n >= %.3g; the theorem reaches none here%s",
                     of->gradient, of->hessian, at->needs.most, beyond);
}

static void explain_eigen(so_work *at)
{
    static const char *const words[] = { "in full, and by Lanczos steps for large orders", "in full",
                                         "by Lanczos steps on the stored Hessian", "by Lanczos steps, nothing stored" };
    const so_plan *plan = at->plan;

    pn_plan_add_text(&at->plan->base, "eigenpair", so_eigens[plan->eigen], "%s", words[plan->eigen]);
    if (plan->base.simulation_only)
        pn_plan_warn(&at->plan->base,
                     "eigen=\"matrix_free\" is for simulated runs: the rounding of its products depends on the "
                     "records, and no budget pays for that");
}

void so_explain(so_work *at)
{
    so_plan *plan = at->plan;
    const so_constants *of = &plan->of;
    const so_needs *needs = &at->needs;

    pn_plan_add(&plan->base, "records n", (double)plan->model.n, "public");
    pn_plan_add(&plan->base, "dimension d", (double)plan->model.dim, "of theta");
    explain_targets(at);
    explain_constant(at, "smoothness G of f", SO_SMOOTHNESS, of->smoothness, at->certified_smoothness);
    explain_constant(at, "change M of f", SO_HESSIAN_LIPSCHITZ, of->lipschitz, at->certified_lipschitz);
    pn_model_explain(&plan->model, at->second.z, &plan->base);
    explain_gap(at);
    explain_iterations(at);
    explain_search(at);
    explain_budget(at);
    explain_condition(at, "gradient error", needs->gradient_error, of->gradient_limit, "min(c1 eps_g, c2 eps_H^2/M)",
                      needs->gradient);
    explain_condition(at, "Hessian error", needs->hessian_error, of->hessian_limit, "c eps_H", needs->hessian);
    explain_tests(at, "gradient tests", needs->search_gradient);
    explain_tests(at, "curvature tests", needs->search_curvature);
    explain_promise(at);
    explain_reachable(at);
    explain_eigen(at);
    pn_plan_add_text(&plan->base, "excess risk bound", "none",
                     "what is certified is how near the answer is to a second-order stationary point");
    warn_of_tolerance(at);
    pn_plan_set(&plan->base, "batch", (double)plan->model.batch, true);
}
