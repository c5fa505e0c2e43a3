/* lexpression.c -- pn.expression: what a traced function became; to be looked at, differentiated,
 * bounded and evaluated.
 * Depends on: lsymbol.h, lnumbers.h, progress.h.  Used by: module.c, ltrace.c. */
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/expr/lsymbol.h"
#include "bindings/numeric/lnumbers.h"

void pnl_expression_release(pnl_expression *self)
{
    if (!self || --self->references > 0)
        return;
    pn_program_free(self->program);
    pn_graph_free(self->graph);
    pn_free(self);
}

static void expression_free(void *object)
{
    pnl_expression_release(object);
}

pnl_expression *pnl_new_expression(lua_State *L, const char *owner)
{
    void **slot = pnl_newbox(L, &pnl_expression_class);
    pnl_expression *self = pn_calloc(1, sizeof *self);

    if (!self)
        pnl_no_memory(L, "%s: out of memory", owner);
    self->references = 1;
    self->root = PN_NODE_NONE;
    (void)snprintf(self->owner, sizeof self->owner, "%s", owner);
    *slot = self;
    return self;
}

const pn_program *pnl_expression_program(lua_State *L, pnl_expression *self)
{
    pn_status status;
    pn_err err;

    if (!self->program) {
        status = pn_program_new(&self->program, self->graph, &self->root, 1, &err);
        if (status != PN_OK)
            pnl_status(L, pn_fail_in(&err, status, self->owner), &err);
    }
    return self->program;
}

static pnl_expression *check_self(lua_State *L)
{
    return pnl_check(L, 1, &pnl_expression_class);
}

/* ---- variables ---- */

static unsigned read_names(const pnl_expression *self, const char *names[PN_BOUND_VARS_MAX])
{
    unsigned count = pn_graph_variables(self->graph);

    for (unsigned v = 0; v < count; v++)
        names[v] = self->names[v];
    return count;
}

static int get_variables(lua_State *L)
{
    const char *names[PN_BOUND_VARS_MAX];
    unsigned count = read_names(check_self(L), names);

    lua_createtable(L, (int)count, 0);
    for (unsigned v = 0; v < count; v++) {
        lua_pushstring(L, names[v]);
        lua_rawseti(L, -2, (lua_Integer)v + 1);
    }
    pnl_list(L);
    return 1;
}

/* The variable named at `index`, or the only one. */
static unsigned check_variable(lua_State *L, int index, const pnl_expression *self)
{
    const char *names[PN_BOUND_VARS_MAX];
    unsigned count = read_names(self, names);

    if (lua_isnoneornil(L, index) && count == 1)
        return 0;
    for (unsigned v = 0; lua_type(L, index) == LUA_TSTRING && v < count; v++) {
        if (strcmp(names[v], lua_tostring(L, index)) == 0)
            return v;
    }
    pnl_error(L, "e:derivative: expected the name of a variable, got %s; the variables are %s", pnl_got(L, index),
              pnl_push_names(L, names, count));
    return 0;
}

/* ---- derivatives and bounds, in a graph of their own: an expression does not change ---- */

static pn_node copy_node(pn_graph *to, const pn_term *term, const pn_node *image)
{
    switch (pn_opcode_operands(term->op)) {
    case 1:
        return pn_x_unary(to, term->op, image[term->a]);
    case 2:
        return pn_x_binary(to, term->op, image[term->a], image[term->b]);
    case 3:
        return pn_x_where(to, image[term->a], image[term->b], image[term->c]);
    default:
        return term->op == PN_X_VAR ? pn_x_var(to, term->a) : pn_x_const(to, term->value);
    }
}

static pn_status copy_root(pnl_expression *to, const pnl_expression *from, pn_err *err)
{
    size_t count = (size_t)from->root + 1;
    pn_node *image = pn_alloc(count, sizeof *image);
    bool *used = pn_alloc(count, sizeof *used);
    pn_status status;

    if (image && used) {
        pn_graph_used(from->graph, from->root, used);
        for (pn_node i = 0; i <= from->root; i++)
            image[i] = used[i] ? copy_node(to->graph, pn_graph_term(from->graph, i), image) : PN_NODE_NONE;
        to->root = image[from->root];
        status = pn_graph_status(to->graph, err);
    } else {
        status = pn_fail(err, PN_ENOMEM, "expression: out of memory");
    }
    pn_free(image);
    pn_free(used);
    return status;
}

static pnl_expression *push_copy(lua_State *L, const pnl_expression *from)
{
    const char *names[PN_BOUND_VARS_MAX];
    unsigned count = read_names(from, names);
    pnl_expression *to = pnl_new_expression(L, from->owner);
    pn_err err;

    memcpy(to->names, from->names, sizeof to->names);
    pnl_status(L, pn_graph_new(&to->graph, names, count, &err), &err);
    pnl_status(L, copy_root(to, from, &err), &err);
    return to;
}

static int derivative(lua_State *L)
{
    pnl_expression *self = check_self(L), *result;
    unsigned variable;

    lua_settop(L, 2);
    variable = check_variable(L, 2, self);
    result = push_copy(L, self);
    result->root = pn_graph_derivative(result->graph, result->root, variable);
    pnl_graph_status(L, result->graph, "e:derivative");
    return 1;
}

static int bound(lua_State *L)
{
    const char *names[PN_BOUND_VARS_MAX];
    pn_domain domains[PN_BOUND_VARS_MAX];
    pnl_expression *self = check_self(L);

    lua_settop(L, 2);
    pnl_check_domains(L, 2, "e:bound", names, read_names(self, names), domains);
    self = push_copy(L, self);
    pnl_push_bound(L, "e:bound", self->graph, self->root, domains);
    return 1;
}

/* ---- values ---- */

/* The length that the vectors among the arguments from 2 on have in common; 1 without any.  Lists become vectors. */
static size_t common_length(lua_State *L, int count, bool *all_numbers)
{
    size_t length = 1;

    *all_numbers = true;
    for (int i = 2; i < 2 + count; i++) {
        size_t n;

        if (lua_type(L, i) == LUA_TNUMBER)
            continue;
        if (pnl_test(L, i, &pnl_symbol_class))
            pnl_error(L,
                      "e(...): an expression takes numbers or vectors, not the symbol %s: call the Lua function that "
                      "it was traced from",
                      pnl_text(L, i));
        if (!lua_istable(L, i) && !pnl_test(L, i, &pnl_vec_class))
            pnl_error(L, "e(...): arguments are numbers or vectors, got %s", pnl_got(L, i));
        n = pnl_check_vec(L, i).n;
        if (!*all_numbers && n != length)
            pnl_error(L, "e(...): arguments of %zu and %zu entries", length, n);
        length = n;
        *all_numbers = false;
    }
    return length;
}

static const double *read_argument(lua_State *L, int index, size_t n)
{
    double number, *data;

    if (lua_type(L, index) != LUA_TNUMBER)
        return pnl_check_vec(L, index).data;
    number = lua_tonumber(L, index);
    data = pnl_new_vec(L, n);
    for (size_t i = 0; i < n; i++)
        data[i] = number;
    lua_replace(L, index);
    return data;
}

static int call(lua_State *L)
{
    pnl_expression *self = check_self(L);
    const char *names[PN_BOUND_VARS_MAX];
    unsigned count = read_names(self, names);
    const double *inputs[PN_BOUND_VARS_MAX];
    const pn_program *program;
    bool all_numbers;
    double *out;
    pn_status status;
    pn_err err;
    size_t n;

    if (lua_gettop(L) != 1 + (int)count)
        return pnl_error(L, "e(...): expected values for %s, got %d", pnl_push_names(L, names, count),
                         lua_gettop(L) - 1);
    luaL_checkstack(L, 2 * PN_BOUND_VARS_MAX, "e(...)");
    n = common_length(L, (int)count, &all_numbers);
    program = pnl_expression_program(L, self);
    for (unsigned v = 0; v < count; v++)
        inputs[v] = read_argument(L, 2 + (int)v, n);
    out = pnl_new_vec(L, n);
    pnl_run_begin(L, true);
    status = pn_program_map(program, n, inputs, &out, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    if (all_numbers)
        lua_pushnumber(L, out[0]);
    return 1;
}

static int to_string(lua_State *L)
{
    pnl_expression *self = check_self(L);
    char text[4000];

    pn_graph_text(self->graph, self->root, text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

/* ---- tables ---- */

static const pnl_row expression_rows[] = {
    { "variables", get_variables, PNL_FIELD, PNL_NOTHING, "e.variables -> {string, ...}",
      "The names of the variables, in the order of the function's parameters." },
    { "derivative", derivative, PNL_METHOD, PNL_NOTHING, "e:derivative(name) -> expression",
      "The derivative with respect to one variable, simplified; the name may be left out when there is one "
      "variable.  At a kink it is a fixed one of the one-sided derivatives: abs has 0 at 0, max and min that of "
      "their first argument on ties, where that of the branch taken.  An error when it has more than 50000 "
      "operations." },
    { "bound", bound, PNL_METHOD, PNL_NOTHING, "e:bound{z = {lo, hi}, ...} -> {min=, max=, converged=, boxes=}",
      "Certified extremes over ranges of the variables, as pn.bound." },
    { "__call", call, PNL_META, PNL_NOTHING, "e(z, y) -> number or vec",
      "The value at numbers, or entry by entry at vectors of one length; a number stands for equal entries." },
    { "__tostring", to_string, PNL_META, PNL_NOTHING, "tostring(e) -> string",
      "The simplified expression as text that Lua reads back; a long one ends in dots." },
    PNL_ROW_END,
};

const pnl_class pnl_expression_class = {
    "pn.expression",
    expression_free,
    expression_rows,
    "A function that was traced: an expression of its arguments, evaluated in C.  Immutable.",
    NULL,
    NULL,
};

static int trace(lua_State *L)
{
    static const char *const one[] = { "x" };
    const char *names[PN_BOUND_VARS_MAX];
    pn_graph *graph;
    lua_Debug info;
    unsigned count;

    lua_settop(L, 1);
    if (!lua_isfunction(L, 1))
        return pnl_error(L, "trace: expected a function, got %s", pnl_got(L, 1));
    count = pnl_parameters(L, 1, "trace", names);
    lua_pushvalue(L, 1);
    lua_getinfo(L, ">u", &info);
    if (count == 0 && (info.isvararg || info.nparams)) /* without names: written in C, stripped, or function(...) */
        (void)pnl_trace(L, 1, "trace", one, 1, &graph);
    else
        (void)pnl_trace(L, 1, "trace", names, count, &graph);
    return 1;
}

void pnl_open_expression(lua_State *L)
{
    pnl_open_class(L, &pnl_symbol_class);
    pnl_open_class(L, &pnl_expression_class);
    lua_pushcfunction(L, trace);
    lua_setfield(L, -2, "trace");
    pnl_reference(
        L, "", "trace", PNL_NOTHING, "pn.trace(f) -> expression",
        "Call f once with symbols for its parameters and give the expression that it returns, simplified: what a "
        "traced loss, map or bound sees of f.  A function without named parameters gets one, x.  Errors: of f, and "
        "where f asks for what a symbol does not tell (`if z > 0`: write pn.where).",
        NULL, NULL);
    pnl_add_bound(L);
}
