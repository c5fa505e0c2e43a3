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

unsigned pnl_parameters(lua_State *L, int function, const char *owner, const char *names[PN_GRAPH_VARS_MAX])
{
    unsigned count = 0;
    const char *name;

    lua_pushvalue(L, function);
    while ((name = lua_getlocal(L, NULL, (int)count + 1)) != NULL) {
        if (count == PN_GRAPH_VARS_MAX)
            pnl_error(L, "%s: the function has more than %d parameters", owner, PN_GRAPH_VARS_MAX);
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
    const char *names[PN_GRAPH_VARS_MAX], *wanted;
    unsigned count = pn_graph_variables(self->graph);
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

#define LOOKS_MOST 2 /* variables of functions that are looked at */

static const double looked_at[] = { 0.0, 1.0, -1.0 };

/* The function of numbers against its expression; pushes nothing.  What is no finite number says nothing. */
static bool agrees(lua_State *L, int function, const pnl_expression *self, const pn_program *program, const double *at,
                   unsigned count)
{
    const double *inputs[LOOKS_MOST] = { &at[0], &at[1] };
    double traced, got;
    int status;

    pn_program_run(program, 1, inputs, &(double *){ &traced });
    lua_pushvalue(L, function);
    for (unsigned v = 0; v < count; v++)
        lua_pushnumber(L, at[v]);
    status = lua_pcall(L, (int)count, 1, 0);
    if (status != LUA_OK)
        hand_on(L, self->owner, status);
    got = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
    lua_pop(L, 1);
    return !(fabs(got - traced) > 1e-6 * (1.0 + fabs(got) + fabs(traced))) || isinf(got) || isinf(traced);
}

/* Lua asks nobody what z == 0 is when z is a symbol and 0 a number: it is false, and its branch is not in the
 * expression.  So the function is asked for a few numbers, too. */
void pnl_refuse_equality(lua_State *L, int function, int expression)
{
    pnl_expression *self = pnl_check(L, expression, &pnl_expression_class);
    unsigned count = pn_graph_variables(self->graph);
    const pn_program *program;
    const size_t points = sizeof looked_at / sizeof looked_at[0];

    function = lua_absindex(L, function);
    if (count == 0 || count > LOOKS_MOST)
        return;
    luaL_checkstack(L, LUA_MINSTACK, self->owner);
    program = pnl_expression_program(L, self);
    for (size_t i = 0; i < (count == 1 ? points : points * points); i++) {
        const double at[LOOKS_MOST] = { looked_at[i % points], looked_at[i / points] };

        if (!agrees(L, function, self, program, at, count))
            pnl_error(
                L,
                "%s: where %s = %g the function gives another number than the expression that was traced: Lua decides "
                "== and ~= of a symbol and a number without asking, as if they were never equal; choose by "
                "pn.where(pn.le(pn.abs(%s - c), 0), a, b), and use nothing that changes from call to call",
                self->owner, self->names[0], at[0], self->names[0]);
    }
}

/* ---- the trace ---- */

/* The expression stands at the top. */
static void make_graph(lua_State *L, pnl_expression *self, int function, const char *const *names, unsigned count)
{
    const char *parameters[PN_GRAPH_VARS_MAX];
    pn_err err;

    lua_pushvalue(L, function);
    for (unsigned v = 0; v < count; v++) {
        const char *name = lua_getlocal(L, NULL, (int)v + 1);

        parameters[v] = name ? name : names[v];
        (void)snprintf(self->names[v], PNL_NAME_MAX, "%s", parameters[v]);
    }
    pnl_status(L, pn_graph_new(&self->graph, parameters, count, &err), &err);
    lua_pop(L, 1);
}

pn_node pnl_trace(lua_State *L, int function, const char *owner, const char *const *names, unsigned count,
                  pn_graph **graph)
{
    pnl_expression *self;
    int box, status;

    function = lua_absindex(L, function);
    if (!lua_isfunction(L, function))
        pnl_error(L, "%s: expected a function, got %s", owner, pnl_got(L, function));
    luaL_checkstack(L, PN_GRAPH_VARS_MAX + LUA_MINSTACK, owner);
    self = pnl_new_expression(L, owner);
    box = lua_gettop(L);
    make_graph(L, self, function, names, count);
    lua_pushvalue(L, function);
    for (unsigned v = 0; v < count; v++)
        pnl_push_symbol(L, self, pn_x_var(self->graph, v));
    self->open = true;
    status = lua_pcall(L, (int)count, LUA_MULTRET, 0);
    self->open = false;
    if (status != LUA_OK)
        hand_on(L, owner, status);
    self->root = read_result(L, function, box + 1, self);
    refuse_forgotten(L, self);
    lua_settop(L, box);
    *graph = self->graph;
    return self->root;
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
