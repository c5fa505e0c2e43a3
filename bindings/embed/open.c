/* open.c -- pnl_open: `require "penumbra"` in any state, from the Lua half in the library.
 * What is loaded when is as with files.
 * Depends on: penumbra_lua.h, open.h, pnl.h.  Used by: hosts, bindings/embed/host.c. */
#include <lualib.h>

#include "bindings/core/pnl.h"
#include "bindings/embed/open.h"
#include "bindings/embed/penumbra_lua.h"

#define ENVIRONMENT "penumbra.environment"

void pnl_module_environment(lua_State *L)
{
    if (lua_getfield(L, LUA_REGISTRYINDEX, ENVIRONMENT) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, luaopen_debug);
    lua_call(L, 0, 1);
    lua_setfield(L, -2, LUA_DBLIBNAME);
    lua_createtable(L, 0, 2);
    lua_pushglobaltable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__index");
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, ENVIRONMENT);
}

/* upvalue 1: the file */
static int load_module(lua_State *L)
{
    const pnl_lua_file *file = lua_touserdata(L, lua_upvalueindex(1));

    lua_settop(L, 1);
    if (luaL_loadbufferx(L, file->text, file->size, file->chunk, "t") != LUA_OK)
        return lua_error(L);
    pnl_module_environment(L);
    if (!lua_setupvalue(L, -2, 1)) /* a module without any global */
        lua_pop(L, 1);
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

PNL_API void pnl_open(lua_State *L)
{
    luaL_checkstack(L, 4, "penumbra");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_penumbra_core);
    lua_setfield(L, -2, "penumbra.core");
    for (const pnl_lua_file *file = pnl_lua_half; file->module; file++) {
        lua_pushlightuserdata(L, (void *)(size_t)file);
        lua_pushcclosure(L, load_module, 1);
        lua_setfield(L, -2, file->module);
    }
    lua_pop(L, 1);
}
