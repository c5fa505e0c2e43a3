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

    bounds->constant = false;
    for (int implied = 0; implied < PN_LP_COUNT; implied++)
        keep_smaller(&bounds->norm[implied], times_up(factor[norm][implied], bound));
}

void pn_bounds_with_bias(pn_record_bounds *bounds)
{
    double l2 = bounds->norm[PN_L2];

    bounds->constant = true;
    bounds->norm[PN_L1] = isnan(bounds->norm[PN_L1]) ? NAN : plus_up(bounds->norm[PN_L1], 1.0);
    bounds->norm[PN_L2] = isnan(l2) ? NAN : sqrt_up(plus_up(times_up(l2, l2), 1.0));
    bounds->usual = bounds->usual > 0.0 ? hypot(bounds->usual, 1.0) : 0.0;
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

void pn_row_clip(double *entries, size_t count, pn_lp norm, double bound)
{
    if (norm == PN_LINF)
        clip_row_max(entries, count, bound);
    else
        clip_row(entries, count, norm, bound);
}

static bool is_bound(double bound)
{
    return bound >= ldexp(1.0, -BOUND_EXPONENT) && bound <= ldexp(1.0, BOUND_EXPONENT);
}

static pn_status check_bound(double bound, pn_err *err)
{
    if (is_bound(bound))
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "clip_rows: bound must be a positive number (from 2^-400 to 2^400), got %g", bound);
}

/* A copy of the data with its rows open for changes. */
static pn_status open_copy(pn_dataset **copy, pn_rows *rows, const pn_dataset *data, double bound, pn_err *err)
{
    pn_status status = check_bound(bound, err);

    *copy = NULL;
    if (status == PN_OK)
        status = pn_dataset_copy(copy, data, err);
    if (status == PN_OK)
        status = pn_rows_open_held(rows, *copy, err);
    if (status != PN_OK)
        pn_dataset_free(*copy);
    return status;
}

pn_status pn_dataset_clip_rows_here(pn_dataset *data, pn_lp norm, double bound, pn_err *err)
{
    pn_rows rows;
    pn_status status = check_bound(bound, err);

    if (status == PN_OK)
        status = pn_rows_open_held(&rows, data, err);
    if (status != PN_OK)
        return status;
    if (!(data->bounds.norm[norm] <= bound)) /* else nothing changes */
        (void)pn_dataset_set_recipe(data, NULL, err);
    for (size_t i = data->first; i < pn_dataset_held_end(data) && status == PN_OK; i++) {
        size_t count;
        double *entries = pn_rows_edit(&rows, i, &count);

        pn_row_clip(entries, count, norm, bound);
        pn_rows_put(&rows, i);
        status = pn_rows_stopped(i, err);
    }
    pn_rows_close(&rows);
    if (status == PN_OK)
        pn_bounds_tighten(&data->bounds, data->p, norm, bound);
    return status;
}

pn_status pn_dataset_clip_rows(pn_dataset **out, const pn_dataset *data, pn_lp norm, double bound, pn_err *err)
{
    pn_dataset *copy = NULL;
    pn_status status = check_bound(bound, err);

    if (status == PN_OK)
        status = pn_dataset_copy(&copy, data, err);
    if (status == PN_OK)
        status = pn_dataset_clip_rows_here(copy, norm, bound, err);
    return pn_dataset_deliver(out, copy, status);
}

/* ---- clipping to any norm ---- */

/* x[p] = row i in units of a power of two that brings its largest entry to [1, 2); false for a row of zeros. */
static bool unit_row(const pn_dataset *data, size_t i, const double *entries, size_t count, double *x, int *exponent)
{
    double largest = largest_magnitude(entries, count), unit;

    if (largest == 0.0)
        return false;
    *exponent = ilogb(largest) < SMALLEST_EXPONENT ? SMALLEST_EXPONENT : ilogb(largest);
    unit = ldexp(1.0, -*exponent);
    if (!data->sparse) {
        for (size_t j = 0; j < count; j++)
            x[j] = entries[j] * unit;
        return true;
    }
    for (size_t j = 0; j < data->p; j++)
        x[j] = 0.0;
    for (size_t k = 0; k < count; k++)
        x[data->csr.column[pn_csr_place(data, i) + k]] = entries[k] * unit;
    return true;
}

/* N(x) <= bound up to rounding, x being the unit row of these entries. */
static pn_status clip_row_by(double *entries, size_t count, const double *x, size_t p, int exponent,
                             const pn_row_gauge *gauge, double bound, pn_err *err)
{
    double slack = ((double)p + 16.0) * 0x1p-50, size = NAN, unit = ldexp(1.0, -exponent), factor;

    PN_TRY(gauge->value(gauge->self, x, p, &size, err));
    if (!(size >= 0.0))
        return pn_fail(err, PN_ENUMERIC, "clip_rows: the norm must return a number >= 0");
    if (ldexp(size * (1.0 + slack), exponent) <= bound)
        return PN_OK;
    factor = bound / (size * (1.0 + 2.0 * slack)); /* 0 for a row without a norm */
    for (size_t j = 0; j < count; j++)
        entries[j] = entries[j] * unit * factor;
    return PN_OK;
}

/* Privacy rests on the recorded bounds and not on N, which may be a user's: each row meets each of them for certain.  A
 * clip shrinks every entry, so that the next one does not undo it. */
static pn_status clip_rows_by(pn_dataset *copy, pn_rows *rows, const pn_row_gauge *gauge, double bound,
                              const double *implied, double *x, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t i = copy->first; i < pn_dataset_held_end(copy) && status == PN_OK; i++) {
        size_t count;
        int exponent;
        double *entries = pn_rows_edit(rows, i, &count);

        if (unit_row(copy, i, entries, count, x, &exponent))
            status = clip_row_by(entries, count, x, copy->p, exponent, gauge, bound, err);
        for (int norm = 0; norm < PN_LP_COUNT; norm++)
            pn_row_clip(entries, count, (pn_lp)norm, implied[norm]);
        pn_rows_put(rows, i);
        if (status == PN_OK)
            status = pn_rows_stopped(i, err);
    }
    return status;
}

pn_status pn_dataset_clip_rows_to(pn_dataset **out, const pn_dataset *data, const pn_row_gauge *gauge, double bound,
                                  pn_err *err)
{
    double implied[PN_LP_COUNT], *x;
    pn_dataset *copy;
    pn_rows rows;
    pn_status status;

    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        implied[norm] = times_up(gauge->radius[norm], bound);
        if (is_bound(bound) && !is_bound(implied[norm]))
            return pn_fail(err, PN_EINVAL,
                           "clip_rows: bound %g allows %s norms up to %g, which must be from 2^-400 to 2^400", bound,
                           pn_lp_name((pn_lp)norm), implied[norm]);
    }
    PN_TRY(open_copy(&copy, &rows, data, bound, err));
    x = pn_alloc(copy->p, sizeof *x);
    status = x ? clip_rows_by(copy, &rows, gauge, bound, implied, x, err)
               : pn_fail(err, PN_ENOMEM, "clip_rows: out of memory");
    pn_free(x);
    pn_rows_close(&rows);
    if (status != PN_OK) {
        pn_dataset_free(copy);
        return status;
    }
    (void)pn_dataset_set_recipe(copy, NULL, err);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        pn_bounds_tighten(&copy->bounds, copy->p, (pn_lp)norm, implied[norm]);
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

    if (!(low < high) || !isfinite(low) || !isfinite(high))
        return pn_fail(err, PN_EINVAL, "clip_labels: low must be below high, both finite, got %g and %g", low, high);
    PN_TRY(pn_dataset_copy(&copy, data, err));
    for (size_t i = 0; i < copy->n; i++)
        copy->y[i] = clamp(copy->y[i], low, high);
    bounds = &copy->bounds;
    bounds->label_low = isnan(bounds->label_low) ? low : clamp(bounds->label_low, low, high);
    bounds->label_high = isnan(bounds->label_high) ? high : clamp(bounds->label_high, low, high);
    bounds->labels_binary = bounds->labels_binary && low <= -1.0 && high >= 1.0;
    *out = copy;
    return PN_OK;
}
