/* dataset.c -- data sets from memory, and room for others.
 * Depends on: dataset.h, build.h, rows.h, core, numeric.  Used by: every file of this room, objective, bindings. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "core/vault.h"
#include "data/build.h"
#include "data/mapped.h"
#include "data/rows.h"

void pn_dataset_free(pn_dataset *data)
{
    if (!data)
        return;
    if (data->file) {
        pn_mapped_close(data->file);
    } else {
        pn_vault_free(data->csr.start);
        pn_vault_free(data->csr.column);
        pn_vault_free(data->csr.value);
        pn_vault_free(data->dense);
        pn_vault_free(data->single);
        pn_vault_free(data->csr_single);
        pn_vault_free(data->y);
    }
    pn_free(data->folder);
    pn_origin_free(data->origin);
    pn_free(data->name);
    pn_free(data->features);
    pn_free(data->recipe);
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
        data->y = pn_vault_alloc(n, sizeof(double));
        data->name = pn_strdup(name ? name : "data");
        for (int norm = 0; norm < PN_LP_COUNT; norm++)
            data->bounds.norm[norm] = NAN;
        data->bounds.label_low = data->bounds.label_high = NAN;
    }
    if (!data || !data->y || !data->name) {
        pn_dataset_free(data);
        return pn_fail(err, PN_ENOMEM, "data: %s for %zu records", data ? pn_vault_lack() : "out of memory", n);
    }
    *out = data;
    return PN_OK;
}

pn_status pn_dataset_absent(pn_dataset **out, size_t n, size_t p, const pn_record_bounds *bounds, const char *name,
                            pn_err *err)
{
    pn_dataset *data;

    if (n == 0 || p == 0)
        return pn_fail(err, PN_EDIM, "data: needs at least one record and one feature, got %zu x %zu", n, p);
    PN_TRY(check_shape(n, p, err));
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
    if (data->file)
        return pn_mapped_same(data->file, who, err);
    if (!data->absent)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED,
                   "%s: the parties hold the records of this data set, and this process does "
                   "not",
                   who);
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

pn_status pn_dataset_check_labels(const double *y, size_t n, pn_err *err)
{
    size_t bad = pn_first_nonfinite(y, n);

    if (bad < n)
        return pn_fail(err, PN_EDOMAIN, "data: label %zu is not a finite number", bad + 1);
    return PN_OK;
}

double *pn_dataset_alloc_rows(size_t n, size_t p)
{
    size_t count;

    return pn_size_multiply(&count, n, p) ? pn_vault_alloc(count, sizeof(double)) : NULL;
}

/* Room for the dense features that are held, uninitialised. */
static pn_status add_dense(pn_dataset *data, pn_err *err)
{
    size_t rows = pn_dataset_held_end(data) - data->first, count;

    if (data->float32)
        data->single = pn_size_multiply(&count, rows, data->p) ? pn_vault_alloc(count, sizeof *data->single) : NULL;
    else
        data->dense = pn_dataset_alloc_rows(rows, data->p);
    if (!data->dense && !data->single)
        return pn_fail(err, PN_ENOMEM, "%.100s: %s for a dense matrix of %zu x %zu (%.0f MiB)", data->name,
                       pn_vault_lack(), rows, data->p,
                       (double)rows * (double)data->p * (data->float32 ? sizeof(float) : sizeof(double)) / 1048576.0);
    return PN_OK;
}

/* Room for sparse features; start[n] is set. */
static pn_status add_sparse(pn_dataset *data, size_t entries, pn_err *err)
{
    pn_csr *csr = &data->csr;

    if (data->p > UINT32_MAX)
        return pn_fail(err, PN_EDIM, "data: sparse features are at most %lu, got %zu", (unsigned long)UINT32_MAX,
                       data->p);
    data->sparse = true;
    *csr = (pn_csr){ data->n, data->p, pn_vault_alloc(data->n + 1, sizeof *csr->start),
                     pn_vault_alloc(entries, sizeof *csr->column), NULL };
    if (data->float32)
        data->csr_single = pn_vault_alloc(entries, sizeof *data->csr_single);
    else
        csr->value = pn_vault_alloc(entries, sizeof *csr->value);
    if (!csr->start || !csr->column || !(data->float32 ? (void *)data->csr_single : (void *)csr->value))
        return pn_fail(err, PN_ENOMEM, "%.100s: %s for %zu entries", data->name, pn_vault_lack(), entries);
    memset(csr->start, 0, data->n * sizeof *csr->start);
    csr->start[data->n] = entries;
    return PN_OK;
}

pn_status pn_dataset_deliver(pn_dataset **out, pn_dataset *data, pn_status status)
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
    size_t count = 0;
    pn_status status;

    if (n == 0 || p == 0)
        return pn_fail(err, PN_EDIM, "data: needs at least one record and one feature, got %zu x %zu", n, p);
    PN_TRY(pn_size_product(&count, "data", "records x features", n, p, err));
    status = pn_dataset_check_labels(y, n, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, n, p, name, err);
    if (status == PN_OK)
        status = add_dense(data, err);
    if (status == PN_OK) {
        memcpy(data->y, y, n * sizeof(double));
        pn_dataset_see_labels(data);
        status = pn_dataset_take_dense(data, X, err);
    }
    return pn_dataset_deliver(out, data, status);
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
        status = pn_dataset_check_labels(y, X->rows, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, X->rows, X->cols, name, err);
    if (status == PN_OK)
        status = add_sparse(data, X->start[X->rows], err);
    if (status == PN_OK) {
        copy_csr(&data->csr, X);
        memcpy(data->y, y, X->rows * sizeof(double));
        pn_dataset_see_labels(data);
        status = pn_dataset_find_origin(data, err);
    }
    return pn_dataset_deliver(out, data, status);
}

/* ---- room like another's ---- */

size_t pn_dataset_stored(const pn_dataset *data)
{
    size_t end = pn_dataset_held_end(data);

    return data->sparse ? pn_csr_place(data, end) : (end - data->first) * data->p;
}

pn_status pn_dataset_make_room(pn_dataset *made, bool sparse, size_t entries, pn_err *err)
{
    return sparse ? add_sparse(made, entries, err) : add_dense(made, err);
}

/* What is made of records that are on disk is on disk, in the same folder. */
static pn_status shell_like(pn_dataset **out, const pn_dataset *data, size_t n, size_t p, pn_err *err)
{
    pn_status status = pn_dataset_shell(out, n, p, data->name, err);

    if (status == PN_OK && data->folder) {
        (*out)->folder = pn_strdup(data->folder);
        status = pn_made((*out)->folder, err, "data: out of memory");
    }
    return status;
}

pn_status pn_dataset_like(pn_dataset **out, const pn_dataset *data, size_t n, size_t p, bool sparse, size_t entries,
                          pn_err *err)
{
    const char *place = data->folder ? pn_vault_place(data->folder) : NULL;
    pn_dataset *made = NULL;
    pn_status status = pn_dataset_need_records(data, "data", err);

    if (status == PN_OK)
        status = shell_like(&made, data, n, p, err);
    if (status == PN_OK) {
        made->float32 = data->float32;
        made->bounds = data->bounds;
        made->origin = pn_origin_keep(data->origin);
        status = pn_dataset_make_room(made, sparse, entries, err);
    }
    if (data->folder)
        (void)pn_vault_place(place);
    return pn_dataset_deliver(out, made, status);
}

pn_status pn_dataset_same_records(pn_dataset **out, const pn_dataset *data, bool float32, size_t first, size_t end,
                                  pn_err *err)
{
    const char *place = data->folder ? pn_vault_place(data->folder) : NULL;
    pn_dataset *made = NULL;
    pn_status status = pn_dataset_need_share(data, "data", err);

    if (status == PN_OK)
        status = shell_like(&made, data, data->n, data->p, err);
    if (status == PN_OK) {
        made->float32 = float32;
        made->bounds = data->bounds;
        made->origin = pn_origin_keep(data->origin);
        made->partial = end - first < data->n;
        made->first = first;
        made->held = made->partial ? end - first : 0;
        memcpy(made->y, data->y, data->n * sizeof(double));
        status = pn_dataset_make_room(made, data->sparse,
                                      data->sparse ? data->csr.start[end] - data->csr.start[first] : 0, err);
    }
    if (data->folder)
        (void)pn_vault_place(place);
    if (status == PN_OK && data->sparse)
        memcpy(made->csr.start, data->csr.start, (data->n + 1) * sizeof *data->csr.start);
    if (status == PN_OK)
        status = pn_dataset_name_features(made, data, NULL, err);
    if (status == PN_OK)
        status = pn_dataset_set_recipe(made, data->recipe, err);
    return pn_dataset_deliver(out, made, status);
}

pn_status pn_dataset_set_recipe(pn_dataset *data, const char *json, pn_err *err)
{
    char *kept = json ? pn_strdup(json) : NULL;

    if (json)
        PN_TRY(pn_made(kept, err, "data: out of memory for the recipe"));
    pn_free(data->recipe);
    data->recipe = kept;
    return PN_OK;
}

pn_status pn_dataset_name_features(pn_dataset *made, const pn_dataset *data, const char *extra, pn_err *err)
{
    size_t own = data->feature_bytes, more = extra ? strlen(extra) + 1 : 0;

    if (!data->features)
        return PN_OK;
    PN_TRY(pn_new(&made->features, own + more, err, "data: out of memory for the names of %zu features", made->p));
    memcpy(made->features, data->features, own);
    if (extra)
        memcpy(made->features + own, extra, more);
    made->feature_bytes = own + more;
    return PN_OK;
}
