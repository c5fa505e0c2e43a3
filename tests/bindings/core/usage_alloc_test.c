/* usage_alloc_test.c -- every example of stdlib/usage, and so each public function, when memory runs out: each place
 * that allocates on its way fails once, the runtime's, Lua's, jansson's and the system's alike.  Whatever fails, the
 * call says that memory ran out or does without, no block and no descriptor is left, and the same state runs what
 * follows to its end.  In the fast tier a place is a call in the text, in the thorough one a chain of calls, as in
 * fail_alloc.h; there, memory is also gone for good from that place on.
 * PN_EXAMPLE=name takes the examples that have it in their names, and looks closely.
 * Depends on: check.h, fail_alloc.h, fail_lua.h, Lua, bindings/. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lualib.h>

#include "bindings/core/pnl.h"
#include "bindings/embed/penumbra_lua.h"

#include "fail_alloc.h"
#include "fail_lua.h"

void *__real_realloc(void *block, size_t size); /* NOLINT: libc's, past the wrapper */

enum { MOST_PLACES = 400 }; /* of one example, about: there are thousands of chains in some */

static const char setup[] =
    "pn = require 'penumbra'\n"
    "usage = require 'penumbra.usage'\n"
    "io.output '/dev/null'\n"
    "local function show(...)\n"
    "  for i = 1, select('#', ...) do tostring((select(i, ...))) end\n"
    "end\n"
    "local slow = ' accountant.selftest advise check experiment solve.objective_perturbation '\n"
    "  .. 'solve.objective_perturbation.plan solve.zeroth_order_naive solve.trust_region.plan '\n"
    "local function takes(name)\n"
    "  if name == 'budget' then return false end -- what it has charged stands, and the next round is refused\n"
    "  return os.getenv 'PN_THOROUGH' or not slow:find(' ' .. name .. ' ', 1, true)\n"
    "end\n"
    "function names()\n"
    "  local list = {}\n"
    "  for name in pairs(pn.reference()) do\n"
    "    if usage[name] and not usage[name]:find '^%-%- mpirun' and takes(name) then list[#list + 1] = name end\n"
    "  end\n"
    "  table.sort(list)\n"
    "  return list\n"
    "end\n"
    "function prepare(name)\n"
    "  return assert(load(usage[name], '=' .. name, 't', setmetatable({ print = show }, { __index = _G })))\n"
    "end\n";

/* What is asked for here: the runtime's blocks and the places; and Lua's own calls for memory, of which all from the
 * lua_fail_at-th on fail. */
static fail_alloc memory;
static long lua_calls, lua_fail_at;
static bool armed;
static bool closely; /* blocks are counted after each round, which takes two walks of the collector */

static void *lua_allocate(void *self, void *block, size_t old_size, size_t new_size)
{
    size_t has = block ? old_size : 0;

    (void)self;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    if (new_size > has && (fail_lua_refuses() || (armed && ++lua_calls >= lua_fail_at && lua_fail_at > 0)))
        return NULL;
    return __real_realloc(block, new_size);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    return at->level > 0 ? remove(path) : 0;
}

/* What the example wrote into the folder of this test. */
static void remove_files(void)
{
    (void)nftw(".", remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    int n = 0;

    while (all && readdir(all))
        n++;
    if (all)
        (void)closedir(all);
    return n;
}

static long blocks_left(lua_State *L)
{
    lua_gc(L, LUA_GCCOLLECT);
    lua_gc(L, LUA_GCCOLLECT); /* what finalizers let go of */
    return atomic_load(&memory.live);
}

/* Run the example; `memory` says what fails.  Leaves a message where it failed. */
static bool run(lua_State *L, const char *name)
{
    bool fine;

    lua_settop(L, 0);
    remove_files();
    lua_getglobal(L, "prepare");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    atomic_store(&memory.struck, false);
    lua_calls = 0;
    lua_gc(L, LUA_GCSTOP); /* Lua calls a finalizer once, also when there is no memory for that call */
    fail_calls_ask(fail_alloc_asked, &memory);
    armed = true;
    fine = lua_pcall(L, 0, 0, 0) == LUA_OK;
    armed = false;
    fail_calls_ask(NULL, NULL);
    memory.fail_place = 0;
    memory.found = NULL;
    lua_fail_at = 0;
    lua_gc(L, LUA_GCRESTART);
    if (!fine)
        (void)luaL_tolstring(L, -1, NULL);
    return fine;
}

static void round_at(lua_State *L, const char *name, uint64_t place, bool for_good)
{
    memory.fail_place = place;
    memory.for_good = for_good;
    if (!run(L, name)) {
        const char *message = lua_tostring(L, -1);

        if (!CHECK(strstr(message, "memory") || strstr(message, "stack")))
            (void)fprintf(stderr, "    %s%s, at %p: %s\n", name, for_good ? ", for good" : "", memory.last, message);
    }
    memory.for_good = false;
}

/* What a round left.  In the fast tier only the end is looked at: the collector walks twice through all there is. */
static void look(lua_State *L, const char *name, size_t place)
{
    static long blocks = -1;
    static int open;

    if (!closely)
        return;
    if (place == 0) {
        blocks = blocks_left(L);
        open = descriptors();
    } else if (!CHECK(blocks_left(L) <= blocks) || !CHECK(descriptors() <= open)) {
        (void)fprintf(stderr, "    %s: %ld blocks and %d descriptors are left after place %zu, at %p\n", name,
                      atomic_load(&memory.live) - blocks, descriptors() - open, place, memory.last);
        blocks = atomic_load(&memory.live);
        open = descriptors();
    }
}

/* `rounds`: how often Lua's memory is gone for good, from evenly spaced moments on. */
static void one_example(lua_State *L, const char *name, long rounds)
{
    static fail_places found;
    long calls;

    found = (fail_places){ .n = 0 };
    memory.found = &found;
    if (!CHECK(run(L, name)))
        (void)fprintf(stderr, "    %s: %s\n", name, lua_tostring(L, -1));
    calls = lua_calls;
    look(L, name, 0);
    for (size_t i = 0; i < found.n; i += 1 + found.n / MOST_PLACES) {
        if (!memory.chains && fail_calls_has_failed((const void *)(size_t)found.at[i]))
            continue;
        round_at(L, name, found.at[i], false);
        look(L, name, i + 1);
        if (check_thorough()) {
            round_at(L, name, found.at[i], true);
            look(L, name, i + 1);
        }
    }
    for (long i = 1; i <= rounds; i++) {
        lua_fail_at = calls * i / (rounds + 1) + 1;
        round_at(L, name, 0, false);
        look(L, name, found.n + 1);
    }
    if (rounds > 0 && !CHECK(run(L, name)))
        (void)fprintf(stderr, "    %s, once more: %s\n", name, lua_tostring(L, -1));
}

static void every_example(void)
{
    const char *only = getenv("PN_EXAMPLE");
    lua_State *L = lua_newstate(lua_allocate, NULL);
    int open = descriptors();

    luaL_openlibs(L);
    pnl_open(L);
    if (luaL_dostring(L, setup)) {
        CHECK(false && "the module opens");
        (void)fprintf(stderr, "    %s\n", lua_tostring(L, -1));
        return;
    }
    lua_getglobal(L, "names");
    lua_call(L, 0, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "names");
    lua_getfield(L, LUA_REGISTRYINDEX, "names");
    for (lua_Integer i = 1, n = luaL_len(L, 1); i <= n; i++) {
        char name[128];

        lua_settop(L, 0);
        lua_getfield(L, LUA_REGISTRYINDEX, "names");
        lua_geti(L, 1, i);
        (void)snprintf(name, sizeof name, "%s", lua_tostring(L, -1));
        if (!only || strstr(name, only))
            one_example(L, name, check_times(i % 8 == 0 || closely, 30));
    }
    lua_close(L);
    CHECK(atomic_load(&memory.live) == 0);
    CHECK(descriptors() <= open);
}

int main(void)
{
    pn_allocator allocator = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, &memory };
    char folder[] = "/tmp/penumbra-usage-XXXXXX";

    memory.chains = check_thorough();
    closely = check_thorough() || getenv("PN_EXAMPLE");
    CHECK(setenv("PENUMBRA_THREADS", "1", 1) == 0 && setenv("PENUMBRA_STARTUP", "", 1) == 0);
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    pn_allocator_set(&allocator);
    every_example();
    pn_allocator_set(NULL);
    remove_files();
    CHECK(chdir("/") == 0 && rmdir(folder) == 0);
    return check_summary();
}
