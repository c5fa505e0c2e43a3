/* objective_perturbation.h -- what the plan and the step of objective perturbation share.  Private to
 * objective_perturbation*.c and to output_perturbation*.c, whose exact method ends at the same certificate. */
#ifndef PN_SOLVERS_OBJECTIVE_PERTURBATION_H
#define PN_SOLVERS_OBJECTIVE_PERTURBATION_H

#include "privacy/mechanism/perturbation.h"
#include "solvers/engine/solver.h"

typedef struct op_plan {
    pn_plan base;                  /* first */
    pn_perturbation_options noise; /* sigma 0 when non-private */
    double weight;                 /* Lam of the quadratic term that is added */
    double smoothness;             /* of the sum with it */
    double tolerance;              /* of the computed certificate: gap or residual over a set, gradient norm on R^p */
    bool residual;                 /* the certificate over a set is the residual of a step */
    double most_steps;             /* of accelerated gradients, in the worst case */
    double *start;                 /* [p] */
} op_plan;

/* What the numbers below are computed from. */
typedef struct op_problem {
    const char *owner; /* what messages start with */
    const pn_objective *objective;
    const pn_set *set; /* or NULL */
    const pn_bounds *bounds;
    const pn_request *request;
    const double *start;
    double n, p;
    double lipschitz;   /* L: of one record's gradient, l2 */
    double beta;        /* largest eigenvalue of one record's Hessian */
    double sensitivity; /* of the sum of gradients */
    int rank;
    double regular; /* strong convexity of n r */
    double pull;    /* n ||grad r(start)||_2 */
    double fall;    /* bound on sum_i l_i(start) - min l_i, or +inf */
    double reach;   /* max ||theta - start||_2 over the set; +inf without */
    bool by_gap;    /* over a set whose projection has no known error: the certificate is the gap, else a norm */
    double split;
    bool whole; /* priced by its loss distribution, and charged at once */
    double tau; /* given tolerance, or 0 */
    /* What rounding in the slopes of a typed loss, and in a typed regulariser, may add to the gradient of the sum,
     * l2; 0 for others. */
    double rough, rough_reg;
} op_problem;

/* What follows from one choice. */
typedef struct op_choice {
    double weight; /* Lam that is added */
    double strong; /* with the regulariser's */
    double jacobian;
    double s;
    double tau, computed; /* certified excess; the certificate as computed */
    double most_steps;
    pn_perturbation_options noise;
} op_choice;

/** Read the problem; regulariser, beta and reach are public.  Errors: PN_ENOMEM; what the regulariser fails with. */
pn_status op_read(op_problem *at, const char *owner, const pn_objective *objective, const pn_request *request,
                  const double *start, pn_err *err);
/** Of private runs: the set must be one whose answers a certificate can rest on.
 *  Errors: PN_EPRIVACY, PN_EUNSUPPORTED. */
pn_status op_check_set(const op_problem *at, pn_err *err);
/** Check the assumptions and measure.  Errors: PN_EUNSUPPORTED and PN_EPRIVACY with the assumption that fails;
 *  PN_EINVAL; PN_ENOMEM. */
pn_status op_gather(op_problem *at, const op_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err);
/** A choice with Lam = weight and the Jacobian that follows. */
void op_begin(const op_problem *at, double weight, op_choice *made);
/** Tolerance, offset, bound and worst case for made->noise.sigma.  Errors: PN_EINVAL for a tolerance below what
 *  rounding allows. */
pn_status op_tolerance(const op_problem *at, op_choice *made, pn_err *err);
/** Everything that follows from s = sensitivity/sigma.  Errors: as op_tolerance. */
pn_status op_follow(const op_problem *at, double s, op_choice *made, pn_err *err);

extern const pn_param op_params[];
enum { OP_LAMBDA = 0, OP_SPLIT, OP_TOLERANCE, OP_APPROXIMATE, OP_UNPROVEN, OP_ACCOUNTANT };

pn_status op_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err);
void op_plan_destroy(pn_plan *plan);

#endif
