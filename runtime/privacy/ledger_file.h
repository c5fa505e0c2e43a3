/* ledger_file.h -- a file of lines that only grows: each line is durable before the call returns and authenticated together
 * with all lines before it.  Knows nothing of budgets.  Private to privacy/.
 * Depends on: core/, libsodium, POSIX.  Used by: ledger_record.c.  Spec: accounting.md section 7.
 *
 * Three files.  PATH, text: a first line with the format's version and a random name, then one line for each record, ending
 * in " | " and a MAC.  PATH.key: 32 random bytes, mode 600, made when the ledger is (or any file given instead).  PATH.head:
 * the number and MAC of the last record in two slots that are written in turn, each with a MAC of its own.
 *
 * The MAC of a line is keyed BLAKE2b of the MAC before it and the line's text, 128 bits.  So without the key no line can be
 * changed, added, dropped, moved, or taken from another ledger, and cutting lines off the end shows against the head.
 * What this does not protect against: somebody who can read the key; and the return of an older state of BOTH the ledger and its
 * head (their removal, or the last record and its slot, included), which nothing on the same disk can tell from the past.
 *
 * Appending: write the line, sync it, write the head, sync it.  Whatever instruction the process dies at, on opening the file
 * is one of: as before; a torn last line with the head before it (it is cut off: its call never returned); a whole last line
 * with the head before it (kept); complete.  Everything else is refused. */
#ifndef PN_PRIVACY_LEDGER_FILE_H
#define PN_PRIVACY_LEDGER_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct pn_store pn_store;

/**
 * Open and lock PATH; with `create`, make it when there is none (or an empty one).
 *   key   the key's path; NULL: PATH.key.  Made when there is none and the ledger is new.
 *   new   whether the ledger has no records yet: then pn_store_append writes the first.
 * Errors: PN_EIO when a file cannot be opened, written or locked (names the process that has it); PN_EPARSE when it is no
 *         ledger, of another version, was changed (names the line) or goes backwards; PN_ENOMEM.
 */
pn_status pn_store_open(pn_store **out, const char *path, const char *key, bool create, bool *is_new, pn_err *err);

/** Give back memory, files and the lock.  A store that was new and has no record is removed. */
void pn_store_close(pn_store *store);

/** Hand each record, without its MAC, to `take`, in order; a failure of take ends it and is returned with the line. */
typedef pn_status (*pn_store_take)(void *self, size_t number, const char *record, pn_err *err);
pn_status pn_store_replay(pn_store *store, pn_store_take take, void *self, pn_err *err);

/** Append one record, durably.  Errors: PN_EIO: nothing was written, or (pn_store_broken) it may have been: then the store
 *  takes no more, and what the record says must be taken to have happened. */
pn_status pn_store_append(pn_store *store, const char *record, pn_err *err);

/** Why no more records can be written, or NULL. */
const char *pn_store_broken(const pn_store *store);
/** How many records there are. */
size_t pn_store_count(const pn_store *store);
const char *pn_store_path(const pn_store *store);
/** Whether a torn last record was cut off on opening. */
bool pn_store_cut(const pn_store *store);

#endif
