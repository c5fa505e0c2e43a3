/* random_expr.h -- random expressions as plain trees, which nothing simplifies, with an interpreter in long double.
 * The tests of expr/ build the same expression as a graph and compare.  Depends on: expr/graph.h, libm.
 * Header-only. */
#ifndef PN_TESTS_RANDOM_EXPR_H
#define PN_TESTS_RANDOM_EXPR_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "expr/graph.h"

#define RX_VARIABLES 3
#define RX_NODES     512

typedef struct rx_node {
    pn_opcode op;
    int a, b, c;     /* operands, smaller than the node's own index */
    unsigned number; /* of a variable */
    double value;    /* of a constant */
} rx_node;

typedef struct rx_tree {
    rx_node nodes[RX_NODES];
    int count; /* the last node is the root */
    uint64_t state;
} rx_tree;

/* ---- random numbers: splitmix64 ---- */

static inline uint64_t rx_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline unsigned rx_below(uint64_t *state, unsigned count)
{
    return (unsigned)(rx_bits(state) >> 33) % count;
}

static inline double rx_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(rx_bits(state) >> 11) * 0x1p-53;
}

/* ---- growing a tree ---- */

static inline int rx_node_of(rx_tree *tree, pn_opcode op, int a, int b, int c)
{
    int node = tree->count < RX_NODES ? tree->count++ : RX_NODES - 1;

    tree->nodes[node] = (rx_node){ op, a, b, c, 0, 0.0 };
    return node;
}

static inline int rx_const(rx_tree *tree, double value)
{
    int node = rx_node_of(tree, PN_X_CONST, 0, 0, 0);

    tree->nodes[node].value = value;
    return node;
}

static inline int rx_leaf(rx_tree *tree)
{
    static const double constants[] = { 0, 1, -1, 2, -2, 0.5, 3, 0.1, -0.7, 1.5, 1.0 / 3, 0.25, -1.25 };
    int node;

    if (rx_below(&tree->state, 4) == 0)
        return rx_const(tree, constants[rx_below(&tree->state, sizeof constants / sizeof constants[0])]);
    node = rx_node_of(tree, PN_X_VAR, 0, 0, 0);
    tree->nodes[node].number = rx_below(&tree->state, RX_VARIABLES);
    return node;
}

static inline int rx_two(rx_tree *tree, pn_opcode op, int a, int b)
{
    return rx_node_of(tree, op, a, b, 0);
}

static inline int rx_one(rx_tree *tree, pn_opcode op, int a)
{
    return rx_node_of(tree, op, a, 0, 0);
}

/* Mostly an argument that log, sqrt and division like: positive, away from 0. */
static inline int rx_positive(rx_tree *tree, int a)
{
    switch (rx_below(&tree->state, 5)) {
    case 0:
        return a;
    case 1:
        return rx_two(tree, PN_X_ADD, rx_one(tree, PN_X_ABS, a), rx_const(tree, 0.25));
    case 2:
        return rx_one(tree, PN_X_SOFTPLUS, a);
    default:
        return rx_two(tree, PN_X_ADD, rx_two(tree, PN_X_MUL, a, a), rx_const(tree, 0.5));
    }
}

/* Mostly an argument of moderate size. */
static inline int rx_moderate(rx_tree *tree, int a)
{
    static const pn_opcode tame[] = { PN_X_TANH, PN_X_SIN, PN_X_COS, PN_X_ERF };

    return rx_below(&tree->state, 3) ? rx_one(tree, tame[rx_below(&tree->state, 4)], a) : a;
}

static inline int rx_power(rx_tree *tree, int a, int b)
{
    static const double exponents[] = { 2, 3, 4, -1, -2, 0.5, 1.5, 2.5, -0.5, 0, 1 };

    if (rx_below(&tree->state, 4) == 0)
        return rx_two(tree, PN_X_POW, rx_two(tree, PN_X_ADD, rx_one(tree, PN_X_ABS, a), rx_const(tree, 0.3)),
                      rx_moderate(tree, b));
    return rx_two(tree, PN_X_POW, rx_below(&tree->state, 3) ? rx_positive(tree, a) : a,
                  rx_const(tree, exponents[rx_below(&tree->state, sizeof exponents / sizeof exponents[0])]));
}

/* Shapes that a rule of simplify.c is about. */
static inline int rx_pattern(rx_tree *tree, int a, int b)
{
    int one = rx_const(tree, 1.0), minus = rx_one(tree, PN_X_NEG, a), e;

    switch (rx_below(&tree->state, 9)) {
    case 0: /* log(1 + exp a) */
        return rx_one(tree, PN_X_LOG, rx_two(tree, PN_X_ADD, one, rx_one(tree, PN_X_EXP, a)));
    case 1:
        return rx_one(tree, PN_X_LOG1P, rx_one(tree, PN_X_EXP, a));
    case 2: /* 1/(1 + exp(-a)) */
        return rx_two(tree, PN_X_DIV, one, rx_two(tree, PN_X_ADD, rx_one(tree, PN_X_EXP, minus), one));
    case 3:
        e = rx_one(tree, PN_X_EXP, a);
        return rx_two(tree, PN_X_DIV, e, rx_two(tree, PN_X_ADD, one, e));
    case 4: /* b * (1/a) */
        return rx_two(tree, PN_X_MUL, b, rx_two(tree, PN_X_DIV, one, rx_positive(tree, a)));
    case 5:
        return rx_two(tree, PN_X_MUL, minus, rx_one(tree, PN_X_NEG, b));
    case 6: /* 3 (0.5 a) */
        return rx_two(tree, PN_X_MUL, rx_const(tree, 3.0), rx_two(tree, PN_X_MUL, a, rx_const(tree, 0.5)));
    case 7:
        return rx_one(tree, PN_X_NEG, rx_two(tree, PN_X_SUB, minus, rx_two(tree, PN_X_MUL, rx_const(tree, 1.5), b)));
    default:
        return rx_one(tree, PN_X_ABS, rx_two(tree, PN_X_DIV, minus, rx_positive(tree, b)));
    }
}

static inline int rx_condition(rx_tree *tree, int a, int b)
{
    return rx_two(tree, rx_below(&tree->state, 2) ? PN_X_LT : PN_X_LE, a, b);
}

static inline int rx_unary(rx_tree *tree, pn_opcode op, int a)
{
    switch (op) {
    case PN_X_SQRT:
    case PN_X_LOG:
    case PN_X_LOG1P:
        return rx_one(tree, op, rx_positive(tree, a));
    case PN_X_EXP:
    case PN_X_EXPM1:
        return rx_one(tree, op, rx_moderate(tree, a));
    default:
        return rx_one(tree, op, a);
    }
}

static inline int rx_grow(rx_tree *tree, int depth)
{
    pn_opcode first = rx_below(&tree->state, 2) ? PN_X_NEG : PN_X_ADD;
    pn_opcode op = first + rx_below(&tree->state, (first == PN_X_NEG ? PN_X_ADD : PN_X_COUNT) - first);
    int a, b, c;

    if (depth == 0 || rx_below(&tree->state, 20) == 0)
        return rx_leaf(tree);
    a = rx_grow(tree, depth - 1);
    if (rx_below(&tree->state, 8) == 0) /* share what is there already */
        a = (int)rx_below(&tree->state, (unsigned)tree->count);
    if (op < PN_X_ADD)
        return rx_unary(tree, op, a);
    b = rx_below(&tree->state, 10) ? rx_grow(tree, depth - 1) : a;
    switch (op) {
    case PN_X_DIV:
        return rx_two(tree, op, a, rx_positive(tree, b));
    case PN_X_POW:
        return rx_power(tree, a, b);
    case PN_X_LT: /* conditions are rarely values */
    case PN_X_LE:
        return rx_below(&tree->state, 4) ? rx_pattern(tree, a, b) : rx_two(tree, op, a, b);
    case PN_X_WHERE:
        c = rx_condition(tree, rx_leaf(tree), rx_below(&tree->state, 2) ? rx_leaf(tree) : a);
        return rx_node_of(tree, op, c, a, b);
    default:
        return rx_two(tree, op, a, b);
    }
}

/** A random expression; the same seed gives the same one. */
static inline void rx_random(rx_tree *tree, uint64_t seed)
{
    int root;

    tree->count = 0;
    tree->state = seed * 0xD1342543DE82EF95u + 1;
    root = rx_grow(tree, 3 + (int)rx_below(&tree->state, 3));
    if (root != tree->count - 1) /* a shared node: give the root the last place */
        (void)rx_two(tree, PN_X_ADD, root, rx_leaf(tree));
}

/* ---- the same expression as a graph ---- */

static inline pn_node rx_build(const rx_tree *tree, pn_graph *graph)
{
    pn_node image[RX_NODES];

    for (int i = 0; i < tree->count; i++) {
        const rx_node *node = &tree->nodes[i];

        if (node->op == PN_X_CONST)
            image[i] = pn_x_const(graph, node->value);
        else if (node->op == PN_X_VAR)
            image[i] = pn_x_var(graph, node->number);
        else if (pn_opcode_operands(node->op) == 1)
            image[i] = pn_x_unary(graph, node->op, image[node->a]);
        else if (pn_opcode_operands(node->op) == 2)
            image[i] = pn_x_binary(graph, node->op, image[node->a], image[node->b]);
        else
            image[i] = pn_x_where(graph, image[node->a], image[node->b], image[node->c]);
    }
    return image[tree->count - 1];
}

/* ---- interpreters ---- */

/** One operation, as its documentation says and not otherwise. */
static inline long double rx_apply(pn_opcode op, long double a, long double b, long double c)
{
    switch (op) {
    case PN_X_NEG:
        return -a;
    case PN_X_ABS:
        return fabsl(a);
    case PN_X_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case PN_X_SQRT:
        return sqrtl(a);
    case PN_X_EXP:
        return expl(a);
    case PN_X_LOG:
        return logl(a);
    case PN_X_LOG1P:
        return log1pl(a);
    case PN_X_EXPM1:
        return expm1l(a);
    case PN_X_TANH:
        return tanhl(a);
    case PN_X_SIGMOID:
        return 1 / (1 + expl(-a));
    case PN_X_SOFTPLUS:
        return a > 0 ? a + log1pl(expl(-a)) : log1pl(expl(a));
    case PN_X_ERF:
        return erfl(a);
    case PN_X_SIN:
        return sinl(a);
    case PN_X_COS:
        return cosl(a);
    case PN_X_ADD:
        return a + b;
    case PN_X_SUB:
        return a - b;
    case PN_X_MUL:
        return a * b;
    case PN_X_DIV:
        return a / b;
    case PN_X_POW:
        return powl(a, b);
    case PN_X_MIN:
        return a <= b ? a : b;
    case PN_X_MAX:
        return b <= a ? a : b;
    case PN_X_LT:
        return a < b;
    case PN_X_LE:
        return a <= b;
    case PN_X_WHERE:
        return a != 0 ? b : c;
    default:
        return NAN;
    }
}

/** The value of a tree at x[RX_VARIABLES]; values[tree->count] is scratch and result. */
static inline long double rx_value(const rx_tree *tree, const long double *x, long double *values)
{
    long double last = NAN;

    for (int i = 0; i < tree->count; i++) {
        const rx_node *node = &tree->nodes[i];

        if (node->op == PN_X_CONST)
            last = node->value;
        else if (node->op == PN_X_VAR)
            last = x[node->number];
        else
            last = rx_apply(node->op, values[node->a], values[node->b], values[node->c]);
        values[i] = last;
    }
    return last;
}

/** The value of a graph's expression; values[root + 1] is scratch. */
static inline long double rx_graph_value(const pn_graph *graph, pn_node root, const long double *x, long double *values)
{
    for (pn_node i = 0; i <= root; i++) {
        const pn_term *t = pn_graph_term(graph, i);
        unsigned operands = pn_opcode_operands(t->op);

        if (t->op == PN_X_CONST)
            values[i] = t->value;
        else if (t->op == PN_X_VAR)
            values[i] = x[t->a];
        else
            values[i] = rx_apply(t->op, values[t->a], operands > 1 ? values[t->b] : 0, operands > 2 ? values[t->c] : 0);
    }
    return values[root];
}

/* Which way each switch of the expression goes and on which side of each possible pole it is,
 * as one hash of the values. */
static inline uint64_t rx_sides(const rx_tree *tree, const long double *values)
{
    uint64_t hash = 0;

    for (int i = 0; i < tree->count; i++) {
        const rx_node *node = &tree->nodes[i];
        long double u = values[node->a];
        unsigned side = 0;

        switch (node->op) {
        case PN_X_MIN:
        case PN_X_MAX:
        case PN_X_LT:
        case PN_X_LE:
            u -= values[node->b];
            side = u > 0 ? 1 : u < 0 ? 2 : 3;
            break;
        case PN_X_DIV:
            u = values[node->b];
            side = u > 0 ? 1 : u < 0 ? 2 : 3;
            break;
        case PN_X_ABS:
        case PN_X_SIGN:
        case PN_X_SQRT:
        case PN_X_LOG:
        case PN_X_POW:
            side = u > 0 ? 1 : u < 0 ? 2 : 3;
            break;
        default:
            break;
        }
        hash = (hash ^ side) * 0x100000001B3u + (hash >> 29);
    }
    return hash;
}

/* Under a sanitizer a tenth of the work tells the same. */
#if defined(__SANITIZE_ADDRESS__)
#define RX_SHARE 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RX_SHARE 10
#endif
#endif
#ifndef RX_SHARE
#define RX_SHARE 1
#endif

#endif
