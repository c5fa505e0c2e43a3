/* lnorm_custom.c -- pn.norm.custom: a norm given by a user's functions.
 * Depends on: lset.h, lnorm.h, lcallback.h, geometry/potentials/norm.h.  Used by: lnorm.c. */
#include <math.h>

#include "bindings/core/lcallback.h"
#include "bindings/core/progress.h"
#include "bindings/geometry/lnorm.h"
#include "bindings/geometry/lset.h"
#include "geometry/potentials/norm.h"

enum { VALUE, SUPPORT };

static const char *const function_names[] = { "value", "support", NULL };

enum { DIM, RADIUS, PARAMS };

const pn_param pnl_norm_custom_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "radius", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "the largest l2 norm of a vector of norm 1, or a bound: decides on steps and predictions" },
    PN_PARAM_END,
};

const char pnl_norm_custom_signature[] =
    "pn.norm.custom{dim=, value=function(v) -> number, support=function(g) -> point, radius=} -> norm";

const char pnl_norm_custom_doc[] =
    "A norm given by your own functions.  Everything that takes a norm takes it, except clip_rows, where your "
    "functions would see private rows.  value(v) is the norm; support(g) returns a vector of norm at most 1 "
    "with the largest <g, x>, which is the dual norm of g.  Both are called once when the norm is made; pn.check(N) "
    "probes whether value is a norm and support its dual.  Their errors reach the caller unchanged.";

static pn_status call_value(void *self, const double *x, size_t n, double *value, pn_err *err)
{
    PN_TRY(pnl_call_for_number(self, VALUE, x, n, value, err));
    if (!(*value >= 0.0 && isfinite(*value)))
        return pn_fail(err, PN_EDOMAIN, "norm.custom: value must return a finite number >= 0, got %g", *value);
    return PN_OK;
}

static pn_status call_support(void *self, const double *g, size_t n, double *point, pn_err *err)
{
    return pnl_call_for_vec(self, SUPPORT, g, n, point, n, err);
}

static pn_status call_contains(void *self, const double *x, size_t n, bool *inside, pn_err *err)
{
    double value = 0.0;

    PN_TRY(call_value(self, x, n, &value, err));
    *inside = value <= 1.0 + 1e-9;
    return PN_OK;
}

static void read_parts(lua_State *L, pn_custom_set *parts)
{
    pn_arg args[PARAMS];
    pn_err err;

    pnl_options(L, 1, "norm.custom", pnl_norm_custom_params, args, function_names);
    pnl_status(L, pn_args_check("norm.custom", pnl_norm_custom_params, args, &err), &err);
    for (size_t i = 0; function_names[i]; i++) {
        if (lua_getfield(L, 1, function_names[i]) == LUA_TNIL)
            pnl_error(L, "norm.custom: %s is missing; give a function(%s) that returns a %s", function_names[i],
                      i == VALUE ? "v" : "g", i == VALUE ? "number" : "vector");
    }
    lua_settop(L, 1);
    *parts = (pn_custom_set){ .dim = args[DIM].count,
                              .radius = args[RADIUS].real,
                              .symmetric = true,
                              .destroy = pn_free,
                              .support = call_support,
                              .contains = call_contains };
}

/* The unit ball, in a box on the top; *self: what its functions, and the norm's, are called with. */
static void push_ball(lua_State *L, void **self)
{
    pn_custom_set parts;
    pn_status status;
    void **slot;
    pn_err err;

    read_parts(L, &parts);
    slot = pnl_newbox(L, &pnl_set_class);
    *self = parts.self = pnl_begin_callback(L, -1, 1, "norm.custom", function_names);
    status = pn_set_custom((pn_set **)slot, &parts, &err);
    pnl_run_end(L);
    if (status != PN_OK) {
        pn_free(parts.self);
        if (status != PN_ECALLBACK)
            status = pn_fail_in(&err, status, "norm.custom: the unit ball");
    }
    pnl_status(L, status, &err);
}

int pnl_norm_custom(lua_State *L)
{
    void **slot, *self;
    pn_err err;

    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        return pnl_error(L, "norm.custom: expected a table of options, got %s", pnl_got(L, 1));
    push_ball(L, &self);
    slot = pnl_newbox(L, &pnl_norm_class);
    pnl_status(L, pn_norm_custom((pn_norm **)slot, pnl_check_set(L, 2), call_value, self, &err), &err);
    pnl_keep(L, -1, 2); /* the functions live in the box of the ball */
    return 1;
}
