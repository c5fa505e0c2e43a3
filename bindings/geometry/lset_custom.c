/* lset_custom.c -- pn.set.custom: a set given by a user's functions.
 * Depends on: lset.h, lcallback.h, geometry/convex/set.h.  Used by: lset.c. */
#include <math.h>

#include "bindings/core/lcallback.h"
#include "bindings/core/progress.h"
#include "bindings/geometry/lset.h"
#include "geometry/convex/set.h"

enum { SUPPORT, PROJECT, CONTAINS };

static const char *const function_names[] = { "support", "project", "contains", NULL };

static pn_status call_support(void *self, const double *g, size_t n, double *point, pn_err *err)
{
    return pnl_call_for_vec(self, SUPPORT, g, n, point, n, err);
}

static pn_status call_project(void *self, double *x, size_t n, pn_err *err)
{
    return pnl_call_for_vec(self, PROJECT, x, n, x, n, err);
}

static pn_status call_contains(void *self, const double *x, size_t n, bool *inside, pn_err *err)
{
    return pnl_call_for_boolean(self, CONTAINS, x, n, inside, err);
}

enum { DIM, RADIUS, CENTER, SYMMETRIC, PARAMS };

const pn_param pnl_set_custom_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "the largest l2 norm in the set, or a bound; a set without one counts as unbounded" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "a point of the set [dim]; found when not given" },
    { "symmetric", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "whether C = -C" },
    PN_PARAM_END,
};

const char pnl_set_custom_signature[] =
    "pn.set.custom{dim=, support=function(g) -> point, project=function(v) -> point, contains=function(v) -> boolean, "
    "radius=, center=, symmetric=, name=} -> set";

const char pnl_set_custom_doc[] =
    "A convex set given by your own functions.  Everything that takes a set takes it, except private objective "
    "perturbation and clip_rows, where your functions would see private numbers.  support(g) returns a point with "
    "the largest <g, x>, project(v) the nearest one; give at least one of them.  With a radius the other is found: "
    "the projection by support points, the support by projections of far points, to 1e-10 of the radius.  "
    "contains(v) is optional.  Vectors have dim numbers; what the functions get are copies.  All are tried when the "
    "set is made, and what they return is checked at every call.  An error that they raise reaches the caller "
    "unchanged.";

/* The option `name`, left on the stack; NULL when absent. */
static const char *read_name(lua_State *L)
{
    if (lua_getfield(L, 1, "name") == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) != LUA_TSTRING)
        pnl_error(L, "set.custom: name must be a string, got %s", pnl_got(L, -1));
    return lua_tostring(L, -1);
}

static void read_parts(lua_State *L, pn_custom_set *parts)
{
    static const char *const extra[] = { "support", "project", "contains", "name", NULL };
    pn_arg args[PARAMS];
    pn_err err;

    pnl_options(L, 1, "set.custom", pnl_set_custom_params, args, extra);
    pnl_status(L, pn_args_check("set.custom", pnl_set_custom_params, args, &err), &err);
    *parts = (pn_custom_set){
        .dim = args[DIM].count,
        .radius = args[RADIUS].given ? args[RADIUS].real : INFINITY,
        .symmetric = args[SYMMETRIC].flag,
        .center = args[CENTER].given ? args[CENTER].vector.data : NULL,
        .name = read_name(L),
        .destroy = pn_free,
    };
    if (args[CENTER].given && args[CENTER].vector.n != parts->dim)
        pnl_error(L, "set.custom: center has %zu entries, dim is %zu", args[CENTER].vector.n, parts->dim);
}

int pnl_set_custom(lua_State *L)
{
    pn_custom_set parts;
    pnl_callback *back;
    pn_status status;
    void **slot;
    pn_err err;

    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        return pnl_error(L, "set.custom: expected a table of options, got %s", pnl_got(L, 1));
    read_parts(L, &parts);
    slot = pnl_newbox(L, &pnl_set_class);
    back = pnl_begin_callback(L, -1, 1, "set.custom", function_names);
    parts.self = back;
    parts.support = pnl_callback_has(back, SUPPORT) ? call_support : NULL;
    parts.project = pnl_callback_has(back, PROJECT) ? call_project : NULL;
    parts.contains = pnl_callback_has(back, CONTAINS) ? call_contains : NULL;
    status = pn_set_custom((pn_set **)slot, &parts, &err);
    pnl_run_end(L);
    if (status != PN_OK)
        pn_free(back);
    pnl_status(L, status, &err);
    return 1;
}
