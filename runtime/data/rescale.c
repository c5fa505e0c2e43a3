/* rescale.c -- features brought to [-1, 1] by public ranges: the way to bound records whose columns have different units.
 * Depends on: dataset.h, build.h, core.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"

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

static void fill_row(const pn_dataset *data, size_t i, const double *low, const double *high, double *row)
{
    size_t count, p = data->p;
    const double *entries = pn_row_entries(data, i, &count);

    if (data->sparse) {
        memset(row, 0, p * sizeof *row);
        for (size_t k = 0; k < count; k++)
            row[data->csr.column[data->csr.start[i] + k]] = entries[k];
        entries = row;
    }
    for (size_t j = 0; j < p; j++)
        row[j] = rescaled(entries[j], low[j], high[j]);
}

pn_status pn_dataset_rescale(pn_dataset **out, const pn_dataset *data, const double *low, const double *high,
                             size_t count, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_status status = check_ranges(low, high, count, data->p, err);

    if (status == PN_OK)
        status = pn_dataset_shell(&made, data->n, data->p, data->name, err);
    if (status != PN_OK)
        return status;
    made->dense = pn_dataset_rows(data->n, data->p);
    if (!made->dense) {
        pn_dataset_free(made);
        return pn_fail(err, PN_ENOMEM, "rescale: out of memory for %zu x %zu features", data->n, data->p);
    }
    for (size_t i = 0; i < data->n; i++)
        fill_row(data, i, low, high, made->dense + i * data->p);
    memcpy(made->y, data->y, data->n * sizeof *made->y);
    made->bounds.label_low = data->bounds.label_low;
    made->bounds.label_high = data->bounds.label_high;
    made->bounds.labels_binary = data->bounds.labels_binary;
    pn_bounds_tighten(&made->bounds, data->p, PN_LINF, 1.0);
    *out = made;
    return PN_OK;
}
