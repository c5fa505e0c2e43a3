/* derive.c -- symbolic derivatives: along a direction by one sweep from the variables up, in all variables by one sweep
 * from the root down.
 * Depends on: graph.h.  Used by: graph.h's callers.
 * Rules avoid cancellation (tanh' and sigmoid' as products) and terms with the factor 0. */
#include <math.h>
#include <string.h>

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
static pn_node derive_node(pn_graph *graph, pn_node node, const pn_node *direction, const pn_node *d)
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
        return term.op == PN_X_VAR ? direction[term.a] : pn_x_const(graph, 0.0);
    }
}

/* d[] and used[] have room for `top` nodes. */
static void derive_all(pn_graph *graph, const pn_node *roots, size_t count, const pn_node *direction, pn_node *out,
                       size_t top, pn_node *d, bool *used)
{
    bool *all = used + top;

    memset(all, 0, top * sizeof *all);
    for (size_t k = 0; k < count; k++) {
        pn_graph_used(graph, roots[k], used);
        for (size_t i = 0; i <= roots[k]; i++)
            all[i] = all[i] || used[i];
    }
    for (pn_node i = 0; i < top; i++)
        d[i] = all[i] ? derive_node(graph, i, direction, d) : PN_NODE_NONE;
    for (size_t k = 0; k < count; k++)
        out[k] = d[roots[k]];
}

/* The nodes up to the last of the roots; 0 when one of them was not built. */
static size_t nodes_of(const pn_graph *graph, const pn_node *roots, size_t count)
{
    size_t top = 0;

    for (size_t k = 0; k < count; k++) {
        if (roots[k] == PN_NODE_NONE || graph->status != PN_OK)
            return 0;
        top = roots[k] >= top ? (size_t)roots[k] + 1 : top;
    }
    return top;
}

void pn_graph_along(pn_graph *graph, const pn_node *roots, size_t count, const pn_node *direction, pn_node *out)
{
    size_t top = nodes_of(graph, roots, count);
    pn_node *d = top ? pn_alloc(top, sizeof *d) : NULL;
    bool *used = top ? pn_alloc(2 * top, sizeof *used) : NULL;

    if (d && used) {
        derive_all(graph, roots, count, direction, out, top, d, used);
    } else {
        graph->status = top ? PN_ENOMEM : graph->status;
        for (size_t k = 0; k < count; k++)
            out[k] = PN_NODE_NONE;
    }
    pn_free(d);
    pn_free(used);
}

pn_node pn_graph_derivative(pn_graph *graph, pn_node root, unsigned variable)
{
    pn_node direction[PN_GRAPH_VARS_MAX];

    for (unsigned v = 0; v < graph->variables; v++)
        direction[v] = pn_x_const(graph, v == variable ? 1.0 : 0.0);
    pn_graph_along(graph, &root, 1, direction, &root);
    return root;
}

/* ---- from the root down ---- */

#define NESTED 16 /* choices within choices that a product is taken into, */
#define SPLIT  4  /* a sum counting as so many, for it has two parts */

/* part[i]: d root / d node i as far as the nodes above i have told; 0 before. */
typedef struct descent {
    pn_graph *graph;
    unsigned count; /* of the variables that are asked for */
    pn_node *part;
    pn_node zero;
} descent;

/* What an operand does to what is passed on to it: a factor, or a choice against 0. */
typedef struct passage {
    pn_node factor;    /* PN_NODE_NONE: a choice */
    pn_node condition; /* with which, or with whose opposite, the operand counts */
    bool opposite;
} passage;

/* Whether 0 times the factor may be no number, as of log and sqrt at 0, or of exp far out. */
static bool may_be_infinite(const pn_graph *graph, pn_node factor)
{
    pn_opcode op = factor == PN_NODE_NONE ? PN_X_CONST : pn_graph_term(graph, factor)->op;

    return op == PN_X_DIV || op == PN_X_POW || op == PN_X_EXP;
}

/* g as the operand gets it; within choices against 0 that g has been through already, so that what was not chosen stays
 * 0 where it is no number. */
static pn_node passed_on(descent *self, pn_node g, passage through, int nested)
{
    pn_graph *graph = self->graph;
    pn_term term;

    if (g == PN_NODE_NONE || g == self->zero)
        return g;
    term = *pn_graph_term(graph, g);
    if (term.op == PN_X_WHERE && nested > 0 && term.c == self->zero)
        return pn_x_where(graph, term.a, passed_on(self, term.b, through, nested - 1), self->zero);
    if (term.op == PN_X_WHERE && nested > 0 && term.b == self->zero)
        return pn_x_where(graph, term.a, self->zero, passed_on(self, term.c, through, nested - 1));
    if (term.op == PN_X_ADD && nested >= SPLIT && may_be_infinite(graph, through.factor))
        return plus(graph, passed_on(self, term.a, through, nested - SPLIT),
                    passed_on(self, term.b, through, nested - SPLIT));
    if (through.factor != PN_NODE_NONE)
        return times(graph, g, through.factor);
    return through.opposite ? pn_x_where(graph, through.condition, self->zero, g)
                            : pn_x_where(graph, through.condition, g, self->zero);
}

static void add(descent *self, pn_node operand, pn_node g)
{
    pn_graph *graph = self->graph;
    pn_node before = self->part[operand];
    pn_term s, t;

    if (!pn_graph_depends_below(graph, operand, self->count))
        return;
    if (before == PN_NODE_NONE || g == PN_NODE_NONE) {
        self->part[operand] = PN_NODE_NONE;
        return;
    }
    s = *pn_graph_term(graph, before);
    t = *pn_graph_term(graph, g);
    if (s.op == PN_X_WHERE && t.op == PN_X_WHERE && s.a == t.a) /* one choice, so that halves of it fit together */
        self->part[operand] = pn_x_where(graph, s.a, plus(graph, s.b, t.b), plus(graph, s.c, t.c));
    else
        self->part[operand] = before == self->zero ? g : plus(graph, before, g);
}

static void add_times(descent *self, pn_node operand, pn_node g, pn_node local)
{
    const passage through = { .factor = local };

    if (local != PN_NODE_NONE && pn_graph_depends_below(self->graph, operand, self->count))
        add(self, operand, passed_on(self, g, through, NESTED));
}

/* Whether the node is x + softplus(y - x), y first or second. */
static bool is_log_sum(const pn_graph *graph, pn_node x, pn_node other, pn_node *y)
{
    const pn_term *soft = pn_graph_term(graph, other), *apart;

    if (soft->op != PN_X_SOFTPLUS)
        return false;
    apart = pn_graph_term(graph, soft->a);
    *y = apart->a;
    return apart->op == PN_X_SUB && apart->b == x;
}

static void add_sum(descent *self, const pn_term *term, pn_node g)
{
    pn_graph *graph = self->graph;
    pn_node x = term->a, y;
    bool found = is_log_sum(graph, term->a, term->b, &y);

    if (!found && is_log_sum(graph, term->b, term->a, &y)) {
        found = true;
        x = term->b;
    }
    if (!found) {
        add(self, term->a, g);
        add(self, term->b, g);
        return;
    }
    add_times(self, x, g, call(graph, PN_X_SIGMOID, minus(graph, x, y)));
    add_times(self, y, g, call(graph, PN_X_SIGMOID, minus(graph, y, x)));
}

static void add_power(descent *self, const pn_term *term, pn_node node, pn_node g)
{
    pn_graph *graph = self->graph;

    add_times(self, term->a, g, of_power(graph, term, node, pn_x_const(graph, 1.0), self->zero));
    add_times(self, term->b, g, times(graph, node, call(graph, PN_X_LOG, term->a)));
}

static void add_choice(descent *self, pn_node condition, pn_node a, pn_node b, pn_node g)
{
    const passage first = { PN_NODE_NONE, condition, false }, second = { PN_NODE_NONE, condition, true };

    add(self, a, passed_on(self, g, first, NESTED));
    add(self, b, passed_on(self, g, second, NESTED));
}

/* Tell the operands of `node` what they mean to the root. */
static void descend(descent *self, pn_node node, pn_node g)
{
    pn_graph *graph = self->graph;
    pn_term term = *pn_graph_term(graph, node);

    switch (term.op) {
    case PN_X_ADD:
        add_sum(self, &term, g);
        return;
    case PN_X_SUB:
        add(self, term.a, g);
        add_times(self, term.b, g, pn_x_const(graph, -1.0));
        return;
    case PN_X_MUL:
        if (term.a == term.b) {
            add_times(self, term.a, g, scaled(graph, 2.0, term.a));
            return;
        }
        add_times(self, term.a, g, term.b);
        add_times(self, term.b, g, term.a);
        return;
    case PN_X_DIV:
        add_times(self, term.a, g, over(graph, pn_x_const(graph, 1.0), term.b));
        add_times(self, term.b, g, call(graph, PN_X_NEG, over(graph, node, term.b)));
        return;
    case PN_X_POW:
        add_power(self, &term, node, g);
        return;
    case PN_X_MIN:
        add_choice(self, pn_x_binary(graph, PN_X_LE, term.a, term.b), term.a, term.b, g);
        return;
    case PN_X_MAX:
        add_choice(self, pn_x_binary(graph, PN_X_LE, term.b, term.a), term.a, term.b, g);
        return;
    case PN_X_WHERE:
        add_choice(self, term.a, term.b, term.c, g);
        return;
    default:
        if (pn_opcode_operands(term.op) == 1)
            add_times(self, term.a, g, outer(graph, term.op, term.a, node));
    }
}

/* part[] and used[] have room for the nodes up to the root. */
static void descend_all(descent *self, pn_node root, pn_node *out, const bool *used)
{
    for (unsigned v = 0; v < self->count; v++)
        out[v] = self->zero;
    for (pn_node i = 0; i <= root; i++)
        self->part[i] = self->zero;
    self->part[root] = pn_x_const(self->graph, 1.0);
    for (pn_node i = root + 1; i-- > 0;) {
        const pn_term *term = pn_graph_term(self->graph, i);

        if (!used[i] || self->part[i] == self->zero)
            continue;
        if (term->op == PN_X_VAR && term->a < self->count)
            out[term->a] = self->part[i];
        else
            descend(self, i, self->part[i]);
    }
}

void pn_graph_gradient(pn_graph *graph, pn_node root, unsigned count, pn_node *out)
{
    size_t top = nodes_of(graph, &root, 1);
    descent self = { graph, count, NULL, pn_x_const(graph, 0.0) };
    bool *used = top ? pn_alloc(top, sizeof *used) : NULL;

    self.part = top ? pn_alloc(top, sizeof *self.part) : NULL;
    if (self.part && used) {
        pn_graph_used(graph, root, used);
        descend_all(&self, root, out, used);
    }
    if (top && !(self.part && used))
        graph->status = PN_ENOMEM;
    for (unsigned v = 0; (top == 0 || graph->status != PN_OK) && v < count; v++)
        out[v] = PN_NODE_NONE;
    pn_free(self.part);
    pn_free(used);
}
