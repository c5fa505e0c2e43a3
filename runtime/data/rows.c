/* rows.c -- rows as doubles, and the rounding of float32 storage.  Depends on: rows.h, build.h, core.
 * Used by: data, objective. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/alloc.h"
#include "core/stop.h"
#include "data/build.h"
#include "data/mapped.h"
#include "data/rows.h"

/* The nearest float, or the one before it in magnitude when that is too large: one less in its bits,
 * also of infinity. */
static float toward_zero(double x)
{
    float nearest = (float)x;
    uint32_t bits;

    memcpy(&bits, &nearest, sizeof bits);
    bits -= fabs((double)nearest) > fabs(x);
    memcpy(&nearest, &bits, sizeof bits);
    return nearest;
}

void pn_narrow(float *out, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = toward_zero(x[i]);
}

void pn_widen(double *out, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)x[i];
}

static size_t longest_row(const pn_dataset *data)
{
    size_t longest = 1;

    if (!data->sparse)
        return data->p;
    for (size_t i = 0; i < data->n; i++) {
        size_t count = data->csr.start[i + 1] - data->csr.start[i];

        longest = count > longest ? count : longest;
    }
    return longest;
}

static pn_status open_rows(pn_rows *rows, const pn_dataset *data, bool shared, pn_err *err)
{
    pn_status status;

    *rows = (pn_rows){ data, NULL };
    status = data->absent || !shared ? pn_dataset_need_records(data, "data", err) : PN_OK;
    if (status != PN_OK || !data->float32)
        return status;
    rows->wide = pn_alloc(longest_row(data), sizeof *rows->wide);
    return rows->wide ? PN_OK : pn_fail(err, PN_ENOMEM, "data: out of memory for a row of %zu features", data->p);
}

pn_status pn_rows_open(pn_rows *rows, const pn_dataset *data, pn_err *err)
{
    return open_rows(rows, data, false, err);
}

pn_status pn_rows_open_held(pn_rows *rows, const pn_dataset *data, pn_err *err)
{
    return open_rows(rows, data, true, err);
}

void pn_rows_close(pn_rows *rows)
{
    pn_free(rows->wide);
    rows->wide = NULL;
}

size_t pn_row_place(const pn_dataset *data, size_t i, size_t *count)
{
    *count = data->sparse ? data->csr.start[i + 1] - data->csr.start[i] : data->p;
    return data->sparse ? pn_csr_place(data, i) : (i - data->first) * data->p;
}

double *pn_rows_edit(pn_rows *rows, size_t i, size_t *count)
{
    const pn_dataset *data = rows->data;
    size_t first = pn_row_place(data, i, count);

    if (!data->float32)
        return (data->sparse ? data->csr.value : data->dense) + first;
    pn_widen(rows->wide, (data->sparse ? data->csr_single : data->single) + first, *count);
    return rows->wide;
}

const double *pn_rows_get(const pn_rows *rows, size_t i, size_t *count)
{
    pn_rows same = *rows;

    return pn_rows_edit(&same, i, count);
}

void pn_rows_put(pn_rows *rows, size_t i)
{
    const pn_dataset *data = rows->data;
    size_t count, first = pn_row_place(data, i, &count);

    if (data->float32)
        pn_narrow((data->sparse ? data->csr_single : data->single) + first, rows->wide, count);
}

pn_status pn_rows_stopped(size_t i, pn_err *err)
{
    return i % PN_ROWS_GRAIN ? PN_OK : pn_stop_asked(err);
}

/* ---- records on disk ---- */

#define AT_ONCE ((size_t)1 << 20)

size_t pn_rows_at_once(const pn_dataset *data)
{
    size_t entry = data->float32 ? sizeof(float) : sizeof(double);
    size_t bytes = data->sparse ? data->csr.start[data->n] / data->n * (entry + sizeof(uint32_t)) : data->p * entry;

    return bytes < AT_ONCE ? AT_ONCE / (bytes + 1) : 1;
}

static void fetch(const pn_dataset *data, size_t first, size_t end)
{
    size_t entry = data->float32 ? sizeof(float) : sizeof(double);
    size_t from = data->sparse ? pn_csr_place(data, first) : (first - data->first) * data->p;
    size_t count = data->sparse ? data->csr.start[end] - data->csr.start[first] : (end - first) * data->p;
    const char *numbers = data->dense     ? (const char *)data->dense
                          : data->single  ? (const char *)data->single
                          : data->float32 ? (const char *)data->csr_single
                                          : (const char *)data->csr.value;

    if (count == 0)
        return;
    pn_mapped_ahead(data->file, numbers + from * entry, count * entry);
    if (data->sparse)
        pn_mapped_ahead(data->file, data->csr.column + from, count * sizeof *data->csr.column);
}

void pn_rows_ahead(const pn_dataset *data, const size_t *rows, size_t first, size_t end)
{
    if (!data->file || first >= end)
        return;
    if (!rows)
        fetch(data, first, end);
    for (size_t r = first; rows && r < end; r++) {
        if (pn_dataset_holds(data, rows[r]))
            fetch(data, rows[r], rows[r] + 1);
    }
}
