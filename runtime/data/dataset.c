/* dataset.c -- data sets from memory, copies, the transformations that leave every value as it is, and float32 storage.
 * Depends on: dataset.h, build.h, rows.h, core, numeric.  Used by: every file of this room, objective, bindings. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "data/build.h"
#include "data/rows.h"

#define REPORT_RECORDS 4096

void pn_dataset_free(pn_dataset *data)
{
    if (!data)
        return;
    if (data->sparse)
        pn_csr_clear(&data->csr);
    pn_free(data->dense);
    pn_free(data->single);
    pn_free(data->csr_single);
    pn_free(data->y);
    pn_free(data->name);
    pn_free(data->features);
    pn_free(data);
}

/* Each by itself: sparse features may have more places than numbers. */
static pn_status check_shape(size_t n, size_t p, pn_err *err)
{
    pn_status status = pn_size_check("data", "the number of records", n, err);

    return status == PN_OK ? pn_size_check("data", "the number of features", p, err) : status;
}

pn_status pn_dataset_shell(pn_dataset **out, size_t n, size_t p, const char *name, pn_err *err)
{
    pn_status status = check_shape(n, p, err);
    pn_dataset *data;

    if (status != PN_OK)
        return status;
    data = pn_calloc(1, sizeof *data);
    if (data) {
        data->n = n;
        data->p = p;
        data->y = pn_alloc(n, sizeof(double));
        data->name = pn_strdup(name ? name : "data");
        for (int norm = 0; norm < PN_LP_COUNT; norm++)
            data->bounds.norm[norm] = NAN;
        data->bounds.label_low = data->bounds.label_high = NAN;
    }
    if (!data || !data->y || !data->name) {
        pn_dataset_free(data);
        return pn_fail(err, PN_ENOMEM, "data: out of memory for %zu records", n);
    }
    *out = data;
    return PN_OK;
}

pn_status pn_dataset_absent(pn_dataset **out, size_t n, size_t p, const pn_record_bounds *bounds, const char *name,
                            pn_err *err)
{
    pn_dataset *data;
    pn_status status;

    if (n == 0 || p == 0)
        return pn_fail(err, PN_EDIM, "data: needs at least one record and one feature, got %zu x %zu", n, p);
    status = check_shape(n, p, err);
    if (status != PN_OK)
        return status;
    data = pn_calloc(1, sizeof *data);
    if (data)
        data->name = pn_strdup(name ? name : "data");
    if (!data || !data->name) {
        pn_dataset_free(data);
        return pn_fail(err, PN_ENOMEM, "data: out of memory");
    }
    data->n = n;
    data->p = p;
    data->absent = true;
    data->bounds = *bounds;
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        if (isfinite(bounds->norm[norm]))
            pn_bounds_tighten(&data->bounds, p, (pn_lp)norm, bounds->norm[norm]);
    }
    *out = data;
    return PN_OK;
}

pn_status pn_dataset_need_share(const pn_dataset *data, const char *who, pn_err *err)
{
    if (!data->absent)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "%s: the records of this data set are with the parties", who);
}

pn_status pn_dataset_need_records(const pn_dataset *data, const char *who, pn_err *err)
{
    pn_status status = pn_dataset_need_share(data, who, err);

    if (status == PN_OK && data->partial)
        status = pn_fail(err, PN_EUNSUPPORTED,
                         "%s: needs all records, and this rank holds %zu to %zu of %zu; load or make the data without "
                         "ranks",
                         who, data->first + 1, pn_dataset_held_end(data), data->n);
    return status;
}

static bool all_binary(const double *y, size_t n)
{
    size_t i = 0;

    while (i < n && fabs(y[i]) == 1.0)
        i++;
    return i == n;
}

void pn_dataset_see_labels(pn_dataset *data)
{
    data->bounds.labels_binary = all_binary(data->y, data->n);
    data->bounds.label_low = data->bounds.label_high = NAN; /* a neighbour's label may be any number */
}

/* ---- from memory ---- */

static pn_status check_labels(const double *y, size_t n, pn_err *err)
{
    size_t bad = pn_first_nonfinite(y, n);

    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "data: label %zu is not a finite number", bad + 1);
    return PN_OK;
}

double *pn_dataset_rows(size_t n, size_t p)
{
    size_t count;

    return pn_size_multiply(&count, n, p) ? pn_alloc_large(count, sizeof(double)) : NULL;
}

/* Room for the dense features that are held, uninitialised. */
static pn_status add_dense(pn_dataset *data, pn_err *err)
{
    size_t rows = pn_dataset_held_end(data) - data->first, count;

    if (data->float32)
        data->single = pn_size_multiply(&count, rows, data->p) ? pn_alloc_large(count, sizeof *data->single) : NULL;
    else
        data->dense = pn_dataset_rows(rows, data->p);
    if (!data->dense && !data->single)
        return pn_fail(err, PN_ENOMEM, "data: out of memory for %zu x %zu numbers", rows, data->p);
    return PN_OK;
}

/* Room for sparse features; start[n] is set. */
static pn_status add_sparse(pn_dataset *data, size_t entries, pn_err *err)
{
    pn_status status = pn_csr_init(&data->csr, data->n, data->p, entries, err);

    if (status != PN_OK)
        return status;
    data->sparse = true;
    data->csr.start[data->n] = entries;
    if (data->float32) {
        pn_free(data->csr.value); /* never touched, so it has cost nothing */
        data->csr.value = NULL;
        data->csr_single = pn_alloc(entries, sizeof *data->csr_single);
        if (!data->csr_single)
            return pn_fail(err, PN_ENOMEM, "data: out of memory for %zu entries", entries);
    }
    return PN_OK;
}

/* The result of a constructor: data on success, nothing on failure. */
static pn_status deliver(pn_dataset **out, pn_dataset *data, pn_status status)
{
    if (status == PN_OK)
        *out = data;
    else
        pn_dataset_free(data);
    return status;
}

pn_status pn_dataset_from_dense(pn_dataset **out, const double *X, size_t n, size_t p, const double *y,
                                const char *name, pn_err *err)
{
    pn_dataset *data = NULL;
    size_t bad, count = 0;
    pn_status status;

    if (n == 0 || p == 0)
        return pn_fail(err, PN_EDIM, "data: needs at least one record and one feature, got %zu x %zu", n, p);
    status = pn_size_product(&count, "data", "records x features", n, p, err);
    if (status != PN_OK)
        return status;
    bad = pn_first_nonfinite(X, count);
    if (bad < count)
        return pn_fail(err, PN_EDOMAIN, "data: entry (%zu, %zu) is not a finite number", bad / p + 1, bad % p + 1);
    status = check_labels(y, n, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, n, p, name, err);
    if (status == PN_OK)
        status = add_dense(data, err);
    if (status == PN_OK) {
        memcpy(data->dense, X, count * sizeof(double));
        memcpy(data->y, y, n * sizeof(double));
        pn_dataset_see_labels(data);
    }
    return deliver(out, data, status);
}

static void copy_csr(pn_csr *to, const pn_csr *from)
{
    size_t entries = from->start[from->rows];

    memcpy(to->start, from->start, (from->rows + 1) * sizeof *to->start);
    if (entries > 0) {
        memcpy(to->column, from->column, entries * sizeof *to->column);
        memcpy(to->value, from->value, entries * sizeof *to->value);
    }
}

/* What everything that walks the rows relies on. */
static pn_status check_starts(const pn_csr *X, pn_err *err)
{
    if (X->start[0] != 0)
        return pn_fail(err, PN_EINVAL, "data: the first row of a sparse matrix must start at 0, got %zu", X->start[0]);
    for (size_t i = 0; i < X->rows; i++) {
        if (X->start[i] > X->start[i + 1])
            return pn_fail(err, PN_EINVAL, "data: row %zu of a sparse matrix ends at %zu, before its start at %zu",
                           i + 1, X->start[i + 1], X->start[i]);
    }
    return PN_OK;
}

static pn_status check_csr(const pn_csr *X, pn_err *err)
{
    pn_status status = check_starts(X, err);

    for (size_t i = 0; i < X->rows && status == PN_OK; i++) {
        for (size_t k = X->start[i]; k < X->start[i + 1]; k++) {
            if (X->column[k] >= X->cols)
                return pn_fail(err, PN_EDIM, "data: row %zu has an entry in column %zu of %zu", i + 1,
                               (size_t)X->column[k] + 1, X->cols);
            if (!isfinite(X->value[k]))
                return pn_fail(err, PN_EDOMAIN, "data: entry (%zu, %zu) is not a finite number", i + 1,
                               (size_t)X->column[k] + 1);
        }
    }
    return status;
}

pn_status pn_dataset_from_csr(pn_dataset **out, const pn_csr *X, const double *y, const char *name, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_status status;

    if (X->rows == 0 || X->cols == 0)
        return pn_fail(err, PN_EDIM, "data: needs at least one record and one feature, got %zu x %zu", X->rows,
                       X->cols);
    status = check_csr(X, err);
    if (status == PN_OK)
        status = check_labels(y, X->rows, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, X->rows, X->cols, name, err);
    if (status == PN_OK)
        status = add_sparse(data, X->start[X->rows], err);
    if (status == PN_OK) {
        copy_csr(&data->csr, X);
        memcpy(data->y, y, X->rows * sizeof(double));
        pn_dataset_see_labels(data);
    }
    return deliver(out, data, status);
}

/* ---- copies and rearrangements: they work on stored entries and change none ---- */

/* Those that are stored. */
static size_t entries_of(const pn_dataset *data)
{
    return data->sparse ? data->csr.start[data->n] : (pn_dataset_held_end(data) - data->first) * data->p;
}

static pn_status add_features(pn_dataset *made, bool sparse, size_t entries, pn_err *err)
{
    return sparse ? add_sparse(made, entries, err) : add_dense(made, err);
}

pn_status pn_dataset_like(pn_dataset **out, const pn_dataset *data, size_t n, size_t p, bool sparse, size_t entries,
                          pn_err *err)
{
    pn_dataset *made = NULL;
    pn_status status = pn_dataset_need_records(data, "data", err);

    if (status == PN_OK)
        status = pn_dataset_shell(&made, n, p, data->name, err);
    if (status == PN_OK) {
        made->float32 = data->float32;
        made->bounds = data->bounds;
        status = add_features(made, sparse, entries, err);
    }
    return deliver(out, made, status);
}

/* Room for the records that `data` holds, and nothing in it yet but bounds, name, labels and names of features. */
static pn_status same_records(pn_dataset **out, const pn_dataset *data, bool float32, size_t first, size_t end,
                              pn_err *err)
{
    pn_dataset *made = NULL;
    pn_status status = pn_dataset_need_share(data, "data", err);

    if (status == PN_OK)
        status = pn_dataset_shell(&made, data->n, data->p, data->name, err);
    if (status == PN_OK) {
        made->float32 = float32;
        made->bounds = data->bounds;
        made->partial = end - first < data->n;
        made->first = first;
        made->held = made->partial ? end - first : 0;
        memcpy(made->y, data->y, data->n * sizeof(double));
        status = add_features(made, data->sparse, entries_of(data), err);
    }
    if (status == PN_OK)
        status = pn_dataset_name_features(made, data, NULL, err);
    return deliver(out, made, status);
}

pn_status pn_dataset_name_features(pn_dataset *made, const pn_dataset *data, const char *extra, pn_err *err)
{
    size_t own = data->feature_bytes, more = extra ? strlen(extra) + 1 : 0;

    if (!data->features)
        return PN_OK;
    made->features = pn_alloc(own + more, 1);
    if (!made->features)
        return pn_fail(err, PN_ENOMEM, "data: out of memory for the names of %zu features", made->p);
    memcpy(made->features, data->features, own);
    if (extra)
        memcpy(made->features + own, extra, more);
    made->feature_bytes = own + more;
    return PN_OK;
}

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
    pn_status status = same_records(&copy, data, data->float32, data->first, pn_dataset_held_end(data), err);

    if (status == PN_OK) {
        copy_entries(copy, 0, data, 0, entries_of(data));
        if (data->sparse)
            memcpy(copy->csr.start, data->csr.start, (data->n + 1) * sizeof *copy->csr.start);
    }
    return deliver(out, copy, status);
}

pn_status pn_dataset_hold(pn_dataset **out, const pn_dataset *data, size_t begin, size_t end, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_status status = pn_dataset_need_records(data, "share", err);

    if (status == PN_OK && data->sparse)
        status = pn_fail(err, PN_EUNSUPPORTED, "share: sparse features are not shared out; each rank has all of them");
    if (status == PN_OK && !(begin < end && end <= data->n))
        status = pn_fail(err, PN_EDIM, "share: a rank must hold some of the %zu records, got %zu to %zu", data->n,
                         begin + 1, end);
    if (status == PN_OK)
        status = same_records(&made, data, data->float32, begin, end, err);
    if (status == PN_OK)
        copy_entries(made, 0, data, begin * data->p, (end - begin) * data->p);
    return deliver(out, made, status);
}

pn_status pn_dataset_with_labels(pn_dataset **out, const pn_dataset *data, const double *y, size_t n, pn_err *err)
{
    pn_dataset *copy = NULL;
    pn_status status;

    if (n != data->n)
        return pn_fail(err, PN_EDIM, "with_labels: got %zu labels, the data set has %zu records", n, data->n);
    status = check_labels(y, n, err);
    if (status == PN_OK)
        status = pn_dataset_copy(&copy, data, err);
    if (status == PN_OK) {
        memcpy(copy->y, y, n * sizeof(double));
        pn_dataset_see_labels(copy);
    }
    return deliver(out, copy, status);
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
        pn_dataset_like(&wider, data, data->n, data->p + 1, data->sparse, entries_of(data) + data->n, err);

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
    return deliver(out, wider, status);
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
        status = pick(part, data, rows, task, err);
    return deliver(out, part, status);
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
    status = same_records(&made, data, true, data->first, pn_dataset_held_end(data), err);
    if (status == PN_OK)
        status = narrow_rows(made, data, err);
    if (status == PN_OK && data->sparse) {
        memcpy(made->csr.start, data->csr.start, (data->n + 1) * sizeof *made->csr.start);
        if (entries_of(data) > 0)
            memcpy(made->csr.column, data->csr.column, entries_of(data) * sizeof *made->csr.column);
    }
    return deliver(out, made, status);
}
