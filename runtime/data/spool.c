/* spool.c -- records of unknown number and width, kept small until both are known.
 * Depends on: spool.h, build.h, core, numeric.  Used by: libsvm.c, csv.c. */
#define _DEFAULT_SOURCE /* madvise */
#include <sys/mman.h>
#include <unistd.h>

#include "core/vault.h"
#include "data/build.h"
#include "data/spool.h"

#define FIRST_CHUNK   ((size_t)4 << 10)
#define LARGEST_CHUNK ((size_t)1 << 20)
#define LARGEST_PAGED ((size_t)1 << 26) /* on disk: a process has some ten thousand mappings */
#define SPARSE_BELOW  5                 /* AUTO: sparse when fewer than 1 entry in 5 is present */

/* Where the stream stood when the chunk began is kept with it, so that chunks can be decoded in any order. */
struct pn_chunk {
    pn_chunk *previous;
    size_t capacity, used;
    size_t records, entries;
    uint32_t column;
    unsigned char bytes[];
};

bool pn_spool_grow(pn_spool *spool)
{
    size_t capacity = spool->last ? spool->last->capacity * 2 : FIRST_CHUNK;
    size_t largest = pn_vault_placed() ? LARGEST_PAGED : LARGEST_CHUNK;
    pn_chunk *chunk;

    if (capacity > largest)
        capacity = largest;
    chunk = pn_vault_alloc(sizeof *chunk + capacity, 1);
    if (!chunk)
        return false;
    if (spool->last)
        spool->last->used = (size_t)(spool->at - spool->last->bytes);
    *chunk = (pn_chunk){ .previous = spool->last,
                         .capacity = capacity,
                         .records = spool->records,
                         .entries = spool->entries,
                         .column = spool->column };
    spool->last = chunk;
    spool->at = chunk->bytes;
    spool->end = chunk->bytes + capacity;
    return true;
}

/* An allocator may keep freed chunks for itself while the matrix grows beside them; their pages go back to the system
 * now.  Only pages that lie wholly inside the chunk: the allocator's own notes are outside. */
static void give_back_pages(pn_chunk *chunk)
{
#ifdef MADV_DONTNEED
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)chunk->bytes + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)chunk->bytes + chunk->capacity) & ~(page - 1);

    if (chunk->capacity == LARGEST_CHUNK && end > first)
        (void)madvise((void *)first, end - first, MADV_DONTNEED);
#else
    (void)chunk;
#endif
}

static void drop_last(pn_spool *spool)
{
    pn_chunk *chunk = spool->last;

    spool->last = chunk->previous;
    give_back_pages(chunk);
    pn_vault_free(chunk);
}

void pn_spool_clear(pn_spool *spool)
{
    while (spool->last)
        drop_last(spool);
    memset(spool, 0, sizeof *spool);
}

/* One token: the step and the value; returns the byte after it. */
static const unsigned char *read_token(const unsigned char *at, uint32_t *step, double *value)
{
    unsigned tag = *at++;

    *step = tag >> 3;
    if (*step == PN_STEP_WIDE) {
        memcpy(step, at, sizeof *step);
        at += sizeof *step;
    }
    switch (tag & 7u) {
    case PN_KIND_ONE:
        *value = 1.0;
        return at;
    case PN_KIND_8:
        *value = (int8_t)*at;
        return at + 1;
    case PN_KIND_16: {
        int16_t half;

        memcpy(&half, at, sizeof half);
        *value = half;
        return at + sizeof half;
    }
    case PN_KIND_32: {
        int32_t whole;

        memcpy(&whole, at, sizeof whole);
        *value = whole;
        return at + sizeof whole;
    }
    default:
        memcpy(value, at, sizeof *value);
        return at + sizeof *value;
    }
}

static void put_laid_out(double *row, const pn_spool_layout *layout, size_t column, double value)
{
    if (layout->place[column])
        row[layout->first[column] + layout->place[column][(size_t)value - 1]] = 1.0;
    else
        row[layout->first[column]] = value;
}

/* `covered`: dense cells from here on are filled already.  Zeroing no sooner than here keeps untouched pages out of
 * memory while the chunks are still there. */
static void move_dense(pn_dataset *data, const pn_chunk *chunk, const pn_spool_layout *layout, size_t *covered)
{
    const unsigned char *at = chunk->bytes, *end = at + chunk->used;
    size_t done = layout ? layout->first[chunk->column] : chunk->column; /* features of the record it begins in */
    size_t first = chunk->records > 0 ? (chunk->records - 1) * data->p + done : 0;
    double *row = data->dense + (chunk->records > 0 ? (chunk->records - 1) * data->p : 0);
    size_t record = chunk->records, column = chunk->column;

    memset(data->dense + first, 0, (*covered - first) * sizeof(double));
    *covered = first;
    while (at < end) {
        uint32_t step;
        double value;

        at = read_token(at, &step, &value);
        if (step == PN_STEP_LABEL) {
            data->y[record] = value;
            row = data->dense + record++ * data->p;
            column = 0;
        } else {
            column += step;
            if (layout)
                put_laid_out(row, layout, column - 1, value);
            else
                row[column - 1] = value;
        }
    }
}

/* The layout keeps the order of columns, and a record has one feature of each at most. */
static void put_entry(pn_dataset *data, const pn_spool_layout *layout, size_t column, double value, size_t entry)
{
    size_t feature = layout ? layout->first[column] : column;

    if (layout && layout->place[column]) {
        feature += layout->place[column][(size_t)value - 1];
        value = 1.0;
    }
    data->csr.column[entry] = (uint32_t)feature;
    data->csr.value[entry] = value;
}

static void move_sparse(pn_dataset *data, const pn_chunk *chunk, const pn_spool_layout *layout)
{
    const unsigned char *at = chunk->bytes, *end = at + chunk->used;
    size_t record = chunk->records, entry = chunk->entries;
    uint32_t column = chunk->column;

    while (at < end) {
        uint32_t step;
        double value;

        at = read_token(at, &step, &value);
        if (step == PN_STEP_LABEL) {
            data->csr.start[record] = entry;
            data->y[record++] = value;
            column = 0;
        } else {
            column += step;
            put_entry(data, layout, column - 1, value, entry++);
        }
    }
}

static bool wants_sparse(const pn_spool *spool, size_t p, pn_storage storage)
{
    if (storage == PN_STORAGE_AUTO)
        return (double)spool->entries * SPARSE_BELOW < (double)spool->records * (double)p;
    return storage == PN_STORAGE_SPARSE;
}

pn_status pn_spool_finish(pn_dataset **out, pn_spool *spool, size_t p, pn_storage storage,
                          const pn_spool_layout *layout, const char *name, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_status status = pn_dataset_shell(&data, spool->records, p, name, err);
    size_t covered = spool->records * p;

    if (status == PN_OK) {
        data->sparse = wants_sparse(spool, p, storage);
        status = pn_dataset_make_room(data, data->sparse, spool->entries, err);
    }
    if (status != PN_OK) {
        pn_dataset_free(data);
        pn_spool_clear(spool);
        return status;
    }
    spool->last->used = (size_t)(spool->at - spool->last->bytes);
    while (spool->last) {
        if (data->sparse)
            move_sparse(data, spool->last, layout);
        else
            move_dense(data, spool->last, layout, &covered);
        drop_last(spool);
    }
    pn_spool_clear(spool);
    *out = data;
    return PN_OK;
}
