/* shared.c -- a data set as one piece of shared memory: a page that describes it, then its arrays.
 * Depends on: shared.h, core/, Linux (memfd).  Used by: bindings/curator/. */
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
#include "data/shared.h"

#define MAGIC  0x6465726168736e70u /* "pnshared" */
#define HEADER ((size_t)1 << 16)   /* a whole number of pages anywhere: what stands behind it is locked */
#define ALIGN  ((size_t)64)

enum { LABELS, DENSE, SINGLE, START, COLUMN, VALUE, CSR_SINGLE, ARRAYS };

/* bytes 0: there is no such array.  Offsets are from the start of the memory. */
typedef struct header {
    uint64_t magic;
    size_t size; /* of everything */
    size_t n, p, entries;
    bool sparse, float32;
    pn_record_bounds bounds;
    size_t offset[ARRAYS], bytes[ARRAYS];
} header;

_Static_assert(sizeof(header) <= HEADER, "the description has its own pages");

static void describe(header *out, const pn_dataset *data)
{
    size_t n = data->n, cells = data->sparse ? data->csr.start[n] : n * data->p, at = HEADER;

    *out = (header){ .magic = MAGIC,
                     .n = n,
                     .p = data->p,
                     .entries = data->sparse ? cells : 0,
                     .sparse = data->sparse,
                     .float32 = data->float32,
                     .bounds = data->bounds };
    out->bytes[LABELS] = n * sizeof *data->y;
    out->bytes[DENSE] = data->dense ? cells * sizeof *data->dense : 0;
    out->bytes[SINGLE] = data->single ? cells * sizeof *data->single : 0;
    out->bytes[START] = data->sparse ? (n + 1) * sizeof *data->csr.start : 0;
    out->bytes[COLUMN] = data->sparse ? cells * sizeof *data->csr.column : 0;
    out->bytes[VALUE] = data->csr.value ? cells * sizeof *data->csr.value : 0;
    out->bytes[CSR_SINGLE] = data->csr_single ? cells * sizeof *data->csr_single : 0;
    for (int i = 0; i < ARRAYS; i++) {
        out->offset[i] = at;
        at += (out->bytes[i] + ALIGN - 1) / ALIGN * ALIGN;
    }
    out->size = at;
}

static pn_status fill(int fd, const header *about, const pn_dataset *data, pn_err *err)
{
    const void *const from[ARRAYS] = { data->y,          data->dense,     data->single,    data->csr.start,
                                       data->csr.column, data->csr.value, data->csr_single };
    char *to;

    if (ftruncate(fd, (off_t)about->size) != 0)
        return pn_fail(err, PN_EIO, "data: no shared memory of %zu bytes: %s", about->size, strerror(errno));
    to = mmap(NULL, about->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (to == MAP_FAILED)
        return pn_fail(err, PN_EIO, "data: shared memory of %zu bytes was not mapped: %s", about->size,
                       strerror(errno));
    memcpy(to, about, sizeof *about);
    for (int i = 0; i < ARRAYS; i++) {
        if (about->bytes[i] > 0)
            memcpy(to + about->offset[i], from[i], about->bytes[i]);
    }
    (void)munmap(to, about->size);
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
        return pn_fail(err, PN_EIO, "data: shared memory was not sealed: %s", strerror(errno));
    return PN_OK;
}

pn_status pn_dataset_publish(int *fd, const pn_dataset *data, pn_err *err)
{
    pn_status status = pn_dataset_need_records(data, "data", err);
    header about;
    int made;

    *fd = -1;
    if (status != PN_OK)
        return status;
    describe(&about, data);
    made = pn_file_memory("penumbra-records");
    if (made < 0)
        return pn_fail(err, PN_EUNSUPPORTED, "data: the system gives no shared memory: %s", strerror(errno));
    status = fill(made, &about, data, err);
    if (status == PN_OK)
        *fd = made;
    else
        (void)close(made);
    return status;
}

/* The maker is trusted; another kind of file is a mistake. */
static pn_status check(const header *about, size_t size, pn_err *err)
{
    bool fine = about->magic == MAGIC && about->size == size;

    for (int i = 0; fine && i < ARRAYS; i++)
        fine = about->offset[i] >= HEADER && about->offset[i] <= size && about->bytes[i] <= size - about->offset[i];
    return fine ? PN_OK : pn_fail(err, PN_EPARSE, "data: this memory holds no records that were shared");
}

static void *array(char *base, const header *about, int which)
{
    return about->bytes[which] > 0 ? base + about->offset[which] : NULL;
}

static pn_status view(pn_dataset **out, char *base, const header *about, const char *name, pn_err *err)
{
    pn_dataset *data = pn_calloc(1, sizeof *data);

    if (data)
        data->name = pn_strdup(name);
    if (!data || !data->name) {
        pn_free(data);
        return pn_fail(err, PN_ENOMEM, "data: out of memory");
    }
    data->n = about->n;
    data->p = about->p;
    data->sparse = about->sparse;
    data->float32 = about->float32;
    data->bounds = about->bounds;
    data->y = array(base, about, LABELS);
    data->dense = array(base, about, DENSE);
    data->single = array(base, about, SINGLE);
    if (about->sparse)
        data->csr = (pn_csr){ about->n, about->p, array(base, about, START), array(base, about, COLUMN),
                              array(base, about, VALUE) };
    data->csr_single = array(base, about, CSR_SINGLE);
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
    if (fstat(fd, &at) != 0 || (size_t)at.st_size < HEADER)
        return pn_fail(err, PN_EPARSE, "data: this memory holds no records that were shared");
    base = mmap(NULL, (size_t)at.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return pn_fail(err, PN_ENOMEM, "data: %zu bytes of records were not mapped: %s", (size_t)at.st_size,
                       strerror(errno));
    memcpy(&about, base, sizeof about);
    status = check(&about, (size_t)at.st_size, err);
    if (status == PN_OK)
        status = view(out, base, &about, name, err);
    if (status == PN_OK)
        status = pn_vault_add(base + HEADER, (size_t)at.st_size - HEADER, err);
    if (status != PN_OK)
        (void)munmap(base, (size_t)at.st_size);
    return status;
}
