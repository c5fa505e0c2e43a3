/* alloc.c -- one door for all memory, so that a host can count it and a test can make it fail.
 * Depends on: alloc.h, libc, POSIX (madvise, where there are large pages).  Used by: every room. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

void pn_set_allocator(const pn_allocator *allocator)
{
    current = allocator ? *allocator : default_allocator;
}

/* Bytes of count*size, at least 1; 0 on overflow. */
static size_t bytes_of(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return 0;
    return count * size != 0 ? count * size : 1;
}

void *pn_alloc(size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);

    return bytes ? current.allocate(current.self, bytes) : NULL;
}

void *pn_calloc(size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);
    void *block = bytes ? current.allocate(current.self, bytes) : NULL;

    if (block)
        memset(block, 0, bytes);
    return block;
}

void *pn_alloc_large(size_t count, size_t size)
{
    void *block = pn_alloc(count, size);
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)2 << 20, at = (uintptr_t)block;
    uintptr_t first = (at + page - 1) & ~(page - 1), end = (at + bytes_of(count, size)) & ~(page - 1);

    if (block && end > first)
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* a hint: the system may do as it likes */
#endif
    return block;
}

void *pn_resize(void *block, size_t count, size_t size)
{
    size_t bytes = bytes_of(count, size);

    return bytes ? current.resize(current.self, block, bytes) : NULL;
}

void pn_free(void *block)
{
    if (block)
        current.release(current.self, block);
}

char *pn_strdup(const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? pn_alloc(size, 1) : NULL;

    if (copy)
        memcpy(copy, text, size);
    return copy;
}
