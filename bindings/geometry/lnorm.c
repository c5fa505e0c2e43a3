/* lnorm.c -- pn.norm: one constructor for each row of the runtime's table of norms, the norm of a set,
 * and what all norms share.
 * Depends on: lnorm.h, geometry/potentials/norm.h.  Used by: module.c. */
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/core/pnl.h"
#include "bindings/geometry/lnorm.h"
#include "geometry/potentials/norm.h"

static pn_norm *check_norm(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_norm_class);
}

/* ---- constructors ---- */

/* upvalue 1: the pn_norm_ops */
static int construct(lua_State *L)
{
    const pn_norm_ops *ops = lua_touserdata(L, lua_upvalueindex(1));
    pn_arg args[PNL_MAX_PARAMS] = { 0 };
    char owner[64];
    void **slot;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "norm.%s", ops->name);
    pnl_values_or_options(L, owner, ops->params, args, PN_NORM_PARAMS);
    slot = pnl_newbox(L, &pnl_norm_class);
    pnl_status(L, pn_norm_from_args((pn_norm **)slot, ops->name, args, &err), &err);
    return 1;
}

static int minkowski(lua_State *L)
{
    pn_set *set = pnl_test(L, 1, &pnl_set_class);
    void **slot;
    pn_err err;

    if (!set)
        return pnl_error(L, "norm.minkowski: expected a pn.set, got %s", pnl_got(L, 1));
    slot = pnl_newbox(L, &pnl_norm_class);
    pnl_status(L, pn_norm_minkowski((pn_norm **)slot, set, &err), &err);
    pnl_keep(L, -1, 1); /* a set of a user's functions needs its box */
    return 1;
}

static int names(lua_State *L)
{
    return pnl_push_row_names(L, pn_norm_table());
}

/* ---- fields and methods ---- */

PNL_GETTER_IF(get_dim, pn_norm_dim(check_norm(L, 1)) > 0, pn_norm_dim(check_norm(L, 1)));

static int value(lua_State *L)
{
    const pn_norm *norm = check_norm(L, 1);
    pn_vec v = pnl_check_vec(L, 2);
    double number;
    pn_err err;

    pnl_pin(L, 1);
    pnl_status(L, pn_norm_value(norm, v.data, v.n, &number, &err), &err);
    lua_pushnumber(L, number);
    return 1;
}

static int dual(lua_State *L)
{
    const pn_norm *norm = check_norm(L, 1);
    void **slot = pnl_newbox(L, &pnl_norm_class);
    pn_err err;

    pnl_status(L, pn_norm_dual((pn_norm **)slot, norm, &err), &err);
    pnl_keep(L, -1, 1);
    return 1;
}

static int ball(lua_State *L)
{
    const pn_norm *norm = check_norm(L, 1);
    size_t dim = pn_norm_dim(norm);
    void **slot;
    pn_err err;

    if (!dim || !lua_isnoneornil(L, 2))
        dim = pnl_check_count(L, 2, "N:ball: dim");
    pnl_pin(L, 1);
    slot = pnl_newbox(L, &pnl_set_class);
    pnl_status(L, pn_norm_ball((pn_set **)slot, norm, dim, &err), &err);
    pnl_keep(L, -1, 1);
    return 1;
}

static int equal(lua_State *L)
{
    const pn_norm *a = pnl_test(L, 1, &pnl_norm_class), *b = pnl_test(L, 2, &pnl_norm_class);

    lua_pushboolean(L, a && b && pn_norm_same(a, b));
    return 1;
}

static int to_string(lua_State *L)
{
    char text[320];

    pn_norm_describe(check_norm(L, 1), text, sizeof text);
    lua_pushfstring(L, "%s norm", text);
    return 1;
}

/* ---- tables ---- */

static const pnl_row norm_rows[] = {
    { "dim", get_dim, PNL_FIELD, PNL_NOTHING, "N.dim -> integer or nil",
      "The number of entries that a vector must have; nil when any number will do." },
    { "value", value, PNL_METHOD, PNL_NOTHING, "N:value(v) -> number",
      "The norm of v, the gauge of the unit ball; infinity outside the span of a flat ball.  v has finite entries." },
    { "dual", dual, PNL_METHOD, PNL_NOTHING, "N:dual() -> norm",
      "The dual norm, max <v, x> over N(x) <= 1; the dual of the dual is the norm itself." },
    { "ball", ball, PNL_METHOD, PNL_NOTHING, "N:ball(dim) -> set",
      "The unit ball in dim coordinates; N.dim when it is not nil and dim is left out." },
    { "__call", value, PNL_META, PNL_NOTHING, "N(v) -> number", "The norm of v, as N:value(v)." },
    { "__eq", equal, PNL_META, PNL_NOTHING, "N == M -> boolean",
      "Whether they are the same norm with the same parameters; of sets: of the same set." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(N) -> string", "Kind and parameters in one line." },
    PNL_ROW_END,
};

static void norm_release(void *norm)
{
    pn_norm_free(norm);
}

const pnl_class pnl_norm_class = {
    "pn.norm", norm_release, norm_rows, "A norm of vectors, the gauge of its unit ball.  Immutable.", NULL, NULL,
};

static const pnl_row library_rows[] = {
    { "names", names, PNL_FUNCTION, PNL_NOTHING, "pn.norm.names() -> {string, ...}",
      "The names of the norms with parameters of their own; pn.norm.minkowski makes one of a set, pn.norm.custom of "
      "functions." },
    { "custom", pnl_norm_custom, PNL_FUNCTION, PNL_NOTHING | PNL_CALLS_BACK, pnl_norm_custom_signature,
      pnl_norm_custom_doc },
    { "minkowski", minkowski, PNL_FUNCTION, PNL_NOTHING, "pn.norm.minkowski(C) -> norm",
      "The norm whose unit ball is conv(C u -C), for a bounded set C; C itself when it is symmetric." },
    PNL_ROW_END,
};

void pnl_open_norm(lua_State *L)
{
    pnl_open_class(L, &pnl_norm_class);
    pnl_library(L, "norm", "Norms, which measure records, gradients and steps.", library_rows);
    pnl_constructors(L, "norm", pn_norm_table(), construct, PN_NORM_PARAMS);
    pnl_reference(L, "norm", "custom", PNL_NOTHING | PNL_CALLS_BACK, pnl_norm_custom_signature, pnl_norm_custom_doc,
                  "the functions that are given", pnl_norm_custom_params);
    lua_setfield(L, -2, "norm");
}
