/* busy.c -- a long call on demand: pn.busy{ms=, total=, label=, value=, spent=, progress=, inner=function() end} for
 * tests.  Linked into the program with -Wl,--wrap=luaopen_penumbra_core,
 * which puts `busy` into the module that it opens.
 * Depends on: progress.h.  Used by: specs of the progress bar and of Ctrl-C. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <unistd.h>

#include "bindings/core/progress.h"

int __real_luaopen_penumbra_core(lua_State *L);
int __wrap_luaopen_penumbra_core(lua_State *L);

static int call_inner(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "busy.inner");
    lua_call(L, 0, 0);
    return 0;
}

/* One report a millisecond; `inner` is called half way.  Returns the name of the status, and how far it came. */
static int busy(lua_State *L)
{
    lua_Integer steps, step = 0;
    lua_Number total;
    const char *label;
    pn_status status = PN_OK;
    pn_progress now;
    pn_err err;

    lua_settop(L, 1);
    lua_getfield(L, 1, "ms");
    lua_getfield(L, 1, "total");
    lua_getfield(L, 1, "label");
    lua_getfield(L, 1, "inner");
    lua_setfield(L, LUA_REGISTRYINDEX, "busy.inner");
    lua_getfield(L, 1, "value");
    lua_getfield(L, 1, "spent");
    lua_getfield(L, 1, "progress");
    steps = luaL_checkinteger(L, 2);
    total = luaL_optnumber(L, 3, (lua_Number)steps);
    label = luaL_optstring(L, 4, "busy");
    now = (pn_progress){ .label = label,
                         .total = total,
                         .value = luaL_optnumber(L, 5, NAN),
                         .spent = luaL_optnumber(L, 6, NAN),
                         .budget = 1.0,
                         .unit = lua_isnil(L, 6) ? NULL : "epsilon" };
    pnl_run_begin_at(L, 7, "busy");
    for (; status == PN_OK && step < steps; step++) {
        usleep(1000);
        now.done = (double)step + 1;
        status = pn_task_tell(pnl_task(L), &now, &err);
        if (step == steps / 2) {
            lua_pushcfunction(L, call_inner);
            if (lua_pcall(L, 0, 0, 0) != LUA_OK)
                lua_pop(L, 1);
        }
    }
    pnl_run_end(L);
    if (status != PN_ECANCELLED)
        pnl_status(L, status, &err);
    lua_pushstring(L, pn_status_name(status));
    lua_pushinteger(L, step);
    return 2;
}

int __wrap_luaopen_penumbra_core(lua_State *L)
{
    __real_luaopen_penumbra_core(L);
    lua_pushcfunction(L, busy);
    lua_setfield(L, -2, "busy");
    return 1;
}
