/* lprox.c -- pn.prox: one constructor for each row of the runtime's table of proximal operators, pn.prox.custom for a user's
 * functions, and what all operators share.  Depends on: pnl.h, lcallback.h, geometry/prox.h.  Used by: module.c. */
#include <stdio.h>
#include <string.h>

#include "geometry/prox.h"
#include "lcallback.h"
#include "pnl.h"

static pn_prox *check_prox(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_prox_class);
}

/* ---- constructors ---- */

/* A set or norm of a user's functions needs its box: the new operator, on the top, keeps each object among the arguments. */
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
    pnl_status(L, pn_prox_new((pn_prox **)slot, ops->name, args, &err), &err);
    keep_objects(L, ops->params);
    return 1;
}

static int names(lua_State *L)
{
    return pnl_push_table_names(L, (const void *const *)pn_prox_table());
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

/* ---- fields and methods ---- */

static int get_dim(lua_State *L)
{
    size_t dim = check_prox(L, 1)->dim;

    return pnl_push_dim(L, dim);
}

static int get_name(lua_State *L)
{
    lua_pushstring(L, check_prox(L, 1)->ops->name);
    return 1;
}

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
      "The kind of operator, as in pn.prox; \"conjugate\" for P:conjugate()." },
    { "dim", get_dim, PNL_FIELD, PNL_NOTHING, "P.dim -> integer or nil",
      "The number of entries that a vector must have; nil when any number will do." },
    { "__call", apply, PNL_META, PNL_NOTHING, "prox(v, step) -> vec",
      "argmin_x f(x) + ||x - v||_2^2 / (2 step), a new vector; v finite, step a positive number." },
    { "value", value, PNL_METHOD, PNL_NOTHING, "P:value(v) -> number",
      "f(v), infinity outside the set of an indicator.  An error where only the operator is known: conjugates, and "
      "custom "
      "ones "
      "without value=." },
    { "envelope", envelope, PNL_METHOD, PNL_NOTHING, "P:envelope(v, step) -> number",
      "Moreau's envelope min_x f(x) + ||x - v||_2^2 / (2 step)." },
    { "conjugate", conjugate, PNL_METHOD, PNL_NOTHING, "P:conjugate() -> prox",
      "The operator of the conjugate f*, v - step prox(v / step, 1 / step); that of f again for a conjugate." },
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
    { "custom", custom, PNL_FUNCTION, PNL_NOTHING,
      "pn.prox.custom{prox=function(v, step) ... end, value=function(v) ... end, dim=} -> prox",
      "An operator of your own: prox returns a vector as long as v, which is a copy; value, optional, returns f(v)." },
    PNL_ROW_END,
};

void pnl_open_prox(lua_State *L)
{
    const pn_prox_ops *const *table = pn_prox_table();

    pnl_register(L, &pnl_prox_class);
    pnl_library(L, "prox", "Proximal operators of convex functions.", library_rows);
    for (size_t i = 0; table[i]; i++) {
        const pnl_constructor_row of = { table[i]->name, table[i], table[i]->params, table[i]->doc, table[i]->source };

        pnl_constructor(L, "prox", &of, construct, 1);
    }
    lua_setfield(L, -2, "prox");
}
