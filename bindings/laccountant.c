/* laccountant.c -- pn.accountant: one constructor per row of the runtime's table.
 * Depends on: pnl.h, lprivacy_check.h, privacy/accountant.h.  Used by: lprivacy.c. */
#include "lprivacy.h"
#include "lprivacy_check.h"
#include "privacy/accountant.h"

#define MAX_PARAMS 16

static pn_accountant *check(lua_State *L)
{
    return pnl_check(L, 1, &pnl_accountant_class);
}

static int accountant_add(lua_State *L)
{
    pn_accountant *self = check(L);
    pn_event *event = pnl_check_event(L, 2);
    size_t count = pnl_opt_count(L, 3, "accountant:add");
    pn_err err;

    pnl_status(L, pn_accountant_add(self, event, count, &err), &err);
    lua_settop(L, 1);
    return 1;
}

static int accountant_epsilon(lua_State *L)
{
    pn_accountant *self = check(L);
    double delta = pnl_check_delta(L, 2, "accountant:epsilon"), order = 0.0, epsilon;
    pn_err err;

    pnl_status(L, self->ops->epsilon(self, delta, &epsilon, &order, &err), &err);
    lua_pushnumber(L, epsilon);
    lua_pushnumber(L, order);
    return 2;
}

static int accountant_interval(lua_State *L)
{
    pn_accountant *self = check(L);
    double delta = pnl_check_delta(L, 2, "accountant:epsilon_interval"), low, high;
    pn_err err;

    if (!self->ops->interval)
        return luaL_error(L, "accountant:epsilon_interval: accountant.%s knows no lower bound; use accountant.pld",
                          self->ops->name);
    pnl_status(L, self->ops->interval(self, delta, &low, &high, &err), &err);
    lua_pushnumber(L, low);
    lua_pushnumber(L, high);
    return 2;
}

static int accountant_delta(lua_State *L)
{
    pn_accountant *self = check(L);

    double epsilon = pnl_check_epsilon(L, 2, "accountant:delta"), delta;
    pn_err err;

    pnl_status(L, self->ops->delta(self, epsilon, &delta, &err), &err);
    lua_pushnumber(L, delta);
    return 1;
}

static int accountant_rdp(lua_State *L)
{
    pn_accountant *self = check(L);

    lua_pushnumber(L, self->ops->rdp(self, pnl_check_order(L, 2, "accountant:rdp")));
    return 1;
}

static int accountant_rho(lua_State *L)
{
    pn_accountant *self = check(L);

    lua_pushnumber(L, self->ops->zcdp(self));
    return 1;
}

static int accountant_neighbours(lua_State *L)
{
    pn_accountant *self = check(L);

    if (self->events > 0)
        lua_pushstring(L, pn_neighbours_names[self->neighbours]);
    else
        lua_pushnil(L);
    return 1;
}

static int accountant_tostring(lua_State *L)
{
    pn_accountant *self = check(L);

    if (self->events == 0)
        lua_pushfstring(L, "accountant.%s: nothing added", self->ops->name);
    else
        lua_pushfstring(L, "accountant.%s: %I added, %s, rho %f", self->ops->name, (LUAI_UACINT)self->events,
                        pn_neighbours_names[self->neighbours], self->ops->zcdp(self));
    return 1;
}

static const pnl_row accountant_rows[] = {
    { "add", accountant_add, PNL_METHOD, PNL_NOTHING, "acc:add(e, count) -> acc",
      "Add the event, count times (1 when left out), in place. All events must be for the same neighbours." },
    { "epsilon", accountant_epsilon, PNL_METHOD, PNL_NOTHING, "acc:epsilon(delta) -> epsilon, order",
      "Smallest certified epsilon at delta in [0, 1) and the Renyi order that gives it: math.huge for pure "
      "composition, 0 where no order does (an infinite epsilon, or one that does not come from a Renyi curve). "
      "Source: Canonne, Kamath, Steinke (2020), Proposition 12." },
    { "epsilon_interval", accountant_interval, PNL_METHOD, PNL_NOTHING, "acc:epsilon_interval(delta) -> low, high",
      "Certified bounds on the smallest epsilon at delta in [0, 1): high is the one that is charged; low is the "
      "smallest one that the composed privacy loss distributions of these events allow. Accountant pld only." },
    { "delta", accountant_delta, PNL_METHOD, PNL_NOTHING, "acc:delta(epsilon) -> number",
      "Smallest certified delta at epsilon >= 0, from 0 to 1." },
    { "rdp", accountant_rdp, PNL_METHOD, PNL_NOTHING, "acc:rdp(alpha) -> number",
      "The composed Renyi bound at order alpha, a number greater than 1 or math.huge." },
    { "rho", accountant_rho, PNL_FIELD, PNL_NOTHING, "acc.rho -> number",
      "The composed rho of zero-concentrated privacy; math.huge when an event has none." },
    { "neighbours", accountant_neighbours, PNL_FIELD, PNL_NOTHING, "acc.neighbours -> string or nil",
      "The neighbouring relation of what was added; nil before." },
    { "__tostring", accountant_tostring, PNL_META, PNL_NOTHING, "tostring(acc) -> string", "What has been added." },
    PNL_ROW_END,
};

static void free_accountant(void *accountant)
{
    pn_accountant_free(accountant);
}

const pnl_class pnl_accountant_class = { "pn.accountant",
                                         free_accountant,
                                         accountant_rows,
                                         "Adds events up and converts them to epsilon and delta.",
                                         NULL,
                                         NULL };

static int accountant_new(lua_State *L)
{
    const pn_accountant_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    const char *owner = lua_pushfstring(L, "accountant.%s", ops->name);
    pn_arg args[MAX_PARAMS];
    pn_accountant **slot;
    pn_err err;

    pnl_options(L, 1, owner, ops->params, args, NULL);
    slot = (pn_accountant **)pnl_newbox(L, &pnl_accountant_class);
    pnl_status(L, pn_accountant_new(slot, ops->name, args, &err), &err);
    return 1;
}

void pnl_open_accountant(lua_State *L)
{
    const pn_accountant_ops *const *table = pn_accountant_table();

    pnl_library(L, "accountant", "From events to epsilon and delta.", NULL);
    for (size_t i = 0; table[i]; i++) {
        lua_pushlightuserdata(L, (void *)(size_t)table[i]);
        lua_pushcclosure(L, accountant_new, 1);
        lua_setfield(L, -2, table[i]->name);
        lua_pushfstring(L, "pn.accountant.%s{} -> accountant", table[i]->name);
        pnl_reference(L, "accountant", table[i]->name, PNL_NOTHING, lua_tostring(L, -1), table[i]->doc,
                      table[i]->source, table[i]->params);
        lua_pop(L, 1);
    }
    lua_setfield(L, -2, "accountant");
    pnl_register(L, &pnl_accountant_class);
}
