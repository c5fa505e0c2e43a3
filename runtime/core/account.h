/* account.h -- how much memory a part of a program has taken, and a limit to it.  While a thread has entered an account, what it gets
 * from pn_alloc and its like is charged there; each block remembers its account, so that pn_free credits it whichever thread frees.
 * The threads of a task charge the account of the thread that started the parallel work.  Memory that other libraries (BLAS, zlib,
 * ZeroMQ, protobuf's caller) take for themselves is not counted.  Depends on: status.h.  Used by: hosts, bindings/embed/host.c, core/task.c. */
#ifndef PN_CORE_ACCOUNT_H
#define PN_CORE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct pn_account pn_account;

/**
 * limit   in bytes, 0 for none.  A request over it fails as if the allocator had refused: PN_ENOMEM.
 * Errors: PN_ENOMEM; PN_EINVAL for a limit of 2^48 bytes or more.
 */
pn_status pn_account_new(pn_account **out, size_t limit, pn_err *err);
/** Give up the handle; the account goes with the last block that it was charged for.  NULL is allowed.  No thread may be inside. */
void pn_account_free(pn_account *account);

/** From now on this thread charges `account`, or nobody for NULL.  Returns the account before, which the caller enters again. */
pn_account *pn_account_enter(pn_account *account);
/** The account that this thread charges, or NULL. */
pn_account *pn_account_current(void);

/** Bytes in use and the most that there have been; 16 bytes a block are for remembering the account.  Either may be NULL. */
void pn_account_usage(const pn_account *account, size_t *used, size_t *peak);

/** Whether enough was charged since the last pn_account_rest for it to be worth looking for garbage: as much again as then, half of
 *  what was left to the limit, or anything that was refused.  For languages whose collector does not see this memory.  False for NULL. */
bool pn_account_pressed(const pn_account *account);
/** Garbage was collected: pn_account_pressed compares with now. */
void pn_account_rest(pn_account *account);

/**
 * As realloc (free for new_size 0) with the sizes known to the caller: nothing is remembered with the block.  For allocators of other
 * languages.  Making a block smaller never fails.
 */
void *pn_account_resize(pn_account *account, void *block, size_t old_size, size_t new_size);

/** For alloc.c: take or give back so many bytes; false when the limit does not allow it. */
bool pn_account_charge(pn_account *account, size_t bytes);
void pn_account_credit(pn_account *account, size_t bytes);

#endif
