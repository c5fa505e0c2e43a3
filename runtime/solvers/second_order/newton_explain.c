/* newton_explain.c -- the lines and warnings of a plan of newton.
 * Depends on: newton.h.  Used by: newton_plan.c. */
#include <math.h>

#include "solvers/second_order/newton.h"

static void explain_matrices(nw_plan *plan, double share, const char *unit)
{
    pn_plan *base = &plan->base;
    const char *where =
        plan->model.frobenius ? "on the diagonal, 1/sqrt(2) of it beside" : "on each entry on and above the diagonal";
    double first = plan->first.hessian_sensitivity * plan->hessian_z,
           later = plan->again.hessian_sensitivity * plan->hessian_z;

    pn_plan_add(base, "matrices", (double)plan->matrices,
                "a majorant at the start, Hessians evenly spread over the steps; %g of %s for all", share, unit);
    pn_plan_add(base, "majorant noise", first,
                plan->first.order < plan->model.dim ? "%s, in the block of each margin alike" : "%s", where);
    if (plan->matrices > 1)
        pn_plan_add(base, "Hessian noise", later, "%s", where);
    pn_plan_add(
        base, "least eigenvalue", nw_least(plan, &plan->first, first * first),
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
    double deviation = plan->first.hessian_sensitivity * plan->hessian_z;

    if (nw_least(plan, &plan->first, deviation * deviation) >= plan->model.bounds.record)
        pn_plan_warn(
            &plan->base,
            "the Hessian's noise, of norm %.3g, is above B_H = %.3g: at n = %zu, d = %zu nothing is left of it, and "
            "steps are those of gradient descent; more records or fewer features would help",
            nw_least(plan, &plan->first, deviation * deviation) / plan->damping, plan->model.bounds.record,
            plan->model.n, plan->model.dim);
}

/* Slopes over a wide set may be far above those at the start, and so is the noise: P d/(2 least) is what noise P on
 * each coordinate costs along directions of the least eigenvalue, slope^2/(2 B_H) the least that a gradient as large as
 * `slope` can gain. */
static void warn_of_slopes(nw_plan *plan, double slope)
{
    double later = plan->later.gradient_sensitivity * plan->later_z,
           first = plan->first.hessian_sensitivity * plan->hessian_z;
    double releases = (double)plan->base.iterations - 1.0, least = nw_least(plan, &plan->first, first * first);
    double cost = later * later / releases * (double)plan->model.dim / (2.0 * least);

    if (pn_objective_clip(plan->base.objective) == 0.0 && plan->model.lipschitz > 2.0 * slope &&
        cost > 0.02 * slope * slope / (2.0 * plan->model.bounds.record))
        pn_plan_warn(
            &plan->base,
            "within the set a record's gradient may be up to %.3g, %.3g times what it is at the start, and the noise "
            "on gradients hides as much: give the objective clip=%.3g in place of the set, or a smaller set",
            plan->model.lipschitz, plan->model.lipschitz / slope, slope);
}

/* Eigenvalues and vectors of a d x d matrix: about 1.2e-9 d^3 s on a core of 2020,
 * as measured for d from 500 to 2000. */
static void warn_of_size(nw_plan *plan)
{
    double d = (double)plan->model.dim, seconds = 1.2e-9 * d * d * d;

    if (seconds * (double)plan->matrices > 30.0)
        pn_plan_warn(&plan->base,
                     "each of %zu matrices has %zu x %zu numbers (%.2g GB), and its eigenvalues take of the order of "
                     "%.0f s: solve.gradient_descent and solve.sgd suit so many coordinates",
                     plan->matrices, plan->model.dim, plan->model.dim, 8e-9 * d * d, seconds);
}

void nw_explain(nw_plan *plan, const pn_arg *common, double start_share, double hessian_share, double slope)
{
    pn_plan *base = &plan->base;
    bool is_private = plan->model.is_private;

    pn_plan_add(base, "records n", (double)plan->model.n, "public");
    pn_model_explain(&plan->model, 0.0, base);
    if (is_private && !common[PN_OPT_ITERATIONS].given)
        pn_plan_add(base, "steps T", (double)base->iterations,
                    "10 to 20: more for less noise, of norm %.2g B_g if one gradient had all of the budget",
                    plan->noise_part);
    else
        pn_plan_add(base, "steps T", (double)base->iterations, "%s",
                    is_private ? "as given" : "at most: a run ends where the decrement is about rounding");
    if (is_private)
        explain_noise(plan, start_share, hessian_share);
    base->gradients = (double)base->iterations * (double)plan->model.n;
    pn_plan_add(base, "gradients", base->gradients, "T n");
    pn_plan_add_text(base, "excess risk bound", "none", "%s", "the article's needs a line search on unnoised values");
    pn_plan_set(base, "iterations", (double)base->iterations, true);
    pn_plan_set(base, "hessians", (double)plan->matrices, true);
    pn_plan_set(base, "hessian_share", hessian_share, false);
    pn_plan_set(base, "start_share", start_share, false);
    pn_plan_set(base, "damping", plan->damping, false);
    if (is_private)
        warn_of_hessian(plan);
    if (is_private && base->iterations > 1)
        warn_of_slopes(plan, slope);
    if (is_private)
        warn_of_size(plan);
}
