/* gradient_descent_problem.c -- what the theory needs to know of a problem: how far away and how much higher the start
 * may be, and the noise.
 * Depends on: gradient_descent.h, objective, geometry, gradient_noise.h.  Used by: gradient_descent_plan.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/first_order/gradient_descent.h"

static double length(size_t p, const double *x)
{
    return sqrt(pn_dot(p, x, x)) * (1.0 + 1e-12);
}

/* max ||x - start|| over the set. */
static pn_status reach(const pn_first_order *at, double *out, pn_err *err)
{
    const pn_set *set = at->composite.set;
    double *back;

    *out = INFINITY;
    if (!set || !isfinite(at->diameter))
        return PN_OK;
    *out = fmin(at->diameter, set->ops->radius(set, PN_L2) + length(at->p, at->start));
    if (!set->ops->image_radius)
        return PN_OK;
    PN_TRY(pn_new(&back, at->p, err, "out of memory"));
    for (size_t j = 0; j < at->p; j++)
        back[j] = -at->start[j];
    *out = fmin(*out, set->ops->image_radius(set, 1.0, back, PN_L2));
    pn_free(back);
    return PN_OK;
}

/* ||subgradient of r at the start||, of the smallest norm where the table has it;
 * +inf for an operator of a user's own. */
static pn_status regular_slope(const gd_problem *at, double *slope, pn_err *err)
{
    const pn_first_order *of = &at->plan->problem;
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);
    double *gradient;
    pn_status status;

    *slope = of->composite.extra ? INFINITY : 0.0;
    if (!reg || of->composite.extra)
        return PN_OK;
    if (!at->bounds->reg.convex && !(at->bounds->reg.strong_convexity >= 0.0)) {
        *slope = at->bounds->reg.gradient * sqrt((double)of->p);
        return PN_OK;
    }
    PN_TRY(pn_new_zeroed(&gradient, of->p, err, "out of memory"));
    status = reg->ops->evaluate(reg, of->p, of->start, NULL, gradient, err);
    *slope = status == PN_OK ? length(of->p, gradient) : 0.0;
    pn_free(gradient);
    return status;
}

/* Of the distance from the start to the minimiser, where a set or strong convexity says less.  G/L is the margin over
 * which the slope of a loss changes by its bound, and records are seldom aligned with theta.
 * Objective perturbation guesses the same. */
static double guess_distance(const gd_constants *of)
{
    return of->smoothness > 0.0 && isfinite(of->smoothness) ? 4.0 * of->slope / of->smoothness : INFINITY;
}

static double kick_of(double slope, double distance)
{
    return slope == 0.0 ? 0.0 : slope * distance;
}

pn_status gd_read_constants(gd_problem *at, pn_err *err)
{
    const pn_first_order *of = &at->plan->problem;
    const pn_arg *pl = &at->own[GD_PL];
    gd_constants *c = &at->of;
    double regular = 0.0, gap = INFINITY, sum, mu;
    pn_status status;

    PN_TRY(regular_slope(at, &regular, err));
    *c = (gd_constants){ .p = (double)of->p,
                         .smoothness = of->smoothness,
                         .strong_convexity = pl->given ? fmax(pl->real, of->strong_convexity) : of->strong_convexity,
                         .prox_convexity = of->composite.smooth ? 0.0 : of->composite.strong_convexity,
                         .proximal = of->composite.prox != NULL,
                         .slope = of->lipschitz };
    mu = c->strong_convexity;
    at->claimed = mu > of->certified;
    if (pl->given && pl->real > of->strong_convexity)
        c->prox_convexity = 0.0;
    sum = c->slope + regular;
    PN_TRY(reach(of, &at->distance, err));
    if (of->strong_convexity > 0.0) /* not what pl alone says */
        at->distance = fmin(at->distance, sum / of->strong_convexity);
    c->distance = fmin(at->distance, guess_distance(c));
    if (!isfinite(c->distance))
        c->distance = 1.0;
    c->kick = kick_of(regular, at->distance);
    status = pn_first_order_gap(of, !c->proximal || mu == of->strong_convexity ? mu : 0.0, &c->gap, err);
    if (status == PN_OK)
        status = pn_first_order_loss_gap(of, &gap, err);
    c->gap = fmin(c->gap, fmin(sum * at->distance, gap + c->kick));
    at->gap_guessed = !isfinite(c->gap);
    if (at->gap_guessed)
        c->gap = c->slope * c->distance;
    return status;
}

/* ---- noise ---- */

pn_status gd_read_noise(gd_problem *at, pn_err *err)
{
    pn_descent *plan = at->plan;
    const pn_request *request = &plan->base.request;
    const pn_arg *steps = &at->common[PN_OPT_ITERATIONS];

    PN_TRY(pn_gradient_noise_batch(&plan->noise, &plan->base, at->common, &at->own[GD_BATCH], err));
    if (request->kind == PN_NONPRIVATE)
        return PN_OK;
    PN_TRY(pn_gradient_noise_wang(&plan->noise, &plan->base, at->common, 1, &at->own[GD_C], err));
    PN_TRY(pn_gradient_noise_check(&plan->base, at->common, err));
    at->unit = pn_gradient_noise_unit(&plan->noise, &plan->base, steps->given ? steps->count : 0);
    return PN_OK;
}
