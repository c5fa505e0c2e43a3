/* objective_bounds.c -- what is certified of an objective.
 * One chain: |<x, theta>| <= radius of the set in a norm times the record bound in the dual norm gives the margin
 * interval; the loss's expression over that interval and the labels gives slope, curvature and third derivative; their
 * products with the record bounds give Lipschitz constants, smoothness,
 * the Frank-Wolfe curvature and the Lipschitz constant of the Hessian.  A further parameter of the loss is bounded by
 * the set alone, and its slope enters a gradient as it is, as that of a margin whose feature is 1.
 * Depends on: objective_impl.h.  Used by: objective.c.  See frank-wolfe.md section 1, second-order.md section 9. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "objective/passes/objective_impl.h"

const char *const pn_bound_source_names[] = { "none", "certified", "clipped", "declared", NULL };

/* min over norms of size(norm) * record bound in the dual norm; +inf when no record bound is enforced.  For K margins
 * it bounds the l2 norm of (<x, theta_1>, ..., <x, theta_K>): rows of a matrix share its l1 and l2 norm,
 * not its largest entry. */
static double dual_product(const pn_objective *objective, double (*size)(const pn_set *, pn_lp), double margins)
{
    double best = INFINITY;

    if (!objective->set)
        return INFINITY;
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double record = objective->data->bounds.norm[pn_lp_dual((pn_lp)norm)];
        double rows = norm == PN_LINF ? sqrt(margins) : 1.0;

        if (pn_is_enforced(record))
            best = fmin(best, size(objective->set, (pn_lp)norm) * record * rows);
    }
    return best * PN_OUTWARD;
}

static void unknown(pn_bounds *bounds)
{
    const pn_interval all = { -INFINITY, INFINITY };

    memset(bounds, 0, sizeof *bounds);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        bounds->lipschitz[norm] = bounds->loss.slope_norm[norm] = bounds->loss.extra_norm[norm] = INFINITY;
    bounds->lipschitz_set = bounds->slope = bounds->smoothness = bounds->loss_smoothness = bounds->curvature =
        bounds->hessian_lipschitz = INFINITY;
    bounds->strong_convexity = -INFINITY;
    bounds->loss.curvature_norm = INFINITY;
    bounds->margin = bounds->loss.value = bounds->loss.slope = bounds->loss.curvature = bounds->loss.third = all;
}

static void missing(pn_bounds *bounds, const char *text)
{
    (void)snprintf(bounds->missing, sizeof bounds->missing, "%.*s", (int)sizeof bounds->missing - 1, text);
}

/* As pn_loss_certify, further parameters in `extra`. */
static pn_status certify_at(const pn_objective *objective, pn_interval margin, const pn_interval *extra,
                            pn_interval labels, pn_loss_bounds *out, pn_interval *slopes, pn_err *err)
{
    pn_loss *loss = objective->loss;
    pn_interval *inputs;
    pn_status status;

    if (!loss->ops->enclose)
        return pn_loss_certify(loss, margin, labels, out, err);
    PN_TRY(pn_new(&inputs, pn_loss_inputs(loss), err, "objective: out of memory"));
    for (size_t k = 0; k < pn_loss_inputs(loss); k++)
        inputs[k] = k < loss->margins ? margin : extra[k - loss->margins];
    status = loss->ops->enclose(loss, inputs, labels, out, slopes, err);
    pn_free(inputs);
    return status;
}

/* The largest norm in `dual` of what a record adds to a gradient, z the norm of its slopes in the margins and u that in
 * further parameters. */
static double gradient_norm(pn_lp dual, double z, double record, double u)
{
    double rows = z == 0.0 ? 0.0 : z * record;

    return dual == PN_L1 ? rows + u : dual == PN_L2 && u > 0.0 ? hypot(rows, u) : fmax(rows, u);
}

/* Whether the slope would be bounded if only the labels were. */
static bool labels_to_blame(const pn_objective *objective, pn_interval margin, const pn_interval *extra)
{
    const pn_interval some = { -1.0, 1.0 };
    pn_interval slopes[PN_JOINT_INPUTS_MAX];
    pn_loss_bounds bounds;

    return objective->loss->labels.kind == PN_LABELS_REAL && !pn_is_enforced(objective->data->bounds.label_high) &&
           certify_at(objective, margin, extra, some, &bounds, slopes, NULL) == PN_OK &&
           isfinite(bounds.slope_norm[PN_LINF]) && isfinite(bounds.extra_norm[PN_LINF]);
}

static bool has_record_bound(const pn_objective *objective)
{
    bool found = false;

    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        found = found || pn_is_enforced(objective->data->bounds.norm[norm]);
    return found;
}

static pn_interval enforced_labels(const pn_record_bounds *records)
{
    if (!pn_is_enforced(records->label_high) || !pn_is_enforced(-records->label_low))
        return (pn_interval){ -INFINITY, INFINITY };
    return (pn_interval){ records->label_low, records->label_high };
}

pn_status pn_objective_gradient_at_zero(double *out, const pn_objective *objective, pn_err *err)
{
    const pn_record_bounds *records = &objective->data->bounds;
    const pn_interval zero = { 0.0, 0.0 }, extra[PN_JOINT_INPUTS_MAX] = { { 0.0, 0.0 } };
    pn_interval slopes[PN_JOINT_INPUTS_MAX];
    pn_loss_bounds bounds;
    pn_status status;

    *out = INFINITY;
    if (!pn_is_enforced(records->norm[PN_L2]))
        return PN_OK;
    status = certify_at(objective, zero, extra, enforced_labels(records), &bounds, slopes, err);
    if (status == PN_OK)
        *out = gradient_norm(PN_L2, bounds.slope_norm[PN_L2], records->norm[PN_L2], bounds.extra_norm[PN_L2]);
    return status == PN_ENOMEM ? status : PN_OK;
}

static void explain_no_set(const pn_objective *objective, pn_bounds *bounds)
{
    double clip;
    char text[sizeof bounds->missing];

    (void)pn_objective_gradient_at_zero(&clip, objective, NULL);
    (void)snprintf(
        text, sizeof text,
        clip > 0.0 && isfinite(clip)
            ? "the objective has no constraint set, and nothing else bounds slopes: give it clip=%.3g, which is what a "
              "record's gradient can be at theta = 0; a set= would do, but models do not fit in a small one, and the "
              "noise grows with a large one"
            : "the objective has no constraint set, and nothing else bounds slopes: give it clip=%.3g, say; a set= "
              "would do, but models do not fit in a small one, and the noise grows with a large one",
        clip > 0.0 && isfinite(clip) ? clip : 1.0);
    missing(bounds, text);
}

/* The loss has a slope that nothing bounds: say which of margin, labels and formula is to blame. */
static void explain_slope(const pn_objective *objective, const pn_interval *extra, pn_bounds *bounds)
{
    char text[sizeof bounds->missing];

    if (!objective->set && isinf(bounds->margin.high))
        explain_no_set(objective, bounds);
    else if (isinf(bounds->margin.high) && !has_record_bound(objective))
        missing(bounds, "no bound on the records is enforced: " PN_HOW_TO_BOUND_ROWS);
    else if (isinf(bounds->margin.high))
        missing(bounds, "the constraint set is unbounded: give a bounded one, or clip= to the objective");
    else if (labels_to_blame(objective, bounds->margin, extra))
        missing(bounds,
                objective->loss->row == objective->loss->ops
                    ? "no bound on the labels is enforced: list them in the loss, labels={-1, 1}, or clip them first, "
                      "e.g. data:clip_labels(-1, 1)"
                    : "no bound on the labels is enforced: clip them first, e.g. data:clip_labels(-1, 1)");
    else {
        (void)snprintf(text, sizeof text, "%.200s; or give clip= to the objective", bounds->loss.missing);
        missing(bounds, text);
    }
}

static void derive_lipschitz(const pn_objective *objective, const pn_interval *extra, pn_bounds *bounds)
{
    const pn_record_bounds *records = &objective->data->bounds;

    bounds->slope = fmax(bounds->loss.slope_norm[PN_LINF], bounds->loss.extra_norm[PN_LINF]);
    if (!isfinite(bounds->slope)) {
        explain_slope(objective, extra, bounds);
        return;
    }
    if (!has_record_bound(objective)) {
        missing(bounds, "no bound on the records is enforced: " PN_HOW_TO_BOUND_ROWS);
        return;
    }
    bounds->source = PN_BOUND_CERTIFIED;
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        pn_lp dual = pn_lp_dual((pn_lp)norm);

        if (pn_is_enforced(records->norm[dual]))
            bounds->lipschitz[norm] =
                gradient_norm(dual, bounds->loss.slope_norm[dual], records->norm[dual], bounds->loss.extra_norm[dual]) *
                PN_OUTWARD;
    }
}

/* Clipping bounds the l2 norm of each record's gradient, hence its linf norm, and its l1 norm up to sqrt(dim).
 * It projects each record's gradient onto a ball, which moves no two further apart: smoothness stays.  With one margin
 * it clamps the slope, so that what was monotone stays so; with several the result need not be a gradient of anything,
 * and what is left is that it changes no faster than its smoothness. */
static void derive_clipped(const pn_objective *objective, pn_bounds *bounds)
{
    bounds->source = PN_BOUND_CLIPPED;
    bounds->missing[0] = '\0';
    bounds->lipschitz[PN_L1] = fmin(bounds->lipschitz[PN_L1], objective->clip);
    bounds->lipschitz[PN_L2] = fmin(bounds->lipschitz[PN_L2], objective->clip);
    bounds->lipschitz[PN_LINF] =
        fmin(bounds->lipschitz[PN_LINF], sqrt((double)objective->dim) * objective->clip * PN_OUTWARD);
    bounds->hessian_lipschitz = INFINITY;
    if (pn_loss_inputs(objective->loss) == 1)
        return;
    bounds->convex = false;
    bounds->strong_convexity = bounds->reg.strong_convexity - bounds->smoothness;
}

/* Second and third derivatives, of loss and regulariser together.  Inputs are linear in theta, by a map whose largest
 * stretch is that of a record, or 1 where further parameters have more. */
static void derive_curvature(const pn_objective *objective, pn_bounds *bounds)
{
    double l2 = objective->data->bounds.norm[PN_L2], squared = pn_is_enforced(l2) ? l2 * l2 * PN_OUTWARD : INFINITY;
    double across = dual_product(objective, objective->set ? objective->set->ops->diameter : NULL,
                                 (double)objective->loss->margins);
    bool further = objective->loss->extra > 0;
    double apart = objective->set ? objective->set->ops->diameter(objective->set, PN_L2) : INFINITY;
    double upper = bounds->loss.smooth ? fmax(bounds->loss.curvature.high, 0.0) : INFINITY;
    double lower = bounds->loss.convex ? 0.0 : bounds->loss.smooth ? fmin(bounds->loss.curvature.low, 0.0) : -INFINITY;
    double third = bounds->loss.twice_smooth ? pn_interval_magnitude(bounds->loss.third) : INFINITY;
    const pn_regulariser_bounds *reg = &bounds->reg;

    if (further) {
        squared = fmax(squared, 1.0);
        across = hypot(across, apart) * PN_OUTWARD;
    }
    bounds->convex = bounds->loss.convex && (reg->convex || reg->strong_convexity >= 0.0);
    bounds->loss_smoothness = upper == 0.0 && lower == 0.0 ? 0.0 : fmax(upper, -lower) * squared;
    bounds->smoothness = bounds->loss_smoothness + reg->smoothness;
    bounds->strong_convexity = (lower == 0.0 ? 0.0 : lower * squared) + reg->strong_convexity;
    bounds->curvature = upper == 0.0 || across == 0.0 ? 0.0 : upper * across * across * PN_OUTWARD;
    if (reg->largest_curvature > 0.0 && apart > 0.0) /* a set of one point has none */
        bounds->curvature += reg->largest_curvature * apart * apart * PN_OUTWARD;
    bounds->hessian_lipschitz =
        (third == 0.0 ? 0.0 : third * squared * (isfinite(squared) ? l2 : 1.0) * PN_OUTWARD) + reg->hessian_lipschitz;
}

/* Whether a failure is about the mathematics, which a plan can tell of, or about this run of the program. */
static bool says_unbounded(pn_status status)
{
    return status != PN_ENOMEM && !pn_is_stop(status);
}

/* A regulariser that cannot be bounded leaves the rest alone: it is public. */
static pn_status derive_regulariser(const pn_objective *objective, pn_bounds *bounds, pn_err *err)
{
    double far = objective->set ? objective->set->ops->radius(objective->set, PN_LINF) : INFINITY;
    pn_status status;
    pn_err why;

    memset(&bounds->reg, 0, sizeof bounds->reg);
    bounds->reg.convex = true;
    if (!objective->reg)
        return PN_OK;
    status = pn_regulariser_certify(objective->reg, (pn_interval){ -far, far }, &bounds->reg, &why);
    if (status == PN_OK)
        return PN_OK;
    if (!says_unbounded(status))
        return pn_fail(err, status, "%s", why.message);
    bounds->reg = (pn_regulariser_bounds){ INFINITY, INFINITY, INFINITY, -INFINITY, INFINITY, false, "" };
    (void)snprintf(bounds->reg.missing, sizeof bounds->reg.missing, "%.*s", (int)sizeof bounds->reg.missing - 1,
                   why.message);
    return PN_OK;
}

static void derive_black_box(const pn_objective *objective, pn_bounds *bounds)
{
    void *self;
    double lipschitz;

    (void)pn_loss_record(objective->loss, &self, &lipschitz);
    if (lipschitz == 0.0) {
        missing(bounds, "nothing is known of a black box: declare lipschitz=, and use a solver that needs values only");
        return;
    }
    missing(bounds, "a black box has values and no gradients: use a solver that needs values only");
    bounds->source = PN_BOUND_DECLARED;
    bounds->lipschitz[PN_L2] = lipschitz;
}

/* The range of coordinate `at` of theta: by the set's support where that is known and no host is called, else by its
 * largest entries.  g[dim] is zero, and is left so.  A point may lie outside of its set by roundings (PN_ASIDE). */
static pn_interval coordinate(const pn_objective *objective, size_t at, double *g)
{
    const pn_set *set = objective->set;
    double far = set ? set->ops->radius(set, PN_LINF) : INFINITY, ends[2] = { far, far };

    for (int side = 0; set && set->ops->support && !set->ops->single_thread && side < 2; side++) {
        double most;

        g[at] = side ? -1.0 : 1.0;
        if (set->ops->support(set, g, NULL, &most, NULL) == PN_OK)
            ends[side] = fmin(far, most + pn_set_shortfall(set));
        g[at] = 0.0;
    }
    far = isfinite(far) ? 1e-12 * far : 0.0;
    return pn_interval_hull((pn_interval){ -ends[1] - far, -ends[1] - far },
                            (pn_interval){ ends[0] + far, ends[0] + far });
}

/* extra[] of further parameters, and room for objective->slopes. */
static pn_status find_coordinates(pn_objective *objective, pn_interval *extra, pn_err *err)
{
    const pn_loss *loss = objective->loss;
    double *g;

    if (!loss->ops->enclose)
        return PN_OK;
    PN_TRY(pn_new(&objective->slopes, pn_loss_inputs(loss), err, "objective: out of memory"));
    for (size_t k = 0; k < pn_loss_inputs(loss); k++)
        objective->slopes[k] = (pn_interval){ -INFINITY, INFINITY };
    PN_TRY(pn_new_zeroed(&g, objective->dim, err, "objective: out of memory for %zu entries", objective->dim));
    for (size_t k = 0; k < loss->extra; k++)
        extra[k] = coordinate(objective, objective->dim - loss->extra + k, g);
    pn_free(g);
    return PN_OK;
}

static pn_status derive_loss(pn_objective *objective, pn_bounds *bounds, pn_err *err)
{
    /* A computed inner product is off by p roundings of at most the margin itself. */
    double margin = dual_product(objective, objective->set ? objective->set->ops->radius : NULL, 1.0) *
                    (1.0 + ((double)objective->data->p + 4.0) * 0x1p-53);
    const pn_interval reached = { -margin, margin };
    pn_interval extra[PN_JOINT_INPUTS_MAX];
    pn_regulariser_bounds reg = bounds->reg;
    pn_status status;
    pn_err why;

    PN_TRY(find_coordinates(objective, extra, err));
    status = certify_at(objective, reached, extra, enforced_labels(&objective->data->bounds), &bounds->loss,
                        objective->slopes, &why);
    if (!says_unbounded(status))
        return pn_fail(err, status, "%s", why.message);
    if (status != PN_OK) {
        unknown(bounds);
        bounds->reg = reg;
        missing(bounds, strncmp(why.message, "bound: ", 7) == 0 ? why.message + 7 : why.message);
        memcpy(bounds->loss.missing, bounds->missing, sizeof bounds->loss.missing); /* what clipping does not mend */
    }
    bounds->margin = reached;
    if (status == PN_OK) {
        derive_lipschitz(objective, extra, bounds);
        derive_curvature(objective, bounds);
    }
    return PN_OK;
}

pn_status pn_objective_undefined(const pn_objective *objective, const char *owner, pn_err *err)
{
    const pn_bounds *bounds = &objective->bounds;
    const char *why = bounds->source == PN_BOUND_NONE ? bounds->missing : bounds->loss.missing;

    return pn_fail(err, PN_EDOMAIN, "%s: the objective is NaN at this point%s%s", owner, why[0] ? ": " : "", why);
}

/* In the norm whose unit ball is the set: by the best of the norms that are known.
 * Outward: a radius is an upper bound. */
static void derive_own_norm(const pn_objective *objective, pn_bounds *bounds)
{
    for (int norm = 0; objective->set && norm < PN_LP_COUNT; norm++) {
        if (isfinite(bounds->lipschitz[norm]))
            bounds->lipschitz_set =
                fmin(bounds->lipschitz_set,
                     objective->set->ops->radius(objective->set, (pn_lp)norm) * bounds->lipschitz[norm] * PN_OUTWARD);
    }
}

pn_status pn_objective_derive_bounds(pn_objective *objective, pn_err *err)
{
    pn_bounds *bounds = &objective->bounds;

    unknown(bounds);
    PN_TRY(derive_regulariser(objective, bounds, err));
    if (objective->loss->margins == 0) {
        derive_black_box(objective, bounds);
        return PN_OK;
    }
    PN_TRY(derive_loss(objective, bounds, err));
    if (objective->clip > 0.0)
        derive_clipped(objective, bounds);
    derive_own_norm(objective, bounds);
    bounds->certified = bounds->source != PN_BOUND_NONE;
    return PN_OK;
}

/* ---- reach ---- */

/* The largest l2 norm of the margins that the centre gives: as dual_product, of that one point. */
static pn_status start_margin(const pn_objective *objective, double *out, pn_err *err)
{
    const pn_record_bounds *records = &objective->data->bounds;
    double *center, rows = sqrt((double)objective->loss->margins);

    *out = 0.0; /* without a set the start is 0 */
    if (!objective->set)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&center, objective->dim, err, "objective: out of memory for %zu entries", objective->dim));
    objective->set->ops->center(objective->set, center);
    *out = INFINITY;
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        double size = pn_lp_norm((pn_lp)norm, objective->dim, center), record = records->norm[pn_lp_dual((pn_lp)norm)];

        if (size == 0.0)
            *out = 0.0;
        else if (pn_is_enforced(record))
            *out = fmin(*out, size * record * (norm == PN_LINF ? rows : 1.0) * PN_OUTWARD);
    }
    pn_free(center);
    return PN_OK;
}

static pn_status find_reach(pn_objective *objective, pn_err *err)
{
    const pn_bounds *bounds = &objective->bounds;
    pn_loss *loss = objective->loss;
    double norm = dual_product(objective, objective->set ? objective->set->ops->radius : NULL, (double)loss->margins);
    double start, fall = INFINITY, most = bounds->loss.value.high - bounds->loss.value.low;
    pn_status status;

    PN_TRY(start_margin(objective, &start, err));
    if (loss->ops->fall) {
        status = loss->ops->fall(loss, bounds->margin.high, fmax(norm, bounds->margin.high),
                                 enforced_labels(&objective->data->bounds), &fall, err);
        if (status != PN_OK && !says_unbounded(status))
            return status;
    }
    if (start > 0.0)
        fall += bounds->loss.continuous ? bounds->loss.slope_norm[PN_L2] * start * PN_OUTWARD : INFINITY;
    objective->reach = fmin(fall, isnan(most) ? INFINITY : most);
    return PN_OK;
}

pn_status pn_objective_reach(pn_objective *objective, double *reach, pn_err *err)
{
    if (isnan(objective->reach))
        PN_TRY(find_reach(objective, err));
    *reach = objective->reach;
    return PN_OK;
}
