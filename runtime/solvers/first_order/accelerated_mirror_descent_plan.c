/* accelerated_mirror_descent_plan.c -- geometry, smoothness, steps, noise and proven risk of accelerated mirror
 * descent.
 * Depends on: accelerated_mirror_descent.h, geometry.  Used by: accelerated_mirror_descent.c.
 * See mirror-descent.md section 6; the bound: accelerated_mirror_descent_bound.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "oracle/gradient_batch.h"
#include "solvers/engine/work.h"
#include "solvers/first_order/accelerated_mirror_descent.h"

static const char *const potential_class[] = { "pn.potential", NULL };
static const char *const ysteps[] = { "triangle", "printed", NULL };

const pn_param amd_params[] = {
    { "potential", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, potential_class,
      "distance generating function; by default the one that fits the set" },
    PN_STEP_PARAM(
        "scale c of the steps c (k + 2) / (4 L_C); by default 1, or less where noise asks for shorter ones; below 2"),
    { "ystep", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, ysteps,
      "triangle: y = r z + (1 - r) y, in any norm; printed: a projection, in Euclidean norms" },
    PN_PROX_PARAM,
    { "smoothness", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "L of the mean loss in l2, when it is known to be smaller than what is certified: steps and bounds rest on it, "
      "privacy does not" },
    PN_PAPER_C_PARAM,
    PN_BATCH_PARAMS,
    PN_PARAM_END,
};

/* No public rule is right on all problems.  Over the l1 ball Euclidean steps had between 0.4 and 2.8 times the risk of
 * entropy at 25 columns, where noise costs them 1.8 times as much; between 0.5 and 3.3 times at 100 columns and a9a's
 * 123, where it costs 3.1 to 3.3 times as much; 0.8 to 8 times at 400, and 1.5 to 15 times at 1600. */
#define FAVOUR 2.0

typedef struct problem {
    amd_plan *plan;
    pn_objective *objective;
    const pn_set *set;
    const pn_bounds *bounds;
    pn_mirror_geometry geometry;
    amd_terms terms;
    double claimed; /* smoothness, +inf when none */
    bool kinked;    /* a part of r is taken by a proximal step */
    bool is_private, start_given;
    bool known;  /* B is a bound */
    bool pulled; /* strong convexity makes do with fewer steps than the bound favours */
} problem;

/* ---- geometry ---- */

/* L_C */
static double smoothness_in(const pn_mirror_geometry *of, const problem *at)
{
    double F = pn_mirror_geometry_smoothness(of, at->objective, at->claimed, at->plan->first.composite.smoothness);

    if (F > 0.0)
        return F;
    /* A linear objective is smooth with any constant: one whose steps cross the set. */
    F = at->bounds->lipschitz[PN_L2] * of->R / sqrt(2.0 * of->D2);
    return isfinite(F) && F > 0.0 ? F : 1.0;
}

/* Where nothing bounds the distance to the minimum: half the square of 0.3 sqrt(p) G/L, at which the best runs on data
 * sets of many sizes are found; it is what noise lets a method reach when it stops at the right time. */
static double usual_distance(const problem *at, const amd_terms *terms)
{
    double far = PN_NOISE_SHARE * sqrt((double)at->plan->first.p) * at->bounds->lipschitz[PN_L2] / terms->L;

    return 0.5 * far * far;
}

static amd_terms terms_of(const pn_mirror_geometry *of, const problem *at)
{
    amd_terms terms = at->terms;

    terms.L = smoothness_in(of, at);
    terms.B = of->D2;
    terms.K = of->K;
    terms.dual = of->G2R2;
    if (at->start_given && pn_mirror_geometry_euclidean(of))
        terms.B = 0.5 * at->plan->first.diameter * at->plan->first.diameter;
    if (!isfinite(terms.B))
        terms.B = usual_distance(at, &terms);
    return terms;
}

/* With noise by what it costs, else by the bound. */
static double risk_of(const pn_mirror_geometry *of, const void *self)
{
    amd_terms terms = terms_of(of, self);

    if (terms.unit > 0.0)
        return pn_mirror_geometry_cost(of);
    return amd_bound_at(&terms, (double)amd_steps(&terms));
}

/* Why the potential can only be the Euclidean one, or NULL. */
static const char *only_euclidean(const problem *at)
{
    if (at->kinked)
        return "the proximal step of the regulariser is known for this one";
    if (at->plan->printed)
        return "the printed y-step is a projection in this one";
    return at->set && !pn_set_is_bounded(at->set) ? "the set is not bounded" : NULL;
}

static bool l2_norm(const pn_potential *potential)
{
    pn_lp lp;

    return pn_norm_is_lp(potential->norm, &lp) && lp == PN_L2;
}

static pn_status check_geometry(const problem *at, pn_err *err)
{
    const pn_potential *potential = at->plan->space.potential;
    char name[160];

    pn_potential_describe(potential, name, sizeof name);
    if (at->kinked && !at->plan->euclidean)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the regulariser has kinks, and its proximal step is not known in the geometry of %s; leave "
                       "potential out, give potential=pn.potential.euclidean{}, or use a smooth regulariser",
                       name);
    if (at->plan->printed && !l2_norm(potential))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "ystep=\"printed\" is a projection in the norm of the potential, which is known for l2 and "
                       "not for that of %s; ystep=\"triangle\" has no such step and a smaller bound",
                       name);
    if (!at->set && !at->plan->euclidean)
        return pn_fail(err, PN_EINVAL,
                       "the objective has no constraint set, on which %s needs its steps; give set= to "
                       "pn.objective, or leave potential out",
                       name);
    return PN_OK;
}

/* With a potential of another geometry a smooth r goes with the gradient, all of it. */
static void take_by_gradient(problem *at)
{
    pn_composite *composite = &at->plan->first.composite;

    if (at->plan->euclidean || !pn_objective_regulariser(at->objective) || composite->smooth)
        return;
    pn_prox_free(composite->prox);
    composite->prox = NULL;
    composite->smooth = pn_objective_regulariser(at->objective);
    composite->smoothness = at->bounds->reg.smoothness;
    at->plan->first.smoothness += composite->smoothness;
}

static pn_status choose_geometry(problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    amd_plan *plan = at->plan;
    pn_mirror_wish wish = { .plan = &plan->base,
                            .potential = &own[AMD_POTENTIAL],
                            .start = &common[PN_OPT_START],
                            .euclidean = only_euclidean(at),
                            .risk = risk_of,
                            .self = at,
                            .favour = at->terms.unit > 0.0 ? FAVOUR : 1.0 };

    PN_TRY(pn_mirror_geometry_choose(&at->geometry, &plan->space, &wish, err));
    plan->euclidean = pn_mirror_geometry_euclidean(&at->geometry);
    PN_TRY(check_geometry(at, err));
    take_by_gradient(at);
    at->terms = terms_of(&at->geometry, at);
    at->known = at->geometry.rule != PN_RANGE_GUESSED &&
                isfinite(at->start_given && plan->euclidean ? plan->first.diameter : at->geometry.D2);
    plan->smoothness = at->terms.L;
    plan->near = at->geometry.R * at->geometry.R / plan->smoothness;
    return pn_mirror_space_open(&plan->space, &wish, err);
}

/* ---- steps and risk ---- */

/* Why there is no bound on the excess risk, or NULL. */
static const char *no_bound(const problem *at, double bound)
{
    if (at->plan->noise.scheme)
        return PN_BATCH_NO_BOUND;
    if (at->plan->scale.each)
        return PN_SCHEDULE_NO_BOUND;
    if (!at->bounds->convex)
        return at->bounds->source == PN_BOUND_CLIPPED ? "clipped gradients are not those of a convex function"
                                                      : "f is not convex, or not shown to be";
    if (at->start_given && !at->plan->euclidean)
        return "it holds for the potential's own starting point";
    if (!at->known)
        return "nothing bounds the distance to the minimum";
    return isfinite(bound) ? NULL : "the steps are too long";
}

/* ---- explanation ---- */

static void explain_smoothness(problem *at)
{
    pn_plan *plan = &at->plan->base;
    double certified = at->bounds->loss_smoothness;

    pn_plan_add(plan, "smoothness L_C", at->terms.L, "of the objective in that norm%s: at most L R^2",
                at->claimed < certified ? ", as claimed" : ", certified");
    if (at->claimed < certified)
        pn_plan_warn(
            plan, "smoothness %g is claimed, certified is %g: steps and the bound rest on the claim, privacy does not",
            at->claimed, certified);
    if (isfinite(at->terms.B))
        pn_plan_add(plan, "distance B", at->terms.B, "%s; the divergence from the start to the minimum",
                    at->geometry.rule == PN_RANGE_GUESSED ? "D2, a guess, on which steps rest but no bound"
                    : !at->known ? "(0.3 sqrt(p) G/L)^2 / 2, a guess, on which steps rest but no bound"
                    : at->start_given && at->plan->euclidean ? "diameter^2 / 2"
                                                             : "D2");
}

static void explain_steps(problem *at, const pn_arg *common, const pn_arg *own)
{
    pn_plan *plan = &at->plan->base;
    bool given = common[PN_OPT_ITERATIONS].given;
    const char *rule = given        ? "as given"
                       : at->pulled ? "sqrt(8 L t), t = ln(1 + 8 mu gap/(p s^2))/(4 mu): the start is forgotten by then"
                       : plan->iterations == at->terms.most ? "capped: about 4 s of work"
                       : at->terms.unit == 0.0              ? "the default"
                       : at->terms.printed || at->terms.scale > 0.0
                           ? "the least bound with these steps"
                           : "where 4 L_C B / T^2 is a tenth of the noise's part";

    pn_plan_add(plan, "steps T", (double)plan->iterations, "%s", rule);
    pn_plan_add(plan, "gradients", plan->gradients, "T %s, of single records", at->plan->noise.scheme ? "b" : "n");
    pn_schedule_explain(&at->plan->scale, plan, "step scale c", at->plan->scale.eta,
                        "A = c (k + 2) / (4 L_C), r = 2 / (k + 2); %s",
                        own[AMD_STEP].given          ? "as given"
                        : at->plan->scale.eta == 1.0 ? "the article's"
                                                     : "the article's has 1: shorter, so that noise adds up to less");
    pn_plan_add_text(plan, "y-step", ysteps[at->plan->printed], "%s",
                     at->plan->printed ? "a projection of x - h / L_C, with the same noisy h" : "r z + (1 - r) y");
    pn_first_order_check_step(plan, at->plan->scale.eta, 2.0, "where steps are as long as the smoothness allows");
}

static void explain_other(problem *at, const char *name, double T)
{
    if (T >= 1.0)
        pn_plan_add(&at->plan->base, name, amd_bound_at(&at->terms, T), "the bound, with sigma %.4g and %.4g gradients",
                    at->terms.unit * sqrt(T), T * at->plan->first.n);
}

static void explain_bound(problem *at)
{
    pn_plan *plan = &at->plan->base;
    double T = (double)plan->iterations, bias = INFINITY, noise = INFINITY;
    double bound =
        amd_bound(&at->terms, T, pn_gradient_noise_deviation(&at->plan->noise), at->plan->scale.eta, &bias, &noise);
    const char *none = no_bound(at, bound);

    pn_mirror_space_ask(&at->plan->space, &at->geometry, bound, at->bounds->lipschitz[PN_L2] * at->geometry.R,
                        plan->iterations);
    plan->predicted = isfinite(bound) && !at->plan->scale.each ? bound : 0.0;
    if (!pn_plan_bounds(plan, bound, none, "expected over the noise: the sum of the two next"))
        return;
    pn_plan_add(plan, "  of the method", bias, "8 L_C B / (c (T + 1)^2)");
    pn_plan_add(plan, "  of the noise", noise, "sum of (k + 2)^2 / (T + 1)^2 x sigma^2 K / (2 L_C (2/c - 1))%s",
                at->plan->printed ? ", and with G^2 + R^2 for K and 1 for 2/c - 1" : "");
    explain_other(at, "with T/2", floor(T / 2.0));
    explain_other(at, "with 2 T", 2.0 * T);
}

/* ---- the plan ---- */

static pn_status read_problem(problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    amd_plan *plan = at->plan;
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);

    PN_TRY(pn_first_order_read(&plan->first, plan->base.owner, at->objective, &common[PN_OPT_START], &own[AMD_PROX],
                               NULL, err));
    at->start_given = common[PN_OPT_START].given;
    at->claimed = own[AMD_SMOOTHNESS].given ? own[AMD_SMOOTHNESS].real : INFINITY;
    at->kinked = own[AMD_PROX].given || (reg && !isfinite(at->bounds->reg.smoothness));
    plan->printed = strcmp(own[AMD_YSTEP].text, "printed") == 0;
    plan->base.iterations = common[PN_OPT_ITERATIONS].given ? common[PN_OPT_ITERATIONS].count : 0;
    PN_TRY(pn_schedule_read(&plan->scale, &plan->base, &amd_params[AMD_STEP], &own[AMD_STEP], err));
    if (!(at->bounds->loss.smooth && isfinite(at->claimed)))
        PN_TRY(pn_first_order_need_smooth(&plan->first, err));
    PN_TRY(pn_gradient_noise_batch(&plan->noise, &plan->base, common, &own[AMD_BATCH], err));
    at->is_private = plan->base.request.kind != PN_NONPRIVATE;
    at->terms = (amd_terms){
        .unit = pn_gradient_noise_unit(&plan->noise, &plan->base, plan->base.iterations),
        .scale = pn_step_number(&plan->scale, &own[AMD_STEP]),
        .printed = plan->printed,
        .given = plan->base.iterations,
        .most = pn_planned_steps_max(at->objective, &plan->noise),
    };
    return PN_OK;
}

/* What the bound favours; with strong convexity no more than it takes to forget the start down to the noise, a time t
 * that T steps make as T^2/(8 L). */
static pn_status choose_steps(problem *at, pn_err *err)
{
    const pn_first_order *first = &at->plan->first;
    pn_noise_time time = { .scale = INFINITY,
                           .slope = first->lipschitz,
                           .distance = INFINITY,
                           .strong_convexity = first->strong_convexity,
                           .p = (double)first->p,
                           .unit = at->terms.unit };
    size_t *steps = &at->plan->base.iterations;
    pn_status status = pn_first_order_gap(first, first->strong_convexity, &time.gap, err);
    amd_terms unlimited; /* as if work were no limit */
    double enough = INFINITY;

    *steps = amd_steps(&at->terms);
    if (at->plan->noise.scheme && !at->terms.given) {
        time.unit = at->terms.unit = pn_gradient_noise_unit(&at->plan->noise, &at->plan->base, *steps);
        *steps = amd_steps(&at->terms);
    }
    if (status != PN_OK)
        return status;
    if (!at->terms.given && at->terms.unit > 0.0 && time.strong_convexity > 0.0)
        enough = fmax(4.0, ceil(sqrt(8.0 * first->smoothness * pn_time_of_noise(&time))));
    if ((double)*steps > enough) {
        *steps = (size_t)enough;
        at->pulled = true;
    }
    unlimited = at->terms;
    unlimited.most = (size_t)1 << 53;
    pn_plan_work(&at->plan->base, pn_planned_seconds(at->objective, &at->plan->noise),
                 fmin((double)amd_steps(&unlimited), enough));
    return PN_OK;
}

pn_status amd_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    amd_plan *plan = (amd_plan *)base;
    problem *at = &(problem){ .plan = plan,
                              .objective = base->objective,
                              .set = pn_objective_set(base->objective),
                              .bounds = pn_objective_bounds(base->objective) };

    PN_TRY(read_problem(at, common, own, err));
    PN_TRY(choose_geometry(at, common, own, err));
    PN_TRY(choose_steps(at, err));
    pn_first_order_explain(&plan->first, base);
    pn_mirror_geometry_explain(&at->geometry, base);
    explain_smoothness(at);
    PN_TRY(pn_gradient_noise_wang(&plan->noise, base, common, base->iterations, &own[AMD_C], err));
    PN_TRY(pn_gradient_noise_attach(base, &plan->noise, common, err));
    if (at->is_private)
        at->terms.unit = pn_gradient_noise_deviation(&plan->noise) / sqrt((double)base->iterations);
    plan->scale.eta = amd_scale(&at->terms, (double)base->iterations, pn_gradient_noise_deviation(&plan->noise));
    if (!(plan->scale.eta > 0.0)) /* a set of one point: any step will do */
        plan->scale.eta = 1.0;
    PN_TRY(pn_schedule_read(&plan->scale, base, &amd_params[AMD_STEP], &own[AMD_STEP], err));
    pn_plan_set(base, "iterations", (double)base->iterations, true);
    if (!plan->scale.each)
        pn_plan_set(base, "step", plan->scale.eta, false);
    explain_steps(at, common, own);
    explain_bound(at);
    return PN_OK;
}
