/* lsymbol.c -- pn.symbol: what a traced function is called with.  An operator or function of symbols adds a term to the
 * graph of the trace and gives a symbol for it; what needs a number is refused, at the user's line.
 * Depends on: lsymbol.h, lnumbers.h.  Used by: lmath.c's table of kinds, ltrace.c. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bindings/expr/lsymbol.h"
#include "bindings/numeric/lnumbers.h"

#define SHOWN 64 /* bytes of an expression within a message */

typedef struct symbol {
    pnl_expression *trace; /* kept */
    pn_node node;
    int condition; /* which of the trace's conditions it is, from 1; 0: none, or used already */
} symbol;

static void symbol_free(void *object)
{
    symbol *self = object;

    pnl_expression_release(self->trace);
    pn_free(self);
}

static symbol *push_symbol(lua_State *L, pnl_expression *trace, pn_node node)
{
    void **slot;
    symbol *self;
    pn_err err;

    if (node == PN_NODE_NONE)
        pnl_status(L, pn_graph_status(trace->graph, &err), &err);
    slot = pnl_newbox(L, &pnl_symbol_class);
    self = pn_calloc(1, sizeof *self);
    if (!self)
        pnl_no_memory(L, "expression: out of memory");
    *slot = self;
    self->trace = trace;
    self->node = node;
    trace->references++;
    return self;
}

void pnl_push_symbol(lua_State *L, pnl_expression *trace, pn_node node)
{
    (void)push_symbol(L, trace, node);
}

static symbol *test_symbol(lua_State *L, int index)
{
    return pnl_test(L, index, &pnl_symbol_class);
}

static bool is_symbol(lua_State *L, int index)
{
    return test_symbol(L, index) != NULL;
}

/* ---- messages ---- */

/* Pushes "script.lua:3: " for the user's line: the nearest Lua function's,
 * for math.max(0, z) and metamethods of C lie between. */
static void push_place(lua_State *L)
{
    lua_Debug frame;

    for (int level = 1; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "Sl", &frame);
        if (frame.currentline > 0) {
            lua_pushfstring(L, "%s:%d: ", frame.short_src, frame.currentline);
            return;
        }
    }
    lua_pushliteral(L, "");
}

static int refuse(lua_State *L, const char *format, ...) PN_PRINTF(2, 3);

static int refuse(lua_State *L, const char *format, ...)
{
    char message[PN_ERR_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    push_place(L);
    lua_pushfstring(L, "%s%s", lua_tostring(L, -1), message);
    return lua_error(L);
}

/* Pushes what stands at `index`: "z", "z + 1", "inf". */
static const char *show(lua_State *L, int index)
{
    const symbol *self = test_symbol(L, index);
    char text[SHOWN];

    if (self)
        pn_graph_text(self->trace->graph, self->node, text, sizeof text);
    return lua_pushstring(L, self                                ? text
                             : lua_type(L, index) == LUA_TNUMBER ? pnl_got(L, index)
                                                                 : pnl_kind_name(L, index));
}

/* As one writes it next to an operator: "(z + 1)". */
static const char *show_operand(lua_State *L, int index)
{
    const symbol *self = test_symbol(L, index);
    pn_opcode op = self ? pn_graph_term(self->trace->graph, self->node)->op : PN_X_CONST;
    bool loose = op == PN_X_NEG || (op >= PN_X_ADD && op <= PN_X_POW);

    return loose ? lua_pushfstring(L, "(%s)", show(L, index)) : show(L, index);
}

/* "z * inf" for an operator, "pn.max(z, inf)" for a function of the values at 1..count. */
static const char *show_call(lua_State *L, const char *name, int count)
{
    luaL_checkstack(L, 4 * count + 4, "message");
    if (count == 2 && !isalpha((unsigned char)name[0]))
        return lua_pushfstring(L, "%s %s %s", show_operand(L, 1), name, show_operand(L, 2));
    if (count == 1)
        return lua_pushfstring(L, "pn.%s(%s)", name, show(L, 1));
    if (count == 2)
        return lua_pushfstring(L, "pn.%s(%s, %s)", name, show(L, 1), show(L, 2));
    return lua_pushfstring(L, "pn.%s(%s, %s, %s)", name, show(L, 1), show(L, 2), show(L, 3));
}

/* ---- operands ---- */

static void use(symbol *self)
{
    if (self->condition)
        self->trace->conditions[self->condition - 1].waiting = false;
    self->condition = 0;
}

pn_node pnl_symbol_node(lua_State *L, int index, pnl_expression *trace)
{
    symbol *self = test_symbol(L, index);

    if (!self)
        return PN_NODE_NONE;
    if (!self->trace->open && self->trace != trace)
        pnl_error(
            L,
            "%s is a symbol of a function that was traced before (by %s): it stands for a number in that function "
            "only, and cannot be kept for later",
            show(L, index), self->trace->owner);
    if (trace && self->trace != trace)
        refuse(L, "%s is a symbol of another function, which %s is tracing: symbols of two functions do not mix",
               show(L, index), self->trace->owner);
    use(self);
    return self->node;
}

/* The trace that the symbols among the values at 1..count belong to. */
static pnl_expression *trace_of(lua_State *L, int count)
{
    pnl_expression *trace = NULL;

    for (int i = 1; i <= count; i++) {
        if (is_symbol(L, i)) {
            (void)pnl_symbol_node(L, i, trace);
            trace = test_symbol(L, i)->trace;
        }
    }
    return trace;
}

static pn_node constant(lua_State *L, int index, pnl_expression *trace, const char *name, int count)
{
    double value = lua_tonumber(L, index);

    if (!isfinite(value))
        refuse(L, "the constant %s in %s is not a finite number", pnl_got(L, index), show_call(L, name, count));
    return pn_x_const(trace->graph, value);
}

static void refuse_operand(lua_State *L, int index, const char *name, int count)
{
    int type = lua_type(L, index);
    const char *call = show_call(L, name, count);

    if (type == LUA_TTABLE || pnl_test(L, index, &pnl_vec_class) || pnl_test(L, index, &pnl_mat_class) ||
        pnl_test(L, index, &pnl_sparse_class))
        refuse(L,
               "%s: the function is traced with one scalar symbol per argument, so that symbols mix with numbers only, "
               "not with a %s; its entries are numbers, as in v[1]",
               call, type == LUA_TTABLE ? "table" : pnl_kind_name(L, index));
    refuse(L, "%s: a symbol mixes with numbers and symbols, not with a %s%s", call, pnl_kind_name(L, index),
           type == LUA_TNIL       ? "; is a name misspelt?"
           : type == LUA_TBOOLEAN ? "; conditions for pn.where come from pn.lt, pn.le, pn.gt and pn.ge"
                                  : "");
}

/* The values at 1..count as nodes of one graph, which is returned with its trace. */
static pnl_expression *read_operands(lua_State *L, pn_node *nodes, const char *name, int count)
{
    pnl_expression *trace = trace_of(L, count);

    for (int i = 1; i <= count; i++) {
        if (is_symbol(L, i))
            nodes[i - 1] = pnl_symbol_node(L, i, trace);
        else if (lua_type(L, i) == LUA_TNUMBER)
            nodes[i - 1] = constant(L, i, trace, name, count);
        else
            refuse_operand(L, i, name, count);
    }
    return trace;
}

/* ---- functions and operators ---- */

static const struct {
    const char *name;
    pn_opcode op;
} functions[] = {
    { "exp", PN_X_EXP },   { "log", PN_X_LOG },         { "log1p", PN_X_LOG1P },       { "expm1", PN_X_EXPM1 },
    { "sqrt", PN_X_SQRT }, { "abs", PN_X_ABS },         { "sign", PN_X_SIGN },         { "relu", PN_X_MAX },
    { "tanh", PN_X_TANH }, { "sigmoid", PN_X_SIGMOID }, { "softplus", PN_X_SOFTPLUS }, { "erf", PN_X_ERF },
    { "sin", PN_X_SIN },   { "cos", PN_X_COS },         { "negate", PN_X_NEG },
};

static const struct {
    pn_opcode op;
    bool swap; /* a > b is b < a */
} operators[PN_OP_COUNT] = {
    [PN_OP_ADD] = { PN_X_ADD, false },      [PN_OP_SUBTRACT] = { PN_X_SUB, false },
    [PN_OP_MULTIPLY] = { PN_X_MUL, false }, [PN_OP_DIVIDE] = { PN_X_DIV, false },
    [PN_OP_POWER] = { PN_X_POW, false },    [PN_OP_MIN] = { PN_X_MIN, false },
    [PN_OP_MAX] = { PN_X_MAX, false },      [PN_OP_LT] = { PN_X_LT, false },
    [PN_OP_LE] = { PN_X_LE, false },        [PN_OP_GT] = { PN_X_LT, true },
    [PN_OP_GE] = { PN_X_LE, true },
};

static void symbol_apply(lua_State *L, const pn_function *function)
{
    pn_node x, result;
    pnl_expression *trace = read_operands(L, &x, function->name, 1);
    size_t i = 0;

    while (i < sizeof functions / sizeof functions[0] && strcmp(functions[i].name, function->name) != 0)
        i++;
    if (i == sizeof functions / sizeof functions[0]) {
        refuse(L, "%s cannot be traced", function->name);
        return;
    }
    if (functions[i].op == PN_X_MAX) /* relu */
        result = pn_x_binary(trace->graph, PN_X_MAX, x, pn_x_const(trace->graph, 0.0));
    else
        result = pn_x_unary(trace->graph, functions[i].op, x);
    pnl_push_symbol(L, trace, result);
}

/* The symbol on the top is the condition of the operands at 1 and 2: something must be made of it before the function
 * returns. */
static void watch(lua_State *L, pn_operator op)
{
    symbol *self = test_symbol(L, -1);
    int at = lua_gettop(L);
    const char *text = show_call(L, pn_operator_name(op), 2);

    push_place(L);
    for (int i = 0; i < PNL_CONDITIONS; i++) {
        pnl_condition *condition = &self->trace->conditions[i];

        if (!condition->waiting) {
            condition->waiting = true;
            (void)snprintf(condition->text, sizeof condition->text, "%s", text);
            (void)snprintf(condition->place, sizeof condition->place, "%s", lua_tostring(L, -1));
            self->condition = i + 1;
            break;
        }
    }
    lua_settop(L, at);
}

static void symbol_operate(lua_State *L, pn_operator op)
{
    pn_node nodes[2];
    pnl_expression *trace = read_operands(L, nodes, pn_operator_name(op), 2);
    int first = operators[op].swap ? 1 : 0;

    pnl_push_symbol(L, trace, pn_x_binary(trace->graph, operators[op].op, nodes[first], nodes[1 - first]));
    if (operators[op].op == PN_X_LT || operators[op].op == PN_X_LE)
        watch(L, op);
}

static void symbol_where(lua_State *L)
{
    pn_node nodes[3];
    pnl_expression *trace;

    if (!is_symbol(L, 1))
        refuse(L, "where: the condition must come from lt, le, gt or ge, got %s", pnl_got(L, 1));
    trace = read_operands(L, nodes, "where", 3);
    pnl_push_symbol(L, trace, pn_x_where(trace->graph, nodes[0], nodes[1], nodes[2]));
}

const pnl_number_kind pnl_kind_symbol = { "symbol", is_symbol, symbol_apply, symbol_operate, symbol_where };

/* ---- what a symbol cannot do ---- */

static bool is_function(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0 && functions[i].op != PN_X_NEG)
            return true;
    }
    return strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
}

/* "; in place of max use pn.max" when the comparison is math.max's. */
static const char *hint_of_caller(lua_State *L)
{
    lua_Debug frame;

    if (!lua_getstack(L, 1, &frame) || !lua_getinfo(L, "Sn", &frame) || strcmp(frame.what, "C") != 0 || !frame.name ||
        !is_function(frame.name))
        return "";
    return lua_pushfstring(L, "; in place of math.%s use pn.%s", frame.name, frame.name);
}

/* z < y and z <= y; Lua gives z > 0 as 0 < z. */
static int refuse_order(lua_State *L, const char *const signs[2], const char *const names[2])
{
    int swapped = is_symbol(L, 1) ? 0 : 1, a = 1 + swapped, b = 2 - swapped;

    (void)trace_of(L, 2);
    lua_settop(L, 2);
    for (int i = 1; i <= 2; i++) {
        if (!is_symbol(L, i) && lua_type(L, i) != LUA_TNUMBER)
            refuse_operand(L, i, signs[0], 2);
    }
    return refuse(L, "%s %s %s cannot be decided while the function is traced: write pn.where(pn.%s(%s, %s), a, b)%s",
                  show_operand(L, a), signs[swapped], show_operand(L, b), names[swapped], show(L, a), show(L, b),
                  hint_of_caller(L));
}

static int refuse_lt(lua_State *L)
{
    return refuse_order(L, (const char *const[]){ "<", ">" }, (const char *const[]){ "lt", "gt" });
}

static int refuse_le(lua_State *L)
{
    return refuse_order(L, (const char *const[]){ "<=", ">=" }, (const char *const[]){ "le", "ge" });
}

static int refuse_eq(lua_State *L)
{
    return refuse(L,
                  "%s cannot be decided while the function is traced: compare by pn.lt, pn.le, pn.gt or pn.ge and "
                  "choose by pn.where(cond, a, b)",
                  show_call(L, "==", 2));
}

static int refuse_concat(lua_State *L)
{
    return refuse(L, "a symbol is not text: tostring(%s) gives its expression", show(L, is_symbol(L, 1) ? 1 : 2));
}

static int refuse_len(lua_State *L)
{
    return refuse(L, "#%s: a symbol stands for one number, without a length", show_operand(L, 1));
}

static int refuse_call(lua_State *L)
{
    return refuse(L, "%s(...): a symbol stands for one number, it cannot be called; is a `*` missing?",
                  show_operand(L, 1));
}

/* One function for each of Lua's whole-number operators: a row has no upvalues that would tell which it is. */
#define REFUSE_WHOLE(name, sign)                                                                                       \
    static int refuse_##name(lua_State *L)                                                                             \
    {                                                                                                                  \
        return refuse(L, "%s: a symbol has + - * / ^ and the functions of pn; no whole-number operators",              \
                      show_call(L, sign, 2));                                                                          \
    }

REFUSE_WHOLE(idiv, "//")
REFUSE_WHOLE(mod, "%")
REFUSE_WHOLE(band, "&")
REFUSE_WHOLE(bor, "|")
REFUSE_WHOLE(bxor, "~")
REFUSE_WHOLE(shl, "<<")
REFUSE_WHOLE(shr, ">>")

static int refuse_bnot(lua_State *L)
{
    return refuse(L, "~%s: a symbol has + - * / ^ and the functions of pn; no whole-number operators",
                  show_operand(L, 1));
}

static int refuse_index(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;

    if (name && is_function(name))
        return refuse(L, "%s has no '%s': a symbol stands for one number; write pn.%s(%s)", show_operand(L, 1), name,
                      name, show(L, 1));
    return refuse(L, "%s has no '%s': a symbol stands for one number, without fields, entries or methods",
                  show_operand(L, 1), pnl_text(L, 2));
}

static int to_string(lua_State *L)
{
    symbol *self = pnl_check(L, 1, &pnl_symbol_class);
    char text[1024];

    use(self); /* printed on purpose: no forgotten condition */
    pn_graph_text(self->trace->graph, self->node, text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

/* ---- tables ---- */

static const pnl_row symbol_rows[] = {
    META("__add", pnl_meta_add, "z + y -> symbol", "The sum; either side may be a finite number."),
    META("__sub", pnl_meta_sub, "z - y -> symbol", "The difference; either side may be a finite number."),
    META("__mul", pnl_meta_mul, "z * y -> symbol", "The product; either side may be a finite number."),
    META("__div", pnl_meta_div, "z / y -> symbol", "The quotient; either side may be a finite number."),
    META("__pow", pnl_meta_pow, "z ^ y -> symbol", "The power; either side may be a finite number."),
    META("__unm", pnl_meta_unm, "-z -> symbol", "The negative."),
    META("__lt", refuse_lt, "z < y", "An error, as z > y; write pn.where(pn.lt(z, y), a, b)."),
    META("__le", refuse_le, "z <= y", "An error, as z >= y; write pn.where(pn.le(z, y), a, b)."),
    META("__eq", refuse_eq, "z == y",
         "An error for two symbols.  Otherwise Lua does not ask the symbol: z == 0 is false, z == z is true."),
    META("__concat", refuse_concat, "z .. \"text\"", "An error; tostring(z) gives the text."),
    META("__len", refuse_len, "#z", "An error: a symbol stands for one number."),
    META("__call", refuse_call, "z(...)", "An error: a symbol stands for one number."),
    META("__idiv", refuse_idiv, "z // y", "An error: not an operation of symbols."),
    META("__mod", refuse_mod, "z % y", "An error: not an operation of symbols."),
    META("__band", refuse_band, "z & y", "An error: not an operation of symbols."),
    META("__bor", refuse_bor, "z | y", "An error: not an operation of symbols."),
    META("__bxor", refuse_bxor, "z ~ y", "An error: not an operation of symbols."),
    META("__bnot", refuse_bnot, "~z", "An error: not an operation of symbols."),
    META("__shl", refuse_shl, "z << y", "An error: not an operation of symbols."),
    META("__shr", refuse_shr, "z >> y", "An error: not an operation of symbols."),
    META("__tostring", to_string, "tostring(z) -> string", "The expression as text that Lua reads back."),
    PNL_ROW_END,
};

const pnl_class pnl_symbol_class = {
    "pn.symbol",
    symbol_free,
    symbol_rows,
    "What a traced function gets in place of a number: operators and the functions of pn make expressions of it, "
    "pn.where chooses between them.  It counts as true in `if`, `and` and `or`, and is of use only while its function "
    "is traced.",
    refuse_index,
    NULL,
};
