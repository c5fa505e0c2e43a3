/* lset_measure.c -- how large a set is in a norm, its own norm, its width, and random points of it.
 * Depends on: lset.h, progress.h, geometry/potentials/radius_in.h.  Used by: lset.c. */
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/geometry/lset.h"
#include "geometry/potentials/radius_in.h"
#include "geometry/width/width.h"

/* ---- norms ---- */

static bool is_lp(lua_State *L, int index, pn_lp *found)
{
    return lua_type(L, index) == LUA_TSTRING && pn_lp_find(found, lua_tostring(L, index));
}

int pnl_set_radius_in(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    const pn_norm *norm = pnl_test(L, 2, &pnl_norm_class);
    double radius = 0.0;
    pn_status status;
    pn_err err;
    pn_lp lp;

    if (norm) {
        pnl_set_begin(L, set);
        status = pn_set_radius_in(set, norm, &radius, &err);
        pnl_set_end(L, set, status, &err);
    } else if (is_lp(L, 2, &lp)) {
        radius = set->ops->radius(set, lp);
    } else {
        return pnl_error(L, "C:radius_in: norm must be \"l1\", \"l2\", \"linf\" or a pn.norm, got %s", pnl_got(L, 2));
    }
    lua_pushnumber(L, radius);
    return 1;
}

int pnl_set_diameter_in(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    pn_lp lp;

    if (!is_lp(L, 2, &lp))
        return pnl_error(L, "C:diameter_in: norm must be \"l1\", \"l2\" or \"linf\", got %s", pnl_got(L, 2));
    lua_pushnumber(L, set->ops->diameter(set, lp));
    return 1;
}

int pnl_set_norm(lua_State *L)
{
    pn_set *set = pnl_check_set(L, 1);
    void **slot = pnl_newbox(L, &pnl_norm_class);
    pn_err err;

    pnl_status(L, pn_norm_minkowski((pn_norm **)slot, set, &err), &err);
    pnl_keep(L, -1, 1);
    return 1;
}

int pnl_set_dual_norm(lua_State *L)
{
    return pnl_set_number(L, pn_set_dual_norm);
}

/* ---- samples ---- */

int pnl_set_sample(lua_State *L)
{
    const pn_set *set = pnl_check_set(L, 1);
    pn_rng *rng = pnl_rng(L, 2);
    double *x = pnl_new_vec(L, set->dim);
    bool uniform = false;
    pn_status status;
    pn_err err;

    pnl_set_begin(L, set);
    status = pn_set_sample(set, rng, x, &uniform, &err);
    pnl_set_end(L, set, status, &err);
    lua_pushboolean(L, uniform);
    return 2;
}

/* ---- pn.width ---- */

enum { METHOD, TOL, CONFIDENCE, DRAWS, OPTIONS };

static const pn_param width_params[] = {
    { "method", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_WIDTH_AUTO, pn_width_methods,
      "auto takes the first that the set has" },
    { "tol", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.01, NULL,
      "half the length of a Monte Carlo interval, relative to the smaller of radius and half the diameter" },
    { "confidence", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.99, NULL, "that a Monte Carlo interval holds the width" },
    { "draws", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "of Monte Carlo, instead of tol" },
    PN_PARAM_END,
};

static const char width_signature[] =
    "pn.width(C, {method=, tol=, confidence=, draws=, rng=, progress=}) -> {value=, low=, high=, method=, draws=, "
    "confidence=, standard_error=}";

static const char width_doc[] =
    "The Gaussian width E max <b, x> over the set, b standard normal: what the error of private learning over C "
    "follows.  low <= width <= high surely, or with `confidence` when the method is \"monte_carlo\", by the "
    "concentration of Lipschitz functions, whatever the sample; standard_error is the sample's.  It depends on no data "
    "and costs no privacy.  The draws come from rng, or from a fixed seed; the number of threads does not change them.";

static void read_width_options(lua_State *L, pn_width_options *how)
{
    static const char *const extra[] = { "rng", "progress", NULL };
    pn_arg args[OPTIONS];
    pn_err err;

    pnl_options(L, 2, "width", width_params, args, extra);
    pnl_status(L, pn_args_check("width", width_params, args, &err), &err);
    if (args[TOL].given && args[DRAWS].given)
        pnl_error(L, "width: give tol or draws, not both");
    *how = (pn_width_options){
        .method = (pn_width_method)args[METHOD].count,
        .tolerance = args[TOL].real,
        .confidence = args[CONFIDENCE].real,
        .draws = args[DRAWS].given ? args[DRAWS].count : 0,
        .task = pnl_task(L),
    };
    if (!lua_istable(L, 2) || lua_getfield(L, 2, "rng") == LUA_TNIL)
        return;
    if (!pnl_test(L, -1, &pnl_rng_class))
        pnl_error(L, "width: rng must be a pn.rng, got %s", pnl_got(L, -1));
    how->rng = pnl_check(L, -1, &pnl_rng_class);
    pnl_pin(L, -1);
}

static void push_width(lua_State *L, const pn_width *width)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        { "value", width->value },
        { "low", width->low },
        { "high", width->high },
        { "confidence", width->confidence },
        { "standard_error", width->standard_error },
    };

    lua_createtable(L, 0, 7);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        lua_pushnumber(L, numbers[i].value);
        lua_setfield(L, -2, numbers[i].name);
    }
    lua_pushinteger(L, (lua_Integer)width->draws);
    lua_setfield(L, -2, "draws");
    lua_pushstring(L, pn_width_methods[width->method]);
    lua_setfield(L, -2, "method");
    pnl_list(L);
}

int pnl_set_width(lua_State *L)
{
    pn_width_options how;
    const pn_set *set;
    pn_status status;
    pn_width width;
    pn_err err;

    lua_settop(L, 2);
    set = pnl_test(L, 1, &pnl_set_class);
    if (!set)
        return pnl_error(L, "width: expected a pn.set, got %s", pnl_got(L, 1));
    read_width_options(L, &how);
    pnl_pin(L, 1);
    if (lua_istable(L, 2))
        lua_getfield(L, 2, "progress");
    else
        lua_pushnil(L);
    pnl_run_begin_at(L, -1, "width");
    status = pn_set_width(set, &how, &width, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    push_width(L, &width);
    return 1;
}

void pnl_open_width(lua_State *L)
{
    lua_pushcfunction(L, pnl_set_width);
    lua_setfield(L, -2, "width");
    pnl_reference(L, "", "width", PNL_NOTHING, width_signature, width_doc,
                  "Talwar, Thakurta, Zhang (2014), section 2; Boucheron, Lugosi, Massart (2013), Theorem 5.6",
                  width_params);
}
