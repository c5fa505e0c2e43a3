/* dataset_facts.c -- what is known of a data set, for those who cannot look into it.  Depends on: rows.h.
 * Used by: hosts. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/dataset.h"
#include "data/rows.h"

size_t pn_dataset_records(const pn_dataset *data)
{
    return data->n;
}

size_t pn_dataset_features(const pn_dataset *data)
{
    return data->p;
}

const char *pn_dataset_name(const pn_dataset *data)
{
    return data->name;
}

bool pn_dataset_is_sparse(const pn_dataset *data)
{
    return data->sparse;
}

const double *pn_dataset_labels(const pn_dataset *data)
{
    return data->y;
}

double pn_dataset_row_bound(const pn_dataset *data, pn_lp norm)
{
    return data->bounds.norm[norm];
}

bool pn_dataset_label_range(const pn_dataset *data, double *low, double *high)
{
    if (isnan(data->bounds.label_low) || isnan(data->bounds.label_high))
        return false;
    *low = data->bounds.label_low;
    *high = data->bounds.label_high;
    return true;
}

pn_status pn_dataset_record(const pn_dataset *data, size_t row, double *x, pn_err *err)
{
    const double *entries;
    size_t count;
    pn_rows rows;

    if (row >= data->n)
        return pn_fail(err, PN_EDIM, "pn_dataset_record: there is no record %zu from 0, the data set has %zu", row,
                       data->n);
    PN_TRY(pn_rows_open(&rows, data, err));
    entries = pn_rows_get(&rows, row, &count);
    memset(x, 0, data->p * sizeof *x);
    for (size_t k = 0; k < count; k++)
        x[data->sparse ? data->csr.column[data->csr.start[row] + k] : k] = entries[k];
    pn_rows_close(&rows);
    return PN_OK;
}

pn_status pn_dataset_split(pn_dataset **first, pn_dataset **second, const pn_dataset *data, double fraction,
                           pn_rng *rng, pn_err *err)
{
    size_t count = fraction > 0.0 && fraction < 1.0 ? (size_t)round(fraction * (double)data->n) : 0, *rows;
    pn_status status;

    *first = *second = NULL;
    if (count == 0 || count >= data->n)
        return pn_fail(
            err, PN_EINVAL,
            "pn_dataset_split: fraction must be between 0 and 1 and leave a record of %zu on both sides, got %g",
            data->n, fraction);
    rows = pn_alloc(data->n, sizeof *rows);
    if (!rows)
        return pn_fail(err, PN_ENOMEM, "pn_dataset_split: out of memory");
    pn_rng_permutation(rng, data->n, rows);
    status = pn_dataset_subset(first, data, rows, count, err);
    if (status == PN_OK)
        status = pn_dataset_subset(second, data, rows + count, data->n - count, err);
    pn_free(rows);
    if (status != PN_OK) {
        pn_dataset_free(*first);
        *first = NULL;
    }
    return status;
}
