/* lreg.c -- pn.reg: one constructor for each row of the runtime's table of regularisers, pn.reg.separable for a typed
 * formula, and what all regularisers share.  Depends on: pnl.h, lobjective.h, lsymbol.h,
 * objective/regularisers/regulariser.h.  Used by: lobjective.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/objective/lobjective.h"
#include "objective/regularisers/regulariser.h"

static pn_regulariser *check_reg(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_reg_class);
}

/* ---- constructors ---- */

/* upvalue 1: the pn_regulariser_ops */
static int construct(lua_State *L)
{
    const pn_regulariser_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[PNL_MAX_PARAMS] = { 0 };
    char owner[64];
    void **slot;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "reg.%s", ops->name);
    pnl_values_or_options(L, owner, ops->params, args, 1); /* pn.reg.l2(0.1) */
    slot = pnl_newbox(L, &pnl_reg_class);
    pnl_status(L, pn_regulariser_from_args((pn_regulariser **)slot, ops->name, args, &err), &err);
    return 1;
}

static int separable(lua_State *L)
{
    static const char *const variables[1] = { "w" };
    pn_graph *graph;
    pn_node root;
    void **slot;
    pn_err err;

    lua_settop(L, 1);
    root = pnl_trace(L, 1, "reg.separable", variables, 1, &graph);
    pnl_refuse_equality(L, 1, -1);
    slot = pnl_newbox(L, &pnl_reg_class);
    pnl_status(L, pn_regulariser_from_graph((pn_regulariser **)slot, graph, root, &err), &err);
    return 1;
}

static int names(lua_State *L)
{
    return pnl_push_row_names(L, pn_regulariser_table());
}

/* ---- fields ---- */

PNL_GETTER(get_name, check_reg(L, 1)->row->name);

/* The derivative of that order as text; nil when the regulariser is no formula. */
static int push_formula(lua_State *L, int order)
{
    pn_node node;
    pn_graph *graph = pn_regulariser_graph(check_reg(L, 1), &node);
    char text[1000];

    for (; graph && order > 0; order--)
        node = pn_graph_derivative(graph, node, 0);
    if (!graph || node == PN_NODE_NONE)
        return 0;
    pn_graph_text(graph, node, text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

static int get_formula(lua_State *L)
{
    return push_formula(L, 0);
}

static int get_slope_formula(lua_State *L)
{
    return push_formula(L, 1);
}

static int to_string(lua_State *L)
{
    const pn_regulariser *reg = check_reg(L, 1);
    char text[500];

    reg->ops->describe(reg, text, sizeof text);
    lua_pushfstring(L, "%s regulariser: %s\n  r(w) is %s", reg->row->name, reg->row->doc, text);
    return 1;
}

/* ---- values ---- */

static pn_vec check_point(lua_State *L, int index, const pn_regulariser *reg, const char *owner, const char *what)
{
    pn_vec w = pnl_check_vec(L, index);
    size_t bad = pn_first_nonfinite(w.data, w.n);
    pn_err err;

    if (bad < w.n)
        pnl_error(L, "%s: %s must hold finite numbers, got %g at entry %zu", owner, what, w.data[bad], bad + 1);
    pnl_status(L, reg->ops->fits(reg, w.n, &err), &err);
    return w;
}

static int value(lua_State *L)
{
    const pn_regulariser *reg = check_reg(L, 1);
    pn_vec w = check_point(L, 2, reg, "r:value", "w");
    double total;
    pn_err err;

    pnl_status(L, reg->ops->evaluate(reg, w.n, w.data, &total, NULL, &err), &err);
    lua_pushnumber(L, total);
    return 1;
}

static int gradient(lua_State *L)
{
    const pn_regulariser *reg = check_reg(L, 1);
    pn_vec w = check_point(L, 2, reg, "r:gradient", "w");
    double *out = pnl_new_vec(L, w.n);
    pn_err err;

    pnl_status(L, reg->ops->evaluate(reg, w.n, w.data, NULL, out, &err), &err);
    return 1;
}

static int hvp(lua_State *L)
{
    const pn_regulariser *reg = check_reg(L, 1);
    pn_vec w = check_point(L, 2, reg, "r:hvp", "w"), v = check_point(L, 3, reg, "r:hvp", "v");
    double *out;
    pn_err err;

    if (w.n != v.n)
        return pnl_error(L, "r:hvp: w has %zu entries, v has %zu", w.n, v.n);
    out = pnl_new_vec(L, w.n);
    pnl_status(L, reg->ops->curve(reg, w.n, w.data, v.data, out, &err), &err);
    return 1;
}

static int prox(lua_State *L)
{
    const pn_regulariser *reg = check_reg(L, 1);
    pn_prox **slot = (pn_prox **)pnl_newbox(L, &pnl_prox_class);
    pn_err err;

    pnl_status(L, pn_regulariser_prox(reg, slot, &err), &err);
    return *slot ? 1 : 0;
}

/* ---- bounds ---- */

/* {lo, hi}; all reals when absent */
static pn_interval check_range(lua_State *L, int index)
{
    double ends[2] = { -INFINITY, INFINITY };

    if (lua_isnoneornil(L, index))
        return (pn_interval){ ends[0], ends[1] };
    if (!lua_istable(L, index))
        pnl_error(L, "r:bounds: the range of the coordinates must be an interval {lo, hi}, got %s", pnl_got(L, index));
    for (int i = 0; i < 2; i++) {
        if (lua_rawgeti(L, index, i + 1) != LUA_TNUMBER)
            pnl_error(L, "r:bounds: the range of the coordinates must be an interval {lo, hi}; entry %d is %s", i + 1,
                      pnl_got(L, -1));
        ends[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return (pn_interval){ ends[0], ends[1] };
}

static void set_number(lua_State *L, const char *field, double number)
{
    lua_pushnumber(L, number);
    lua_setfield(L, -2, field);
}

static int bounds(lua_State *L)
{
    pn_regulariser *reg = check_reg(L, 1);
    pn_interval range = check_range(L, 2);
    pn_regulariser_bounds out;
    pn_err err;

    pnl_status(L, pn_regulariser_certify(reg, range, &out, &err), &err);
    lua_createtable(L, 0, 7);
    set_number(L, "gradient", out.gradient);
    set_number(L, "smoothness", out.smoothness);
    set_number(L, "largest_curvature", out.largest_curvature);
    set_number(L, "strong_convexity", out.strong_convexity);
    set_number(L, "hessian_lipschitz", out.hessian_lipschitz);
    lua_pushboolean(L, out.convex);
    lua_setfield(L, -2, "convex");
    if (out.missing[0]) {
        lua_pushstring(L, out.missing);
        lua_setfield(L, -2, "missing");
    }
    pnl_list(L);
    return 1;
}

/* ---- tables ---- */

static const pnl_row reg_rows[] = {
    { "name", get_name, PNL_FIELD, PNL_NOTHING, "r.name -> string", "The kind of regulariser, as in pn.reg." },
    { "formula", get_formula, PNL_FIELD, PNL_NOTHING, "r.formula -> string or nil",
      "f(w) of which r is the sum over the coordinates, after simplification; nil for group and nuclear." },
    { "slope_formula", get_slope_formula, PNL_FIELD, PNL_NOTHING, "r.slope_formula -> string or nil",
      "f'(w) as it is evaluated; at a kink one value between the one-sided derivatives, as for losses." },
    { "value", value, PNL_METHOD, PNL_NOTHING, "r:value(w) -> number",
      "r(w); w finite, as long as the groups or the matrix say." },
    { "gradient", gradient, PNL_METHOD, PNL_NOTHING, "r:gradient(w) -> vec",
      "The gradient at w.  At a kink: of pn.reg's own the subgradient of smallest norm (0 for a coordinate or group at "
      "0, none for singular values of 0), of a typed formula what its slope_formula says." },
    { "hvp", hvp, PNL_METHOD, PNL_NOTHING, "r:hvp(w, v) -> vec",
      "The Hessian at w times v; a coordinate or group at its kink adds 0.  An error for nuclear, which has none." },
    { "prox", prox, PNL_METHOD, PNL_NOTHING, "r:prox() -> prox or nil",
      "The proximal operator of r, with its weights; nil for none.  An error where there is no closed form: nonconvex "
      "and typed formulas." },
    { "bounds", bounds, PNL_METHOD, PNL_NOTHING, "r:bounds({lo, hi}) -> table",
      "What is certified when every coordinate of w lies in [lo, hi] (absent: all reals): gradient, the largest entry "
      "of the gradient in absolute value; smoothness, its l2 Lipschitz constant; largest_curvature and "
      "strong_convexity, the ends of the Hessian's eigenvalues; hessian_lipschitz; convex.  Infinite where unbounded, "
      "at a kink too: missing says what and why." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(r) -> string", "Name and formula." },
    PNL_ROW_END,
};

static void reg_release(void *reg)
{
    pn_regulariser_free(reg);
}

const pnl_class pnl_reg_class = {
    "pn.reg", reg_release,
    reg_rows, "A regulariser r(w), the part of an objective that depends on no data.  Immutable.",
    NULL,     NULL,
};

static const pnl_row library_rows[] = {
    { "names", names, PNL_FUNCTION, PNL_NOTHING, "pn.reg.names() -> {string, ...}",
      "The names of the known regularisers." },
    { "separable", separable, PNL_FUNCTION, PNL_NOTHING, "pn.reg.separable(function(w) ... end) -> reg",
      "r(w) = sum_j f(w_j) with a typed f.  The function is called with a symbol, and with a few numbers to see that "
      "it is the same for them (Lua takes w == 0 for false without asking); its expression is simplified, "
      "differentiated, bounded and compiled like a built-in one.  Write it as for pn.loss.glm." },
    PNL_ROW_END,
};

void pnl_open_reg(lua_State *L)
{
    pnl_open_class(L, &pnl_reg_class);
    pnl_library(L, "reg", "Regularisers: terms of an objective that depend on no data.", library_rows);
    pnl_constructors(L, "reg", pn_regulariser_table(), construct, 1);
    lua_setfield(L, -2, "reg");
}
