/* graph.h -- scalar expressions as hash-consed graphs: what a traced function or a loss's formula becomes.
 * A node is an index into its graph; operands always have smaller indices than what uses them, so every algorithm here
 * is one sweep over indices and none recurses.  Equal expressions are one node.
 * Depends on: core.  Used by: expr, geometry, objective, bindings.
 *
 * Simplification happens when a node is made and never makes a value less accurate than the node's own error bound:
 *   exact      (up to the sign of a zero) x+0 x-0 x*1 x/1 x^1 -> x; x*(-1), x/(-1), 0-x -> -x; --x -> x; x-x stays;
 *              constants are folded only when the result is exact; -(a-b) -> b-a; -(c*x) -> (-c)*x, -(c/x) -> (-c)/x;
 *              (-a)*(-b) -> a*b; (-a)/(-b) -> a/b; (-a)*b, a*(-b), (-a)/b, a/(-b) -> -(..);
 *              a+(-b) -> a-b and a-(-b) -> a+b, also for a negative constant -b; abs(-x), abs(abs x) -> abs x;
 *              min(a,a), max(a,a), where(c,a,a) -> a; where(constant,a,b) -> a or b; operands of + * are ordered;
 *              x+x -> 2*x, x/2^k -> 2^-k*x; x^0 -> 1, x^2 -> x*x, x^(-1) -> 1/x, x^0.5 -> sqrt x, each the correctly
 *              rounded power (only (-inf)^0.5, which is no number here, differs from C's pow).
 *   closer     c*(d*x) -> (c*d)*x when c*d is exact and c not 0, x*(1/y) -> x/y: one rounding fewer.
 *   safer      log(1+exp x), log1p(exp x) -> softplus x; 1/(1+exp(-x)) and exp(x)/(1+exp x) -> sigmoid x; log(1+x)
 *              stays.  These replace a formula that overflows or cancels by the function of the same value that does
 *                      not.
 * 0*x is not 0 (x may be infinite) unless a derivative rule says so: derivatives drop terms whose factor is the
 * constant 0. */
#ifndef PN_EXPR_GRAPH_H
#define PN_EXPR_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct pn_graph pn_graph;
typedef uint32_t pn_node;

#define PN_NODE_NONE      UINT32_MAX
#define PN_GRAPH_VARS_MAX 512
#define PN_GRAPH_MAX      50000 /* nodes: a traced function that makes more is refused */

typedef enum pn_opcode {
    PN_X_CONST = 0, /* value */
    PN_X_VAR,       /* variable number a */
    /* of one operand */
    PN_X_NEG,
    PN_X_ABS,
    PN_X_SIGN, /* -1, 0, 1 */
    PN_X_SQRT,
    PN_X_EXP,
    PN_X_LOG,
    PN_X_LOG1P,
    PN_X_EXPM1,
    PN_X_TANH,
    PN_X_SIGMOID,
    PN_X_SOFTPLUS,
    PN_X_ERF,
    PN_X_SIN,
    PN_X_COS,
    /* of two */
    PN_X_ADD,
    PN_X_SUB,
    PN_X_MUL,
    PN_X_DIV,
    PN_X_POW,
    PN_X_MIN,
    PN_X_MAX,
    PN_X_LT, /* 1 or 0 */
    PN_X_LE,
    /* of three */
    PN_X_WHERE, /* a is not 0 ? b : c */
    PN_X_COUNT
} pn_opcode;

typedef struct pn_term {
    pn_opcode op;
    pn_node a, b, c; /* operands; PN_NODE_NONE where there is none; a is the number of a variable */
    double value;    /* of a constant */
} pn_term;

/** "exp", "+", "where" ...; operators +, -, *, /, ^ and "-" for NEG by their signs. */
const char *pn_opcode_name(pn_opcode op);
/** 0, 1, 2 or 3. */
unsigned pn_opcode_operands(pn_opcode op);

/**
 * A graph over `count` variables; names (copied, at most 15 bytes each are kept) are for messages.
 * Errors: PN_EINVAL for more than PN_GRAPH_VARS_MAX variables; PN_ENOMEM.
 */
pn_status pn_graph_new(pn_graph **out, const char *const *names, unsigned count, pn_err *err);
pn_graph *pn_graph_keep(pn_graph *graph);
void pn_graph_free(pn_graph *graph); /* drops one reference; NULL allowed */

/** How many variables it is over, and the name of one of them, from 0. */
unsigned pn_graph_variables(const pn_graph *graph);
const char *pn_graph_variable_name(const pn_graph *graph, unsigned variable);
/** Nodes so far; those of an expression are at most its root. */
size_t pn_graph_size(const pn_graph *graph);
/** The term of a node; valid until the next node is made. */
const pn_term *pn_graph_term(const pn_graph *graph, pn_node node);

/* Builders.  They never fail visibly: after the first failure (memory, PN_GRAPH_MAX) or with an operand PN_NODE_NONE
 * they return PN_NODE_NONE, and pn_graph_status tells why.  So formulas read as formulas. */
pn_node pn_x_const(pn_graph *graph, double value);
pn_node pn_x_var(pn_graph *graph, unsigned variable);
pn_node pn_x_unary(pn_graph *graph, pn_opcode op, pn_node a);
pn_node pn_x_binary(pn_graph *graph, pn_opcode op, pn_node a, pn_node b);
pn_node pn_x_where(pn_graph *graph, pn_node condition, pn_node a, pn_node b);
/** PN_OK, PN_ENOMEM or PN_EUNSUPPORTED "the expression has more than 50000 operations ..." since the graph was made. */
pn_status pn_graph_status(const pn_graph *graph, pn_err *err);

/** Whether the node is the constant `value` (0.0 matches both zeros). */
bool pn_x_is(const pn_graph *graph, pn_node node, double value);
/** used[0..root] tells which nodes the expression at `root` needs. */
void pn_graph_used(const pn_graph *graph, pn_node root, bool *used);
/** Whether the expression at `root` depends on the variable. */
bool pn_graph_depends(const pn_graph *graph, pn_node root, unsigned variable);
/** Whether it depends on any of the variables below `count`. */
bool pn_graph_depends_below(const pn_graph *graph, pn_node root, unsigned count);
/** The expression with every variable v replaced by by[v] (PN_NODE_NONE: left alone), simplified again. */
pn_node pn_graph_substitute(pn_graph *graph, pn_node root, const pn_node *by);

/**
 * d root / d variable, in the same graph.
 * At kinks the derivative is one fixed element of the generalised gradient (of the one-sided limits): |x|' = sign(x), 0
 * at 0; min(a, b)' and max(a, b)': a' on ties; where(c, a, b)' takes the branch that the value takes; sign' and the
 * conditions have derivative 0.  sqrt(x)' is +inf at 0, as it is.
 * tanh' = 4 sigmoid(2x) sigmoid(-2x) and sigmoid' = sigmoid(x) sigmoid(-x), which do not cancel.
 */
pn_node pn_graph_derivative(pn_graph *graph, pn_node root, unsigned variable);

/**
 * The derivatives of the expressions roots[count] along one direction, out[k] = sum_v (d roots[k] / d variable v)
 * direction[v], direction[pn_graph_variables]: nodes of the graph.  One sweep for all; out[] is PN_NODE_NONE where the
 * graph does not have room.  `out` may be `roots`.
 */
void pn_graph_along(pn_graph *graph, const pn_node *roots, size_t count, const pn_node *direction, pn_node *out);

/**
 * out[v] = d root / d variable v for v < count, all in one sweep from the root down, so that they share what they have
 * in common and cost a few times what the expression does.  At kinks as pn_graph_derivative.  What a `where` does not
 * choose has no part in a derivative, also where it is no number.  Of a + softplus(b - a), which is ln(e^a + e^b), the
 * derivatives are sigmoid(a - b) and sigmoid(b - a), which do not cancel.  out[] is PN_NODE_NONE where the graph does
 * not have room.
 */
void pn_graph_gradient(pn_graph *graph, pn_node root, unsigned count, pn_node *out);

/** The expression as text that Lua reads back, "softplus(-(y*z))"; what is deeper than 40 levels or does not fit is
 *  "...".  Numbers have the fewest digits that read back the same; infinities are math.huge, NaN is (0/0). */
void pn_graph_text(const pn_graph *graph, pn_node root, char *text, size_t size);

#endif
