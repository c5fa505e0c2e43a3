/* dataset_copy.c -- copies, the transformations that leave every value as it is,
 * and float32 storage: they work on stored entries.
 * Depends on: dataset.h, build.h, rows.h, core, numeric.  Used by: every file of this room, objective, bindings. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "data/build.h"
#include "data/rows.h"

#define REPORT_RECORDS 4096

static unsigned char *stored(const pn_dataset *data)
{
    if (data->float32)
        return (unsigned char *)(data->sparse ? data->csr_single : data->single);
    return (unsigned char *)(data->sparse ? data->csr.value : data->dense);
}

/* `count` entries from place `first` of `from` to place `at` of `to`, which is stored alike. */
static void copy_entries(pn_dataset *to, size_t at, const pn_dataset *from, size_t first, size_t count)
{
    size_t bytes = from->float32 ? sizeof(float) : sizeof(double);

    if (count == 0)
        return;
    memcpy(stored(to) + at * bytes, stored(from) + first * bytes, count * bytes);
    if (from->sparse)
        memcpy(to->csr.column + at, from->csr.column + first, count * sizeof *to->csr.column);
}

pn_status pn_dataset_copy(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    pn_dataset *copy = NULL;
    pn_status status = pn_dataset_same_records(&copy, data, data->float32, data->first, pn_dataset_held_end(data), err);

    if (status == PN_OK)
        copy_entries(copy, 0, data, 0, pn_dataset_stored(data));
    return pn_dataset_deliver(out, copy, status);
}

pn_status pn_dataset_hold(pn_dataset **out, const pn_dataset *data, size_t begin, size_t end, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_status status = pn_dataset_need_records(data, "share", err);

    if (status == PN_OK && !(begin < end && end <= data->n))
        status = pn_fail(err, PN_EDIM, "share: a rank must hold some of the %zu records, got %zu to %zu", data->n,
                         begin + 1, end);
    if (status == PN_OK)
        status = pn_dataset_same_records(&made, data, data->float32, begin, end, err);
    if (status == PN_OK)
        copy_entries(made, 0, data, data->sparse ? data->csr.start[begin] : begin * data->p, pn_dataset_stored(made));
    return pn_dataset_deliver(out, made, status);
}

pn_status pn_dataset_with_labels(pn_dataset **out, const pn_dataset *data, const double *y, size_t n, pn_err *err)
{
    pn_dataset *copy = NULL;
    pn_status status;

    if (n != data->n)
        return pn_fail(err, PN_EDIM, "with_labels: got %zu labels, the data set has %zu records", n, data->n);
    status = pn_dataset_check_labels(y, n, err);
    if (status == PN_OK)
        status = pn_dataset_copy(&copy, data, err);
    if (status == PN_OK) {
        memcpy(copy->y, y, n * sizeof(double));
        (void)pn_dataset_set_recipe(copy, NULL, err);
        pn_dataset_see_labels(copy);
    }
    return pn_dataset_deliver(out, copy, status);
}

static void append_one(pn_dataset *to, size_t at)
{
    if (to->float32)
        (to->sparse ? to->csr_single : to->single)[at] = 1.0f;
    else
        (to->sparse ? to->csr.value : to->dense)[at] = 1.0;
    if (to->sparse)
        to->csr.column[at] = (uint32_t)(to->p - 1);
}

pn_status pn_dataset_add_bias(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    pn_dataset *wider = NULL;
    pn_status status =
        pn_dataset_like(&wider, data, data->n, data->p + 1, data->sparse, pn_dataset_stored(data) + data->n, err);

    if (status == PN_OK)
        status = pn_dataset_name_features(wider, data, "bias", err);
    if (status == PN_OK) {
        for (size_t i = 0; i < data->n && status == PN_OK; i++) {
            size_t count, first = pn_row_place(data, i, &count);

            if (data->sparse)
                wider->csr.start[i] = first + i;
            copy_entries(wider, first + i, data, first, count);
            append_one(wider, first + i + count);
            status = pn_rows_stopped(i, err);
        }
        memcpy(wider->y, data->y, data->n * sizeof(double));
        pn_bounds_with_bias(&wider->bounds);
    }
    return pn_dataset_deliver(out, wider, status);
}

static pn_status pick(pn_dataset *to, const pn_dataset *from, const size_t *rows, pn_task *task, pn_err *err)
{
    size_t at = 0;
    pn_status status = PN_OK;

    for (size_t k = 0; status == PN_OK && k < to->n; k++) {
        size_t count, first = pn_row_place(from, rows[k], &count);

        if (to->sparse)
            to->csr.start[k] = at;
        copy_entries(to, at, from, first, count);
        to->y[k] = from->y[rows[k]];
        at += count;
        if (k % REPORT_RECORDS == 0)
            status = pn_task_report(task, "subset", (double)k, (double)to->n, err);
    }
    return status;
}

/* Entries of the picked rows; checks the indices. */
static pn_status count_picked(const pn_dataset *data, const size_t *rows, size_t count, size_t *entries, pn_err *err)
{
    *entries = 0;
    if (count == 0)
        return pn_fail(err, PN_EDIM, "subset: needs at least one record, got 0");
    for (size_t k = 0; k < count; k++) {
        size_t some;

        if (rows[k] >= data->n)
            return pn_fail(err, PN_EDIM, "subset: record %zu asked for, the data set has %zu", rows[k] + 1, data->n);
        (void)pn_row_place(data, rows[k], &some);
        if (!pn_size_add(entries, *entries, some))
            return pn_fail(err, PN_EINVAL, "subset: the entries of %zu records must be at most 2^48", count);
    }
    return PN_OK;
}

pn_status pn_dataset_subset(pn_dataset **out, const pn_dataset *data, const size_t *rows, size_t count, pn_err *err)
{
    return pn_dataset_pick(out, data, rows, count, NULL, err);
}

pn_status pn_dataset_pick(pn_dataset **out, const pn_dataset *data, const size_t *rows, size_t count, pn_task *task,
                          pn_err *err)
{
    pn_dataset *part = NULL;
    size_t entries;
    pn_status status = count_picked(data, rows, count, &entries, err);

    if (status == PN_OK)
        status = pn_dataset_like(&part, data, count, data->p, data->sparse, entries, err);
    if (status == PN_OK)
        status = pn_dataset_name_features(part, data, NULL, err);
    if (status == PN_OK)
        status = pn_dataset_set_recipe(part, data->recipe, err);
    if (status == PN_OK)
        status = pick(part, data, rows, task, err);
    return pn_dataset_deliver(out, part, status);
}

/* ---- float32 storage ---- */

/* The first entry of a row that no float can hold; count when there is none. */
static size_t first_too_large(const double *entries, size_t count)
{
    size_t k = 0;

    while (k < count && fabs(entries[k]) <= (double)FLT_MAX)
        k++;
    return k;
}

static pn_status narrow_rows(pn_dataset *to, const pn_dataset *from, pn_err *err)
{
    float *single = to->sparse ? to->csr_single : to->single;
    pn_status status = PN_OK;

    for (size_t i = from->first; i < pn_dataset_held_end(from) && status == PN_OK; i++) {
        size_t count, first = pn_row_place(from, i, &count), bad;
        const double *entries = (from->sparse ? from->csr.value : from->dense) + first;

        bad = first_too_large(entries, count);
        if (bad < count)
            return pn_fail(err, PN_EDOMAIN, "float32: entry (%zu, %zu) is beyond the range of float32, 3.4e38", i + 1,
                           from->sparse ? (size_t)from->csr.column[first + bad] + 1 : bad + 1);
        pn_narrow(single + first, entries, count);
        status = pn_rows_stopped(i, err);
    }
    return status;
}

pn_status pn_dataset_to_float32(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_status status;

    if (data->float32 || data->absent)
        return pn_dataset_copy(out, data, err);
    status = pn_dataset_same_records(&made, data, true, data->first, pn_dataset_held_end(data), err);
    if (status == PN_OK)
        status = narrow_rows(made, data, err);
    if (status == PN_OK && data->sparse && pn_dataset_stored(data) > 0)
        memcpy(made->csr.column, data->csr.column, pn_dataset_stored(data) * sizeof *made->csr.column);
    return pn_dataset_deliver(out, made, status);
}
