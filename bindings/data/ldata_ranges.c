/* ldata_ranges.c -- d:rescale{age = {17, 90}, ...}: public ranges by the names of features.
 * Depends on: ldata.h, core/table.h.  Used by: ldata.c. */
#include <string.h>

#include "bindings/data/ldata.h"
#include "core/table.h"

/* What one-hot columns and add_bias make. */
static bool is_zero_or_one(const char *name)
{
    return strchr(name, '=') || strcmp(name, "bias") == 0;
}

/* Every name of the table at 2 is that of a feature. */
static void check_names(lua_State *L, const pn_dataset *data)
{
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        const char *name = data->features, *nearest = NULL, *wanted;
        size_t j = 0;

        if (lua_type(L, -2) != LUA_TSTRING)
            pnl_error(L, "rescale: ranges have the names of features, as in {age = {17, 90}}, got the key %s",
                      pnl_got(L, -2));
        wanted = lua_tostring(L, -2);
        for (; j < data->p && strcmp(name, wanted) != 0; j++, name += strlen(name) + 1)
            nearest = pn_nearer(wanted, nearest, name);
        if (j == data->p)
            pnl_error(L, "rescale: there is no feature '%s'%s%s; d.features lists them", wanted,
                      nearest ? ", the nearest is " : "", nearest ? nearest : "");
    }
}

/* Of feature `name`: {low, high}, or -1 and 1. */
static void read_range(lua_State *L, const char *name, double *low, double *high)
{
    int type = lua_getfield(L, 2, name);

    *low = -1.0;
    *high = 1.0;
    if (type == LUA_TNIL && !is_zero_or_one(name))
        pnl_error(L, "rescale: feature '%s' has no range; all but 0/1 features (column=category) need one", name);
    if (type != LUA_TNIL && (type != LUA_TTABLE || lua_rawlen(L, -1) != 2))
        pnl_error(L, "rescale: the range of '%s' must be two numbers such as {17, 90}, got %s", name, pnl_got(L, -1));
    if (type == LUA_TTABLE) {
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        *low = pnl_check_finite(L, -2, "rescale: low");
        *high = pnl_check_finite(L, -1, "rescale: high");
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
}

void pnl_data_named_ranges(lua_State *L, const pn_dataset *data)
{
    double *low, *high;
    const char *name = data->features;

    pnl_refuse_analyst(L, "rescale by names", "names of features may come from the records; give two lists");
    if (!name)
        pnl_error(L, "rescale: the features of this data set have no names; give two lists, low and high");
    check_names(L, data);
    low = pnl_new_vec(L, data->p);
    high = pnl_new_vec(L, data->p);
    for (size_t j = 0; j < data->p; j++, name += strlen(name) + 1)
        read_range(L, name, &low[j], &high[j]);
    lua_remove(L, 2);
}
