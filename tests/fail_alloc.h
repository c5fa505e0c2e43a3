/* fail_alloc.h -- make the k-th allocation fail, for k = 1, 2, ..., until a scenario gets through; nothing may leak.
 *
 *     static pn_status scenario(void *self, pn_err *err)      makes its objects, uses them, frees them on every path
 *     ...
 *     fail_alloc_sweep("task", scenario, NULL);               in main, before check_summary()
 *     fail_alloc_sweep_all("task", scenario, NULL);           the system's calls and jansson's fail, too
 *
 * In the fast tier, past the first fifty, every fifth k, and then each call in the text (fail_calls.h) that none of
 * these was.  Each round checks that a scenario whose allocation failed
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
#include "fail_calls.h"

#define FAIL_ALLOC_ROUNDS 100000 /* a scenario that needs more is a loop that swallows failures */

/* Places that allocate, each once: calls of allocating functions, or chains of calls that lead to one.  Of each the
 * cheapest way there: a run that comes to it, and how many calls that run has made by then. */
enum { FAIL_PLACES = 1 << 16, FAIL_PROGRAM = 10000 /* calls that a start of a program counts for */ };
typedef struct fail_places {
    uint64_t at[FAIL_PLACES];       /* in the order in which they were found */
    uint32_t run[FAIL_PLACES];      /* the cheapest run, a number of the caller's */
    long cost[FAIL_PLACES];         /* its calls until there */
    uint32_t seen[2 * FAIL_PLACES]; /* by the hash of a place: its index in `at`, plus 1; 0: none */
    uint32_t now;                   /* the run that is being made */
    size_t n;
} fail_places;

typedef struct fail_alloc {
    atomic_long calls;   /* allocations and resizes asked for so far */
    atomic_long live;    /* blocks that are not freed yet */
    long fail_at;        /* the call that fails, from 1; 0: none */
    bool for_good;       /* and all calls after it */
    uint64_t fail_place; /* the first call from this place fails; 0: none */
    bool chains;         /* a place is a chain of calls */
    bool all;            /* not only what goes through the allocator */
    fail_places *found;  /* where a run without a failure notes its places; or NULL */
    long started;        /* programs that had been started before this run */
    atomic_bool struck;  /* fail_place was reached */
    const void *last;    /* the call that failed last */
} fail_alloc;

typedef pn_status (*fail_alloc_fn)(void *self, pn_err *err);

/** The run comes to the place, after so many calls. */
static inline void fail_places_note(fail_places *self, uint64_t place, long calls)
{
    for (uint64_t i = place * 0x9e3779b97f4a7c15u >> 32;; i++) {
        uint32_t *slot = &self->seen[i % (2 * FAIL_PLACES)];
        size_t k = *slot == 0 ? self->n : *slot - 1;

        if (*slot != 0 && self->at[k] != place)
            continue;
        if (k == FAIL_PLACES || (*slot != 0 && self->cost[k] <= calls))
            return;
        self->n += *slot == 0;
        *slot = (uint32_t)k + 1;
        self->at[k] = place;
        self->run[k] = self->now;
        self->cost[k] = calls;
        return;
    }
}

static inline bool fail_alloc_strikes(fail_alloc *self)
{
    uint64_t place;

    if (!self->found && self->fail_place == 0)
        return false;
    if (atomic_load(&self->struck))
        return self->for_good;
    place = self->chains ? fail_calls_chain() : (uint64_t)(size_t)fail_calls_site();
    if (self->found)
        fail_places_note(self->found, place,
                         atomic_load(&self->calls) + (fail_calls_started() - self->started) * FAIL_PROGRAM);
    return place == self->fail_place && !atomic_exchange(&self->struck, true);
}

/** Whether the call that is being made fails. */
static inline bool fail_alloc_refuses(fail_alloc *self)
{
    long call = atomic_fetch_add(&self->calls, 1) + 1;
    bool refused = call == self->fail_at || (self->for_good && self->fail_at != 0 && call > self->fail_at) ||
                   fail_alloc_strikes(self);

    if (refused)
        fail_calls_failed(self->last = fail_calls_site());
    return refused;
}

/** For fail_calls_ask, where jansson's calls, Lua's and the system's are to be places, too. */
static inline bool fail_alloc_asked(void *self, const void *site)
{
    (void)site;
    return fail_alloc_refuses(self);
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
    fail_calls_ask(count->all ? fail_alloc_asked : NULL, count);
    status = scenario(self, &err);
    fail_calls_ask(NULL, NULL);
    pn_allocator_set(NULL);
    return status;
}

/** One round, in which *count fails; whether it was reached, and all was as it should be. */
static inline bool fail_alloc_round(const char *name, fail_alloc *count, fail_alloc_fn scenario, void *self,
                                    bool *reached)
{
    pn_status status = fail_alloc_run(count, scenario, self);
    long live = atomic_load(&count->live);

    *reached = count->fail_place != 0 ? atomic_load(&count->struck)
                                      : count->fail_at > 0 && atomic_load(&count->calls) >= count->fail_at;
    if (CHECK(live == 0) && CHECK(status == (*reached ? PN_ENOMEM : PN_OK)))
        return true;
    (void)fprintf(stderr, "    %s: allocation %ld of %ld failed, asked for at %p: %s, %ld blocks left\n", name,
                  count->fail_at, atomic_load(&count->calls), count->last, pn_status_name(status), live);
    return false;
}

/** Each place that no round of this process has made fail yet, once; false when a round went wrong.  It is what the
 * strides of the fast tier pass over, and all that it asks of a scenario that takes long. */
static inline bool fail_alloc_places(const char *name, fail_alloc_fn scenario, void *self, bool all)
{
    static fail_places found;
    fail_alloc whole = { .found = &found, .all = all };
    bool reached;

    memset(&found, 0, sizeof found);
    if (!fail_alloc_round(name, &whole, scenario, self, &reached))
        return false;
    for (size_t i = 0; i < found.n; i++) {
        fail_alloc count = { .fail_place = found.at[i], .all = all };

        if (!fail_calls_has_failed((const void *)(size_t)found.at[i]) &&
            !fail_alloc_round(name, &count, scenario, self, &reached))
            return false;
    }
    return true;
}

static inline long fail_alloc_sweep_of(const char *name, fail_alloc_fn scenario, void *self, bool all)
{
    for (long k = 1; k <= FAIL_ALLOC_ROUNDS; k += k < 50 ? 1 : check_times(5, 1)) {
        fail_alloc count = { .fail_at = k, .all = all };
        bool reached;

        if (!fail_alloc_round(name, &count, scenario, self, &reached))
            return -1;
        if (!reached)
            return k <= 50 || check_thorough() || fail_alloc_places(name, scenario, self, all)
                       ? atomic_load(&count.calls)
                       : -1;
    }
    CHECK(false && "the sweep ends");
    return -1;
}

/** The whole sweep; returns how many allocations the scenario makes when none fails, or -1 when a round went wrong. */
static inline long fail_alloc_sweep(const char *name, fail_alloc_fn scenario, void *self)
{
    return fail_alloc_sweep_of(name, scenario, self, false);
}

/** As fail_alloc_sweep, of whatever calls fail_calls.c wraps. */
static inline long fail_alloc_sweep_all(const char *name, fail_alloc_fn scenario, void *self)
{
    return fail_alloc_sweep_of(name, scenario, self, true);
}

#endif
