/* dataset_origin.c -- where the records of a data set come from.  Depends on: build.h, core/origin.h.
 * Used by: the loaders, dataset.c. */
#include "core/alloc.h"
#include "data/build.h"

pn_status pn_dataset_set_origin(pn_dataset *data, pn_content content, pn_err *err)
{
    return pn_origin_new(&data->origin, content, data->n, data->name, err);
}

/* Sizes first, so that the same numbers in another shape are something else. */
static void add_numbers(pn_digest *digest, const pn_dataset *data)
{
    size_t stored = pn_dataset_stored(data), shape[3] = { data->n, data->p, data->first };

    pn_digest_add(digest, shape, sizeof shape);
    pn_digest_add(digest, data->y, data->n * sizeof *data->y);
    if (data->sparse) {
        pn_digest_add(digest, data->csr.start, (data->n + 1) * sizeof *data->csr.start);
        pn_digest_add(digest, data->csr.column, stored * sizeof *data->csr.column);
    }
    pn_digest_add(digest, data->sparse ? data->csr.value : data->dense, stored * sizeof(double));
}

pn_status pn_dataset_find_origin(pn_dataset *data, pn_err *err)
{
    pn_digest *digest = pn_digest_new();
    pn_status status;

    PN_TRY(pn_made(digest, err, "data: out of memory"));
    add_numbers(digest, data);
    status = pn_dataset_set_origin(data, pn_digest_content(digest), err);
    pn_digest_free(digest);
    return status;
}
