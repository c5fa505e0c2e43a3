/* formula.h -- the builders under short names, so that a loss written in C reads as its formula.
 * Depends on: graph.h.  Used by: the tables of losses and regularisers. */
#ifndef PN_EXPR_FORMULA_H
#define PN_EXPR_FORMULA_H

#include "expr/graph.h"

static inline pn_node pn_x_add(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_ADD, a, b);
}

static inline pn_node pn_x_sub(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_SUB, a, b);
}

static inline pn_node pn_x_mul(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_MUL, a, b);
}

static inline pn_node pn_x_div(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_DIV, a, b);
}

static inline pn_node pn_x_le(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_LE, a, b);
}

static inline pn_node pn_x_max(pn_graph *graph, pn_node a, pn_node b)
{
    return pn_x_binary(graph, PN_X_MAX, a, b);
}

static inline pn_node pn_x_neg(pn_graph *graph, pn_node a)
{
    return pn_x_unary(graph, PN_X_NEG, a);
}

static inline pn_node pn_x_abs(pn_graph *graph, pn_node a)
{
    return pn_x_unary(graph, PN_X_ABS, a);
}

static inline pn_node pn_x_square(pn_graph *graph, pn_node a)
{
    return pn_x_mul(graph, a, a);
}

/* factor * a */
static inline pn_node pn_x_scale(pn_graph *graph, double factor, pn_node a)
{
    return pn_x_mul(graph, pn_x_const(graph, factor), a);
}

#endif
