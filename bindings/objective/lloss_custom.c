/* lloss_custom.c -- pn.loss.glm and pn.loss.margins: losses made of a user's function, traced once and compiled.
 * Depends on: lobjective.h, lsymbol.h, objective/losses/loss.h.  Used by: lloss.c. */
#include <math.h>

#include "bindings/expr/lsymbol.h"
#include "bindings/objective/lobjective.h"
#include "objective/losses/loss.h"

/* ---- labels ---- */

static int wrong_labels(lua_State *L, const char *owner, const char *got)
{
    return pnl_error(
        L, "%s: labels must be a list of the values that occur, such as {-1, 1}, or a range {lo=, hi=}, got %s", owner,
        got);
}

/* {lo=, hi=} at the top of the stack. */
static void read_range(lua_State *L, const char *owner, pn_labels *labels)
{
    labels->kind = PN_LABELS_INTERVAL;
    lua_getfield(L, -1, "lo");
    lua_getfield(L, -2, "hi");
    labels->range = (pn_interval){ lua_tonumber(L, -2), lua_tonumber(L, -1) };
    if (lua_type(L, -2) != LUA_TNUMBER || lua_type(L, -1) != LUA_TNUMBER || !(labels->range.low < labels->range.high) ||
        !isfinite(labels->range.high - labels->range.low))
        wrong_labels(L, owner, "a range without lo < hi, both finite");
    lua_pop(L, 2);
}

/* {-1, 1} at the top of the stack. */
static void read_values(lua_State *L, const char *owner, pn_labels *labels)
{
    labels->kind = PN_LABELS_VALUES;
    labels->count = (size_t)lua_rawlen(L, -1);
    if (labels->count == 0)
        wrong_labels(L, owner, "an empty table");
    if (labels->count > PN_LABEL_VALUES_MAX)
        pnl_error(L, "%s: labels lists %zu values, at most %d fit; give a range {lo=, hi=}", owner, labels->count,
                  PN_LABEL_VALUES_MAX);
    for (size_t i = 0; i < labels->count; i++) {
        if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
            wrong_labels(L, owner, lua_pushfstring(L, "a list whose entry %d is %s", (int)i + 1, pnl_got(L, -1)));
        labels->values[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
}

/* The option `labels` of the table at `options`, which may be none. */
static void read_labels(lua_State *L, int options, const char *owner, pn_labels *labels)
{
    *labels = (pn_labels){ .kind = PN_LABELS_REAL };
    if (lua_isnoneornil(L, options))
        return;
    if (lua_getfield(L, options, "labels") == LUA_TTABLE) {
        lua_getfield(L, -1, "lo");
        lua_getfield(L, -2, "hi");
        if (lua_isnil(L, -1) && lua_isnil(L, -2)) {
            lua_pop(L, 2);
            read_values(L, owner, labels);
        } else {
            lua_pop(L, 2);
            read_range(L, owner, labels);
        }
    } else if (!lua_isnil(L, -1)) {
        wrong_labels(L, owner, pnl_got(L, -1));
    }
    lua_pop(L, 1);
}

const char *pnl_loss_name(lua_State *L, int options, const char *owner)
{
    if (lua_isnoneornil(L, options))
        return NULL;
    if (lua_getfield(L, options, "name") == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) != LUA_TSTRING)
        pnl_error(L, "%s: name must be a string, got %s", owner, pnl_got(L, -1));
    return lua_tostring(L, -1);
}

/* ---- losses ---- */

int pnl_loss_glm(lua_State *L)
{
    static const char *const names[2] = { "z", "y" }, *const extra[] = { "labels", "name", NULL };
    static const pn_param none[] = { PN_PARAM_END };
    pn_labels labels;
    const char *name;
    pn_graph *graph;
    pn_node root;
    void **slot;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "loss.glm", none, NULL, extra);
    read_labels(L, 2, "loss.glm", &labels);
    name = pnl_loss_name(L, 2, "loss.glm");
    root = pnl_trace(L, 1, "loss.glm", names, 2, &graph);
    pnl_refuse_equality(L, 1, -1);
    slot = pnl_newbox(L, &pnl_loss_class);
    pnl_status(L, pn_loss_from_graph((pn_loss **)slot, graph, root, &labels, &err), &err);
    if (name)
        pnl_status(L, pn_loss_rename(*slot, name, &err), &err);
    return 1;
}

/* The option `extra` of the table at 1. */
static size_t read_extra(lua_State *L)
{
    lua_Integer count = 0;
    int whole = 1;

    if (lua_getfield(L, 1, "extra") != LUA_TNIL)
        count = lua_tointegerx(L, -1, &whole);
    if (!whole || lua_type(L, -1) == LUA_TSTRING || count < 0)
        pnl_error(L, "loss.margins: extra must be a whole number from 0, got %s", pnl_got(L, -1));
    lua_pop(L, 1);
    return (size_t)count;
}

/* k and extra of the table at 1, where the other options are known. */
static void read_shape(lua_State *L, size_t *margins, size_t *further)
{
    static const char *const others[] = { "extra", "f", "labels", "name", NULL };
    static const pn_param params[] = {
        { "k", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "margins of a record" },
        PN_PARAM_END,
    };
    pn_arg args[PNL_MAX_PARAMS];
    pn_err err;

    pnl_options(L, 1, "loss.margins", params, args, others);
    pnl_status(L, pn_args_check("loss.margins", params, args, &err), &err);
    *margins = args[0].count;
    *further = read_extra(L);
    if (*margins > PN_JOINT_INPUTS_MAX || *further > PN_JOINT_INPUTS_MAX - *margins)
        pnl_error(L, "loss.margins: k + extra must be at most %d, got k = %zu and extra = %zu", PN_JOINT_INPUTS_MAX,
                  *margins, *further);
}

int pnl_loss_margins(lua_State *L)
{
    pnl_argument arguments[] = { { "z", true, 0 }, { "w", true, 0 }, { "y", false, 1 } };
    size_t margins, further, inputs;
    pn_labels labels;
    const char *name;
    pn_graph *graph;
    pn_node root;
    void **slot;
    pn_err err;

    lua_settop(L, 1);
    read_shape(L, &margins, &further);
    read_labels(L, 1, "loss.margins", &labels);
    name = pnl_loss_name(L, 1, "loss.margins");
    if (lua_getfield(L, 1, "f") != LUA_TFUNCTION)
        pnl_error(L, "loss.margins: f must be a function of z, w and y, got %s", pnl_got(L, -1));
    arguments[0].count = margins;
    arguments[1].count = further;
    inputs = margins + further;
    root = pnl_trace_lists(L, -1, "loss.margins", arguments, 3, inputs > 1 ? inputs : 0, &graph);
    pnl_refuse_equality_in(L, -2, -1, arguments, labels.values, labels.count);
    slot = pnl_newbox(L, &pnl_loss_class);
    pnl_status(L, pn_loss_from_joint_graph((pn_loss **)slot, graph, root, margins, further, &labels, &err), &err);
    if (name)
        pnl_status(L, pn_loss_rename(*slot, name, &err), &err);
    return 1;
}
