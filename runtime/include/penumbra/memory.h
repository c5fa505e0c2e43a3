/* memory.h -- the allocator that a host may put in place of malloc, and accounts of what parts of a program have taken.
 * Depends on: status.h. */
#ifndef PENUMBRA_MEMORY_H
#define PENUMBRA_MEMORY_H

#include <stddef.h>

#include "penumbra/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Same contracts as malloc, realloc and free; `self` is handed back on every call.  Must be callable from any
 * thread. */
typedef struct pn_allocator {
    void *(*allocate)(void *self, size_t bytes);
    void *(*resize)(void *self, void *block, size_t bytes);
    void (*release)(void *self, void *block);
    void *self;
} pn_allocator;

/**
 * Replace the allocator of the whole process; NULL restores malloc's.
 * Call it before the first object is made: a block goes back to the allocator that is set when it is freed.
 */
void pn_allocator_set(const pn_allocator *allocator);

/* While a thread has entered an account, what the library allocates on it is charged there; each block remembers its
 * account, so that it is credited whichever thread frees.  The threads of a task charge the account of the thread
 * that started the work.  What other libraries (BLAS, zlib, ZeroMQ) take for themselves is not counted. */

typedef struct pn_account pn_account;

/**
 * limit   in bytes, 0 for none.  A request over it fails as if the allocator had refused: PN_ENOMEM.
 * Errors: PN_ENOMEM; PN_EINVAL for a limit of 2^48 bytes or more.
 */
pn_status pn_account_new(pn_account **out, size_t limit, pn_err *err);

/** Give up the handle; the account goes with the last block that it was charged for.  NULL is allowed.  No thread
 *  may be inside. */
void pn_account_free(pn_account *account);

/** From now on this thread charges `account`, or nobody for NULL.  Returns the account before, which the caller
 *  enters again. */
pn_account *pn_account_enter(pn_account *account);

/** Bytes in use and the most that there have been; 16 bytes a block are for remembering the account.  Either may
 *  be NULL. */
void pn_account_usage(const pn_account *account, size_t *used, size_t *peak);

#ifdef __cplusplus
}
#endif

#endif
