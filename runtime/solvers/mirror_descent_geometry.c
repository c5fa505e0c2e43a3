/* mirror_descent_geometry.c -- which potential, and what the risk bound needs to know of it.
 * Depends on: mirror_descent.h, geometry.  Used by: mirror_descent_plan.c.  Spec: geometry.md section 3, mirror-descent.md section 2. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/mirror_descent.h"

static pn_status measure_ball(md_geometry *of, const pn_objective *objective, pn_task *task, pn_err *err)
{
    double slope = pn_objective_bounds(objective)->reg.gradient;
    size_t p = pn_objective_dim(objective);
    pn_set *ball = NULL;
    pn_status status = pn_norm_ball(&ball, of->potential->norm, p, err);

    if (status != PN_OK)
        return status;
    of->R = ball->ops->radius(ball, PN_L2);
    of->regular = pn_objective_regulariser(objective) ? ball->ops->radius(ball, PN_L1) * slope : 0.0;
    status = pn_plan_width(&of->width, ball, task, err);
    pn_set_free(ball);
    of->G2R2 = of->width.high * of->width.high + of->R * of->R; /* high: the bound is to hold */
    return status;
}

/* The range may stay unknown: the step size may still be given. */
static pn_status measure(md_geometry *of, const pn_objective *objective, pn_task *task, pn_err *err)
{
    double range = INFINITY;
    pn_status status = measure_ball(of, objective, task, err);

    if (status == PN_OK)
        status = pn_potential_range(of->potential, pn_objective_set(objective), &range, err);
    if (status == PN_EUNSUPPORTED) {
        status = PN_OK;
        range = INFINITY;
    }
    of->D2 = range / of->potential->strong_convexity;
    return status;
}

size_t md_steps(const md_geometry *of, const md_terms *terms)
{
    double steps;

    if (terms->given)
        return terms->given;
    if (isnan(terms->rho) || !isfinite(terms->lipschitz) || terms->sensitivity == 0.0)
        return terms->most < MD_DEFAULT_STEPS ? terms->most : MD_DEFAULT_STEPS;
    steps = terms->lipschitz * of->R / terms->sensitivity;
    steps = 2.0 * terms->rho * steps * steps / of->G2R2;
    return (size_t)fmin(fmax(ceil(steps), 1.0), (double)terms->most);
}

/* Where gradients are not bounded, what is left to compare by is what noise costs. */
static void predict(md_geometry *of, const md_terms *terms)
{
    double T = (double)md_steps(of, terms);
    double noise = isnan(terms->rho) ? 0.0 : terms->sensitivity * sqrt(T / (2.0 * terms->rho));

    if (isfinite(terms->lipschitz))
        of->risk = (terms->lipschitz * of->R + of->regular + noise * sqrt(of->G2R2)) * sqrt(2.0 * of->D2 / T);
    else
        of->risk = sqrt(of->D2 * of->G2R2);
}

void md_geometry_clear(md_geometry *of)
{
    pn_potential_free(of->potential);
    *of = (md_geometry){ .potential = NULL };
}

static pn_status use_given(md_geometry *of, const pn_objective *objective, pn_potential *given, pn_err *err)
{
    size_t expected = given->lift.data ? given->lift.cols : given->dim;

    of->potential = pn_potential_keep(given);
    if (expected != 0 && expected != pn_objective_dim(objective))
        return pn_fail(err, PN_EDIM, "solve.mirror_descent: the potential has %zu coordinates, the set has %zu",
                       expected, pn_objective_dim(objective));
    return PN_OK;
}

static pn_status euclidean_for(md_geometry *of, const pn_set *set, pn_err *err)
{
    pn_vec center = { pn_alloc(set->dim, sizeof(double)), set->dim };
    pn_arg args[2] = { { .given = true, .vector = center }, { .given = false } };
    pn_status status;

    if (!center.data)
        return pn_fail(err, PN_ENOMEM, "solve.mirror_descent: out of memory");
    set->ops->center(set, center.data);
    status = pn_potential_new(&of->potential, "euclidean", args, err);
    pn_free(center.data);
    of->why = "plain projected gradients";
    return status;
}

/* The fitting potential or the Euclidean one, whichever has the smaller risk bound; the other is told.  Weights on vertices have no
 * start of a user's. */
static pn_status use_better(md_geometry *of, pn_set *set, const pn_objective *objective, const md_terms *terms,
                            bool start_given, pn_task *task, pn_err *err)
{
    md_geometry other = { .potential = NULL };
    bool smaller;
    pn_status status = pn_potential_for_set(&of->potential, set, &of->why, err);

    if (status == PN_OK)
        status = measure(of, objective, task, err);
    if (status != PN_OK || strcmp(of->potential->ops->name, "euclidean") == 0 || !pn_set_can_project(set))
        return status;
    status = euclidean_for(&other, set, err);
    if (status == PN_OK)
        status = measure(&other, objective, task, err);
    if (status == PN_OK) {
        predict(of, terms);
        predict(&other, terms);
        smaller = other.risk < of->risk || (start_given && of->potential->lift.data);
        pn_potential_describe(smaller ? of->potential : other.potential, of->other, sizeof of->other);
        of->other_ratio = smaller ? of->risk / other.risk : other.risk / of->risk;
    }
    if (status == PN_OK && smaller) {
        md_geometry chosen = other;

        (void)snprintf(chosen.other, sizeof chosen.other, "%s", of->other);
        chosen.other_ratio = of->other_ratio;
        other = *of;
        *of = chosen;
    }
    md_geometry_clear(&other);
    return status;
}

pn_status md_geometry_choose(md_geometry *of, pn_objective *objective, const md_terms *terms, const pn_arg *potential,
                             bool start_given, pn_task *task, pn_err *err)
{
    pn_set *set = pn_objective_set(objective);
    pn_status status;

    if (!potential->given)
        return use_better(of, set, objective, terms, start_given, task, err);
    status = use_given(of, objective, (pn_potential *)(size_t)potential->object, err);
    return status == PN_OK ? measure(of, objective, task, err) : status;
}

void md_geometry_explain(const md_geometry *of, pn_plan *plan)
{
    char text[160], norm[96];

    pn_potential_describe(of->potential, text, sizeof text);
    pn_norm_describe(of->potential->norm, norm, sizeof norm);
    pn_plan_add_text(plan, "potential", text, "%s; %.4g-strongly convex in %s", of->why ? of->why : "as given",
                     of->potential->strong_convexity, norm);
    if (of->other_ratio > 0.0)
        pn_plan_add(plan, "gain of geometry", of->other_ratio, "the risk bound with %s over that with this one",
                    of->other);
    pn_plan_add(plan, "radius R of Q", of->R, "l2 radius of the unit ball Q of that norm");
    if (of->width.draws)
        pn_plan_add(plan, "width G of Q", of->width.value, "in [%.6g, %.6g] with confidence %g, %zu draws",
                    of->width.low, of->width.high, of->width.confidence, of->width.draws);
    else
        pn_plan_add(plan, "width G of Q", of->width.value, "E max over Q of <b, v>, %s",
                    pn_width_methods[of->width.method]);
    if (isfinite(of->D2))
        pn_plan_add(plan, "range D2", of->D2, "max - min of the potential over C, over its constant");
    else
        pn_plan_add_text(plan, "range D2", "unknown", "no bound on the potential over the set");
}
