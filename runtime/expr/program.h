/* program.h -- expressions compiled to a list of vector operations over blocks that stay in the first-level cache.
 * Common subexpressions of all outputs are computed once; registers are reused as soon as their value is dead.
 * Accuracy: each node is computed within the bound of its function (simd.h: 1 ulp for exp log log1p expm1 tanh erf sin
 * cos, 3 sigmoid, 4 softplus, 1 for powers, correctly rounded + - * / sqrt and the rest exact); no operation is fused
 * or reordered.
 * Depends on: graph.h, numeric/simd/simd.h.  Used by: objective, geometry, bindings. */
#ifndef PN_EXPR_PROGRAM_H
#define PN_EXPR_PROGRAM_H

#include "core/task.h"
#include "expr/graph.h"

typedef struct pn_program pn_program;

/**
 * Compile outputs[count] of the graph; the graph is not needed afterwards.
 * Errors: PN_EUNSUPPORTED when more values are alive at once than fit the scratch (names the number); PN_ENOMEM.
 */
pn_status pn_program_new(pn_program **out, const pn_graph *graph, const pn_node *outputs, size_t count, pn_err *err);
void pn_program_free(pn_program *program);

/**
 * outputs[k][i] = expression k at (inputs[0][i], inputs[1][i], ...), i < n.  An input that no output depends on, and an
 * output that is not wanted, may be NULL (what only it needs is still computed: compile another program).  An output
 * may be the same array as an input, not overlap one otherwise.  Any number of threads may run one program at once;
 * nothing is allocated.
 */
void pn_program_run(const pn_program *program, size_t n, const double *const *inputs, double *const *outputs);

/** The same over long arrays, on the task's threads.  Errors: PN_ECANCELLED (outputs are then incomplete). */
pn_status pn_program_map(const pn_program *program, size_t n, const double *const *inputs, double *const *outputs,
                         pn_task *task, pn_err *err);

/** Vector operations per block, for tests and curiosity. */
size_t pn_program_steps(const pn_program *program);

#endif
