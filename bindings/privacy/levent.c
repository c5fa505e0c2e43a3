/* levent.c -- pn.event: one constructor per row of the runtime's table, compose and repeated.
 * Depends on: pnl.h, lprivacy_check.h, privacy/accounting/accountant.h.  Used by: lprivacy.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/text/event_words.h"

#define MAX_PARAMS 16

void pnl_push_event_text(lua_State *L, const pn_event *event)
{
    char text[512];

    pn_event_describe(event, text, sizeof text);
    lua_pushstring(L, text);
}

/* ---- methods ---- */

static int event_rdp(lua_State *L)
{
    pn_event *event = pnl_check_event(L, 1);
    double alpha = pnl_check_order(L, 2, "event:rdp");

    lua_pushnumber(L, event->ops->rdp(event, alpha));
    return 1;
}

static int event_epsilon(lua_State *L)
{
    pn_event *event = pnl_check_event(L, 1);
    double delta = pnl_check_delta(L, 2, "event:epsilon"), order;

    lua_pushnumber(L, pn_event_epsilon(event, 1, delta, &order));
    lua_pushnumber(L, order);
    return 2;
}

PNL_GETTER(event_rho, pnl_check_event(L, 1)->ops->zcdp(pnl_check_event(L, 1)));
PNL_GETTER(event_neighbours, pn_neighbours_names[pnl_check_event(L, 1)->neighbours]);
PNL_GETTER(event_name, pnl_check_event(L, 1)->ops->name);

static int event_tostring(lua_State *L)
{
    pn_event *event = pnl_check_event(L, 1);

    pnl_push_event_text(L, event);
    lua_pushfstring(L, "%s, %s", lua_tostring(L, -1), pn_neighbours_names[event->neighbours]);
    return 1;
}

static int event_words(lua_State *L)
{
    char text[512];

    pn_event_words(pnl_check_event(L, 1), text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

static const pnl_row event_rows[] = {
    { "rdp", event_rdp, PNL_METHOD, PNL_NOTHING, "e:rdp(alpha) -> number",
      "Bound on the Renyi divergence of order alpha between the outputs on any two neighbouring data sets, in both "
      "directions; alpha: a number greater than 1 or math.huge (the pure epsilon).  math.huge where there is no "
      "bound.  Source: Mironov (2017)." },
    { "epsilon", event_epsilon, PNL_METHOD, PNL_NOTHING, "e:epsilon(delta) -> epsilon, order",
      "What the event costs by itself: an epsilon that is certified at delta in [0, 1), and the Renyi order that gives "
      "it (math.huge for pure composition, 0 where no order does).  It is the least over alpha of e:rdp(alpha) + ln(1 "
      "- 1/alpha) - ln(alpha delta)/(alpha - 1), and of Gaussian noise the exact curve.  pn.accountant.pld can be "
      "sharper.  Source: Canonne, Kamath, Steinke (2020), Proposition 12; Balle, Wang (2018)." },
    { "rho", event_rho, PNL_FIELD, PNL_NOTHING, "e.rho -> number",
      "Smallest known rho of zero-concentrated privacy, e:rdp(alpha) <= rho alpha at every order; math.huge when none "
      "is known.  Source: Bun, Steinke (2016)." },
    { "neighbours", event_neighbours, PNL_FIELD, PNL_NOTHING, "e.neighbours -> string",
      "The neighbouring relation: \"replace_one\", \"add_remove\" or \"zero_out\"." },
    { "words", event_words, PNL_FIELD, PNL_NOTHING, "e.words -> string",
      "What happened, for people: \"Gaussian noise, sigma 3 for sensitivity 1\"; numbers have six digits, print(e) has "
      "all." },
    { "name", event_name, PNL_FIELD, PNL_NOTHING, "e.name -> string", "The kind of event, as in pn.event." },
    { "__tostring", event_tostring, PNL_META, PNL_NOTHING, "tostring(e) -> string",
      "The event with its numbers and its neighbouring relation." },
    PNL_ROW_END,
};

static void free_event(void *event)
{
    pn_event_free(event);
}

const pnl_class pnl_event_class = {
    "pn.event", free_event,
    event_rows, "What a private release costs: a mechanism, its parameters and its neighbouring relation.",
    NULL,       NULL
};

/* ---- constructors ---- */

static bool is_function(const pn_param *param)
{
    return param->kind == PN_OBJECT && strcmp(param->choices[0], "function") == 0;
}

/* The user's function at this place of the stack. */
typedef struct function {
    lua_State *L;
    const char *owner, *name;
    int at;
} function;

/* pn_renyi_curve: nothing here raises: stack slots are reserved, and the user's function runs protected. */
static pn_status divergence_at(void *self, double order, double *value, pn_err *err)
{
    function *f = self;
    pn_status status = PN_OK;

    lua_pushvalue(f->L, f->at);
    lua_pushnumber(f->L, order);
    if (lua_pcall(f->L, 1, 2, 0) != LUA_OK) {
        pnl_set_error(f->L);
        return pn_fail(err, PN_ECALLBACK, "%s: %s raised an error", f->owner, f->name);
    }
    if (lua_type(f->L, -2) != LUA_TNUMBER || (lua_type(f->L, -1) != LUA_TNUMBER && !lua_isnil(f->L, -1)))
        status = pn_fail(err, PN_EINVAL, "%s: %s must return a number, or two, got %s at order %.10g", f->owner,
                         f->name, luaL_typename(f->L, lua_type(f->L, -2) == LUA_TNUMBER ? -1 : -2), order);
    *value = lua_tonumber(f->L, -2);
    if (lua_type(f->L, -1) == LUA_TNUMBER && !(lua_tonumber(f->L, -1) <= *value))
        *value = lua_tonumber(f->L, -1); /* the larger one, and NaN if either is */
    lua_pop(f->L, 2);
    return status;
}

/* Sampled events protect what the event inside them does, unless told otherwise. */
static pn_neighbours relation_of(const pn_event_ops *ops, const pn_arg *args, const pn_arg *relation)
{
    for (size_t i = 0; !relation->given && ops->params[i].name; i++) {
        if (ops->params[i].kind == PN_OBJECT && args[i].object && !is_function(&ops->params[i]))
            return ((const pn_event *)args[i].object)->neighbours;
    }
    return (pn_neighbours)relation->count;
}

static int event_new(lua_State *L)
{
    const pn_event_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[MAX_PARAMS], relation[1];
    char owner[64];
    function own = { .L = L, .owner = owner };
    pn_renyi_curve curve = { divergence_at, &own };
    pn_event **slot;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "event.%s", ops->name);
    lua_settop(L, 1);
    pnl_options2(L, 1, owner, ops->params, args, pn_neighbours_params, relation, NULL);
    pnl_status(L, pn_args_check(owner, pn_neighbours_params, relation, &err), &err);
    for (size_t i = 0; ops->params[i].name; i++) {
        if (!args[i].given || !is_function(&ops->params[i]))
            continue;
        own.name = ops->params[i].name;
        lua_getfield(L, 1, own.name);
        own.at = lua_gettop(L);
        args[i].object = &curve;
    }
    luaL_checkstack(L, LUA_MINSTACK, owner);
    slot = (pn_event **)pnl_newbox(L, &pnl_event_class);
    pnl_status(L, pn_event_from_args(slot, ops->name, args, relation_of(ops, args, relation), &err), &err);
    return 1;
}

static int event_compose(lua_State *L)
{
    lua_Unsigned count;
    pn_event **parts, **slot;
    pn_err err;

    count = lua_istable(L, 1) ? lua_rawlen(L, 1) : 0;
    if (count == 0)
        return pnl_error(L, "event.compose: expected a list of events, {e1, e2, ...}, got %s",
                         lua_istable(L, 1) ? "a table without any" : pnl_got(L, 1));
    parts = lua_newuserdatauv(L, (size_t)count * sizeof *parts, 0);
    for (lua_Unsigned i = 0; i < count; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i + 1);
        parts[i] = pnl_test(L, -1, &pnl_event_class);
        if (!parts[i])
            return pnl_error(L, "event.compose: entry %llu must be a pn.event, got %s", (unsigned long long)i + 1,
                             pnl_got(L, -1));
        lua_pop(L, 1); /* the list at 1 keeps it alive */
    }
    slot = (pn_event **)pnl_newbox(L, &pnl_event_class);
    pnl_status(L, pn_event_compose(slot, parts, (size_t)count, &err), &err);
    return 1;
}

static int event_repeated(lua_State *L)
{
    pn_event *event = pnl_check_event(L, 1), **slot;
    size_t count = pnl_check_count(L, 2, "event.repeated: count");
    pn_err err;

    slot = (pn_event **)pnl_newbox(L, &pnl_event_class);
    pnl_status(L, pn_event_repeated(slot, event, count, &err), &err);
    return 1;
}

static const pnl_row library_rows[] = {
    { "compose", event_compose, PNL_FUNCTION, PNL_NOTHING, "pn.event.compose{e1, e2, ...} -> event",
      "All of the events, in sequence or each chosen after seeing the outputs before; they must be for the same "
      "neighbours.  Renyi bounds and rho add up.  Source: Mironov (2017), Proposition 1; Bun, Steinke (2016)." },
    { "repeated", event_repeated, PNL_FUNCTION, PNL_NOTHING, "pn.event.repeated(e, count) -> event",
      "The event, count times: count times its Renyi bounds and rho.  Error unless count is a whole number from 1.  "
      "Source: Mironov (2017), Proposition 1." },
    PNL_ROW_END,
};

void pnl_open_event(lua_State *L)
{
    pnl_library(
        L, "event",
        "What private releases cost: events, each with its neighbouring relation and its Renyi and zCDP curves.",
        library_rows);
    pnl_private_constructors(L, "event", pn_event_table(), event_new);
    lua_setfield(L, -2, "event");
    pnl_open_class(L, &pnl_event_class);
}
