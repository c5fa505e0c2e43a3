/* lshipped.c -- entries of pn.solve whose solver is a pn.solver of the Lua half: `require "penumbra.shipped"`, which is
 * not part of pn.  shipped(load) is called and planned as the solvers in C are, by what load() returns, a pn.solver.
 * Depends on: lsolver.h.  Used by: lsolver.c, penumbra.solvers (stdlib/solvers/init.lua). */
#include "bindings/solvers/lsolver.h"

/* upvalue 1: load */
static const pn_solver_ops *push_solver(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 0, 1);
    return &((const pnl_scripted *)pnl_check(L, -1, &pnl_solver_class))->ops;
}

static int shipped_plan(lua_State *L)
{
    lua_settop(L, 2);
    return pnl_push_scripted_plan(L, push_solver(L), 1, 2);
}

/* __call: (entry, objective, options) */
static int shipped_call(lua_State *L)
{
    lua_settop(L, 3);
    pnl_push_scripted_plan(L, push_solver(L), 2, 3);
    return pnl_plan_run(L, lua_gettop(L), 3);
}

static int shipped(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, shipped_plan, 1);
    lua_setfield(L, 2, "plan");
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, shipped_call, 1);
    lua_setfield(L, -2, "__call");
    lua_pushboolean(L, false); /* analysts find no more in it than in those of C */
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, 2);
    return 1;
}

static int open_shipped(lua_State *L)
{
    lua_pushcfunction(L, shipped);
    return 1;
}

void pnl_open_shipped(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_shipped);
    lua_setfield(L, -2, "penumbra.shipped");
    lua_pop(L, 1);
}
