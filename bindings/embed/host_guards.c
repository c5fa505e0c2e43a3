/* host_guards.c -- Lua's libraries where they would end the process, run bytecode, or escape a limit: functions that
 * replace them, with the same results otherwise.  Loops in C that a script can make endless charge instructions.
 * Depends on: host.h.  Used by: host.c. */
#include <string.h>

#include <lualib.h>

#include "bindings/embed/host.h"

/* After a call, or after a coroutine that yielded in it goes on. */
static int results(lua_State *L, int status, lua_KContext context)
{
    (void)status;
    (void)context;
    return lua_gettop(L);
}

/* All arguments to upvalue 1, and all its results. */
static int forward(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, results);
    return lua_gettop(L);
}

/* ---- no bytecode: Lua does not check it ---- */

/* load(chunk, name, mode, env) and loadfile(name, mode, env): the mode, at upvalue 2, is always "t". */
static int load_text(lua_State *L)
{
    int mode = (int)lua_tointeger(L, lua_upvalueindex(2)), given = lua_gettop(L);

    if (given < mode)
        lua_settop(L, mode);
    lua_pushliteral(L, "t");
    lua_replace(L, mode);
    return forward(L);
}

static int do_file(lua_State *L)
{
    const char *name = luaL_optstring(L, 1, NULL);

    if (luaL_loadfilex(L, name, "t") != LUA_OK)
        return lua_error(L);
    lua_insert(L, 1);
    lua_settop(L, 1);
    lua_callk(L, 0, LUA_MULTRET, 0, results);
    return lua_gettop(L);
}

/* ---- limits ---- */

/* upvalue 1: the script's handler.  A hook's error calls it with hooks off, so it must not run then. */
static int handle_unless_stopped(lua_State *L)
{
    const pnl_host *host = pnl_host_of(L);

    if (host->stop != PNL_GOES_ON) {
        lua_settop(L, 1);
        return 1;
    }
    return forward(L);
}

/* xpcall(f, handler, ...) */
static int guarded_xpcall(lua_State *L)
{
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, handle_unless_stopped, 1);
    lua_replace(L, 2);
    return forward(L);
}

/* coroutine.create and wrap: a coroutine counts by itself, so each may run as long as a grain uncounted. */
static int charged_coroutine(lua_State *L)
{
    pnl_host_charge(L, (uint64_t)pnl_host_of(L)->grain);
    return forward(L);
}

static int guarded_setmetatable(lua_State *L)
{
    if (lua_type(L, 2) == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_error(L, "setmetatable: __gc is not available where there is a limit of time or instructions, "
                                 "for finalizers escape it; __close does not");
        lua_pop(L, 1);
    }
    return forward(L);
}

/* ---- loops in C ---- */

/* Nothing, however often, is nothing. */
static int repeat(lua_State *L)
{
    if (luaL_len(L, 1) == 0 && (lua_isnoneornil(L, 3) || luaL_len(L, 3) == 0)) {
        luaL_checkinteger(L, 2);
        lua_pushliteral(L, "");
        return 1;
    }
    return forward(L);
}

static void move_one(lua_State *L, int from, lua_Integer i, int to, lua_Integer j)
{
    pnl_host_charge(L, 1);
    lua_geti(L, from, i);
    lua_seti(L, to, j);
}

/* table.move(a, first, last, at [, b]) */
static int move(lua_State *L)
{
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3), at = luaL_checkinteger(L, 4);
    int to = lua_isnoneornil(L, 5) ? 1 : 5;

    luaL_checkany(L, 1);
    luaL_checkany(L, to);
    if (last >= first) {
        luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
        luaL_argcheck(L, at <= LUA_MAXINTEGER - (last - first), 4, "destination wrap around");
        if (at > last || at <= first || (to != 1 && !lua_compare(L, 1, to, LUA_OPEQ)))
            for (lua_Integer i = 0; i <= last - first; i++)
                move_one(L, 1, first + i, to, at + i);
        else
            for (lua_Integer i = last - first; i >= 0; i--)
                move_one(L, 1, first + i, to, at + i);
    }
    lua_pushvalue(L, to);
    return 1;
}

/* table.insert(t, [position,] value) */
static int insert(lua_State *L)
{
    lua_Integer end = luaL_len(L, 1) + 1, position = end;
    int value = lua_gettop(L);

    if (value == 3) {
        position = luaL_checkinteger(L, 2);
        luaL_argcheck(L, position >= 1 && position <= end, 2, "position out of bounds");
        for (lua_Integer i = end; i > position; i--)
            move_one(L, 1, i - 1, 1, i);
    } else if (value != 2) {
        return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    lua_pushvalue(L, value);
    lua_seti(L, 1, position);
    return 0;
}

/* table.remove(t [, position]) */
static int removed(lua_State *L)
{
    lua_Integer size = luaL_len(L, 1), position = luaL_optinteger(L, 2, size);

    if (position != size)
        luaL_argcheck(L, position >= 1 && position <= size + 1, 2, "position out of bounds");
    lua_geti(L, 1, position);
    for (; position < size; position++)
        move_one(L, 1, position + 1, 1, position);
    lua_pushnil(L);
    lua_seti(L, 1, position);
    return 1;
}

/* ---- the process ---- */

static int refuse(lua_State *L)
{
    return luaL_error(L, "%s", lua_tostring(L, lua_upvalueindex(1)));
}

/* ---- replacing ---- */

/* In the library on the top: `by` with the function as it was at upvalue 1. */
static void replace(lua_State *L, const char *name, lua_CFunction by)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, by, 1);
    lua_setfield(L, -2, name);
}

static void replace_loader(lua_State *L, const char *name, int mode)
{
    lua_getfield(L, -1, name);
    lua_pushinteger(L, mode);
    lua_pushcclosure(L, load_text, 2);
    lua_setfield(L, -2, name);
}

static void replace_by_refusal(lua_State *L, const char *name, const char *why)
{
    lua_pushstring(L, why);
    lua_pushcclosure(L, refuse, 1);
    lua_setfield(L, -2, name);
}

/* Of debug, what cannot take limits off: not the hook, the registry, or metatables. */
static void guard_debug(lua_State *L)
{
    static const char *const kept[] = { "traceback", "getinfo", "getlocal", "gethook" };

    lua_getglobal(L, LUA_DBLIBNAME);
    lua_newtable(L);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        lua_getfield(L, -2, kept[i]);
        lua_setfield(L, -2, kept[i]);
    }
    lua_pushvalue(L, -1);
    lua_setglobal(L, LUA_DBLIBNAME);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_insert(L, -2);
    lua_setfield(L, -2, LUA_DBLIBNAME);
    lua_pop(L, 2);
}

/* A script could set __gc of files. */
static void hide_files(lua_State *L)
{
    if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) {
        lua_pushliteral(L, LUA_FILEHANDLE);
        lua_setfield(L, -2, "__metatable");
    }
    lua_pop(L, 1);
}

void pnl_host_guard_libraries(lua_State *L)
{
    const pnl_host_options *options = &pnl_host_of(L)->options;
    static const luaL_Reg moves[] = { { "move", move }, { "insert", insert }, { "remove", removed }, { NULL, NULL } };

    lua_pushglobaltable(L);
    replace_loader(L, "load", 3);
    replace_loader(L, "loadfile", 2);
    replace(L, "dofile", do_file);
    replace(L, "xpcall", guarded_xpcall);
    if (options->seconds > 0.0 || options->instructions > 0)
        replace(L, "setmetatable", guarded_setmetatable);
    lua_getfield(L, -1, LUA_COLIBNAME);
    replace(L, "create", charged_coroutine);
    replace(L, "wrap", charged_coroutine);
    lua_getfield(L, -2, LUA_STRLIBNAME);
    replace(L, "rep", repeat);
    lua_getfield(L, -3, LUA_TABLIBNAME);
    luaL_setfuncs(L, moves, 0);
    lua_getfield(L, -4, LUA_OSLIBNAME);
    replace_by_refusal(L, "exit", "os.exit: a script cannot end the program that runs it");
    lua_pop(L, 5);
    guard_debug(L);
    hide_files(L);
}
