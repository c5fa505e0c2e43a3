/* stored_open.c -- maps a data set that stored.c wrote, and checks all of it once.
 * Depends on: stored.h, layout.h, mapped.h, rows.h, core/task.h, POSIX (madvise).  Used by: dataset.c, bindings. */
#define _DEFAULT_SOURCE /* madvise, pread */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/alloc.h"
#include "data/build.h"
#include "data/files/stored.h"
#include "data/mapped.h"

/* ---- the header ---- */

#define SAY_WRITTEN "pn.data.store(path, data) writes such files"

static pn_status read_header(pn_stored_header *out, const pn_mapped *file, pn_err *err)
{
    ssize_t got = pread(file->fd, out, sizeof *out, 0);
    pn_content sum;

    if (got < 0)
        return pn_fail(err, PN_EIO, "%.300s: %s", file->path, strerror(errno));
    if (file->bytes < PN_LAYOUT_FIRST || got != (ssize_t)sizeof *out || out->magic != PN_STORED_MAGIC ||
        out->bytes != sizeof *out)
        return pn_fail(err, PN_EPARSE, "%.300s: not a stored data set of this version and this kind of machine; %s",
                       file->path, SAY_WRITTEN);
    PN_TRY(pn_stored_header_sum(&sum, out, err));
    if (memcmp(&sum, &out->self, sizeof sum) != 0)
        return pn_fail(err, PN_EPARSE, "%.300s: the header was changed or damaged; write the file again", file->path);
    return PN_OK;
}

static pn_status check_size(const pn_mapped *file, const pn_stored_header *header, pn_layout *layout, size_t *sums,
                            pn_err *err)
{
    size_t wanted;

    if (!pn_layout_find(layout, &header->sizes))
        return pn_fail(err, PN_EPARSE, "%.300s: the sizes in the header contradict one another", file->path);
    *sums = 0;
    for (int i = 0; i < PN_ARRAYS; i++)
        *sums += pn_stored_blocks(layout->bytes[i]);
    wanted = layout->end + *sums * sizeof(pn_content);
    if (file->bytes != wanted)
        return pn_fail(err, PN_EIO, "%.300s: has %zu bytes, and its header announces %zu: it was cut or changed",
                       file->path, file->bytes, wanted);
    return PN_OK;
}

/* ---- the arrays ---- */

/* Blocks are compared just before their numbers are looked at, so that the file is read once. */
typedef struct checker {
    const pn_mapped *file;
    const pn_layout *layout;
    const pn_content *sums[PN_ARRAYS]; /* of the first block of each array */
    size_t compared[PN_ARRAYS];        /* blocks */
    pn_task *task;
} checker;

static pn_status compare_block(const checker *self, int array, size_t block, pn_err *err)
{
    size_t at = block * PN_STORED_BLOCK, left = self->layout->bytes[array] - at;
    size_t place = self->layout->offset[array] + at;
    pn_content sum;

    left = left < PN_STORED_BLOCK ? left : PN_STORED_BLOCK;
    PN_TRY(pn_task_report(self->task, "checking bytes", (double)place, (double)self->file->bytes, err));
    PN_TRY(pn_stored_sum(&sum, self->file->base + place, left, err));
    if (memcmp(&sum, &self->sums[array][block], sizeof sum) == 0)
        return PN_OK;
    return pn_fail(err, PN_EIO, "%.300s: bytes %zu to %zu are not what was written: the file was changed or damaged",
                   self->file->path, place + 1, place + left);
}

/* The first `bytes` of an array may be looked at after this. */
static pn_status compare_to(checker *self, int array, size_t bytes, pn_err *err)
{
    while (self->compared[array] < pn_stored_blocks(bytes)) {
        PN_TRY(compare_block(self, array, self->compared[array], err));
        self->compared[array]++;
    }
    return PN_OK;
}

static pn_status check_starts(checker *self, const pn_dataset *data, size_t entries, pn_err *err)
{
    PN_TRY(compare_to(self, PN_ARRAY_START, self->layout->bytes[PN_ARRAY_START], err));
    if (data->csr.start[0] != 0 || pn_dataset_stored(data) != entries)
        return pn_fail(err, PN_EDOMAIN, "%.300s: the sparse rows do not cover its entries", self->file->path);
    for (size_t i = 0; i < data->n; i++) {
        if (data->csr.start[i] > data->csr.start[i + 1])
            return pn_fail(err, PN_EDOMAIN, "%.300s: sparse row %zu ends before it starts", self->file->path, i + 1);
    }
    return PN_OK;
}

/* What the features of records before `end` take, of those that are held. */
static size_t cells_to(const pn_dataset *data, size_t end)
{
    size_t last = end < pn_dataset_held_end(data) ? end : pn_dataset_held_end(data);

    if (last <= data->first)
        return 0;
    return data->sparse ? pn_csr_place(data, last) : (last - data->first) * data->p;
}

/* Some rows at a time: all of their arrays are compared, then they are looked at. */
static pn_status check_rows(checker *self, const pn_rows *rows, pn_err *err)
{
    const pn_dataset *data = rows->data;
    size_t width = data->sparse ? 1 : data->p, step = PN_STORED_BLOCK / sizeof(double) / width + 1;

    for (size_t i = 0; i < data->n; i += step) {
        size_t end = data->n - i < step ? data->n : i + step, cells = cells_to(data, end);
        static const struct {
            int array;
            size_t size;
        } of_cells[] = { { PN_ARRAY_DENSE, sizeof(double) },
                         { PN_ARRAY_SINGLE, sizeof(float) },
                         { PN_ARRAY_COLUMN, sizeof(uint32_t) },
                         { PN_ARRAY_VALUE, sizeof(double) },
                         { PN_ARRAY_CSR_SINGLE, sizeof(float) } };

        PN_TRY(compare_to(self, PN_ARRAY_LABELS, end * sizeof(double), err));
        for (size_t k = 0; k < sizeof of_cells / sizeof *of_cells; k++) {
            if (self->layout->bytes[of_cells[k].array] > 0)
                PN_TRY(compare_to(self, of_cells[k].array, cells * of_cells[k].size, err));
        }
        PN_TRY(pn_stored_check_rows(rows, i, end, err));
    }
    return PN_OK;
}

static pn_status check_all(checker *self, const pn_dataset *data, const pn_stored_header *header, pn_err *err)
{
    const pn_content *sums = (const pn_content *)(const void *)(self->file->base + self->layout->end);
    size_t count = 0;
    pn_content sum;
    pn_status status;
    pn_rows rows;

    for (int i = 0; i < PN_ARRAYS; i++) {
        self->sums[i] = sums + count;
        count += pn_stored_blocks(self->layout->bytes[i]);
    }
    PN_TRY(pn_stored_sum(&sum, sums, count * sizeof *sums, err));
    if (memcmp(&sum, &header->checks, sizeof sum) != 0)
        return pn_fail(err, PN_EIO, "%.300s: its check sums were changed or damaged", self->file->path);
    if (data->sparse)
        PN_TRY(check_starts(self, data, header->sizes.entries, err));
    PN_TRY(pn_rows_open_held(&rows, data, err));
    status = check_rows(self, &rows, err);
    pn_rows_close(&rows);
    for (int i = 0; i < PN_ARRAYS && status == PN_OK; i++)
        status = compare_to(self, i, self->layout->bytes[i], err);
    return status;
}

/* ---- the texts, which are copied ---- */

static pn_status copy_text(char **out, const checker *self, int array, size_t zeros, pn_err *err)
{
    size_t bytes = self->layout->bytes[array], found = 0;
    const char *from = self->file->base + self->layout->offset[array];

    if (bytes == 0)
        return PN_OK;
    for (size_t i = 0; i < bytes; i++)
        found += from[i] == '\0';
    if (found != zeros || from[bytes - 1] != '\0')
        return pn_fail(err, PN_EPARSE, "%.300s: its strings are not terminated where they should be", self->file->path);
    PN_TRY(pn_new(out, bytes, err, "%.300s: out of memory", self->file->path));
    memcpy(*out, from, bytes);
    return PN_OK;
}

static pn_status copy_texts(pn_dataset *data, const checker *self, pn_err *err)
{
    PN_TRY(copy_text(&data->name, self, PN_ARRAY_NAME, 1, err));
    if (!data->name)
        return pn_fail(err, PN_EPARSE, "%.300s: it has no name", self->file->path);
    PN_TRY(copy_text(&data->features, self, PN_ARRAY_FEATURES, data->p, err));
    data->feature_bytes = self->layout->bytes[PN_ARRAY_FEATURES];
    return copy_text(&data->recipe, self, PN_ARRAY_RECIPE, 1, err);
}

/* What stands behind the sums was written by somebody who knew the format; that it is a bound is looked at all the
 * same. */
static bool are_bounds(const pn_stored_header *header)
{
    double low = header->label_low, high = header->label_high;
    bool fine = isfinite(header->usual) && header->usual >= 0.0;

    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        fine = fine && (isnan(header->norm[norm]) || (isfinite(header->norm[norm]) && header->norm[norm] >= 0.0));
    return fine && ((isnan(low) && isnan(high)) || (isfinite(low) && isfinite(high) && low <= high));
}

static void take_bounds(pn_record_bounds *out, const pn_stored_header *header)
{
    memcpy(out->norm, header->norm, sizeof out->norm);
    out->label_low = header->label_low;
    out->label_high = header->label_high;
    out->usual = header->usual;
    out->labels_binary = header->labels_binary != 0;
    out->constant = header->constant != 0;
    out->categories_found = header->categories_found != 0;
}

static pn_status folder_of(char **out, const char *path, pn_err *err)
{
    const char *slash = strrchr(path, '/');

    *out = pn_strdup(slash ? path : ".");
    PN_TRY(pn_made(*out, err, "%.300s: out of memory", path));
    if (slash)
        (*out)[slash == path ? 1 : slash - path] = '\0';
    return PN_OK;
}

static pn_status map(pn_dataset *data, const pn_stored_header *header, pn_task *task, pn_err *err)
{
    pn_mapped *file = data->file;
    pn_layout layout;
    checker check = { .file = file, .layout = &layout, .task = task };
    size_t sums;

    PN_TRY(check_size(file, header, &layout, &sums, err));
    PN_TRY(pn_mapped_read(file, err));
    (void)madvise(file->base, file->bytes, MADV_SEQUENTIAL);
    pn_layout_view(data, file->base, &layout, &header->sizes);
    if (!are_bounds(header))
        return pn_fail(err, PN_EPARSE, "%.300s: the bounds in the header make no sense", file->path);
    take_bounds(&data->bounds, header);
    PN_TRY(check_all(&check, data, header, err));
    PN_TRY(copy_texts(data, &check, err));
    PN_TRY(folder_of(&data->folder, file->path, err));
    if (header->has_origin)
        PN_TRY(pn_origin_new(&data->origin, header->origin, header->origin_records, data->name, err));
    (void)madvise(file->base, file->bytes, MADV_NORMAL);
    return pn_mapped_same(file, "data.store", err);
}

pn_status pn_dataset_open(pn_dataset **out, const char *path, pn_task *task, pn_err *err)
{
    pn_dataset *data;
    pn_stored_header header;
    pn_status status;

    PN_TRY(pn_new_zeroed(&data, 1, err, "%.300s: out of memory", path));
    status = pn_mapped_open(&data->file, path, err);
    if (status == PN_OK)
        status = read_header(&header, data->file, err);
    if (status == PN_OK)
        status = map(data, &header, task, err);
    return pn_dataset_deliver(out, data, status);
}
