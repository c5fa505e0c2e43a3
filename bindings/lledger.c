/* lledger.c -- pn.ledger: a privacy budget that is charged before noise is drawn.
 * Depends on: pnl.h, lprivacy_check.h, privacy/ledger.h.  Used by: lprivacy.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lprivacy.h"
#include "lprivacy_check.h"
#include "privacy/ledger.h"

static pn_ledger *check(lua_State *L)
{
    return pnl_check(L, 1, &pnl_ledger_class);
}

static const pn_budget *budget(lua_State *L)
{
    return pn_ledger_budget(check(L));
}

/* ---- charging ---- */

static int ledger_price(lua_State *L)
{
    pn_ledger *self = check(L);
    pn_event *event = pnl_check_event(L, 2);

    lua_pushnumber(L, pn_ledger_price(self, event, pnl_opt_count(L, 3, "ledger:price")));
    return 1;
}

static int ledger_covers(lua_State *L)
{
    pn_ledger *self = check(L);
    pn_event *event = pnl_check_event(L, 2);
    pn_err err;
    pn_status status = pn_ledger_covers(self, event, pnl_opt_count(L, 3, "ledger:covers"), &err);

    if (status != PN_OK && status != PN_EBUDGET)
        pnl_status(L, status, &err);
    lua_pushboolean(L, status == PN_OK);
    if (status == PN_OK)
        return 1;
    lua_pushstring(L, err.message);
    return 2;
}

static int ledger_reserve(lua_State *L)
{
    pn_ledger *self = check(L);
    pn_event *event = pnl_check_event(L, 2);
    pn_err err;

    pnl_status(L, pn_ledger_reserve(self, event, pnl_opt_count(L, 3, "ledger:reserve"), &err), &err);
    lua_settop(L, 1);
    return 1;
}

static int ledger_spend(lua_State *L)
{
    pn_ledger *self = check(L);
    pn_event *event = pnl_check_event(L, 2);
    const char *label = luaL_optstring(L, 3, "");
    size_t count = pnl_opt_count(L, 4, "ledger:spend");
    pn_err err;

    pnl_status(L, pn_ledger_spend(self, event, count, label, &err), &err);
    lua_settop(L, 1);
    return 1;
}

static void free_ledger(void *ledger)
{
    pn_ledger_free(ledger);
}

/* Boxes first, all of them empty: what pn_ledger_split returns is then owned at once. */
static int ledger_split(lua_State *L)
{
    pn_ledger *self = check(L), **parts;
    size_t k = pnl_check_count(L, 2, "ledger:split: k");
    void ***slots;
    pn_err err;

    if (k > 10000)
        return pnl_error(L, "ledger:split: k must be at most 10000, got %zu", k);
    luaL_checkstack(L, (int)k + 8, "ledger:split");
    parts = lua_newuserdatauv(L, k * sizeof(pn_ledger *), 0);
    slots = lua_newuserdatauv(L, k * sizeof(void **), 0);
    for (size_t i = 0; i < k; i++)
        slots[i] = pnl_newbox(L, &pnl_ledger_class);
    pnl_status(L, pn_ledger_split(self, k, parts, &err), &err);
    for (size_t i = 0; i < k; i++)
        *slots[i] = parts[i];
    return (int)k;
}

static int ledger_close(lua_State *L)
{
    pn_ledger_close(check(L));
    return 0;
}

/* ---- fields ---- */

static int ledger_remaining(lua_State *L)
{
    lua_pushnumber(L, pn_ledger_remaining(check(L)));
    return 1;
}

static int ledger_spent(lua_State *L)
{
    lua_pushnumber(L, pn_ledger_spent(check(L)));
    return 1;
}

static int push_given(lua_State *L, double value, bool given)
{
    if (given)
        lua_pushnumber(L, value);
    else
        lua_pushnil(L);
    return 1;
}

static int ledger_epsilon(lua_State *L)
{
    return push_given(L, budget(L)->epsilon, !isnan(budget(L)->epsilon));
}

static int ledger_delta(lua_State *L)
{
    return push_given(L, budget(L)->delta, !isnan(budget(L)->epsilon));
}

static int ledger_rho(lua_State *L)
{
    return push_given(L, budget(L)->rho, !isnan(budget(L)->rho));
}

static int ledger_neighbours(lua_State *L)
{
    lua_pushstring(L, pn_neighbours_names[budget(L)->neighbours]);
    return 1;
}

static int ledger_teaching(lua_State *L)
{
    lua_pushboolean(L, budget(L)->teaching);
    return 1;
}

static int ledger_orders(lua_State *L)
{
    pn_ledger *self = check(L);
    size_t count = pn_ledger_order_count(self);

    if (count == 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        bool alive;

        lua_createtable(L, 0, 2);
        lua_pushnumber(L, pn_ledger_order(self, i, &alive));
        lua_setfield(L, -2, "order");
        lua_pushboolean(L, alive);
        lua_setfield(L, -2, "alive");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* "epsilon=1, delta=1e-06, replace_one": pushes it. */
static void push_budget(lua_State *L, const pn_budget *b)
{
    char text[160];

    if (!isnan(b->rho))
        (void)snprintf(text, sizeof text, "rho=%.6g, %s", b->rho, pn_neighbours_names[b->neighbours]);
    else
        (void)snprintf(text, sizeof text, "epsilon=%.6g, delta=%.6g, %s", b->epsilon, b->delta,
                       pn_neighbours_names[b->neighbours]);
    lua_pushstring(L, text);
}

static const char *warning(const pn_budget *b)
{
    return b->teaching ? "; teaching: noise may be simulated: no privacy" : "";
}

static int ledger_tostring(lua_State *L)
{
    pn_ledger *self = check(L);
    char text[256];

    push_budget(L, pn_ledger_budget(self));
    (void)snprintf(text, sizeof text, "ledger(%s)\n  spent %.6g, remaining %.6g, entries %zu%s", lua_tostring(L, -1),
                   pn_ledger_spent(self), pn_ledger_remaining(self), pn_ledger_entries(self),
                   warning(pn_ledger_budget(self)));
    lua_pushstring(L, text);
    return 1;
}

/* ---- the report ---- */

static const char report_key = 'p';

/* Length of the longest t[i].field, at least that of the heading (and at most 60). */
static int width_of(lua_State *L, int table, const char *field, size_t rows, size_t at_least)
{
    size_t width = at_least;

    for (size_t i = 1; i <= rows; i++) {
        size_t length;

        lua_rawgeti(L, table, (lua_Integer)i);
        lua_getfield(L, -1, field);
        (void)luaL_tolstring(L, -1, &length);
        width = length > width ? length : width;
        lua_pop(L, 3);
    }
    return width > 60 ? 60 : (int)width;
}

static void push_row(lua_State *L, int row, int label_width, int event_width)
{
    char text[400];
    const char *label, *event;

    lua_getfield(L, row, "label");
    lua_getfield(L, row, "event");
    lua_getfield(L, row, "count");
    lua_getfield(L, row, "price");
    label = luaL_tolstring(L, row + 1, NULL);
    event = luaL_tolstring(L, row + 2, NULL);
    (void)snprintf(text, sizeof text, "%-*.60s  %-*.60s  %10.0f  %12.6g\n", label_width, label, event_width, event,
                   lua_tonumber(L, row + 3), lua_tonumber(L, row + 4));
    lua_settop(L, row);
    lua_pushstring(L, text);
}

static int report_tostring(lua_State *L)
{
    char heading[400];
    int label_width, event_width;
    size_t rows;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    rows = lua_rawlen(L, 1);
    label_width = width_of(L, 1, "label", rows, 5);
    event_width = width_of(L, 1, "event", rows, 5);
    (void)snprintf(heading, sizeof heading, "%-*s  %-*s  %10s  %12s\n", label_width, "label", event_width, "event",
                   "count", "price");
    lua_pushstring(L, heading);
    for (size_t i = 1; i <= rows; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i);
        push_row(L, 3, label_width, event_width);
        lua_remove(L, 3);
        lua_concat(L, 2);
    }
    lua_getfield(L, 1, "summary");
    lua_concat(L, 2);
    return 1;
}

static void set_report_class(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &report_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 2);
        lua_pushcfunction(L, report_tostring);
        lua_setfield(L, -2, "__tostring");
        lua_pushliteral(L, "pn.ledger.report");
        lua_setfield(L, -2, "__name");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &report_key);
    }
    lua_setmetatable(L, -2);
}

static void push_entry(lua_State *L, const pn_ledger *self, size_t index)
{
    pn_charge charge = pn_ledger_entry(self, index);

    lua_createtable(L, 0, 4);
    lua_pushstring(L, charge.label);
    lua_setfield(L, -2, "label");
    pnl_push_event_text(L, charge.event);
    lua_setfield(L, -2, "event");
    lua_pushinteger(L, (lua_Integer)charge.count);
    lua_setfield(L, -2, "count");
    lua_pushnumber(L, pn_ledger_price(self, charge.event, charge.count));
    lua_setfield(L, -2, "price");
}

static int ledger_report(lua_State *L)
{
    pn_ledger *self = check(L);
    size_t rows = pn_ledger_entries(self);
    char summary[256];

    lua_createtable(L, (int)rows, 3);
    for (size_t i = 0; i < rows; i++) {
        push_entry(L, self, i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushnumber(L, pn_ledger_spent(self));
    lua_setfield(L, -2, "spent");
    lua_pushnumber(L, pn_ledger_remaining(self));
    lua_setfield(L, -2, "remaining");
    push_budget(L, pn_ledger_budget(self));
    (void)snprintf(summary, sizeof summary, "budget %s: spent %.6g, remaining %.6g%s", lua_tostring(L, -1),
                   pn_ledger_spent(self), pn_ledger_remaining(self), warning(pn_ledger_budget(self)));
    lua_pop(L, 1);
    lua_pushstring(L, summary);
    lua_setfield(L, -2, "summary");
    set_report_class(L);
    return 1;
}

/* ---- the class ---- */

static const pnl_row ledger_rows[] = {
    { "price", ledger_price, PNL_METHOD, PNL_NOTHING, "L:price(e, count) -> number",
      "What count (1 when left out) times the event costs by itself: epsilon at the budget's delta, or rho. Spends "
      "nothing." },
    { "covers", ledger_covers, PNL_METHOD, PNL_NOTHING, "L:covers(e, count) -> true, or false and why",
      "Whether count (1 when left out) times the event would be admitted now. Changes nothing." },
    { "reserve", ledger_reserve, PNL_METHOD, PNL_NOTHING, "L:reserve(e, count) -> L",
      "Fix the filter's orders for a run of count charges of the event; charges nothing, raises when they are not "
      "covered." },
    { "spend", ledger_spend, PNL_METHOD, PNL_NOTHING, "L:spend(e, label, count) -> L",
      "Charge count (1 when left out) times the event under the label, in place. A refusal raises with Requested, "
      "Remaining "
      "and Difference, and charges nothing. Source: Feldman, Zrnic (2021); Lecuyer (2021)." },
    { "split", ledger_split, PNL_METHOD, PNL_NOTHING, "L:split(k) -> k ledgers",
      "k equal slices that add up to this budget, which is then used up. Only before anything has been spent." },
    { "report", ledger_report, PNL_METHOD, PNL_NOTHING, "L:report() -> table",
      "One row {label=, event=, count=, price=} for each charge, with spent, remaining and summary; prints as a "
      "table." },
    { "close", ledger_close, PNL_METHOD, PNL_NOTHING, "L:close()", "No more charges: every later one is refused." },
    { "remaining", ledger_remaining, PNL_FIELD, PNL_NOTHING, "L.remaining -> number",
      "What a request may still cost, in the budget's unit. Under an (epsilon, delta) filter: the largest epsilon of a "
      "zCDP "
      "release that would be admitted." },
    { "spent", ledger_spent, PNL_FIELD, PNL_NOTHING, "L.spent -> number",
      "Plain composition of everything charged, in the budget's unit: epsilon at the budget's delta, or rho." },
    { "epsilon", ledger_epsilon, PNL_FIELD, PNL_NOTHING, "L.epsilon -> number or nil", "The budget's epsilon." },
    { "delta", ledger_delta, PNL_FIELD, PNL_NOTHING, "L.delta -> number or nil", "The budget's delta; 0 for pure." },
    { "rho", ledger_rho, PNL_FIELD, PNL_NOTHING, "L.rho -> number or nil", "The budget's rho." },
    { "neighbours", ledger_neighbours, PNL_FIELD, PNL_NOTHING, "L.neighbours -> string",
      "The neighbouring relation that every charge must have." },
    { "teaching", ledger_teaching, PNL_FIELD, PNL_NOTHING, "L.teaching -> boolean",
      "Whether seeded noise is accepted; statements then say that there is no privacy." },
    { "orders", ledger_orders, PNL_FIELD, PNL_NOTHING, "L.orders -> list of {order=, alive=}, or nil",
      "The Renyi orders of the filter, fixed before the first charge; nil before, and under rho." },
    { "__tostring", ledger_tostring, PNL_META, PNL_NOTHING, "tostring(L) -> string",
      "The budget, what is spent and what remains." },
    PNL_ROW_END,
};

const pnl_class pnl_ledger_class = {
    "pn.ledger", free_ledger,
    ledger_rows, "A privacy budget: charged before noise is drawn, refusing what it does not cover.",
    NULL,        NULL
};

enum { EPSILON, DELTA, RHO, TEACHING, ORDERS, PARAMS };

static const pn_param ledger_params[] = {
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total epsilon (or give rho)" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, 0.0, NULL, "the total delta, below 1; 0 for pure privacy" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total rho of zero-concentrated privacy" },
    { "teaching", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "accept seeded noise, which protects nobody" },
    { "orders", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "Renyi orders of the filter, each greater than 1, to share delta; chosen when left out" },
    PN_PARAM_END,
};

static int ledger_new(lua_State *L)
{
    pn_arg args[PARAMS], relation[1];
    pn_budget opened;
    pn_ledger **slot;
    pn_err err;

    pnl_options2(L, 1, "ledger", ledger_params, args, pnl_neighbours_params, relation, NULL);
    pnl_status(L, pn_args_check("ledger", ledger_params, args, &err), &err);
    pnl_status(L, pn_args_check("ledger", pnl_neighbours_params, relation, &err), &err);
    opened = (pn_budget){ .epsilon = args[EPSILON].given ? args[EPSILON].real : NAN,
                          .delta = args[DELTA].real,
                          .rho = args[RHO].given ? args[RHO].real : NAN,
                          .neighbours = (pn_neighbours)relation[0].count,
                          .teaching = args[TEACHING].flag,
                          .orders = args[ORDERS].vector.data,
                          .order_count = args[ORDERS].given ? args[ORDERS].vector.n : 0 };
    slot = (pn_ledger **)pnl_newbox(L, &pnl_ledger_class);
    pnl_status(L, pn_ledger_new(slot, &opened, &err), &err);
    return 1;
}

void pnl_open_ledger(lua_State *L)
{
    pn_param params[PARAMS + 2];

    memcpy(params, ledger_params, PARAMS * sizeof *params);
    params[PARAMS] = pnl_neighbours_params[0];
    params[PARAMS + 1] = (pn_param)PN_PARAM_END;
    lua_pushcfunction(L, ledger_new);
    lua_setfield(L, -2, "ledger");
    pnl_reference(
        L, "", "ledger", PNL_NOTHING,
        "pn.ledger{epsilon=, delta=} or {epsilon=} (pure) or {rho=}, neighbours=, teaching=, orders= -> ledger",
        "Open a privacy budget. Every release is charged to it before its noise is drawn; what it does not cover is "
        "refused.",
        "Feldman, Zrnic (2021); Lecuyer (2021)", params);
    pnl_register(L, &pnl_ledger_class);
}
