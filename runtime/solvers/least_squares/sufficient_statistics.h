/* sufficient_statistics.h -- what the plan and the run of least squares by one release share.
 * Private to sufficient_statistics*.c and their tests.
 * Depends on: solver.h, minimise/composite.h, minimise/least_squares.h. */
#ifndef PN_SOLVERS_SUFFICIENT_STATISTICS_H
#define PN_SOLVERS_SUFFICIENT_STATISTICS_H

#include "minimise/composite.h"
#include "minimise/least_squares.h"
#include "solvers/engine/solver.h"

typedef struct ss_plan {
    pn_plan base;          /* first */
    pn_least_squares like; /* of what will be released; moments NULL */
    pn_composite public;   /* of the objective's regulariser and set */
} ss_plan;

enum { SS_LABEL_BOUND = 0, SS_TAU, SS_KAPPA, SS_DAMPING };
extern const pn_param ss_params[];

pn_status ss_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);
void ss_plan_destroy(pn_plan *plan);

/* The released quadratic, and the least point of it with the objective's regulariser over its set.
 *  theta[p].  Errors: as pn_least_squares_quadratic; those of the regulariser and of the set; PN_ENUMERIC. */
pn_status ss_minimise(const ss_plan *plan, const pn_least_squares *of, double *theta, pn_err *err);

#endif
