/* lloss_custom.c -- losses made of a user's function: pn.loss.glm, traced once and compiled, and pn.loss.black_box, called back.
 * Depends on: lcallback.h, lobjective.h, lsymbol.h, objective/loss.h.  Used by: lloss.c. */
#include <math.h>

#include "lcallback.h"
#include "lobjective.h"
#include "lsymbol.h"
#include "objective/loss.h"

/* ---- pn.loss.glm ---- */

static int wrong_labels(lua_State *L, const char *got)
{
    return pnl_error(
        L,
        "loss.glm: labels must be a list of the values that occur, such as {-1, 1}, or a range {lo=, hi=}, "
        "got %s",
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

/* The option `name` of the table at `options`, left on the stack; NULL when absent. */
static const char *read_name(lua_State *L, int options)
{
    if (lua_isnoneornil(L, options))
        return NULL;
    if (lua_getfield(L, options, "name") == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) != LUA_TSTRING)
        pnl_error(L, "loss.glm: name must be a string, got %s", pnl_got(L, -1));
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
    name = read_name(L, 2);
    root = pnl_trace(L, 1, "loss.glm", names, 2, &graph);
    slot = pnl_newbox(L, &pnl_loss_class);
    pnl_status(L, pn_loss_from_graph((pn_loss **)slot, graph, root, &labels, &err), &err);
    if (name)
        pnl_status(L, pn_loss_rename(*slot, name, &err), &err);
    return 1;
}

/* ---- pn.loss.black_box ---- */

enum { VALUE };

static const char *const function_names[] = { "value", NULL };

typedef struct record_call {
    const double *theta;
    size_t dim;
    const pn_record *record;
    double *value;
} record_call;

static void record_body(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    const record_call *call = ud;

    pnl_push_copy(L, call->theta, call->dim);
    pnl_push_copy(L, call->record->x, call->record->p);
    lua_pushnumber(L, call->record->y);
    lua_call(L, 3, 1);
    *call->value = pnl_result_number(L, back, which);
}

static pn_status call_record(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                             double *values, pn_err *err)
{
    pn_status status = PN_OK;

    for (size_t k = 0; k < count && status == PN_OK; k++) {
        record_call call = { thetas + k * dim, dim, record, values + k };

        status = pnl_call_back(self, VALUE, record_body, &call, err);
    }
    return status;
}

static const pn_param black_box_params[] = {
    { "lipschitz", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "l2 Lipschitz constant of theta -> l, declared; solvers enforce it by clipping" },
    PN_PARAM_END,
};

int pnl_loss_black_box(lua_State *L)
{
    pn_arg args[1];
    pnl_callback *back;
    void **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "loss.black_box", black_box_params, args, function_names);
    pnl_status(L, pn_args_check("loss.black_box", black_box_params, args, &err), &err);
    if (!lua_istable(L, 1) || lua_getfield(L, 1, "value") == LUA_TNIL)
        return pnl_error(L, "loss.black_box: value must be a function(theta, x, y) that returns a number, got %s",
                         lua_istable(L, 1) ? pnl_got(L, -1) : "nothing");
    slot = pnl_newbox(L, &pnl_loss_class);
    back = pnl_new_callback(L, -1, 1, "loss.black_box", function_names);
    status =
        pn_loss_black_box((pn_loss **)slot, call_record, pn_free, back, 0, args[0].given ? args[0].real : 0.0, &err);
    if (status != PN_OK)
        pn_free(back);
    pnl_status(L, status, &err);
    return 1;
}
