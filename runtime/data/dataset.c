/* dataset.c -- data sets from memory, copies, and the transformations that leave every value as it is.
 * Depends on: dataset.h, build.h, core, numeric.  Used by: every file of this room, objective, bindings. */
#define _DEFAULT_SOURCE /* madvise */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "core/alloc.h"
#include "data/build.h"

#define LARGE_PAGE ((uintptr_t)2 << 20)

void pn_dataset_free(pn_dataset *data)
{
    if (!data)
        return;
    if (data->sparse)
        pn_csr_clear(&data->csr);
    pn_free(data->dense);
    pn_free(data->y);
    pn_free(data->name);
    pn_free(data);
}

pn_status pn_dataset_shell(pn_dataset **out, size_t n, size_t p, const char *name, pn_err *err)
{
    pn_dataset *data = pn_calloc(1, sizeof *data);

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

/* A matrix of hundreds of megabytes costs less to fill, and to walk through in every gradient, on large pages.  A hint: the
 * system may do as it likes. */
static void prefer_large_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t)block + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)block + bytes) & ~(LARGE_PAGE - 1);

    if (end > first)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

double *pn_dataset_rows(size_t n, size_t p)
{
    double *rows = n <= SIZE_MAX / p ? pn_alloc(n * p, sizeof *rows) : NULL;

    if (rows)
        prefer_large_pages(rows, n * p * sizeof *rows);
    return rows;
}

/* Room for dense features: n * p numbers, uninitialised. */
static pn_status add_dense(pn_dataset *data, pn_err *err)
{
    data->dense = pn_dataset_rows(data->n, data->p);
    if (!data->dense)
        return pn_fail(err, PN_ENOMEM, "data: out of memory for %zu x %zu numbers", data->n, data->p);
    return PN_OK;
}

/* Room for sparse features; start[n] is set. */
static pn_status add_sparse(pn_dataset *data, size_t entries, pn_err *err)
{
    pn_status status = pn_csr_init(&data->csr, data->n, data->p, entries, err);

    if (status == PN_OK) {
        data->sparse = true;
        data->csr.start[data->n] = entries;
    }
    return status;
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
    size_t bad;
    pn_status status;

    if (n == 0 || p == 0)
        return pn_fail(err, PN_EDIM, "data: needs at least one record and one feature, got %zu x %zu", n, p);
    bad = pn_first_nonfinite(X, n * p);
    if (bad < n * p)
        return pn_fail(err, PN_EDOMAIN, "data: entry (%zu, %zu) is not a finite number", bad / p + 1, bad % p + 1);
    status = check_labels(y, n, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, n, p, name, err);
    if (status == PN_OK)
        status = add_dense(data, err);
    if (status == PN_OK) {
        memcpy(data->dense, X, n * p * sizeof(double));
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

static pn_status check_csr(const pn_csr *X, pn_err *err)
{
    for (size_t i = 0; i < X->rows; i++) {
        for (size_t k = X->start[i]; k < X->start[i + 1]; k++) {
            if (!isfinite(X->value[k]))
                return pn_fail(err, PN_EDOMAIN, "data: entry (%zu, %zu) is not a finite number", i + 1,
                               (size_t)X->column[k] + 1);
        }
    }
    return PN_OK;
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

/* ---- copies and rearrangements ---- */

pn_status pn_dataset_copy(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    pn_dataset *copy = NULL;
    pn_status status = pn_dataset_shell(&copy, data->n, data->p, data->name, err);

    if (status == PN_OK)
        status = data->sparse ? add_sparse(copy, data->csr.start[data->n], err) : add_dense(copy, err);
    if (status == PN_OK) {
        if (data->sparse)
            copy_csr(&copy->csr, &data->csr);
        else
            memcpy(copy->dense, data->dense, data->n * data->p * sizeof(double));
        memcpy(copy->y, data->y, data->n * sizeof(double));
        copy->bounds = data->bounds;
    }
    return deliver(out, copy, status);
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

static void append_ones_dense(pn_dataset *to, const pn_dataset *from)
{
    for (size_t i = 0; i < from->n; i++) {
        memcpy(to->dense + i * to->p, from->dense + i * from->p, from->p * sizeof(double));
        to->dense[i * to->p + from->p] = 1.0;
    }
}

static void append_ones_sparse(pn_csr *to, const pn_csr *from)
{
    for (size_t i = 0; i < from->rows; i++) {
        size_t first = from->start[i], count = from->start[i + 1] - first, at = first + i;

        to->start[i] = at;
        if (count > 0) {
            memcpy(to->column + at, from->column + first, count * sizeof *to->column);
            memcpy(to->value + at, from->value + first, count * sizeof *to->value);
        }
        to->column[at + count] = (uint32_t)from->cols;
        to->value[at + count] = 1.0;
    }
}

pn_status pn_dataset_add_bias(pn_dataset **out, const pn_dataset *data, pn_err *err)
{
    pn_dataset *wider = NULL;
    pn_status status = pn_dataset_shell(&wider, data->n, data->p + 1, data->name, err);

    if (status == PN_OK)
        status = data->sparse ? add_sparse(wider, data->csr.start[data->n] + data->n, err) : add_dense(wider, err);
    if (status == PN_OK) {
        if (data->sparse)
            append_ones_sparse(&wider->csr, &data->csr);
        else
            append_ones_dense(wider, data);
        memcpy(wider->y, data->y, data->n * sizeof(double));
        wider->bounds = data->bounds;
        pn_bounds_with_bias(&wider->bounds);
    }
    return deliver(out, wider, status);
}

static void pick_dense(pn_dataset *to, const pn_dataset *from, const size_t *rows)
{
    for (size_t k = 0; k < to->n; k++)
        memcpy(to->dense + k * to->p, from->dense + rows[k] * from->p, to->p * sizeof(double));
}

static void pick_sparse(pn_csr *to, const pn_csr *from, const size_t *rows)
{
    size_t at = 0;

    for (size_t k = 0; k < to->rows; k++) {
        size_t first = from->start[rows[k]], count = from->start[rows[k] + 1] - first;

        to->start[k] = at;
        if (count > 0) {
            memcpy(to->column + at, from->column + first, count * sizeof *to->column);
            memcpy(to->value + at, from->value + first, count * sizeof *to->value);
        }
        at += count;
    }
}

/* Entries of the picked rows; checks the indices. */
static pn_status count_picked(const pn_dataset *data, const size_t *rows, size_t count, size_t *entries, pn_err *err)
{
    *entries = 0;
    if (count == 0)
        return pn_fail(err, PN_EDIM, "subset: needs at least one record, got 0");
    for (size_t k = 0; k < count; k++) {
        if (rows[k] >= data->n)
            return pn_fail(err, PN_EDIM, "subset: record %zu asked for, the data set has %zu", rows[k] + 1, data->n);
        if (data->sparse)
            *entries += data->csr.start[rows[k] + 1] - data->csr.start[rows[k]];
    }
    return PN_OK;
}

pn_status pn_dataset_subset(pn_dataset **out, const pn_dataset *data, const size_t *rows, size_t count, pn_err *err)
{
    pn_dataset *part = NULL;
    size_t entries;
    pn_status status = count_picked(data, rows, count, &entries, err);

    if (status == PN_OK)
        status = pn_dataset_shell(&part, count, data->p, data->name, err);
    if (status == PN_OK)
        status = data->sparse ? add_sparse(part, entries, err) : add_dense(part, err);
    if (status == PN_OK) {
        if (data->sparse)
            pick_sparse(&part->csr, &data->csr, rows);
        else
            pick_dense(part, data, rows);
        for (size_t k = 0; k < count; k++)
            part->y[k] = data->y[rows[k]];
        part->bounds = data->bounds;
    }
    return deliver(out, part, status);
}
