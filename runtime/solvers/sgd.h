/* sgd.h -- what the plan and the steps of stochastic gradient descent share.  Private to sgd*.c.
 * Depends on: first_order.h, privacy/batch_release.h. */
#ifndef PN_SOLVERS_SGD_H
#define PN_SOLVERS_SGD_H

#include "privacy/batch_release.h"
#include "solvers/first_order.h"

typedef enum sgd_schedule { SGD_CONSTANT = 0, SGD_SQRT, SGD_INVERSE } sgd_schedule;

typedef struct sgd_plan {
    pn_plan base; /* first */
    pn_first_order first;
    pn_batch_release_options
        batches;    /* scheme, n, batch and q always; the rest when private: of the SUM over a batch */
    double divisor; /* of that sum: records in a batch, of poisson expected */
    sgd_schedule schedule;
    double step; /* eta_t = step, step/sqrt(t) or step/t */
    bool last;   /* the answer is the last iterate, not the average */
    double tail; /* the average weighs point t of T like t^tail */
    bool
        subgradient; /* the loss has kinks: the average is of the points at which gradients were taken, not of those after */
    bool whole;      /* plan->event is the whole run's and is charged before the first step */
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
    SGD_STRONG_CONVEXITY
};

pn_status sgd_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                       const pn_arg *own, pn_err *err);
void sgd_plan_destroy(pn_plan *plan);

/* ---- sgd_noise.c ---- */

/** The records' part in batches: contribution, error and bound.
 *  Errors: PN_EUNSUPPORTED for add_remove and for losses without gradients; PN_EPRIVACY without a finite gradient bound. */
pn_status sgd_read_sensitivity(sgd_plan *plan, pn_err *err);
/** Scheme and size of batches; error and bound with them. */
void sgd_set_batch(sgd_plan *plan, pn_batch_release_options *batches, size_t batch);
/** batches.sigma, and the plan's event, charges, proven and sigma.  Errors: PN_EBUDGET when no noise fits; PN_EUNSUPPORTED for what an
 *  accountant or a calibration cannot do; PN_EINVAL when the article's noise costs more than was asked for. */
pn_status sgd_choose_noise(sgd_plan *plan, bool paper, const char *accountant, pn_err *err);
/** Lines about scheme, noise and what another batch or other epochs would do. */
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
