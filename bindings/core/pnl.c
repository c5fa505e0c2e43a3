/* pnl.c -- boxes, and classes with documented rows.
 * Depends on: pnl.h, reference.h.  Used by: every binding.
 *
 * A box is a userdata { pointer, busy }.  Its class pointer is the light-userdata key of its metatable in the registry,
 * so two libraries with a class of the same name cannot be mixed up. */
#include <stdio.h>
#include <string.h>

#include "bindings/core/lprint.h"
#include "bindings/core/pnl.h"
#include "bindings/core/reference.h"
#include "core/account.h"

typedef struct box {
    void *object;  /* first: pnl_newbox returns its address */
    int busy;      /* so many calls into the runtime are using it */
    bool pinned;   /* another object rests on it: only the collector, which knows when that one is gone, may free it */
    bool borrowed; /* somebody else frees the object */
} box;

/* ---- boxes ---- */

/* Lua's collector does not see the runtime's memory: before it runs short under a host's limit,
 * dead objects must go. */
static void collect_when_short(lua_State *L)
{
    pn_account *account = pn_account_current();

    if (!pn_account_pressed(account))
        return;
    lua_gc(L, LUA_GCCOLLECT);
    pn_account_rest(account);
}

void **pnl_newbox(lua_State *L, const pnl_class *cls)
{
    box *self;

    collect_when_short(L);
    self = lua_newuserdatauv(L, sizeof *self, 1);
    self->object = NULL;
    self->busy = 0;
    self->pinned = self->borrowed = false;
    pnl_register(L, cls);
    lua_rawgetp(L, LUA_REGISTRYINDEX, cls);
    lua_setmetatable(L, -2);
    return &self->object;
}

void pnl_borrow(lua_State *L, const pnl_class *cls, void *object)
{
    box *self = (box *)pnl_newbox(L, cls); /* the object is its first member */

    self->object = object;
    self->borrowed = true;
}

static box *to_box(lua_State *L, int index, const pnl_class *cls)
{
    box *self = lua_touserdata(L, index);
    bool same;

    if (!self || lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index))
        return NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, cls);
    same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same ? self : NULL;
}

bool pnl_release(lua_State *L, int index, const pnl_class *cls)
{
    box *self = to_box(L, index, cls);

    if (self && self->busy)
        return false;
    if (self && self->object) {
        void *object = self->object;

        self->object = NULL;
        if (!self->borrowed)
            cls->free(object);
    }
    return true;
}

/* __gc is called with the object, __close with the object and an error or nil. */
static int box_release(lua_State *L)
{
    const pnl_class *cls = lua_touserdata(L, lua_upvalueindex(1));
    bool closing = lua_gettop(L) > 1;
    const box *self = to_box(L, 1, cls);

    if (self && !(closing && self->pinned))
        (void)pnl_release(L, 1, cls);
    return 0;
}

void *pnl_test(lua_State *L, int index, const pnl_class *cls)
{
    box *self = to_box(L, index, cls);

    return self ? self->object : NULL;
}

/* Every box's metatable carries this key. */
static const char box_key = 'b';

void pnl_forget_classes(lua_State *L, const pnl_class *but)
{
    int top = lua_gettop(L);

    pnl_forget_reference(L);
    lua_pushnil(L);
    while (lua_next(L, LUA_REGISTRYINDEX)) {
        bool found = lua_istable(L, -1) && lua_touserdata(L, -2) != but && lua_rawgetp(L, -1, &box_key) != LUA_TNIL;

        lua_settop(L, top + 1);
        if (found) { /* an entry that is there may be cleared on the way */
            lua_pushvalue(L, -1);
            lua_pushnil(L);
            lua_rawset(L, LUA_REGISTRYINDEX);
        }
    }
}

static bool is_closed(lua_State *L, int index)
{
    const box *self = lua_touserdata(L, index);
    bool closed = false;

    if (lua_type(L, index) == LUA_TUSERDATA && lua_getmetatable(L, index)) {
        closed = lua_rawgetp(L, -1, &box_key) != LUA_TNIL && !self->object;
        lua_pop(L, 2);
    }
    return closed;
}

const char *pnl_got(lua_State *L, int index)
{
    int type = lua_type(L, index);
    char text[80];

    index = lua_absindex(L, index);
    if (type == LUA_TNONE)
        return "nothing";
    if (type == LUA_TSTRING) {
        (void)snprintf(text, sizeof text, "%.60s%s", lua_tostring(L, index), lua_rawlen(L, index) > 60 ? "..." : "");
        return lua_pushfstring(L, "the string \"%s\"", text);
    }
    if (type == LUA_TNUMBER && lua_tonumber(L, index) != lua_tonumber(L, index))
        return "nan"; /* Lua prints the sign of some */
    if (type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TNIL)
        return luaL_tolstring(L, index, NULL);
    /* What it is: an address or pages of text help nobody. */
    if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING)
        return lua_pushfstring(L, is_closed(L, index) ? "a closed %s" : "a %s", lua_tostring(L, -1));
    return lua_pushfstring(L, "a %s", luaL_typename(L, index));
}

/* Counted as the caller does: what a method or a callable object is called on is no argument. */
static int argument_number(lua_State *L, int index, const char *namewhat)
{
    bool on_object = strcmp(namewhat, "method") == 0 || luaL_getmetafield(L, 1, "__call") != LUA_TNIL;

    return on_object ? index - 1 : index;
}

int pnl_wrong_argument(lua_State *L, int index, const char *expected)
{
    const char *got = pnl_got(L, index);
    lua_Debug at = { 0 };
    int number;

    if (!lua_getstack(L, 0, &at) || !lua_getinfo(L, "n", &at) || !at.name)
        return luaL_error(L, "expected %s, got %s", expected, got);
    number = argument_number(L, lua_absindex(L, index), at.namewhat);
    if (number == 0)
        return luaL_error(L, "%s: expected %s before the colon, got %s", at.name, expected, got);
    return luaL_error(L, "%s: argument %d must be %s, got %s", at.name, number, expected, got);
}

/* d.take(5): the first argument is no data set, and `take` is a method of data sets. */
static void check_colon(lua_State *L, const pnl_class *cls)
{
    int top = lua_gettop(L); /* what is pushed would stand where an argument is missing */
    lua_Debug at = { 0 };

    if (!lua_getstack(L, 0, &at) || !lua_getinfo(L, "n", &at) || !at.name || strcmp(at.namewhat, "method") == 0)
        return;
    pnl_register(L, cls);
    lua_rawgetp(L, LUA_REGISTRYINDEX, cls);
    if (lua_getfield(L, -1, "__methods") == LUA_TTABLE && lua_getfield(L, -1, at.name) != LUA_TNIL)
        luaL_error(L, "%s is a method of %s: call it with a colon, as in x:%s(...)", at.name, cls->name, at.name);
    lua_settop(L, top);
}

void *pnl_check(lua_State *L, int index, const pnl_class *cls)
{
    box *self = to_box(L, index, cls);
    char expected[64];

    if (self && self->object)
        return self->object;
    if (!self && lua_absindex(L, index) == 1)
        check_colon(L, cls);
    (void)snprintf(expected, sizeof expected, "%s %s", self ? "an open" : "a", cls->name);
    pnl_wrong_argument(L, index, expected);
    return NULL;
}

const char *pnl_text(lua_State *L, int index)
{
    int type = lua_type(L, index);
    bool plain = type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING;

    if (!plain && luaL_getmetafield(L, index, "__tostring") == LUA_TNIL)
        return lua_pushfstring(L, "a %s", luaL_typename(L, index));
    if (!plain)
        lua_pop(L, 1);
    return luaL_tolstring(L, index, NULL);
}

void pnl_pin(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index))
        return;
    if (lua_rawgetp(L, -1, &box_key) != LUA_TNIL)
        ((box *)lua_touserdata(L, index))->pinned = true;
    lua_pop(L, 2);
}

void pnl_keep(lua_State *L, int box_index, int other)
{
    box_index = lua_absindex(L, box_index);
    other = lua_absindex(L, other);
    if (lua_getiuservalue(L, box_index, 1) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setiuservalue(L, box_index, 1);
    }
    lua_pushvalue(L, other);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
    pnl_pin(L, other);
}

void pnl_busy(lua_State *L, int index, bool busy)
{
    box *self = lua_touserdata(L, index);

    self->busy += busy ? 1 : -1;
}

void pnl_weight(lua_State *L, size_t bytes)
{
    /* A step of the collector in proportion: enough that dropped data sets go before the next few are made. */
    if (bytes >= (size_t)1 << 20)
        lua_gc(L, LUA_GCSTEP, (int)((bytes >> 10) < 1 << 20 ? bytes >> 10 : 1 << 20));
}

/* ---- classes ---- */

/* upvalues: 1 fields (name -> getter), 2 methods (name -> function), 3 the class */
static int class_index(lua_State *L)
{
    const pnl_class *cls = lua_touserdata(L, lua_upvalueindex(3));

    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL)
            return 1;
        lua_pop(L, 1);
        lua_pushvalue(L, 2);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
            lua_pushvalue(L, 1);
            lua_call(L, 1, 1);
            return 1;
        }
        lua_pop(L, 1);
    }
    if (!cls->index)
        return luaL_error(L, "%s has no field '%s'; help \"%s\" lists what it has", cls->name, pnl_text(L, 2),
                          cls->name);
    lua_settop(L, 2);
    return cls->index(L); /* not by way of Lua: its errors then have the place of the caller */
}

static int immutable(lua_State *L)
{
    return luaL_error(L, "%s cannot be changed; methods return new objects", lua_tostring(L, lua_upvalueindex(1)));
}

/* The metatable is on the top. */
static void add_rows(lua_State *L, const pnl_class *cls)
{
    int metatable = lua_gettop(L);

    lua_newtable(L); /* fields */
    lua_newtable(L); /* methods */
    for (const pnl_row *row = cls->rows; row && row->name; row++) {
        int into = row->kind == PNL_FIELD ? metatable + 1 : row->kind == PNL_META ? metatable : metatable + 2;

        pnl_push_function(L, cls->name, row->kind == PNL_METHOD ? ":" : ".", row);
        lua_setfield(L, into, row->name);
    }
    lua_pushvalue(L, metatable + 1);
    lua_setfield(L, metatable, "__fields"); /* for completion */
    lua_pushvalue(L, metatable + 2);
    lua_setfield(L, metatable, "__methods");
    lua_pushlightuserdata(L, (void *)(size_t)cls);
    lua_pushcclosure(L, class_index, 3);
    lua_setfield(L, metatable, "__index");
}

static void make_class(lua_State *L, const pnl_class *cls)
{
    lua_newtable(L);
    add_rows(L, cls);
    lua_pushstring(L, cls->name);
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, true);
    lua_rawsetp(L, -2, &box_key);
    lua_pushlightuserdata(L, (void *)(size_t)cls);
    lua_pushcclosure(L, box_release, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__gc");
    lua_setfield(L, -2, "__close");
    lua_createtable(L, 0, 1); /* what getmetatable shows: no __gc or __close to be called by hand */
    lua_pushstring(L, cls->name);
    lua_setfield(L, -2, "__name");
    lua_setfield(L, -2, "__metatable");
    if (cls->newindex) {
        lua_pushcfunction(L, cls->newindex);
    } else {
        lua_pushstring(L, cls->name);
        lua_pushcclosure(L, immutable, 1);
    }
    lua_setfield(L, -2, "__newindex");
    lua_rawsetp(L, LUA_REGISTRYINDEX, cls);
}

/* upvalue 1: what makes the text */
static int wrapped_text(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    if (lua_type(L, -1) == LUA_TSTRING)
        pnl_wrap_lines(L);
    return 1;
}

/* Whatever an object prints ends at the last column. */
static void wrap_text_of(lua_State *L, const pnl_class *cls)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, cls);
    if (lua_getfield(L, -1, "__tostring") == LUA_TFUNCTION) {
        lua_pushcclosure(L, wrapped_text, 1);
        lua_setfield(L, -2, "__tostring");
    } else {
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void pnl_register(lua_State *L, const pnl_class *cls)
{
    bool known = lua_rawgetp(L, LUA_REGISTRYINDEX, cls) == LUA_TTABLE;

    lua_pop(L, 1);
    if (known)
        return;
    make_class(L, cls);
    wrap_text_of(L, cls);
}

void pnl_open_class(lua_State *L, const pnl_class *cls)
{
    pnl_register(L, cls);
    pnl_enter_class(L, cls);
}

/* upvalue 1: the library's name */
static int library_missing(lua_State *L)
{
    const char *library = lua_tostring(L, lua_upvalueindex(1));

    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    return luaL_error(L, "pn.%s has no '%s'; help \"%s\" lists what it has", library, lua_tostring(L, 2), library);
}

static int library_tostring(lua_State *L)
{
    lua_pushfstring(L, "library %s: help \"%s\" lists what it has", lua_tostring(L, lua_upvalueindex(1)),
                    lua_tostring(L, lua_upvalueindex(1)));
    return 1;
}

/* A misspelt name is an error that says so, and a library prints its name, not an address. */
static void set_library_class(lua_State *L, const char *library)
{
    lua_createtable(L, 0, 4);
    lua_pushliteral(L, "pn.library");
    lua_setfield(L, -2, "__name");
    lua_pushstring(L, library);
    lua_pushcclosure(L, library_missing, 1);
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, library);
    lua_pushcclosure(L, library_tostring, 1);
    lua_setfield(L, -2, "__tostring");
    lua_setmetatable(L, -2);
}

void pnl_library(lua_State *L, const char *library, const char *doc, const pnl_row *rows)
{
    lua_newtable(L);
    for (const pnl_row *row = rows; row && row->name; row++) {
        pnl_push_function(L, library, library[0] ? "." : "", row);
        lua_setfield(L, -2, row->name);
        pnl_enter(L, library, library[0] ? "." : "", row, NULL, NULL);
    }
    if (library[0]) {
        pnl_enter_library(L, library, doc);
        set_library_class(L, library);
    }
}

void pnl_push_weak(lua_State *L, const void *key)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}
