/* frank_wolfe.h -- what the plan and the steps of Frank-Wolfe share.  Private to frank_wolfe*.c. */
#ifndef PN_SOLVERS_FRANK_WOLFE_H
#define PN_SOLVERS_FRANK_WOLFE_H

#include "solvers/solver.h"

typedef struct fw_plan {
    pn_plan base; /* first */
    pn_selection_options selection;
    bool constant_step; /* the article's 1/(T+2), for comparison */
    double *start;      /* [p] */
} fw_plan;

extern const pn_param fw_params[];
enum { FW_SELECTION = 0, FW_STEP };

pn_status fw_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err);
void fw_plan_destroy(pn_plan *plan);

#endif
