/* lbound.c -- pn.bound: certified extremes of a traced function over ranges of its arguments.
 * Depends on: lsymbol.h, progress.h.  Used by: lexpression.c; bindings that read ranges. */
#include <math.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/numeric/lnumbers.h"

/* ---- ranges ---- */

/* An end of an interval: number i of the list at `index`, or the field `name`.  false when there is none. */
static bool get_end(lua_State *L, int index, int i, const char *name, double *out)
{
    bool number;

    if (lua_rawgeti(L, index, i) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushstring(L, name);
        lua_rawget(L, index);
    }
    number = lua_type(L, -1) == LUA_TNUMBER;
    *out = lua_tonumber(L, -1);
    lua_pop(L, 1);
    return number && !isnan(*out);
}

static lua_Integer count_entries(lua_State *L, int index)
{
    lua_Integer count = 0;

    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        count++;
    }
    return count;
}

static void refuse_domain(lua_State *L, int index, const char *owner, const char *name, const char *problem)
{
    pnl_error(L, "%s: the range of %s must be {lo, hi} with lo <= hi, {values = {...}} or a number, got %s%s", owner,
              name, lua_istable(L, index) ? "a table" : pnl_got(L, index), problem);
}

static void read_interval(lua_State *L, int index, const char *owner, const char *name, pn_interval *out)
{
    if (count_entries(L, index) != 2)
        refuse_domain(L, index, owner, name,
                      lua_rawlen(L, index) > 2 ? " of more: for a list write {values = {...}}" : " of another shape");
    if (!get_end(L, index, 1, "lo", &out->low) || !get_end(L, index, 2, "hi", &out->high))
        refuse_domain(L, index, owner, name, " that does not hold two numbers");
    if (!(out->low <= out->high) || out->low == HUGE_VAL || out->high == -HUGE_VAL)
        pnl_error(L, "%s: the range of %s must be {lo, hi} with lo <= hi, got {%.17g, %.17g}", owner, name, out->low,
                  out->high);
}

/* The list of values stands at the top and is replaced by its vec. */
static void read_values(lua_State *L, const char *owner, const char *name, pn_domain *out)
{
    int index = lua_gettop(L);
    pnl_vec *given = pnl_test(L, index, &pnl_vec_class);
    size_t n, bad;
    double *data;

    if (!given && !lua_istable(L, index))
        pnl_error(L, "%s: the values of %s must be a list of numbers, got %s", owner, name, pnl_got(L, index));
    n = given ? given->n : lua_rawlen(L, index);
    if (n == 0)
        pnl_error(L, "%s: the values of %s must be at least one", owner, name);
    data = pnl_new_vec(L, n);
    if (given)
        memcpy(data, given->data, n * sizeof *data);
    else
        pnl_read_numbers(L, index, data, n, lua_pushfstring(L, "%s: the values of %s", owner, name));
    bad = pn_first_nonfinite(data, n);
    if (bad < n)
        pnl_error(L, "%s: the values of %s: entry %zu must be a finite number, got %g", owner, name, bad + 1,
                  data[bad]);
    lua_settop(L, index + 1);
    lua_remove(L, index);
    out->values = data;
    out->count = n;
    out->range = (pn_interval){ data[0], data[0] };
    for (size_t i = 1; i < n; i++) {
        out->range.low = fmin(out->range.low, data[i]);
        out->range.high = fmax(out->range.high, data[i]);
    }
}

void pnl_check_domain(lua_State *L, int index, const char *owner, const char *name, pn_domain *out)
{
    index = lua_absindex(L, index);
    *out = (pn_domain){ { 0.0, 0.0 }, NULL, 0 };
    if (lua_type(L, index) == LUA_TNUMBER) {
        double value = lua_tonumber(L, index);

        if (!isfinite(value))
            refuse_domain(L, index, owner, name, "");
        out->range = (pn_interval){ value, value };
        lua_pushnil(L);
        return;
    }
    if (!lua_istable(L, index))
        refuse_domain(L, index, owner, name, "");
    lua_pushliteral(L, "values");
    if (lua_rawget(L, index) == LUA_TNIL) {
        read_interval(L, index, owner, name, &out->range);
        return; /* the nil stays */
    }
    if (count_entries(L, index) != 1)
        refuse_domain(L, index, owner, name, " with more than its values");
    read_values(L, owner, name, out);
}

/* Raise with what is in the table and no variable, or a variable and not in the table. */
static void check_names(lua_State *L, int ranges, const char *owner, const char *const *names, unsigned count)
{
    const char *missing[PN_BOUND_VARS_MAX];
    unsigned missing_count = 0;

    lua_pushnil(L);
    while (lua_next(L, ranges)) {
        bool known = false;

        for (unsigned v = 0; lua_type(L, -2) == LUA_TSTRING && v < count; v++)
            known = known || strcmp(names[v], lua_tostring(L, -2)) == 0;
        if (!known) {
            const char *name = pnl_text(L, -2);

            pnl_error(L, "%s: the function has no parameter '%s'; its parameters: %s", owner, name,
                      pnl_push_names(L, names, count));
        }
        lua_pop(L, 1);
    }
    for (unsigned v = 0; v < count; v++) {
        lua_pushstring(L, names[v]);
        if (lua_rawget(L, ranges) == LUA_TNIL)
            missing[missing_count++] = names[v];
        lua_pop(L, 1);
    }
    if (missing_count)
        pnl_error(L, "%s: no range is given for %s; give {%s = {lo, hi}, ...}", owner,
                  pnl_push_names(L, missing, missing_count), missing[0]);
}

void pnl_check_domains(lua_State *L, int ranges, const char *owner, const char *const *names, unsigned count,
                       pn_domain *domains)
{
    if (!lua_istable(L, ranges))
        pnl_error(L, "%s: expected a table of ranges, as in {t = {lo, hi}}, got %s", owner, pnl_got(L, ranges));
    luaL_checkstack(L, 2 * PN_BOUND_VARS_MAX + LUA_MINSTACK, owner);
    check_names(L, ranges, owner, names, count);
    for (unsigned v = 0; v < count; v++) {
        lua_pushstring(L, names[v]);
        lua_rawget(L, ranges);
        pnl_check_domain(L, -1, owner, names[v], &domains[v]);
        lua_remove(L, -2);
    }
}

/* ---- the search ---- */

void pnl_set_interval(lua_State *L, const char *field, pn_interval part)
{
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, part.low);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, part.high);
    lua_rawseti(L, -2, 2);
    pnl_list(L);
    lua_setfield(L, -2, field);
}

void pnl_push_bound(lua_State *L, const char *owner, pn_graph *graph, pn_node root, const pn_domain *domains)
{
    pn_status status;
    pn_extremes range;
    pn_err err;

    pnl_run_begin(L, true);
    status = pn_bound_range(&range, graph, root, domains, pnl_task(L), &err);
    pnl_run_end(L);
    if (status != PN_OK && strncmp(err.message, "bound: ", strlen("bound: ")) != 0)
        (void)pn_fail_in(&err, status, owner);
    pnl_status(L, status, &err);
    lua_createtable(L, 0, 4);
    pnl_set_interval(L, "min", range.min);
    pnl_set_interval(L, "max", range.max);
    lua_pushboolean(L, range.converged);
    lua_setfield(L, -2, "converged");
    lua_pushinteger(L, (lua_Integer)range.boxes);
    lua_setfield(L, -2, "boxes");
    pnl_list(L);
}

/* The name for the parameter of a function without names: the only one in the table of ranges at 2. */
static unsigned name_of_range(lua_State *L, const char *names[PN_BOUND_VARS_MAX])
{
    lua_Debug info;

    lua_pushvalue(L, 1);
    lua_getinfo(L, ">u", &info);
    if (!info.isvararg && !info.nparams)
        return 0; /* function() has none */
    lua_pushnil(L);
    if (!lua_istable(L, 2) || count_entries(L, 2) != 1 || !lua_next(L, 2) || lua_type(L, -2) != LUA_TSTRING)
        pnl_error(L, "bound: the parameters of the function have no names; write it as function(t) ... end and give {t "
                     "= {lo, hi}}");
    names[0] = lua_tostring(L, -2);
    lua_pop(L, 1); /* the name stays */
    return 1;
}

static int bound(lua_State *L)
{
    const char *names[PN_BOUND_VARS_MAX];
    pn_domain domains[PN_BOUND_VARS_MAX];
    pn_graph *graph;
    unsigned count;
    pn_node root;

    lua_settop(L, 2);
    if (!lua_isfunction(L, 1))
        return pnl_error(L, "bound: expected a function, got %s", pnl_got(L, 1));
    count = pnl_parameters(L, 1, "bound", names);
    if (count == 0)
        count = name_of_range(L, names);
    pnl_check_domains(L, 2, "bound", names, count, domains);
    root = pnl_trace(L, 1, "bound", names, count, &graph);
    pnl_push_bound(L, "bound", graph, root, domains);
    return 1;
}

void pnl_add_bound(lua_State *L)
{
    lua_pushcfunction(L, bound);
    lua_setfield(L, -2, "bound");
    pnl_reference(
        L, "", "bound", PNL_NOTHING,
        "pn.bound(function(t) ... end, {t = {lo, hi}}) -> {min = {lo, hi}, max = {lo, hi}, converged=, boxes=}",
        "Certified extremes of a traced function while each parameter, by its name, stays in its range: {lo, hi} is an "
        "interval, whose ends may be math.huge, {values = {-1, 1}} a list, a number itself.  The smallest value lies "
        "within min and the largest within max, whatever rounding did; converged tells that both are as narrow as "
        "wanted (1e-9, relatively), boxes how many parts were looked at.  Errors: what f or a range does wrong; a "
        "function that is unbounded or may be undefined, with the part of it and where.",
        "Moore, Kearfott, Cloud (2009), Introduction to Interval Analysis, chapters 6 and 11", NULL);
}
