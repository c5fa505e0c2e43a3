/* account.h -- how much memory a part of a program has taken, and a limit to it.  While a thread has entered an
 * account, what it gets from pn_alloc and its like is charged there; each block remembers its account, so that pn_free
 * credits it whichever thread frees.  The threads of a task charge the account of the thread that started the parallel
 * work.  Memory that other libraries (BLAS, zlib, ZeroMQ, protobuf's caller) take for themselves is not counted.
 * Depends on: status.h.  Used by: hosts, bindings/embed/host.c, core/task.c. */
#ifndef PN_CORE_ACCOUNT_H
#define PN_CORE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "penumbra/memory.h"

/** The account that this thread charges, or NULL. */
pn_account *pn_account_current(void);

/** Whether enough was charged since the last pn_account_rest for it to be worth looking for garbage: as much again as
 *  then, half of what was left to the limit, or anything that was refused.
 *  For languages whose collector does not see this memory.  False for NULL. */
bool pn_account_pressed(const pn_account *account);
/** Garbage was collected: pn_account_pressed compares with now. */
void pn_account_rest(pn_account *account);

/**
 * As realloc (free for new_size 0) with the sizes known to the caller: nothing is remembered with the block.
 * For allocators of other
 * languages.  Making a block smaller never fails.
 */
void *pn_account_resize(pn_account *account, void *block, size_t old_size, size_t new_size);

/** For alloc.c: take or give back so many bytes; false when the limit does not allow it. */
bool pn_account_charge(pn_account *account, size_t bytes);
void pn_account_credit(pn_account *account, size_t bytes);

#endif
