/* lframe.c -- frames around Lua code: `require "penumbra.frame"`, which is not part of pn.
 * Depends on: progress.h.  Used by: the Lua half, where it computes for long. */
#include <math.h>

#include "bindings/core/progress.h"

enum { FRAME_LABEL = 1, FRAME_TOTAL, FRAME_PROGRESS, FRAME_BODY };

/* tell(done, value): raises when the work is to stop.  Upvalues: the label, the total. */
static int tell_frame(lua_State *L)
{
    pn_progress now = { .label = lua_tostring(L, lua_upvalueindex(1)),
                        .done = luaL_checknumber(L, 1),
                        .total = lua_tonumber(L, lua_upvalueindex(2)),
                        .value = luaL_optnumber(L, 2, NAN),
                        .spent = NAN,
                        .budget = NAN };
    pn_err err;

    pnl_status(L, pn_task_tell(pnl_task(L), &now, &err), &err);
    return 0;
}

/* frame(label, total, progress, body) -> what body(tell) returns.  total: 0 when it is not known. */
static int frame_of_lua(lua_State *L)
{
    const char *label = luaL_checkstring(L, FRAME_LABEL);
    int status;

    (void)luaL_checknumber(L, FRAME_TOTAL);
    luaL_checktype(L, FRAME_BODY, LUA_TFUNCTION);
    lua_settop(L, FRAME_BODY);
    lua_pushvalue(L, FRAME_LABEL);
    lua_pushvalue(L, FRAME_TOTAL);
    lua_pushcclosure(L, tell_frame, 2);
    pnl_run_begin_at(L, FRAME_PROGRESS, label);
    pnl_run_mark_lua(L);
    status = lua_pcall(L, 1, LUA_MULTRET, 0);
    pnl_run_end(L);
    return status == LUA_OK ? lua_gettop(L) - FRAME_PROGRESS : lua_error(L);
}

static int open_frame(lua_State *L)
{
    lua_pushcfunction(L, frame_of_lua);
    return 1;
}

void pnl_open_frame(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_frame);
    lua_setfield(L, -2, "penumbra.frame");
    lua_pop(L, 1);
}
