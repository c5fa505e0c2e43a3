/* derive.c -- symbolic derivatives, one forward sweep over the nodes of an expression.
 * Depends on: graph.h.  Used by: graph.h's callers.
 * Rules avoid cancellation (tanh' and sigmoid' as products) and terms with the factor 0. */
#include <math.h>

#include "core/alloc.h"
#include "expr/graph_impl.h"

#define TWO_OVER_SQRT_PI 1.1283791670955126

static pn_node times(pn_graph *graph, pn_node a, pn_node b)
{
    if (pn_x_is(graph, a, 0.0) || pn_x_is(graph, b, 0.0))
        return pn_x_const(graph, 0.0);
    return pn_x_binary(graph, PN_X_MUL, a, b);
}

static pn_node over(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_is(graph, a, 0.0) ? a : pn_x_binary(graph, PN_X_DIV, a, b);
}

static pn_node plus(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_ADD, a, b);
}

static pn_node minus(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_SUB, a, b);
}

static pn_node scaled(pn_graph *graph, double factor, pn_node a)
{
    return times(graph, pn_x_const(graph, factor), a);
}

static pn_node call(pn_graph *graph, pn_opcode op, pn_node a)
{
    return pn_x_unary(graph, op, a);
}

/* sigmoid(a) sigmoid(-a): keeps its relative accuracy on both sides */
static pn_node bell(pn_graph *graph, pn_node a)
{
    return times(graph, call(graph, PN_X_SIGMOID, a), call(graph, PN_X_SIGMOID, call(graph, PN_X_NEG, a)));
}

/* The derivative of the function `op` at a; `self` is the node of its value. */
static pn_node outer(pn_graph *graph, pn_opcode op, pn_node a, pn_node self)
{
    switch (op) {
    case PN_X_NEG:
        return pn_x_const(graph, -1.0);
    case PN_X_ABS:
        return call(graph, PN_X_SIGN, a);
    case PN_X_SQRT:
        return over(graph, pn_x_const(graph, 0.5), self);
    case PN_X_EXP:
        return self;
    case PN_X_LOG:
        return over(graph, pn_x_const(graph, 1.0), a);
    case PN_X_LOG1P:
        return over(graph, pn_x_const(graph, 1.0), plus(graph, a, pn_x_const(graph, 1.0)));
    case PN_X_EXPM1:
        return call(graph, PN_X_EXP, a);
    case PN_X_TANH:
        return scaled(graph, 4.0, bell(graph, scaled(graph, 2.0, a)));
    case PN_X_SIGMOID:
        return bell(graph, a);
    case PN_X_SOFTPLUS:
        return call(graph, PN_X_SIGMOID, a);
    case PN_X_ERF:
        return scaled(graph, TWO_OVER_SQRT_PI, call(graph, PN_X_EXP, call(graph, PN_X_NEG, times(graph, a, a))));
    case PN_X_SIN:
        return call(graph, PN_X_COS, a);
    case PN_X_COS:
        return call(graph, PN_X_NEG, call(graph, PN_X_SIN, a));
    default: /* PN_X_SIGN */
        return pn_x_const(graph, 0.0);
    }
}

/* a^b.  The exponent b - 1 stays an expression when the subtraction would round. */
static pn_node of_power(pn_graph *graph, const pn_term *term, pn_node self, pn_node da, pn_node db)
{
    pn_node lowered = pn_x_binary(graph, PN_X_POW, term->a, minus(graph, term->b, pn_x_const(graph, 1.0)));
    pn_node through_base = times(graph, times(graph, term->b, lowered), da);

    if (pn_x_is(graph, db, 0.0))
        return through_base;
    return plus(graph, through_base, times(graph, times(graph, self, call(graph, PN_X_LOG, term->a)), db));
}

static pn_node of_product(pn_graph *graph, const pn_term *term, pn_node da, pn_node db)
{
    if (term->a == term->b)
        return scaled(graph, 2.0, times(graph, term->a, da));
    return plus(graph, times(graph, da, term->b), times(graph, term->a, db));
}

/* (da - (a/b) db)/b, where a/b is the node itself */
static pn_node of_quotient(pn_graph *graph, const pn_term *term, pn_node self, pn_node da, pn_node db)
{
    return over(graph, minus(graph, da, times(graph, self, db)), term->b);
}

static pn_node of_binary(pn_graph *graph, const pn_term *term, pn_node self, pn_node da, pn_node db)
{
    switch (term->op) {
    case PN_X_ADD:
        return plus(graph, da, db);
    case PN_X_SUB:
        return minus(graph, da, db);
    case PN_X_MUL:
        return of_product(graph, term, da, db);
    case PN_X_DIV:
        return of_quotient(graph, term, self, da, db);
    case PN_X_POW:
        return of_power(graph, term, self, da, db);
    case PN_X_MIN: /* on a tie the first operand's derivative */
        return pn_x_where(graph, pn_x_binary(graph, PN_X_LE, term->a, term->b), da, db);
    case PN_X_MAX:
        return pn_x_where(graph, pn_x_binary(graph, PN_X_LE, term->b, term->a), da, db);
    default: /* conditions */
        return pn_x_const(graph, 0.0);
    }
}

/* d[] holds the derivatives of the operands. */
static pn_node derive_node(pn_graph *graph, pn_node node, unsigned variable, const pn_node *d)
{
    pn_term term = *pn_graph_term(graph, node);

    switch (pn_opcode_operands(term.op)) {
    case 1:
        return pn_x_is(graph, d[term.a], 0.0) ? d[term.a]
                                              : times(graph, outer(graph, term.op, term.a, node), d[term.a]);
    case 2:
        return of_binary(graph, &term, node, d[term.a], d[term.b]);
    case 3:
        return pn_x_where(graph, term.a, d[term.b], d[term.c]);
    default:
        return pn_x_const(graph, term.op == PN_X_VAR && term.a == variable ? 1.0 : 0.0);
    }
}

pn_node pn_graph_derivative(pn_graph *graph, pn_node root, unsigned variable)
{
    pn_node *d, result;
    bool *used;

    if (root == PN_NODE_NONE || graph->status != PN_OK)
        return PN_NODE_NONE;
    d = pn_alloc((size_t)root + 1, sizeof *d);
    used = pn_alloc((size_t)root + 1, sizeof *used);
    if (d && used) {
        pn_graph_used(graph, root, used);
        for (pn_node i = 0; i <= root; i++)
            d[i] = used[i] ? derive_node(graph, i, variable, d) : PN_NODE_NONE;
        result = d[root];
    } else {
        graph->status = PN_ENOMEM;
        result = PN_NODE_NONE;
    }
    pn_free(d);
    pn_free(used);
    return result;
}
