/* hessian_bounds.c -- what a record can move of the sum of Hessians, how far a computed sum is from the exact one, and
 * whether there is a Hessian at all.
 * Depends on: hessian_impl.h, second_order.h.  Used by: second_order.h's callers, hessian.c.
 * See second-order.md sections 1 and 9. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "objective/passes/hessian_impl.h"
#include "objective/passes/second_order.h"

/* No product of parts of a record's Hessian is then lost below the range of doubles: where bounds are smaller,
 * this stands for them. */
#define LEAST           0x1p-900
#define MARGINS_OUTWARD (1.0 + 1e-10) /* of at most 1024 margins: the rounding of their sum of squares */

size_t pn_hessian_size(size_t dim)
{
    return dim < (size_t)1 << 31 ? dim * (dim + 1) / 2 : 0;
}

/* Of a loss that is continuous what is missing first may be a bound on its values,
 * which no Hessian needs: its kink is the reason. */
static pn_status is_rough(const pn_objective *objective, pn_err *err)
{
    const char *why = objective->bounds.loss.missing;

    if (!objective->bounds.loss.continuous && (!why[0] || strncmp(why, "value: ", 7) == 0))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "objective: %s is not known to be continuous, let alone to have second derivatives%s%s",
                       objective->loss->name, why[0] ? "; " : "", why);
    if (!objective->bounds.loss.continuous)
        return pn_fail(err, PN_EUNSUPPORTED, "objective: %s is not known to have second derivatives: %s",
                       objective->loss->name, why);
    return pn_fail(
        err, PN_EUNSUPPORTED,
        "objective: %s has no second derivative everywhere, since its slope jumps; use a smooth loss, such as "
        "logistic, smooth_hinge or huber",
        objective->loss->name);
}

pn_status pn_need_hessian(const pn_objective *objective, pn_err *err)
{
    const pn_loss *loss = objective->loss;

    if (loss->margins == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "objective: a black box has values, but no Hessian; write the loss as a formula of the margin "
                       "and the label");
    if (loss->extra > 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "objective: the Hessian of %s, a loss with %zu further parameters, is not formed; products with "
                       "it are: obj:hvp(theta, v)",
                       loss->name, loss->extra);
    if (!loss->ops->curve || !objective->bounds.loss.smooth)
        return is_rough(objective, err);
    if (objective->clip > 0.0 && loss->margins > 1)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "objective: gradients of %s, a loss of %zu margins, have no Hessian when they are clipped to norm %g: "
            "leave out clip=, which records of bounded norm allow",
            loss->name, loss->margins, objective->clip);
    if (objective->clip > 0.0 && !objective->bounds.loss.convex)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "objective: gradients clipped to norm %g have a Hessian for convex losses; %s is not known to "
                       "be convex: leave out clip=, which a bounded constraint set or a loss of bounded slope allows",
                       objective->clip, loss->name);
    return PN_OK;
}

/* ---- what a record moves ---- */

static double kept_up(double bound)
{
    return bound > 0.0 && bound < LEAST ? LEAST : bound;
}

static pn_status check_bounded(const pn_objective *objective, pn_err *err)
{
    const pn_bounds *bounds = &objective->bounds;

    if (!pn_is_enforced(objective->data->bounds.norm[PN_L2]))
        return pn_fail(err, PN_EPRIVACY,
                       "objective: no bound on the records' l2 norm is enforced, so nothing bounds what one adds to a "
                       "Hessian: " PN_HOW_TO_BOUND_ROWS);
    if (!isfinite(bounds->loss.curvature.low) || !isfinite(bounds->loss.curvature.high) ||
        !isfinite(bounds->loss.curvature_norm))
        return pn_fail(err, PN_EPRIVACY, "objective: nothing bounds the second derivative of %s: %s",
                       objective->loss->name,
                       bounds->loss.missing[0] ? bounds->loss.missing
                                               : "give a bounded constraint set, e.g. pn.set.l2_ball{dim=p, radius=1}");
    return PN_OK;
}

/* A record's Hessian is a s s^T with a = -1 or 1 and s = x times the root of |l''|, as rounded: four roundings of its
 * squared norm.  With A = l'' |x|^2 in [low, high], ||A u u^T - B v v^T||_F^2 = A^2 + B^2 - 2 A B <u, v>^2 over unit
 * vectors u, v: largest for u = v where signs differ, (|A| + |B|)^2, and for orthogonal ones where they do not, 2
 * max(A, B)^2.  Several margins: S x x^T, of Frobenius norm ||S||_F |x|^2; of two that have no negative eigenvalue the
 * product is not negative (but for the rounding of S, (margins + 16) 2^-50),
 * so that the square of their distance is at most the sum of their squares. */
pn_status pn_objective_hessian_bounds(const pn_objective *objective, pn_hessian_bounds *out, pn_err *err)
{
    const pn_bounds *bounds = &objective->bounds;
    pn_status status = pn_need_hessian(objective, err);
    double radius, squared, low, high, most, norm;

    if (status == PN_OK)
        status = check_bounded(objective, err);
    if (status != PN_OK)
        return status;
    radius = objective->data->bounds.norm[PN_L2];
    squared = radius * radius * PN_OUTWARD;
    low = fmin(bounds->loss.curvature.low, 0.0);
    high = fmax(bounds->loss.curvature.high, 0.0);
    most = fmax(-low, high);
    norm = bounds->loss.curvature_norm;
    out->record = kept_up(most == 0.0 ? 0.0 : most * squared * PN_OUTWARD);
    out->zero = kept_up(norm == 0.0 ? 0.0 : norm * squared * PN_OUTWARD);
    out->replace = kept_up(most == 0.0 ? 0.0 : fmax(high - low, sqrt(2.0) * most) * squared * PN_OUTWARD);
    if (objective->loss->margins > 1) {
        out->zero *= MARGINS_OUTWARD;
        out->replace = (bounds->loss.convex ? sqrt(2.0) : 2.0) * out->zero * MARGINS_OUTWARD;
    }
    out->generic = 2.0 * sqrt((double)objective->dim) * out->record * PN_OUTWARD;
    out->lipschitz = INFINITY;
    if (bounds->loss.twice_smooth && objective->clip == 0.0) {
        double third = pn_interval_magnitude(bounds->loss.third);

        out->lipschitz = third == 0.0 ? 0.0 : third * squared * radius * PN_OUTWARD;
    }
    return PN_OK;
}

/* ---- rounding ---- */

/* Additions that a record's part in an entry goes through.  Groups of records: the longest has at most so many.
 * Dense: a panel is one product of at most PN_HESSIAN_ROWS records, of both signs, and holds more than half as many,
 * or is the last of its
 * group.  Sparse: one record after the other. */
static double depth(const pn_objective *objective, size_t count)
{
    double records = (double)count, groups = (double)pn_hessian_groups(objective), rows = PN_HESSIAN_ROWS;
    double longest = records / groups + rows;

    if (count >= objective->data->n) /* chunks of an ordinary pass, several of them in a group */
        longest += (double)pn_objective_longest_chunk(objective) + PN_CHUNKS_MAX / groups * rows;
    longest = fmin(longest, records);
    return objective->data->sparse ? longest + groups : fmin(rows, records) + 1.0 + 2.0 * longest / rows + 2.0 + groups;
}

double pn_objective_hessian_error(const pn_objective *objective, size_t count)
{
    double deep = depth(objective, count);

    if (count >= objective->data->n && pn_objective_uses_gram(objective))
        deep = fmax(deep, (double)pn_gram_depth(objective));
    return (deep + 5.0) * 0x1p-53 * 1.01 * (double)count; /* two products, adding a panel to the rest, the division */
}

/* ---- the regulariser ---- */

static void diagonal_added(double *packed, size_t n, const double *diagonal)
{
    for (size_t j = 0; j < n; j++)
        packed[j * (j + 1) / 2 + j] += diagonal[j];
}

/* Column after column; of a separable one all at once, the product with ones being its diagonal. */
static pn_status add_columns(const pn_regulariser *reg, size_t n, const double *theta, double *along, double *image,
                             double *packed, pn_err *err)
{
    pn_status status = PN_OK;
    pn_node root;

    if (pn_regulariser_graph(reg, &root)) {
        for (size_t j = 0; j < n; j++)
            along[j] = 1.0;
        status = reg->ops->curve(reg, n, theta, along, image, err);
        if (status == PN_OK)
            diagonal_added(packed, n, image);
        return status;
    }
    for (size_t j = 0; j < n && status == PN_OK; j++) {
        memset(image, 0, n * sizeof *image);
        along[j] = 1.0;
        status = reg->ops->curve(reg, n, theta, along, image, err);
        along[j] = 0.0;
        for (size_t i = 0; i <= j && status == PN_OK; i++)
            packed[j * (j + 1) / 2 + i] += image[i];
    }
    return status;
}

pn_status pn_objective_add_regular_hessian(const pn_objective *objective, const double *theta, double *packed,
                                           pn_err *err)
{
    size_t n = objective->dim;
    pn_status status = pn_check_point("objective", "theta", theta, n, err);
    double *along, *image;

    if (status != PN_OK || !objective->reg)
        return status;
    along = pn_calloc(n, sizeof *along);
    image = pn_calloc(n, sizeof *image);
    status = along && image
                 ? add_columns(objective->reg, n, theta, along, image, packed, err)
                 : pn_fail(err, PN_ENOMEM, "objective: out of memory for a regulariser's Hessian of order %zu", n);
    pn_free(along);
    pn_free(image);
    return status;
}
