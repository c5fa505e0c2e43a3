/* ledger_disk.h -- what a ledger asks of the disk beside core/file.h: regular files, all that is in one, the key.
 * Private to the library.  Depends on: core/, POSIX.  Used by: ledger_file.c, continual/checkpoint_file.c. */
#ifndef PN_PRIVACY_LEDGER_DISK_H
#define PN_PRIVACY_LEDGER_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

#define PN_KEY_BYTES 32

/** All bytes of fd and a NUL behind them; allocated.  `owner` begins the message.  Errors: PN_EIO, PN_ENOMEM. */
pn_status pn_disk_read(int fd, const char *owner, const char *path, char **data, size_t *size, pn_err *err);
/** Open a regular file for reading and writing, or -1 with errno set (EISDIR, ENOTSUP for what is no file).  `create`:
 *  only if it does not exist. */
int pn_disk_open(const char *path, bool create, unsigned mode);

/** The key in a file.  Errors: PN_EIO when it cannot be read, others may read or write it, or it is a stranger's;
 *  PN_EPARSE when it is no key. */
pn_status pn_disk_read_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err);
/** As pn_disk_read_key, after making the file (mode 600, random, durable) if there is none. */
pn_status pn_disk_make_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err);

#endif
