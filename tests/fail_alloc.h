/* fail_alloc.h -- make the k-th allocation fail, for k = 1, 2, ..., until a scenario gets through; nothing may leak.
 *
 *     static pn_status scenario(void *self, pn_err *err)      makes its objects, uses them, frees them on every path
 *     ...
 *     fail_alloc_sweep("task", scenario, NULL);               in main, before check_summary()
 *
 * In the fast tier, past the first fifty, every fifth k.  Each round checks that a scenario whose allocation failed
 * says PN_ENOMEM and that no block is left.  Everything that a scenario allocates it must free before it returns: the
 * allocator is its own.  Depends on: check.h, core/alloc.h. */
#ifndef PN_TESTS_FAIL_ALLOC_H
#define PN_TESTS_FAIL_ALLOC_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/status.h"

#include "check.h"

#define FAIL_ALLOC_ROUNDS 100000 /* a scenario that needs more is a loop that swallows failures */

typedef struct fail_alloc {
    atomic_long calls; /* allocations and resizes asked for so far */
    atomic_long live;  /* blocks that are not freed yet */
    long fail_at;      /* the call that fails, from 1; 0: none */
    bool for_good;     /* and all calls after it */
} fail_alloc;

typedef pn_status (*fail_alloc_fn)(void *self, pn_err *err);

static inline bool fail_alloc_refuses(fail_alloc *self)
{
    long call = atomic_fetch_add(&self->calls, 1) + 1;

    return call == self->fail_at || (self->for_good && self->fail_at != 0 && call > self->fail_at);
}

static inline void *fail_alloc_allocate(void *self, size_t bytes)
{
    fail_alloc *count = self;
    void *block = fail_alloc_refuses(count) ? NULL : malloc(bytes);

    if (block) {
        memset(block, 0xa5, bytes); /* nobody may count on zeros */
        atomic_fetch_add(&count->live, 1);
    }
    return block;
}

static inline void *fail_alloc_resize(void *self, void *block, size_t bytes)
{
    fail_alloc *count = self;
    void *moved = fail_alloc_refuses(count) ? NULL : realloc(block, bytes);

    if (moved && !block)
        atomic_fetch_add(&count->live, 1);
    return moved;
}

static inline void fail_alloc_release(void *self, void *block)
{
    fail_alloc *count = self;

    if (block)
        atomic_fetch_sub(&count->live, 1);
    free(block);
}

/** Run the scenario once under *count, of which fail_at and for_good are set; calls and live say what became of it. */
static inline pn_status fail_alloc_run(fail_alloc *count, fail_alloc_fn scenario, void *self)
{
    pn_allocator allocator = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, count };
    pn_status status;
    pn_err err;

    atomic_init(&count->calls, 0);
    atomic_init(&count->live, 0);
    pn_allocator_set(&allocator);
    status = scenario(self, &err);
    pn_allocator_set(NULL);
    return status;
}

/** The whole sweep; returns how many allocations the scenario makes when none fails, or -1 when a round went wrong. */
static inline long fail_alloc_sweep(const char *name, fail_alloc_fn scenario, void *self)
{
    for (long k = 1; k <= FAIL_ALLOC_ROUNDS; k += k < 50 ? 1 : check_times(5, 1)) {
        fail_alloc count = { .fail_at = k };
        pn_status status = fail_alloc_run(&count, scenario, self);
        long calls = atomic_load(&count.calls), live = atomic_load(&count.live);
        bool reached = calls >= k;

        if (!CHECK(live == 0) || !CHECK(status == (reached ? PN_ENOMEM : PN_OK))) {
            (void)fprintf(stderr, "    %s: allocation %ld of %ld failed: %s, %ld blocks left\n", name, k, calls,
                          pn_status_name(status), live);
            return -1;
        }
        if (!reached)
            return calls;
    }
    CHECK(false && "the sweep ends");
    return -1;
}

#endif
