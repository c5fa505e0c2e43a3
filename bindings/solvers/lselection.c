/* lselection.c -- what private selection needs of the C half: `require "penumbra.selection"`, which is not part of pn.
 * The search is Lua (stdlib/tuning, and the probe of stdlib/advise): it plans and runs what it compares, and keeps the
 * best.  What no script may do for nothing is here: runs on a budget of their own, whose price the search has charged
 * as a whole; scores; and the one charge.  None of it gets into a script's hands: the search keeps it to itself, calls
 * no function of a script while it runs, and gives neither plan nor fit of a run away.
 * Depends on: lsolve.h, objective/passes/score.h, privacy/event/stopping.h.
 * Used by: penumbra.tuning, penumbra.advise.probe. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/privacy/lprivacy_check.h"
#include "bindings/privacy/lsession.h"
#include "bindings/solvers/lsolve.h"
#include "core/vault.h"
#include "objective/passes/score.h"
#include "privacy/accounting/weak.h"
#include "privacy/event/event.h"
#include "privacy/event/stopping.h"
#include "privacy/ledger/ledger_watch.h"

/* ---- the law ---- */

static pn_stopping law_at(lua_State *L, int name, int mean)
{
    bool target = strcmp(luaL_checkstring(L, name), "known_target") == 0;
    pn_stopping law;
    pn_err err;

    pnl_status(L,
               pn_stopping_make(&law, target ? PN_STOP_KNOWN_TARGET : PN_STOP_GEOMETRIC, luaL_checknumber(L, mean), 0.0,
                                "tune", &err),
               &err);
    return law;
}

/* law(name, mean, p, fraction) -> quantile p of the number of runs, chance to see one of the best fraction */
static int law_numbers(lua_State *L)
{
    pn_stopping law = law_at(L, 1, 2);

    lua_pushnumber(L, pn_stopping_quantile(&law, luaL_checknumber(L, 3)));
    lua_pushnumber(L, pn_stopping_chance(&law, luaL_checknumber(L, 4)));
    return 2;
}

/* stops(name, mean, rng) -> boolean */
static int law_stops(lua_State *L)
{
    pn_stopping law = law_at(L, 1, 2);

    lua_pushboolean(L, pn_stopping_toss(&law, pnl_rng(L, 3)));
    return 1;
}

/* ---- what a run costs ---- */

/* gaussian(event) -> mu, scalar draws; nothing where it is not Gaussian noise alone */
static int gaussian_parts(lua_State *L)
{
    double mu, draws;

    if (!pn_event_is_gaussian(pnl_check_event(L, 1), &mu, &draws))
        return 0;
    lua_pushnumber(L, mu);
    lua_pushnumber(L, draws);
    return 2;
}

/* same(event, other) -> boolean */
static int same(lua_State *L)
{
    lua_pushboolean(L, pn_event_same(pnl_check_event(L, 1), pnl_check_event(L, 2)));
    return 1;
}

/* The ledger of the options at 1, or the budget of the data set (simulated: of none); NULL for neither. */
static pn_ledger *ledger_of(lua_State *L, const pn_bill *account, bool simulated, const char *owner)
{
    pn_ledger *given;

    pnl_push_ledger(L, 1, owner);
    given = pnl_test(L, -1, &pnl_ledger_class);
    if (!given && !lua_isnil(L, -1))
        pnl_error(L, "%s: ledger must be an open pn.ledger, got %s", owner, pnl_got(L, -1));
    return simulated ? given : pnl_bill_ledger(L, account, given, owner);
}

/* charge(options, event, label, rng, data): to the ledger, if there is one, and to what the data set has cost.  The
 * label begins with the name of the function that was called and a colon. */
static int charge(lua_State *L)
{
    pn_event *event = pnl_check_event(L, 2);
    bool simulated = pn_rng_simulated(pnl_rng(L, 4));
    pn_bill *account = pnl_bill(L, pnl_check(L, 5, &pnl_dataset_class));
    const char *label = luaL_checkstring(L, 3);
    pn_ledger *ledger;
    pn_spending spending;
    char owner[32];
    pn_status status;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "%.*s", (int)strcspn(label, ":"), label);
    ledger = ledger_of(L, account, simulated, owner);
    if (simulated && ledger && !pn_ledger_budget(ledger)->teaching)
        pnl_status(L,
                   pn_fail(&err, PN_EPRIVACY,
                           "%s: seeded noise gives no privacy, so a real ledger refuses it; open the ledger with "
                           "teaching = true, or leave rng out",
                           owner),
                   &err);
    pn_spending_init(&spending, account, simulated);
    status = PN_SPENDING(&spending, ledger ? pn_ledger_spend(ledger, event, 1, label, &err)
                                           : pn_ledger_tell(NULL, event, 1, &err));
    pnl_status(L, pnl_bill_refused(account, ledger, owner, status, &err), &err);
    return 0;
}

/* neighbours(options, data) -> those of the ledger that pays; nothing where there is none */
static int has_ledger(lua_State *L)
{
    const pn_ledger *ledger = ledger_of(L, pnl_bill_known(L, pnl_check(L, 2, &pnl_dataset_class)), false, "tune");

    if (!ledger)
        return 0;
    lua_pushstring(L, pn_neighbours_names[pn_ledger_budget(ledger)->neighbours]);
    return 1;
}

/* ---- the parts ---- */

/* parts(data, every) -> those of d:holdout(every) */
static int parts(lua_State *L)
{
    const pn_dataset *data = pnl_check(L, 1, &pnl_dataset_class);

    pnl_data_push_holdout(L, data, (size_t)luaL_checkinteger(L, 2));
    for (int part = -2; part < 0; part++) {
        pn_dataset *made = pnl_check(L, part, &pnl_dataset_class);

        pn_origin_free(made->origin); /* the search is counted as a whole, and not its runs */
        made->origin = NULL;
    }
    return 2;
}

/* ---- scores ---- */

static pn_score score_at(lua_State *L, int kind, int range, int mu, int neighbours)
{
    pn_score score = { .range = luaL_checknumber(L, range), .mu = luaL_checknumber(L, mu) };

    score.kind = (pn_score_kind)luaL_checkoption(L, kind, NULL, pn_score_names);
    score.neighbours = (pn_neighbours)luaL_checkoption(L, neighbours, NULL, pn_neighbours_names);
    return score;
}

/* check(objective, kind, range, mu, neighbours) -> standard deviation of the noise, entries of a model */
static int score_check(lua_State *L)
{
    const pn_objective *objective = pnl_check(L, 1, &pnl_objective_class);
    pn_score score = score_at(L, 2, 3, 4, 5);
    pn_err err;

    pnl_status(L, pn_score_check(objective, &score, &err), &err);
    lua_pushnumber(L, pn_score_deviation(objective, &score));
    lua_pushinteger(L, (lua_Integer)pn_objective_dim(objective));
    return 2;
}

/* score(objective, kind, range, mu, neighbours, theta, rng) -> number */
static int score_release(lua_State *L)
{
    pn_objective *objective = pnl_check(L, 1, &pnl_objective_class);
    pn_score score = score_at(L, 2, 3, 4, 5);
    pn_vec theta = pnl_check_vec(L, 6);
    pn_rng *rng = pnl_rng(L, 7);
    double value = 0.0;
    pn_status status;
    pn_err err;

    if (theta.n != pn_objective_dim(objective))
        return pnl_error(L, "tune: theta has %zu entries, the model has %zu", theta.n, pn_objective_dim(objective));
    pnl_run_begin(L, false);
    status = PN_WITH_RECORDS(pn_score_release(objective, theta.data, &score, rng, &value, pnl_task(L), &err));
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, value);
    return 1;
}

/* weak(epsilon) -> what is said of a price that protects little, or nil */
static int weak(lua_State *L)
{
    char text[128];

    if (pn_weak_epsilon(text, sizeof text, luaL_checknumber(L, 1)))
        lua_pushstring(L, text);
    else
        lua_pushnil(L);
    return 1;
}

/* ---- the module ---- */

static int open_selection(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "law", law_numbers },
        { "stops", law_stops },
        { "gaussian", gaussian_parts },
        { "same", same },
        { "charge", charge },
        { "parts", parts },
        { "neighbours", has_ledger },
        { "check", score_check },
        { "score", score_release },
        { "weak", weak },
        { NULL, NULL },
    };

    luaL_newlib(L, functions);
    lua_pushlightuserdata(L, (void *)(size_t)&pnl_own_budget);
    lua_setfield(L, -2, "own_budget");
    return 1;
}

void pnl_open_selection(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_selection);
    lua_setfield(L, -2, "penumbra.selection");
    lua_pop(L, 1);
}
