/* lua_kit.c -- see lua_kit.h. */
#define _POSIX_C_SOURCE 200809L
#include <lualib.h>
#include <string.h>

#include "bindings/embed/penumbra_lua.h"
#include "bindings/kernel/lkernel.h"
#include "fuzz/lua_kit.h"

#define MOST ((size_t)256 << 20)

static void *limited(void *used, void *block, size_t before, size_t after)
{
    size_t *total = used, has = block ? before : 0;
    void *more;

    if (after == 0) {
        *total -= has;
        free(block);
        return NULL;
    }
    if (after > has && *total + (after - has) > MOST)
        return NULL;
    more = realloc(block, after);
    if (more)
        *total += after - has;
    return more;
}

/* Which lines of the library's Lua ran: libFuzzer looks at this section after each input, as it does at the counters in
 * C code.  Lines of the input itself are none of the reader's. */
#define LINES 16384
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t lines[LINES];

#if defined(__clang__)
#define UNWATCHED __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define UNWATCHED
#endif

/* A call a line, which must not take longer than the line. */
static UNWATCHED void count_line(lua_State *L, lua_Debug *at)
{
    static const char library[] = "@stdlib/";
    uint32_t hash;

    (void)lua_getinfo(L, "S", at);
    if (strncmp(at->source, library, sizeof library - 1) != 0)
        return;
    hash = 2166136261u; /* FNV-1a */
    for (const char *c = at->source + sizeof library - 1; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    hash = (hash ^ (uint32_t)at->currentline) * 16777619u;
    lines[(hash ^ (hash >> 16)) % LINES]++;
}

/* What is read must not do anything, and a mutated text would do it in earnest. */
static const char harmless[] =
    "os.execute, os.exit, os.remove, os.rename, os.tmpname, io.popen = nil\n"
    "package.loadlib, package.path, package.cpath = nil, '', ''\n"
    "print, io.write, io.stderr = function() end, function() end, { write = function() end, isatty = false }\n"
    "pn = require 'penumbra'\n";

/* The states of all targets: closed at the end, so that what is left then was lost. */
#define MOST_STATES 8
static lua_State *kept[MOST_STATES];
static size_t kept_count;

static void close_kept(void)
{
    while (kept_count > 0)
        lua_close(kept[--kept_count]);
}

lua_State *fuzz_lua(const char *setup)
{
    static size_t used;
    lua_State *L = lua_newstate(limited, &used);

    FUZZ_HOLDS(L != NULL && kept_count < MOST_STATES && (kept_count > 0 || atexit(close_kept) == 0));
    kept[kept_count++] = L;
    (void)setenv("PENUMBRA_STARTUP", "", 1);
    luaL_openlibs(L);
    pnl_open(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, pnl_open_kernel);
    lua_setfield(L, -2, "penumbra.kernel");
    lua_pop(L, 1);
    if (luaL_dostring(L, harmless) || luaL_loadbuffer(L, setup, strlen(setup), "=setup") || lua_pcall(L, 0, 1, 0)) {
        (void)fprintf(stderr, "%s\n", lua_tostring(L, -1));
        abort();
    }
    lua_sethook(L, count_line, LUA_MASKLINE, 0); /* coroutines that are made from here on inherit it */
    return L;
}

static int with_trace(lua_State *L)
{
    luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
    return 1;
}

void fuzz_lua_call(lua_State *L, const uint8_t *data, size_t size)
{
    int top = lua_gettop(L);

    lua_pushcfunction(L, with_trace);
    lua_pushvalue(L, top);
    lua_pushlstring(L, (const char *)data, size);
    if (lua_pcall(L, 1, 0, top + 1) != LUA_OK) {
        (void)fprintf(stderr, "%s\n", lua_tostring(L, -1));
        abort();
    }
    lua_settop(L, top);
}
