/* lfiles.c -- `require "penumbra.files"`: put(path, text), by which the Lua half writes files whole or not at all.
 * Depends on: pnl.h, core/file.h.  Used by: module.c; penumbra.experiment.result,
 * penumbra.lesson.progress, penumbra.plot.show. */
#include <string.h>

#include <lauxlib.h>

#include "bindings/core/pnl.h"
#include "core/file.h"

/* put(path, text) -> true, or nil and the system's words */
static int put(lua_State *L)
{
    size_t length, size;
    const char *path = luaL_checklstring(L, 1, &length), *text = luaL_checklstring(L, 2, &size);
    int error;

    luaL_argcheck(L, strlen(path) == length, 1, "a file name must not contain a zero byte");
    error = pn_file_put(path, text, size, 0666, true);
    if (error) {
        luaL_pushfail(L);
        lua_pushfstring(L, "%s: %s", path, strerror(error));
        return 2;
    }
    lua_pushboolean(L, 1);
    return 1;
}

static int open_files(lua_State *L)
{
    static const luaL_Reg functions[] = { { "put", put }, { NULL, NULL } };

    luaL_newlib(L, functions);
    return 1;
}

void pnl_open_files(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_files);
    lua_setfield(L, -2, "penumbra.files");
    lua_pop(L, 1);
}
