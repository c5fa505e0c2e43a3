/* dataset_origin.c -- where the records of a data set come from.  Depends on: build.h, core/origin.h.
 * Used by: the loaders, dataset.c. */
#include <string.h>

#include "core/alloc.h"
#include "data/build.h"

pn_status pn_dataset_set_origin(pn_dataset *data, pn_content content, pn_err *err)
{
    return pn_origin_new(&data->origin, content, data->n, data->name, err);
}

#define BLOCK 4096 /* numbers that the first cache holds, and their copies the second */

/* A digest of sizes and labels, which the features follow: the same numbers in another shape are something else. */
static pn_status begin_numbers(pn_digest **out, const pn_dataset *data, pn_err *err)
{
    size_t shape[3] = { data->n, data->p, data->first };

    PN_TRY(pn_made(*out = pn_digest_new(), err, "data: out of memory"));
    pn_digest_add(*out, shape, sizeof shape);
    pn_digest_add(*out, data->y, data->n * sizeof *data->y);
    return PN_OK;
}

static pn_status end_numbers(pn_dataset *data, pn_digest *digest, pn_status status, pn_err *err)
{
    if (status == PN_OK)
        status = pn_dataset_set_origin(data, pn_digest_content(digest), err);
    pn_digest_free(digest);
    return status;
}

pn_status pn_dataset_find_origin(pn_dataset *data, pn_err *err)
{
    size_t stored = pn_dataset_stored(data);
    pn_digest *digest = NULL;

    PN_TRY(begin_numbers(&digest, data, err));
    if (data->sparse) {
        pn_digest_add(digest, data->csr.start, (data->n + 1) * sizeof *data->csr.start);
        pn_digest_add(digest, data->csr.column, stored * sizeof *data->csr.column);
    }
    pn_digest_add(digest, data->sparse ? data->csr.value : data->dense, stored * sizeof(double));
    return end_numbers(data, digest, PN_OK, err);
}

pn_status pn_dataset_take_dense(pn_dataset *data, const double *X, pn_err *err)
{
    size_t count = data->n * data->p;
    pn_digest *digest = NULL;
    pn_status status = begin_numbers(&digest, data, err);

    for (size_t at = 0; at < count && status == PN_OK; at += BLOCK) {
        size_t some = count - at < BLOCK ? count - at : BLOCK, bad = at + pn_first_nonfinite(X + at, some);

        if (bad < at + some)
            status = pn_fail(err, PN_EDOMAIN, "data: entry (%zu, %zu) is not a finite number", bad / data->p + 1,
                             bad % data->p + 1);
        memcpy(data->dense + at, X + at, some * sizeof(double));
        pn_digest_add(digest, X + at, some * sizeof(double));
    }
    return end_numbers(data, digest, status, err);
}
