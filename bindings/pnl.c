/* pnl.c -- boxes, classes with documented rows, and the reference that help and the curator's sandbox read.
 * Depends on: pnl.h.  Used by: every binding.
 *
 * A box is a userdata { pointer, busy }.  Its class pointer is the light-userdata key of its metatable in the registry, so
 * two libraries with a class of the same name cannot be mixed up. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pnl.h"

typedef struct box {
    void *object; /* first: pnl_newbox returns its address */
    int busy;     /* so many calls into the runtime are using it */
    bool pinned;  /* another object rests on it: only the collector, which knows when that one is gone, may free it */
} box;

static const char reference_key = 'r';

const char *pnl_reveals_name(pnl_reveals reveals)
{
    static const char *const names[] = { "nothing", "paid", "raw" };

    return names[reveals];
}

/* ---- errors ---- */

static const char error_key = 'e', failure_key = 'f';

void pnl_set_error(lua_State *L)
{
    lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
}

void pnl_push_failure(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &failure_key);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_key);
}

void pnl_status(lua_State *L, pn_status status, const pn_err *err)
{
    if (status == PN_OK)
        return;
    lua_pushstring(L, pn_status_name(status) + strlen("PN_"));
    lua_rawsetp(L, LUA_REGISTRYINDEX, &failure_key);
    if (status == PN_ECALLBACK) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key);
        lua_pushnil(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
        if (!lua_isnil(L, -1))
            lua_error(L);
        lua_pop(L, 1);
    }
    luaL_error(L, "%s", err->message);
}

int pnl_error(lua_State *L, const char *format, ...)
{
    char message[PN_ERR_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return luaL_error(L, "%s", message);
}

/* ---- boxes ---- */

void **pnl_newbox(lua_State *L, const pnl_class *cls)
{
    box *self = lua_newuserdatauv(L, sizeof *self, 1);

    self->object = NULL;
    self->busy = 0;
    self->pinned = false;
    pnl_register(L, cls);
    lua_rawgetp(L, LUA_REGISTRYINDEX, cls);
    lua_setmetatable(L, -2);
    return &self->object;
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

void *pnl_check(lua_State *L, int index, const pnl_class *cls)
{
    box *self = to_box(L, index, cls);

    if (!self)
        luaL_typeerror(L, index, cls->name);
    if (!self->object)
        luaL_argerror(L, index, "this object is closed");
    return self->object;
}

/* Every box's metatable carries this key. */
static const char box_key = 'b';

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

/* ---- the reference ---- */

void pnl_push_reference(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &reference_key) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &reference_key);
}

/* Sets `default` in the table on the top. */
static void push_default(lua_State *L, const pn_param *param)
{
    if (param->kind == PN_FLAG)
        lua_pushboolean(L, param->fallback != 0.0);
    else if (param->kind == PN_CHOICE)
        lua_pushstring(L, param->choices[(size_t)param->fallback]);
    else if (param->kind == PN_COUNT)
        lua_pushinteger(L, (lua_Integer)param->fallback);
    else
        lua_pushnumber(L, param->fallback);
    lua_setfield(L, -2, "default");
}

static void push_params(lua_State *L, const pn_param *params)
{
    lua_newtable(L);
    for (size_t i = 0; params && params[i].name; i++) {
        lua_createtable(L, 0, 6);
        lua_pushstring(L, params[i].name);
        lua_setfield(L, -2, "name");
        if (params[i].kind == PN_OBJECT && params[i].choices)
            lua_pushfstring(L, "a %s", params[i].choices[0]);
        else
            lua_pushstring(L, pn_param_expects(&params[i]));
        lua_setfield(L, -2, "expects");
        lua_pushstring(L, params[i].doc);
        lua_setfield(L, -2, "doc");
        lua_pushboolean(L, params[i].need == PN_REQUIRED);
        lua_setfield(L, -2, "required");
        if (pn_param_has_default(&params[i]))
            push_default(L, &params[i]);
        if (params[i].kind == PN_CHOICE) {
            lua_newtable(L);
            for (size_t c = 0; params[i].choices[c]; c++) {
                lua_pushstring(L, params[i].choices[c]);
                lua_rawseti(L, -2, (lua_Integer)c + 1);
            }
            lua_setfield(L, -2, "choices");
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

static void set_text(lua_State *L, const char *field, const char *text)
{
    if (text) {
        lua_pushstring(L, text);
        lua_setfield(L, -2, field);
    }
}

/* Enters the row under "<place><separator><name>". */
static void enter(lua_State *L, const char *place, const char *separator, const pnl_row *row, const char *source,
                  const pn_param *params)
{
    static const char *const kinds[] = { "function", "method", "field", "meta" };

    pnl_push_reference(L);
    lua_pushfstring(L, "%s%s%s", place, separator, row->name);
    lua_createtable(L, 0, 6);
    set_text(L, "signature", row->signature);
    set_text(L, "doc", row->doc);
    set_text(L, "reveals", pnl_reveals_name(row->reveals));
    set_text(L, "kind", kinds[row->kind]);
    set_text(L, "source", source);
    if (params) {
        push_params(L, params);
        lua_setfield(L, -2, "params");
    }
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

void pnl_reference(lua_State *L, const char *library, const char *name, pnl_reveals reveals, const char *signature,
                   const char *doc, const char *source, const pn_param *params)
{
    pnl_row row = { name, NULL, PNL_FUNCTION, reveals, signature, doc };

    enter(L, library, library[0] ? "." : "", &row, source, params);
}

/* ---- classes ---- */

/* upvalues: 1 fields (name -> getter), 2 methods (name -> function), 3 fallback or nil, 4 class name */
static int class_index(lua_State *L)
{
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
    if (lua_isnil(L, lua_upvalueindex(3))) {
        return luaL_error(L, "%s has no field '%s'; help \"%s\" lists what it has",
                          lua_tostring(L, lua_upvalueindex(4)), luaL_tolstring(L, 2, NULL),
                          lua_tostring(L, lua_upvalueindex(4)));
    }
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(3));
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
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

        lua_pushcfunction(L, row->fn);
        lua_setfield(L, into, row->name);
        enter(L, cls->name, row->kind == PNL_METHOD ? ":" : ".", row, NULL, NULL);
    }
    lua_pushvalue(L, metatable + 1);
    lua_setfield(L, metatable, "__fields"); /* for completion */
    lua_pushvalue(L, metatable + 2);
    lua_setfield(L, metatable, "__methods");
    if (cls->index)
        lua_pushcfunction(L, cls->index);
    else
        lua_pushnil(L);
    lua_pushstring(L, cls->name);
    lua_pushcclosure(L, class_index, 4);
    lua_setfield(L, metatable, "__index");
}

void pnl_register(lua_State *L, const pnl_class *cls)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, cls) == LUA_TTABLE) {
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
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

    pnl_push_reference(L);
    lua_createtable(L, 0, 2);
    set_text(L, "doc", cls->doc);
    set_text(L, "kind", "class");
    set_text(L, "reveals", "nothing");
    set_text(L, "signature", cls->name);
    lua_setfield(L, -2, cls->name);
    lua_pop(L, 1);
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
        lua_pushcfunction(L, row->fn);
        lua_setfield(L, -2, row->name);
        enter(L, library, library[0] ? "." : "", row, NULL, NULL);
    }
    if (library[0]) {
        pnl_row entry = { library, NULL, PNL_FUNCTION, PNL_NOTHING, library, doc };

        enter(L, "", "", &entry, NULL, NULL);
        pnl_push_reference(L);
        lua_getfield(L, -1, library);
        set_text(L, "kind", "library");
        lua_pop(L, 2);
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
