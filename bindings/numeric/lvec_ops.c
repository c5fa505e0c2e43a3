/* lvec_ops.c -- operators and functions of vectors.  Depends on: lnumbers.h.  Used by: lmath.c's table of kinds. */
#include "bindings/numeric/lnumbers.h"

static bool is_vec(lua_State *L, int index)
{
    return pnl_test(L, index, &pnl_vec_class) || lua_type(L, index) == LUA_TTABLE;
}

/* A vector, or a number that stands for as many equal entries as needed. */
typedef struct operand {
    const double *data;
    size_t n, step;
    double number;
} operand;

static bool get_operand(lua_State *L, int index, operand *out)
{
    if (lua_type(L, index) == LUA_TNUMBER) {
        out->number = lua_tonumber(L, index);
        out->data = &out->number;
        out->n = 1;
        out->step = 0;
        return true;
    }
    if (is_vec(L, index)) {
        pn_vec vec = pnl_check_vec(L, index);

        out->data = vec.data;
        out->n = vec.n;
        out->step = 1;
        return true;
    }
    return false;
}

static void vec_apply(lua_State *L, const pn_function *function)
{
    pn_vec x = pnl_check_vec(L, 1);

    function->apply(x.n, x.data, pnl_new_vec_unset(L, x.n));
}

static void vec_operate(lua_State *L, pn_operator op)
{
    operand a, b;
    size_t n;

    if (!get_operand(L, 1, &a) || !get_operand(L, 2, &b)) {
        pnl_no_operator(L, op, NULL);
        return;
    }
    if (a.step == 1 && b.step == 1 && a.n != b.n)
        pnl_error(L, "vec %s vec: the vectors have %zu and %zu entries", pn_operator_name(op), a.n, b.n);
    n = a.step == 1 ? a.n : b.n;
    pn_operate(op, n, a.data, a.step, b.data, b.step, pnl_new_vec_unset(L, n));
}

static void vec_where(lua_State *L)
{
    pn_vec condition;
    operand a, b;

    if (!is_vec(L, 1) || !get_operand(L, 2, &a) || !get_operand(L, 3, &b)) {
        pnl_error(L,
                  "where(%s, %s, %s) is not defined; it takes a condition made by lt, le, gt or ge, and numbers or "
                  "vectors",
                  pnl_kind_name(L, 1), pnl_kind_name(L, 2), pnl_kind_name(L, 3));
        return;
    }
    condition = pnl_check_vec(L, 1);
    if ((a.step == 1 && a.n != condition.n) || (b.step == 1 && b.n != condition.n))
        pnl_error(L, "where: the condition has %zu entries, the choice %zu", condition.n,
                  a.step == 1 && a.n != condition.n ? a.n : b.n);
    pn_where(condition.n, condition.data, a.data, a.step, b.data, b.step, pnl_new_vec_unset(L, condition.n));
}

const pnl_number_kind pnl_kind_vec = { "vec", is_vec, vec_apply, vec_operate, vec_where };
