/* sgd.h -- what the parts of a plan of stochastic gradient descent share.  Private to sgd*.c.
 * Depends on: descent.h, oracle/gradient_batch.h. */
#ifndef PN_SOLVERS_SGD_H
#define PN_SOLVERS_SGD_H

#include "oracle/gradient_batch.h"
#include "solvers/first_order/descent.h"

extern const pn_param sgd_params[];
enum {
    SGD_SAMPLING = 0,
    SGD_BATCH,
    SGD_EPOCHS,
    SGD_STEP,
    SGD_SCHEDULE,
    SGD_OUTPUT,
    SGD_TAIL,
    SGD_ACCOUNTANT,
    SGD_PROX,
    SGD_STRONG_CONVEXITY,
    SGD_MOMENTUM
};

pn_status sgd_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);
/** The noise of other batches and steps. */
void sgd_what_if(const pn_plan *base, pn_plan_lines *out);

/* A problem while its plan is made. */
typedef struct sgd_problem {
    pn_descent *plan;
    const pn_bounds *bounds;
    const pn_arg *common, *own;
    bool is_private, paper;
    double unit;     /* s; 0 without privacy */
    double distance; /* D of the set, or a guess */
    bool guessed;
    /* what steps are made for: D, or where that is a guess the distance whose noise is a margin's size */
    double travel;
    double gap;    /* of the start, at most; +inf */
    double wanted; /* seconds that batches and steps would take whose work was too much; 0 */
} sgd_problem;

/* ---- sgd_shape.c ---- */

#define SGD_PLAIN_EPOCHS 20.0 /* without privacy */

/* Of G^2: what the kinks of a loss add to the variance of a step.  The theory's bound has 1, for kinks that all lie in
 * one place; those of many records are spread, and their mean is nearly smooth.  Risks on cal_housing, abalone and
 * cpusmall, hinge and absolute loss, at epsilon 0.1 to 30: 1 is worse than 0.1 in most cells, by up to a factor of 2,
 * and 0.01 or 0 better or worse by little. */
#define SGD_KINKS 0.1

/** unit, distance, guessed, travel and gap; after the sensitivity.  Errors: as pn_first_order_gap. */
pn_status sgd_read_scale(sgd_problem *at, pn_err *err);
/** Number of steps and batch, given or by default. */
void sgd_choose_shape(sgd_problem *at, double *steps, double *batch);
/** The time that `steps` steps should take whose gradients have that variance, noise included: eta T/(1 - beta). */
double sgd_time(const sgd_problem *at, double steps, double variance);
/** The excess risk to be expected of a convex problem. */
double sgd_expected_risk(const sgd_problem *at, double steps, double time, double variance);

#endif
