/* clip.c -- what is enforced of each record's part in a sum: slopes stay in the certified range, l2 norms below a clip
 * or a tau.  Privacy rests on it, so it holds in real arithmetic, the rounding of products included.
 * Depends on: objective_impl.h.  Used by: pass.c, batch.c.  Source: noise.md section 3. */
#include <math.h>
#include <string.h>

#include "core/mutant.h"
#include "objective/passes/objective_impl.h"

#define FACTOR_LEAST 0x1p-1000 /* smaller ones would lose digits when they are scaled */
#define FACTOR_MOST  0x1p500

/* A slope that is no number, such as 0 inf where exact ones are finite, counts as 0, brought into the range: no vote
 * for either end, and within what the sensitivity is made of. */
static inline double of_no_number(double low, double high)
{
    return low > 0.0 ? low : high < 0.0 ? high : 0.0;
}

/* `none` for NaN.  Comparisons, not fmin and fmax: those are calls on the baseline processor, one for each record. */
static inline double clamped(double x, double low, double high, double none)
{
    return x < low ? low : x > high ? high : x >= low ? x : none;
}

/* The certified sensitivity is that of clamped slopes: a vector function that is off by an ulp cannot exceed it. */
static void clamp_slopes(const pn_bounds *bounds, pn_interval range, size_t count, double *slope)
{
    double none = of_no_number(range.low, range.high);

    if (bounds->source != PN_BOUND_CERTIFIED && !(isfinite(range.low) && isfinite(range.high)))
        return;
    for (size_t r = 0; r < count; r++)
        slope[r] = clamped(slope[r], range.low, range.high, none);
}

/* Slopes of one range, or of a range for each input. */
static void clamp_inputs(const pn_objective *objective, size_t count, double *slope)
{
    size_t inputs = pn_loss_inputs(objective->loss);

    if (!objective->slopes)
        clamp_slopes(&objective->bounds, objective->bounds.loss.slope, count * inputs, slope);
    for (size_t k = 0; objective->slopes && k < inputs; k++)
        clamp_slopes(&objective->bounds, objective->slopes[k], count, slope + k * count);
}

void pn_clamp_bends(const pn_bounds *bounds, size_t count, const double *along, double *weight)
{
    double low = bounds->loss.curvature.low, high = bounds->loss.curvature.high;

    if (!(isfinite(low) && isfinite(high)))
        return;
    for (size_t r = 0; r < count; r++) {
        double a = low * along[r], b = high * along[r], none = a < b ? of_no_number(a, b) : of_no_number(b, a);

        weight[r] = a < b ? clamped(weight[r], a, b, none) : clamped(weight[r], b, a, none);
    }
}

void pn_clamp_pairs(const pn_bounds *bounds, size_t margins, size_t count, double *weight)
{
    double most = bounds->loss.curvature_norm;
    size_t pairs = margins * (margins + 1) / 2;

    for (size_t r = 0; r < count && isfinite(most); r++) {
        double squared = 0.0, scale;

        for (size_t l = 0, pair = 0; l < margins; l++) {
            for (size_t k = 0; k <= l; k++, pair++)
                squared += (k < l ? 2.0 : 1.0) * weight[pair * count + r] * weight[pair * count + r];
        }
        if (squared <= most * most)
            continue;
        scale = squared < INFINITY ? most / sqrt(squared) : 0.0;
        for (size_t pair = 0; pair < pairs; pair++)
            weight[pair * count + r] = scale > 0.0 ? scale * weight[pair * count + r] : 0.0;
    }
}

/* A factor between 2^-1000 and 2^500 in size, or 0: NaN counts for nothing. */
static inline double tame(double factor)
{
    return !(fabs(factor) >= FACTOR_LEAST) ? 0.0
           : factor > FACTOR_MOST          ? FACTOR_MOST
           : factor < -FACTOR_MOST         ? -FACTOR_MOST
                                           : factor;
}

/* The largest factor of a record of that norm; the quotient's rounding is in the norm's room.
 * 0 where it would lose digits. */
static inline double cap_of(double most, double norm)
{
    double cap = most / norm;

    return cap < FACTOR_LEAST ? 0.0 : cap;
}

/* A record of one margin: |factor| <= cap. */
static inline double capped(double factor, double cap)
{
    factor = tame(factor);
    return factor > cap ? cap : factor < -cap ? -cap : factor;
}

/* The factors, `stride` apart, made tame, and their l2 norm. */
static double norm_of_factors(size_t count, size_t stride, double *factor)
{
    double largest = 0.0, sum = 0.0;

    for (size_t k = 0; k < count; k++) {
        factor[k * stride] = tame(factor[k * stride]);
        largest = fabs(factor[k * stride]) > largest ? fabs(factor[k * stride]) : largest;
    }
    if (largest == 0.0)
        return 0.0;
    for (size_t k = 0; k < count; k++)
        sum += (factor[k * stride] / largest) * (factor[k * stride] / largest);
    return largest * sqrt(sum);
}

static void scale_factors(size_t count, size_t stride, double *factor, double limit)
{
    if (!(limit < 1.0))
        return;
    for (size_t k = 0; k < count; k++)
        factor[k * stride] = limit > 0x1p-900 ? tame(factor[k * stride] * limit) : 0.0;
}

/* Scale a record's factors, `stride` apart, so that ||factors||_2 ||x||_2 <= most.  most, norm and factors lie in
 * ranges where the product loses digits only far below `most` and overflows to nothing but inf; a factor that would
 * have to be scaled by less than 2^-900 becomes 0 before it loses digits. */
static void scale_record(size_t margins, size_t stride, double *factor, double norm, double most)
{
    double length = norm_of_factors(margins, stride, factor);

    if (length > 0.0)
        scale_factors(margins, stride, factor, most / (norm * length));
}

/* The same with the factors u of `extra` further parameters after them, so that ||factors||^2 ||x||^2 + ||u||^2 <=
 * most^2.  ||u|| has no norm whose room its roundings could be in, and the root of the sum has at most 6 more:
 * both are given room here. */
static void scale_joint(size_t margins, size_t extra, size_t stride, double *factor, double norm, double most)
{
    double *further = factor + margins * stride;
    double u = norm_of_factors(extra, stride, further) * (1.0 + (0.5 * (double)extra + 8.0) * 0x1p-53);
    double z = norm_of_factors(margins, stride, factor), larger, share;

    if (isinf(norm)) { /* a row of zeros, which adds nothing whatever the factors are */
        scale_factors(margins, stride, factor, 0.0);
        z = 0.0;
    }
    z = z > 0.0 ? z * norm : 0.0;
    larger = z > u ? z : u;
    share = larger > 0.0 ? (z > u ? u : z) / larger : 0.0;
    if (larger > 0.0)
        scale_factors(margins + extra, stride, factor, most / (larger * sqrt(1.0 + share * share) * (1.0 + 0x1p-49)));
}

/* A norm below 2^-960 has lost digits, and will lose more in products: the larger one bounds it as well.  A row of
 * zeros has no part in a sum, whatever its factor. */
static inline double norm_of(const pn_objective *objective, const pn_block *block, size_t r)
{
    double norm = objective->norms[block->rows ? block->rows[r] : block->first + r];

    return norm > PN_TAU_LEAST ? norm : norm > 0.0 ? PN_TAU_LEAST : INFINITY;
}

double pn_objective_gradient_norm(const pn_objective *objective, const double *factors, size_t i)
{
    size_t n = objective->data->n, inputs = pn_loss_inputs(objective->loss);
    double norm = objective->norms ? objective->norms[i] : objective->data->bounds.norm[PN_L2], squares = 0.0;

    for (size_t k = 0; k < inputs; k++) {
        double part = factors[k * n + i] * (k < objective->loss->margins ? norm : 1.0);

        squares += part * part;
    }
    return sqrt(squares);
}

void pn_block_scale(const pn_objective *objective, const pn_block *block, double record, double most, double *slope)
{
    size_t margins = objective->loss->margins, extra = objective->loss->extra, count = block->count;
    double cap = cap_of(most, record);

    if (PN_MUTANT("clip_missing"))
        return;
    if (extra > 0) {
        for (size_t r = 0; r < count; r++)
            scale_joint(margins, extra, count, slope + r, objective->norms ? norm_of(objective, block, r) : record,
                        most);
    } else if (margins > 1) {
        for (size_t r = 0; r < count; r++)
            scale_record(margins, count, slope + r, objective->norms ? norm_of(objective, block, r) : record, most);
    } else if (objective->norms) {
        for (size_t r = 0; r < count; r++)
            slope[r] = capped(slope[r], cap_of(most, norm_of(objective, block, r)));
    } else {
        for (size_t r = 0; r < count; r++)
            slope[r] = capped(slope[r], cap);
    }
}

void pn_block_enforce(const pn_objective *objective, const pn_block *block, double *slope)
{
    clamp_inputs(objective, block->count, slope);
    if (objective->norms)
        pn_block_scale(objective, block, 0.0, objective->clip, slope);
}
