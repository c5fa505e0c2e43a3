/* lvec_statistics.c -- v:mean, v:std, v:sort and v:quantile.  Depends on: lnumbers.h, numeric/statistics.h.
 * Used by: lvec.c's table. */
#include <string.h>

#include "bindings/numeric/lnumbers.h"
#include "numeric/statistics.h"

static pnl_vec *check_at_least(lua_State *L, size_t least, const char *name)
{
    pnl_vec *self = pnl_check(L, 1, &pnl_vec_class);

    if (self->n < least)
        pnl_error(L, "%s: takes %zu entr%s or more, the vector has %zu", name, least, least == 1 ? "y" : "ies",
                  self->n);
    return self;
}

int pnl_vec_mean(lua_State *L)
{
    const pnl_vec *self = check_at_least(L, 1, "mean");

    lua_pushnumber(L, pn_mean(self->n, self->data));
    return 1;
}

int pnl_vec_std(lua_State *L)
{
    const pnl_vec *self = check_at_least(L, 2, "std");

    lua_pushnumber(L, pn_deviation(self->n, self->data));
    return 1;
}

/* Pushes a sorted copy. */
static double *push_sorted(lua_State *L, const pnl_vec *self)
{
    double *copy = pnl_new_vec(L, self->n);

    memcpy(copy, self->data, self->n * sizeof *copy);
    pn_sort(self->n, copy);
    return copy;
}

int pnl_vec_sort(lua_State *L)
{
    (void)push_sorted(L, check_at_least(L, 0, "sort"));
    return 1;
}

int pnl_vec_quantile(lua_State *L)
{
    const pnl_vec *self = check_at_least(L, 1, "quantile");
    bool one = lua_type(L, 2) == LUA_TNUMBER;
    double q = one ? lua_tonumber(L, 2) : 0.0, *out = &q;
    pn_vec asked = { &q, 1 };
    const double *sorted;

    lua_settop(L, 2);
    if (!one)
        asked = pnl_check_vec_of(L, 2, "quantile: q");
    for (size_t k = 0; k < asked.n; k++) {
        if (!(asked.data[k] >= 0.0 && asked.data[k] <= 1.0))
            return pnl_error(L, "quantile: q must be from 0 to 1, got %g", asked.data[k]);
    }
    sorted = push_sorted(L, self);
    if (!one)
        out = pnl_new_vec(L, asked.n);
    for (size_t k = 0; k < asked.n; k++)
        out[k] = pn_quantile(self->n, sorted, asked.data[k]);
    if (one)
        lua_pushnumber(L, q);
    return 1;
}
