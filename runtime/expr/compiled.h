/* compiled.h -- an expression with its first two derivatives in variable 0, compiled: what losses, regularisers and
 * potentials that are formulas have in common.  Depends on: graph.h, program.h.  Used by: objective, geometry. */
#ifndef PN_EXPR_COMPILED_H
#define PN_EXPR_COMPILED_H

#include "expr/program.h"

typedef struct pn_compiled {
    pn_graph *graph;                              /* kept */
    pn_node root, slope_root;                     /* in the graph: f, df/d(variable 0) */
    pn_program *value, *slope, *both, *curvature; /* owned; `both` shares what the first two have in common */
} pn_compiled;

/** Fills `out`, which is zeroed or cleared; on failure it is cleared.  Errors: what the graph, its derivatives and the
 *  compiler refuse; PN_ENOMEM. */
pn_status pn_compiled_open(pn_compiled *out, pn_graph *graph, pn_node root, pn_err *err);
void pn_compiled_clear(pn_compiled *self); /* zeroed is allowed */

/** value[n] and slope[n] at inputs[variable][n]; either may be NULL.  As pn_program_run. */
void pn_compiled_run(const pn_compiled *self, size_t n, const double *const *inputs, double *value, double *slope);

#endif
