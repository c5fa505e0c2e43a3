/* alloc.c -- one door for all memory, so that a host can count it and a test can make it fail.
 * Before each block stands a header that says which account was charged how much for it (account.h).
 * Depends on: alloc.h, account.h, libc, POSIX (madvise, where there are large pages).  Used by: every room. */
#define _DEFAULT_SOURCE /* madvise */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/account.h"
#include "core/alloc.h"

static void *default_allocate(void *self, size_t bytes)
{
    (void)self;
    return malloc(bytes);
}

static void *default_resize(void *self, void *block, size_t bytes)
{
    (void)self;
    return realloc(block, bytes);
}

static void default_release(void *self, void *block)
{
    (void)self;
    free(block);
}

static const pn_allocator default_allocator = { default_allocate, default_resize, default_release, NULL };
static pn_allocator current = { default_allocate, default_resize, default_release, NULL };

void pn_allocator_set(const pn_allocator *allocator)
{
    current = allocator ? *allocator : default_allocator;
}

/* Of the alignment of malloc's blocks, so that what follows it has that, too. */
typedef struct header {
    _Alignas(max_align_t) pn_account *account; /* NULL: nobody pays */
    size_t bytes;                              /* header included */
} header;

/* Bytes of a block for count*size, at least 1, and its header; 0 on overflow. */
static size_t bytes_of(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(header)) / size)
        return 0;
    return sizeof(header) + (count * size != 0 ? count * size : 1);
}

void *pn_alloc(size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    pn_account *account = pn_account_current();
    header *block;

    if (bytes == 0 || (account && !pn_account_charge(account, bytes)))
        return NULL;
    block = current.allocate(current.self, bytes);
    if (!block) {
        if (account)
            pn_account_credit(account, bytes);
        return NULL;
    }
    *block = (header){ account, bytes };
    return block + 1;
}

void *pn_calloc(size_t count, size_t size)
{
    void *block = pn_alloc(count, size);

    if (block)
        memset(block, 0, ((const header *)block)[-1].bytes - sizeof(header));
    return block;
}

void *pn_alloc_large(size_t count, size_t size)
{
    void *block = pn_alloc(count, size);
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)2 << 20, at = (uintptr_t)block;
    uintptr_t first = (at + page - 1) & ~(page - 1), end = (at + count * size) & ~(page - 1);

    if (block && end > first)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* a hint: the system may do as it likes */
#endif
    return block;
}

/* The account that paid first goes on paying. */
void *pn_resize(void *block, size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    header *old = block ? (header *)block - 1 : NULL, *moved, before;

    if (!old)
        return pn_alloc(count, size);
    before = *old;
    if (bytes == 0 ||
        (before.account && bytes > before.bytes && !pn_account_charge(before.account, bytes - before.bytes)))
        return NULL;
    moved = current.resize(current.self, old, bytes);
    if (before.account && !moved && bytes > before.bytes)
        pn_account_credit(before.account, bytes - before.bytes);
    if (!moved)
        return NULL;
    if (before.account && bytes < before.bytes)
        pn_account_credit(before.account, before.bytes - bytes);
    moved->bytes = bytes;
    return moved + 1;
}

void pn_free(void *block)
{
    header *whole = block ? (header *)block - 1 : NULL;
    pn_account *account = whole ? whole->account : NULL;
    size_t bytes = whole ? whole->bytes : 0;

    if (!whole)
        return;
    *whole = (header){ NULL, 0 };
    current.release(current.self, whole);
    if (account)
        pn_account_credit(account, bytes);
}

void *pn_plain_resize(void *block, size_t bytes)
{
    if (bytes > 0)
        return block ? current.resize(current.self, block, bytes) : current.allocate(current.self, bytes);
    if (block)
        current.release(current.self, block);
    return NULL;
}

char *pn_strdup(const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? pn_alloc(size, 1) : NULL;

    if (copy)
        memcpy(copy, text, size);
    return copy;
}
