/* laudit_curve.c -- the claim of an audit in one run as a whole trade-off curve: points that are given, or those of an
 * event's loss distribution, certified from above.  Depends on: laudit.h, privacy/accounting/accountant.h.
 * Used by: laudit.c. */
#include <math.h>

#include "bindings/privacy/laudit.h"
#include "privacy/accounting/accountant.h"

#define POINTS     64
#define LEAST      1e-12 /* delta at the last point */
#define MOST_GIVEN 100000

/* delta at epsilon, for every point; as far as the accountant goes. */
static void fill(pn_audit_curve *out, double *epsilon, double *delta, pn_event *event)
{
    pn_accountant *pld = NULL;
    pn_arg args[8] = { { 0 } };
    double most = NAN;

    if (pn_accountant_from_args(&pld, "pld", args, NULL) == PN_OK && pn_accountant_add(pld, event, 1, NULL) == PN_OK &&
        pld->ops->epsilon(pld, LEAST, &most, NULL, NULL) == PN_OK && isfinite(most)) {
        for (size_t i = 0; i < POINTS; i++) {
            double at = most * (double)i / (POINTS - 1), found;

            if (pld->ops->delta(pld, at, &found, NULL) == PN_OK && found >= 0.0 && found <= 1.0) {
                epsilon[out->n] = at;
                delta[out->n++] = found;
            }
        }
    }
    pn_accountant_free(pld);
}

static double number_of(lua_State *L, int point, int which)
{
    double value;

    lua_rawgeti(L, point, which);
    value = luaL_optnumber(L, -1, NAN);
    lua_pop(L, 1);
    return value;
}

bool pnl_audit_curve(lua_State *L, int index, pn_event *event, pn_audit_curve *out)
{
    size_t room = lua_istable(L, index) ? (size_t)lua_rawlen(L, index) : POINTS;
    double *epsilon, *delta;

    if (!lua_toboolean(L, index))
        return false;
    if (room < 1 || room > MOST_GIVEN || (!lua_istable(L, index) && (!lua_isboolean(L, index) || !event)))
        pnl_error(L, "audit: profile must be a list of {epsilon, delta}, or true with event=");
    epsilon = lua_newuserdatauv(L, 2 * room * sizeof *epsilon, 0);
    delta = epsilon + room;
    *out = (pn_audit_curve){ epsilon, delta, 0 };
    if (!lua_istable(L, index))
        fill(out, epsilon, delta, event);
    for (size_t i = 0; lua_istable(L, index) && i < room; i++) {
        if (lua_rawgeti(L, index, (lua_Integer)i + 1) != LUA_TTABLE)
            pnl_error(L, "audit: profile must be a list of {epsilon, delta}, or true with event=");
        epsilon[i] = number_of(L, lua_gettop(L), 1);
        delta[i] = number_of(L, lua_gettop(L), 2);
        if (!(epsilon[i] >= 0.0 && delta[i] >= 0.0 && delta[i] <= 1.0))
            pnl_error(L, "audit: point %d of profile must be a pair {epsilon, delta}", (int)i + 1);
        lua_pop(L, 1);
        out->n++;
    }
    return true;
}
