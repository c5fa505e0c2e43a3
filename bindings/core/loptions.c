/* loptions.c -- Lua option tables into pn_arg by the runtime's parameter tables; one wording for every constructor.
 * Depends on: pnl.h.  Used by: every binding that has options. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "bindings/core/pnl.h"
#include "core/size.h"

size_t pnl_check_word(lua_State *L, int index, const char *what)
{
    int exact = 0;
    lua_Integer value = lua_tointegerx(L, index, &exact);

    if (lua_type(L, index) != LUA_TNUMBER || !exact || value < 1)
        luaL_error(L, "%s must be a whole number from 1, got %s", what, pnl_got(L, index));
    return (size_t)value;
}

size_t pnl_check_count(lua_State *L, int index, const char *what)
{
    size_t value = pnl_check_word(L, index, what);

    if (value > PN_SIZE_MAX)
        luaL_error(L, "%s must be at most 2^48, got %s", what, pnl_got(L, index));
    return value;
}

double pnl_check_finite(lua_State *L, int index, const char *what)
{
    if (lua_type(L, index) != LUA_TNUMBER || !isfinite(lua_tonumber(L, index)))
        luaL_error(L, "%s must be a finite number, got %s", what, pnl_got(L, index));
    return lua_tonumber(L, index);
}

static const pnl_class *class_by_name(const char *name)
{
    static const pnl_class *const classes[] = {
        &pnl_event_class,     &pnl_dataset_class, &pnl_set_class,       &pnl_loss_class,           &pnl_reg_class,
        &pnl_objective_class, &pnl_ledger_class,  &pnl_rng_class,       &pnl_ranks_class,          &pnl_norm_class,
        &pnl_potential_class, &pnl_prox_class,    &pnl_transport_class, &pnl_block_sampling_class, NULL
    };

    return pn_table_find(classes, name);
}

static int wrong_type(lua_State *L, const char *owner, const pn_param *param)
{
    luaL_Buffer names;
    const char *got = pnl_got(L, -1);

    if (param->kind != PN_CHOICE)
        return luaL_error(L, "%s: %s must be %s, got %s", owner, param->name, pn_param_expects(param), got);
    luaL_buffinit(L, &names);
    for (size_t i = 0; param->choices[i]; i++) {
        luaL_addstring(&names, i == 0 ? "\"" : param->choices[i + 1] ? ", \"" : " or \"");
        luaL_addstring(&names, param->choices[i]);
        luaL_addstring(&names, "\"");
    }
    luaL_pushresult(&names);
    return luaL_error(L, "%s: %s must be %s, got %s", owner, param->name, lua_tostring(L, -1), got);
}

/* Within a group a vector is a matrix of one row, and a number one of a single entry. */
static pn_mat read_matrix(lua_State *L, const char *owner, const pn_param *param)
{
    bool in_group = strchr(param->name, '.') != NULL;
    char who[128];
    pn_mat one = { NULL, 1, 1 };

    if (in_group && lua_type(L, -1) == LUA_TNUMBER) {
        one.data = lua_newuserdatauv(L, sizeof(double), 0);
        one.data[0] = lua_tonumber(L, -2);
        return one;
    }
    if (in_group && pnl_test(L, -1, &pnl_vec_class)) {
        pn_vec row = pnl_check_vec(L, -1);

        return (pn_mat){ row.data, 1, row.n };
    }
    if (lua_type(L, -1) != LUA_TTABLE && !pnl_test(L, -1, &pnl_mat_class))
        wrong_type(L, owner, param);
    (void)snprintf(who, sizeof who, "%s: %s", owner, param->name);
    return pnl_check_mat_of(L, -1, who);
}

static pn_vec read_vector(lua_State *L, const char *owner, const pn_param *param)
{
    pn_vec read;

    if (lua_type(L, -1) != LUA_TTABLE && !pnl_test(L, -1, &pnl_vec_class))
        wrong_type(L, owner, param);
    lua_pushfstring(L, "%s: %s", owner, param->name);
    read = pnl_check_vec_of(L, -2, lua_tostring(L, -1));
    lua_pop(L, 1);
    return read;
}

/* Of a function the caller makes a pn_sequence. */
static void read_schedule(lua_State *L, const char *owner, const pn_param *param, pn_arg *arg)
{
    switch (lua_type(L, -1)) {
    case LUA_TNUMBER:
        arg->real = lua_tonumber(L, -1);
        break;
    case LUA_TFUNCTION:
        break;
    case LUA_TSTRING:
        if (!param->choices)
            wrong_type(L, owner, param);
        arg->text = lua_tostring(L, -1);
        break;
    default:
        arg->vector = read_vector(L, owner, param);
        if (arg->vector.n == 0)
            luaL_error(L, "%s: %s is an empty list; give %s", owner, param->name, pn_param_expects(param));
    }
}

/* The value is on the top of the stack and stays there: buffers must outlive the call. */
static void read_value(lua_State *L, const char *owner, const pn_param *param, pn_arg *arg)
{
    int type = lua_type(L, -1), exact = 0;

    arg->given = true;
    switch (param->kind) {
    case PN_REAL:
        if (type != LUA_TNUMBER)
            wrong_type(L, owner, param);
        arg->real = lua_tonumber(L, -1);
        break;
    case PN_COUNT: {
        lua_Integer value = lua_tointegerx(L, -1, &exact);

        if (type != LUA_TNUMBER || !exact || value < 1)
            wrong_type(L, owner, param);
        arg->count = (size_t)value;
        break;
    }
    case PN_FLAG:
        if (type != LUA_TBOOLEAN)
            wrong_type(L, owner, param);
        arg->flag = lua_toboolean(L, -1);
        break;
    case PN_CHOICE:
        if (type != LUA_TSTRING)
            wrong_type(L, owner, param);
        arg->text = lua_tostring(L, -1);
        break;
    case PN_VECTOR:
        arg->vector = read_vector(L, owner, param);
        break;
    case PN_SCHEDULE:
        read_schedule(L, owner, param, arg);
        break;
    case PN_MATRIX:
        arg->matrix = read_matrix(L, owner, param);
        break;
    case PN_OBJECT: {
        if (strcmp(param->choices[0], "function") == 0) { /* the caller makes a callback of it */
            if (type != LUA_TFUNCTION)
                luaL_error(L, "%s: %s must be a function, got %s", owner, param->name, pnl_got(L, -1));
            break;
        }
        const pnl_class *cls = class_by_name(param->choices[0]);

        arg->object = cls ? pnl_test(L, -1, cls) : NULL;
        if (!arg->object)
            luaL_error(L, "%s: %s must be a %s, got %s", owner, param->name, param->choices[0], pnl_got(L, -1));
        break;
    }
    }
}

static bool is_extra(const char *const *extra, const char *name)
{
    for (; extra && *extra; extra++) {
        if (strcmp(*extra, name) == 0)
            return true;
    }
    return false;
}

static void append_names(luaL_Buffer *names, const pn_param *params, bool *first)
{
    for (; params && params->name; params++) {
        if (params->name[0] == ' ') /* not for callers */
            continue;
        luaL_addstring(names, *first ? "" : ", ");
        luaL_addstring(names, params->name);
        *first = false;
    }
}

static void refuse_unknown(lua_State *L, const char *owner, const char *name, const pn_param *first,
                           const pn_param *second, const char *const *extra)
{
    luaL_Buffer names;
    bool none = true;

    luaL_buffinit(L, &names);
    append_names(&names, first, &none);
    append_names(&names, second, &none);
    for (; extra && *extra; extra++) {
        luaL_addstring(&names, none ? "" : ", ");
        luaL_addstring(&names, *extra);
        none = false;
    }
    luaL_pushresult(&names);
    if (none)
        luaL_error(L, "%s: unknown option '%s'; it takes none", owner, name);
    luaL_error(L, "%s: unknown option '%s'; it takes %s", owner, name, lua_tostring(L, -1));
}

/* Is there an option "name.something", given as name = {something = ...}? */
static bool is_group(const pn_param *params, const char *name)
{
    size_t length = strlen(name);

    for (; params && params->name; params++) {
        if (strncmp(params->name, name, length) == 0 && params->name[length] == '.')
            return true;
    }
    return false;
}

static void append_group(luaL_Buffer *names, const pn_param *params, const char *group, bool *first)
{
    size_t length = strlen(group);

    for (; params && params->name; params++) {
        if (strncmp(params->name, group, length) != 0 || params->name[length] != '.')
            continue;
        luaL_addstring(names, *first ? "" : ", ");
        luaL_addstring(names, params->name + length + 1);
        *first = false;
    }
}

/* Push the names in a group, separated by commas. */
static const char *push_group(lua_State *L, const char *group, const pn_param *first, const pn_param *second)
{
    luaL_Buffer names;
    bool none = true;

    luaL_buffinit(L, &names);
    append_group(&names, first, group, &none);
    append_group(&names, second, group, &none);
    luaL_pushresult(&names);
    return lua_tostring(L, -1);
}

/* Is there an option "group.size", for which a number stands by itself? */
static bool has_size(lua_State *L, const char *group, const pn_param *first, const pn_param *second)
{
    const char *name = lua_pushfstring(L, "%s.size", group);
    bool has =
        pn_param_find(first, name) < pn_param_count(first) || pn_param_find(second, name) < pn_param_count(second);

    lua_pop(L, 1);
    return has;
}

static void refuse_value(lua_State *L, const char *owner, const char *group, const pn_param *first,
                         const pn_param *second)
{
    const char *got = pnl_got(L, -1), *names = push_group(L, group, first, second);

    luaL_error(L, "%s: %s must be %sa table of options, as %s={%s=}, got %s", owner, group,
               has_size(L, group, first, second) ? "a number or " : "", group, luaL_gsub(L, names, ", ", "=, "), got);
}

/* Options are read several times, and the objects in them are kept alive: __index could give another each time,
 * or close one. */
static void refuse_index(lua_State *L, int index, const char *owner)
{
    if (luaL_getmetafield(L, index, "__index") != LUA_TNIL)
        luaL_error(L, "%s: a table of options must not have __index in its metatable; copy the options out", owner);
}

/* The names in the sub-table of a group, at the top of the stack. */
static void check_group(lua_State *L, const char *owner, const char *group, const pn_param *first,
                        const pn_param *second)
{
    bool sized = has_size(L, group, first, second), empty = true;

    if (sized && lua_type(L, -1) == LUA_TNUMBER)
        return;
    if (!lua_istable(L, -1))
        refuse_value(L, owner, group, first, second);
    refuse_index(L, -1, owner);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        const char *name = pnl_text(L, -2), *full = lua_pushfstring(L, "%s.%s", group, name);

        if (pn_param_find(first, full) == pn_param_count(first) &&
            pn_param_find(second, full) == pn_param_count(second))
            luaL_error(L, "%s: unknown option '%s.%s'; %s takes %s", owner, group, name, group,
                       push_group(L, group, first, second));
        lua_pop(L, 3);
        empty = false;
    }
    if (sized && empty)
        refuse_value(L, owner, group, first, second);
}

static void check_names(lua_State *L, int index, const char *owner, const pn_param *first, const pn_param *second,
                        const char *const *extra)
{
    size_t first_count = pn_param_count(first), second_count = pn_param_count(second);

    lua_pushnil(L);
    while (lua_next(L, index)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;

        if (!name)
            luaL_error(L, "%s: options are given by name, as {name = value}; found [%s]", owner, pnl_text(L, -2));
        if (is_group(first, name) || is_group(second, name))
            check_group(L, owner, name, first, second);
        else if (pn_param_find(first, name) == first_count && pn_param_find(second, name) == second_count &&
                 !is_extra(extra, name))
            refuse_unknown(L, owner, name, first, second, extra);
        lua_pop(L, 1);
    }
}

/* Push the option `name`, which for "a.b" is field b of the table a, and for "a.size" also a number a; returns its
 * type. */
static int push_option(lua_State *L, int index, const char *name)
{
    const char *dot = strchr(name, '.');
    int type;

    if (!dot)
        return lua_getfield(L, index, name);
    lua_pushlstring(L, name, (size_t)(dot - name));
    type = lua_rawget(L, index);
    if (type == LUA_TNUMBER && strcmp(dot, ".size") == 0)
        return type;
    if (type != LUA_TTABLE)
        return LUA_TNIL;
    type = lua_getfield(L, -1, dot + 1);
    lua_remove(L, -2);
    return type;
}

static void read_table(lua_State *L, int index, const char *owner, const pn_param *params, pn_arg *args)
{
    size_t count = pn_param_count(params);

    luaL_checkstack(L, 2 * (int)count + 4, "options"); /* a number in a group takes a second place */
    for (size_t i = 0; i < count; i++) {
        memset(&args[i], 0, sizeof args[i]);
        if (index && push_option(L, index, params[i].name) != LUA_TNIL)
            read_value(L, owner, &params[i], &args[i]);
    }
}

void pnl_options2(lua_State *L, int index, const char *owner, const pn_param *first, pn_arg *first_args,
                  const pn_param *second, pn_arg *second_args, const char *const *extra)
{
    index = lua_absindex(L, index);
    if (lua_isnoneornil(L, index)) {
        index = 0;
    } else {
        if (!lua_istable(L, index))
            luaL_error(L, "%s: expected one table of options, got %s", owner, pnl_got(L, index));
        refuse_index(L, index, owner);
        check_names(L, index, owner, first, second, extra);
    }
    read_table(L, index, owner, first, first_args);
    read_table(L, index, owner, second, second_args);
}

void pnl_options(lua_State *L, int index, const char *owner, const pn_param *params, pn_arg *args,
                 const char *const *extra)
{
    pnl_options2(L, index, owner, params, args, NULL, NULL, extra);
}

/* "rows, cols"; pushed. */
static const char *push_names(lua_State *L, const pn_param *params)
{
    luaL_Buffer names;
    bool first = true;

    luaL_buffinit(L, &names);
    append_names(&names, params, &first);
    luaL_pushresult(&names);
    return lua_tostring(L, -1);
}

void pnl_values_or_options(lua_State *L, const char *owner, const pn_param *params, pn_arg *args, size_t in_order)
{
    size_t count = pn_param_count(params), given = (size_t)lua_gettop(L);

    if (given == 0 || (given == 1 && (count > in_order || lua_istable(L, 1) || lua_isnil(L, 1)))) {
        pnl_options(L, 1, owner, params, args, NULL);
        return;
    }
    if (count == 0)
        luaL_error(L, "%s: takes no options, got %s", owner, pnl_got(L, 1));
    if (count > in_order)
        luaL_error(L, "%s: expected one table of options, got %d arguments", owner, (int)given);
    if (given > count)
        luaL_error(L, "%s: expected %s, or one table of options, got %d arguments", owner, push_names(L, params),
                   (int)given);
    luaL_checkstack(L, 2 * (int)count + 4, "options"); /* a number in a group takes a second place */
    memset(args, 0, count * sizeof *args);
    for (size_t i = 0; i < given; i++) {
        lua_pushvalue(L, (int)i + 1);
        if (!lua_isnil(L, -1))
            read_value(L, owner, &params[i], &args[i]);
    }
}

/* "pn.loss.huber{delta=} -> loss", "pn.reg.l2(lambda) -> reg", "pn.reg.none() -> reg"; pushed. */
static const char *push_signature(lua_State *L, const char *library, const pn_row *of, size_t in_order)
{
    size_t count = pn_param_count(of->params);
    bool braces = count > in_order;
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    lua_pushfstring(L, "pn.%s.%s%s", library, of->name, braces ? "{" : "(");
    luaL_addvalue(&text);
    for (size_t i = 0; i < count; i++) {
        luaL_addstring(&text, i ? ", " : "");
        luaL_addstring(&text, of->params[i].name);
        luaL_addstring(&text, braces ? "=" : "");
    }
    luaL_addstring(&text, braces ? "} -> " : ") -> ");
    luaL_addstring(&text, library);
    luaL_pushresult(&text);
    return lua_tostring(L, -1);
}

void pnl_constructors(lua_State *L, const char *library, const void *rows, lua_CFunction fn, size_t in_order)
{
    for (const pn_row *const *row = rows; *row; row++) {
        if (pn_param_count((*row)->params) > PNL_MAX_PARAMS)
            luaL_error(L, "%s.%s has more than %d options", library, (*row)->name, PNL_MAX_PARAMS);
        lua_pushlightuserdata(L, (void *)(uintptr_t)*row);
        lua_pushcclosure(L, fn, 1);
        lua_setfield(L, -2, (*row)->name);
        pnl_reference(L, library, (*row)->name, PNL_NOTHING, push_signature(L, library, *row, in_order), (*row)->doc,
                      (*row)->source, (*row)->params);
        lua_pop(L, 1);
    }
}

int pnl_push_row_names(lua_State *L, const void *rows)
{
    lua_Integer count = 0;

    lua_newtable(L);
    for (const pn_row *const *row = rows; *row; row++) {
        lua_pushstring(L, (*row)->name);
        lua_rawseti(L, -2, ++count);
    }
    pnl_list(L);
    return 1;
}
