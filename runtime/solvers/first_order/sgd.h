/* sgd.h -- what the plan and the steps of stochastic gradient descent share.  Private to sgd*.c.
 * Depends on: first_order.h, oracle/question.h. */
#ifndef PN_SOLVERS_SGD_H
#define PN_SOLVERS_SGD_H

#include "oracle/question.h"
#include "solvers/engine/first_order.h"
#include "solvers/engine/schedule.h"

typedef struct sgd_plan {
    pn_plan base; /* first */
    pn_first_order first;
    pn_question gradient; /* what a step asks: scheme and batch always, its noise when private */
    double divisor;       /* records in a batch, of poisson expected */
    pn_schedule step;
    double momentum; /* beta: the next gradient is taken beta times the last step further on */
    bool last;       /* the answer is the last iterate, not the average */
    double tail;     /* the average weighs point t of T like t^tail */
    /* the loss has kinks: the average is of the points at which gradients were taken, not of those after */
    bool subgradient;
} sgd_plan;

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

pn_status sgd_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                       const pn_arg *own, pn_err *err);
void sgd_plan_destroy(pn_plan *plan);

/* A problem while its plan is made. */
typedef struct sgd_problem {
    sgd_plan *plan;
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
/** Variance of a batch's mean gradient, at most, without its noise. */
double sgd_sampling(const sgd_problem *at, double batch);
/** The time that `steps` steps should take whose gradients have that variance, noise included: eta T/(1 - beta). */
double sgd_time(const sgd_problem *at, double steps, double variance);
/** The excess risk to be expected of a convex problem. */
double sgd_expected_risk(const sgd_problem *at, double steps, double time, double variance);

/* ---- sgd_noise.c ---- */

/** Whether a record's part in batches is bounded.
 *  Errors: PN_EUNSUPPORTED for add_remove and for losses without gradients;
 *  PN_EPRIVACY without a finite gradient bound. */
pn_status sgd_read_sensitivity(sgd_plan *plan, pn_err *err);
/** The size of batches, and what bounds their sums.  Errors: as pn_question_batches. */
pn_status sgd_set_batch(const sgd_plan *plan, pn_question *gradient, size_t batch, pn_err *err);
/** The noise of `gradient`, and the plan's event, charges, proven and sigma.  Errors: PN_EBUDGET when no noise fits;
 *  PN_EUNSUPPORTED for what an accountant or a calibration cannot do;
 *  PN_EINVAL when the article's noise costs more than was asked for. */
pn_status sgd_choose_noise(sgd_plan *plan, bool paper, const char *accountant, pn_err *err);
/** The noise on the mean gradient, should batch or steps be others; NaN when none fits. */
double sgd_noise_at(const sgd_plan *plan, size_t batch, size_t steps);
/** Lines about scheme, noise and what another batch or other epochs would do. */
/** The noise of other batches and steps. */
void sgd_what_if(const pn_plan *base, pn_plan_lines *out);
void sgd_explain_noise(sgd_plan *plan, bool paper, const char *accountant);

/* ---- sgd_risk.c ---- */

/* What a risk is made of; all public. */
typedef struct sgd_constants {
    double distance; /* bound on the distance of points from the minimiser, or a guess */
    double steps, eta, tail;
    double slope;      /* G */
    double smoothness; /* L; +inf for a loss with kinks */
    double convexity;  /* mu; 0 */
    double variance;   /* E ||g - mean gradient||^2: sampling and noise */
    double square;     /* E ||g||^2 */
} sgd_constants;

/** Bound on the expected excess risk of the plan's schedule and output; +inf where there is none. */
double sgd_risk(const sgd_plan *plan, const sgd_constants *of);

#endif
