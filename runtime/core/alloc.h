/* alloc.h -- the one allocator of the runtime, which a host may replace, or count and limit (account.h).
 * Depends on: status.h.  Used by: every room. */
#ifndef PN_CORE_ALLOC_H
#define PN_CORE_ALLOC_H

#include <stddef.h>

#include "core/status.h"
#include "penumbra/memory.h"

/** `count` items of `size` bytes, uninitialised; NULL when count*size overflows or memory is short.
 *  Zero bytes give one. */
void *pn_alloc(size_t count, size_t size);

/** As pn_alloc, for what may have hundreds of megabytes and is walked through again and again: on large pages it costs
 *  less to fill and to read, where the system has them. */
void *pn_alloc_large(size_t count, size_t size);

/** As pn_alloc, zeroed. */
void *pn_calloc(size_t count, size_t size);

/** As realloc to `count` items of `size`; on NULL the old block still stands. */
void *pn_resize(void *block, size_t count, size_t size);

/** NULL is allowed. */
void pn_free(void *block);

/** PN_OK when all blocks that were asked for are there, as in pn_made(a && b, err, "..."); else PN_ENOMEM,
 *  with the message. */
#define pn_made(all, err, ...) ((all) ? PN_OK : ((void)pn_fail((err), PN_ENOMEM, __VA_ARGS__), PN_ENOMEM))

/* *out = `count` items of what *out points to, uninitialised or zeroed; then err and the message,
 * as pn_made takes them. */
#define pn_new(out, count, ...)        pn_made(*(out) = pn_alloc((count), sizeof **(out)), __VA_ARGS__)
#define pn_new_zeroed(out, count, ...) pn_made(*(out) = pn_calloc((count), sizeof **(out)), __VA_ARGS__)

/** Blocks of the allocator as they are, without an account: pn_account_resize's.  As realloc; frees for 0 bytes. */
void *pn_plain_resize(void *block, size_t bytes);

/** A copy of a NUL-terminated string, or NULL when memory is short (or text is NULL). */
char *pn_strdup(const char *text);

#endif
