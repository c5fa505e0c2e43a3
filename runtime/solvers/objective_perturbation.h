/* objective_perturbation.h -- what the plan and the step of objective perturbation share.  Private to objective_perturbation*.c. */
#ifndef PN_SOLVERS_OBJECTIVE_PERTURBATION_H
#define PN_SOLVERS_OBJECTIVE_PERTURBATION_H

#include "privacy/perturbation.h"
#include "solvers/solver.h"

typedef struct op_plan {
    pn_plan base;                  /* first */
    pn_perturbation_options noise; /* sigma 0 when non-private */
    double weight;                 /* Lam of the quadratic term that is added */
    double smoothness;             /* of the sum with it */
    double tolerance;              /* of the computed certificate: gap over a set, gradient norm on R^p */
    double most_steps;             /* of accelerated gradients, in the worst case */
    double *start;                 /* [p] */
} op_plan;

extern const pn_param op_params[];
enum { OP_LAMBDA = 0, OP_SPLIT, OP_TOLERANCE, OP_APPROXIMATE, OP_UNPROVEN };

pn_status op_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err);
void op_plan_destroy(pn_plan *plan);

#endif
