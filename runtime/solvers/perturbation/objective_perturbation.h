/* objective_perturbation.h -- what the plan and the step of objective perturbation share.  Private to
 * objective_perturbation*.c and to output_perturbation*.c, whose exact method ends at the same certificate. */
#ifndef PN_SOLVERS_OBJECTIVE_PERTURBATION_H
#define PN_SOLVERS_OBJECTIVE_PERTURBATION_H

#include "privacy/mechanism/perturbation.h"
#include "solvers/engine/solver.h"

/* What the numbers below are computed from. */
typedef struct op_problem {
    const char *owner; /* what messages start with */
    pn_objective *objective;
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
    double tau; /* certified excess */
    /* the certificate as computed: over a set the gap, or the residual of a step, on R^p the gradient's norm */
    double computed;
    double most_steps;             /* of accelerated gradients, in the worst case */
    pn_perturbation_options noise; /* sigma 0 when non-private */
} op_choice;

typedef struct op_plan {
    pn_plan base; /* first */
    op_problem problem;
    op_choice choice;
} op_plan;

/** Read the problem; regulariser, beta and reach are public.  Errors: PN_ENOMEM; what the regulariser fails with. */
pn_status op_read(op_problem *at, const char *owner, pn_objective *objective, const pn_request *request,
                  const double *start, pn_err *err);
/** PN_EPRIVACY, with the solver to use instead, for a set (NULL: none) that calls functions of a user's. */
pn_status op_need_own_set(const pn_set *set, const char *instead, pn_err *err);
/** PN_EUNSUPPORTED for a set (NULL: none) without the projection and support function that certificates take. */
pn_status op_need_certificate(const pn_set *set, pn_err *err);
/** PN_EUNSUPPORTED where nothing bounds the curvature of a record's loss. */
pn_status op_need_curvature(double curvature, pn_err *err);
/** PN_EPRIVACY where nothing bounds a record's gradient. */
pn_status op_need_slope(double lipschitz, pn_err *err);
/** Of private runs: the set must be one whose answers a certificate can rest on.
 *  Errors: PN_EPRIVACY, PN_EUNSUPPORTED. */
pn_status op_check_set(const op_problem *at, pn_err *err);
/** Check the assumptions and measure.  Errors: PN_EUNSUPPORTED and PN_EPRIVACY with the assumption that fails;
 *  PN_EINVAL; PN_ENOMEM. */
pn_status op_gather(op_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err);
/** A choice with Lam = weight and the Jacobian that follows. */
void op_begin(const op_problem *at, double weight, op_choice *made);
/** Tolerance, offset, bound and worst case for made->noise.sigma.  Errors: PN_EINVAL for a tolerance below what
 *  rounding allows. */
pn_status op_tolerance(const op_problem *at, op_choice *made, pn_err *err);
/** Everything that follows from s = sensitivity/sigma.  Errors: as op_tolerance. */
pn_status op_follow(const op_problem *at, double s, op_choice *made, pn_err *err);
/** Of one core, for op_minimise, estimated from public sizes. */
double op_seconds(const op_problem *at);
/** theta[p]: the minimum of the sum, the quadratic term and <linear, theta>, to the certificate.  How many gradients
 *  that takes depends on the records: only runs that may show numbers of them count and report it.
 *  Errors: as pn_perturbed_minimum. */
pn_status op_minimise(const op_problem *at, const op_choice *made, const char *label, const double *linear,
                      double *theta, pn_oracle *ask, pn_err *err);

extern const pn_param op_params[];
enum { OP_LAMBDA = 0, OP_SPLIT, OP_TOLERANCE, OP_APPROXIMATE, OP_UNPROVEN, OP_ACCOUNTANT, OP_WIDTH };

pn_status op_fill(pn_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
