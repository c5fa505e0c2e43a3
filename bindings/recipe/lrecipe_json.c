/* lrecipe_json.c -- tables of Lua as JSON text, for recipes.  Depends on: lrecipe.h.  Used by: lrecipe.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/recipe/lrecipe.h"

#define DEPTH 8 /* tables within tables: a recipe has four */

static void push_value(lua_State *L, int index, int depth);

static void push_text(lua_State *L, int index)
{
    size_t length;
    const char *text = lua_tolstring(L, index, &length);
    luaL_Buffer json;
    char escaped[8];

    luaL_buffinit(L, &json);
    luaL_addchar(&json, '"');
    for (size_t k = 0; k < length; k++) {
        unsigned char byte = (unsigned char)text[k];

        if (byte == '"' || byte == '\\')
            luaL_addchar(&json, '\\');
        if (byte < 0x20) {
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            luaL_addstring(&json, escaped);
        } else {
            luaL_addchar(&json, (char)byte);
        }
    }
    luaL_addchar(&json, '"');
    luaL_pushresult(&json);
}

static void push_number(lua_State *L, int index)
{
    char digits[40], *comma;

    if (!isfinite(lua_tonumber(L, index)))
        pnl_error(L, "recipe: numbers must be finite, got %s", pnl_got(L, index));
    (void)snprintf(digits, sizeof digits, "%.17g", lua_tonumber(L, index));
    comma = strchr(digits, ','); /* of the user's locale */
    if (comma)
        *comma = '.';
    lua_pushstring(L, digits);
}

/* The strings of the list on the top, joined by commas within two brackets, in its place. */
static void join(lua_State *L, const char *open, const char *close)
{
    int list = lua_gettop(L);
    lua_Integer count = (lua_Integer)lua_rawlen(L, list);
    luaL_Buffer json;

    luaL_buffinit(L, &json);
    luaL_addstring(&json, open);
    for (lua_Integer k = 1; k <= count; k++) {
        if (k > 1)
            luaL_addchar(&json, ',');
        lua_rawgeti(L, list, k);
        luaL_addvalue(&json);
    }
    luaL_addstring(&json, close);
    luaL_pushresult(&json);
    lua_replace(L, list);
}

static void push_list(lua_State *L, int table, int depth)
{
    lua_Integer count = (lua_Integer)lua_rawlen(L, table);
    int pieces;

    lua_newtable(L);
    pieces = lua_gettop(L);
    for (lua_Integer k = 1; k <= count; k++) {
        lua_rawgeti(L, table, k);
        push_value(L, lua_gettop(L), depth);
        lua_rawseti(L, pieces, k);
        lua_settop(L, pieces);
    }
    join(L, "[", "]");
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool in_list(lua_State *L, int index, size_t count)
{
    return lua_isinteger(L, index) && lua_tointeger(L, index) >= 1 && (size_t)lua_tointeger(L, index) <= count;
}

/* Push a userdata with the names of the table, sorted; they belong to it. */
static const char **push_names(lua_State *L, int table, size_t *count)
{
    size_t listed = lua_rawlen(L, table), used = 0;
    const char **names;

    *count = 0;
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (in_list(L, -2, listed))
            continue;
        if (lua_type(L, -2) != LUA_TSTRING)
            pnl_error(L, "recipe: tables have names, or a list without holes; got the key %s", pnl_got(L, -2));
        ++*count;
    }
    names = lua_newuserdatauv(L, (*count + 1) * sizeof *names, 0);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (!in_list(L, -2, listed) && used < *count)
            names[used++] = lua_tostring(L, -2);
    }
    qsort(names, used, sizeof *names, compare);
    return names;
}

static void push_entry(lua_State *L, int key, int value, int depth)
{
    push_text(L, key);
    lua_pushliteral(L, ":");
    push_value(L, value, depth);
    lua_concat(L, 3);
}

static void push_object(lua_State *L, int table, const char **names, size_t count, int depth)
{
    int pieces;

    lua_newtable(L);
    pieces = lua_gettop(L);
    for (size_t k = 0; k < count; k++) {
        lua_pushstring(L, names[k]);
        lua_pushvalue(L, -1);
        lua_rawget(L, table);
        push_entry(L, pieces + 1, pieces + 2, depth);
        lua_rawseti(L, pieces, (lua_Integer)k + 1);
        lua_settop(L, pieces);
    }
    if (lua_rawlen(L, table) > 0) {
        lua_pushliteral(L, "\"values\":");
        push_list(L, table, depth);
        lua_concat(L, 2);
        lua_rawseti(L, pieces, (lua_Integer)count + 1);
    }
    join(L, "{", "}");
}

static void push_table(lua_State *L, int table, int depth)
{
    const char **names;
    size_t count;

    luaL_checkstack(L, 16, "recipe");
    if (depth == 0)
        pnl_error(L, "recipe: tables are nested too deeply");
    names = push_names(L, table, &count);
    if (count == 0 && lua_rawlen(L, table) > 0)
        push_list(L, table, depth - 1);
    else
        push_object(L, table, names, count, depth - 1);
    lua_replace(L, -2); /* the names */
}

static void push_value(lua_State *L, int index, int depth)
{
    switch (lua_type(L, index)) {
    case LUA_TTABLE:
        push_table(L, index, depth);
        break;
    case LUA_TSTRING:
        push_text(L, index);
        break;
    case LUA_TNUMBER:
        push_number(L, index);
        break;
    case LUA_TBOOLEAN:
        lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
        break;
    default:
        pnl_error(L, "recipe: holds texts, numbers, true, false and tables of them, got %s", pnl_got(L, index));
    }
}

void pnl_recipe_push_json(lua_State *L, int index)
{
    push_value(L, index, DEPTH);
}
