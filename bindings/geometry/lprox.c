/* lprox.c -- pn.prox: one constructor for each row of the runtime's table of proximal operators, pn.prox.custom for a
 * user's functions, pn.prox.sum and pn.prox.groups, and what all operators share.  Depends on: pnl.h, lcallback.h,
 * geometry/prox/prox.h.  Used by: module.c. */
#include <stdio.h>
#include <string.h>

#include "bindings/core/lcallback.h"
#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "core/size.h"
#include "geometry/prox/prox.h"

static pn_prox *check_prox(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_prox_class);
}

/* ---- constructors ---- */

/* A set or norm of a user's functions needs its box: the new operator, on the top,
 * keeps each object among the arguments. */
static void keep_objects(lua_State *L, const pn_param *params)
{
    int box = lua_gettop(L);

    for (size_t i = 0; params[i].name; i++) {
        if (params[i].kind != PN_OBJECT)
            continue;
        if (lua_istable(L, 1))
            lua_getfield(L, 1, params[i].name);
        else
            lua_pushvalue(L, (int)i + 1);
        pnl_keep(L, box, -1);
        lua_settop(L, box);
    }
}

/* upvalue 1: the pn_prox_ops */
static int construct(lua_State *L)
{
    const pn_prox_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[PNL_MAX_PARAMS] = { 0 };
    char owner[64];
    void **slot;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "prox.%s", ops->name);
    pnl_values_or_options(L, owner, ops->params, args, 1);
    slot = pnl_newbox(L, &pnl_prox_class);
    pnl_status(L, pn_prox_from_args((pn_prox **)slot, ops->name, args, &err), &err);
    keep_objects(L, ops->params);
    return 1;
}

static int names(lua_State *L)
{
    return pnl_push_row_names(L, pn_prox_table());
}

/* ---- pn.prox.custom ---- */

enum { PROX, VALUE };

typedef struct prox_call {
    const double *v;
    size_t n;
    double step, *x;
} prox_call;

static void prox_body(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    prox_call *call = ud;

    pnl_push_copy(L, call->v, call->n);
    lua_pushnumber(L, call->step);
    lua_call(L, 2, 1);
    pnl_result_vec(L, back, which, call->x, call->n);
}

static pn_status custom_apply(void *self, const double *v, size_t n, double step, double *x, pn_err *err)
{
    prox_call call = { v, n, step, x };

    return pnl_call_back(self, PROX, prox_body, &call, err);
}

static pn_status custom_value(void *self, const double *x, size_t n, double *value, pn_err *err)
{
    return pnl_call_for_number(self, VALUE, x, n, value, err);
}

static const pn_param custom_params[] = {
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "entries of a vector; any number when absent" },
    PN_PARAM_END,
};

static int custom(lua_State *L)
{
    static const char *const functions[] = { "prox", "value", NULL };
    pn_arg args[1];
    pn_custom_prox parts = { .destroy = pn_free, .apply = custom_apply };
    pnl_callback *back;
    void **slot;
    pn_status status;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "prox.custom", custom_params, args, functions);
    if (!lua_istable(L, 1) || lua_getfield(L, 1, "prox") == LUA_TNIL)
        return pnl_error(L, "prox.custom: prox is missing; give a function(v, step) that returns a vector");
    slot = pnl_newbox(L, &pnl_prox_class);
    back = pnl_new_callback(L, -1, 1, "prox.custom", functions);
    parts.self = back;
    parts.dim = args[0].given ? args[0].count : 0;
    parts.value = pnl_callback_has(back, VALUE) ? custom_value : NULL;
    status = pn_prox_custom((pn_prox **)slot, &parts, &err);
    if (status != PN_OK)
        pn_free(back);
    pnl_status(L, status, &err);
    return 1;
}

/* ---- sums ---- */

/* The operator of a + b on the top; the stack holds a and b below. */
static void push_sum(lua_State *L, int a, int b)
{
    void **slot;
    pn_prox *first = check_prox(L, a), *second = check_prox(L, b);
    pn_err err;

    slot = pnl_newbox(L, &pnl_prox_class);
    pnl_status(L, pn_prox_sum((pn_prox **)slot, first, second, &err), &err);
    pnl_keep(L, -1, a);
    pnl_keep(L, -1, b);
}

static int add(lua_State *L)
{
    for (int i = 1; i <= 2; i++) {
        if (!pnl_test(L, i, &pnl_prox_class))
            return pnl_error(L, "P + Q: expected two proximal operators, got %s", pnl_got(L, i));
    }
    push_sum(L, 1, 2);
    return 1;
}

static int sum(lua_State *L)
{
    lua_Unsigned count;

    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        return pnl_error(L, "prox.sum: expected a list of proximal operators, got %s", pnl_got(L, 1));
    count = lua_rawlen(L, 1);
    if (count < 2)
        return pnl_error(L, "prox.sum: give at least 2 operators, got %d", (int)count);
    for (lua_Unsigned i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i);
        if (!pnl_test(L, -1, &pnl_prox_class))
            return pnl_error(L, "prox.sum: expected proximal operators, got %s at entry %d", pnl_got(L, -1), (int)i);
        if (i == 1)
            continue;
        push_sum(L, 2, 3);
        lua_replace(L, 2);
        lua_settop(L, 2);
    }
    return 1;
}

/* ---- pn.prox.groups ---- */

enum { LAMBDA, WEIGHTS, DIM };

static const pn_param groups_params[] = {
    { "lambda", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "weight of the term" },
    { "weights", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "one positive number for each group; absent: the square root of its size" },
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "entries of a vector; any number that holds the groups when absent" },
    PN_PARAM_END,
};

static size_t check_coordinate(lua_State *L, int index, size_t group)
{
    int whole;
    lua_Integer j = lua_tointegerx(L, index, &whole);

    if (!whole || j < 1 || lua_type(L, index) != LUA_TNUMBER)
        pnl_error(L, "prox.groups: group %d must hold whole numbers from 1, got %s", (int)group, pnl_got(L, index));
    return (size_t)j;
}

/* Sizes and members of the lists in the table on the top, in memory that Lua owns and leaves above it. */
static void read_groups(lua_State *L, pn_group_list *list)
{
    int table = lua_gettop(L);
    size_t *start, *member, total = 0;

    if (!lua_istable(L, table) || lua_rawlen(L, table) == 0)
        pnl_error(L, "prox.groups: groups must be a list of lists of coordinates, as in {{1, 2}, {2, 3}}, got %s",
                  lua_istable(L, table) ? "an empty table" : pnl_got(L, table));
    list->count = (size_t)lua_rawlen(L, table);
    start = lua_newuserdatauv(L, (list->count + 1) * sizeof *start, 0);
    for (size_t g = 0; g < list->count; g++) {
        start[g] = total;
        if (lua_rawgeti(L, table, (lua_Integer)g + 1) != LUA_TTABLE)
            pnl_error(L, "prox.groups: group %d must be a list of coordinates, got %s", (int)g + 1, pnl_got(L, -1));
        if (!pn_size_add(&total, total, (size_t)lua_rawlen(L, -1)))
            pnl_error(L, "prox.groups: groups must hold at most 2^48 coordinates");
        lua_pop(L, 1);
    }
    start[list->count] = total;
    member = lua_newuserdatauv(L, (total + 1) * sizeof *member, 0);
    for (size_t g = 0; g < list->count; g++) {
        if (lua_rawgeti(L, table, (lua_Integer)g + 1) !=
            LUA_TTABLE) /* memory may run a finalizer, which may change it */
            pnl_error(L, "prox.groups: group %zu must be a list of coordinates, got %s", g + 1, pnl_got(L, -1));
        for (size_t k = start[g]; k < start[g + 1]; k++) {
            lua_rawgeti(L, -1, (lua_Integer)(k - start[g]) + 1);
            member[k] = check_coordinate(L, -1, g + 1) - 1;
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    list->start = start;
    list->member = member;
}

static int groups(lua_State *L)
{
    static const char *const lists[] = { "groups", NULL };
    pn_arg args[3];
    pn_group_list list = { 0 };
    void **slot;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "prox.groups", groups_params, args, lists);
    pnl_status(L, pn_args_check("prox.groups", groups_params, args, &err), &err);
    if (!lua_istable(L, 1) || lua_getfield(L, 1, "groups") == LUA_TNIL)
        return pnl_error(L,
                         "prox.groups: groups is missing; give a list of lists of coordinates, as in {{1, 2}, {2, 3}}");
    read_groups(L, &list);
    list.lambda = args[LAMBDA].real;
    list.dim = args[DIM].given ? args[DIM].count : 0;
    if (args[WEIGHTS].given && args[WEIGHTS].vector.n != list.count)
        return pnl_error(L, "prox.groups: weights has %zu entries, there are %zu groups", args[WEIGHTS].vector.n,
                         list.count);
    list.weight = args[WEIGHTS].given ? args[WEIGHTS].vector.data : NULL;
    slot = pnl_newbox(L, &pnl_prox_class);
    pnl_status(L, pn_prox_groups((pn_prox **)slot, &list, &err), &err);
    return 1;
}

/* ---- fields and methods ---- */

PNL_GETTER_IF(get_dim, check_prox(L, 1)->dim > 0, check_prox(L, 1)->dim);
PNL_GETTER(get_name, check_prox(L, 1)->ops->name);

static double check_step(lua_State *L, int index, const char *owner)
{
    if (lua_type(L, index) != LUA_TNUMBER)
        pnl_error(L, "%s: step must be a positive number, got %s", owner, pnl_got(L, index));
    return lua_tonumber(L, index);
}

static int apply(lua_State *L)
{
    const pn_prox *prox = check_prox(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double step = check_step(L, 3, "prox"), *x = pnl_new_vec(L, v.n);
    pn_err err;

    if (v.n > 0)
        memcpy(x, v.data, v.n * sizeof *x);
    pnl_pin(L, 1);
    pnl_status(L, pn_prox_apply(prox, x, v.n, step, &err), &err);
    return 1;
}

static int value(lua_State *L)
{
    const pn_prox *prox = check_prox(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double number;
    pn_err err;

    pnl_pin(L, 1);
    pnl_status(L, pn_prox_value(prox, v.data, v.n, &number, &err), &err);
    lua_pushnumber(L, number);
    return 1;
}

static int envelope(lua_State *L)
{
    const pn_prox *prox = check_prox(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double step = check_step(L, 3, "P:envelope"), number;
    pn_err err;

    pnl_pin(L, 1);
    pnl_status(L, pn_prox_envelope(prox, v.data, v.n, step, &number, &err), &err);
    lua_pushnumber(L, number);
    return 1;
}

static int conjugate(lua_State *L)
{
    pn_prox *prox = check_prox(L, 1);
    void **slot = pnl_newbox(L, &pnl_prox_class);
    pn_err err;

    pnl_status(L, pn_prox_conjugate((pn_prox **)slot, prox, &err), &err);
    pnl_keep(L, -1, 1);
    return 1;
}

static int to_string(lua_State *L)
{
    char text[320];

    pn_prox_describe(check_prox(L, 1), text, sizeof text);
    lua_pushfstring(L, "%s prox", text);
    return 1;
}

/* ---- tables ---- */

static const pnl_row prox_rows[] = {
    { "name", get_name, PNL_FIELD, PNL_NOTHING, "P.name -> string",
      "The kind of operator, as in pn.prox; \"conjugate\" for P:conjugate(), \"sum\" for P + Q." },
    { "dim", get_dim, PNL_FIELD, PNL_NOTHING, "P.dim -> integer or nil",
      "The number of entries that a vector must have; nil when any number will do." },
    { "__call", apply, PNL_META, PNL_NOTHING, "prox(v, step) -> vec",
      "argmin_x f(x) + ||x - v||_2^2 / (2 step), a new vector; v finite, step a positive number." },
    { "value", value, PNL_METHOD, PNL_NOTHING, "P:value(v) -> number",
      "f(v), infinity outside the set of an indicator.  An error where only the operator is known: conjugates, and "
      "custom ones without value=." },
    { "envelope", envelope, PNL_METHOD, PNL_NOTHING, "P:envelope(v, step) -> number",
      "Moreau's envelope min_x f(x) + ||x - v||_2^2 / (2 step)." },
    { "conjugate", conjugate, PNL_METHOD, PNL_NOTHING, "P:conjugate() -> prox",
      "The operator of the conjugate f*, v - step prox(v / step, 1 / step); that of f again for a conjugate." },
    { "__add", add, PNL_META, PNL_NOTHING, "P + Q -> prox",
      "The operator of the sum of the two functions, as pn.prox.sum." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(P) -> string", "Kind and parameters in one line." },
    PNL_ROW_END,
};

static void prox_release(void *prox)
{
    pn_prox_free(prox);
}

const pnl_class pnl_prox_class = {
    "pn.prox", prox_release,
    prox_rows, "A proximal operator, argmin_x f(x) + ||x - v||_2^2 / (2 step) for one convex f.  Immutable.",
    NULL,      NULL,
};

static const pnl_row library_rows[] = {
    { "names", names, PNL_FUNCTION, PNL_NOTHING, "pn.prox.names() -> {string, ...}",
      "The names of the built-in proximal operators." },
    { "custom", custom, PNL_FUNCTION, PNL_NOTHING | PNL_CALLS_BACK,
      "pn.prox.custom{prox=function(v, step) ... end, value=function(v) ... end, dim=} -> prox",
      "An operator of your own: prox returns a vector as long as v, which is a copy; value, optional, returns f(v)." },
    { "sum", sum, PNL_FUNCTION, PNL_NOTHING, "pn.prox.sum{P, Q, ...} -> prox",
      "The operator of the sum of two or more functions; P + Q is the same.  Closed forms: a square with anything; l1, "
      "elastic_net or huber in a box, a cube or the orthant; any norm or cone with l2 or in a centred l2 ball; l1 or "
      "the orthant with disjoint groups.  Others by Dykstra's iteration until two successive points are within 1e-12 "
      "(1 + ||v||), an error after 10^4 rounds; sets come last, so that the result is in the last one's." },
    { "groups", groups, PNL_FUNCTION, PNL_NOTHING,
      "pn.prox.groups{groups={{1, 2}, {2, 3}, ...}, lambda=, weights=, dim=} -> prox",
      "f(x) = lambda sum_g weight_g ||x_g||_2 over lists of coordinates, which may overlap; weight_g is the root of "
      "the group's size unless given, coordinates in no group are free.  Disjoint groups in closed form, others as "
      "pn.prox.sum." },
    PNL_ROW_END,
};

void pnl_open_prox(lua_State *L)
{
    pnl_open_class(L, &pnl_prox_class);
    pnl_library(L, "prox", "Proximal operators of convex functions.", library_rows);
    pnl_constructors(L, "prox", pn_prox_table(), construct, 1);
    lua_setfield(L, -2, "prox");
}
