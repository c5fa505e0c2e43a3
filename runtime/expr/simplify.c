/* simplify.c -- the builders of nodes: constant folding where it is exact, and the rules that graph.h lists.
 * Depends on: graph_impl.h, libm.  Used by: graph.h's callers.
 * A rule either keeps the bits of the value (up to the sign of a zero) or replaces a formula by a safer one of the same
 * function. */
#include <float.h>
#include <math.h>

#include "expr/graph_impl.h"

static pn_node leaf(pn_graph *graph, pn_opcode op, pn_node a, double value)
{
    return pn_graph_intern(graph, (pn_term){ op, a, PN_NODE_NONE, PN_NODE_NONE, value });
}

pn_node pn_x_const(pn_graph *graph, double value)
{
    return leaf(graph, PN_X_CONST, PN_NODE_NONE, value == 0.0 ? 0.0 : value);
}

pn_node pn_x_var(pn_graph *graph, unsigned variable)
{
    return leaf(graph, PN_X_VAR, variable, 0.0);
}

static const pn_term *at(const pn_graph *graph, pn_node node)
{
    return &graph->terms[node];
}

static bool is_op(const pn_graph *graph, pn_node node, pn_opcode op)
{
    return at(graph, node)->op == op;
}

static bool constant(const pn_graph *graph, pn_node node)
{
    return is_op(graph, node, PN_X_CONST);
}

static pn_node plain(pn_graph *graph, pn_opcode op, pn_node a, pn_node b, pn_node c)
{
    return pn_graph_intern(graph, (pn_term){ op, a, b, c, 0.0 });
}

/* ---- one operand ---- */

/* Values of functions that are exact at a constant; false when they are not. */
static bool fold_unary(pn_opcode op, double x, double *out)
{
    switch (op) {
    case PN_X_NEG:
        *out = -x;
        return true;
    case PN_X_ABS:
        *out = fabs(x);
        return true;
    case PN_X_SIGN:
        *out = x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
        return !isnan(x);
    case PN_X_SQRT:
        *out = sqrt(x);
        return x == 0.0 || (x > 0.0 && isnormal(x * DBL_EPSILON) && fma(*out, *out, -x) == 0.0);
    case PN_X_EXP:
    case PN_X_COS:
        *out = 1.0;
        return x == 0.0;
    case PN_X_LOG:
        *out = 0.0;
        return x == 1.0;
    case PN_X_SIGMOID:
        *out = 0.5;
        return x == 0.0;
    case PN_X_LOG1P:
    case PN_X_EXPM1:
    case PN_X_TANH:
    case PN_X_ERF:
    case PN_X_SIN:
        *out = 0.0;
        return x == 0.0;
    default:
        return false;
    }
}

static pn_node negate(pn_graph *graph, pn_node a)
{
    pn_term term = *at(graph, a);

    switch (term.op) {
    case PN_X_NEG:
        return term.a;
    case PN_X_SUB:
        return pn_x_binary(graph, PN_X_SUB, term.b, term.a);
    case PN_X_MUL:
    case PN_X_DIV: /* a constant factor takes the sign */
        if (constant(graph, term.a))
            return pn_x_binary(graph, term.op, pn_x_const(graph, -at(graph, term.a)->value), term.b);
        break;
    default:
        break;
    }
    return plain(graph, PN_X_NEG, a, PN_NODE_NONE, PN_NODE_NONE);
}

/* u when the node is 1 + exp(u), else none. */
static pn_node one_plus_exp(const pn_graph *graph, pn_node node)
{
    const pn_term *term = at(graph, node);

    if (term->op == PN_X_ADD && is_op(graph, term->a, PN_X_EXP) && pn_x_is(graph, term->b, 1.0))
        return at(graph, term->a)->a;
    return PN_NODE_NONE;
}

pn_node pn_x_unary(pn_graph *graph, pn_opcode op, pn_node a)
{
    double value;

    if (a == PN_NODE_NONE)
        return PN_NODE_NONE;
    if (constant(graph, a) && fold_unary(op, at(graph, a)->value, &value))
        return pn_x_const(graph, value);
    if (op == PN_X_NEG)
        return negate(graph, a);
    if (op == PN_X_ABS && is_op(graph, a, PN_X_ABS))
        return a;
    if (op == PN_X_ABS && is_op(graph, a, PN_X_NEG))
        return pn_x_unary(graph, PN_X_ABS, at(graph, a)->a);
    if (op == PN_X_LOG && one_plus_exp(graph, a) != PN_NODE_NONE)
        return pn_x_unary(graph, PN_X_SOFTPLUS, one_plus_exp(graph, a));
    if (op == PN_X_LOG1P && is_op(graph, a, PN_X_EXP))
        return pn_x_unary(graph, PN_X_SOFTPLUS, at(graph, a)->a);
    return plain(graph, op, a, PN_NODE_NONE, PN_NODE_NONE);
}

/* ---- two operands ---- */

/* The rounding error of s = x + y is representable: zero tells that s is exact. */
static bool exact_sum(double x, double y, double s)
{
    double back = s - x;

    return isfinite(s) && (x - (s - back)) + (y - back) == 0.0;
}

/* Far from underflow, so that the fused residual is itself exact. */
static bool exact_product(double x, double y, double p)
{
    return p == 0.0 ? x == 0.0 || y == 0.0
                    : isfinite(p) && fabs(p) > DBL_MIN / DBL_EPSILON / DBL_EPSILON && fma(x, y, -p) == 0.0;
}

static bool exact_quotient(double x, double y, double q)
{
    if (y == 0.0 || !isfinite(q) || !isfinite(y))
        return false;
    return x == 0.0 || (fabs(x) > DBL_MIN / DBL_EPSILON / DBL_EPSILON && fabs(q) > DBL_MIN && fma(q, y, -x) == 0.0);
}

static bool fold_binary(pn_opcode op, double x, double y, double *out)
{
    switch (op) {
    case PN_X_ADD:
        *out = x + y;
        return exact_sum(x, y, *out);
    case PN_X_SUB:
        *out = x - y;
        return exact_sum(x, -y, *out);
    case PN_X_MUL:
        *out = x * y;
        return exact_product(x, y, *out);
    case PN_X_DIV:
        *out = x / y;
        return exact_quotient(x, y, *out);
    case PN_X_MIN:
        *out = fmin(x, y);
        return !isnan(x) && !isnan(y);
    case PN_X_MAX:
        *out = fmax(x, y);
        return !isnan(x) && !isnan(y);
    case PN_X_LT:
        *out = x < y;
        return true;
    case PN_X_LE:
        *out = x <= y;
        return true;
    default:
        return false;
    }
}

/* Constants last in sums and first in products; else the older operand first. */
static pn_node commuting(pn_graph *graph, pn_opcode op, pn_node a, pn_node b)
{
    bool swap = constant(graph, a) != constant(graph, b) ? constant(graph, a) == (op == PN_X_ADD) : a > b;

    return swap ? plain(graph, op, b, a, PN_NODE_NONE) : plain(graph, op, a, b, PN_NODE_NONE);
}

static bool negative(const pn_graph *graph, pn_node node)
{
    return constant(graph, node) && at(graph, node)->value < 0.0;
}

static pn_node opposite(pn_graph *graph, pn_node number)
{
    return pn_x_const(graph, -at(graph, number)->value);
}

static pn_node add(pn_graph *graph, pn_node a, pn_node b)
{
    if (pn_x_is(graph, a, 0.0))
        return b;
    if (pn_x_is(graph, b, 0.0))
        return a;
    if (a == b)
        return pn_x_binary(graph, PN_X_MUL, pn_x_const(graph, 2.0), a);
    if (negative(graph, b) && !constant(graph, a))
        return pn_x_binary(graph, PN_X_SUB, a, opposite(graph, b));
    if (negative(graph, a) && !constant(graph, b))
        return pn_x_binary(graph, PN_X_SUB, b, opposite(graph, a));
    if (is_op(graph, b, PN_X_NEG))
        return pn_x_binary(graph, PN_X_SUB, a, at(graph, b)->a);
    if (is_op(graph, a, PN_X_NEG))
        return pn_x_binary(graph, PN_X_SUB, b, at(graph, a)->a);
    return commuting(graph, PN_X_ADD, a, b);
}

static pn_node subtract(pn_graph *graph, pn_node a, pn_node b)
{
    if (pn_x_is(graph, b, 0.0))
        return a;
    if (pn_x_is(graph, a, 0.0))
        return pn_x_unary(graph, PN_X_NEG, b);
    if (is_op(graph, b, PN_X_NEG))
        return pn_x_binary(graph, PN_X_ADD, a, at(graph, b)->a);
    if (negative(graph, b) && !constant(graph, a))
        return pn_x_binary(graph, PN_X_ADD, a, opposite(graph, b));
    return plain(graph, PN_X_SUB, a, b, PN_NODE_NONE);
}

/* c*(d*x) -> (c*d)*x when c*d is exact, and x*(1/y) -> x/y: one rounding fewer.  None when neither applies.
 * c = 0 is left alone: it would go on through a whole chain of factors, one call in another. */
static pn_node fewer_roundings(pn_graph *graph, pn_node a, pn_node b)
{
    const pn_term *other = at(graph, b);
    pn_node left = other->a, right = other->b;

    if (other->op == PN_X_DIV && pn_x_is(graph, left, 1.0))
        return pn_x_binary(graph, PN_X_DIV, a, right);
    if (constant(graph, a) && !pn_x_is(graph, a, 0.0) && other->op == PN_X_MUL && constant(graph, left)) {
        pn_node product = pn_x_binary(graph, PN_X_MUL, a, left);

        if (product != PN_NODE_NONE && constant(graph, product))
            return pn_x_binary(graph, PN_X_MUL, product, right);
    }
    return PN_NODE_NONE;
}

static pn_node multiply(pn_graph *graph, pn_node a, pn_node b)
{
    bool minus_a = is_op(graph, a, PN_X_NEG), minus_b = is_op(graph, b, PN_X_NEG);
    pn_node better;

    if (pn_x_is(graph, a, 1.0))
        return b;
    if (pn_x_is(graph, b, 1.0))
        return a;
    if (pn_x_is(graph, a, -1.0))
        return pn_x_unary(graph, PN_X_NEG, b);
    if (pn_x_is(graph, b, -1.0))
        return pn_x_unary(graph, PN_X_NEG, a);
    if (minus_a || minus_b) {
        pn_node product = pn_x_binary(graph, PN_X_MUL, minus_a ? at(graph, a)->a : a, minus_b ? at(graph, b)->a : b);

        return minus_a && minus_b ? product : pn_x_unary(graph, PN_X_NEG, product);
    }
    better = fewer_roundings(graph, a, b);
    if (better == PN_NODE_NONE)
        better = fewer_roundings(graph, b, a);
    return better != PN_NODE_NONE ? better : commuting(graph, PN_X_MUL, a, b);
}

/* x / 2^k -> 2^-k x, unless the power underflows or overflows. */
static bool has_exact_inverse(const pn_graph *graph, pn_node node, double *inverse)
{
    int exponent;

    if (!constant(graph, node) || fabs(frexp(at(graph, node)->value, &exponent)) != 0.5)
        return false;
    *inverse = 1.0 / at(graph, node)->value;
    return isnormal(*inverse) && isnormal(at(graph, node)->value);
}

static pn_node divide(pn_graph *graph, pn_node a, pn_node b)
{
    bool minus_a = is_op(graph, a, PN_X_NEG), minus_b = is_op(graph, b, PN_X_NEG);
    pn_node u = one_plus_exp(graph, b);
    double inverse;

    if (pn_x_is(graph, b, 1.0))
        return a;
    if (has_exact_inverse(graph, b, &inverse)) /* -1 too */
        return pn_x_binary(graph, PN_X_MUL, pn_x_const(graph, inverse), a);
    if (u != PN_NODE_NONE && pn_x_is(graph, a, 1.0))
        return pn_x_unary(graph, PN_X_SIGMOID, pn_x_unary(graph, PN_X_NEG, u));
    if (u != PN_NODE_NONE && is_op(graph, a, PN_X_EXP) && at(graph, a)->a == u)
        return pn_x_unary(graph, PN_X_SIGMOID, u);
    if (minus_a || minus_b) {
        pn_node quotient = pn_x_binary(graph, PN_X_DIV, minus_a ? at(graph, a)->a : a, minus_b ? at(graph, b)->a : b);

        return minus_a && minus_b ? quotient : pn_x_unary(graph, PN_X_NEG, quotient);
    }
    return plain(graph, PN_X_DIV, a, b, PN_NODE_NONE);
}

static pn_node power(pn_graph *graph, pn_node a, pn_node b)
{
    if (pn_x_is(graph, b, 0.0))
        return pn_x_const(graph, 1.0);
    if (pn_x_is(graph, b, 1.0))
        return a;
    if (pn_x_is(graph, b, 2.0))
        return pn_x_binary(graph, PN_X_MUL, a, a);
    if (pn_x_is(graph, b, -1.0))
        return pn_x_binary(graph, PN_X_DIV, pn_x_const(graph, 1.0), a);
    if (pn_x_is(graph, b, 0.5))
        return pn_x_unary(graph, PN_X_SQRT, a);
    return plain(graph, PN_X_POW, a, b, PN_NODE_NONE);
}

pn_node pn_x_binary(pn_graph *graph, pn_opcode op, pn_node a, pn_node b)
{
    double value;

    if (a == PN_NODE_NONE || b == PN_NODE_NONE)
        return PN_NODE_NONE;
    if (constant(graph, a) && constant(graph, b) && fold_binary(op, at(graph, a)->value, at(graph, b)->value, &value))
        return pn_x_const(graph, value);
    switch (op) {
    case PN_X_ADD:
        return add(graph, a, b);
    case PN_X_SUB:
        return subtract(graph, a, b);
    case PN_X_MUL:
        return multiply(graph, a, b);
    case PN_X_DIV:
        return divide(graph, a, b);
    case PN_X_POW:
        return power(graph, a, b);
    case PN_X_MIN:
    case PN_X_MAX:
        return a == b ? a : plain(graph, op, a, b, PN_NODE_NONE);
    default:
        return plain(graph, op, a, b, PN_NODE_NONE);
    }
}

pn_node pn_x_where(pn_graph *graph, pn_node condition, pn_node a, pn_node b)
{
    if (condition == PN_NODE_NONE || a == PN_NODE_NONE || b == PN_NODE_NONE)
        return PN_NODE_NONE;
    if (constant(graph, condition))
        return at(graph, condition)->value != 0.0 ? a : b;
    return a == b ? a : plain(graph, PN_X_WHERE, condition, a, b);
}
