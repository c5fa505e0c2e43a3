/* offset.c -- labels less a public linear prediction: y_i <- clip(y_i - <x_i, theta>, -B, B).  Each new label is a
 * function of its own record and of public numbers alone: neighbours stay neighbours, and |y| <= B holds of each.
 * Depends on: dataset.h, build.h, rows.h.  Used by: bindings. */
#include <math.h>

#include "data/build.h"
#include "data/rows.h"

static pn_status check_offset(const pn_dataset *data, const double *theta, size_t count, double bound, pn_err *err)
{
    if (count != data->p)
        return pn_fail(err, PN_EDIM, "offset_labels: theta has %zu entries, the data has %zu features", count, data->p);
    for (size_t j = 0; j < count; j++) {
        if (!isfinite(theta[j]))
            return pn_fail(err, PN_EINVAL, "offset_labels: entry %zu of theta must be finite, got %g", j + 1, theta[j]);
    }
    if (!(bound > 0.0) || !isfinite(bound))
        return pn_fail(err, PN_EINVAL, "offset_labels: bound must be positive and finite, got %g", bound);
    return pn_dataset_need_records(data, "offset_labels", err);
}

static double predicted(const pn_rows *rows, size_t i, const double *theta)
{
    const pn_dataset *data = rows->data;
    double sum = 0.0;
    size_t count;
    const double *entries = pn_rows_get(rows, i, &count);
    const uint32_t *column = data->sparse ? data->csr.column + data->csr.start[i] : NULL;

    for (size_t k = 0; k < count; k++)
        sum += entries[k] * theta[column ? column[k] : k];
    return sum;
}

pn_status pn_dataset_offset_labels(pn_dataset **out, const pn_dataset *data, const double *theta, size_t count,
                                   double bound, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_rows rows = { NULL, NULL };
    pn_status status;

    PN_TRY(check_offset(data, theta, count, bound, err));
    status = pn_dataset_copy(&made, data, err);
    if (status == PN_OK)
        status = pn_dataset_set_recipe(made, NULL, err);
    if (status == PN_OK)
        status = pn_rows_open(&rows, data, err);
    for (size_t i = 0; status == PN_OK && i < data->n; i++) {
        /* where the prediction overflows, fmax and fmin still give a number in range */
        made->y[i] = fmin(fmax(data->y[i] - predicted(&rows, i, theta), -bound), bound);
        status = pn_rows_stopped(i, err);
    }
    pn_rows_close(&rows);
    if (status == PN_OK) {
        made->bounds.label_low = -bound;
        made->bounds.label_high = bound;
        made->bounds.labels_binary = false;
    }
    return pn_dataset_deliver(out, made, status);
}
