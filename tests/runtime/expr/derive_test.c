/* derive_test.c -- symbolic derivatives against closed forms, the documented choices at kinks, and against differences.
 *
 * The differences are central ones of the plain tree, which shares no code with graph.c, simplify.c or derive.c, in
 * long double, with Richardson's extrapolation and Ridders's choice of the entry whose own error estimate is smallest.
 * Whether a point is compared is decided without a look at the derivative under test: all points of the stencil must
 * lie on the same side of every switch and pole of the expression, and the estimate must be far below the size of what
 * is measured. */
#include <stdlib.h>

#include "runtime/expr/random_expr.h"

#include "check.h"
#include "expr/graph.h"
#include "fail_alloc.h"

#define EXPRESSIONS (10000 / RX_SHARE)
#define LEVELS      7

/* ---- differences ---- */

typedef struct probe {
    const rx_tree *tree;
    long double x[RX_VARIABLES];
    uint64_t sides;   /* at the point itself */
    long double size; /* |f| there */
} probe;

typedef struct measured {
    long double value, error;
} measured;

/* False where a value is not finite, or a root or power is of exactly 0, where its slope is infinite. */
static bool probe_at(probe *p, const rx_tree *tree, uint64_t *state)
{
    long double values[RX_NODES];

    p->tree = tree;
    for (int v = 0; v < RX_VARIABLES; v++)
        p->x[v] = rx_between(state, -2.5, 2.5);
    p->size = fabsl(rx_value(tree, p->x, values));
    p->sides = rx_sides(tree, values);
    for (int i = 0; i < tree->count; i++) {
        bool root = tree->nodes[i].op == PN_X_SQRT || tree->nodes[i].op == PN_X_POW;

        if (!isfinite(values[i]) || fabsl(values[i]) > 1e30L || (root && values[tree->nodes[i].a] == 0))
            return false;
    }
    return true;
}

/* *f at x + s e_v + t e_w; false beyond a switch or a pole. */
static bool shifted(const probe *p, unsigned v, long double s, unsigned w, long double t, long double *f)
{
    long double x[RX_VARIABLES] = { p->x[0], p->x[1], p->x[2] }, values[RX_NODES];

    x[v] += s;
    x[w] += t;
    *f = rx_value(p->tree, x, values);
    return isfinite(*f) && rx_sides(p->tree, values) == p->sides;
}

/* The central difference with step h: d/dv, or d2/dv dw when order is 2.  Its error is a series in h^2. */
static bool difference(const probe *p, unsigned order, unsigned v, unsigned w, long double h, long double *out)
{
    long double f[4];

    if (order == 1) {
        if (!shifted(p, v, h, v, 0, &f[0]) || !shifted(p, v, -h, v, 0, &f[1]))
            return false;
        *out = (f[0] - f[1]) / (2 * h);
        return true;
    }
    if (!shifted(p, v, h, w, h, &f[0]) || !shifted(p, v, h, w, -h, &f[1]) || !shifted(p, v, -h, w, h, &f[2]) ||
        !shifted(p, v, -h, w, -h, &f[3]))
        return false;
    *out = (f[0] - f[1] - f[2] + f[3]) / (4 * h * h);
    return true;
}

static bool extrapolate(const probe *p, unsigned order, unsigned v, unsigned w, long double h, measured *out)
{
    long double table[LEVELS][LEVELS];

    out->error = INFINITY;
    for (int k = 0; k < LEVELS; k++, h /= 2) {
        long double factor = 4;

        if (!difference(p, order, v, w, h, &table[k][0]))
            return false;
        for (int j = 1; j <= k; j++, factor *= 4) {
            long double up, back, error;

            table[k][j] = table[k][j - 1] + (table[k][j - 1] - table[k - 1][j - 1]) / (factor - 1);
            up = fabsl(table[k][j] - table[k][j - 1]);
            back = fabsl(table[k][j] - table[k - 1][j - 1]);
            error = up > back ? up : back;
            if (error <= out->error) {
                out->error = error;
                out->value = table[k][j];
            }
        }
    }
    return true;
}

/* Nearer when the first stencil crosses a switch or a pole, or is too wide for the function. */
static bool measure(const probe *p, unsigned order, unsigned v, unsigned w, measured *out)
{
    for (long double h = 0.08L; h > 1e-5L; h /= 8) {
        long double scale;

        if (!extrapolate(p, order, v, w, h, out))
            continue;
        scale = 1e-3L * (p->size > 1 ? p->size : 1);
        if (fabsl(out->value) > scale)
            scale = fabsl(out->value);
        if (out->error <= 1e-8L * scale)
            return true;
    }
    return false;
}

/* ---- random expressions ---- */

typedef struct tally {
    long points, first, second; /* derivatives that were compared */
    long sloped, curved;        /* of them, those other than 0 */
    long seen[PN_X_COUNT];      /* expressions with this operation of which both derivatives were compared */
} tally;

static bool agrees(const probe *p, measured want, long double got)
{
    long double size = p->size > 1 ? p->size : 1;

    return fabsl(got - want.value) <= 1e-7L * fabsl(want.value) + 30 * want.error + 1e-11L * size;
}

static void report(const pn_graph *graph, pn_node root, const probe *p, unsigned order, unsigned v, unsigned w,
                   measured want, long double got)
{
    char text[1000];

    pn_graph_text(graph, root, text, sizeof text);
    (void)fprintf(stderr, "    %s\n    order %u in %c%c at %.17Lg %.17Lg %.17Lg: %.15Lg, differences %.15Lg +- %Lg\n",
                  text, order, "xyz"[v], "xyz"[w], p -> x[0], p -> x[1], p -> x[2], got, want.value, want.error);
}

/* Whether differences could measure it, as *want. */
static bool compare(pn_graph *graph, pn_node root, const probe *p, unsigned order, unsigned v, unsigned w,
                    measured *want)
{
    pn_node d = pn_graph_derivative(graph, root, v);
    long double *values, got;

    if (order == 2)
        d = pn_graph_derivative(graph, d, w);
    if (!CHECK(d != PN_NODE_NONE) || !measure(p, order, v, w, want))
        return false;
    values = malloc((d + 1) * sizeof *values);
    got = rx_graph_value(graph, d, p->x, values);
    free(values);
    if (!CHECK(agrees(p, *want, got)))
        report(graph, root, p, order, v, w, *want, got);
    return true;
}

/* One that the expression depends on, when there is any. */
static unsigned some_variable(const pn_graph *graph, pn_node root, uint64_t *state)
{
    unsigned v = rx_below(state, RX_VARIABLES);

    for (int i = 1; i < RX_VARIABLES && !pn_graph_depends(graph, root, v); i++)
        v = (v + 1) % RX_VARIABLES;
    return v;
}

static void one_expression(uint64_t seed, tally *count)
{
    static const char *const names[] = { "x", "y", "z" };
    uint64_t state = seed;
    measured want = { 0, 0 };
    pn_graph *graph;
    pn_node root;
    rx_tree tree;
    unsigned v, w;
    probe p;

    rx_random(&tree, seed);
    if (!probe_at(&p, &tree, &state))
        return;
    CHECK(pn_graph_new(&graph, names, RX_VARIABLES, NULL) == PN_OK);
    root = rx_build(&tree, graph);
    v = some_variable(graph, root, &state);
    w = rx_below(&state, 2) ? v : some_variable(graph, root, &state);
    count->points++;
    if (compare(graph, root, &p, 1, v, v, &want)) {
        count->first++;
        count->sloped += want.value != 0;
        if (compare(graph, root, &p, 2, v, w, &want)) {
            count->second++;
            count->curved += want.value != 0;
            for (int i = 0; i < tree.count; i++)
                count->seen[tree.nodes[i].op]++;
        }
    }
    CHECK(pn_graph_status(graph, NULL) == PN_OK);
    pn_graph_free(graph);
}

/* Of 10,000 expressions 9387 have finite values without the root of a 0;
 * 9386 first and second derivatives are compared. */
static void random_expressions_have_the_derivatives_that_differences_show(void)
{
    tally count = { 0 };

    for (uint64_t seed = 1; seed <= EXPRESSIONS; seed++)
        one_expression(seed, &count);
    (void)printf("derivatives: %ld points; compared: %ld first (%ld not 0), %ld second (%ld not 0)\n", count.points,
                 count.first, count.sloped, count.second, count.curved);
    CHECK(count.points >= EXPRESSIONS * 9L / 10);
    CHECK(count.first >= count.points * 9 / 10);
    CHECK(count.second >= count.points * 9 / 10);
    CHECK(count.sloped >= count.points / 2);
    CHECK(count.curved >= count.points / 3);
    for (int op = 0; op < PN_X_COUNT; op++) {
        if (!CHECK(count.seen[op] >= EXPRESSIONS / 50))
            (void)fprintf(stderr, "    %s: %ld\n", pn_opcode_name((pn_opcode)op), count.seen[op]);
    }
}

/* ---- closed forms ---- */

static pn_graph *graph_xy(pn_node *x, pn_node *y)
{
    static const char *const names[] = { "x", "y" };
    pn_graph *graph = NULL;

    CHECK(pn_graph_new(&graph, names, 2, NULL) == PN_OK);
    *x = pn_x_var(graph, 0);
    *y = pn_x_var(graph, 1);
    return graph;
}

static double value_at(const pn_graph *graph, pn_node root, double x, double y)
{
    long double at[RX_VARIABLES] = { x, y, 0 }, *values;
    double out;

    if (root == PN_NODE_NONE)
        return NAN;
    values = malloc((root + 1) * sizeof *values);
    out = (double)rx_graph_value(graph, root, at, values);
    free(values);
    return out;
}

/* First and second derivative in x of f(x, y) at (x, y). */
static void check_derivatives(pn_graph *graph, pn_node f, double x, double y, double first, double second)
{
    pn_node d = pn_graph_derivative(graph, f, 0), dd = pn_graph_derivative(graph, d, 0);

    CHECK_CLOSE(value_at(graph, d, x, y), first, 4e-16 * fabs(first));
    CHECK_CLOSE(value_at(graph, dd, x, y), second, 4e-16 * fabs(second));
}

/* The values are the formulas of a table of derivatives, at x = 0.7 (for powers with y = 2.5 and the exponent y). */
static void each_function_has_the_derivatives_of_the_tables(void)
{
    pn_node x, y;
    pn_graph *graph = graph_xy(&x, &y);
    double t = 0.7, e = exp(0.7), s = 1 / (1 + exp(-0.7)), th = tanh(0.7), g = 2 / sqrt(acos(-1.0)) * exp(-0.49);

    check_derivatives(graph, pn_x_unary(graph, PN_X_NEG, x), t, 0, -1, 0);
    check_derivatives(graph, pn_x_unary(graph, PN_X_ABS, x), -t, 0, -1, 0);
    check_derivatives(graph, pn_x_unary(graph, PN_X_SIGN, x), t, 0, 0, 0);
    check_derivatives(graph, pn_x_unary(graph, PN_X_SQRT, x), t, 0, 0.5 / sqrt(t), -0.25 / (t * sqrt(t)));
    check_derivatives(graph, pn_x_unary(graph, PN_X_EXP, x), t, 0, e, e);
    check_derivatives(graph, pn_x_unary(graph, PN_X_LOG, x), t, 0, 1 / t, -1 / (t * t));
    check_derivatives(graph, pn_x_unary(graph, PN_X_LOG1P, x), t, 0, 1 / 1.7, -1 / (1.7 * 1.7));
    check_derivatives(graph, pn_x_unary(graph, PN_X_EXPM1, x), t, 0, e, e);
    check_derivatives(graph, pn_x_unary(graph, PN_X_TANH, x), t, 0, 1 - th * th, -2 * th * (1 - th * th));
    check_derivatives(graph, pn_x_unary(graph, PN_X_SIGMOID, x), t, 0, s * (1 - s), s * (1 - s) * (1 - 2 * s));
    check_derivatives(graph, pn_x_unary(graph, PN_X_SOFTPLUS, x), t, 0, s, s * (1 - s));
    check_derivatives(graph, pn_x_unary(graph, PN_X_ERF, x), t, 0, g, -2 * t * g);
    check_derivatives(graph, pn_x_unary(graph, PN_X_SIN, x), t, 0, cos(t), -sin(t));
    check_derivatives(graph, pn_x_unary(graph, PN_X_COS, x), t, 0, -sin(t), -cos(t));
    check_derivatives(graph, pn_x_binary(graph, PN_X_ADD, x, y), t, 3, 1, 0);
    check_derivatives(graph, pn_x_binary(graph, PN_X_SUB, y, x), t, 3, -1, 0);
    check_derivatives(graph, pn_x_binary(graph, PN_X_MUL, x, y), t, 3, 3, 0);
    check_derivatives(graph, pn_x_binary(graph, PN_X_MUL, x, x), t, 3, 2 * t, 2);
    check_derivatives(graph, pn_x_binary(graph, PN_X_DIV, x, y), t, 4, 0.25, 0);
    check_derivatives(graph, pn_x_binary(graph, PN_X_DIV, y, x), t, 4, -4 / 0.49, 8 / 0.343);
    check_derivatives(graph, pn_x_binary(graph, PN_X_POW, x, y), t, 2.5, 2.5 * pow(t, 1.5), 3.75 * sqrt(t));
    check_derivatives(graph, pn_x_binary(graph, PN_X_POW, y, x), t, 2.5, pow(2.5, t) * log(2.5),
                      pow(2.5, t) * log(2.5) * log(2.5));
    check_derivatives(graph, pn_x_binary(graph, PN_X_POW, x, x), t, 0, pow(t, t) * (log(t) + 1),
                      pow(t, t) * ((log(t) + 1) * (log(t) + 1) + 1 / t));
    pn_graph_free(graph);
}

/* ---- kinks ---- */

static double slope(pn_graph *graph, pn_node f, unsigned variable, double x, double y)
{
    return value_at(graph, pn_graph_derivative(graph, f, variable), x, y);
}

static void kinks_have_the_documented_derivative(void)
{
    pn_node x, y, zero, f, switched;
    pn_graph *graph = graph_xy(&x, &y);

    zero = pn_x_const(graph, 0.0);
    CHECK(slope(graph, pn_x_unary(graph, PN_X_ABS, x), 0, 0.0, 0.0) == 0.0);
    CHECK(slope(graph, pn_x_unary(graph, PN_X_SIGN, x), 0, 0.0, 0.0) == 0.0);
    CHECK(slope(graph, pn_x_unary(graph, PN_X_SQRT, x), 0, 0.0, 0.0) == INFINITY);

    f = pn_x_binary(graph, PN_X_MIN, x, y);
    CHECK(slope(graph, f, 0, 2.0, 2.0) == 1.0 && slope(graph, f, 1, 2.0, 2.0) == 0.0);
    CHECK(slope(graph, f, 0, 1.0, 2.0) == 1.0 && slope(graph, f, 0, 3.0, 2.0) == 0.0);
    f = pn_x_binary(graph, PN_X_MAX, x, y);
    CHECK(slope(graph, f, 0, 2.0, 2.0) == 1.0 && slope(graph, f, 1, 2.0, 2.0) == 0.0);
    CHECK(slope(graph, f, 0, 1.0, 2.0) == 0.0 && slope(graph, f, 0, 3.0, 2.0) == 1.0);
    CHECK(slope(graph, pn_x_binary(graph, PN_X_MAX, zero, x), 0, 0.0, 0.0) == 0.0);
    CHECK(slope(graph, pn_x_binary(graph, PN_X_MAX, x, zero), 0, 0.0, 0.0) == 1.0);
    CHECK(slope(graph, pn_x_binary(graph, PN_X_MIN, zero, x), 0, 0.0, 0.0) == 0.0);

    /* where takes the branch that the value takes, for both conditions */
    switched = pn_x_where(graph, pn_x_binary(graph, PN_X_LT, x, y), pn_x_binary(graph, PN_X_MUL, x, x), x);
    CHECK(slope(graph, switched, 0, 3.0, 3.0) == 1.0 && slope(graph, switched, 0, 2.0, 3.0) == 4.0);
    switched = pn_x_where(graph, pn_x_binary(graph, PN_X_LE, x, y), pn_x_binary(graph, PN_X_MUL, x, x), x);
    CHECK(slope(graph, switched, 0, 3.0, 3.0) == 6.0 && slope(graph, switched, 0, 4.0, 3.0) == 1.0);
    CHECK(pn_x_is(graph, pn_graph_derivative(graph, pn_x_binary(graph, PN_X_LT, x, y), 0), 0.0));
    CHECK(pn_x_is(graph, pn_graph_derivative(graph, pn_x_binary(graph, PN_X_LE, x, y), 0), 0.0));
    pn_graph_free(graph);
}

/* log of the branch that is not taken would be NaN */
static void a_derivative_ignores_the_branch_not_taken(void)
{
    pn_node x, y, zero;
    pn_graph *graph = graph_xy(&x, &y);

    zero = pn_x_const(graph, 0.0);
    CHECK(slope(graph, pn_x_where(graph, pn_x_binary(graph, PN_X_LT, zero, x), pn_x_unary(graph, PN_X_LOG, x), zero), 0,
                -1.0, 0.0) == 0.0);
    pn_graph_free(graph);
}

/* 1 - tanh(x)^2 is 0 from x = 19 on, and s(1 - s) loses all digits from 37 on. */
static void bounded_functions_keep_their_derivatives_in_the_tails(void)
{
    pn_node x, y, d;
    pn_graph *graph = graph_xy(&x, &y);

    d = pn_graph_derivative(graph, pn_x_unary(graph, PN_X_TANH, x), 0);
    CHECK_CLOSE(value_at(graph, d, 30.0, 0), 4 * exp(-60.0), 1e-15 * exp(-60.0));
    CHECK_CLOSE(value_at(graph, d, -30.0, 0), 4 * exp(-60.0), 1e-15 * exp(-60.0));
    d = pn_graph_derivative(graph, pn_x_unary(graph, PN_X_SIGMOID, x), 0);
    CHECK_CLOSE(value_at(graph, d, 100.0, 0), exp(-100.0), 1e-15 * exp(-100.0));
    CHECK_CLOSE(value_at(graph, d, -100.0, 0), exp(-100.0), 1e-15 * exp(-100.0));
    pn_graph_free(graph);
}

static void a_variable_that_does_not_occur_gives_the_constant_zero(void)
{
    pn_node x, y, f;
    pn_graph *graph = graph_xy(&x, &y);

    f = pn_x_binary(graph, PN_X_POW, pn_x_unary(graph, PN_X_EXP, x), pn_x_unary(graph, PN_X_SIN, x));
    f = pn_x_binary(graph, PN_X_DIV, f, pn_x_binary(graph, PN_X_MUL, f, x));
    CHECK(pn_x_is(graph, pn_graph_derivative(graph, f, 1), 0.0));
    CHECK(!pn_x_is(graph, pn_graph_derivative(graph, f, 0), 0.0));
    pn_graph_free(graph);
}

/* ---- failures ---- */

static void a_missing_expression_has_no_derivative(void)
{
    pn_node x, y;
    pn_graph *graph = graph_xy(&x, &y);

    CHECK(pn_graph_derivative(graph, PN_NODE_NONE, 0) == PN_NODE_NONE);
    CHECK(pn_graph_status(graph, NULL) == PN_OK);
    pn_graph_free(graph);
}

static pn_status differentiate(void *self, pn_err *err)
{
    static const char *const names[] = { "x" };
    pn_graph *graph = NULL;
    pn_status status = pn_graph_new(&graph, names, 1, err);
    pn_node f;

    (void)self;
    if (status != PN_OK)
        return status;
    f = pn_x_var(graph, 0);
    for (int i = 0; i < 60; i++)
        f = pn_x_unary(graph, i % 2 ? PN_X_SIN : PN_X_TANH, f);
    (void)pn_graph_derivative(graph, pn_graph_derivative(graph, f, 0), 0);
    status = pn_graph_status(graph, err);
    pn_graph_free(graph);
    return status;
}

int main(void)
{
    each_function_has_the_derivatives_of_the_tables();
    kinks_have_the_documented_derivative();
    a_derivative_ignores_the_branch_not_taken();
    bounded_functions_keep_their_derivatives_in_the_tails();
    a_variable_that_does_not_occur_gives_the_constant_zero();
    a_missing_expression_has_no_derivative();
    CHECK(fail_alloc_sweep("derivative", differentiate, NULL) > 6);
    random_expressions_have_the_derivatives_that_differences_show();
    return check_summary();
}
