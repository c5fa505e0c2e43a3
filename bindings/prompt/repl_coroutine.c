/* repl_coroutine.c -- which coroutine runs, so that Ctrl-C reaches a loop in it: a hook belongs to one coroutine, and a
 * signal handler cannot ask Lua for the running one.  Replaces coroutine.resume and coroutine.wrap by ones that note
 * it.
 * Depends on: repl.h.  Used by: repl_call.c. */
#include <lauxlib.h>
#include <lualib.h>

#include "bindings/prompt/repl.h"

static lua_State *volatile running;

lua_State *repl_running(void)
{
    return running;
}

void repl_set_running(lua_State *L)
{
    running = L;
}

/* Call upvalue 1 with all arguments while `coroutine` is the running one. */
static int call_in(lua_State *L, lua_State *coroutine)
{
    lua_State *outer = running;
    int status;

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    if (coroutine)
        running = coroutine;
    status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    running = outer;
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* upvalue 1: Lua's coroutine.resume */
static int resume(lua_State *L)
{
    return call_in(L, lua_tothread(L, 1));
}

/* upvalues: 1 the function that Lua's coroutine.wrap made, 2 its coroutine */
static int call_wrapped(lua_State *L)
{
    return call_in(L, lua_tothread(L, lua_upvalueindex(2)));
}

/* upvalue 1: Lua's coroutine.wrap */
static int wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    if (lua_getupvalue(L, 1, 1) && lua_isthread(L, -1))
        lua_pushcclosure(L, call_wrapped, 2);
    return 1;
}

static void replace(lua_State *L, const char *name, lua_CFunction by)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, by, 1);
    lua_setfield(L, -2, name);
}

void repl_track_coroutines(lua_State *L)
{
    running = L;
    lua_getglobal(L, LUA_COLIBNAME);
    replace(L, "resume", resume);
    replace(L, "wrap", wrap);
    lua_pop(L, 1);
}
