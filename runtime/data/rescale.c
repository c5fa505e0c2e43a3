/* rescale.c -- features brought to [-1, 1] by public ranges: the way to bound records whose columns have different
 * units.
 * Depends on: dataset.h, build.h, rows.h, core.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "data/build.h"
#include "data/rows.h"

static pn_status check_ranges(const double *low, const double *high, size_t count, size_t p, pn_err *err)
{
    if (count != p)
        return pn_fail(err, PN_EDIM, "rescale: the ranges have %zu entries, the data has %zu features", count, p);
    for (size_t j = 0; j < p; j++) {
        if (!(low[j] < high[j]) || !isfinite(high[j] - low[j]))
            return pn_fail(err, PN_EINVAL,
                           "rescale: low must be below high for every feature, got %g and %g for feature %zu", low[j],
                           high[j], j + 1);
    }
    return PN_OK;
}

/* Clamped first and last, so that neither an outlier nor rounding leaves [-1, 1]. */
static double rescaled(double x, double low, double high)
{
    double t = 2.0 * ((fmin(fmax(x, low), high) - low) / (high - low)) - 1.0;

    return fmin(fmax(t, -1.0), 1.0);
}

static void fill_row(const pn_rows *from, size_t i, const double *low, const double *high, double *row)
{
    const pn_dataset *data = from->data;
    size_t count, p = data->p;
    const double *entries = pn_rows_get(from, i, &count);

    if (data->sparse) {
        memset(row, 0, p * sizeof *row);
        for (size_t k = 0; k < count; k++)
            row[data->csr.column[data->csr.start[i] + k]] = entries[k];
        entries = row;
    }
    for (size_t j = 0; j < p; j++)
        row[j] = rescaled(entries[j], low[j], high[j]);
}

static pn_status rescale_rows(pn_rows *to, const pn_rows *from, const double *low, const double *high, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t i = 0; i < from->data->n && status == PN_OK; i++) {
        size_t count;

        fill_row(from, i, low, high, pn_rows_edit(to, i, &count));
        pn_rows_put(to, i);
        status = pn_rows_stopped(i, err);
    }
    return status;
}

pn_status pn_dataset_rescale(pn_dataset **out, const pn_dataset *data, const double *low, const double *high,
                             size_t count, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_rows from = { NULL, NULL }, to = { NULL, NULL };
    pn_status status = check_ranges(low, high, count, data->p, err);

    if (status == PN_OK)
        status = pn_dataset_like(&made, data, data->n, data->p, false, 0, err);
    if (status == PN_OK)
        status = pn_dataset_name_features(made, data, NULL, err);
    if (status == PN_OK)
        status = pn_rows_open(&from, data, err);
    if (status == PN_OK)
        status = pn_rows_open(&to, made, err);
    if (status == PN_OK)
        status = rescale_rows(&to, &from, low, high, err);
    if (status == PN_OK) {
        memcpy(made->y, data->y, data->n * sizeof *made->y);
        for (int norm = 0; norm < PN_LP_COUNT; norm++)
            made->bounds.norm[norm] = NAN;
        made->bounds.usual = 0.0;
        pn_bounds_tighten(&made->bounds, data->p, PN_LINF, 1.0);
        *out = made;
    } else {
        pn_dataset_free(made);
    }
    pn_rows_close(&from);
    pn_rows_close(&to);
    return status;
}
