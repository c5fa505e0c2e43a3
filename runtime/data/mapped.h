/* mapped.h -- a file that is read as memory, and must stay as it is.
 * Depends on: status.h, POSIX.  Used by: dataset.c, rows.c, files/stored_open.c. */
#ifndef PN_DATA_MAPPED_H
#define PN_DATA_MAPPED_H

#include <stddef.h>
#include <time.h>

#include "core/status.h"

typedef struct pn_mapped {
    int fd;
    char *base;   /* NULL: not mapped yet */
    size_t bytes; /* of the file; 0 for what is no regular file */
    struct timespec changed;
    char *path;
} pn_mapped;

/** Open, not mapped yet.  Errors: PN_EIO, PN_ENOMEM. */
pn_status pn_mapped_open(pn_mapped **out, const char *path, pn_err *err);
/** Map all of it, for reading.  Errors: PN_ENOMEM. */
pn_status pn_mapped_read(pn_mapped *file, pn_err *err);
void pn_mapped_close(pn_mapped *file); /* NULL allowed */

/** PN_OK when size and time of change are those of when it was opened; else PN_EIO "who: ...". */
pn_status pn_mapped_same(const pn_mapped *file, const char *who, pn_err *err);
/** Bytes from `at`, inside of the file, will be read soon: the system fetches them meanwhile. */
void pn_mapped_ahead(const pn_mapped *file, const void *at, size_t bytes);

#endif
