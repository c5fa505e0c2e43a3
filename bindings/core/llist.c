/* llist.c -- plain tables of results that print themselves: {true, false}, {epsilon = 1, delta = 1e-06}.
 * Depends on: pnl.h, host.h.  Used by: bindings that return lists or records. */
#include <stdlib.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/embed/host.h"

#define LINE_COLUMNS 80
#define MOST_SHOWN   100

static const char list_key = 'l';

/* The value on the top becomes its text, with strings quoted. */
static void to_text(lua_State *L)
{
    if (lua_type(L, -1) == LUA_TSTRING)
        lua_pushfstring(L, "\"%s\"", lua_tostring(L, -1));
    else
        (void)pnl_text(L, -1);
    lua_remove(L, -2);
}

/* The texts of the table's list part follow on the stack; returns how many. */
static int push_items(lua_State *L)
{
    lua_Unsigned count = lua_rawlen(L, 1);
    int shown = count < MOST_SHOWN ? (int)count : MOST_SHOWN;

    for (int i = 1; i <= shown; i++) {
        lua_rawgeti(L, 1, i);
        to_text(L);
    }
    if (count > MOST_SHOWN) {
        lua_pushfstring(L, "... %I more", (LUAI_UACINT)(count - MOST_SHOWN));
        shown++;
    }
    return shown;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* As push_items, "name = value" for the string keys in alphabetical order. */
static int push_fields(lua_State *L)
{
    const char *names[MOST_SHOWN];
    int count = 0;

    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING && count < MOST_SHOWN)
            names[count++] = lua_tostring(L, -1); /* the table keeps it */
    }
    qsort(names, (size_t)count, sizeof names[0], by_name);
    for (int i = 0; i < count; i++) {
        lua_getfield(L, 1, names[i]);
        to_text(L);
        lua_pushfstring(L, "%s = %s", names[i], lua_tostring(L, -1));
        lua_remove(L, -2);
    }
    return count;
}

/* Items stay whole where a line has room for one: a line ends between two of them. */
static int list_tostring(lua_State *L)
{
    luaL_Buffer text;
    size_t column = 1, length;
    int count;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    luaL_checkstack(L, 2 * MOST_SHOWN + 8, "list");
    count = push_items(L);
    count += push_fields(L);
    luaL_buffinit(L, &text);
    luaL_addchar(&text, '{');
    for (int i = 0; i < count; i++) {
        const char *item = lua_tolstring(L, 2 + i, &length);

        if (i > 0 && column + length + 3 > LINE_COLUMNS) {
            luaL_addstring(&text, ",\n    ");
            column = 4;
        } else if (i > 0) {
            luaL_addstring(&text, ", ");
            column += 2;
        }
        luaL_addlstring(&text, item, length);
        column += length;
    }
    luaL_addchar(&text, '}');
    luaL_pushresult(&text);
    pnl_wrap_lines(L);
    return 1;
}

void pnl_list(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_createtable(L, 0, 1);
        lua_pushcfunction(L, list_tostring);
        lua_setfield(L, -2, "__tostring");
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &list_key);
    }
    lua_setmetatable(L, -2);
}

#define MOST_ENTRIES ((size_t)1 << 30)
#define UNCHARGED    4096 /* entries */

void pnl_push_indices(lua_State *L, const char *owner, const size_t *indices, size_t count)
{
    if (count > MOST_ENTRIES)
        pnl_error(L, "%s: a list of %zu entries is too long; at most 2^30 fit into one", owner, count);
    lua_createtable(L, count < 1 << 20 ? (int)count : 0, 0);
    for (size_t i = 0; i < count; i++) {
        if (i % UNCHARGED == UNCHARGED - 1)
            pnl_host_charge(L, UNCHARGED);
        lua_pushinteger(L, (lua_Integer)(indices ? indices[i] : i) + 1);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    pnl_list(L);
}
