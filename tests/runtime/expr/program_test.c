/* program_test.c -- compiled expressions against plain evaluation, node by node,
 * for every simd table of this processor.
 *
 * The values of all nodes of a random expression are made outputs of one program.  Each must then be the operation's
 * value at its operands' values: with the same bits for + - * / min max where and the like, within the stated units in
 * the last place of long double for functions.  So errors need not be propagated.
 * Then programs of single outputs must give those same bits.
 * Depends on: check.h, fail_alloc.h, program_impl.h. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "expr/program_impl.h"
#include "fail_alloc.h"

#define VARIABLES 3
#define POINTS    270 /* a block and a part of one */
#define NODES_MAX 120

static uint64_t random_state = 1;

static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

static size_t below(size_t n)
{
    return (size_t)(uniform() * (double)n);
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static bool all_same(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!same(a[i], b[i]))
            return false;
    }
    return true;
}

static void *must(void *pointer)
{
    if (!CHECK(pointer != NULL))
        exit(1);
    return pointer;
}

static double *array(size_t n)
{
    return must(malloc(n * sizeof(double) + 1));
}

static pn_graph *new_graph(void)
{
    static const char *const names[VARIABLES] = { "x", "y", "z" };
    pn_graph *graph = NULL;

    CHECK(pn_graph_new(&graph, names, VARIABLES, NULL) == PN_OK);
    return must(graph);
}

static pn_program *compile(const pn_simd *simd, const pn_graph *graph, const pn_node *outputs, size_t count)
{
    pn_program *program = NULL;

    CHECK(pn_program_new_for(&program, simd, graph, outputs, count, NULL) == PN_OK);
    return must(program);
}

/* Mostly ordinary numbers, some where things happen. */
static double draw(void)
{
    static const double specials[] = { 0.0, -0.0, 1.0,  -1.0,   2.0,   0.5, INFINITY, -INFINITY,
                                       NAN, 30.0, -30., 1e-310, -1e-9, 1e9, -1e200,   1e-200 };
    double u = uniform();

    return u < 0.2 ? specials[below(sizeof specials / sizeof specials[0])] : 10.0 * uniform() - 5.0;
}

/* ---- random expressions ---- */

static pn_node random_operation(pn_graph *graph, const pn_node *pool, size_t count)
{
    pn_opcode op = (pn_opcode)((size_t)PN_X_NEG + below(PN_X_COUNT - PN_X_NEG));
    pn_node a = pool[below(count)], b = pool[below(count)], c = pool[below(count)];

    switch (pn_opcode_operands(op)) {
    case 1:
        return pn_x_unary(graph, op, a);
    case 2:
        return pn_x_binary(graph, op, a, b);
    default:
        return pn_x_where(graph, a, b, c);
    }
}

/* Fills pool[size] with variables, constants and operations on what is before them. */
static void random_pool(pn_graph *graph, pn_node *pool, size_t size)
{
    size_t count = 0;

    for (unsigned v = 0; v < VARIABLES; v++)
        pool[count++] = pn_x_var(graph, v);
    for (unsigned k = 0; k < 3; k++)
        pool[count++] = pn_x_const(graph, k == 0 ? 2.0 : draw());
    for (; count < size; count++)
        pool[count] = random_operation(graph, pool, count);
    CHECK(pn_graph_status(graph, NULL) == PN_OK && pool[size - 1] != PN_NODE_NONE);
}

/* ---- what one operation should give ---- */

static long double sigmoid_ref(long double x)
{
    return 1.0L / (1.0L + expl(-x));
}

static long double softplus_ref(long double x)
{
    return x > 0.0L ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

/* The functions with the errors that program.h states. */
static const struct {
    long double (*reference)(long double);
    double ulps;
} functions[PN_X_COUNT] = {
    [PN_X_EXP] = { expl, 1.0 },
    [PN_X_LOG] = { logl, 1.0 },
    [PN_X_LOG1P] = { log1pl, 1.0 },
    [PN_X_EXPM1] = { expm1l, 1.0 },
    [PN_X_TANH] = { tanhl, 1.0 },
    [PN_X_SIGMOID] = { sigmoid_ref, 3.0 },
    [PN_X_SOFTPLUS] = { softplus_ref, 4.0 },
    [PN_X_ERF] = { erfl, 1.0 },
    [PN_X_SIN] = { sinl, 1.0 },
    [PN_X_COS] = { cosl, 1.0 },
};

static double exact(pn_opcode op, double a, double b, double c)
{
    switch (op) {
    case PN_X_NEG:
        return -a;
    case PN_X_ABS:
        return fabs(a);
    case PN_X_SIGN:
        return isnan(a) || a == 0.0 ? a : copysign(1.0, a);
    case PN_X_SQRT:
        return sqrt(a);
    case PN_X_ADD:
        return a + b;
    case PN_X_SUB:
        return a - b;
    case PN_X_MUL:
        return a * b;
    case PN_X_DIV:
        return a / b;
    case PN_X_MIN:
        return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    case PN_X_MAX:
        return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    case PN_X_LT:
        return a < b;
    case PN_X_LE:
        return a <= b;
    case PN_X_WHERE:
        return a == 0.0 ? c : b;
    default:
        return 1e99; /* is right for nothing */
    }
}

/* Within `allowed` units in the last place of the double nearest to `want`;
 * the vector functions overflow a little early. */
static bool within(double got, long double want, double allowed)
{
    double nearest = (double)want, unit = nextafter(fabs(nearest), INFINITY) - fabs(nearest);

    if (isnan(nearest) || isnan(got))
        return isnan(nearest) && isnan(got);
    if (isinf(got))
        return fabs(nearest) > 0.99999 * DBL_MAX && (got > 0.0) == (nearest > 0.0);
    if (isinf(nearest))
        return false;
    return fabsl((long double)got - want) <= (long double)(allowed * unit);
}

static bool operation_holds(pn_opcode op, double a, double b, double c, double got)
{
    if (op == PN_X_LOG1P && a >= 1e307)
        return got > 0.0; /* simd.h: it may be infinite */
    if (op == PN_X_POW)
        return within(got, powl((long double)a, (long double)b), 1.0);
    if (functions[op].reference)
        return within(got, functions[op].reference((long double)a), functions[op].ulps);
    return same(got, exact(op, a, b, c));
}

/* ---- node by node ---- */

/* values[node][i]: of all nodes at all points, by one program. */
static double **all_values(const pn_simd *simd, const pn_graph *graph, const double *const *inputs, size_t n)
{
    size_t nodes = pn_graph_size(graph);
    pn_node *outputs = must(malloc(nodes * sizeof *outputs));
    double **values = must(malloc(nodes * sizeof *values));
    pn_program *program;

    for (size_t i = 0; i < nodes; i++) {
        outputs[i] = (pn_node)i;
        values[i] = array(n);
    }
    program = compile(simd, graph, outputs, nodes);
    pn_program_run(program, n, inputs, values);
    pn_program_free(program);
    free(outputs);
    return values;
}

static void free_values(double **values, size_t nodes)
{
    for (size_t i = 0; i < nodes; i++)
        free(values[i]);
    free(values);
}

static bool node_holds(const pn_graph *graph, pn_node node, double *const *values, const double *const *inputs,
                       size_t n)
{
    pn_term term = *pn_graph_term(graph, node);
    unsigned count = pn_opcode_operands(term.op);

    for (size_t i = 0; i < n; i++) {
        double got = values[node][i], a = count > 0 ? values[term.a][i] : 0.0, b = count > 1 ? values[term.b][i] : 0.0;
        double c = count > 2 ? values[term.c][i] : 0.0;
        bool holds = term.op == PN_X_CONST ? same(got, term.value)
                     : term.op == PN_X_VAR ? same(got, inputs[term.a][i])
                                           : operation_holds(term.op, a, b, c, got);

        if (!holds) {
            (void)fprintf(stderr, "    %s(%.17g, %.17g, %.17g) gave %.17g\n", pn_opcode_name(term.op), a, b, c, got);
            return false;
        }
    }
    return true;
}

/* Sines of large arguments may depend on the other lanes in the last bit, so not on bits of blocks cut differently. */
static bool repeatable(const pn_graph *graph, double *const *values, size_t n)
{
    for (pn_node node = 0; node < pn_graph_size(graph); node++) {
        const pn_term *term = pn_graph_term(graph, node);

        for (size_t i = 0; i < n && (term->op == PN_X_SIN || term->op == PN_X_COS); i++) {
            if (!(fabs(values[term->a][i]) < 15.0))
                return false;
        }
    }
    return true;
}

/* One program for a few outputs gives the bits of the program for all nodes. */
static void test_few_outputs(const pn_simd *simd, const pn_graph *graph, const pn_node *pool, size_t size,
                             double *const *values, const double *const *inputs)
{
    size_t count = 1 + below(3);
    pn_node outputs[3];
    double *got[3];
    pn_program *program;

    for (size_t k = 0; k < count; k++) {
        outputs[k] = pool[k == 0 ? size - 1 : below(size)];
        got[k] = array(POINTS);
    }
    program = compile(simd, graph, outputs, count);
    pn_program_run(program, POINTS, inputs, got);
    for (size_t k = 0; k < count; k++) {
        CHECK(all_same(got[k], values[outputs[k]], POINTS));
        free(got[k]);
    }
    pn_program_free(program);
}

/* Outputs that are inputs: any of the outputs takes the place of any of the variables. */
static void test_aliases(const pn_simd *simd, const pn_graph *graph, const pn_node *pool, size_t size,
                         double *const *values, const double *const *inputs)
{
    double *arrays[VARIABLES];
    const double *now[VARIABLES];
    pn_node outputs[VARIABLES];
    size_t rotation = below(VARIABLES);
    double *into[VARIABLES];
    pn_program *program;

    for (size_t v = 0; v < VARIABLES; v++) {
        now[v] = arrays[v] = array(POINTS);
        memcpy(arrays[v], inputs[v], POINTS * sizeof(double));
        outputs[v] = pool[below(3) ? below(size) : below(VARIABLES)];
    }
    for (size_t v = 0; v < VARIABLES; v++)
        into[v] = arrays[(v + rotation) % VARIABLES];
    program = compile(simd, graph, outputs, VARIABLES);
    pn_program_run(program, POINTS, now, into);
    for (size_t v = 0; v < VARIABLES; v++)
        CHECK(all_same(into[v], values[outputs[v]], POINTS));
    for (size_t v = 0; v < VARIABLES; v++)
        free(arrays[v]);
    pn_program_free(program);
}

static void test_random_expression(const pn_simd *simd, size_t size)
{
    pn_graph *graph = new_graph();
    pn_node pool[NODES_MAX];
    double *inputs[VARIABLES], **values;
    const double *const *given = (const double *const *)inputs;

    random_pool(graph, pool, size);
    for (size_t v = 0; v < VARIABLES; v++) {
        inputs[v] = array(POINTS);
        for (size_t i = 0; i < POINTS; i++)
            inputs[v][i] = draw();
    }
    values = all_values(simd, graph, given, POINTS);
    for (pn_node node = 0; node < pn_graph_size(graph); node++)
        CHECK(node_holds(graph, node, values, given, POINTS));
    if (repeatable(graph, values, POINTS)) {
        test_few_outputs(simd, graph, pool, size, values, given);
        test_aliases(simd, graph, pool, size, values, given);
    }
    free_values(values, pn_graph_size(graph));
    for (size_t v = 0; v < VARIABLES; v++)
        free(inputs[v]);
    pn_graph_free(graph);
}

/* ---- lengths ---- */

/* A few outputs of x and y; the last uses many registers, so its block is shorter. */
static size_t sample_outputs(pn_graph *graph, pn_node *outputs)
{
    pn_node x = pn_x_var(graph, 0), y = pn_x_var(graph, 1), t = pn_x_binary(graph, PN_X_SUB, x, y), sum = x;

    outputs[0] = pn_x_binary(graph, PN_X_MUL, t, t);
    outputs[1] = pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_binary(graph, PN_X_MUL, x, y));
    outputs[2] = pn_x_where(graph, pn_x_binary(graph, PN_X_LT, x, y), pn_x_const(graph, 0.25), t);
    for (int k = 1; k <= 30; k++)
        sum = pn_x_binary(graph, PN_X_ADD, sum,
                          pn_x_unary(graph, PN_X_TANH, pn_x_binary(graph, PN_X_MUL, x, pn_x_const(graph, k))));
    outputs[3] = sum;
    return 4;
}

static void test_lengths(const pn_simd *simd)
{
    enum { LONGEST = 700 };
    pn_graph *graph = new_graph();
    pn_node outputs[4];
    size_t count = sample_outputs(graph, outputs);
    double *x = array(LONGEST), *y = array(LONGEST), *whole[4], *got[4];
    pn_program *program = compile(simd, graph, outputs, count);

    pn_graph_free(graph); /* not needed any more */
    for (size_t i = 0; i < LONGEST; i++) {
        x[i] = draw();
        y[i] = draw();
    }
    for (size_t k = 0; k < count; k++) {
        whole[k] = array(LONGEST);
        for (size_t i = 0; i < LONGEST; i++)
            pn_program_run(program, 1, (const double *[]){ x + i, y + i, NULL },
                           (double *[]){ k == 0 ? whole[k] + i : NULL, k == 1 ? whole[k] + i : NULL,
                                         k == 2 ? whole[k] + i : NULL, k == 3 ? whole[k] + i : NULL });
    }
    for (size_t n = 0; n <= LONGEST; n += n < 300 ? 1 : 57) {
        double *nx = array(n), *ny = array(n);
        bool right = true;

        memcpy(nx, x, n * sizeof *x);
        memcpy(ny, y, n * sizeof *y);
        for (size_t k = 0; k < count; k++) {
            got[k] = array(n + 1);
            got[k][n] = 7.0;
        }
        pn_program_run(program, n, (const double *[]){ nx, ny, NULL }, got);
        for (size_t k = 0; k < count; k++) {
            right = right && all_same(got[k], whole[k], n) && got[k][n] == 7.0;
            free(got[k]);
        }
        CHECK(right);
        free(nx);
        free(ny);
    }
    for (size_t k = 0; k < count; k++)
        free(whole[k]);
    free(x);
    free(y);
    pn_program_free(program);
}

/* ---- outputs of all kinds ---- */

static void test_plain_outputs(const pn_simd *simd)
{
    enum { N = 600 };
    pn_graph *graph = new_graph();
    pn_node x = pn_x_var(graph, 0), y = pn_x_var(graph, 1), c = pn_x_const(graph, 2.5);
    pn_node e = pn_x_unary(graph, PN_X_EXP, x), s = pn_x_binary(graph, PN_X_ADD, e, y);
    const pn_node outputs[] = { x, c, e, s, e, x, y, c };
    double in[2][N], out[8][N], exps[N];
    double *into[8];
    bool right = true;
    pn_program *program = compile(simd, graph, outputs, 8);

    for (size_t i = 0; i < N; i++) {
        in[0][i] = draw();
        in[1][i] = draw();
    }
    for (size_t k = 0; k < 8; k++)
        into[k] = out[k];
    simd->exp(N, in[0], exps);
    pn_program_run(program, N, (const double *[]){ in[0], in[1] }, into);
    for (size_t i = 0; i < N; i++) {
        right = right && same(out[0][i], in[0][i]) && out[1][i] == 2.5 && same(out[2][i], exps[i]);
        right = right && same(out[3][i], exps[i] + in[1][i]) && same(out[4][i], exps[i]);
        right = right && same(out[5][i], in[0][i]) && same(out[6][i], in[1][i]) && out[7][i] == 2.5;
    }
    CHECK(right);
    memset(out[3], 0, sizeof out[3]);
    for (size_t k = 0; k < 8; k++)
        into[k] = k == 3 ? out[3] : NULL; /* the others are not wanted */
    pn_program_run(program, N, (const double *[]){ in[0], in[1] }, into);
    right = true;
    for (size_t i = 0; i < N; i++)
        right = right && same(out[3][i], exps[i] + in[1][i]);
    CHECK(right);
    pn_program_free(program);
    pn_graph_free(graph);
}

/* The variables x and y change places; x + y and x - y take theirs. */
static void test_swap(const pn_simd *simd)
{
    enum { N = 600 };
    pn_graph *graph = new_graph();
    pn_node x = pn_x_var(graph, 0), y = pn_x_var(graph, 1);
    const pn_node swap[] = { y, x };
    const pn_node turn[] = { pn_x_binary(graph, PN_X_ADD, x, y), pn_x_binary(graph, PN_X_SUB, x, y) };
    double a[N], b[N];
    bool right = true;
    pn_program *program = compile(simd, graph, swap, 2);

    for (size_t i = 0; i < N; i++) {
        a[i] = (double)i;
        b[i] = 0.5;
    }
    pn_program_run(program, N, (const double *[]){ a, b }, (double *[]){ a, b });
    for (size_t i = 0; i < N; i++)
        right = right && a[i] == 0.5 && b[i] == (double)i;
    CHECK(right);
    pn_program_free(program);
    program = compile(simd, graph, turn, 2);
    pn_program_run(program, N, (const double *[]){ a, b }, (double *[]){ a, b });
    for (size_t i = 0; i < N; i++)
        right = right && a[i] == 0.5 + (double)i && b[i] == 0.5 - (double)i;
    CHECK(right);
    pn_program_free(program);
    pn_graph_free(graph);
}

static void test_constants(const pn_simd *simd)
{
    pn_graph *graph = new_graph();
    pn_node x = pn_x_var(graph, 0), y = pn_x_var(graph, 1), e = pn_x_unary(graph, PN_X_EXP, pn_x_const(graph, 1.5));
    pn_node sure = pn_x_binary(graph, PN_X_LT, e, pn_x_const(graph, 5.0)); /* e^1.5 = 4.48... */
    pn_node chosen = pn_x_where(graph, sure, pn_x_binary(graph, PN_X_MUL, x, e), pn_x_unary(graph, PN_X_LOG, y));
    const pn_node outputs[] = { e, sure, chosen, pn_x_where(graph, sure, x, y) };
    double out[4][300], *into[] = { out[0], out[1], out[2], out[3] }, in[300];
    bool right = true;
    pn_program *program = compile(simd, graph, outputs, 4);

    for (size_t i = 0; i < 300; i++)
        in[i] = draw();
    pn_program_run(program, 300, (const double *[]){ in, NULL }, into); /* y is only in the branch that is not taken */
    for (size_t i = 0; i < 300; i++) {
        right = right && within(out[0][i], expl(1.5L), 1.0) && out[1][i] == 1.0;
        right = right && same(out[2][i], in[i] * out[0][i]) && same(out[3][i], in[i]);
    }
    CHECK(right);
    CHECK(pn_program_steps(program) == 4); /* three copies and a product */
    pn_program_free(program);
    program = compile(simd, graph, outputs, 1);
    pn_program_run(program, 300, NULL, into); /* no variables at all */
    CHECK(within(out[0][299], expl(1.5L), 1.0));
    pn_program_free(program);
    program = compile(simd, graph, NULL, 0);
    pn_program_run(program, 300, NULL, NULL);
    CHECK(pn_program_steps(program) == 0);
    pn_program_free(program);
    pn_graph_free(graph);
}

static void test_common_parts(const pn_simd *simd)
{
    pn_graph *graph = new_graph();
    pn_node x = pn_x_var(graph, 0), e = pn_x_unary(graph, PN_X_EXP, x), u = pn_x_unary(graph, PN_X_SIN, x);
    const pn_node outputs[] = { pn_x_binary(graph, PN_X_ADD, e, u), pn_x_binary(graph, PN_X_SUB, e, u) };
    pn_program *program = compile(simd, graph, outputs, 2);

    CHECK(pn_program_steps(program) == 4);
    pn_program_free(program);
    program = compile(simd, graph, outputs, 1);
    CHECK(pn_program_steps(program) == 3);
    pn_program_free(program);
    pn_graph_free(graph);
}

/* Sums, differences and products in pairs, on either side, with constants: one step for two, the same bits as two. */
static void test_pairs(const pn_simd *simd)
{
    static const pn_opcode ops[] = { PN_X_ADD, PN_X_SUB, PN_X_MUL };
    double x[300], y[300], z[300], out[300], *into[] = { out };

    for (size_t i = 0; i < 300; i++) {
        x[i] = draw();
        y[i] = draw();
        z[i] = draw();
    }
    for (size_t form = 0; form < 36; form++) {
        pn_opcode inner = ops[form % 3], outer = ops[form / 3 % 3];
        bool second = form / 9 % 2, number = form / 18;
        pn_graph *graph = new_graph();
        pn_node t = pn_x_binary(graph, inner, pn_x_var(graph, 0), pn_x_var(graph, 1));
        pn_node c = number ? pn_x_const(graph, 0.3) : pn_x_var(graph, 2);
        pn_node output = pn_x_binary(graph, outer, second ? c : t, second ? t : c);
        pn_program *program = compile(simd, graph, &output, 1);
        bool right = true;

        pn_program_run(program, 300, (const double *[]){ x, y, z }, into);
        for (size_t i = 0; i < 300; i++) {
            volatile double first = exact(inner, x[i], y[i], 0.0); /* not to be fused by the compiler */
            double other = number ? 0.3 : z[i];

            right = right && same(out[i], exact(outer, second ? other : first, second ? first : other, 0.0));
        }
        CHECK(right);
        CHECK(pn_program_steps(program) == 1);
        pn_program_free(program);
        pn_graph_free(graph);
    }
}

/* ---- registers ---- */

static pn_node term_of(pn_graph *graph, int k)
{
    return pn_x_unary(graph, PN_X_TANH, pn_x_binary(graph, PN_X_MUL, pn_x_var(graph, 0), pn_x_const(graph, k)));
}

/* sum_k max(t_k, sum_j t_j) needs every t_k until the first sum is known. */
static pn_node crowd(pn_graph *graph, int terms)
{
    pn_node sum = term_of(graph, 3), total;

    for (int k = 1; k < terms; k++)
        sum = pn_x_binary(graph, PN_X_ADD, sum, term_of(graph, k + 3));
    total = sum;
    for (int k = 0; k < terms; k++)
        total = pn_x_binary(graph, PN_X_ADD, total, pn_x_binary(graph, PN_X_MAX, term_of(graph, k + 3), sum));
    return total;
}

static double crowd_value(const pn_simd *simd, double x, int terms)
{
    double t[2000], sum, total;

    for (int k = 0; k < terms; k++)
        t[k] = x * (k + 3);
    simd->tanh((size_t)terms, t, t);
    sum = t[0];
    for (int k = 1; k < terms; k++)
        sum += t[k];
    total = sum;
    for (int k = 0; k < terms; k++)
        total += fmax(t[k], sum);
    return total;
}

static void test_many_registers(const pn_simd *simd)
{
    static const int crowds[] = { 20, 100, 200, 1000 };
    double x[300], out[300], *into[] = { out };

    for (size_t i = 0; i < 300; i++)
        x[i] = 1e-3 * (double)i;
    for (size_t c = 0; c < sizeof crowds / sizeof crowds[0]; c++) {
        pn_graph *graph = new_graph();
        pn_node output = crowd(graph, crowds[c]);
        pn_program *program = compile(simd, graph, &output, 1);
        bool right = true;

        pn_program_run(program, 300, (const double *[]){ x }, into);
        for (size_t i = 0; i < 300; i++)
            right = right && out[i] == crowd_value(simd, x[i], crowds[c]);
        CHECK(right);
        CHECK(program->block % PN_PROGRAM_LANES == 0 && program->block >= PN_PROGRAM_LANES);
        CHECK(program->block <= PN_PROGRAM_BLOCK);
        pn_program_free(program);
        pn_graph_free(graph);
    }
}

static void test_too_many_registers(void)
{
    pn_graph *graph = new_graph();
    pn_node output = crowd(graph, 1100);
    pn_program *program = NULL;
    pn_err err;

    CHECK(pn_program_new(&program, graph, &output, 1, &err) == PN_EUNSUPPORTED);
    CHECK(program == NULL && strstr(err.message, "at once") != NULL && strstr(err.message, "1024") != NULL);
    output = PN_NODE_NONE;
    CHECK(pn_program_new(&program, graph, &output, 1, &err) == PN_EINVAL);
    CHECK(program == NULL);
    pn_graph_free(graph);
}

/* A sum of terms that were all made first, as by a loop that fills a list, needs but a few registers. */
static void test_order(void)
{
    enum { TERMS = 3000 };
    pn_graph *graph = new_graph();
    pn_node *terms = must(malloc(TERMS * sizeof *terms)), sum;
    pn_program *program;
    double x = 0.01, out, *into[] = { &out }, want = 0.0;

    for (int k = 0; k < TERMS; k++)
        terms[k] = term_of(graph, k + 3);
    sum = terms[0];
    for (int k = 1; k < TERMS; k++)
        sum = pn_x_binary(graph, PN_X_ADD, sum, terms[k]);
    program = compile(pn_simd_best(), graph, &sum, 1);
    CHECK(program->block == PN_PROGRAM_BLOCK);
    pn_program_run(program, 1, (const double *[]){ &x }, into);
    for (int k = 0; k < TERMS; k++)
        want += tanh(x * (k + 3));
    CHECK_CLOSE(out, want, 1e-15 * TERMS * TERMS);
    pn_program_free(program);
    pn_graph_free(graph);
    free(terms);
}

/* ---- threads, failures ---- */

typedef struct shared {
    const pn_program *program;
    const double *const *inputs;
    double *outputs[8][4];
    size_t n;
} shared;

static void run_shared(void *data, size_t block, unsigned worker)
{
    shared *self = data;

    (void)worker;
    pn_program_run(self->program, self->n, self->inputs, self->outputs[block]);
}

static void test_threads(void)
{
    enum { N = 100007 };
    pn_graph *graph = new_graph();
    pn_node outputs[4];
    size_t count = sample_outputs(graph, outputs);
    double *x = array(N), *y = array(N), *got[4];
    const double *inputs[] = { x, y, NULL };
    pn_program *program = compile(pn_simd_best(), graph, outputs, count);
    shared self = { .program = program, .inputs = inputs, .n = N };
    pn_task *task = NULL;
    pn_err err;

    CHECK(pn_task_new(&task, 4, NULL) == PN_OK);
    for (size_t i = 0; i < N; i++) {
        x[i] = draw();
        y[i] = draw();
    }
    for (size_t k = 0; k < count; k++) {
        got[k] = array(N);
        for (size_t j = 0; j < 8; j++)
            self.outputs[j][k] = array(N);
    }
    CHECK(pn_parallel(task, 8, run_shared, &self, NULL) == PN_OK); /* eight runs of one program at once */
    CHECK(pn_program_map(program, N, inputs, got, task, NULL) == PN_OK);
    for (size_t k = 0; k < count; k++) {
        for (size_t j = 0; j < 8; j++)
            CHECK(memcmp(self.outputs[j][k], got[k], N * sizeof(double)) == 0);
        memset(got[k], 0, N * sizeof(double));
    }
    CHECK(pn_program_map(program, N, inputs, got, NULL, NULL) == PN_OK);
    for (size_t k = 0; k < count; k++) {
        CHECK(memcmp(self.outputs[0][k], got[k], N * sizeof(double)) == 0);
        for (size_t j = 0; j < 8; j++)
            free(self.outputs[j][k]);
    }
    CHECK(pn_program_map(program, 0, inputs, got, task, NULL) == PN_OK);
    pn_task_cancel(task);
    CHECK(pn_program_map(program, N, inputs, got, task, &err) == PN_ECANCELLED);
    for (size_t k = 0; k < count; k++)
        free(got[k]);
    free(x);
    free(y);
    pn_task_free(task);
    pn_program_free(program);
    pn_graph_free(graph);
}

static pn_status compile_scenario(void *data, pn_err *err)
{
    const pn_graph *graph = data;
    const pn_node outputs[] = { 5, (pn_node)pn_graph_size(graph) - 1, 0 };
    pn_program *program = NULL;
    pn_status status = pn_program_new(&program, graph, outputs, 3, err);

    pn_program_free(program);
    return status;
}

static void test_memory(void)
{
    pn_graph *graph = new_graph();
    pn_node outputs[4];

    (void)sample_outputs(graph, outputs);
    fail_alloc_sweep("program", compile_scenario, graph);
    pn_graph_free(graph);
    pn_program_free(NULL);
}

int main(void)
{
    for (size_t i = 0; pn_simd_at(i); i++) {
        const pn_simd *simd = pn_simd_at(i);

        for (size_t e = 0; e < 1500 && LDBL_MANT_DIG > DBL_MANT_DIG; e++)
            test_random_expression(simd, 7 + below(e % 10 == 0 ? NODES_MAX - 7 : 25));
        test_lengths(simd);
        test_plain_outputs(simd);
        test_swap(simd);
        test_constants(simd);
        test_common_parts(simd);
        test_pairs(simd);
        test_many_registers(simd);
    }
    test_too_many_registers();
    test_order();
    test_threads();
    test_memory();
    return check_summary();
}
