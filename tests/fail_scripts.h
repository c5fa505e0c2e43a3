/* fail_scripts.h -- Lua scripts when memory runs out: each place that allocates on their way fails once, the runtime's,
 * Lua's, jansson's and the system's alike.  Whatever fails, the script says that memory ran out or does without, no
 * block and no descriptor is left, and the same state runs what follows to its end.
 *
 *     fail_scripts_sweep("setup.lua's text", open);           in main, before check_summary()
 *
 * The setup defines names() -> {name, ...} and prepare(name) -> function.  A first pass runs every script as it is and
 * notes at which places it arrives, and after how many calls.  A second one makes each place fail in the script that
 * comes to it soonest, so that a place that a hundred scripts pass costs one short run.  In the fast tier a place is a
 * call in the text, in the thorough one a chain of calls, as in fail_alloc.h; there, memory is gone for good from
 * every second one on.  PN_EXAMPLE=part takes the scripts that have it in their names, and looks closely.
 * Depends on: check.h, fail_alloc.h, fail_lua.h, Lua, POSIX. */
#ifndef PN_TESTS_FAIL_SCRIPTS_H
#define PN_TESTS_FAIL_SCRIPTS_H

#include <dirent.h>
#include <ftw.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>

#include "fail_alloc.h"
#include "fail_lua.h"

void *__real_realloc(void *block, size_t size); /* NOLINT: libc's, past the wrapper */

enum { FAIL_SCRIPTS = 2000 }; /* at most, less one */
typedef struct fail_scripts {
    lua_State *L;
    fail_alloc memory; /* what is asked for here: the runtime's blocks and the places */
    fail_places places;
    long lua_calls, lua_fail_at; /* Lua's own calls for memory, of which all from the lua_fail_at-th on fail */
    long lua_most[FAIL_SCRIPTS]; /* all that a script makes of these */
    bool armed;
    long runs;
    long blocks; /* what may be left: blocks and descriptors */
    int open;
    char folder[40]; /* where scripts run; emptied before each */
} fail_scripts;

static inline void *fail_scripts_allocate(void *data, void *block, size_t old_size, size_t new_size)
{
    fail_scripts *self = data;
    size_t has = block ? old_size : 0;

    if (new_size == 0) {
        free(block);
        return NULL;
    }
    if (new_size > has &&
        (fail_lua_refuses() || (self->armed && ++self->lua_calls >= self->lua_fail_at && self->lua_fail_at > 0)))
        return NULL;
    return __real_realloc(block, new_size);
}

static inline int fail_scripts_remove(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    return at->level > 0 ? remove(path) : 0;
}

/* What scripts wrote into the folder of the test: by its path, for what the current folder is may be an accident. */
static inline void fail_scripts_clean(const fail_scripts *self)
{
    (void)nftw(self->folder, fail_scripts_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int fail_scripts_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    int n = 0;

    while (all && readdir(all))
        n++;
    if (all)
        (void)closedir(all);
    return n;
}

static inline long fail_scripts_blocks(fail_scripts *self)
{
    lua_gc(self->L, LUA_GCCOLLECT);
    lua_gc(self->L, LUA_GCCOLLECT); /* what finalizers let go of */
    return atomic_load(&self->memory.live);
}

/* Run the script; self->memory says what fails.  Leaves a message where it failed. */
static inline bool fail_scripts_run(fail_scripts *self, const char *name)
{
    lua_State *L = self->L;
    bool fine;

    lua_settop(L, 0);
    fail_scripts_clean(self);
    lua_getglobal(L, "prepare");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    atomic_store(&self->memory.struck, false);
    atomic_store(&self->memory.calls, 0);
    self->memory.started = fail_calls_started();
    self->lua_calls = 0;
    fail_calls_ask(fail_alloc_asked, &self->memory);
    self->armed = true;
    fine = lua_pcall(L, 0, 0, 0) == LUA_OK;
    self->armed = false;
    fail_calls_ask(NULL, NULL);
    self->memory.fail_place = 0;
    self->memory.found = NULL;
    self->lua_fail_at = 0;
    if (++self->runs % 16 == 0 || lua_gc(L, LUA_GCCOUNT) > 100000)
        lua_gc(L, LUA_GCCOLLECT);
    if (!fine)
        (void)luaL_tolstring(L, -1, NULL);
    return fine;
}

static inline void fail_scripts_whole(fail_scripts *self, const char *name)
{
    if (!CHECK(fail_scripts_run(self, name)))
        (void)fprintf(stderr, "    %s: %s\n", name, lua_tostring(self->L, -1));
}

static inline void fail_scripts_round(fail_scripts *self, const char *name, uint64_t place, bool for_good)
{
    self->memory.fail_place = place;
    self->memory.for_good = for_good;
    if (!fail_scripts_run(self, name)) {
        const char *message = lua_tostring(self->L, -1);

        if (!CHECK(strstr(message, "memory") || strstr(message, "stack")))
            (void)fprintf(stderr, "    %s%s, at %p: %s\n", name, for_good ? ", for good" : "", self->memory.last,
                          message);
    }
    self->memory.for_good = false;
}

/* Whether rounds left nothing.  The collector walks twice through all that there is: not after each of them. */
static inline bool fail_scripts_look(fail_scripts *self, const char *name, bool says)
{
    long blocks = fail_scripts_blocks(self);
    int open;
    bool fine;

    open = fail_scripts_descriptors();
    fine = CHECK(blocks <= self->blocks) & CHECK(open <= self->open);

    if (!fine)
        (void)fprintf(stderr, "    %s: %ld blocks and %d descriptors are left, at %p\n", name, blocks - self->blocks,
                      open - self->open, self->memory.last);
    if (!fine && says) {
        self->blocks = blocks;
        self->open = open;
    }
    return fine;
}

/* Each place that is the script's to fail; `closely` looks after every round, and says where something is left. */
static inline void fail_scripts_places(fail_scripts *self, const char *name, uint32_t run, bool closely)
{
    for (size_t i = 0; i < self->places.n; i++) {
        uint64_t place = self->places.at[i];

        if (self->places.run[i] != run ||
            (!self->memory.chains && !closely && fail_calls_has_failed((const void *)(size_t)place)))
            continue;
        fail_scripts_round(self, name, place, check_thorough() && i % 2 != 0);
        if (closely)
            (void)fail_scripts_look(self, name, true);
    }
}

/* The second pass over a script.  `rounds`: how often Lua's memory is gone for good, from evenly spaced moments on. */
static inline void fail_scripts_one(fail_scripts *self, const char *name, uint32_t run, long rounds, bool closely)
{
    fail_scripts_places(self, name, run, false);
    for (long i = 1; i <= rounds; i++) {
        self->lua_fail_at = self->lua_most[run] * i / (rounds + 1) + 1;
        fail_scripts_round(self, name, 0, false);
    }
    if (rounds > 0)
        fail_scripts_whole(self, name);
    if (closely && !fail_scripts_look(self, name, false)) {
        self->blocks = fail_scripts_blocks(self);
        self->open = fail_scripts_descriptors();
        fail_scripts_places(self, name, run, true);
    }
}

/* name[] becomes the i-th of names(), from 1; false for one that is not asked for. */
static inline bool fail_scripts_name(lua_State *L, lua_Integer i, char name[128])
{
    const char *only = getenv("PN_EXAMPLE");

    lua_settop(L, 0);
    (void)lua_getfield(L, LUA_REGISTRYINDEX, "names");
    (void)lua_geti(L, 1, i);
    (void)snprintf(name, 128, "%s", lua_tostring(L, -1));
    return !only || strstr(name, only);
}

static inline void fail_scripts_all(fail_scripts *self)
{
    bool closely = check_thorough() || getenv("PN_EXAMPLE");
    lua_State *L = self->L;
    char name[128];
    lua_Integer n;

    lua_getglobal(L, "names");
    lua_call(L, 0, 1);
    n = luaL_len(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, "names");
    if (!CHECK(n < FAIL_SCRIPTS))
        return;
    for (lua_Integer i = 1; i <= n; i++) {
        if (!fail_scripts_name(L, i, name))
            continue;
        self->places.now = (uint32_t)i;
        self->memory.found = &self->places;
        fail_scripts_whole(self, name);
        self->lua_most[i] = self->lua_calls;
    }
    CHECK(self->places.n > 0 && self->places.n < FAIL_PLACES);
    self->blocks = fail_scripts_blocks(self);
    self->open = fail_scripts_descriptors();
    for (lua_Integer i = 1; i <= n; i++) {
        if (fail_scripts_name(L, i, name))
            fail_scripts_one(self, name, (uint32_t)i, check_times(i % 8 == 0 || closely, 10), closely);
    }
    if (!closely)
        (void)fail_scripts_look(self, "all", true);
}

/** The whole sweep, in a folder of its own.  `open` puts into the state what the setup takes. */
static inline void fail_scripts_sweep(const char *setup, void (*open)(lua_State *L))
{
    static fail_scripts self; /* large */
    pn_allocator allocator = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, &self.memory };
    int descriptors;

    self.memory.chains = check_thorough();
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 26); /* the same arrays come back in each run */
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
    CHECK(setenv("PENUMBRA_THREADS", "1", 1) == 0 && setenv("PENUMBRA_STARTUP", "", 1) == 0);
    pn_allocator_set(&allocator);
    descriptors = fail_scripts_descriptors();
    self.L = lua_newstate(fail_scripts_allocate, &self);
    lua_gc(self.L, LUA_GCSTOP); /* Lua calls a finalizer once, also when there is no memory for that call */
    luaL_openlibs(self.L);
    open(self.L);
    if (!CHECK(luaL_dostring(self.L, setup) == LUA_OK))
        (void)fprintf(stderr, "    %s\n", lua_tostring(self.L, -1));
    else if (CHECK(mkdtemp(strcpy(self.folder, "/tmp/penumbra-scripts-XXXXXX")) && chdir(self.folder) == 0))
        fail_scripts_all(&self);
    lua_close(self.L);
    CHECK(atomic_load(&self.memory.live) == 0);
    CHECK(fail_scripts_descriptors() <= descriptors);
    pn_allocator_set(NULL);
    fail_scripts_clean(&self);
    CHECK(chdir("/") == 0 && (!self.folder[0] || rmdir(self.folder) == 0));
}

#endif
