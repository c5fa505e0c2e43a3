/* csr.c -- compressed sparse rows.  Depends on: csr.h, core/.  Used by: data, objective, bindings. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "numeric/csr.h"

pn_status pn_csr_init(pn_csr *out, size_t rows, size_t cols, size_t nnz, pn_err *err)
{
    pn_status status = pn_size_check("sparse matrix", "the number of rows", rows, err);

    memset(out, 0, sizeof *out);
    if (status == PN_OK)
        status = pn_size_check("sparse matrix", "the number of entries", nnz, err);
    if (status != PN_OK)
        return status;
    if (cols > UINT32_MAX)
        return pn_fail(err, PN_EDIM, "sparse matrix: at most %lu columns, got %zu", (unsigned long)UINT32_MAX, cols);
    out->start = pn_calloc(rows + 1, sizeof *out->start);
    out->column = pn_alloc(nnz, sizeof *out->column);
    out->value = pn_alloc(nnz, sizeof *out->value);
    if (!out->start || !out->column || !out->value) {
        pn_csr_clear(out);
        return pn_fail(err, PN_ENOMEM, "sparse matrix: not enough memory for %zu rows and %zu entries", rows, nnz);
    }
    out->rows = rows;
    out->cols = cols;
    return PN_OK;
}

void pn_csr_clear(pn_csr *matrix)
{
    if (!matrix)
        return;
    pn_free(matrix->start);
    pn_free(matrix->column);
    pn_free(matrix->value);
    memset(matrix, 0, sizeof *matrix);
}

/* ---- triplets ---- */

static pn_status check_triplets(size_t rows, size_t cols, size_t count, const size_t *row, const size_t *column,
                                const double *value, pn_err *err)
{
    for (size_t k = 0; k < count; k++) {
        if (row[k] >= rows)
            return pn_fail(err, PN_EDIM, "sparse matrix: entry %zu is in row %zu of %zu", k + 1, row[k] + 1, rows);
        if (column[k] >= cols)
            return pn_fail(err, PN_EDIM, "sparse matrix: entry %zu is in column %zu of %zu", k + 1, column[k] + 1,
                           cols);
        if (!isfinite(value[k]))
            return pn_fail(err, PN_EDOMAIN, "sparse matrix: entry %zu is %s; finite numbers are needed", k + 1,
                           isnan(value[k]) ? "NaN" : "infinite");
    }
    return PN_OK;
}

typedef struct item {
    uint32_t column;
    size_t order; /* ties keep the order given, so sums of duplicates are reproducible */
    double value;
} item;

static int compare_items(const void *left, const void *right)
{
    const item *a = left, *b = right;

    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool rises(const uint32_t *column, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        if (column[k - 1] >= column[k])
            return false;
    }
    return true;
}

/* Sorts one row by column and sums duplicates; returns how many entries are left. */
static size_t tidy_row(uint32_t *column, double *value, size_t count, item *scratch)
{
    size_t kept = 0;

    if (rises(column, count))
        return count;
    for (size_t k = 0; k < count; k++)
        scratch[k] = (item){ column[k], k, value[k] };
    qsort(scratch, count, sizeof *scratch, compare_items);
    for (size_t k = 0; k < count; k++) {
        if (kept > 0 && column[kept - 1] == scratch[k].column) {
            value[kept - 1] += scratch[k].value;
        } else {
            column[kept] = scratch[k].column;
            value[kept++] = scratch[k].value;
        }
    }
    return kept;
}

/* Turns counts start[i + 1] into positions, scatters the triplets by row, and leaves start[] as the csr wants it. */
static void scatter(pn_csr *out, size_t count, const size_t *row, const size_t *column, const double *value)
{
    for (size_t k = 0; k < count; k++)
        out->start[row[k] + 1]++;
    for (size_t i = 0; i < out->rows; i++)
        out->start[i + 1] += out->start[i];
    for (size_t k = 0; k < count; k++) {
        size_t place = out->start[row[k]]++;

        out->column[place] = (uint32_t)column[k];
        out->value[place] = value[k];
    }
    memmove(out->start + 1, out->start, out->rows * sizeof *out->start);
    out->start[0] = 0;
}

static pn_status tidy(pn_csr *out, pn_err *err)
{
    size_t longest = 0, kept = 0;
    item *scratch;

    for (size_t i = 0; i < out->rows; i++)
        longest = longest > out->start[i + 1] - out->start[i] ? longest : out->start[i + 1] - out->start[i];
    PN_TRY(pn_new(&scratch, longest, err, "sparse matrix: not enough memory to sort a row of %zu entries", longest));
    for (size_t i = 0; i < out->rows; i++) {
        size_t from = out->start[i], count = out->start[i + 1] - from;

        memmove(out->column + kept, out->column + from, count * sizeof *out->column);
        memmove(out->value + kept, out->value + from, count * sizeof *out->value);
        out->start[i] = kept;
        kept += tidy_row(out->column + kept, out->value + kept, count, scratch);
    }
    out->start[out->rows] = kept;
    pn_free(scratch);
    for (size_t k = 0; k < kept; k++) {
        if (!isfinite(out->value[k]))
            return pn_fail(err, PN_EDOMAIN, "sparse matrix: the sum of duplicate entries is infinite");
    }
    return PN_OK;
}

pn_status pn_csr_from_triplets(pn_csr *out, size_t rows, size_t cols, size_t count, const size_t *row,
                               const size_t *column, const double *value, pn_err *err)
{
    pn_csr matrix;
    pn_status status;

    memset(out, 0, sizeof *out);
    PN_TRY(check_triplets(rows, cols, count, row, column, value, err));
    PN_TRY(pn_csr_init(&matrix, rows, cols, count, err));
    scatter(&matrix, count, row, column, value);
    status = tidy(&matrix, err);
    if (status != PN_OK) {
        pn_csr_clear(&matrix);
        return status;
    }
    *out = matrix;
    return PN_OK;
}

/* ---- operations ---- */

pn_status pn_csr_transpose(pn_csr *out, const pn_csr *matrix, pn_err *err)
{
    size_t nnz = matrix->start[matrix->rows];

    if (matrix->rows > UINT32_MAX)
        return pn_fail(err, PN_EDIM, "sparse transpose: at most %lu rows, got %zu", (unsigned long)UINT32_MAX,
                       matrix->rows);
    PN_TRY(pn_csr_init(out, matrix->cols, matrix->rows, nnz, err));
    for (size_t k = 0; k < nnz; k++)
        out->start[matrix->column[k] + 1]++;
    for (size_t j = 0; j < out->rows; j++)
        out->start[j + 1] += out->start[j];
    for (size_t i = 0; i < matrix->rows; i++) {
        for (size_t k = matrix->start[i]; k < matrix->start[i + 1]; k++) {
            size_t place = out->start[matrix->column[k]]++;

            out->column[place] = (uint32_t)i;
            out->value[place] = matrix->value[k];
        }
    }
    memmove(out->start + 1, out->start, out->rows * sizeof *out->start);
    out->start[0] = 0;
    return PN_OK;
}

void pn_csr_times(const pn_csr *matrix, const double *x, double *y)
{
    for (size_t i = 0; i < matrix->rows; i++) {
        double sum = 0.0;

        for (size_t k = matrix->start[i]; k < matrix->start[i + 1]; k++)
            sum += matrix->value[k] * x[matrix->column[k]];
        y[i] = sum;
    }
}
