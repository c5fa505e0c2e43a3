/* shared.c -- a data set as one piece of shared memory: a page that describes it, then its arrays.
 * Depends on: shared.h, layout.h, core/, Linux (memfd).  Used by: bindings/curator/. */
#define _GNU_SOURCE /* seals */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/file.h"
#include "core/vault.h"
#include "data/layout.h"
#include "data/shared.h"

#define MAGIC 0x6465726168736e70u /* "pnshared" */

typedef struct header {
    uint64_t magic;
    size_t size; /* of everything */
    pn_layout_sizes sizes;
    pn_record_bounds bounds;
} header;

_Static_assert(sizeof(header) <= PN_LAYOUT_FIRST, "the description has its own pages");

static pn_status fill(int fd, const pn_dataset *data, pn_err *err)
{
    header about = { .magic = MAGIC, .sizes = pn_layout_sizes_of(data, false), .bounds = data->bounds };
    const void *from[PN_ARRAYS];
    pn_layout layout;
    int why = pn_layout_find(&layout, &about.sizes) ? pn_file_reserve(fd, layout.end) : EOVERFLOW;
    char *to;

    if (why)
        return pn_fail(err, PN_EIO, "data: no shared memory for %zu records of %zu features: %s", data->n, data->p,
                       strerror(why));
    about.size = layout.end;
    to = mmap(NULL, about.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (to == MAP_FAILED)
        return pn_fail(err, PN_EIO, "data: shared memory of %zu bytes was not mapped: %s", about.size, strerror(errno));
    memcpy(to, &about, sizeof about);
    pn_layout_arrays(data, from);
    for (int i = 0; i < PN_ARRAYS; i++) {
        if (layout.bytes[i] > 0)
            memcpy(to + layout.offset[i], from[i], layout.bytes[i]);
    }
    (void)munmap(to, about.size);
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
        return pn_fail(err, PN_EIO, "data: shared memory was not sealed: %s", strerror(errno));
    return PN_OK;
}

pn_status pn_dataset_publish(int *fd, const pn_dataset *data, pn_err *err)
{
    pn_status status = pn_dataset_need_records(data, "data", err);
    int made;

    *fd = -1;
    if (status != PN_OK)
        return status;
    made = pn_file_memory("penumbra-records");
    if (made < 0)
        return pn_fail(err, PN_EUNSUPPORTED, "data: the system cannot create shared memory: %s", strerror(errno));
    status = fill(made, data, err);
    if (status == PN_OK)
        *fd = made;
    else
        (void)close(made);
    return status;
}

/* The arrays are the mapping's. */
static void drop_view(pn_dataset *data)
{
    if (data)
        pn_free(data->name);
    pn_free(data);
}

static pn_status view(pn_dataset **out, char *base, const header *about, const char *name, pn_err *err)
{
    pn_layout layout;
    pn_dataset *data;

    /* The maker is trusted; another kind of file is a mistake. */
    if (about->magic != MAGIC || !pn_layout_find(&layout, &about->sizes) || layout.end != about->size)
        return pn_fail(err, PN_EPARSE, "data: this memory holds no records that were shared");
    data = pn_calloc(1, sizeof *data);
    if (data)
        data->name = pn_strdup(name);
    if (!data || !data->name) {
        drop_view(data);
        return pn_fail(err, PN_ENOMEM, "data: out of memory");
    }
    pn_layout_view(data, base, &layout, &about->sizes);
    data->bounds = about->bounds;
    *out = data;
    return PN_OK;
}

pn_status pn_dataset_attach(pn_dataset **out, int fd, const char *name, pn_err *err)
{
    struct stat at;
    char *base;
    header about;
    pn_status status;

    *out = NULL;
    if (fstat(fd, &at) != 0 || (size_t)at.st_size < PN_LAYOUT_FIRST)
        return pn_fail(err, PN_EPARSE, "data: this memory holds no records that were shared");
    base = mmap(NULL, (size_t)at.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return pn_fail(err, PN_ENOMEM, "data: %zu bytes of records were not mapped: %s", (size_t)at.st_size,
                       strerror(errno));
    memcpy(&about, base, sizeof about);
    status = about.size == (size_t)at.st_size ? view(out, base, &about, name, err)
                                              : pn_fail(err, PN_EPARSE, "data: this memory was cut");
    if (status == PN_OK)
        status = pn_vault_add(base + PN_LAYOUT_FIRST, (size_t)at.st_size - PN_LAYOUT_FIRST, err);
    if (status == PN_OK)
        return PN_OK;
    drop_view(*out);
    *out = NULL;
    (void)munmap(base, (size_t)at.st_size);
    return status;
}
