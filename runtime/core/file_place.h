/* file_place.h -- what belongs to a file and not to its contents: where it is, how far it has come, and whose it is.
 * So a copy is told from what was copied, a file from its own past, and one's own file from a stranger's.
 * Private to the library.
 * Depends on: status.h, POSIX, Linux where it is there (time of birth, extended attributes).
 * Used by: continual/checkpoint_file.c, privacy/ledger_*.c, federated/transport/zeromq_keys.c, data/alignment.c. */
#ifndef PN_CORE_FILE_PLACE_H
#define PN_CORE_FILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

/* Where a file is, as far as the system can tell.  A file that is moved keeps it, a copy does not. */
typedef struct pn_file_place {
    uint64_t inode, device;
    uint64_t born, nanoseconds; /* 0 where the file system does not say */
} pn_file_place;

/** errno, or 0. */
int pn_file_find(pn_file_place *out, int fd);
bool pn_file_same(const pn_file_place *a, const pn_file_place *b);
/** Whether the place outlasts the file system's being mounted again: some number files anew each time (FUSE, SMB). */
bool pn_file_place_lasts(int fd);

#define PN_FILE_ID 16

/* What has a file: marks of several kinds do not meet. */
typedef enum pn_file_kind { PN_FILE_STREAM, PN_FILE_LEDGER } pn_file_kind;

/** The file has come to `sequence` of what has this id: stays with the file whatever its contents become.  Where there
 *  are no extended attributes, nothing. */
void pn_file_mark(int fd, pn_file_kind kind, const unsigned char id[PN_FILE_ID], uint64_t sequence);
/** The last of them; 0 when there is none. */
uint64_t pn_file_marked(int fd, pn_file_kind kind, const unsigned char id[PN_FILE_ID]);

/* What others than its owner may do with a file. */
typedef enum pn_file_trust {
    PN_FILE_OURS,  /* not write it, unless they are of its group */
    PN_FILE_SECRET /* nothing */
} pn_file_trust;

/**
 * Whether an open file can be relied on: it belongs to the effective user or to root, and others may do no more than
 * `trust` says.  What is no regular file is left to the caller.
 *   owner  begins the message: "ledger".
 * Errors: PN_EIO, with the remedy.
 */
pn_status pn_file_check_owner(int fd, pn_file_trust trust, const char *owner, const char *path, pn_err *err);
/** Whether `path` may be followed: it is no symbolic link, or one that belongs to the effective user or to root.
 *  Errors: PN_EIO. */
pn_status pn_file_check_link(const char *owner, const char *path, pn_err *err);

#endif
