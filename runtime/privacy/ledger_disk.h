/* ledger_disk.h -- the few things that a ledger asks of the disk: writes that are whole or said not to be, syncs, names, the
 * key.  Private to the library.  Depends on: core/, POSIX.  Used by: ledger_file.c, continual/checkpoint_file.c. */
#ifndef PN_PRIVACY_LEDGER_DISK_H
#define PN_PRIVACY_LEDGER_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

#define PN_KEY_BYTES 32

/** Write all of data[size] at `offset`; 0, or errno (EFBIG instead of the signal SIGXFSZ, which a limit on file sizes raises). */
int pn_disk_write(int fd, const void *data, size_t size, size_t offset);
/** Make what was written to fd durable; 0 or errno. */
int pn_disk_sync(int fd);
/** Make the entry of `path` in its directory durable; 0 or errno. */
int pn_disk_sync_entry(const char *path);
/** All bytes of fd and a NUL behind them; allocated.  `owner` begins the message.  Errors: PN_EIO, PN_ENOMEM. */
pn_status pn_disk_read(int fd, const char *owner, const char *path, char **data, size_t *size, pn_err *err);
/** Whether the path still names the file that is open: not removed, not replaced. */
bool pn_disk_in_place(int fd, const char *path);
/** Give the file `other` the name `path`, which nobody may have (EEXIST), or with `replace` in place of what has it; durably.
 *  `other` is gone then, and after a failure, too.  0 or errno; *named (may be NULL): whether the name was given, which a failure
 *  to make it durable does not take back. */
int pn_disk_name(const char *other, const char *path, bool replace, bool *named);
/** Open a regular file for reading and writing, or -1 with errno set (EISDIR, ENOTSUP for what is no file).  `create`: only
 *  if it does not exist. */
int pn_disk_open(const char *path, bool create, unsigned mode);

/** The key in a file.  Errors: PN_EIO when it cannot be read or everybody may read it; PN_EPARSE when it is no key. */
pn_status pn_disk_read_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err);
/** As pn_disk_read_key, after making the file (mode 600, random, durable) if there is none. */
pn_status pn_disk_make_key(unsigned char key[PN_KEY_BYTES], const char *path, pn_err *err);

#endif
