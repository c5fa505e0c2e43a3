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
static void clamp_slopes(const pn_bounds *bounds, size_t count, double *slope)
{
    double low = bounds->loss.slope.low, high = bounds->loss.slope.high, none = of_no_number(low, high);

    if (bounds->source != PN_BOUND_CERTIFIED && !(isfinite(low) && isfinite(high)))
        return;
    for (size_t r = 0; r < count; r++)
        slope[r] = clamped(slope[r], low, high, none);
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

/* Scale a record's factors, `stride` apart, so that ||factors||_2 ||x||_2 <= most.  most, norm and factors lie in
 * ranges where the product loses digits only far below `most` and overflows to nothing but inf; a factor that would
 * have to be scaled by less than 2^-900 becomes 0 before it loses digits. */
static void scale_record(size_t margins, size_t stride, double *factor, double norm, double most)
{
    double largest = 0.0, sum = 0.0, limit;

    for (size_t k = 0; k < margins; k++) {
        factor[k * stride] = tame(factor[k * stride]);
        largest = fabs(factor[k * stride]) > largest ? fabs(factor[k * stride]) : largest;
    }
    if (largest == 0.0)
        return;
    for (size_t k = 0; k < margins; k++)
        sum += (factor[k * stride] / largest) * (factor[k * stride] / largest);
    limit = most / (norm * (largest * sqrt(sum)));
    if (!(limit < 1.0))
        return;
    for (size_t k = 0; k < margins; k++)
        factor[k * stride] = limit > 0x1p-900 ? tame(factor[k * stride] * limit) : 0.0;
}

/* A norm below 2^-960 has lost digits, and will lose more in products: the larger one bounds it as well.  A row of
 * zeros has no part in a sum, whatever its factor. */
static inline double norm_of(const pn_objective *objective, const pn_block *block, size_t r)
{
    double norm = objective->norms[block->rows ? block->rows[r] : block->first + r];

    return norm > PN_TAU_LEAST ? norm : norm > 0.0 ? PN_TAU_LEAST : INFINITY;
}

void pn_block_scale(const pn_objective *objective, const pn_block *block, double record, double most, double *slope)
{
    size_t margins = objective->loss->margins, count = block->count;
    double cap = cap_of(most, record);

    if (PN_MUTANT("clip_missing"))
        return;
    if (margins > 1) {
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
    clamp_slopes(&objective->bounds, block->count * objective->loss->margins, slope);
    if (objective->norms)
        pn_block_scale(objective, block, 0.0, objective->clip, slope);
}
