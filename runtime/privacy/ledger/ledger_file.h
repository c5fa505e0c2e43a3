/* ledger_file.h -- a file of lines that only grows: each line is durable before the call returns and authenticated
 * together with all lines before it.  Knows nothing of budgets.  Private to privacy/.
 * Depends on: core/, libsodium, POSIX.  Used by: ledger_record.c.  See accounting.md section 7.
 *
 * Three files.  PATH, text: a first line with the format's version and a random name, then one line for each record,
 * ending in " | " and a MAC.  PATH.key: 32 random bytes, mode 600, made when the ledger is (or any file given instead).
 * PATH.head: the number and MAC of the last record and the places of PATH and of itself (inode and birth), with a MAC.
 * Each record has a head of its own: a new file that takes the place of the one before.
 *
 * The MAC of a line is keyed BLAKE2b of the MAC before it and the line's text, 128 bits.  So without the key no line
 * can be changed, added, dropped, moved, or taken from another ledger, and cutting lines off the end shows against the
 * head, of which there is one only: what stands in the file of an earlier one is not there any more.
 *
 * Copies.  A copy of PATH is another file than the head says.  Earlier contents that are put back, by whatever writes
 * into files (cat, cp, cp -a, rsync --inplace), carry the place of an earlier head, which is gone for good; and they
 * are older than the mark in PATH's extended attributes.  Where the file system has no birth of files, a head's inode
 * may come back, and the mark alone tells; where it numbers files anew at each mount (FUSE, SMB), copies are not told,
 * and the mark alone tells what was put back.
 *
 * What this does not protect against: somebody who can read the key; the return of an older image of the whole file
 * system or machine (snapshots, restored disks); the removal of both ledger and head, which begins a new budget; a copy
 * that is opened with PN_STORE_MOVED while its original lives on, which the ledger records.
 *
 * Appending: write the next head beside the head, sync it, write the line, sync it, rename the head, sync the
 * directory, mark.  Whatever instruction the process dies at, on opening the file is one of: as before
 * (perhaps with an unnamed head, which the next one removes); a torn last line with the head before it
 * (it is cut off: its call never returned); a whole last line with the head before it (kept); complete, with the mark
 * or the one before.  Everything else is refused. */
#ifndef PN_PRIVACY_LEDGER_FILE_H
#define PN_PRIVACY_LEDGER_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct pn_store pn_store;

#define PN_STORE_CREATE 1u
#define PN_STORE_MOVED  2u

/**
 * Open and lock PATH; with PN_STORE_CREATE, make it when there is none (or an empty one).  PN_STORE_MOVED: the owner
 * says that the files were copied here and that those they were copied from are gone;
 * then a record of it is the next to be appended.
 *   key   the key's path; NULL: PATH.key.  Made when there is none and the ledger is new.
 *   new   whether the ledger has no records yet: then pn_store_append writes the first.
 * Errors: PN_EIO when a file cannot be opened, written or locked (names the process that has it);
 * PN_EPARSE when it is no
 *         ledger, of another version, was changed (names the line) or goes backwards;
 *             PN_EPRIVACY when it is a copy or was put back;
 *         PN_EINVAL for PN_STORE_MOVED where nothing was moved; PN_ENOMEM.
 */
pn_status pn_store_open(pn_store **out, const char *path, const char *key, unsigned how, bool *is_new, pn_err *err);

/** Give back memory, files and the lock.  A store that was new and has no record is removed. */
void pn_store_close(pn_store *store);

/** Hand each record, without its MAC, to `take`, in order; a failure of take ends it and is returned with the line. */
typedef pn_status (*pn_store_take)(void *self, size_t number, const char *record, pn_err *err);
pn_status pn_store_replay(pn_store *store, pn_store_take take, void *self, pn_err *err);

/** Append one record, durably.  Errors: PN_EIO: nothing was written, or (pn_store_broken) it may have been: then the
 *  store takes no more, and what the record says must be taken to have happened. */
pn_status pn_store_append(pn_store *store, const char *record, pn_err *err);

/** The MAC of the last record, in hexadecimal and with a zero byte: 33 bytes. */
void pn_store_head_mac(const pn_store *store, char hex[33]);
/** Why no more records can be written, or NULL. */
const char *pn_store_broken(const pn_store *store);
/** How many records there are. */
size_t pn_store_count(const pn_store *store);
const char *pn_store_path(const pn_store *store);
/** Whether a torn last record was cut off on opening. */
bool pn_store_cut(const pn_store *store);
/** Whether it was moved, as the owner had said. */
bool pn_store_moved(const pn_store *store);

#endif
