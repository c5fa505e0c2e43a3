/* clip.c -- bounds on records: enforcing them, and what one bound implies for the other norms.
 * Privacy rests on these bounds, so they hold in real arithmetic: norms are judged with room for their rounding, and
 * implied bounds are rounded upwards.  Source: noise.md section 3 (the last paragraph).
 * Depends on: dataset.h, build.h, rows.h, core.  Used by: bindings, objective. */
#include <math.h>

#include "core/alloc.h"
#include "data/build.h"
#include "data/rows.h"

#define SMALLEST_EXPONENT (-900) /* rows below 2^-900 are far inside every bound that is allowed */
#define BOUND_EXPONENT    400    /* bounds lie in [2^-400, 2^400]: nothing below over- or underflows */

/* ---- arithmetic rounded upwards ---- */

static double up(double x)
{
    return nextafter(x, INFINITY);
}

static double times_up(double a, double b)
{
    double product = a * b;

    return fma(a, b, -product) > 0.0 ? up(product) : product;
}

/* a, b >= 0 */
static double plus_up(double a, double b)
{
    double sum = a + b, larger = fmax(a, b), smaller = fmin(a, b);

    return smaller - (sum - larger) > 0.0 ? up(sum) : sum; /* the difference is the exact rounding error */
}

static double sqrt_up(double a)
{
    double root = sqrt(a);

    return fma(root, root, -a) < 0.0 ? up(root) : root;
}

/* ---- what is enforced ---- */

/* Keeps the smaller; NaN stands for no bound. */
static void keep_smaller(double *old, double bound)
{
    if (!(*old <= bound))
        *old = bound;
}

void pn_bounds_tighten(pn_record_bounds *bounds, size_t p, pn_lp norm, double bound)
{
    double width = (double)p;
    /* factor[given][implied]: ||x||_implied <= factor * ||x||_given */
    double factor[PN_LP_COUNT][PN_LP_COUNT] = { { 1.0, 1.0, 1.0 },
                                                { sqrt_up(width), 1.0, 1.0 },
                                                { width, sqrt_up(width), 1.0 } };

    for (int implied = 0; implied < PN_LP_COUNT; implied++)
        keep_smaller(&bounds->norm[implied], times_up(factor[norm][implied], bound));
}

void pn_bounds_with_bias(pn_record_bounds *bounds)
{
    double l2 = bounds->norm[PN_L2];

    bounds->norm[PN_L1] = isnan(bounds->norm[PN_L1]) ? NAN : plus_up(bounds->norm[PN_L1], 1.0);
    bounds->norm[PN_L2] = isnan(l2) ? NAN : sqrt_up(plus_up(times_up(l2, l2), 1.0));
    bounds->norm[PN_LINF] = isnan(bounds->norm[PN_LINF]) ? NAN : fmax(bounds->norm[PN_LINF], 1.0);
}

/* ---- norms ---- */

static double largest_magnitude(const double *entries, size_t count)
{
    double largest = 0.0;

    for (size_t j = 0; j < count; j++)
        largest = fabs(entries[j]) > largest ? fabs(entries[j]) : largest;
    return largest;
}

void pn_row_norm(const double *entries, size_t count, pn_lp norm, double *mantissa, int *exponent)
{
    double largest = largest_magnitude(entries, count), sum = 0.0, unit;
    int power = largest > 0.0 ? ilogb(largest) : SMALLEST_EXPONENT;

    if (power < SMALLEST_EXPONENT)
        power = SMALLEST_EXPONENT;
    unit = ldexp(1.0, -power); /* exact, also for the largest exponent, where it is subnormal */
    if (norm == PN_L1) {
        for (size_t j = 0; j < count; j++)
            sum += fabs(entries[j] * unit);
    } else if (norm == PN_L2) {
        for (size_t j = 0; j < count; j++)
            sum += (entries[j] * unit) * (entries[j] * unit);
        sum = sqrt(sum);
    } else {
        sum = largest * unit;
    }
    *mantissa = sum;
    *exponent = power;
}

/* ---- clipping ---- */

/* l1, l2.  norm times (1 + slack) bounds the true norm; the factor leaves twice that room, so that the rounding of the
 * scaled entries cannot use it up, and a second clip changes nothing. */
static void clip_row(double *entries, size_t count, pn_lp norm, double bound)
{
    double slack = ((double)count + 16.0) * 0x1p-52, mantissa, unit, factor;
    int exponent;

    pn_row_norm(entries, count, norm, &mantissa, &exponent);
    if (ldexp(mantissa * (1.0 + slack), exponent) <= bound)
        return;
    unit = ldexp(1.0, -exponent);
    factor = bound / (mantissa * (1.0 + 2.0 * slack));
    for (size_t j = 0; j < count; j++)
        entries[j] = entries[j] * unit * factor;
}

/* linf: the norm is exact, and the last rounding of the product is cut off. */
static void clip_row_max(double *entries, size_t count, double bound)
{
    double largest = largest_magnitude(entries, count), unit, factor;
    int exponent;

    if (!(largest > bound))
        return;
    exponent = ilogb(largest);
    unit = ldexp(1.0, -exponent);
    factor = bound / (largest * unit);
    for (size_t j = 0; j < count; j++)
        entries[j] = fmin(fmax(entries[j] * unit * factor, -bound), bound);
}

pn_status pn_dataset_clip_rows(pn_dataset **out, const pn_dataset *data, pn_lp norm, double bound, pn_err *err)
{
    pn_dataset *copy = NULL;
    pn_rows rows;
    pn_status status;

    if (!(bound >= ldexp(1.0, -BOUND_EXPONENT) && bound <= ldexp(1.0, BOUND_EXPONENT)))
        return pn_fail(err, PN_EINVAL, "clip_rows: bound must be a positive number (from 2^-400 to 2^400), got %g",
                       bound);
    status = pn_dataset_copy(&copy, data, err);
    if (status == PN_OK)
        status = pn_rows_open(&rows, copy, err);
    if (status != PN_OK) {
        pn_dataset_free(copy);
        return status;
    }
    for (size_t i = 0; i < copy->n; i++) {
        size_t count;
        double *entries = pn_rows_edit(&rows, i, &count);

        if (norm == PN_LINF)
            clip_row_max(entries, count, bound);
        else
            clip_row(entries, count, norm, bound);
        pn_rows_put(&rows, i);
    }
    pn_rows_close(&rows);
    pn_bounds_tighten(&copy->bounds, copy->p, norm, bound);
    *out = copy;
    return PN_OK;
}

static double clamp(double x, double low, double high)
{
    return fmin(fmax(x, low), high); /* of a NaN bound: low, high */
}

pn_status pn_dataset_clip_labels(pn_dataset **out, const pn_dataset *data, double low, double high, pn_err *err)
{
    pn_dataset *copy = NULL;
    pn_record_bounds *bounds;
    pn_status status;

    if (!(low < high) || !isfinite(low) || !isfinite(high))
        return pn_fail(err, PN_EINVAL, "clip_labels: low must be below high, both finite, got %g and %g", low, high);
    status = pn_dataset_copy(&copy, data, err);
    if (status != PN_OK)
        return status;
    for (size_t i = 0; i < copy->n; i++)
        copy->y[i] = clamp(copy->y[i], low, high);
    bounds = &copy->bounds;
    bounds->label_low = isnan(bounds->label_low) ? low : clamp(bounds->label_low, low, high);
    bounds->label_high = isnan(bounds->label_high) ? high : clamp(bounds->label_high, low, high);
    bounds->labels_binary = bounds->labels_binary && low <= -1.0 && high >= 1.0;
    *out = copy;
    return PN_OK;
}
