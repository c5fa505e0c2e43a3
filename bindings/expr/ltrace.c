/* ltrace.c -- the trace: calling a user's function once with symbols, and judging what comes back.
 * Depends on: lsymbol.h, progress.h.  Used by: lexpression.c, lbound.c, lvec.c, lmat.c,
 * bindings of losses and regularisers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/numeric/lnumbers.h"

/* ---- names ---- */

unsigned pnl_parameters(lua_State *L, int function, const char *owner, const char *names[PN_BOUND_VARS_MAX])
{
    unsigned count = 0;
    const char *name;

    lua_pushvalue(L, function);
    while ((name = lua_getlocal(L, NULL, (int)count + 1)) != NULL) {
        if (count == PN_BOUND_VARS_MAX)
            pnl_error(L, "%s: the function has more than %d parameters", owner, PN_BOUND_VARS_MAX);
        names[count++] = name;
    }
    lua_pop(L, 1);
    return count;
}

const char *pnl_push_names(lua_State *L, const char *const *names, unsigned count)
{
    luaL_Buffer text;

    luaL_buffinit(L, &text);
    for (unsigned v = 0; v < count; v++) {
        luaL_addstring(&text, v == 0 ? "" : v + 1 < count ? ", " : " and ");
        luaL_addstring(&text, names[v]);
    }
    luaL_addstring(&text, count ? "" : "nothing");
    luaL_pushresult(&text);
    return lua_tostring(L, -1);
}

/* ---- errors of the function ---- */

static bool is_pn_function(const char *name)
{
    for (size_t i = 0; pn_function_at(i); i++) {
        if (strcmp(pn_function_at(i)->name, name) == 0)
            return true;
    }
    return strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
}

/* What somebody who wrote math.exp(z) may not know; the message stands at the top. */
static void add_hint(lua_State *L)
{
    const char *message = lua_tostring(L, -1), *from = strstr(message, "argument #"), *name, *end;

    if (!strstr(message, "got pn.symbol") && !strstr(message, "got a pn.symbol"))
        return;
    name = from ? strstr(from, " to '") : NULL;
    name = name ? name + strlen(" to '") : "";
    end = strpbrk(name, "'(");
    lua_pushlstring(L, name, end ? (size_t)(end - name) : 0);
    name = strrchr(lua_tostring(L, -1), '.') ? strrchr(lua_tostring(L, -1), '.') + 1 : lua_tostring(L, -1);
    if (is_pn_function(name))
        lua_pushfstring(L, "%s; use pn.%s: Lua's math library takes numbers only", message, name);
    else
        lua_pushfstring(
            L,
            "%s; a symbol stands for a number not known while the function is traced: only the operators and the "
            "functions of pn (pn.exp, pn.max, pn.where ...) take it, Lua's math library does not",
            message);
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* The function's error value stands at the top. */
static void hand_on(lua_State *L, const char *owner, int status)
{
    size_t length = strlen(owner);

    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        const char *message = lua_tostring(L, -1);
        bool named = strncmp(message, owner, length) == 0 && message[length] == ':'; /* by a trace within */

        add_hint(L);
        if (!named)
            lua_pushfstring(L, "%s: %s", owner, lua_tostring(L, -1));
    }
    lua_error(L);
}

void pnl_graph_status(lua_State *L, const pn_graph *graph, const char *owner)
{
    pn_err err;
    pn_status status = pn_graph_status(graph, &err);

    if (status != PN_OK)
        pnl_status(L, pn_fail_in(&err, status, owner), &err);
}

/* ---- results ---- */

/* "the function returned ... ; it must return one expression of z and y: ...  (script.lua:3)" */
static void refuse_result(lua_State *L, int function, const pnl_expression *self, const char *got, const char *hint)
{
    const char *names[PN_BOUND_VARS_MAX], *wanted;
    unsigned count = self->arguments;
    lua_Debug info;

    for (unsigned v = 0; v < count; v++)
        names[v] = self->names[v];
    wanted = count ? lua_pushfstring(L, "an expression of %s", pnl_push_names(L, names, count)) : "a number";
    lua_pushvalue(L, function);
    lua_getinfo(L, ">S", &info);
    lua_pushfstring(L, info.linedefined > 0 ? " (%s:%d)" : "", info.short_src, info.linedefined);
    pnl_error(L, "%s: the function returned %s; it must return %s%s%s", self->owner, got, wanted, hint,
              lua_tostring(L, -1));
}

static const char *hint_for(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL:
        return ": is a `return` missing?";
    case LUA_TBOOLEAN:
        return ": conditions come from pn.lt, pn.le, pn.gt and pn.ge, choices from pn.where";
    case LUA_TTABLE:
    case LUA_TUSERDATA:
        return ", one value for one number each";
    default:
        return "";
    }
}

/* The results stand from `first` to the top. */
static pn_node read_result(lua_State *L, int function, int first, pnl_expression *self)
{
    int count = lua_gettop(L) - first + 1;
    pn_node root = PN_NODE_NONE;

    lua_settop(L, first);                          /* nothing is nil; and very many would leave no room on the stack */
    pnl_graph_status(L, self->graph, self->owner); /* the function may have caught it */
    if (count > 1)
        refuse_result(L, function, self, lua_pushfstring(L, "%d values", count), ", and no more");
    if (lua_type(L, first) == LUA_TNUMBER) {
        if (!isfinite(lua_tonumber(L, first)))
            refuse_result(L, function, self, pnl_got(L, first), " with finite constants");
        root = pn_x_const(self->graph, lua_tonumber(L, first));
        pnl_graph_status(L, self->graph, self->owner);
    } else if (pnl_test(L, first, &pnl_symbol_class)) {
        root = pnl_symbol_node(L, first, self);
    } else {
        refuse_result(L, function, self, pnl_got(L, first), hint_for(L, first));
    }
    return root;
}

/* A condition that nothing was made of has been taken for true. */
static void refuse_forgotten(lua_State *L, const pnl_expression *self)
{
    for (int i = 0; i < PNL_CONDITIONS; i++) {
        const pnl_condition *condition = &self->conditions[i];

        if (condition->waiting) {
            lua_pushfstring(L,
                            "%s: %sthe condition %s is made and not used: in `if`, `and`, `or` and `not` a symbol "
                            "counts as true; choose by pn.where(%s, a, b), or remove it",
                            self->owner, condition->place, condition->text, condition->text);
            lua_error(L);
        }
    }
}

/* ---- comparisons that Lua decides by itself ---- */

#define LOOKS_MOST 2 /* variables of functions that are looked at by themselves */

static const double looked_at[] = { 0.0, 1.0, -1.0 };
#define LOOKS (sizeof looked_at / sizeof looked_at[0])

/* Push the numbers of a point as the function takes them. */
static void push_point(lua_State *L, const pnl_argument *arguments, unsigned count, const double *at)
{
    for (unsigned a = 0; a < count; at += arguments[a].count, a++) {
        if (!arguments[a].list) {
            lua_pushnumber(L, *at);
            continue;
        }
        lua_createtable(L, (int)arguments[a].count, 0);
        for (size_t i = 0; i < arguments[a].count; i++) {
            lua_pushnumber(L, at[i]);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
    }
}

/* The function of numbers against its expression; pushes nothing.  What is no finite number says nothing. */
static bool agrees(lua_State *L, int function, pnl_expression *self, const pnl_argument *arguments, const double *at)
{
    const pn_program *program = pnl_expression_program(L, self);
    const double *inputs[PN_GRAPH_VARS_MAX];
    double traced, got;
    int status;

    for (unsigned v = 0; v < pn_graph_variables(self->graph); v++)
        inputs[v] = at + v; /* what the function does not see nothing depends on */
    pn_program_run(program, 1, inputs, &(double *){ &traced });
    lua_pushvalue(L, function);
    push_point(L, arguments, self->arguments, at);
    status = lua_pcall(L, (int)self->arguments, 1, 0);
    if (status != LUA_OK)
        hand_on(L, self->owner, status);
    got = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
    lua_pop(L, 1);
    return !(fabs(got - traced) > 1e-6 * (1.0 + fabs(got) + fabs(traced))) || isinf(got) || isinf(traced);
}

static void refuse_equality(lua_State *L, const pnl_expression *self, const char *name, double value)
{
    pnl_error(L,
              "%s: where %s = %g the function gives another number than the expression that was traced: Lua decides "
              "== and ~= of a symbol and a number without asking, as if they were never equal; choose by "
              "pn.where(pn.le(pn.abs(%s - c), 0), a, b), and use nothing that changes from call to call",
              self->owner, name, value, name);
}

/* Lua asks nobody what z == 0 is when z is a symbol and 0 a number: it is false, and its branch is not in the
 * expression.  So the function is asked for a few numbers, too. */
void pnl_refuse_equality(lua_State *L, int function, int expression)
{
    pnl_expression *self = pnl_check(L, expression, &pnl_expression_class);
    const pnl_argument arguments[LOOKS_MOST] = { { .count = 1 }, { .count = 1 } };
    unsigned count = pn_graph_variables(self->graph);

    function = lua_absindex(L, function);
    if (count == 0 || count > LOOKS_MOST)
        return;
    luaL_checkstack(L, LUA_MINSTACK, self->owner);
    for (size_t i = 0; i < (count == 1 ? LOOKS : LOOKS * LOOKS); i++) {
        const double at[LOOKS_MOST] = { looked_at[i % LOOKS], looked_at[i / LOOKS] };

        if (!agrees(L, function, self, arguments, at))
            refuse_equality(L, self, self->names[0], at[0]);
    }
}

void pnl_refuse_equality_in(lua_State *L, int function, int expression, const pnl_argument *arguments,
                            const double *values, size_t count)
{
    pnl_expression *self = pnl_check(L, expression, &pnl_expression_class);
    double at[PN_GRAPH_VARS_MAX] = { 0.0 };
    size_t last = 0;

    function = lua_absindex(L, function);
    luaL_checkstack(L, PN_BOUND_VARS_MAX + LUA_MINSTACK, self->owner);
    for (unsigned a = 0; a + 1 < self->arguments; a++)
        last += arguments[a].count;
    for (size_t i = 0; i < (count > 0 ? count : LOOKS); i++) {
        for (int round = 0; round < 2; round++) { /* zeros, then numbers that differ from one to the next */
            for (size_t v = 0; v < last; v++)
                at[v] = round == 0 ? 0.0 : looked_at[(v + i) % LOOKS];
            at[last] = count > 0 ? values[i] : looked_at[i];
            if (!agrees(L, function, self, arguments, at))
                refuse_equality(L, self, self->names[self->arguments - 1], at[last]);
        }
    }
}

/* ---- the trace ---- */

/* The expression stands at the top. */
static void name_arguments(lua_State *L, pnl_expression *self, int function, const pnl_argument *arguments,
                           unsigned count)
{
    lua_pushvalue(L, function);
    for (unsigned a = 0; a < count; a++) {
        const char *name = lua_getlocal(L, NULL, (int)a + 1);

        (void)snprintf(self->names[a], PNL_NAME_MAX, "%s", name ? name : arguments[a].name);
    }
    self->arguments = count;
    lua_pop(L, 1);
}

static size_t variables_of(const pnl_argument *arguments, unsigned count)
{
    size_t variables = 0;

    for (unsigned a = 0; a < count; a++)
        variables += arguments[a].count;
    return variables;
}

/* "z", "w1", "w2" ...; of those that the function does not see "". */
static void make_graph(lua_State *L, pnl_expression *self, const pnl_argument *arguments, unsigned count, size_t more)
{
    size_t seen = variables_of(arguments, count), v = 0;
    char(*text)[PNL_NAME_MAX] = lua_newuserdatauv(L, (seen + 1) * sizeof *text, 0);
    const char *names[PN_GRAPH_VARS_MAX];
    pn_err err;

    for (unsigned a = 0; a < count; a++) {
        for (size_t i = 0; i < arguments[a].count; i++, v++) {
            if (arguments[a].list)
                (void)snprintf(text[v], PNL_NAME_MAX, "%.40s%zu", self->names[a], i + 1);
            else
                (void)snprintf(text[v], PNL_NAME_MAX, "%s", self->names[a]);
            names[v] = text[v];
        }
    }
    for (size_t i = 0; i < more; i++)
        names[v + i] = "";
    pnl_status(L, pn_graph_new(&self->graph, names, (unsigned)(v + more), &err), &err);
    lua_pop(L, 1);
}

/* Upvalues: the list's name, its length.  ipairs and table.unpack look one entry further than there are. */
static int list_index(lua_State *L)
{
    const char *name = lua_tostring(L, lua_upvalueindex(1)), *key;
    lua_Debug frame;
    bool by_library = lua_getstack(L, 1, &frame) && lua_getinfo(L, "S", &frame) && strcmp(frame.what, "C") == 0;

    if (by_library && lua_isinteger(L, 2))
        return 0;
    key = pnl_text(L, 2);
    return luaL_error(L, "there is no %s[%s], %s has %d entries", name, key, name,
                      (int)lua_tointeger(L, lua_upvalueindex(2)));
}

/* Push the list of symbols of variables first, first + 1 ... */
static void push_list(lua_State *L, pnl_expression *self, const char *name, size_t first, size_t count)
{
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        pnl_push_symbol(L, self, pn_x_var(self->graph, (unsigned)(first + i)));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_createtable(L, 0, 2);
    lua_pushstring(L, name);
    lua_pushinteger(L, (lua_Integer)count);
    lua_pushcclosure(L, list_index, 2);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

static void push_arguments(lua_State *L, pnl_expression *self, const pnl_argument *arguments, unsigned count)
{
    size_t first = 0;

    for (unsigned a = 0; a < count; first += arguments[a].count, a++) {
        if (arguments[a].list)
            push_list(L, self, self->names[a], first, arguments[a].count);
        else
            pnl_push_symbol(L, self, pn_x_var(self->graph, (unsigned)first));
    }
}

pn_node pnl_trace_lists(lua_State *L, int function, const char *owner, const pnl_argument *arguments,
                        unsigned argument_count, size_t more, pn_graph **graph)
{
    pnl_expression *self;
    int box, status;

    function = lua_absindex(L, function);
    if (!lua_isfunction(L, function))
        pnl_error(L, "%s: expected a function, got %s", owner, pnl_got(L, function));
    luaL_checkstack(L, PN_BOUND_VARS_MAX + LUA_MINSTACK, owner);
    self = pnl_new_expression(L, owner);
    box = lua_gettop(L);
    name_arguments(L, self, function, arguments, argument_count);
    make_graph(L, self, arguments, argument_count, more);
    lua_pushvalue(L, function);
    push_arguments(L, self, arguments, argument_count);
    self->open = true;
    status = lua_pcall(L, (int)argument_count, LUA_MULTRET, 0);
    self->open = false;
    if (status != LUA_OK)
        hand_on(L, owner, status);
    self->root = read_result(L, function, box + 1, self);
    refuse_forgotten(L, self);
    lua_settop(L, box);
    *graph = self->graph;
    return self->root;
}

pn_node pnl_trace(lua_State *L, int function, const char *owner, const char *const *names, unsigned count,
                  pn_graph **graph)
{
    pnl_argument arguments[PN_BOUND_VARS_MAX];

    for (unsigned v = 0; v < count; v++)
        arguments[v] = (pnl_argument){ .name = names[v], .count = 1 };
    return pnl_trace_lists(L, function, owner, arguments, count, 0, graph);
}

/* ---- maps ---- */

#define LONG_MAP 200000 /* numbers; shorter maps are over before anybody would stop them */

const pn_program *pnl_trace_map(lua_State *L, int function, const char *owner)
{
    static const char *const names[] = { "t" };
    pn_graph *graph;

    (void)pnl_trace(L, function, owner, names, 1, &graph);
    return pnl_expression_program(L, pnl_check(L, -1, &pnl_expression_class));
}

void pnl_run_map(lua_State *L, const pn_program *program, size_t n, const double *x, double *out)
{
    pn_status status;
    pn_err err;

    if (n < LONG_MAP) {
        pn_program_run(program, n, &x, &out);
        return;
    }
    pnl_run_begin(L, true);
    status = pn_program_map(program, n, &x, &out, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
}
