/* lprivacy.c -- opens the parts of privacy in order, and checks the arguments that they share.
 * Depends on: lprivacy.h, lprivacy_check.h.  Used by: module.c, levent.c, laccountant.c, lledger.c,
 * lcalibrate.c, lrelease.c, ltree.c. */
#include <math.h>
#include <stdint.h>

#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lreceipt.h"
#include "bindings/privacy/lprivacy_check.h"

double pnl_check_delta(lua_State *L, int index, const char *method)
{
    double delta = lua_tonumber(L, index);

    if (lua_type(L, index) != LUA_TNUMBER || !(delta >= 0.0 && delta < 1.0))
        luaL_error(L, "%s: delta must be a number from 0 up to but not including 1, got %s", method, pnl_got(L, index));
    return delta;
}

double pnl_check_order(lua_State *L, int index, const char *method)
{
    double alpha = lua_tonumber(L, index);

    if (lua_type(L, index) != LUA_TNUMBER || !(alpha > 1.0))
        luaL_error(L, "%s: alpha must be a number greater than 1 (math.huge is allowed), got %s", method,
                   pnl_got(L, index));
    return alpha;
}

double pnl_check_epsilon(lua_State *L, int index, const char *method)
{
    double epsilon = lua_tonumber(L, index);

    if (lua_type(L, index) != LUA_TNUMBER || !(epsilon >= 0.0 && isfinite(epsilon)))
        luaL_error(L, "%s: epsilon must be a number from 0, got %s", method, pnl_got(L, index));
    return epsilon;
}

size_t pnl_opt_count(lua_State *L, int index, const char *method)
{
    const char *what;

    if (lua_isnoneornil(L, index))
        return 1;
    what = lua_pushfstring(L, "%s: count", method);
    return pnl_check_count(L, index, what);
}

#define MAX_PARAMS 16

/* "pn.LIBRARY.NAME{options and neighbours} -> LIBRARY" */
static void enter_row(lua_State *L, const char *library, const pn_row *row)
{
    pn_param all[MAX_PARAMS + 2];
    size_t count = pn_param_count(row->params);

    if (count > MAX_PARAMS)
        pnl_error(L, "%s.%s has more options than the binding reads", library, row->name);
    for (size_t i = 0; i < count; i++)
        all[i] = row->params[i];
    all[count] = pn_neighbours_params[0];
    all[count + 1] = (pn_param)PN_PARAM_END;
    lua_pushfstring(L, "pn.%s.%s{", library, row->name);
    for (size_t i = 0; i <= count; i++)
        lua_pushfstring(L, "%s%s=", i ? ", " : "", all[i].name);
    lua_pushfstring(L, "} -> %s", library);
    lua_concat(L, (int)count + 3);
    pnl_reference(L, library, row->name, PNL_NOTHING, lua_tostring(L, -1), row->doc, row->source, all);
    lua_pop(L, 1);
}

void pnl_private_constructors(lua_State *L, const char *library, const void *rows, lua_CFunction fn)
{
    for (const pn_row *const *row = rows; *row; row++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)*row);
        lua_pushcclosure(L, fn, 1);
        lua_setfield(L, -2, (*row)->name);
        enter_row(L, library, *row);
    }
}

pn_event *pnl_check_event(lua_State *L, int index)
{
    if (pnl_test(L, index, &pnl_mechanism_class))
        luaL_error(L, "expected a pn.event, got a pn.mechanism; give its event, as in m.event");
    return pnl_check(L, index, &pnl_event_class);
}

pn_vec pnl_check_query(lua_State *L, int index, const char *owner, const char *what, bool *scalar)
{
    static const char expected[] = "%s: the %s must be a number, a vector or a table of numbers, got %s";
    size_t n = 1;
    double *copy;

    *scalar = lua_type(L, index) == LUA_TNUMBER;
    if (pnl_test(L, index, &pnl_vec_class))
        return pnl_check_vec(L, index);
    if (!*scalar && lua_type(L, index) != LUA_TTABLE)
        pnl_error(L, expected, owner, what,
                  lua_isuserdata(L, index) ? pnl_got(L, index) : luaL_typename(L, index)); /* no value: types only */
    if (!*scalar)
        n = lua_rawlen(L, index);
    copy = lua_newuserdatauv(L, (n ? n : 1) * sizeof *copy, 0);
    if (*scalar)
        copy[0] = lua_tonumber(L, index);
    for (size_t i = 0; i < n && !*scalar; i++) {
        if (lua_rawgeti(L, index, (lua_Integer)i + 1) != LUA_TNUMBER)
            pnl_error(L, expected, owner, what, "a table with something else in it");
        copy[i] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
    return (pn_vec){ copy, n };
}

void pnl_open_privacy(lua_State *L)
{
    pnl_open_event(L);
    pnl_open_accountant(L);
    pnl_open_calibrate(L);
    pnl_open_ledger(L);
    pnl_open_session(L);
    pnl_open_mechanism(L);
    pnl_open_sampler(L);
    pnl_open_audit(L);
    pnl_open_receipt(L);
}
