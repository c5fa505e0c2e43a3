/* transform.c -- features z = P x by a public linear map.  A row's bound is renewed: ||z||_2 <= ||P|| ||x||_2, and no
 * other norm's bound passes a map.  What is recorded is enforced as well, by a clip that only rounding could need.
 * Depends on: dataset.h, build.h, rows.h, numeric.  Used by: bindings. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"
#include "data/rows.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

static const char owner[] = "transform";

static pn_status check_map(const pn_dataset *data, pn_mat map, pn_err *err)
{
    if (map.rows == 0 || map.cols != data->p)
        return pn_fail(err, PN_EDIM, "%s: P is %zu x %zu, the data has %zu features", owner, map.rows, map.cols,
                       data->p);
    if (isnan(data->bounds.norm[PN_L2]))
        return pn_fail(err, PN_EINVAL, "%s: the rows have no public bound, so their images would have none: %s", owner,
                       PN_HOW_TO_BOUND_ROWS);
    return pn_dataset_need_records(data, owner, err);
}

/* *norm >= ||P||: the largest singular value as computed, and what LAPACK and a row's product may be off by, a modest
 * multiple of (rows + columns) roundings of the Frobenius norm. */
static pn_status operator_norm(double *norm, pn_mat map, pn_err *err)
{
    size_t least = map.rows < map.cols ? map.rows : map.cols;
    double *U = pn_alloc(map.rows * least, sizeof *U), *Vt = pn_alloc(least * map.cols, sizeof *Vt);
    double *s = pn_alloc(least, sizeof *s), frobenius = 0.0;
    pn_status status = pn_made(U && s && Vt, err, "%s: out of memory", owner);

    if (status == PN_OK)
        status = pn_svd(U, s, Vt, map, err);
    if (status == PN_OK) {
        for (size_t k = 0; k < least; k++)
            frobenius = hypot(frobenius, s[k]);
        *norm = s[0] + 64.0 * (double)(map.rows + map.cols) * DBL_EPSILON * frobenius;
    }
    pn_free(U);
    pn_free(s);
    pn_free(Vt);
    return status;
}

/* The image's bound; it may be none of those that clips take. */
static pn_status image_bound(double *bound, const pn_dataset *data, pn_mat map, pn_err *err)
{
    double norm = 0.0;
    pn_status status = operator_norm(&norm, map, err);

    if (status != PN_OK)
        return pn_fail_in(err, status, owner);
    *bound = norm > 0.0 ? nextafter(norm * data->bounds.norm[PN_L2], INFINITY) : 0.0;
    if (!(*bound >= 0x1p-400 && *bound <= 0x1p400))
        return pn_fail(err, PN_EINVAL,
                       "%s: P times rows of norm %g would have norm up to %g, which must be from 2^-400 "
                       "to 2^400",
                       owner, data->bounds.norm[PN_L2], *bound);
    return PN_OK;
}

/* z[rows] = P x of row i. */
static void map_row(double *z, const pn_rows *from, size_t i, pn_mat map)
{
    const pn_dataset *data = from->data;
    size_t count;
    const double *entries = pn_rows_get(from, i, &count);
    const uint32_t *column = data->sparse ? data->csr.column + data->csr.start[i] : NULL;

    if (!column) {
        pn_mat_times_vec(map, entries, z);
        return;
    }
    for (size_t k = 0; k < map.rows; k++) {
        z[k] = 0.0;
        for (size_t j = 0; j < count; j++)
            z[k] += entries[j] * map.data[k * map.cols + column[j]];
    }
}

static pn_status map_rows(pn_rows *to, const pn_rows *from, pn_mat map, double bound, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t i = 0; i < from->data->n && status == PN_OK; i++) {
        size_t count;
        double *z = pn_rows_edit(to, i, &count);

        map_row(z, from, i, map);
        pn_row_clip(z, count, PN_L2, bound);
        pn_rows_put(to, i);
        status = pn_rows_stopped(i, err);
    }
    return status;
}

pn_status pn_dataset_transform(pn_dataset **out, const pn_dataset *data, pn_mat map, pn_err *err)
{
    pn_dataset *made = NULL;
    pn_rows from = { NULL, NULL }, to = { NULL, NULL };
    double bound = NAN;
    pn_status status = check_map(data, map, err);

    if (status == PN_OK)
        status = image_bound(&bound, data, map, err);
    if (status == PN_OK)
        status = pn_dataset_like(&made, data, data->n, map.rows, false, 0, err);
    if (status == PN_OK)
        status = pn_rows_open(&from, data, err);
    if (status == PN_OK)
        status = pn_rows_open(&to, made, err);
    if (status == PN_OK)
        status = map_rows(&to, &from, map, bound, err);
    if (status == PN_OK) {
        memcpy(made->y, data->y, data->n * sizeof *made->y);
        for (int norm = 0; norm < PN_LP_COUNT; norm++)
            made->bounds.norm[norm] = NAN;
        made->bounds.usual = 0.0;
        pn_bounds_tighten(&made->bounds, map.rows, PN_L2, bound);
    }
    pn_rows_close(&from);
    pn_rows_close(&to);
    return pn_dataset_deliver(out, made, status);
}
