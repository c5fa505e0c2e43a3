/* lpotential.c -- pn.potential: one constructor for each row of the runtime's table of potentials, those of a user's
 * functions, the one that fits a set, and what all potentials share.
 * Depends on: pnl.h, lcallback.h, lsymbol.h, geometry/potentials/custom_potential.h.  Used by: module.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/lcallback.h"
#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/expr/lsymbol.h"
#include "geometry/potentials/custom_potential.h"

static pn_potential *check_potential(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_potential_class);
}

static pn_set *check_set(lua_State *L, int index, const char *owner)
{
    pn_set *set = pnl_test(L, index, &pnl_set_class);

    if (!set)
        pnl_error(L, "%s: expected a pn.set, got %s", owner, pnl_got(L, index));
    return set;
}

/* ---- constructors ---- */

/* upvalue 1: the pn_potential_ops */
static int construct(lua_State *L)
{
    const pn_potential_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[PNL_MAX_PARAMS] = { 0 };
    char owner[64];
    void **slot;
    int box;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "potential.%s", ops->name);
    lua_settop(L, 1);
    pnl_options(L, 1, owner, ops->params, args, NULL);
    slot = pnl_newbox(L, &pnl_potential_class);
    pnl_status(L, pn_potential_from_args((pn_potential **)slot, ops->name, args, &err), &err);
    box = lua_gettop(L);
    for (size_t i = 0; i < pn_param_count(ops->params); i++) {
        if (ops->params[i].kind != PN_OBJECT || !args[i].given)
            continue;
        lua_getfield(L, 1, ops->params[i].name);
        pnl_keep(L, box, -1); /* a set of a user's functions needs its box */
        lua_pop(L, 1);
    }
    return 1;
}

static int for_set(lua_State *L)
{
    pn_set *set = check_set(L, 1, "potential.for_set");
    const char *why = "";
    void **slot;
    pn_err err;

    lua_settop(L, 1);
    slot = pnl_newbox(L, &pnl_potential_class);
    pnl_status(L, pn_potential_for_set((pn_potential **)slot, set, &why, &err), &err);
    pnl_keep(L, 2, 1);
    lua_pushstring(L, why);
    return 2;
}

static int separable(lua_State *L)
{
    static const char *const extra[] = { "domain", NULL };
    static const char *const variables[1] = { "t" };
    static const pn_param none[] = { PN_PARAM_END };
    pn_domain domain = { .range = { -INFINITY, INFINITY } };
    pn_graph *graph;
    pn_node root;
    void **slot;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "potential.separable", none, NULL, extra);
    if (lua_istable(L, 2) && lua_getfield(L, 2, "domain") != LUA_TNIL) {
        pnl_check_domain(L, -1, "potential.separable", "domain", &domain);
        if (domain.count > 0)
            return pnl_error(L, "potential.separable: domain must be an interval {lo, hi}, got a list of values");
    }
    root = pnl_trace(L, 1, "potential.separable", variables, 1, &graph);
    pnl_refuse_equality(L, 1, -1);
    slot = pnl_newbox(L, &pnl_potential_class);
    pnl_status(L, pn_potential_separable((pn_potential **)slot, graph, root, domain.range, pnl_task(L), &err), &err);
    return 1;
}

/* ---- a user's functions ---- */

enum { VALUE, GRADIENT, INVERSE_GRADIENT };

static const char *const function_names[] = { "value", "gradient", "inverse_gradient", NULL };

static const char *const norm_class[] = { "pn.norm", NULL };

static const pn_param custom_params[] = {
    { "strong_convexity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "the constant with respect to norm, declared: steps and predictions rest on it, noise never does" },
    { "norm", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, norm_class, "l2 when absent" },
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "number of entries; any when absent" },
    { "range", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "max - min of value over the set that it is for, declared; when absent, plans guess it and have no bound" },
    PN_PARAM_END,
};

enum { STRONG_CONVEXITY, NORM, CUSTOM_DIM, CUSTOM_RANGE };

static pn_status call_value(void *self, const double *x, size_t n, double *value, pn_err *err)
{
    return pnl_call_for_number(self, VALUE, x, n, value, err);
}

static pn_status call_gradient(void *self, const double *x, size_t n, double *out, pn_err *err)
{
    return pnl_call_for_vec(self, GRADIENT, x, n, out, n, err);
}

static pn_status call_inverse(void *self, const double *u, size_t n, double *out, pn_err *err)
{
    return pnl_call_for_vec(self, INVERSE_GRADIENT, u, n, out, n, err);
}

/* The norm of the options at 1, or a new l2 norm; left in a box on the stack. */
static pn_norm *check_norm(lua_State *L, const pn_arg *given)
{
    void **slot;
    pn_err err;

    if (given->given) {
        lua_getfield(L, 1, "norm");
        return pnl_check(L, -1, &pnl_norm_class);
    }
    slot = pnl_newbox(L, &pnl_norm_class);
    pnl_status(L, pn_norm_from_args((pn_norm **)slot, "l2", (pn_arg[1]){ { .given = false } }, &err), &err);
    return *slot;
}

static int custom(lua_State *L)
{
    pn_arg args[4];
    pn_custom_potential parts = { .destroy = pn_free, .value = call_value, .gradient = call_gradient };
    pnl_callback *back;
    void **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "potential.custom", custom_params, args, function_names);
    pnl_status(L, pn_args_check("potential.custom", custom_params, args, &err), &err);
    for (int i = VALUE; i <= GRADIENT; i++) {
        if (lua_getfield(L, 1, function_names[i]) == LUA_TNIL)
            return pnl_error(L, "potential.custom: %s must be a function(x) that returns a %s, got nothing",
                             function_names[i], i == VALUE ? "number" : "vector");
        lua_pop(L, 1);
    }
    parts.norm = check_norm(L, &args[NORM]);
    parts.strong_convexity = args[STRONG_CONVEXITY].real;
    parts.range = args[CUSTOM_RANGE].given ? args[CUSTOM_RANGE].real : 0.0;
    parts.dim = args[CUSTOM_DIM].given ? args[CUSTOM_DIM].count : 0;
    slot = pnl_newbox(L, &pnl_potential_class);
    pnl_keep(L, -1, -2); /* the norm may be one of a user's set */
    back = pnl_new_callback(L, -1, 1, "potential.custom", function_names);
    parts.self = back;
    if (pnl_callback_has(back, INVERSE_GRADIENT))
        parts.inverse_gradient = call_inverse;
    status = pn_potential_custom((pn_potential **)slot, &parts, &err);
    if (status != PN_OK)
        pn_free(back);
    pnl_status(L, status, &err);
    return 1;
}

static int names(lua_State *L)
{
    return pnl_push_row_names(L, pn_potential_table());
}

/* ---- fields ---- */

PNL_GETTER_IF(get_dim, check_potential(L, 1)->dim > 0, check_potential(L, 1)->dim);
PNL_GETTER(get_name, check_potential(L, 1)->ops->name);

static int get_norm(lua_State *L)
{
    pn_potential *p = check_potential(L, 1);
    void **slot = pnl_newbox(L, &pnl_norm_class);

    *slot = pn_norm_keep(p->norm);
    pnl_keep(L, -1, 1);
    return 1;
}

PNL_GETTER(get_strong_convexity, check_potential(L, 1)->strong_convexity);

PNL_GETTER(get_lifted, (bool)(check_potential(L, 1)->theta_dim > 0));

static int get_vertices(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);

    pn_mat V = pn_potential_vertices(p);

    if (V.data)
        pnl_view_mat(L, V.data, V.rows, V.cols, 1);
    else
        lua_pushnil(L);
    return 1;
}

/* ---- methods ---- */

static int value(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double number = 0.0;
    pn_err err;

    pnl_pin(L, 1);
    pnl_status(L, pn_potential_value(p, v.data, v.n, &number, &err), &err);
    lua_pushnumber(L, number);
    return 1;
}

typedef pn_status (*vector_door)(const pn_potential *p, const double *x, size_t n, double *out, pn_err *err);

static int vector_to_vector(lua_State *L, vector_door door)
{
    const pn_potential *p = check_potential(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double *out;
    pn_err err;

    pnl_pin(L, 1);
    out = pnl_new_vec(L, v.n);
    pnl_status(L, door(p, v.data, v.n, out, &err), &err);
    return 1;
}

static int gradient(lua_State *L)
{
    return vector_to_vector(L, pn_potential_gradient);
}

static int inverse_gradient(lua_State *L)
{
    return vector_to_vector(L, pn_potential_inverse_gradient);
}

static int bregman(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    pn_vec a = pnl_check_vec(L, 2), b = pnl_check_vec(L, 3);
    double number = 0.0;
    pn_err err;

    if (a.n != b.n)
        return pnl_error(L, "P:bregman: a has %zu entries, b has %zu", a.n, b.n);
    pnl_pin(L, 1);
    pnl_status(L, pn_potential_bregman(p, a.data, b.data, a.n, &number, &err), &err);
    lua_pushnumber(L, number);
    return 1;
}

static int mirror_step(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    pn_vec x = pnl_check_vec(L, 2), g = pnl_check_vec(L, 3);
    double eta = pnl_check_finite(L, 4, "P:mirror_step: eta"), *y;
    pn_set *set = check_set(L, 5, "P:mirror_step");
    pn_err err;

    if (x.n != g.n)
        return pnl_error(L, "P:mirror_step: x has %zu entries, g has %zu", x.n, g.n);
    pnl_pin(L, 1);
    pnl_pin(L, 5);
    y = pnl_new_vec(L, x.n);
    pnl_status(L, pn_mirror_step(p, set, x.data, g.data, eta, x.n, y, &err), &err);
    return 1;
}

static int start(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    pn_set *set = check_set(L, 2, "P:start");
    double *x;
    pn_err err;

    pnl_pin(L, 1);
    pnl_pin(L, 2);
    x = pnl_new_vec(L, p->theta_dim ? p->dim : set->dim);
    pnl_status(L, pn_potential_start(p, set, x, &err), &err);
    return 1;
}

static int theta(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    pn_vec x = pnl_check_vec(L, 2);
    double *room;

    if (p->dim > 0 && x.n != p->dim)
        return pnl_error(L, "P:theta: x has %zu entries, the potential has %zu", x.n, p->dim);
    room = p->room > 0 ? pnl_new_vec(L, p->room) : NULL;
    pn_potential_theta(p, x.data, x.n, pnl_new_vec(L, p->theta_dim ? p->theta_dim : x.n), room);
    return 1;
}

static int range(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    pn_set *set = check_set(L, 2, "P:range");
    double bound = 0.0;
    pn_err err;

    pnl_pin(L, 1);
    pnl_pin(L, 2);
    pnl_status(L, pn_potential_range(p, set, &bound, &err), &err);
    lua_pushnumber(L, bound);
    return 1;
}

static int noise_trace(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    pn_set *set = check_set(L, 2, "P:noise_trace");
    double trace = 0.0;
    pn_err err;

    pnl_pin(L, 1);
    pnl_pin(L, 2);
    pnl_status(L, pn_potential_trace(p, set, &trace, &err), &err);
    lua_pushnumber(L, trace);
    return 1;
}

static int to_string(lua_State *L)
{
    const pn_potential *p = check_potential(L, 1);
    char text[400], norm[320], constant[32];

    pn_potential_describe(p, text, sizeof text);
    pn_norm_describe(p->norm, norm, sizeof norm);
    (void)snprintf(constant, sizeof constant, "%.6g", p->strong_convexity);
    lua_pushfstring(L, "%s potential, %s-strongly convex in the %s norm", text, constant, norm);
    return 1;
}

/* ---- tables ---- */

static const pnl_row potential_rows[] = {
    { "name", get_name, PNL_FIELD, PNL_NOTHING, "P.name -> string", "The kind of potential, as in pn.potential." },
    { "dim", get_dim, PNL_FIELD, PNL_NOTHING, "P.dim -> integer or nil",
      "The number of entries of a point; nil when any number will do.  Of a polytope's: the number of vertices; of a "
      "sum's: of both terms; of an image's: of the set that is mapped." },
    { "norm", get_norm, PNL_FIELD, PNL_NOTHING, "P.norm -> norm",
      "The norm in which it is strongly convex.  Of a polytope's: that of theta, the mean of the vertices; of a "
      "sum's or an image's: that of the sum, of the image." },
    { "strong_convexity", get_strong_convexity, PNL_FIELD, PNL_NOTHING, "P.strong_convexity -> number",
      "The constant m in bregman(a, b) >= m norm(a - b)^2 / 2, over the set that the potential is made for." },
    { "lifted", get_lifted, PNL_FIELD, PNL_NOTHING, "P.lifted -> boolean",
      "Whether points are not those of the set but what these are made of: weights on vertices, the terms of a sum, or "
      "points that are mapped.  P:theta(x) is then the point of the set." },
    { "vertices", get_vertices, PNL_FIELD, PNL_NOTHING, "P.vertices -> mat or nil",
      "Of a polytope's potential the vertices, one in each row: theta = weights times this.  nil for others." },
    { "value", value, PNL_METHOD, PNL_NOTHING, "P:value(v) -> number", "Psi(v), infinity outside its domain." },
    { "gradient", gradient, PNL_METHOD, PNL_NOTHING, "P:gradient(v) -> vec",
      "The gradient of Psi at v, a new vector.  An error where there is none, such as the entropy's at 0." },
    { "inverse_gradient", inverse_gradient, PNL_METHOD, PNL_NOTHING, "P:inverse_gradient(u) -> vec",
      "The point with gradient u: argmax <u, x> - Psi(x).  An error where none is known." },
    { "bregman", bregman, PNL_METHOD, PNL_NOTHING, "P:bregman(a, b) -> number",
      "Psi(a) - Psi(b) - <grad Psi(b), a - b>, which is >= 0." },
    { "mirror_step", mirror_step, PNL_METHOD, PNL_NOTHING, "P:mirror_step(x, g, eta, C) -> vec",
      "argmin over y in C of <eta g, y> + bregman(y, x), a new vector: in closed form or by scalar roots where the set "
      "is known to the potential, also what a box leaves of a simplex or an l1 ball, and a halfspace of any of these; "
      "else by iteration, of intersections on the dual." },
    { "start", start, PNL_METHOD, PNL_NOTHING, "P:start(C) -> vec", "The point of C where Psi is least." },
    { "theta", theta, PNL_METHOD, PNL_NOTHING, "P:theta(x) -> vec",
      "The point of the set that x stands for: weights times vertices, the sum of both terms, the image of x; a copy "
      "of x where P.lifted is false." },
    { "range", range, PNL_METHOD, PNL_NOTHING, "P:range(C) -> number",
      "An upper bound of max Psi - min Psi over C: D^2 of the mirror descent bounds." },
    { "noise_trace", noise_trace, PNL_METHOD, PNL_NOTHING, "P:noise_trace(C) -> number",
      "K: an upper bound of the trace of Psi's inverse Hessian over C.  Standard normal noise b on the linear term c "
      "raises max <c + a b, x> - Psi(x) over C by at most a^2 K / 2 on average: mirror descent's excess risk is about "
      "s sqrt(2 range K), s the noise of one gradient that takes the whole budget." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(P) -> string", "Kind, options and norm in one line." },
    PNL_ROW_END,
};

static void potential_release(void *potential)
{
    pn_potential_free(potential);
}

const pnl_class pnl_potential_class = {
    "pn.potential", potential_release,
    potential_rows, "A strongly convex function that mirror descent measures distances by.  Immutable.",
    NULL,           NULL,
};

static const pnl_row library_rows[] = {
    { "names", names, PNL_FUNCTION, PNL_NOTHING, "pn.potential.names() -> {string, ...}",
      "The names of the potentials that are made from options; for_set, separable and custom make others." },
    { "for_set", for_set, PNL_FUNCTION, PNL_NOTHING, "pn.potential.for_set(C) -> potential, string",
      "The potential that fits a set, and why: entropy for the simplex, that of 2 dim weights for the l1 ball, powers "
      "for blocks and matrices, weights on the vertices for a polytope; one for each part of a product or a sum, "
      "weighted so that noise costs least; of an image that of the set that is mapped; of an intersection that of one "
      "of the sets, lifted or not, where noise costs less in it; else squared distance.  Scaled and shifted sets get "
      "it scaled and shifted." },
    { "separable", separable, PNL_FUNCTION, PNL_NOTHING, "pn.potential.separable(psi, {domain={lo, hi}}) -> potential",
      "The sum of psi(t) over the coordinates, for a Lua function of one number that is traced once.  Its strong "
      "convexity is certified by intervals over the domain (all numbers when absent), with respect to the l2 norm." },
    { "custom", custom, PNL_FUNCTION, PNL_NOTHING | PNL_CALLS_BACK,
      "pn.potential.custom{value=, gradient=, inverse_gradient=, strong_convexity=, norm=, dim=, range=} -> potential",
      "A potential of Lua functions: value(x) returns a number (infinity outside the domain), gradient(x) and "
      "inverse_gradient(u), which may be absent, return vectors.  The constant is declared, in norm (l2 when absent), "
      "and so is the range, max - min over the set that it is for.  Steps are numeric." },
    PNL_ROW_END,
};

void pnl_open_potential(lua_State *L)
{
    pnl_open_class(L, &pnl_potential_class);
    pnl_library(L, "potential", "Potentials of mirror descent.", library_rows);
    pnl_constructors(L, "potential", pn_potential_table(), construct, 0);
    lua_setfield(L, -2, "potential");
}
