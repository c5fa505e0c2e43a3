/* lshipped.c -- entries of pn.solve whose solver is a pn.solver of the Lua half: `require "penumbra.shipped"`, which is
 * not part of pn.  shipped(load) is called and planned as the solvers in C are, by what load() returns, a pn.solver.
 * Depends on: lsolver.h.  Used by: lsolver.c, penumbra.solvers (stdlib/solvers/init.lua). */
#include <stdio.h>

#include "bindings/solvers/lsolver.h"

/* What was called: solve.NAME, or solve.NAME.plan. */
typedef struct call {
    const pn_solver_ops *solver;
    char owner[64];
} call;

/* Steps are chosen by the certified bounds on gradients, without privacy too. */
static void check_objective(lua_State *L, const pn_objective *objective, const char *owner)
{
    const pn_bounds *bounds = pn_objective_bounds(objective);
    pn_err err;

    if (pn_objective_loss(objective)->margins == 0)
        pnl_error(L, "%s: a black box has no gradients; use solve.zeroth_order", owner);
    if (!bounds->certified)
        pnl_status(L, pn_fail(&err, PN_EPRIVACY, "%s: the sensitivity cannot be certified: %s", owner, bounds->missing),
                   &err);
}

/* Push the solver and return it for a call with the objective at `objective`.  upvalue 1: load */
static call push_solver(lua_State *L, int objective, const char *what)
{
    call self;

    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 0, 1);
    self.solver = &((const pnl_scripted *)pnl_check(L, -1, &pnl_solver_class))->ops;
    (void)snprintf(self.owner, sizeof self.owner, "solve.%s%s", self.solver->name, what);
    if (pnl_test(L, objective, &pnl_objective_class))
        check_objective(L, pnl_check(L, objective, &pnl_objective_class), self.owner);
    return self;
}

static int shipped_plan(lua_State *L)
{
    call self;

    lua_settop(L, 2);
    self = push_solver(L, 1, ".plan");
    return pnl_push_scripted_plan(L, self.solver, self.owner, 1, 2);
}

/* __call: (entry, objective, options) */
static int shipped_call(lua_State *L)
{
    call self;

    lua_settop(L, 3);
    self = push_solver(L, 2, "");
    pnl_push_scripted_plan(L, self.solver, self.owner, 2, 3);
    return pnl_plan_run(L, self.owner, lua_gettop(L), 3);
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
