/* stored_check.c -- whether records are within the bounds that their file calls enforced.
 * Depends on: stored.h, build.h, rows.h.  Used by: stored_open.c. */
#include <math.h>

#include "data/build.h"
#include "data/files/stored.h"

static pn_status refuse(const pn_dataset *data, size_t i, const char *what, pn_err *err)
{
    return pn_fail(err, PN_EDOMAIN, "%.100s: record %zu %s", data->name ? data->name : "data.store", i + 1, what);
}

static pn_status check_label(const pn_dataset *data, size_t i, pn_err *err)
{
    const pn_record_bounds *bounds = &data->bounds;
    double y = data->y[i];

    if (!isfinite(y))
        return refuse(data, i, "has a label that is not a finite number", err);
    if (bounds->labels_binary && fabs(y) != 1.0)
        return refuse(data, i, "has a label other than -1 and 1, which its file says all are", err);
    if (y < bounds->label_low || y > bounds->label_high)
        return refuse(data, i, "has a label outside the range that its file calls enforced", err);
    return PN_OK;
}

/* The norm of a row is known up to (count + 2) 2^-53 of it, and so much above the bound is let pass: what clipping
 * wrote is within the bound in real arithmetic. */
static bool within(const double *row, size_t count, pn_lp norm, double bound)
{
    double mantissa;
    int exponent;

    if (isnan(bound))
        return true;
    pn_row_norm(row, count, norm, &mantissa, &exponent);
    return ldexp(mantissa, exponent) <= bound * (1.0 + ((double)count + 4.0) * 0x1p-52);
}

static pn_status check_row(const pn_dataset *data, const double *row, size_t count, size_t i, pn_err *err)
{
    const pn_record_bounds *bounds = &data->bounds;
    const uint32_t *columns = data->sparse ? data->csr.column + pn_csr_place(data, i) : NULL;

    if (pn_first_nonfinite(row, count) < count)
        return refuse(data, i, "has an entry that is not a finite number", err);
    /* In order: a feature that were there twice would count for more than the norm says. */
    for (size_t k = 0; columns && k < count; k++) {
        if (columns[k] >= data->p || (k > 0 && columns[k] <= columns[k - 1]))
            return refuse(data, i, "has an entry beyond the last feature, or entries out of order", err);
    }
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        if (!within(row, count, (pn_lp)norm, bounds->norm[norm]))
            return refuse(data, i, "has a norm above the bound that its file calls enforced", err);
    }
    if (bounds->constant && (count == 0 || row[count - 1] != 1.0 || (columns && columns[count - 1] != data->p - 1)))
        return refuse(data, i, "has no 1 as its last feature, which its file says all have", err);
    return PN_OK;
}

pn_status pn_stored_check_rows(const pn_rows *rows, size_t first, size_t end, pn_err *err)
{
    for (size_t i = first; i < end; i++) {
        const double *row;
        size_t count;

        PN_TRY(check_label(rows->data, i, err));
        if (i < rows->data->first || i >= pn_dataset_held_end(rows->data))
            continue;
        row = pn_rows_get(rows, i, &count);
        PN_TRY(check_row(rows->data, row, count, i, err));
    }
    return PN_OK;
}
