/* program_lower_test.c -- functions that begin with the same exponential share it and keep their bits,
 * in every simd table. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "expr/formula.h"
#include "expr/program_impl.h"
#include "fail_alloc.h"

#define COUNT 603

static const char *const names[] = { "x", "y" };

static void fill(double *x)
{
    static const double special[] = { 0.0, -0.0, 1e-300, -1e-300, 709.0, -709.0, 745.2, -745.2, 1e300, -1e300 };

    for (int i = 0; i < COUNT; i++)
        x[i] = 0.37 * (i - 301) + 1e-3 * (i % 7);
    memcpy(x + 50, special, sizeof special);
    x[70] = INFINITY;
    x[71] = -INFINITY;
    x[72] = NAN;
}

static void run(const pn_simd *simd, const pn_graph *graph, const pn_node *outputs, size_t count, const double *x,
                double *const *out, size_t *steps)
{
    const double *inputs[2] = { x, x };
    pn_program *program = NULL;

    CHECK(pn_program_new_for(&program, simd, graph, outputs, count, NULL) == PN_OK);
    if (!program)
        return;
    pn_program_run(program, COUNT, inputs, out);
    *steps = pn_program_steps(program);
    pn_program_free(program);
}

static void same_bits_as_alone(const pn_simd *simd)
{
    static double x[COUNT], together[4][COUNT], alone[COUNT];
    double *const out[4] = { together[0], together[1], together[2], together[3] };
    pn_graph *graph = NULL;
    pn_node u, outputs[4];
    size_t steps = 0;

    CHECK(pn_graph_new(&graph, names, 2, NULL) == PN_OK);
    u = pn_x_add(graph, pn_x_var(graph, 0), pn_x_const(graph, 0.125));
    outputs[0] = pn_x_unary(graph, PN_X_SOFTPLUS, u);
    outputs[1] = pn_x_unary(graph, PN_X_SIGMOID, u);
    outputs[2] = pn_x_unary(graph, PN_X_SIGMOID, pn_x_neg(graph, u));
    outputs[3] = pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_neg(graph, u));
    fill(x);
    run(simd, graph, outputs, 4, x, out, &steps);
    CHECK(steps == 7); /* u, -u, one exponential, four ends */
    for (int k = 0; k < 4; k++) {
        double *one = alone;

        run(simd, graph, &outputs[k], 1, x, &one, &steps);
        CHECK(steps <= 3);
        CHECK(memcmp(alone, together[k], sizeof alone) == 0);
    }
    pn_graph_free(graph);
}

/* Nothing is shared between arguments that differ, and constants fold as before. */
static void leaves_others_alone(void)
{
    pn_graph *graph = NULL, *lowered = NULL;
    pn_node nodes[2], image[2];

    CHECK(pn_graph_new(&graph, names, 2, NULL) == PN_OK);
    nodes[0] = pn_x_unary(graph, PN_X_SIGMOID, pn_x_var(graph, 0));
    nodes[1] = pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_var(graph, 1));
    CHECK(pn_program_lower(&lowered, image, graph, nodes, 2, NULL) == PN_OK && lowered == NULL);
    nodes[0] = pn_x_unary(graph, PN_X_SIGMOID, pn_x_const(graph, 0.3));
    nodes[1] = pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_const(graph, 0.3));
    {
        double a[3], b[3];
        pn_program *program = NULL;

        CHECK(pn_program_new(&program, graph, nodes, 2, NULL) == PN_OK);
        pn_program_run(program, 3, (const double *const[2]){ NULL, NULL }, (double *const[2]){ a, b });
        CHECK(fabs(a[2] - 1.0 / (1.0 + exp(-0.3))) < 1e-15 && fabs(b[1] - log1p(exp(0.3))) < 1e-15);
        pn_program_free(program);
    }
    pn_graph_free(graph);
}

static pn_status compile_shared(void *self, pn_err *err)
{
    pn_graph *graph = NULL;
    pn_program *program = NULL;
    pn_status status = pn_graph_new(&graph, names, 2, err);
    pn_node nodes[2];

    (void)self;
    if (status != PN_OK)
        return status;
    nodes[0] = pn_x_unary(graph, PN_X_SIGMOID, pn_x_var(graph, 0));
    nodes[1] = pn_x_unary(graph, PN_X_SOFTPLUS, pn_x_var(graph, 0));
    status = pn_program_new(&program, graph, nodes, 2, err);
    pn_program_free(program);
    pn_graph_free(graph);
    return status;
}

int main(void)
{
    for (size_t i = 0; pn_simd_at(i); i++)
        same_bits_as_alone(pn_simd_at(i));
    leaves_others_alone();
    (void)fail_alloc_sweep("shared exponentials", compile_shared, NULL);
    return check_summary();
}
