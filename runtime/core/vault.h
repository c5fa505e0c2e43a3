/* vault.h -- memory that holds records, locked while a process runs code that has no business with them.
 *
 * In most processes nothing is locked, and these are pn_alloc_large and pn_free.  A process that runs one script of
 * somebody's who is not trusted arms the vault: from then on the pages of records can be read only between
 * pn_vault_enter and pn_vault_leave, which stand around what the runtime computes from them.  Elsewhere a read through
 * a wild pointer ends the process.
 * Depends on: account.h, alloc.h, file.h, status.h, POSIX (mmap, mprotect).  Used by: data/ (arrays of records),
 * objective/, solvers/ (around work on records), the process of curated scripts (bindings/curator/). */
#ifndef PN_CORE_VAULT_H
#define PN_CORE_VAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/** As pn_alloc_large, for features and labels.  In an armed process: pages of their own,
 *  locked but for the work on records; else, where the thread has named a folder (pn_vault_place), pages of a file. */
void *pn_vault_alloc(size_t count, size_t size);
/** NULL is allowed; blocks of pn_alloc are, too. */
void pn_vault_free(void *block);

/**
 * From now on blocks that this thread takes are pages of files without a name in `folder`, which the system writes out
 * and reads again as memory is needed: records may be more than memory holds.  An account is not charged for them, nor
 * is a limit on the data of a process (RLIMIT_DATA).  Such a block is freed as any other, from any thread.
 *   folder  borrowed until the next call; on a disk, not in memory; NULL: memory.  Returns what it was before.
 */
const char *pn_vault_place(const char *folder);
/** Whether this thread has named one. */
bool pn_vault_placed(void);
/** Why this thread's last pn_vault_alloc gave NULL, for messages: "out of memory", or what the folder has not. */
const char *pn_vault_lack(void);

/** Work on records begins and ends.  Calls nest, on the one thread that starts such work;
 *  nothing happens in a process that is not armed. */
void pn_vault_enter(void);
void pn_vault_leave(void);
static inline pn_status pn_vault_left(pn_status status)
{
    pn_vault_leave();
    return status;
}
/** Overwrite what calls that have returned left on this thread's stack, copies of records among it.
 *  Nothing in a process that is not armed. */
void pn_vault_burn(void);
/* The status of `call`, which is made with the vault open. */
#define PN_WITH_RECORDS(call) (pn_vault_enter(), pn_vault_left(call))

/**
 * For a process that runs one script, before the script: lock from now on.
 *   room      bytes of addresses for blocks; a block that is freed makes room for those of its size.
 *   on_enter  called whenever the vault is about to be opened from outside; not NULL.
 * Not undone.
 */
void pn_vault_arm(size_t room, void (*on_enter)(void));

/** Where the i-th of the pages that pn_vault_add has locked are, from 0; NULL past the last.  For tests. */
void *pn_vault_pages(size_t i);

/** Lock pages that were mapped by other means as well: whole pages, readable when the vault is open.  Errors:
 *  PN_ENOMEM; PN_EINVAL when the system does not lock them. */
pn_status pn_vault_add(void *pages, size_t bytes, pn_err *err);

#endif
