/* trust_region_explain.c -- what the plan of a trust-region run says: constants, what its end proves, how far noise is
 * from what the theorem asks, and which tolerance would be reachable.
 * Depends on: trust_region.h, second_order.h (records that a noise asks for).  Used by: trust_region_plan.c. */
#include <math.h>

#include "solvers/second_order/second_order.h"
#include "solvers/second_order/trust_region.h"

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
    pn_plan_add(base, needs, so_records_for((double)at->plan->model.n, error - sampling, sampling, limit),
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
            "hopeless: no tolerance below %.3g, which every point meets, is reachable at n = %zu, d = %zu; the noise "
            "of the %s is what hinders; more records, fewer features or a larger budget would help",
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

void tr_explain(tr_problem *at)
{
    explain_problem(at);
    explain_noise(at);
    warn(at);
}
