/* frank_wolfe_kept.c -- plans of frank_wolfe whose gradient is kept from step to step instead of computed anew.
 * Depends on: frank_wolfe.h, objective/passes/gradient_path.h.  Used by: frank_wolfe_plan.c,
 * frank_wolfe_choices.c.
 *
 * Slopes that are tangents are off by at most e = max |l'''| kappa^2/2 (slope_lines.h), and every score <v, gradient>
 * by r xmax e, r what the entries of a vertex add up to.  The vertex that is chosen by such scores is worse by at most
 * twice that than one chosen by the scores themselves, at every step, and so is the end: h' <= (1 - mu) h +
 * mu (noise + 2 r xmax e) + mu^2 Gamma/2 keeps a constant summand as it is.
 * Stale slopes are off by what their records' margins went since, which nothing bounds. */
#include <math.h>

#include "solvers/frank_wolfe/frank_wolfe.h"

const char *const fw_gradients[] = { "exact", "linearised", "stale", NULL };

/* Of a pass over all records, what a step takes where popular features are chosen (tests/bench/README.md: of 200,000
 * records of 75 entries; of 20,000 a tenth of it).  A candidate costs what its share in a level that is made anew now
 * and then does.  The look at the records before the first step took 2 to 23 passes, as passes are estimated. */
static const double parts[] = { [PN_PATH_SQUARED] = 0.3, [PN_PATH_LINEARISED] = 0.7, [PN_PATH_STALE] = 0.6 };
#define RELEVEL_SECONDS 2e-10
#define FIRST_PASSES    10.0

static double lag_of(const fw_problem *at, const pn_path_options *along)
{
    const pn_interval *third = &at->bounds->loss.third;
    double off = fmax(-third->low, third->high) * at->kappa * at->kappa / 2.0;

    return isfinite(off) ? 2.0 * along->radius * along->data->bounds.norm[PN_LINF] * off : INFINITY;
}

void fw_explain_lag(pn_plan *plan, const fw_problem *at)
{
    if (at->lag > 0.0 && isfinite(at->lag))
        pn_plan_add(plan, "risk of tangents", at->lag, "2 r xmax max |l'''| kappa^2/2");
}

/* Why it is not kept; NULL and at->slopes where it is. */
static const char *try_slopes(fw_problem *at, pn_path_options *along, const pn_question *vertex, size_t asked)
{
    const char *missing;

    if (!fw_is_standard(at))
        return "the standard step";
    at->slopes = asked == 2 ? PN_PATH_STALE : PN_PATH_SQUARED;
    missing = pn_question_vertex_path(along, vertex, at->start, 1, at->slopes, at->kappa);
    if (missing && asked == 1) { /* of the squared loss the tangent is the slope */
        at->slopes = PN_PATH_LINEARISED;
        missing = pn_question_vertex_path(along, vertex, at->start, 1, at->slopes, at->kappa);
    }
    return missing;
}

pn_status fw_read_kept(fw_problem *at, const pn_question *vertex, const pn_arg *own, pn_err *err)
{
    size_t asked = own[FW_GRADIENT].count;
    pn_path_options along;
    const char *missing;

    if (own[FW_KAPPA].given && asked != 1)
        return pn_fail(err, PN_EINVAL, "kappa is for gradient=\"linearised\"; leave it out");
    at->kappa = own[FW_KAPPA].real;
    missing = try_slopes(at, &along, vertex, asked);
    if (missing && asked)
        return pn_fail(err, PN_EUNSUPPORTED, "gradient=\"%s\" needs %s; else leave gradient out", fw_gradients[asked],
                       missing);
    at->asked = asked != 0;
    if (missing || (vertex->dim <= FW_FEW && !asked)) {
        at->passes = true;
        return PN_OK;
    }
    at->kept_seconds = parts[at->slopes] * at->seconds + RELEVEL_SECONDS * at->k;
    at->first_seconds = FIRST_PASSES * at->seconds;
    if (at->slopes != PN_PATH_SQUARED)
        at->lag = at->slopes == PN_PATH_STALE ? INFINITY : lag_of(at, &along);
    return PN_OK;
}

bool fw_keeps(const fw_problem *at, const pn_question *vertex, pn_selection law, size_t steps)
{
    pn_question with = *vertex;
    pn_path_options unused;

    with.selection.law = law;
    return pn_question_vertex_path(&unused, &with, at->start, steps, at->slopes, at->kappa) == NULL;
}

pn_status fw_keep(fw_plan *plan, const fw_problem *at, pn_question *vertex, size_t steps, bool *kept, pn_err *err)
{
    pn_path_options along;
    const char *missing;

    *kept = false;
    if (at->passes)
        return PN_OK;
    missing = pn_question_vertex_path(&along, vertex, at->start, steps, at->slopes, at->kappa);
    if (missing && at->asked)
        return pn_fail(err, PN_EUNSUPPORTED, "gradient=\"%s\" needs %s; this plan has %zu steps with selection=\"%s\"",
                       at->slopes == PN_PATH_STALE ? "stale" : "linearised", missing, steps,
                       pn_selection_names[vertex->selection.law]);
    if (missing)
        return PN_OK;
    *kept = true;
    pn_question_vertex_along(vertex, &along);
    if (at->slopes == PN_PATH_SQUARED)
        pn_plan_add_text(&plan->base, "gradient", "whole numbers",
                         "kept along the way: a step looks at the records that have %s",
                         vertex->coordinates->count == 1 ? "the vertex's feature" : "a feature of the vertex");
    else if (at->slopes == PN_PATH_STALE)
        pn_plan_add_text(&plan->base, "gradient", "stale",
                         "a record's slope is renewed when the vertex has one of its features; for comparison only");
    else
        pn_plan_add_text(&plan->base, "gradient", "linearised",
                         "slopes are tangents; each is renewed before its margin has moved by %.3g", at->kappa);
    return PN_OK;
}
