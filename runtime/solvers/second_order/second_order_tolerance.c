/* second_order_tolerance.c -- which point second-order descent aims at: tolerances as given, the smallest that the
 * theorem reaches, and the practical ones of plans that are given none.
 * Depends on: second_order.h.  Used by: second_order_plan.c.  See second-order.md section 2.
 *
 * The theorem wants all noise of a run within c1 eps_g and c2 eps_H^2/M; T, and with it the noise, comes from its least
 * decrease a step.  That is far on the safe side: what it reaches often holds at the start already, where a run would
 * then end.  Descent goes on as long as a released gradient is not mostly noise, and its end is judged by the
 * certificate, which rests on no such condition. */
#include <math.h>

#include "solvers/engine/work.h"
#include "solvers/second_order/second_order.h"

#define MOST_ITERATIONS ((size_t)1 << 30)
#define PLAIN_TOLERANCE 0.01 /* without privacy, of B_g */
#define SIGNAL          2.0  /* practical: eps is this many times what noise typically is */

/* Past T an iteration is of a gradient alone, and there are at most as many more. */
double so_step_seconds(const so_plan *plan)
{
    double records = (double)plan->model.batch;

    return 2.0 * pn_step_seconds(plan->base.objective, records) + pn_hessian_seconds(plan->base.objective, records);
}

/* What a tolerance that is given asks for is not limited by work: a run ends by its own test. */
static size_t most_planned(const so_work *at)
{
    bool given = at->own[SO_TOLERANCE_GRADIENT].given || at->own[SO_TOLERANCE_HESSIAN].given;
    size_t most = pn_steps_within(so_step_seconds(at->plan));

    return !given && most < SO_MOST_PLANNED ? most : SO_MOST_PLANNED;
}

static pn_status derive(so_work *at, pn_err *err)
{
    so_plan *plan = at->plan;
    size_t cap = at->common[PN_OPT_ITERATIONS].given ? at->common[PN_OPT_ITERATIONS].count : most_planned(at);

    PN_TRY(so_derive(&plan->of, plan->line_search, err));
    plan->cap = so_iterations(&plan->of, plan->gap, cap < MOST_ITERATIONS ? cap : MOST_ITERATIONS);
    return PN_OK;
}

/* ---- trials ---- */

/* A tolerance a_g, with a_H = sqrt(M a_g) unless the Hessian's noise asks for more. */
typedef struct so_trial {
    bool practical; /* else by the theorem */
    bool holds;
    double hessian; /* a_H */
} so_trial;

/* T and noise for the tolerances of at->plan; false in *made where no budget pays for so many iterations. */
static pn_status shape(so_work *at, bool *made, pn_err *err)
{
    pn_status status = derive(at, err);

    if (status == PN_OK)
        status = so_set_noise(at, err);
    *made = status == PN_OK;
    return status == PN_EBUDGET || status == PN_EUNSUPPORTED ? PN_OK : status;
}

/* eps_g and eps_H against the root of the mean square of what disturbs a gradient, and what bounds the mean operator
 * norm of what disturbs a Hessian.  Larger a_H never have more iterations, so that one correction is enough. */
static pn_status judge_practically(so_work *at, bool *holds, pn_err *err)
{
    const pn_model *model = &at->plan->model;
    so_constants *of = &at->plan->of;
    double hessian = pn_model_hessian_noise(model, at->second.z, 1.0) + pn_model_hessian_sampling(model, 1.0);

    if (SIGNAL * hessian > of->eps_h) {
        of->hessian *= SIGNAL * hessian / of->eps_h * (1.0 + 1e-9);
        PN_TRY(shape(at, holds, err));
    }
    *holds =
        *holds && isfinite(of->hessian) &&
        SIGNAL * hypot(pn_model_gradient_noise(model, at->second.z, 1.0), pn_model_gradient_sampling(model, 1.0)) <=
            of->eps_g;
    return PN_OK;
}

static pn_status try_tolerance(const so_work *at, double gradient, so_trial *trial, pn_err *err)
{
    so_plan plan = *at->plan;
    so_work with = *at;

    with.plan = &plan;
    plan.of.gradient = gradient;
    plan.of.hessian = sqrt(plan.of.lipschitz * gradient);
    PN_TRY(shape(&with, &trial->holds, err));
    if (trial->holds && trial->practical)
        PN_TRY(judge_practically(&with, &trial->holds, err));
    else if (trial->holds)
        trial->holds = with.needs.enough;
    trial->hessian = plan.of.hessian;
    return PN_OK;
}

/* The smallest that holds, to 1e-3, with its trial; +inf where none up to 2^40 does. */
static pn_status find_smallest(const so_work *at, so_trial *trial, double *out, pn_err *err)
{
    double high = 1.0, low;
    bool down;

    *out = INFINITY;
    PN_TRY(try_tolerance(at, high, trial, err));
    down = trial->holds;
    while (trial->holds == down && (down ? high > 0x1p-40 : high < 0x1p40)) {
        high = down ? high / 4.0 : high * 4.0;
        PN_TRY(try_tolerance(at, high, trial, err));
    }
    if (!down && !trial->holds)
        return PN_OK;
    low = down ? high : high / 4.0;
    high = down && trial->holds ? high : low * 4.0;
    while (high > low * 1.001) {
        double middle = sqrt(low * high);

        PN_TRY(try_tolerance(at, middle, trial, err));
        *(trial->holds ? &high : &low) = middle;
    }
    *out = high;
    return try_tolerance(at, high, trial, err);
}

pn_status so_find_reachable(so_work *at, pn_err *err)
{
    return find_smallest(at, &(so_trial){ .practical = false }, &at->reachable, err);
}

static pn_status find_practical(so_work *at, pn_err *err)
{
    so_constants *of = &at->plan->of;
    so_trial trial = { .practical = true };
    double gradient;

    PN_TRY(find_smallest(at, &trial, &gradient, err));
    if (isinf(gradient))
        return pn_fail(err, PN_EBUDGET,
                       "with this budget and %zu records in dimension %zu the noise exceeds every tolerance; give a "
                       "larger budget, or tolerance.gradient= to run all the same",
                       at->plan->model.n, at->plan->model.dim);
    of->gradient = gradient;
    of->hessian = trial.hessian;
    at->practical = true;
    return derive(at, err);
}

/* ---- the choice ---- */

pn_status so_choose_tolerance(so_work *at, pn_err *err)
{
    so_constants *of = &at->plan->of;
    bool gradient = at->own[SO_TOLERANCE_GRADIENT].given, hessian = at->own[SO_TOLERANCE_HESSIAN].given;
    double B_g = at->plan->model.lipschitz;

    of->gradient = gradient ? of->gradient : 1.0;
    of->hessian = hessian ? of->hessian : 1.0;
    PN_TRY(derive(at, err)); /* constants first: what is wrong with them is not to be found out by a search */
    if (!gradient && !hessian && at->plan->model.is_private)
        return find_practical(at, err);
    if (!gradient && hessian)
        of->gradient = of->hessian * of->hessian / of->lipschitz;
    else if (!gradient)
        of->gradient = PLAIN_TOLERANCE * (isfinite(B_g) && B_g > 0.0 ? B_g : 1.0);
    if (!(of->gradient > 0.0 && isfinite(of->gradient)))
        return pn_fail(err, PN_EINVAL, "no tolerance.gradient follows from tolerance.hessian = %g; give both",
                       of->hessian);
    if (!hessian)
        of->hessian = sqrt(of->lipschitz * of->gradient);
    return derive(at, err);
}
