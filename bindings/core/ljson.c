/* ljson.c -- see ljson.h.  Depends on: jansson.  Used by: ljson.h's callers.
 *
 * What builds a JSON tree calls nothing of Lua's that raises, so that the tree has one owner; what builds Lua values
 * of a tree may raise, so that there a userdata owns it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "bindings/core/ljson.h"
#include "core/json.h"
#include "core/text.h"

#define DEPTH     40 /* tables within tables */
#define NO_MEMORY "out of memory"

static const char empty_key = 'e';

void pnl_json_empty_list(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &empty_key) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &empty_key);
}

/* ---- to JSON ---- */

typedef struct encoder {
    lua_State *L;
    const void *empty_list;
    const char *wrong; /* static: what cannot be said, with %s for the value at `at` */
    int at;            /* stack index */
} encoder;

static json_t *refuse(encoder *self, const char *wrong, int at)
{
    if (!self->wrong) {
        self->wrong = wrong;
        self->at = at;
    }
    return NULL;
}

static json_t *value_of(encoder *self, int index, int depth);

static json_t *text_of(encoder *self, int index)
{
    size_t length;
    const char *text = lua_tolstring(self->L, index, &length);
    json_t *made = json_stringn(text, length);

    if (made)
        return made;
    return refuse(self, pn_text_is_utf8(text, length) ? NO_MEMORY : "expected text in UTF-8, got %s", index);
}

static json_t *number_of(encoder *self, int index)
{
    double number = lua_tonumber(self->L, index);

    if (lua_isinteger(self->L, index))
        return json_integer(lua_tointeger(self->L, index));
    if (!isfinite(number))
        return refuse(self, "numbers must be finite, got %s", index);
    return number == rint(number) && fabs(number) < 0x1p53 ? json_integer((json_int_t)number) : json_real(number);
}

/* Of the list part of the table at `index`. */
static json_t *list_of(encoder *self, int index, int depth)
{
    lua_State *L = self->L;
    json_t *list = json_array();
    lua_Integer count = (lua_Integer)lua_rawlen(L, index);

    for (lua_Integer k = 1; list && k <= count && !self->wrong; k++) {
        lua_rawgeti(L, index, k);
        if (json_array_append_new(list, value_of(self, lua_gettop(L), depth)) != 0)
            (void)refuse(self, NO_MEMORY, 0);
        if (!self->wrong)
            lua_pop(L, 1);
    }
    return list ? list : refuse(self, NO_MEMORY, 0);
}

static bool in_list(lua_State *L, int index, size_t count)
{
    return lua_isinteger(L, index) && lua_tointeger(L, index) >= 1 && (size_t)lua_tointeger(L, index) <= count;
}

/* The key below the value on the top. */
static void set_field(encoder *self, json_t *object, int top, int depth)
{
    const char *name = lua_tostring(self->L, top - 1);
    json_t *value = value_of(self, top, depth);

    if (value && json_object_set_new(object, name, value) == 0)
        return;
    if (value && !pn_text_is_utf8(name, strlen(name)))
        (void)refuse(self, "expected names in UTF-8, got %s", top - 1);
    else
        (void)refuse(self, NO_MEMORY, 0);
}

static json_t *object_of(encoder *self, int index, int depth)
{
    lua_State *L = self->L;
    size_t listed = lua_rawlen(L, index);
    json_t *object = json_object();

    for (lua_pushnil(L); object && lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (in_list(L, -2, listed))
            continue;
        if (lua_type(L, -2) != LUA_TSTRING)
            (void)refuse(self, "expected a table of names or a list without holes, got the key %s", lua_gettop(L) - 1);
        else
            set_field(self, object, lua_gettop(L), depth);
        if (self->wrong) /* what the message shows stays */
            return object;
    }
    if (listed > 0 && json_object_set_new(object, "values", list_of(self, index, depth)) != 0)
        (void)refuse(self, NO_MEMORY, 0);
    return object ? object : refuse(self, NO_MEMORY, 0);
}

static bool has_names(lua_State *L, int index)
{
    size_t listed = lua_rawlen(L, index);

    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
        if (!in_list(L, -2, listed)) {
            lua_pop(L, 2);
            return true;
        }
    }
    return false;
}

static json_t *table_of(encoder *self, int index, int depth)
{
    lua_State *L = self->L;
    json_t *made;

    if (depth == 0)
        return refuse(self, "tables are nested too deeply", 0);
    if (!lua_checkstack(L, 16))
        return refuse(self, NO_MEMORY, 0);
    if (lua_topointer(L, index) == self->empty_list)
        return json_array();
    made = lua_rawlen(L, index) > 0 && !has_names(L, index) ? list_of(self, index, depth - 1)
                                                            : object_of(self, index, depth - 1);
    if (self->wrong) {
        json_decref(made);
        return NULL;
    }
    return made;
}

static json_t *value_of(encoder *self, int index, int depth)
{
    if (lua_islightuserdata(self->L, index) && !lua_touserdata(self->L, index))
        return json_null();
    switch (lua_type(self->L, index)) {
    case LUA_TTABLE:
        return table_of(self, index, depth);
    case LUA_TSTRING:
        return text_of(self, index);
    case LUA_TNUMBER:
        return number_of(self, index);
    case LUA_TBOOLEAN:
        return json_boolean(lua_toboolean(self->L, index));
    default:
        return refuse(self, "expected strings, numbers, booleans and tables of them, got %s", index);
    }
}

/* A userdata of one tree, or of one text of jansson's. */
typedef struct holder {
    json_t *tree;
    char *text;
} holder;

static int release(lua_State *L)
{
    holder *self = lua_touserdata(L, 1);

    json_decref(self->tree);
    free(self->text);
    self->tree = NULL;
    self->text = NULL;
    return 0;
}

static holder *new_holder(lua_State *L)
{
    holder *self = lua_newuserdatauv(L, sizeof *self, 0);

    *self = (holder){ NULL, NULL };
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    return self;
}

void pnl_push_json(lua_State *L, int index, const char *owner)
{
    encoder self = { .L = L };
    int top;
    holder *kept;

    index = lua_absindex(L, index);
    pnl_json_empty_list(L);
    self.empty_list = lua_topointer(L, -1);
    kept = new_holder(L);
    top = lua_gettop(L);
    kept->tree = value_of(&self, index, DEPTH);
    if (self.wrong) {
        lua_pushfstring(L, self.wrong, self.at ? pnl_got(L, self.at) : "");
        pnl_error(L, "%s: %s", owner, lua_tostring(L, -1));
    }
    kept->text = json_dumps(kept->tree, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    if (!kept->text)
        pnl_error(L, "%s: " NO_MEMORY, owner);
    lua_settop(L, top);
    lua_pushstring(L, kept->text);
    lua_replace(L, top - 1); /* of the empty list */
    lua_pushcfunction(L, release);
    lua_pushvalue(L, top);
    lua_call(L, 1, 0);
    lua_settop(L, top - 1);
}

/* ---- from JSON ---- */

static void push_tree(lua_State *L, const json_t *tree)
{
    const char *name;
    json_t *entry;
    size_t k;

    luaL_checkstack(L, 4, "JSON: too deep");
    switch (json_typeof(tree)) {
    case JSON_OBJECT:
        lua_newtable(L);
        json_object_foreach((json_t *)(uintptr_t)tree, name, entry)
        {
            push_tree(L, entry);
            lua_setfield(L, -2, name);
        }
        break;
    case JSON_ARRAY:
        lua_createtable(L, (int)json_array_size(tree), 0);
        json_array_foreach(tree, k, entry)
        {
            push_tree(L, entry);
            lua_rawseti(L, -2, (lua_Integer)k + 1);
        }
        break;
    case JSON_STRING:
        lua_pushlstring(L, json_string_value(tree), json_string_length(tree));
        break;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(tree));
        break;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(tree));
        break;
    case JSON_NULL:
        lua_pushnil(L);
        break;
    default:
        lua_pushboolean(L, json_is_true(tree));
    }
}

bool pnl_push_of_json(lua_State *L, const char *text, size_t length)
{
    holder *kept = new_holder(L);
    json_error_t wrong;
    bool fine;

    kept->tree = json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &wrong);
    fine = kept->tree != NULL;
    if (fine)
        push_tree(L, kept->tree);
    else if (pn_json_status(&wrong) == PN_ENOMEM)
        lua_pushliteral(L, NO_MEMORY);
    else
        lua_pushfstring(L, "line %d, column %d: %s", wrong.line, wrong.column, wrong.text);
    lua_remove(L, -2); /* the collector releases the tree */
    return fine;
}
