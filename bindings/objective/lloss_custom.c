/* lloss_custom.c -- pn.loss.glm: losses made of a user's function, traced once and compiled.
 * Depends on: lobjective.h, lsymbol.h, objective/losses/loss.h.  Used by: lloss.c. */
#include <math.h>

#include "bindings/expr/lsymbol.h"
#include "bindings/objective/lobjective.h"
#include "objective/losses/loss.h"

/* ---- pn.loss.glm ---- */

static int wrong_labels(lua_State *L, const char *got)
{
    return pnl_error(
        L, "loss.glm: labels must be a list of the values that occur, such as {-1, 1}, or a range {lo=, hi=}, got %s",
        got);
}

/* {lo=, hi=} at the top of the stack. */
static void read_range(lua_State *L, pn_labels *labels)
{
    labels->kind = PN_LABELS_INTERVAL;
    lua_getfield(L, -1, "lo");
    lua_getfield(L, -2, "hi");
    labels->range = (pn_interval){ lua_tonumber(L, -2), lua_tonumber(L, -1) };
    if (lua_type(L, -2) != LUA_TNUMBER || lua_type(L, -1) != LUA_TNUMBER || !(labels->range.low < labels->range.high) ||
        !isfinite(labels->range.high - labels->range.low))
        wrong_labels(L, "a range without lo < hi, both finite");
    lua_pop(L, 2);
}

/* {-1, 1} at the top of the stack. */
static void read_values(lua_State *L, pn_labels *labels)
{
    labels->kind = PN_LABELS_VALUES;
    labels->count = (size_t)lua_rawlen(L, -1);
    if (labels->count == 0)
        wrong_labels(L, "an empty table");
    if (labels->count > PN_LABEL_VALUES_MAX)
        pnl_error(L, "loss.glm: labels lists %zu values, at most %d fit; give a range {lo=, hi=}", labels->count,
                  PN_LABEL_VALUES_MAX);
    for (size_t i = 0; i < labels->count; i++) {
        if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1)))
            wrong_labels(L, lua_pushfstring(L, "a list whose entry %d is %s", (int)i + 1, pnl_got(L, -1)));
        labels->values[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
}

static void read_labels(lua_State *L, int options, pn_labels *labels)
{
    static const char *const extra[] = { "labels", "name", NULL };
    static const pn_param none[] = { PN_PARAM_END };

    *labels = (pn_labels){ .kind = PN_LABELS_REAL };
    pnl_options(L, options, "loss.glm", none, NULL, extra);
    if (lua_isnoneornil(L, options))
        return;
    if (lua_getfield(L, options, "labels") == LUA_TTABLE) {
        lua_getfield(L, -1, "lo");
        lua_getfield(L, -2, "hi");
        if (lua_isnil(L, -1) && lua_isnil(L, -2)) {
            lua_pop(L, 2);
            read_values(L, labels);
        } else {
            lua_pop(L, 2);
            read_range(L, labels);
        }
    } else if (!lua_isnil(L, -1)) {
        wrong_labels(L, pnl_got(L, -1));
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

int pnl_loss_glm(lua_State *L)
{
    static const char *const names[2] = { "z", "y" };
    pn_labels labels;
    const char *name;
    pn_graph *graph;
    pn_node root;
    void **slot;
    pn_err err;

    lua_settop(L, 2);
    read_labels(L, 2, &labels);
    name = pnl_loss_name(L, 2, "loss.glm");
    root = pnl_trace(L, 1, "loss.glm", names, 2, &graph);
    pnl_refuse_equality(L, 1, -1);
    slot = pnl_newbox(L, &pnl_loss_class);
    pnl_status(L, pn_loss_from_graph((pn_loss **)slot, graph, root, &labels, &err), &err);
    if (name)
        pnl_status(L, pn_loss_rename(*slot, name, &err), &err);
    return 1;
}
