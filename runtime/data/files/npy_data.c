/* npy_data.c -- a data set from two NumPy files, one with the features and one with the labels.
 * Depends on: dataset.h, build.h, numeric/npy.h.  Used by: bindings. */
#include <string.h>

#include "core/vault.h"
#include "data/build.h"
#include "numeric/npy.h"

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static pn_status check_shapes(const pn_npy *X, const char *xpath, const pn_npy *y, const char *ypath, pn_err *err)
{
    if (X->dims != 2)
        return pn_fail(err, PN_EDIM, "%.200s: the features must have two dimensions, records x features, got one (%zu)",
                       xpath, X->shape[0]);
    if (y->dims == 2 && y->shape[1] != 1)
        return pn_fail(err, PN_EDIM, "%.200s: the labels must be one number for each record, got %zu x %zu", ypath,
                       y->shape[0], y->shape[1]);
    if (X->shape[0] != y->shape[0])
        return pn_fail(err, PN_EDIM, "data.npy: %.200s has %zu records, %.200s has %zu labels", xpath, X->shape[0],
                       ypath, y->shape[0]);
    return PN_OK;
}

pn_status pn_dataset_load_npy(pn_dataset **out, const char *xpath, const char *ypath, pn_task *task, pn_err *err)
{
    return pn_dataset_load_npy_share(out, xpath, ypath, NULL, task, err);
}

pn_status pn_dataset_load_npy_share(pn_dataset **out, const char *xpath, const char *ypath, const pn_ranks *ranks,
                                    pn_task *task, pn_err *err)
{
    pn_npy X = { .data = NULL }, y = { .data = NULL };
    pn_dataset *data = NULL;
    pn_status status =
        pn_npy_load_records(&y, ypath, NULL, task, err); /* the short one first: what is wrong shows sooner */

    if (status == PN_OK)
        status = pn_npy_load_records(&X, xpath, ranks, task, err);
    if (status == PN_OK)
        status = check_shapes(&X, xpath, &y, ypath, err);
    if (status == PN_OK)
        status = pn_dataset_shell(&data, X.shape[0], X.shape[1], last_part(xpath), err);
    if (status == PN_OK) {
        data->dense = X.data; /* it is ours now: no second copy */
        X.data = NULL;
        data->partial = X.rows < data->n;
        data->first = X.first;
        data->held = data->partial ? X.rows : 0;
        memcpy(data->y, y.data, data->n * sizeof *data->y);
        pn_dataset_see_labels(data);
        status = pn_dataset_find_origin(data, err);
    }
    pn_vault_free(X.data);
    pn_vault_free(y.data);
    return pn_dataset_deliver(out, data, status);
}
