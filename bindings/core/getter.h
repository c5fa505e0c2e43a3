/* getter.h -- fields of objects that are one expression, pushed by its type.  Depends on: Lua.  Used by: bindings. */
#ifndef PNL_GETTER_H
#define PNL_GETTER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

static inline void pnl_push_whole(lua_State *L, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
}

static inline void pnl_push_bool(lua_State *L, bool value)
{
    lua_pushboolean(L, value);
}

static inline void pnl_push_text(lua_State *L, const char *text)
{
    lua_pushstring(L, text); /* nil for NULL */
}

static inline void pnl_push_known(lua_State *L, double value)
{
    if (isnan(value))
        lua_pushnil(L);
    else
        lua_pushnumber(L, value);
}

#define PNL_PUSH(L, value)                                                                                             \
    _Generic((value),                                                                                                  \
        double: lua_pushnumber,                                                                                        \
        unsigned long: pnl_push_whole,                                                                                 \
        unsigned long long: pnl_push_whole,                                                                            \
        bool: pnl_push_bool,                                                                                           \
        char *: pnl_push_text,                                                                                         \
        const char *: pnl_push_text)(L, value)

/* The getter `name` of an expression of L, for a row of PNL_FIELD. */
#define PNL_GETTER(name, value)                                                                                        \
    static int name(lua_State *L)                                                                                      \
    {                                                                                                                  \
        PNL_PUSH(L, value);                                                                                            \
        return 1;                                                                                                      \
    }                                                                                                                  \
    _Static_assert(true, "")

/* Likewise of a number, nil for NaN. */
#define PNL_GETTER_KNOWN(name, value)                                                                                  \
    static int name(lua_State *L)                                                                                      \
    {                                                                                                                  \
        pnl_push_known(L, value);                                                                                      \
        return 1;                                                                                                      \
    }                                                                                                                  \
    _Static_assert(true, "")

/* Likewise, nil where the condition does not hold. */
#define PNL_GETTER_IF(name, condition, value)                                                                          \
    static int name(lua_State *L)                                                                                      \
    {                                                                                                                  \
        if (condition)                                                                                                 \
            PNL_PUSH(L, value);                                                                                        \
        else                                                                                                           \
            lua_pushnil(L);                                                                                            \
        return 1;                                                                                                      \
    }                                                                                                                  \
    _Static_assert(true, "")

#endif
