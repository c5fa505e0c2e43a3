/* map_bench.c -- a compiled expression over 1e7 numbers, one thread, against the same expression written by hand in C
 * and compiled with the same flags: one of ten arithmetic operations, one of ten with an exponential and a logarithm.
 * Then every operation alone, in the cache.  `map_bench seconds` prints but the two times of the compiled expressions,
 * for map_lua.sh.
 * Depends on: expr/program.h, libm.  Build: make bench. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "bench/bench.h"
#include "expr/program.h"

#define N      10000000
#define CACHED 1024
#define RUNS   9
#define LIMIT  2.0

typedef struct map {
    pn_program *program;
    size_t n, repeats;
    const double *inputs[2];
    double *output;
} map;

static void run_program(void *self)
{
    map *m = self;

    for (size_t r = 0; r < m->repeats; r++)
        (void)pn_program_map(m->program, m->n, m->inputs, (double *[]){ m->output }, NULL, NULL);
}

/* min(|(x/2 + y)(x - y) - x/(y^2 + 3)|, 5) */
static void arithmetic_by_hand(void *self)
{
    map *m = self;
    const double *x = m->inputs[0], *y = m->inputs[1];
    double *out = m->output;

    for (size_t i = 0; i < m->n; i++) {
        double f = fabs((x[i] * 0.5 + y[i]) * (x[i] - y[i]) - x[i] / (y[i] * y[i] + 3.0));

        out[i] = f < 5.0 ? f : 5.0;
    }
}

static pn_node arithmetic(pn_graph *g)
{
    pn_node x = pn_x_var(g, 0), y = pn_x_var(g, 1);
    pn_node sum = pn_x_binary(g, PN_X_ADD, pn_x_binary(g, PN_X_MUL, x, pn_x_const(g, 0.5)), y);
    pn_node product = pn_x_binary(g, PN_X_MUL, sum, pn_x_binary(g, PN_X_SUB, x, y));
    pn_node square = pn_x_binary(g, PN_X_MUL, y, y);
    pn_node ratio = pn_x_binary(g, PN_X_DIV, x, pn_x_binary(g, PN_X_ADD, square, pn_x_const(g, 3.0)));
    pn_node size = pn_x_unary(g, PN_X_ABS, pn_x_binary(g, PN_X_SUB, product, ratio));

    return pn_x_binary(g, PN_X_MIN, size, pn_x_const(g, 5.0));
}

/* max(log(exp(-(x - y)^2 / 2) + 2) + x y, 0.1) */
static void functions_by_hand(void *self)
{
    map *m = self;
    const double *x = m->inputs[0], *y = m->inputs[1];
    double *out = m->output;

    for (size_t i = 0; i < m->n; i++) {
        double t = x[i] - y[i], f = log(exp(-(t * t * 0.5)) + 2.0) + x[i] * y[i];

        out[i] = f > 0.1 ? f : 0.1;
    }
}

static pn_node functions(pn_graph *g)
{
    pn_node x = pn_x_var(g, 0), y = pn_x_var(g, 1), t = pn_x_binary(g, PN_X_SUB, x, y);
    pn_node half = pn_x_binary(g, PN_X_MUL, pn_x_binary(g, PN_X_MUL, t, t), pn_x_const(g, 0.5));
    pn_node bell = pn_x_unary(g, PN_X_EXP, pn_x_unary(g, PN_X_NEG, half));
    pn_node logarithm = pn_x_unary(g, PN_X_LOG, pn_x_binary(g, PN_X_ADD, bell, pn_x_const(g, 2.0)));
    pn_node sum = pn_x_binary(g, PN_X_ADD, logarithm, pn_x_binary(g, PN_X_MUL, x, y));

    return pn_x_binary(g, PN_X_MAX, sum, pn_x_const(g, 0.1));
}

static double *fill(size_t n, uint64_t state)
{
    double *x = malloc(n * sizeof *x);

    if (!x)
        exit(1);
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = 4.0 * ((double)(state >> 11) * 0x1p-53) + 0.001;
    }
    return x;
}

static void compile(map *m, pn_graph *graph, pn_node node)
{
    pn_err err;

    if (pn_program_new(&m->program, graph, &node, 1, &err) != PN_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

/* Processor time, as Lua's os.clock. */
static double processor_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double best_of(map *m, int runs)
{
    double best = INFINITY;

    for (int i = 0; i < runs; i++) {
        double start = processor_now();

        run_program(m);
        best = fmin(best, processor_now() - start);
    }
    return best;
}

/* ns an entry of each operation alone. */
static void each_operation(map *m, pn_graph *graph)
{
    pn_node x = pn_x_var(graph, 0), y = pn_x_var(graph, 1);

    m->n = CACHED;
    m->repeats = 2000;
    for (int i = PN_X_NEG; i < PN_X_COUNT; i++) {
        pn_opcode op = (pn_opcode)i;
        unsigned count = pn_opcode_operands(op);

        compile(m, graph,
                count == 1   ? pn_x_unary(graph, op, x)
                : count == 2 ? pn_x_binary(graph, op, x, y)
                             : pn_x_where(graph, x, y, pn_x_const(graph, 1.0)));
        printf("  %-10s %6.3f ns an entry\n", pn_opcode_name(op), 1e9 * best_of(m, 7) / (CACHED * 2000.0));
        pn_program_free(m->program);
    }
}

int main(int count, char **arguments)
{
    static const char *const names[] = { "x", "y" };
    bool seconds = count > 1 && strcmp(arguments[1], "seconds") == 0;
    double *x = fill(N, 1), *y = fill(N, 2), *out = fill(N, 3);
    map m = { NULL, N, 1, { x, y }, out };
    pn_graph *graph;
    int over = 0;

    if (pn_graph_new(&graph, names, 2, NULL) != PN_OK)
        return 1;
    for (int k = 0; k < 2; k++) {
        compile(&m, graph, k == 0 ? arithmetic(graph) : functions(graph));
        if (seconds)
            printf("%.6f\n", best_of(&m, RUNS));
        else
            over += bench_line_busy(k == 0 ? "map, 10 arithmetic operations / C by hand"
                                           : "map, 10 with exp and log / C by hand",
                                    run_program, &m, k == 0 ? arithmetic_by_hand : functions_by_hand, &m, RUNS, LIMIT);
        pn_program_free(m.program);
    }
    if (!seconds)
        each_operation(&m, graph);
    pn_graph_free(graph);
    free(x);
    free(y);
    free(out);
    return over > 0;
}
