/* block_frank_wolfe.h -- what the plan and the steps of block-coordinate Frank-Wolfe share.
 * Private to block_frank_wolfe*.c.
 * Depends on: objective/measures/expected_curvature.h, solver.h. */
#ifndef PN_SOLVERS_BLOCK_FRANK_WOLFE_H
#define PN_SOLVERS_BLOCK_FRANK_WOLFE_H

#include "objective/measures/expected_curvature.h"
#include "random/block_sampling.h"
#include "solvers/engine/solver.h"

typedef struct bfw_plan {
    pn_plan base; /* first */
    pn_block_structure *structure;
    pn_block_sampling *sampling;
    pn_gradient_oracle oracle; /* sample NULL: the objective's gradient */
    bool compensated;          /* block i moves by gamma/(d p_i) */
    double late;               /* t0: compensated steps begin as if so many had been made */
} bfw_plan;

extern const pn_param bfw_params[];
enum { BFW_SAMPLING = 0, BFW_STEP, BFW_CURVATURE, BFW_GAP, BFW_GRADIENT_ERROR, BFW_ORACLE_ERROR, BFW_ORACLE };

pn_status bfw_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
