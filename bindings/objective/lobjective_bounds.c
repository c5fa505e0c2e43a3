/* lobjective_bounds.c -- obj.bounds: what is certified, as a table and as a line.
 * Depends on: lobjective.h, pnl.h, objective/passes/objective.h.  Used by: lobjective.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/pnl.h"
#include "bindings/objective/lobjective.h"
#include "objective/passes/objective.h"

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_flag(lua_State *L, const char *name, bool flag)
{
    lua_pushboolean(L, flag);
    lua_setfield(L, -2, name);
}

/* What is not bounded although something is certified. */
static const char *what_is_missing(const pn_bounds *bounds)
{
    return bounds->missing[0] ? bounds->missing : bounds->loss.missing[0] ? bounds->loss.missing : bounds->reg.missing;
}

/* nil where it is not known. */
static void set_reach(lua_State *L, pn_objective *objective)
{
    double reach = INFINITY;
    pn_err err;

    pnl_status(L, pn_objective_reach(objective, &reach, &err), &err);
    if (isfinite(reach))
        set_number(L, "reach", reach);
}

/* {lipschitz={l1=,l2=,linf=}, smoothness=, ..., source="certified"}; source is nil and missing says why when it is
 * not. */
int pnl_objective_bounds(lua_State *L)
{
    pn_objective *objective = pnl_check(L, 1, &pnl_objective_class);
    const pn_bounds *bounds = pn_objective_bounds(objective);

    lua_createtable(L, 0, 15);
    if (what_is_missing(bounds)[0]) {
        lua_pushstring(L, what_is_missing(bounds));
        lua_setfield(L, -2, "missing");
    }
    set_reach(L, objective);
    if (bounds->source == PN_BOUND_NONE) {
        pnl_list(L);
        return 1;
    }
    lua_createtable(L, 0, PN_LP_COUNT);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        set_number(L, pn_lp_name((pn_lp)norm), bounds->lipschitz[norm]);
    set_number(L, "set", bounds->lipschitz_set);
    pnl_list(L);
    lua_setfield(L, -2, "lipschitz");
    set_number(L, "slope", bounds->slope);
    set_number(L, "smoothness", bounds->smoothness);
    set_number(L, "strong_convexity", bounds->strong_convexity);
    set_number(L, "curvature", bounds->curvature);
    set_number(L, "hessian_lipschitz", bounds->hessian_lipschitz);
    set_number(L, "margin", bounds->margin.high);
    set_flag(L, "convex", bounds->convex);
    set_flag(L, "continuous", bounds->loss.continuous);
    set_flag(L, "smooth", bounds->loss.smooth);
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, bounds->loss.value.low);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, bounds->loss.value.high);
    lua_rawseti(L, -2, 2);
    pnl_list(L);
    lua_setfield(L, -2, "value");
    lua_pushstring(L, pn_bound_source_names[bounds->source]);
    lua_setfield(L, -2, "source");
    pnl_list(L);
    return 1;
}

void pnl_objective_describe_bounds(const pn_objective *self, char *text, size_t size)
{
    const pn_bounds *bounds = pn_objective_bounds(self);

    if (bounds->source == PN_BOUND_CERTIFIED)
        (void)snprintf(text, size, "certified: |slope| <= %.4g%s, curvature %.4g%s", bounds->slope,
                       bounds->loss.continuous ? "" : " but for jumps of the loss", bounds->curvature,
                       bounds->convex ? "" : ", not convex");
    else if (bounds->source == PN_BOUND_CLIPPED)
        (void)snprintf(text, size, "clipped: each record's gradient to l2 norm %.4g", pn_objective_clip(self));
    else if (bounds->source == PN_BOUND_DECLARED)
        (void)snprintf(text, size, "declared: l2 Lipschitz constant %.4g, enforced by clipping",
                       bounds->lipschitz[PN_L2]);
    else
        (void)snprintf(text, size, "not certified: %s", bounds->missing);
}
