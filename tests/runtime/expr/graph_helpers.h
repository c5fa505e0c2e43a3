/* graph_helpers.h -- short names for building expressions in tests.  Depends on: expr/graph.h, check.h.
 * Header-only. */
#ifndef PN_TESTS_GRAPH_HELPERS_H
#define PN_TESTS_GRAPH_HELPERS_H

#include <string.h>

#include "expr/graph.h"

#include "check.h"

/* After random_expr.h: these short names would shadow its own. */
static pn_graph *g; /* of the test that runs */
static pn_node x, y, z;

static inline void begin(void)
{
    static const char *const names[] = { "x", "y", "z" };

    CHECK(pn_graph_new(&g, names, 3, NULL) == PN_OK);
    x = pn_x_var(g, 0);
    y = pn_x_var(g, 1);
    z = pn_x_var(g, 2);
}

static inline void end(void)
{
    pn_graph_free(g);
    g = NULL;
}

static inline pn_node num(double value)
{
    return pn_x_const(g, value);
}

static inline pn_node one(pn_opcode op, pn_node a)
{
    return pn_x_unary(g, op, a);
}

static inline pn_node two(pn_opcode op, pn_node a, pn_node b)
{
    return pn_x_binary(g, op, a, b);
}

static inline pn_node neg(pn_node a)
{
    return one(PN_X_NEG, a);
}

static inline bool is_term(pn_node node, pn_opcode op, pn_node a, pn_node b)
{
    const pn_term *term = pn_graph_term(g, node);

    return term->op == op && term->a == a && term->b == b;
}

static inline pn_opcode op_of(pn_node node)
{
    return pn_graph_term(g, node)->op;
}

static inline bool text_is(pn_node node, const char *want)
{
    char text[400];

    pn_graph_text(g, node, text, sizeof text);
    if (strcmp(text, want) == 0)
        return true;
    (void)fprintf(stderr, "    got  %s\n    want %s\n", text, want);
    return false;
}

#endif
