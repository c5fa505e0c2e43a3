/* wire_memory.h -- how much memory reading a message may take, and an allocator that counts it.
 * Depends on: core/alloc.h.  Used by: wire_memory_test.c, tests/fuzz/wire_fuzz.c. */
#ifndef PN_TESTS_WIRE_MEMORY_H
#define PN_TESTS_WIRE_MEMORY_H

#include <stdlib.h>

#include "core/alloc.h"

#define WIRE_FACTOR   8     /* decoded once with at most four bytes for one, copied once */
#define WIRE_OVERHEAD 20480 /* structs and the decoder's notes */

/* All that was asked for, freed or not. */
static size_t wire_taken;

static void *wire_allocate(void *self, size_t bytes)
{
    (void)self;
    wire_taken += bytes;
    return malloc(bytes);
}

static void *wire_resize(void *self, void *block, size_t bytes)
{
    (void)self;
    wire_taken += bytes;
    return realloc(block, bytes);
}

static void wire_release(void *self, void *block)
{
    (void)self;
    free(block);
}

/** Count from 0, until pn_allocator_set(NULL). */
static inline void wire_count_memory(void)
{
    static const pn_allocator counting = { wire_allocate, wire_resize, wire_release, NULL };

    wire_taken = 0;
    pn_allocator_set(&counting);
}

/** What was taken is what reading `size` bytes may take. */
static inline bool wire_memory_is_small(size_t size)
{
    return wire_taken <= WIRE_FACTOR * size + WIRE_OVERHEAD;
}

#endif
