/* gradient_noise.h -- the mean gradient of the data, or of batches of it, plus Gaussian noise, as it is planned:
 * sensitivity, calibration, event and the plan's lines about them.
 * Depends on: plan.h.  Used by: question.h, plans of first-order solvers.  Source: Talwar,
 * Thakurta, Zhang (2014), Algorithms 2 and 5; mirror-descent.md section 2, noise.md section 3. */
#ifndef PN_ORACLE_GRADIENT_NOISE_H
#define PN_ORACLE_GRADIENT_NOISE_H

#include "oracle/basis.h"
#include "oracle/plan.h"
#include "privacy/accounting/allowance.h"

/* Why there is no bound on the excess risk with them. */
#define PN_BATCH_NO_BOUND "gradients of batches"

/* What calibration="paper" means for a solver whose article is not Talwar, Thakurta and Zhang's. */
typedef struct pn_paper_noise {
    double sigma;        /* 0: theirs */
    const char *formula; /* static, for the plan */
    /* the claim need not hold: what the noise costs is charged, and the plan says that it is not proven */
    bool charged;
} pn_paper_noise;

typedef struct pn_gradient_noise {
    double lipschitz; /* L: every record's gradient has at most this l2 norm, certified or by clipping */
    /* l2, of the mean gradient as computed: 2L/n (replace one) or L/n, and what its rounding adds */
    double sensitivity;
    double bound; /* public bound on every |coordinate| */
    double sigma; /* standard deviation of the noise on each coordinate */
    size_t dim;
    pn_neighbours neighbours;
    pn_paper_noise paper;
    const char *scheme; /* of batches, whose gradients are taken; NULL: those of all records */
    double records;     /* of a step, of poisson expected */
    double sampling;    /* standard deviation of a coordinate, over batches, at most on average; +inf: not bounded */
    pn_basis basis;     /* why `sensitivity` is what it is */
} pn_gradient_noise;

/**
 * All but sigma.  Non-private requests get L (+inf when nothing bounds it) and sensitivity 0.
 * Errors: PN_EUNSUPPORTED for add_remove (n is public) and for losses without gradients;
 * PN_EPRIVACY without a finite L.
 */
pn_status pn_gradient_noise_read(pn_gradient_noise *noise, const char *owner, const pn_objective *objective,
                                 const pn_request *request, pn_err *err);

/** The same for a plan, by batches where the option says so: `batch`[PN_BATCH_OPTIONS] of PN_BATCH_PARAMS.
 *  Errors: as above; PN_EINVAL; PN_EUNSUPPORTED beside calibration="paper", and for fixed batches under zero_out. */
pn_status pn_gradient_noise_batch(pn_gradient_noise *noise, pn_plan *plan, const pn_arg *common, const pn_arg *batch,
                                  pn_err *err);
/** s: T gradients have noise of deviation s sqrt(T) a coordinate.  Of all records sensitivity/sqrt(2 rho), or the
 *  article's where that has been set; of batches, for `steps` > 0, their own noise for that many and what the draw
 *  adds.  0 without privacy. */
double pn_gradient_noise_unit(const pn_gradient_noise *noise, const pn_plan *plan, size_t steps);
/** What moves a coordinate of a gradient: sigma, and of batches the draw. */
double pn_gradient_noise_deviation(const pn_gradient_noise *noise);

/** sigma such that `steps` releases cost what the request allows, rounding and sampling included.
 *  NaN when none does. */
double pn_gradient_noise_tight(const pn_gradient_noise *noise, const pn_request *request, size_t steps);

/* `c` of the one below, for the tables of solvers that take it. */
#define PN_PAPER_C_PARAM                                                                                               \
    {                                                                                                                  \
        "c", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,                                                             \
            "constant of calibration=\"paper\", sigma^2 = c G^2 T ln(1/delta) / (n epsilon)^2; by default 11.6569, "   \
            "which is proven for epsilon <= ln(1/delta)"                                                               \
    }
/**
 * Where calibration is "paper", set noise->paper to sigma^2 = c G^2 T ln(1/delta) / (n epsilon)^2.  Without `c` c =
 * (1 - 1/sqrt 2)^-2, for which zCDP proves the claim while epsilon <= ln(1/delta); with another one, what the noise
 * costs is charged.  To be called before pn_gradient_noise_attach; requests without a delta are left to that.
 * Errors: PN_EUNSUPPORTED beyond ln(1/delta) without `c`; as pn_paper_c_check.
 * Source: Wang, Ye, Xu (2017); mirror-descent.md section 7.4.
 */
pn_status pn_gradient_noise_wang(pn_gradient_noise *noise, const pn_plan *plan, const pn_arg *common, size_t steps,
                                 const pn_arg *c, pn_err *err);

/** The least epsilon (or rho) with which one release has noise that can be drawn; +inf when none is found. */
double pn_gradient_noise_least(const pn_gradient_noise *noise, const pn_request *request);

/** rho, or mu^2/2 for epsilon and delta: sigma is close to sensitivity sqrt(steps / (2 rho)).
 *  Used to choose the steps. */
double pn_gradient_noise_rho(const pn_request *request);
/** That part of what is asked for, in (0, 1), without its ledger. */
pn_request pn_request_part(const pn_request *request, double part);
/** A filter that adds up Renyi divergences has begun in the ledger: noise for its remaining epsilon is priced by zCDP
 *  there. */
bool pn_request_is_renyi(const pn_request *request);

/** What the request's budget is counted in where all that is released is Gaussian and about all records: costs add up
 *  as mu^2, which the exact curve prices, unless the request says otherwise. */
pn_unit pn_request_unit(const pn_request *request);
/** All that is asked for, in that unit, and (unless NULL) *z, with which the program costs it.
 *  Errors: as pn_allowance_open and pn_allowance_noise, beginning with `owner`. */
pn_status pn_request_allowance(pn_allowance *out, double *z, const pn_request *request, const char *owner, pn_unit unit,
                               bool paper, const pn_program *program, pn_err *err);

/** PN_EUNSUPPORTED unless the request is one that Gaussian noise and the calibration option can serve;
 *  attach asks as well. */
pn_status pn_gradient_noise_check(const pn_plan *plan, const pn_arg *common, pn_err *err);

/**
 * Plan what a step asks, plan->iterations times.  Fills plan->gradients; for private plans sets noise->sigma by the
 * calibration option, and plan->event, sigma, proven and the lines about noise.
 * Errors: PN_EBUDGET when no noise on the lattice fits, with the least budget for one release where that is the reason;
 * PN_EUNSUPPORTED for "paper" without epsilon and delta; PN_EINVAL when the article's noise costs more than was asked
 * for and that is not what is charged.
 */
pn_status pn_gradient_noise_attach(pn_plan *plan, pn_gradient_noise *noise, const pn_arg *common, pn_err *err);

/** PN_EINVAL where the plan, of an article's noise, costs more than was asked for. */
pn_status pn_gradient_noise_check_paper(const pn_plan *plan, pn_err *err);
/** PN_EINVAL for a constant of the article's without calibration="paper". */
pn_status pn_paper_c_check(const char *owner, const pn_arg *common, const pn_arg *c, pn_err *err);
/** Line and warning about what an article's noise costs where its constant is the caller's: the plan's event is what is
 *  charged. */
void pn_plan_paper_price(pn_plan *plan);

#endif
