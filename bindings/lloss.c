/* lloss.c -- pn.loss: one constructor for each row of the runtime's table of losses, and what all losses share.
 * Depends on: pnl.h, objective/loss.h.  Used by: lobjective.c. */
#include <stdio.h>

#include "lobjective.h"
#include "objective/loss.h"
#include "pnl.h"

#define MAX_PARAMS 16

static pn_loss *check_loss(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_loss_class);
}

/* upvalue 1: the pn_loss_ops */
static int construct(lua_State *L)
{
    const pn_loss_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[MAX_PARAMS];
    char owner[64];
    void **slot;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "loss.%s", ops->name);
    pnl_options(L, 1, owner, ops->params, args, NULL);
    slot = pnl_newbox(L, &pnl_loss_class);
    pnl_status(L, pn_loss_new((pn_loss **)slot, ops->name, args, &err), &err);
    return 1;
}

static int names(lua_State *L)
{
    const pn_loss_ops *const *table = pn_loss_table();

    lua_newtable(L);
    for (size_t i = 0; table[i]; i++) {
        lua_pushstring(L, table[i]->name);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int get_name(lua_State *L)
{
    lua_pushstring(L, check_loss(L, 1)->ops->name);
    return 1;
}

static int get_convex(lua_State *L)
{
    lua_pushboolean(L, check_loss(L, 1)->ops->convex);
    return 1;
}

static int get_labels(lua_State *L)
{
    lua_pushstring(L, check_loss(L, 1)->ops->labels == PN_LABELS_BINARY ? "binary" : "real");
    return 1;
}

static void check_finite(lua_State *L, const char *what, pn_vec x)
{
    size_t bad = pn_first_nonfinite(x.data, x.n);

    if (bad < x.n)
        pnl_error(L, "l:evaluate: %s must hold finite numbers, got %g at entry %zu", what, x.data[bad], bad + 1);
}

static void check_labels(lua_State *L, const pn_loss *loss, pn_vec y)
{
    for (size_t i = 0; loss->ops->labels == PN_LABELS_BINARY && i < y.n; i++) {
        if (y.data[i] != -1.0 && y.data[i] != 1.0)
            pnl_error(L, "l:evaluate: the labels of %s must be -1 or 1, got %g at entry %zu", loss->ops->name,
                      y.data[i], i + 1);
    }
}

static int evaluate(lua_State *L)
{
    const pn_loss *loss = check_loss(L, 1);
    pn_vec z = pnl_check_vec(L, 2), y = pnl_check_vec(L, 3);
    double *value, *slope, *curvature;

    if (z.n != y.n)
        return pnl_error(L, "l:evaluate: z has %zu entries, y has %zu", z.n, y.n);
    check_finite(L, "z", z);
    check_finite(L, "y", y);
    check_labels(L, loss, y);
    value = pnl_new_vec(L, z.n);
    slope = pnl_new_vec(L, z.n);
    curvature = pnl_new_vec(L, z.n);
    loss->ops->evaluate(loss, z.n, z.data, y.data, value, slope, curvature);
    return 3;
}

/* {lo, hi} */
static pn_interval check_interval(lua_State *L, int index, const char *what)
{
    double ends[2];
    pn_interval out;

    if (!lua_istable(L, index))
        pnl_error(L, "l:range: %s must be an interval {lo, hi}, got %s", what, luaL_typename(L, index));
    for (int i = 0; i < 2; i++) {
        if (lua_rawgeti(L, index, i + 1) != LUA_TNUMBER)
            pnl_error(L, "l:range: %s must be an interval {lo, hi}; entry %d is %s", what, i + 1, luaL_typename(L, -1));
        ends[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    out.low = ends[0];
    out.high = ends[1];
    return out;
}

static void set_interval(lua_State *L, const char *field, pn_interval part)
{
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, part.low);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, part.high);
    lua_rawseti(L, -2, 2);
    lua_setfield(L, -2, field);
}

static int range(lua_State *L)
{
    const pn_loss *loss = check_loss(L, 1);
    pn_interval z = check_interval(L, 2, "z"), y = check_interval(L, 3, "y");
    pn_loss_range out;
    pn_err err;

    pnl_status(L, loss->ops->range(loss, z, y, &out, &err), &err);
    lua_createtable(L, 0, 3);
    set_interval(L, "value", out.value);
    set_interval(L, "slope", out.slope);
    set_interval(L, "curvature", out.curvature);
    return 1;
}

static int to_string(lua_State *L)
{
    const pn_loss_ops *ops = check_loss(L, 1)->ops;

    lua_pushfstring(L, "%s loss: %s", ops->name, ops->doc);
    return 1;
}

static const pnl_row loss_rows[] = {
    { "name", get_name, PNL_FIELD, PNL_NOTHING, "l.name -> string", "The kind of loss, as in pn.loss." },
    { "convex", get_convex, PNL_FIELD, PNL_NOTHING, "l.convex -> boolean", "Whether l(z, y) is convex in z." },
    { "labels", get_labels, PNL_FIELD, PNL_NOTHING, "l.labels -> string",
      "\"real\" for any labels, \"binary\" when they must be -1 and 1." },
    { "evaluate", evaluate, PNL_METHOD, PNL_NOTHING, "l:evaluate(z, y) -> vec, vec, vec",
      "l, dl/dz and d2l/dz2 at each pair of a margin z[i] and a label y[i]; vectors of equal length, finite." },
    { "range", range, PNL_METHOD, PNL_NOTHING, "l:range({lo, hi}, {lo, hi}) -> {value=, slope=, curvature=}",
      "Certified intervals {lo, hi} of l, dl/dz and d2l/dz2 over all margins z in the first interval and admissible "
      "labels "
      "y in the second, rounded outward.  An error when something is unbounded." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(l) -> string", "Name and formula." },
    PNL_ROW_END,
};

static void loss_release(void *loss)
{
    pn_loss_free(loss);
}

const pnl_class pnl_loss_class = {
    "pn.loss", loss_release,
    loss_rows, "A loss l(z, y) of a linear predictor z = <x, theta> and a label y.  Immutable.",
    NULL,      NULL,
};

static const pnl_row library_rows[] = {
    { "names", names, PNL_FUNCTION, PNL_NOTHING, "pn.loss.names() -> {string, ...}", "The names of the known losses." },
    PNL_ROW_END,
};

/* "pn.loss.huber{delta=} -> loss", or "pn.loss.squared() -> loss" without options; pushed. */
static const char *push_signature(lua_State *L, const pn_loss_ops *ops)
{
    size_t count = pn_param_count(ops->params);
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    luaL_addstring(&text, "pn.loss.");
    luaL_addstring(&text, ops->name);
    luaL_addstring(&text, count ? "{" : "(");
    for (size_t i = 0; i < count; i++) {
        luaL_addstring(&text, i ? ", " : "");
        luaL_addstring(&text, ops->params[i].name);
        luaL_addstring(&text, "=");
    }
    luaL_addstring(&text, count ? "} -> loss" : ") -> loss");
    luaL_pushresult(&text);
    return lua_tostring(L, -1);
}

void pnl_open_loss(lua_State *L)
{
    const pn_loss_ops *const *table = pn_loss_table();

    pnl_register(L, &pnl_loss_class);
    pnl_library(L, "loss", "Losses of a linear predictor.", library_rows);
    for (size_t i = 0; table[i]; i++) {
        if (pn_param_count(table[i]->params) > MAX_PARAMS)
            luaL_error(L, "loss.%s has more than %d options", table[i]->name, MAX_PARAMS);
        lua_pushlightuserdata(L, (void *)(size_t)table[i]);
        lua_pushcclosure(L, construct, 1);
        lua_setfield(L, -2, table[i]->name);
        pnl_reference(L, "loss", table[i]->name, PNL_NOTHING, push_signature(L, table[i]), table[i]->doc,
                      table[i]->source, table[i]->params);
        lua_pop(L, 1);
    }
    lua_setfield(L, -2, "loss");
}
