/* lmechanism.c -- pn.mechanism: one constructor for each row of the runtime's table, and the release that pays first.
 * Depends on: lprivacy.h, lprivacy_check.h, privacy/mechanism.h.  Used by: lprivacy.c. */
#include <stdio.h>

#include "lprivacy.h"
#include "lprivacy_check.h"

#include "privacy/mechanism.h"

#define MAX_PARAMS 16

static pn_mechanism *check_mechanism(lua_State *L)
{
    return pnl_check(L, 1, &pnl_mechanism_class);
}

/* ---- release ---- */

/* The value of option `name` of the table at 2 (if there is one), left on the stack. */
static int option(lua_State *L, const char *name)
{
    if (lua_istable(L, 2))
        return lua_getfield(L, 2, name);
    lua_pushnil(L);
    return LUA_TNIL;
}

static pn_ledger *check_ledger(lua_State *L, const char *name)
{
    pn_ledger *ledger;

    if (option(L, "ledger") == LUA_TNIL)
        pnl_error(L, "%s: a release is paid from a ledger; give ledger = pn.ledger{epsilon = ...}", name);
    ledger = pnl_test(L, -1, &pnl_ledger_class);
    if (!ledger)
        pnl_error(L, "%s: ledger must be an open pn.ledger, got %s", name, luaL_typename(L, -1));
    return ledger;
}

static const char *check_label(lua_State *L, const char *name)
{
    int type = option(L, "label");

    if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "%s: label must be a string, got %s", name, luaL_typename(L, -1));
    return lua_tostring(L, -1);
}

/* Arguments become: 1 mechanism, 2 options, 3 query; what the options hold stays on the stack above them. */
static int mechanism_release(lua_State *L)
{
    static const pn_param none[] = { PN_PARAM_END };
    static const char *const extra[] = { "ledger", "rng", "label", NULL };
    pn_mechanism *mechanism = check_mechanism(L);
    const char *name = mechanism->ops->name, *label;
    pn_arg unused[1];
    pn_release release = { 0 };
    pn_ledger *ledger;
    pn_rng *rng;
    pn_vec query;
    pn_err err;

    lua_settop(L, 3);
    lua_insert(L, 2);
    pnl_options(L, 2, name, none, unused, extra);
    query = pnl_check_vec(L, 3);
    ledger = check_ledger(L, name);
    label = check_label(L, name);
    if (option(L, "rng") != LUA_TNIL && !pnl_test(L, -1, &pnl_rng_class))
        return pnl_error(L, "%s: rng must be an open pn.rng, got %s", name, luaL_typename(L, -1));
    rng = pnl_rng(L, -1);
    pnl_status(L, pn_mechanism_release(mechanism, ledger, label, rng, query.data, query.n, &release, &err), &err);
    lua_pushinteger(L, (lua_Integer)release.index + 1);
    return 1;
}

static int mechanism_event(lua_State *L)
{
    const pn_mechanism *mechanism = check_mechanism(L);
    void **slot = pnl_newbox(L, &pnl_event_class);

    *slot = pn_event_keep(mechanism->event);
    return 1;
}

static int mechanism_name(lua_State *L)
{
    lua_pushstring(L, check_mechanism(L)->ops->name);
    return 1;
}

static int mechanism_tostring(lua_State *L)
{
    const pn_mechanism *mechanism = check_mechanism(L);
    char text[1024];

    mechanism->ops->describe(mechanism, text, sizeof text);
    lua_pushfstring(L, "pn.mechanism.%s", text);
    return 1;
}

static const pnl_row mechanism_rows[] = {
    { "release", mechanism_release, PNL_METHOD, PNL_PAID, "m:release(scores, {ledger=, rng=, label=}) -> index",
      "Charges m.event to the ledger, then draws, then returns the chosen index (from 1).  scores: vector or table of "
      "finite numbers, larger is better, whose sensitivity the caller vouches for.  rng: the module's secure stream "
      "when "
      "absent; a seeded one is refused unless the ledger was opened with teaching = true.  label: what the ledger's "
      "report says.  Errors: no ledger, a budget that does not cover it (nothing is charged or drawn), a NaN or "
      "infinity." },
    { "event", mechanism_event, PNL_FIELD, PNL_NOTHING, "m.event -> event",
      "What one release costs, the rounding of parameters and scores included." },
    { "name", mechanism_name, PNL_FIELD, PNL_NOTHING, "m.name -> string", "The mechanism's name in pn.mechanism." },
    { "__tostring", mechanism_tostring, PNL_META, PNL_NOTHING, "tostring(m) -> string",
      "The law, its exact cost and neighbouring relation, and the lattice to which scores are rounded." },
    PNL_ROW_END,
};

static void free_mechanism(void *mechanism)
{
    pn_mechanism_free(mechanism);
}

const pnl_class pnl_mechanism_class = {
    "pn.mechanism", free_mechanism,
    mechanism_rows, "A private release: a law of noise, and the event that says what it costs.",
    NULL,           NULL,
};

/* ---- constructors ---- */

/* upvalue 1: the row of the runtime's table */
static int mechanism_new(lua_State *L)
{
    const pn_mechanism_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[MAX_PARAMS], relation[1];
    pn_mechanism **slot;
    char owner[64];
    pn_err err;

    (void)snprintf(owner, sizeof owner, "mechanism.%s", ops->name);
    lua_settop(L, 1);
    pnl_options2(L, 1, owner, ops->params, args, pnl_neighbours_params, relation, NULL);
    pnl_status(L, pn_args_check(owner, pnl_neighbours_params, relation, &err), &err);
    slot = (pn_mechanism **)pnl_newbox(L, &pnl_mechanism_class);
    pnl_status(L, pn_mechanism_new(slot, ops->name, args, (pn_neighbours)relation[0].count, &err), &err);
    return 1;
}

static void add_constructor(lua_State *L, const pn_mechanism_ops *ops)
{
    if (pn_param_count(ops->params) > MAX_PARAMS)
        pnl_error(L, "mechanism.%s has more options than the binding reads", ops->name);
    lua_pushlightuserdata(L, (void *)(size_t)ops);
    lua_pushcclosure(L, mechanism_new, 1);
    lua_setfield(L, -2, ops->name);
    lua_pushfstring(L, "pn.mechanism.%s{...} -> mechanism", ops->name);
    pnl_reference(L, "mechanism", ops->name, PNL_NOTHING, lua_tostring(L, -1), ops->doc, ops->source, ops->params);
    lua_pop(L, 1);
}

void pnl_open_mechanism(lua_State *L)
{
    static const pnl_row none[] = { PNL_ROW_END };

    pnl_register(L, &pnl_mechanism_class);
    pnl_library(L, "mechanism", "Private releases: every one is paid from a ledger before its noise is drawn.", none);
    for (const pn_mechanism_ops *const *ops = pn_mechanism_table(); *ops; ops++)
        add_constructor(L, *ops);
    lua_setfield(L, -2, "mechanism");
}
