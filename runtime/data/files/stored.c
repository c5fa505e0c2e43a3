/* stored.c -- writes a data set as a file that can be mapped.
 * Depends on: stored.h, layout.h, core (file.h, origin.h, task.h).  Used by: bindings. */
#include <errno.h>
#include <string.h>

#include "core/alloc.h"
#include "core/file.h"
#include "data/files/stored.h"

pn_status pn_stored_sum(pn_content *out, const void *bytes, size_t count, pn_err *err)
{
    pn_digest *digest = pn_digest_new();

    PN_TRY(pn_made(digest, err, "data: out of memory"));
    pn_digest_add(digest, bytes, count);
    *out = pn_digest_content(digest);
    pn_digest_free(digest);
    return PN_OK;
}

pn_status pn_stored_header_sum(pn_content *out, const pn_stored_header *header, pn_err *err)
{
    pn_stored_header plain = *header;

    plain.self = (pn_content){ { 0, 0 } };
    return pn_stored_sum(out, &plain, sizeof plain, err);
}

static void describe(pn_stored_header *out, const pn_dataset *data)
{
    const pn_record_bounds *bounds = &data->bounds;

    memset(out, 0, sizeof *out);
    out->magic = PN_STORED_MAGIC;
    out->bytes = sizeof *out;
    out->sizes = pn_layout_sizes_of(data, true);
    memcpy(out->norm, bounds->norm, sizeof out->norm);
    out->label_low = bounds->label_low;
    out->label_high = bounds->label_high;
    out->usual = bounds->usual;
    out->labels_binary = bounds->labels_binary;
    out->constant = bounds->constant;
    out->categories_found = bounds->categories_found;
    out->has_origin = data->origin != NULL;
    if (data->origin) {
        out->origin = pn_origin_content(data->origin);
        out->origin_records = pn_origin_records(data->origin);
    }
}

typedef struct writer {
    int fd;
    const char *path;
    pn_task *task;
    double done, all; /* bytes */
    pn_content *sums; /* where the next one goes */
} writer;

static pn_status put(const writer *self, const void *bytes, size_t count, size_t offset, pn_err *err)
{
    int why = pn_file_write(self->fd, bytes, count, offset);

    return why == 0 ? PN_OK : pn_fail(err, PN_EIO, "%.300s: %s", self->path, strerror(why));
}

static pn_status write_array(writer *self, const void *from, size_t bytes, size_t offset, pn_err *err)
{
    for (size_t at = 0; at < bytes; at += PN_STORED_BLOCK) {
        size_t some = bytes - at < PN_STORED_BLOCK ? bytes - at : PN_STORED_BLOCK;
        const char *block = (const char *)from + at;

        PN_TRY(pn_task_report(self->task, "writing bytes", self->done, self->all, err));
        PN_TRY(pn_stored_sum(self->sums++, block, some, err));
        PN_TRY(put(self, block, some, offset + at, err));
        self->done += (double)some;
    }
    return PN_OK;
}

static pn_status write_all(writer *self, const pn_dataset *data, pn_stored_header *header, const pn_layout *layout,
                           pn_err *err)
{
    const void *from[PN_ARRAYS];
    pn_content *sums;
    size_t count = 0;
    pn_status status = PN_OK;

    for (int i = 0; i < PN_ARRAYS; i++)
        count += pn_stored_blocks(layout->bytes[i]);
    PN_TRY(pn_new(&sums, count, err, "%.300s: out of memory", self->path));
    self->sums = sums;
    pn_layout_arrays(data, from);
    for (int i = 0; i < PN_ARRAYS && status == PN_OK; i++)
        status = write_array(self, from[i], layout->bytes[i], layout->offset[i], err);
    if (status == PN_OK)
        status = pn_stored_sum(&header->checks, sums, count * sizeof *sums, err);
    if (status == PN_OK)
        status = put(self, sums, count * sizeof *sums, layout->end, err);
    if (status == PN_OK)
        status = pn_stored_header_sum(&header->self, header, err);
    if (status == PN_OK)
        status = put(self, header, sizeof *header, 0, err);
    pn_free(sums);
    return status;
}

pn_status pn_dataset_store(const pn_dataset *data, const char *path, pn_task *task, pn_err *err)
{
    pn_stored_header header;
    pn_file_draft draft;
    pn_layout layout;
    pn_status status;
    int why;

    PN_TRY(pn_dataset_need_share(data, "data.store", err));
    describe(&header, data);
    if (!pn_layout_find(&layout, &header.sizes))
        return pn_fail(err, PN_EDIM, "%.300s: %zu x %zu numbers are more than a file holds", path, data->n, data->p);
    why = pn_file_begin(&draft, path, 0600);
    if (why != 0)
        return pn_fail(err, PN_EIO, "%.300s: %s", path, strerror(why));
    status = write_all(&(writer){ draft.fd, path, task, 0.0, (double)layout.end, NULL }, data, &header, &layout, err);
    if (status == PN_OK && ((why = pn_file_sync(draft.fd)) != 0 || (why = pn_file_name(&draft, true, NULL)) != 0))
        status = pn_fail(err, PN_EIO, "%.300s: %s", path, strerror(why));
    pn_file_end(&draft);
    return status;
}
