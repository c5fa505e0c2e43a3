/* lscores.c -- what pn.evaluate needs of the C half: `require "penumbra.scores"`, which is not part of pn.  It gives a
 * data set, whose records nobody sees but through what pays for them, the fit's link, how plans respond to noise, and
 * quantiles.
 * Depends on: lsolve.h, ldata.h, progress.h, model/scores.h, numeric/beta.h.
 * Used by: penumbra.evaluation, penumbra.intervals. */
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/solvers/lsolve.h"
#include "core/vault.h"
#include "model/model_use.h"
#include "model/scores.h"
#include "numeric/beta.h"

/* of(fit, data, kind, bins, range) -> data set */
static int scores_of(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const pn_dataset *data = pnl_check(L, 2, &pnl_dataset_class);
    pn_scores ask = { .bins = (size_t)luaL_checkinteger(L, 4), .range = luaL_checknumber(L, 5) };
    pn_model_about about;
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    ask.kind = (pn_scores_kind)luaL_checkoption(L, 3, NULL, pn_scores_names);
    lua_settop(L, 5);
    pnl_fit_about(L, &about);
    slot = pnl_new_data(L);
    pnl_run_begin(L, true);
    status = PN_WITH_RECORDS(pn_model_scores(slot, &about, fit->theta, fit->p, data, &ask, pnl_task(L), &err));
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

/* link(fit) -> "identity", ..., number of margins */
static int link_of(lua_State *L)
{
    pn_model_about about;

    (void)pnl_check(L, 1, &pnl_fit_class);
    lua_settop(L, 1);
    pnl_fit_about(L, &about);
    lua_pushstring(L, pn_model_link_names[pn_model_link_of(about.loss, about.margins)]);
    lua_pushinteger(L, (lua_Integer)about.margins);
    return 2;
}

/* response(plan, curvature of the mean loss, of r) -> variance, part left of the start's distance, start; nothing of
 * solvers that follow no such law */
static int response_of(lua_State *L)
{
    const pn_plan *plan = pnl_check(L, 1, &pnl_plan_class);
    double loss = luaL_checknumber(L, 2), regular = luaL_checknumber(L, 3);
    size_t p = pn_objective_dim(plan->objective);
    pn_response found;
    pn_err err;

    if (!plan->solver->respond)
        return 0;
    pnl_status(L, plan->solver->respond(plan, loss, regular, &found, &err), &err);
    lua_pushnumber(L, found.variance);
    lua_pushnumber(L, found.left);
    memcpy(pnl_new_vec(L, p), found.start, p * sizeof(double));
    return 3;
}

/* quantile(p) of the standard normal law */
static int normal_quantile(lua_State *L)
{
    lua_pushnumber(L, pn_normal_quantile(luaL_checknumber(L, 1)));
    return 1;
}

static int open_scores(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "of", scores_of }, { "link", link_of }, { "response", response_of }, { "quantile", normal_quantile },
        { NULL, NULL },
    };

    luaL_newlib(L, functions);
    return 1;
}

void pnl_open_scores(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_scores);
    lua_setfield(L, -2, "penumbra.scores");
    lua_pop(L, 1);
}
