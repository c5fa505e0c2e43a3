/* fail_lua.c -- see fail_lua.h: the wrappers of what the bindings call of Lua and that may allocate.
 * Depends on: fail_lua.h, Lua. */
#include "fail_lua.h"

#include <lauxlib.h>
#include <lua.h>

#pragma GCC diagnostic ignored "-Wpedantic" /* void functions are returned like others */

/* Lua asks a second time, after it has collected garbage. */
static _Thread_local int refusals;

bool fail_lua_refuses(void)
{
    if (refusals == 0)
        return false;
    refusals--;
    return true;
}

FAIL_CALLS_DECLARE(void *, lua_newuserdatauv, (lua_State * L, size_t size, int values))

/* Returns when the state has another allocator than fail_lua_refuses is asked by. */
static void raise_memory(lua_State *L)
{
    refusals = 2;
    (void)__real_lua_newuserdatauv(L, 1, 0);
    lua_settop(L, -2);
    refusals = 0;
}

#define WRAP(type, name, params, state, args)                                                                          \
    FAIL_CALLS_DECLARE(type, name, params)                                                                             \
    type __wrap_##name params                                                                                          \
    {                                                                                                                  \
        if (fail_calls_refuses(FAIL_CALLS_HERE))                                                                       \
            raise_memory(state);                                                                                       \
        return __real_##name args;                                                                                     \
    }

void *__wrap_lua_newuserdatauv(lua_State *L, size_t size, int values)
{
    if (fail_calls_refuses(FAIL_CALLS_HERE))
        raise_memory(L);
    return __real_lua_newuserdatauv(L, size, values);
}

/* clang-format off */
WRAP(void, lua_createtable, (lua_State *L, int items, int fields), L, (L, items, fields))
WRAP(const char *, lua_pushstring, (lua_State *L, const char *text), L, (L, text))
WRAP(const char *, lua_pushlstring, (lua_State *L, const char *text, size_t size), L, (L, text, size))
WRAP(void, lua_setfield, (lua_State *L, int at, const char *key), L, (L, at, key))
WRAP(int, lua_getfield, (lua_State *L, int at, const char *key), L, (L, at, key))
WRAP(void, lua_setglobal, (lua_State *L, const char *key), L, (L, key))
WRAP(int, lua_getglobal, (lua_State *L, const char *key), L, (L, key))
WRAP(void, lua_settable, (lua_State *L, int at), L, (L, at))
WRAP(void, lua_seti, (lua_State *L, int at, lua_Integer key), L, (L, at, key))
WRAP(void, lua_concat, (lua_State *L, int n), L, (L, n))
WRAP(const char *, luaL_tolstring, (lua_State *L, int at, size_t *size), L, (L, at, size))
WRAP(void, luaL_checkstack, (lua_State *L, int n, const char *what), L, (L, n, what))
WRAP(void, luaL_addstring, (luaL_Buffer *B, const char *text), B->L, (B, text))
WRAP(void, luaL_addlstring, (luaL_Buffer *B, const char *text, size_t size), B->L, (B, text, size))
WRAP(void, luaL_addvalue, (luaL_Buffer *B), B->L, (B))
WRAP(char *, luaL_prepbuffsize, (luaL_Buffer *B, size_t size), B->L, (B, size))
WRAP(char *, luaL_buffinitsize, (lua_State *L, luaL_Buffer *B, size_t size), L, (L, B, size))
WRAP(void, luaL_pushresult, (luaL_Buffer *B), B->L, (B))
WRAP(void, luaL_pushresultsize, (luaL_Buffer *B, size_t size), B->L, (B, size))
WRAP(int, luaL_getsubtable, (lua_State *L, int at, const char *key), L, (L, at, key))
WRAP(void, luaL_setfuncs, (lua_State *L, const luaL_Reg *list, int upvalues), L, (L, list, upvalues))
WRAP(int, luaL_newmetatable, (lua_State *L, const char *name), L, (L, name))
WRAP(int, luaL_ref, (lua_State *L, int at), L, (L, at))
WRAP(void, luaL_traceback, (lua_State *L, lua_State *of, const char *text, int level), L, (L, of, text, level))
WRAP(const char *, luaL_gsub, (lua_State *L, const char *text, const char *part, const char *by), L,
     (L, text, part, by))
WRAP(int, luaL_getmetafield, (lua_State *L, int at, const char *key), L, (L, at, key))
/* clang-format on */

/* What sets a key that the table has, or takes one away, allocates nothing. */
static bool adds(lua_State *L, int was)
{
    bool there = was != LUA_TNIL || lua_isnil(L, -2);

    lua_settop(L, -2);
    return !there;
}

FAIL_CALLS_DECLARE(void, lua_rawset, (lua_State * L, int at))
void __wrap_lua_rawset(lua_State *L, int at)
{
    at = lua_absindex(L, at);
    lua_pushvalue(L, -2);
    if (adds(L, lua_rawget(L, at)) && fail_calls_refuses(FAIL_CALLS_HERE))
        raise_memory(L);
    __real_lua_rawset(L, at);
}

FAIL_CALLS_DECLARE(void, lua_rawseti, (lua_State * L, int at, lua_Integer key))
void __wrap_lua_rawseti(lua_State *L, int at, lua_Integer key)
{
    at = lua_absindex(L, at);
    if (adds(L, lua_rawgeti(L, at, key)) && fail_calls_refuses(FAIL_CALLS_HERE))
        raise_memory(L);
    __real_lua_rawseti(L, at, key);
}

FAIL_CALLS_DECLARE(void, lua_rawsetp, (lua_State * L, int at, const void *key))
void __wrap_lua_rawsetp(lua_State *L, int at, const void *key)
{
    at = lua_absindex(L, at);
    if (adds(L, lua_rawgetp(L, at, key)) && fail_calls_refuses(FAIL_CALLS_HERE))
        raise_memory(L);
    __real_lua_rawsetp(L, at, key);
}

FAIL_CALLS_WRAP(int, lua_checkstack, (lua_State * L, int n), (L, n), 0)

FAIL_CALLS_DECLARE(void, lua_pushcclosure, (lua_State * L, lua_CFunction f, int upvalues))
void __wrap_lua_pushcclosure(lua_State *L, lua_CFunction f, int upvalues)
{
    if (upvalues > 0 && fail_calls_refuses(FAIL_CALLS_HERE))
        raise_memory(L);
    __real_lua_pushcclosure(L, f, upvalues);
}

FAIL_CALLS_DECLARE(const char *, lua_tolstring, (lua_State * L, int at, size_t *size))
const char *__wrap_lua_tolstring(lua_State *L, int at, size_t *size)
{
    if (lua_type(L, at) == LUA_TNUMBER && fail_calls_refuses(FAIL_CALLS_HERE))
        raise_memory(L);
    return __real_lua_tolstring(L, at, size);
}

FAIL_CALLS_DECLARE(const char *, lua_pushfstring, (lua_State * L, const char *format, ...))
const char *__wrap_lua_pushfstring(lua_State *L, const char *format, ...)
{
    va_list list;
    const char *made;

    if (fail_calls_refuses(FAIL_CALLS_HERE))
        raise_memory(L);
    va_start(list, format);
    made = lua_pushvfstring(L, format, list);
    va_end(list);
    return made;
}

FAIL_CALLS_WRAP(lua_State *, luaL_newstate, (void), (), NULL)
FAIL_CALLS_WRAP(lua_State *, lua_newstate, (lua_Alloc allocate, void *self), (allocate, self), NULL)
