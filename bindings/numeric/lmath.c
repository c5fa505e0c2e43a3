/* lmath.c -- operators and functions for everything that one can calculate with, and what the number types share.
 * Depends on: lnumbers.h, numeric/elementwise.h.  Used by: lvec.c, lmat.c, lsparse.c, module.c. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bindings/numeric/lnumbers.h"

/* ---- kinds ---- */

static bool is_number(lua_State *L, int index)
{
    return lua_type(L, index) == LUA_TNUMBER;
}

static void number_apply(lua_State *L, const pn_function *function)
{
    double x = lua_tonumber(L, 1);

    function->apply(1, &x, &x);
    lua_pushnumber(L, x);
}

static void number_operate(lua_State *L, pn_operator op)
{
    double a = lua_tonumber(L, 1), b = lua_tonumber(L, 2), out;

    pn_operate(op, 1, &a, 0, &b, 0, &out);
    if (op == PN_OP_LT || op == PN_OP_LE || op == PN_OP_GT || op == PN_OP_GE)
        lua_pushboolean(L, out != 0.0);
    else
        lua_pushnumber(L, out);
}

static void number_where(lua_State *L)
{
    pnl_error(L, "where: the condition must come from lt, le, gt or ge, got %s", pnl_kind_name(L, 1));
}

static const pnl_number_kind kind_number = { "number", is_number, number_apply, number_operate, number_where };

/* Highest first: an operator goes to the highest kind among its operands. */
static const pnl_number_kind *const kinds[] = { &pnl_kind_symbol, &pnl_kind_sparse, &pnl_kind_mat, &pnl_kind_vec,
                                                &kind_number };

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* KIND_COUNT for what is no kind. */
static size_t rank_of(lua_State *L, int index)
{
    size_t rank = 0;

    while (rank < KIND_COUNT && !kinds[rank]->is(L, index))
        rank++;
    return rank;
}

const char *pnl_kind_name(lua_State *L, int index)
{
    size_t rank = rank_of(L, index);

    if (rank < KIND_COUNT && lua_type(L, index) != LUA_TTABLE)
        return kinds[rank]->name;
    if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING)
        return lua_tostring(L, -1); /* left on the stack, which keeps it alive for the message */
    return luaL_typename(L, index);
}

int pnl_no_operator(lua_State *L, pn_operator op, const char *hint)
{
    const char *name = pn_operator_name(op), *a = pnl_kind_name(L, 1), *b = pnl_kind_name(L, 2);

    if (op <= PN_OP_POWER)
        return pnl_error(L, "%s %s %s is not defined%s%s", a, name, b, hint ? "; " : "", hint ? hint : "");
    return pnl_error(L, "%s(%s, %s) is not defined%s%s", name, a, b, hint ? "; " : "", hint ? hint : "");
}

int pnl_operate(lua_State *L, pn_operator op)
{
    size_t a = rank_of(L, 1), b = rank_of(L, 2);

    if (a == KIND_COUNT || b == KIND_COUNT)
        return pnl_no_operator(L, op, lua_isnil(L, 1) || lua_isnil(L, 2) ? "is a name misspelt?" : NULL);
    kinds[a < b ? a : b]->operate(L, op);
    return 1;
}

int pnl_apply(lua_State *L, const pn_function *function)
{
    size_t rank = rank_of(L, 1);

    if (rank == KIND_COUNT)
        return pnl_error(L, "%s takes a number or a vector, got %s", function->name,
                         lua_isnone(L, 1) ? "nothing" : pnl_kind_name(L, 1));
    kinds[rank]->apply(L, function);
    return 1;
}

/* ---- metamethods ---- */

int pnl_meta_add(lua_State *L)
{
    return pnl_operate(L, PN_OP_ADD);
}

int pnl_meta_sub(lua_State *L)
{
    return pnl_operate(L, PN_OP_SUBTRACT);
}

int pnl_meta_mul(lua_State *L)
{
    return pnl_operate(L, PN_OP_MULTIPLY);
}

int pnl_meta_div(lua_State *L)
{
    return pnl_operate(L, PN_OP_DIVIDE);
}

int pnl_meta_pow(lua_State *L)
{
    return pnl_operate(L, PN_OP_POWER);
}

int pnl_meta_unm(lua_State *L)
{
    return pnl_apply(L, &pn_negate);
}

int pnl_meta_order(lua_State *L)
{
    return pnl_error(L,
                     "%s < %s: Lua makes one boolean of a comparison by <, <=, > or >=; compare entry by entry with "
                     "lt, le, gt or ge, and choose with where(cond, a, b)",
                     pnl_kind_name(L, 1), pnl_kind_name(L, 2));
}

/* ---- functions ---- */

static int call_function(lua_State *L)
{
    lua_settop(L, 1);
    return pnl_apply(L, lua_touserdata(L, lua_upvalueindex(1)));
}

static int call_comparison(lua_State *L)
{
    lua_settop(L, 2);
    return pnl_operate(L, (pn_operator)lua_tointeger(L, lua_upvalueindex(1)));
}

/* min(a, b, c ...): from the left */
static int call_fold(lua_State *L)
{
    pn_operator op = (pn_operator)lua_tointeger(L, lua_upvalueindex(1));

    if (lua_gettop(L) < 2)
        return pnl_error(L, "%s takes two or more numbers or vectors; v:%s() is the %s entry of one",
                         pn_operator_name(op), pn_operator_name(op), op == PN_OP_MIN ? "smallest" : "largest");
    while (lua_gettop(L) >= 2) {
        int operands = lua_gettop(L);

        (void)pnl_operate(L, op);
        lua_replace(L, 1);
        lua_settop(L, operands);
        lua_remove(L, 2);
    }
    return 1;
}

static int call_clamp(lua_State *L)
{
    lua_settop(L, 3);
    for (int i = 1; i <= 3; i++) {
        if (rank_of(L, i) == KIND_COUNT)
            return pnl_error(L, "clamp: expected clamp(x, low, high) of numbers or vectors, got %s as %s",
                             pnl_kind_name(L, i),
                             i == 1   ? "x"
                             : i == 2 ? "low"
                                      : "high");
    }
    if (is_number(L, 2) && is_number(L, 3) && lua_tonumber(L, 2) > lua_tonumber(L, 3))
        return pnl_error(L, "clamp: low must not be above high, got %s and %s", pnl_text(L, 2), pnl_text(L, 3));
    (void)pnl_operate(L, PN_OP_MAX);
    lua_replace(L, 1);
    lua_pushvalue(L, 3);
    lua_replace(L, 2);
    lua_settop(L, 2);
    return pnl_operate(L, PN_OP_MIN);
}

static int call_where(lua_State *L)
{
    size_t highest = KIND_COUNT;

    lua_settop(L, 3);
    if (lua_type(L, 1) == LUA_TBOOLEAN) {
        lua_settop(L, lua_toboolean(L, 1) ? 2 : 3);
        return 1;
    }
    for (int i = 1; i <= 3; i++) {
        size_t rank = rank_of(L, i);

        highest = rank < highest ? rank : highest;
    }
    if (highest == KIND_COUNT)
        number_where(L);
    kinds[highest]->where(L);
    return 1;
}

/* ln(e^a + e^b) = a + softplus(b - a) of the entries a and b of the list at 2, into the place of a.  Of symbols the
 * derivatives of this form do not cancel (pn_graph_gradient), and it is bounded by its values at the ends. */
static void join_entries(lua_State *L, lua_Integer a, lua_Integer b)
{
    lua_rawgeti(L, 2, a);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_rawgeti(L, 2, b);
    lua_pushvalue(L, -3);
    lua_arith(L, LUA_OPSUB);
    lua_call(L, 1, 1);
    lua_arith(L, LUA_OPADD);
    lua_rawseti(L, 2, a);
}

/* Neighbours, then neighbours of these, ...  Upvalue: pn.softplus. */
static int call_logsumexp(lua_State *L)
{
    lua_Integer count;

    lua_settop(L, 1);
    if (!lua_istable(L, 1) || (count = (lua_Integer)lua_rawlen(L, 1)) == 0)
        return pnl_error(L, "logsumexp: expected a list with at least one entry, got %s",
                         lua_istable(L, 1) ? "an empty one" : pnl_kind_name(L, 1));
    lua_createtable(L, (int)(count < 1024 ? count : 0), 0);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, 1, i);
        if (rank_of(L, -1) == KIND_COUNT || lua_istable(L, -1))
            return pnl_error(L, "logsumexp: entry %d must be a number, a vector or a symbol, got %s", (int)i,
                             pnl_got(L, -1));
        lua_rawseti(L, 2, i);
    }
    for (lua_Integer width = 1; width < count; width *= 2) {
        for (lua_Integer i = 1; i + width <= count; i += 2 * width)
            join_entries(L, i, i + width);
    }
    lua_rawgeti(L, 2, 1);
    return 1;
}

/* ---- arguments and text ---- */

size_t pnl_check_index(lua_State *L, int index, size_t most, const char *owner, const char *what)
{
    int exact = 0;
    lua_Integer value = lua_tointegerx(L, index, &exact);

    if (lua_type(L, index) != LUA_TNUMBER || !exact || value < 1 || (lua_Unsigned)value > most)
        pnl_error(L, "%s: %s must be a whole number from 1 to %zu, got %s", owner, what, most, pnl_text(L, index));
    return (size_t)value;
}

void pnl_read_numbers(lua_State *L, int index, double *out, size_t n, const char *owner)
{
    if (n == 0) {
        lua_pushnil(L);
        if (lua_next(L, index))
            pnl_error(L, "%s: expected a list of numbers, got a table with the key '%s'", owner, pnl_text(L, -2));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int type = lua_rawgeti(L, index, (lua_Integer)i + 1);

        if (type != LUA_TNUMBER)
            pnl_error(L, "%s: entry %zu must be a number, got %s", owner, i + 1, luaL_typename(L, -1));
        out[i] = lua_tonumber(L, -1);
        if (!isfinite(out[i]))
            pnl_error(L, "%s: entry %zu must be a finite number, got %s", owner, i + 1, pnl_got(L, -1));
        lua_pop(L, 1);
    }
}

void pnl_add_number(luaL_Buffer *text, double x)
{
    char digits[32];

    (void)snprintf(digits, sizeof digits, "%.6g", x);
    luaL_addstring(text, digits);
}

void pnl_callable(lua_State *L, const char *library, lua_CFunction call, const char *signature, const char *doc)
{
    if (!lua_getmetatable(L, -1))
        lua_createtable(L, 0, 1);
    lua_pushcfunction(L, call);
    lua_setfield(L, -2, "__call");
    lua_setmetatable(L, -2);
    if (!pnl_documenting(L))
        return; /* asking for the reference would make it now */
    pnl_push_reference(L);
    if (lua_getfield(L, -1, library) == LUA_TTABLE) {
        lua_pushstring(L, signature);
        lua_setfield(L, -2, "signature");
        lua_pushstring(L, doc);
        lua_setfield(L, -2, "doc");
    }
    lua_pop(L, 2);
}

/* ---- buffers ---- */

pnl_buffer *pnl_buffer_new(size_t count)
{
    const size_t head = (sizeof(pnl_buffer) + sizeof(double) - 1) / sizeof(double);
    /* No object is larger than PTRDIFF_MAX: refused here, whatever an allocator makes of it. */
    const size_t most = (size_t)PTRDIFF_MAX / sizeof(double) - head;
    pnl_buffer *buffer = count <= most ? pn_alloc(count + head, sizeof(double)) : NULL;

    if (buffer)
        *buffer = (pnl_buffer){ .refs = 1 };
    return buffer;
}

pnl_buffer *pnl_buffer_retain(pnl_buffer *buffer)
{
    if (buffer)
        buffer->refs++;
    return buffer;
}

void pnl_buffer_release(pnl_buffer *buffer)
{
    if (buffer && --buffer->refs == 0)
        pn_free(buffer);
}

pnl_buffer *pnl_buffer_of(lua_State *L, int index, bool *frozen)
{
    pnl_vec *vec = pnl_test(L, index, &pnl_vec_class);
    pnl_mat *mat = vec ? NULL : pnl_test(L, index, &pnl_mat_class);

    *frozen = vec   ? vec->frozen
              : mat ? mat->frozen
                    : true; /* all other objects are immutable, and so is their inside */
    return vec ? vec->buffer : mat ? mat->buffer : NULL;
}

static void set_frozen(lua_State *L, int index, bool frozen)
{
    pnl_vec *vec = pnl_test(L, index, &pnl_vec_class);
    pnl_mat *mat = vec ? NULL : pnl_check(L, index, &pnl_mat_class);

    if (vec)
        vec->frozen = frozen;
    else
        mat->frozen = frozen;
}

void pnl_freeze(lua_State *L, int index)
{
    set_frozen(L, index, true);
}

void pnl_thaw(lua_State *L, int index)
{
    set_frozen(L, index, false);
}

void pnl_check_changeable(lua_State *L, bool frozen)
{
    if (frozen)
        pnl_error(L, "these numbers belong to an object and cannot be changed; change a copy(), as in v:copy()");
}

static const char weight_key = 'w';

void pnl_weigh(lua_State *L, size_t bytes)
{
    size_t *pending, total;

    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &weight_key) != LUA_TUSERDATA) {
        lua_pop(L, 1);
        *(size_t *)lua_newuserdatauv(L, sizeof *pending, 0) = 0;
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &weight_key);
    }
    pending = lua_touserdata(L, -1);
    lua_pop(L, 1); /* the registry keeps it */
    total = *pending + bytes;
    *pending = total < (size_t)2 << 20 ? total : 0;
    if (*pending == 0)
        pnl_weight(L, total);
}

/* ---- the module ---- */

static void add_functions(lua_State *L)
{
    char text[64];

    for (size_t i = 0; pn_function_at(i); i++) {
        const pn_function *function = pn_function_at(i);

        lua_pushlightuserdata(L, (void *)(uintptr_t)function);
        lua_pushcclosure(L, call_function, 1);
        lua_setfield(L, -2, function->name);
        (void)snprintf(text, sizeof text, "pn.%s(x) -> number or vec", function->name);
        lua_pushfstring(L, "%s  Entry by entry for a vector; an expression for a symbol.", function->doc);
        pnl_reference(L, "", function->name, PNL_NOTHING, text, lua_tostring(L, -1), NULL, NULL);
        lua_pop(L, 1);
    }
}

static void add_operator(lua_State *L, pn_operator op, lua_CFunction call, const char *signature, const char *doc)
{
    lua_pushinteger(L, op);
    lua_pushcclosure(L, call, 1);
    lua_setfield(L, -2, pn_operator_name(op));
    pnl_reference(L, "", pn_operator_name(op), PNL_NOTHING, signature, doc, NULL, NULL);
}

static void add_function(lua_State *L, const char *name, lua_CFunction call, const char *signature, const char *doc)
{
    lua_pushcfunction(L, call);
    lua_setfield(L, -2, name);
    pnl_reference(L, "", name, PNL_NOTHING, signature, doc, NULL, NULL);
}

#define COMPARISON_DOC                                                                                                 \
    "Entry by entry for vectors (or a vector and a number), as 1 and 0; for two numbers a boolean; for "               \
    "symbols a condition of the expression."

void pnl_open_math(lua_State *L)
{
    add_functions(L);
    add_operator(L, PN_OP_MIN, call_fold, "pn.min(a, b, ...) -> number or vec",
                 "The smallest, entry by entry for vectors; numbers stand for equal entries.  NaN when one is NaN.");
    add_operator(L, PN_OP_MAX, call_fold, "pn.max(a, b, ...) -> number or vec",
                 "The largest, entry by entry for vectors; numbers stand for equal entries.  NaN when one is NaN.");
    add_operator(L, PN_OP_LT, call_comparison, "pn.lt(a, b) -> condition", "a < b.  " COMPARISON_DOC);
    add_operator(L, PN_OP_LE, call_comparison, "pn.le(a, b) -> condition", "a <= b.  " COMPARISON_DOC);
    add_operator(L, PN_OP_GT, call_comparison, "pn.gt(a, b) -> condition", "a > b.  " COMPARISON_DOC);
    add_operator(L, PN_OP_GE, call_comparison, "pn.ge(a, b) -> condition", "a >= b.  " COMPARISON_DOC);
    add_function(L, "clamp", call_clamp, "pn.clamp(x, low, high) -> number or vec",
                 "min(max(x, low), high), entry by entry for vectors.");
    add_function(
        L, "where", call_where, "pn.where(cond, a, b) -> number or vec",
        "a where the condition holds, else b, entry by entry; both are calculated before.  The condition comes from "
        "lt, le, gt or ge.");
    lua_getfield(L, -1, "softplus");
    lua_pushcclosure(L, call_logsumexp, 1);
    lua_setfield(L, -2, "logsumexp");
    pnl_reference(
        L, "", "logsumexp", PNL_NOTHING, "pn.logsumexp(list) -> number or vec",
        "ln(exp(list[1]) + exp(list[2]) + ...) without overflow, of numbers, of vectors entry by entry, or of "
        "symbols, such as the list z of pn.loss.margins: of these it is an expression whose derivatives do not "
        "cancel.  An error for an empty list.",
        NULL, NULL);
}

void pnl_open_numbers(lua_State *L)
{
    pnl_open_vec(L);
    pnl_open_mat(L);
    pnl_open_sparse(L);
    pnl_open_math(L);
    pnl_open_npy(L);
}
