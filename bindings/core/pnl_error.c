/* pnl_error.c -- statuses of the runtime as errors of Lua, and the way back: which status it was that a message was
 * raised for.
 * Depends on: pnl.h.  Used by: every binding. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/pnl.h"

static const char error_key = 'e', failure_key = 'f', raised_key = 'm', status_key = 's';

void pnl_set_error(lua_State *L)
{
    lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
}

void pnl_push_failure(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_key);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_key);
}

void pnl_status(lua_State *L, pn_status status, const pn_err *err)
{
    if (status == PN_OK)
        return;
    lua_pushstring(L, pn_status_name(status) + strlen("PN_"));
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_key);
    if (status == PN_ECALLBACK) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key);
        lua_pushnil(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
        if (!lua_isnil(L, -1))
            lua_error(L);
        lua_pop(L, 1);
    }
    luaL_where(L, 1);
    lua_pushstring(L, err->message);
    lua_concat(L, 2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &raised_key);
    lua_pushinteger(L, (lua_Integer)status);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &status_key);
    lua_error(L);
}

pn_status pnl_failure_of(lua_State *L, int index)
{
    pn_status status = PN_OK;

    lua_pushvalue(L, index);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &raised_key);
    if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, -2)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &status_key);
        status = (pn_status)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
    return status;
}

int pnl_error(lua_State *L, const char *format, ...)
{
    char message[PN_ERR_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return luaL_error(L, "%s", message);
}

int pnl_no_memory(lua_State *L, const char *format, ...)
{
    pn_err err;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    pnl_status(L, PN_ENOMEM, &err);
    return 0;
}
