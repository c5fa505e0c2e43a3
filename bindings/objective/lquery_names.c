/* lquery_names.c -- the ways to write a query: pn.query.mean{data = d, columns = {"age"}, ...} and
 * pn.query.mean(d, "age", {...}), by the names of columns or by their numbers.
 * Depends on: lquery.h, data/dataset.h.  Used by: lquery.c. */
#include <string.h>

#include "bindings/objective/lquery.h"
#include "data/dataset.h"

/* The features' names may be categories that were found in the records: whether one is there would be told for nothing.
 * So analysts give numbers. */
static lua_Integer number_of(lua_State *L, const char *owner, const pn_dataset *data, const char *wanted)
{
    const char *name = data->features;

    pnl_refuse_analyst(L, owner, "names of columns may come from the records; give their numbers");
    for (size_t j = 1; name && j <= data->p; j++, name += strlen(name) + 1) {
        if (strcmp(name, wanted) == 0)
            return (lua_Integer)j;
    }
    if (strcmp(wanted, "label") == 0)
        return 0;
    pnl_error(L, "%s: there is no column \"%s\"; %s", owner, wanted,
              data->features ? "d.features lists the names, and \"label\" is the label"
                             : "this data set has no names: number its columns from 1, or say \"label\"");
    return 0;
}

/* The number for the value on the top, which it replaces; what is no name stays. */
static void replace_name(lua_State *L, const char *owner, const pn_dataset *data)
{
    if (lua_type(L, -1) != LUA_TSTRING)
        return;
    lua_pushinteger(L, number_of(L, owner, data, lua_tostring(L, -1)));
    lua_remove(L, -2);
}

/* A list of one for a number on the top. */
static void make_list(lua_State *L)
{
    if (lua_type(L, -1) != LUA_TNUMBER)
        return;
    lua_createtable(L, 1, 0);
    lua_insert(L, -2);
    lua_rawseti(L, -2, 1);
}

/* t[key] of the copy at 1, for several columns: a list of numbers. */
static void number_list(lua_State *L, const char *owner, const pn_dataset *data)
{
    lua_Integer count;

    replace_name(L, owner, data);
    make_list(L);
    if (lua_type(L, -1) != LUA_TTABLE)
        return;
    count = (lua_Integer)lua_rawlen(L, -1);
    lua_createtable(L, (int)(count < 4096 ? count : 4096), 0);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -2, i);
        replace_name(L, owner, data);
        lua_rawseti(L, -2, i);
    }
    lua_remove(L, -2);
}

/* A copy of the table at `from` (nothing: an empty one) becomes the only thing on the stack but for what is at 1, 2. */
static void copy_options(lua_State *L, int from)
{
    lua_createtable(L, 0, 10);
    if (!lua_istable(L, from))
        return;
    lua_pushnil(L);
    while (lua_next(L, from) != 0) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
}

/* f(d, columns, {...}) -> {...} at 1 */
static void from_places(lua_State *L, const char *owner, const char *key)
{
    lua_settop(L, 3);
    if (!lua_isnil(L, 3) && !lua_istable(L, 3))
        pnl_error(L, "%s: what comes after the columns is a table of options, as in {epsilon = 1, ledger = L}, got %s",
                  owner, pnl_got(L, 3));
    copy_options(L, 3);
    if (lua_getfield(L, 4, "data") != LUA_TNIL)
        pnl_error(L, "%s: data is given twice: as an option and before the options", owner);
    lua_pop(L, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, 4, "data");
    if (!lua_isnil(L, 2)) {
        if (lua_getfield(L, 4, key) != LUA_TNIL)
            pnl_error(L, "%s: %s is given twice: as an option and before the options", owner, key);
        lua_pop(L, 1);
        lua_pushvalue(L, 2);
        lua_setfield(L, 4, key);
    }
}

void pnl_query_names(lua_State *L, const char *owner, const char *key)
{
    static const char *const ends[] = { "low", "high" };
    const pn_dataset *data = pnl_test(L, 1, &pnl_dataset_class);

    if (data) {
        from_places(L, owner, key);
    } else {
        lua_settop(L, 1);
        if (!lua_istable(L, 1))
            return;
        copy_options(L, 1);
        lua_getfield(L, -1, "data");
        data = pnl_test(L, -1, &pnl_dataset_class);
        lua_pop(L, 1);
    }
    lua_replace(L, 1);
    lua_settop(L, 1);
    if (!data)
        return; /* refused where options are checked */
    lua_getfield(L, 1, key);
    if (strcmp(key, "column") == 0)
        replace_name(L, owner, data);
    else
        number_list(L, owner, data);
    lua_setfield(L, 1, key);
    for (size_t i = 0; i < 2; i++) {
        lua_getfield(L, 1, ends[i]);
        make_list(L);
        lua_setfield(L, 1, ends[i]);
    }
}
