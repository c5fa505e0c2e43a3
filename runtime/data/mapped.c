/* mapped.c -- see mapped.h.  Depends on: mapped.h, core (alloc.h, file.h), POSIX (mmap).  Used by: data. */
#define _DEFAULT_SOURCE /* madvise */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/file.h"
#include "data/mapped.h"

void pn_mapped_close(pn_mapped *file)
{
    if (!file)
        return;
    if (file->base)
        (void)munmap(file->base, file->bytes);
    (void)close(file->fd);
    pn_free(file->path);
    pn_free(file);
}

pn_status pn_mapped_same(const pn_mapped *file, const char *who, pn_err *err)
{
    struct stat now;

    if (fstat(file->fd, &now) != 0)
        return pn_fail(err, PN_EIO, "%s: %.200s: %s", who, file->path, strerror(errno));
    if ((size_t)now.st_size == file->bytes && now.st_mtim.tv_sec == file->changed.tv_sec &&
        now.st_mtim.tv_nsec == file->changed.tv_nsec)
        return PN_OK;
    return pn_fail(err, PN_EIO, "%s: %.200s was changed since it was opened; open it again", who, file->path);
}

void pn_mapped_ahead(const pn_mapped *file, const void *at, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = (size_t)((const char *)at - file->base);
    size_t start = from / page * page;

    (void)madvise(file->base + start, from - start + bytes, MADV_WILLNEED);
}

pn_status pn_mapped_open(pn_mapped **out, const char *path, pn_err *err)
{
    pn_mapped *file;
    struct stat at;

    PN_TRY(pn_new_zeroed(&file, 1, err, "%.300s: out of memory", path));
    file->fd = pn_file_open(path, O_RDONLY, 0);
    if (file->fd < 0 || fstat(file->fd, &at) != 0) {
        int why = errno;

        if (file->fd >= 0)
            (void)close(file->fd);
        pn_free(file);
        return pn_fail(err, PN_EIO, "%.300s: %s", path, strerror(why));
    }
    file->bytes = S_ISREG(at.st_mode) ? (size_t)at.st_size : 0;
    file->changed = at.st_mtim;
    file->path = pn_strdup(path);
    if (!file->path) {
        pn_mapped_close(file);
        return pn_fail(err, PN_ENOMEM, "%.300s: out of memory", path);
    }
    *out = file;
    return PN_OK;
}

pn_status pn_mapped_read(pn_mapped *file, pn_err *err)
{
    void *base = mmap(NULL, file->bytes, PROT_READ, MAP_SHARED, file->fd, 0);

    if (base == MAP_FAILED)
        return pn_fail(err, PN_ENOMEM, "%.300s: its %zu bytes were not mapped: %s", file->path, file->bytes,
                       strerror(errno));
    file->base = base;
    return PN_OK;
}
