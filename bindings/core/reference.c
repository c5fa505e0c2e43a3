/* reference.c -- the reference that help, completion and the curator's sandbox read: an entry for every row, made when
 * it is first asked for by opening all parts of the module once more.  Depends on: reference.h.  Used by: pnl.c,
 * bindings with generated constructors. */
#include "bindings/core/reference.h"

static const char reference_key = 'r';

bool pnl_documenting(lua_State *L)
{
    bool documenting = lua_rawgetp(L, LUA_REGISTRYINDEX, &reference_key) == LUA_TTABLE;

    lua_pop(L, 1);
    return documenting;
}

void pnl_push_reference(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &reference_key) == LUA_TTABLE)
        return;
    lua_newtable(L);
    lua_replace(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &reference_key);
    lua_pushcfunction(L, pnl_document);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) { /* half a reference would look like a whole one */
        lua_pushnil(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &reference_key);
        lua_error(L);
    }
}

void pnl_forget_reference(lua_State *L)
{
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &reference_key);
}

/* Sets `default` in the table on the top. */
static void push_default(lua_State *L, const pn_param *param)
{
    if (param->kind == PN_FLAG)
        lua_pushboolean(L, param->fallback != 0.0);
    else if (pn_param_names(param))
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
        if (pn_param_names(&params[i])) {
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

void pnl_enter(lua_State *L, const char *place, const char *separator, const pnl_row *row, const char *source,
               const pn_param *params)
{
    static const char *const kinds[] = { "function", "method", "field", "meta" };
    char touches[100];

    if (!pnl_documenting(L))
        return;
    pnl_push_reference(L);
    lua_pushfstring(L, "%s%s%s", place, separator, row->name);
    lua_createtable(L, 0, 6);
    set_text(L, "signature", row->signature);
    set_text(L, "doc", row->doc);
    set_text(L, "reveals", pnl_reveals_name(row->reveals));
    set_text(L, "touches", pnl_touches_text(row->reveals, touches, sizeof touches));
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

    pnl_enter(L, library, library[0] ? "." : "", &row, source, params);
}

void pnl_enter_class(lua_State *L, const pnl_class *cls)
{
    if (!pnl_documenting(L))
        return;
    pnl_push_reference(L);
    lua_createtable(L, 0, 4);
    set_text(L, "doc", cls->doc);
    set_text(L, "kind", "class");
    set_text(L, "reveals", "nothing");
    set_text(L, "signature", cls->name);
    lua_setfield(L, -2, cls->name);
    lua_pop(L, 1);
    for (const pnl_row *row = cls->rows; row && row->name; row++)
        pnl_enter(L, cls->name, row->kind == PNL_METHOD ? ":" : ".", row, NULL, NULL);
}

void pnl_enter_library(lua_State *L, const char *library, const char *doc)
{
    pnl_row entry = { library, NULL, PNL_FUNCTION, PNL_NOTHING, library, doc };

    if (!pnl_documenting(L))
        return;
    pnl_enter(L, "", "", &entry, NULL, NULL);
    pnl_push_reference(L);
    lua_getfield(L, -1, library);
    set_text(L, "kind", "library");
    lua_pop(L, 2);
}
