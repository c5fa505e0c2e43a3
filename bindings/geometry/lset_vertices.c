/* lset_vertices.c -- the vertices of pn.set.polytope by a function: called once for each, before the set is made.
 * Depends on: lset.h.  Used by: lset.c. */
#include <stdio.h>
#include <string.h>

#include "bindings/geometry/lset.h"
#include "core/view.h"

static const char owner[] = "set.polytope";

static lua_Integer read_count(lua_State *L)
{
    lua_Integer count;
    int is_whole;

    lua_getfield(L, 1, "count");
    count = lua_tointegerx(L, -1, &is_whole);
    if (lua_isnil(L, -1))
        pnl_error(L, "%s: count is missing; say how many vertices vertices(i) has", owner);
    if (!is_whole || lua_type(L, -1) != LUA_TNUMBER || count < 1)
        pnl_error(L, "%s: count must be a whole number from 1, got %s", owner,
                  lua_type(L, -1) == LUA_TNUMBER ? luaL_tolstring(L, -1, NULL) : pnl_got(L, -1));
    lua_pop(L, 1);
    return count;
}

/* vertices(i), left on the stack; of `dim` numbers where that is not 0. */
static pn_vec call_one(lua_State *L, lua_Integer i, size_t dim)
{
    char name[64];
    size_t bad;
    pn_vec v;

    (void)snprintf(name, sizeof name, "%s: vertices(%lld)", owner, (long long)i);
    lua_getfield(L, 1, "vertices");
    lua_pushinteger(L, i);
    lua_call(L, 1, 1);
    if (!lua_istable(L, -1) && !pnl_test(L, -1, &pnl_vec_class))
        pnl_error(L, "%s must return a vector, got %s", name, pnl_got(L, -1));
    v = pnl_check_vec_of(L, -1, name);
    if (v.n == 0)
        pnl_error(L, "%s has no numbers; it needs at least one", name);
    if (dim > 0 && v.n != dim)
        pnl_error(L, "%s has %zu numbers, vertices(1) has %zu", name, v.n, dim);
    bad = pn_first_nonfinite(v.data, v.n);
    if (bad < v.n)
        pnl_error(L, "%s must hold finite numbers, got %g at entry %zu", name, v.data[bad], bad + 1);
    return v;
}

static void check_size(lua_State *L, lua_Integer count, size_t dim)
{
    if ((double)count * (double)dim > PNL_SET_VERTEX_NUMBERS)
        pnl_error(L,
                  "%s: %lld vertices of %zu numbers are more than the %.0f numbers that are kept; give fewer, or a set "
                  "by its support function, set.custom",
                  owner, (long long)count, dim, PNL_SET_VERTEX_NUMBERS);
}

/* (options without vertices and count, matrix) */
static void replace_options(lua_State *L)
{
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_settable(L, -4);
    }
    lua_pushnil(L);
    lua_setfield(L, -2, "count");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "vertices");
    lua_replace(L, 1);
}

void pnl_set_call_vertices(lua_State *L)
{
    double *rows = NULL;
    lua_Integer count;
    size_t dim = 0;

    if (!lua_istable(L, 1))
        return;
    lua_settop(L, 1);
    if (lua_getfield(L, 1, "vertices") != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    count = read_count(L);
    check_size(L, count, 1);
    for (lua_Integer i = 1; i <= count; i++) {
        pn_vec v = call_one(L, i, dim);

        if (i == 1) {
            dim = v.n;
            check_size(L, count, dim);
            rows = pnl_new_mat(L, (size_t)count, dim);
            lua_insert(L, 2);
        }
        memcpy(rows + (size_t)(i - 1) * dim, v.data, dim * sizeof *rows);
        lua_settop(L, 2);
    }
    replace_options(L);
    lua_settop(L, 1);
}
