/* graph_test.c -- building, sharing and substituting expressions; limits and failures. */
#include <pthread.h>
#include <stdlib.h>

#include "runtime/expr/random_expr.h"

#include "runtime/expr/graph_helpers.h"

#include "fail_alloc.h"

/* ---- sharing ---- */

static void equal_expressions_are_one_node(void)
{
    pn_node first, second;
    size_t size;

    begin();
    first = two(PN_X_MUL, one(PN_X_EXP, two(PN_X_ADD, x, y)), num(2.5));
    size = pn_graph_size(g);
    second = two(PN_X_MUL, num(2.5), one(PN_X_EXP, two(PN_X_ADD, y, x)));
    CHECK(first == second);
    CHECK(pn_graph_size(g) == size);
    CHECK(two(PN_X_SUB, x, y) != two(PN_X_SUB, y, x));
    CHECK(two(PN_X_MIN, x, y) != two(PN_X_MIN, y, x)); /* a tie takes the first operand's derivative */
    CHECK(num(0.0) == num(-0.0));
    CHECK(num((double)NAN) == num((double)NAN));
    CHECK(num(0.1) != num(0.1 + 0x1p-56));
    CHECK(pn_x_var(g, 1) == y && y != x);
    end();
}

/* Growth moves terms and slots: everything made before must still be found. */
static void sharing_survives_growth(void)
{
    pn_node *made = malloc(20000 * sizeof *made);

    begin();
    for (int i = 0; i < 20000; i++)
        made[i] = two(PN_X_POW, x, num(i + 3));
    for (int i = 0; i < 20000; i++) {
        if (!CHECK(two(PN_X_POW, x, num(i + 3)) == made[i]))
            break;
    }
    CHECK(pn_graph_size(g) == 40003);
    end();

    begin(); /* the third operand alone tells these apart, or the function */
    for (int i = 0; i < 10000; i++)
        made[i] = pn_x_where(g, x, y, num(i));
    for (int i = 0; i < 10000; i++) {
        pn_node sine = one(PN_X_SIN, made[i]), cosine = one(PN_X_COS, made[i]);

        if (!CHECK(pn_graph_term(g, made[i])->c == num(i) && op_of(sine) == PN_X_SIN && op_of(cosine) == PN_X_COS))
            break;
    }
    end();
    free(made);
}

static void operands_come_before_what_uses_them(void)
{
    rx_tree tree;
    bool ordered = true;

    begin();
    for (uint64_t seed = 1; seed <= 300; seed++) {
        rx_random(&tree, seed);
        (void)rx_build(&tree, g);
    }
    for (pn_node i = 0; i < pn_graph_size(g); i++) {
        const pn_term *t = pn_graph_term(g, i);
        unsigned operands = pn_opcode_operands(t->op);

        ordered = ordered && (operands < 1 || t->a < i) && (operands < 2 || t->b < i) && (operands < 3 || t->c < i);
    }
    CHECK(ordered && pn_graph_size(g) > 1000);
    end();
}

/* ---- questions and substitution ---- */

static void an_expression_knows_what_it_is_made_of(void)
{
    pn_node f, other;
    bool used[64];

    begin();
    other = one(PN_X_EXP, y);
    f = pn_x_where(g, two(PN_X_LT, x, num(2)), one(PN_X_SIN, x), z);
    pn_graph_used(g, f, used);
    CHECK(used[x] && used[z] && used[f] && used[num(2)] && used[pn_graph_term(g, f)->a]);
    CHECK(!used[y] && !used[other]);
    CHECK(pn_graph_depends(g, f, 0) && !pn_graph_depends(g, f, 1) && pn_graph_depends(g, f, 2));
    CHECK(pn_x_is(g, num(2), 2) && !pn_x_is(g, num(2), 3) && !pn_x_is(g, x, 0) && !pn_x_is(g, PN_NODE_NONE, 0));
    CHECK(pn_x_is(g, num(0), -0.0));
    CHECK(pn_graph_variables(g) == 3 && strcmp(pn_graph_variable_name(g, 1), "y") == 0);
    end();
}

static void substitution_replaces_variables_and_simplifies(void)
{
    pn_node by[3] = { PN_NODE_NONE, PN_NODE_NONE, PN_NODE_NONE }, f;

    begin();
    f = two(PN_X_ADD, two(PN_X_MUL, x, y), pn_x_where(g, two(PN_X_LE, x, z), y, one(PN_X_EXP, x)));
    by[0] = num(1);
    CHECK(text_is(pn_graph_substitute(g, f, by), "y + where(le(1, z), y, exp(1))"));
    by[0] = y;
    by[1] = x; /* at once, not one after the other */
    CHECK(text_is(pn_graph_substitute(g, f, by), "x*y + where(le(y, z), x, exp(y))"));
    by[2] = y;
    CHECK(pn_graph_substitute(g, num(3), by) == num(3));
    CHECK(pn_graph_substitute(g, PN_NODE_NONE, by) == PN_NODE_NONE);
    end();
}

static void a_graph_lives_until_its_last_reference(void)
{
    pn_graph *kept;

    begin();
    kept = pn_graph_keep(g);
    pn_graph_free(g);
    CHECK(pn_graph_size(kept) == 3 && two(PN_X_ADD, x, y) == 3);
    end();
    pn_graph_free(NULL);
}

static void a_graph_has_at_most_512_variables_with_short_names(void)
{
    const char *names[PN_GRAPH_VARS_MAX + 1] = { "a_name_that_is_too_long" };
    pn_graph *graph = NULL;
    pn_node last, sum;
    pn_err err;

    for (int v = 1; v <= PN_GRAPH_VARS_MAX; v++)
        names[v] = "b";
    CHECK(pn_graph_new(&graph, names, 513, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "expression: at most 512 variables, got 513") == 0);
    CHECK(pn_graph_new(&graph, names, 512, NULL) == PN_OK);
    CHECK(strcmp(pn_graph_variable_name(graph, 0), "a_name_that_is_") == 0);
    last = pn_x_var(graph, 511);
    sum = pn_x_binary(graph, PN_X_ADD, pn_x_unary(graph, PN_X_EXP, last), pn_x_var(graph, 64));
    for (unsigned v = 0; v < 512; v++)
        CHECK(pn_graph_depends(graph, sum, v) == (v == 64 || v == 511));
    CHECK(!pn_graph_depends_below(graph, sum, 64) && pn_graph_depends_below(graph, sum, 65));
    pn_graph_free(graph);
}

/* ---- limits ---- */

static void a_graph_refuses_to_grow_without_end(void)
{
    pn_node node;
    pn_err err;

    begin();
    node = x;
    while (node != PN_NODE_NONE && pn_graph_size(g) < PN_GRAPH_MAX)
        node = one(PN_X_SIN, node);
    CHECK(node == PN_GRAPH_MAX - 1 && pn_graph_status(g, NULL) == PN_OK);
    CHECK(one(PN_X_SIN, x) == 3); /* what is there is still found */
    CHECK(one(PN_X_SIN, node) == PN_NODE_NONE);
    CHECK(pn_graph_status(g, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "more than 50000 operations") != NULL);
    CHECK(one(PN_X_SIN, x) == PN_NODE_NONE && num(1) == PN_NODE_NONE && pn_x_var(g, 0) == PN_NODE_NONE);
    CHECK(pn_graph_derivative(g, x, 0) == PN_NODE_NONE);
    CHECK(pn_graph_size(g) == PN_GRAPH_MAX);
    end();
}

static void nothing_is_made_from_a_missing_operand(void)
{
    begin();
    for (int op = PN_X_NEG; op < PN_X_ADD; op++)
        CHECK(one((pn_opcode)op, PN_NODE_NONE) == PN_NODE_NONE);
    for (int op = PN_X_ADD; op < PN_X_WHERE; op++) {
        CHECK(two((pn_opcode)op, x, PN_NODE_NONE) == PN_NODE_NONE);
        CHECK(two((pn_opcode)op, PN_NODE_NONE, x) == PN_NODE_NONE);
    }
    CHECK(pn_x_where(g, PN_NODE_NONE, x, y) == PN_NODE_NONE && pn_x_where(g, x, PN_NODE_NONE, y) == PN_NODE_NONE);
    CHECK(pn_x_where(g, num(1), x, PN_NODE_NONE) == PN_NODE_NONE);
    CHECK(pn_graph_size(g) == 4 && pn_graph_status(g, NULL) == PN_OK);
    end();
}

/* Chains as deep as a graph may be, on a stack on which one call a level could not live. */
static void *deep_chains(void *unused)
{
    const pn_node by[3] = { 1, PN_NODE_NONE, PN_NODE_NONE };
    pn_node chain, factors, d;
    char text[200];

    begin();
    chain = x;
    for (int i = 0; i < 12000; i++)
        chain = one(PN_X_SIN, chain);
    d = pn_graph_derivative(g, chain, 0); /* 12,000 each of sin, cos and product */
    CHECK(d != PN_NODE_NONE && pn_graph_size(g) > 35000);
    CHECK(pn_graph_depends(g, d, 0) && !pn_graph_depends(g, d, 1));
    CHECK(pn_graph_substitute(g, chain, by) != PN_NODE_NONE);
    CHECK(pn_graph_derivative(g, d, 0) == PN_NODE_NONE && pn_graph_status(g, NULL) == PN_EUNSUPPORTED);
    pn_graph_text(g, chain, text, sizeof text);
    CHECK(strncmp(text, "sin(sin(sin(", 12) == 0 && strstr(text, "...") != NULL);
    end();

    begin();
    factors = x;
    for (int i = 0; i < 24000; i++) /* alternately, or the signs would meet */
        factors = i % 2 ? neg(one(PN_X_TANH, factors)) : two(PN_X_MUL, num(0.1), factors);
    CHECK(neg(factors) != PN_NODE_NONE && one(PN_X_ABS, factors) != PN_NODE_NONE);
    end();

    begin();
    factors = x;
    for (int i = 0; i < 49000; i++)
        factors = two(PN_X_MUL, num(0.1), factors);
    CHECK(is_term(two(PN_X_MUL, num(0), factors), PN_X_MUL, num(0), factors));
    CHECK(is_term(two(PN_X_MUL, num(4), factors), PN_X_MUL, num(0.4), pn_graph_term(g, factors)->b));
    end();
    return unused;
}

static void deep_expressions_need_no_deep_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
    if (CHECK(pthread_create(&thread, &attributes, deep_chains, NULL) == 0))
        (void)pthread_join(thread, NULL);
    (void)pthread_attr_destroy(&attributes);
}

/* ---- memory ---- */

static pn_status build_and_use(void *self, pn_err *err)
{
    static const char *const names[] = { "x", "y" };
    pn_node by[2] = { 1, 0 }, f;
    pn_graph *graph = NULL;
    pn_status status = pn_graph_new(&graph, names, 2, err);
    char text[100];

    (void)self;
    if (status != PN_OK)
        return status;
    (void)pn_x_var(graph, 0);
    f = pn_x_var(graph, 1);
    for (int i = 0; i < 600; i++)
        f = pn_x_unary(graph, PN_X_SIN, pn_x_binary(graph, PN_X_MUL, f, pn_x_const(graph, i)));
    (void)pn_graph_substitute(graph, f, by);
    status = pn_graph_status(graph, err);
    if (status == PN_OK)
        pn_graph_text(graph, f, text, sizeof text);
    pn_graph_free(graph);
    return status;
}

int main(void)
{
    equal_expressions_are_one_node();
    sharing_survives_growth();
    operands_come_before_what_uses_them();
    an_expression_knows_what_it_is_made_of();
    substitution_replaces_variables_and_simplifies();
    a_graph_lives_until_its_last_reference();
    a_graph_has_at_most_512_variables_with_short_names();
    a_graph_refuses_to_grow_without_end();
    nothing_is_made_from_a_missing_operand();
    deep_expressions_need_no_deep_stack();
    CHECK(fail_alloc_sweep("graph", build_and_use, NULL) > 8);
    return check_summary();
}
