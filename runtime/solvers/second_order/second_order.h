/* second_order.h -- what the plan and the steps of private second-order descent share.  Private to
 * second_order*.c.  Gradient steps while the released gradient is larger than eps_g; else a released Hessian: a step
 * along its most negative direction where its least eigenvalue is below -eps_H, or the end, with a certificate.
 * Depends on: solver.h, model_release.h, privacy/accounting/allowance.h.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM; constants derived anew. */
#ifndef PN_SOLVERS_SECOND_ORDER_H
#define PN_SOLVERS_SECOND_ORDER_H

#include "privacy/accounting/allowance.h"
#include "oracle/second_order/least_eigen.h"
#include "oracle/model_release.h"
#include "oracle/question.h"
#include "oracle/start_value.h"
#include "solvers/engine/solver.h"

/* ---- second_order_bound.c: numbers only ---- */

/* Targets, smoothness and the constants of the steps: within the ranges of so_params. */
typedef struct so_constants {
    double gradient, hessian;  /* a_g, a_H: the point that is aimed at */
    double smoothness;         /* G: of f, r included */
    double lipschitz;          /* M: of f's Hessian */
    double c, c1, c2;          /* shares of eps that noise may take: Hessian, gradient, gradient at curvature steps */
    double c_g, c_h;           /* sufficient decrease of the line searches */
    double beta_g, beta_h, b0; /* backtracking factors; the first step is b0 times the one that is sure */
    double failure;            /* zeta */
    double lanczos; /* tau/eps_H: by how much an eigenvalue of a released Hessian may be overestimated; 0: in full */
    /* what follows, by so_derive; t1, t2 and tests with line searches only */
    double eps_g, eps_h; /* a_g/(1 + c1), a_H/(1 + c + lanczos) */
    /* the theorem's, each with probability >= 1 - zeta/(2 T) a release: >= ||e||, >= ||E|| */
    double gradient_limit, hessian_limit; /* min(c1 eps_g, c2 eps_H^2/M), c eps_H */
    double step_g, t1, t2;                /* line search: gbar_g, and [t1, t2] |lam| / M */
    double decrease;                      /* MIN_DEC, of a line search MIN_DEC_LS */
    bool by_gradient;                     /* that of gradient steps, or of curvature steps */
    size_t tests_g, tests_h;              /* i_max of the two searches */
} so_constants;

/** All that follows.  Errors: PN_EINVAL with the condition that fails; those of searches are looked at only with
 *  line_search. */
pn_status so_derive(so_constants *of, bool line_search, pn_err *err);
/** Iterations after which `gap` is used up: clamp(ceil(gap / decrease), 1, cap). */
size_t so_iterations(const so_constants *of, double gap, size_t cap);

/* What the tests of line searches see. */
typedef struct so_search_error {
    double records, batch; /* n, m */
    double lipschitz;      /* B_g */
    double sensitivity;    /* 2 B_g/m, of a test of q(gamma)/gamma along a unit direction */
    double epsilon;        /* 1/lambda of a search on its batch; 0: without privacy */
    size_t iterations;
    bool slope;
} so_search_error;

/** The n at which all tests of all searches err, with probability >= 1 - zeta, by at most half of the decrease that
 *  they ask for at every step from the sure one on. */
double so_gradient_search_records(const so_constants *of, const so_search_error *at);
double so_curvature_search_records(const so_constants *of, const so_search_error *at);

/* The records that the conditions ask for, everything else fixed; 1 where nothing disturbs. */
typedef struct so_needs {
    double gradient, hessian;
    double search_gradient, search_curvature; /* 0 without line search */
    double most;                              /* the largest of the four */
    bool enough;                              /* that many are there */
    double gradient_error, hessian_error;     /* with this plan's records, to be compared with the limits */
} so_needs;

/* ---- the plan (second_order_plan.c) ---- */

/* Noise of one phase: z, the multiplier of gradient and Hessian, and epsilon of one line search (before amplification);
 * all 0 without privacy. */
typedef struct so_noise {
    double z, search_epsilon;
    size_t iterations;                               /* T */
    double gradient_cost, hessian_cost, search_cost; /* of one release each, in the allowance's unit */
    double whole;                                    /* of all three: an iteration's dearest branch */
} so_noise;

typedef struct so_plan {
    pn_plan base; /* first */
    pn_model model;
    so_constants of;
    bool line_search;
    bool slope;  /* tests of q(gamma)/gamma; false: of q(gamma) */
    bool filter; /* go on past T while a whole iteration fits */
    pn_eigen eigen;
    size_t phases;           /* 1 or 2 */
    double first_share;      /* of what a released value leaves of the total, phase 1 of 2 */
    size_t first_iterations; /* T_1; 0: ceil(sqrt T) */
    size_t cap;              /* T_max: where a value is released T is at most this, else it is T */
    pn_allowance allowance;  /* nothing spent */
    pn_start_value value;    /* f(w0), where it is released */
    double regular;          /* r(w0): public */
    double floor;            /* f_low, public or claimed; -inf where unknown */
    /* public bound on f(w0) - f_low, or the claim; +inf where unknown.  T is of it unless a value is released */
    double gap;
    so_noise first; /* of phase 1 (of 1 or 2), as planned: T = cap where a value is released */
} so_plan;

/** The noise with which T iterations cost `share` of the unit: of the plan, and of what phase 2 or a released value
 *  makes of T in the run.  Errors: as pn_allowance_noise. */
pn_status so_noise_of(const so_plan *plan, double share, size_t iterations, so_noise *out, pn_err *err);
/** T of the first phase of two, T that of the other. */
size_t so_first_iterations(const so_plan *plan, size_t iterations);
/** No noise, no batches, no Lanczos: what is said holds without a probability. */
bool so_is_exact(const so_plan *plan);

/* A plan in the making. */
typedef struct so_work {
    so_plan *plan;
    const pn_arg *common, *own;
    double certified_smoothness, certified_lipschitz; /* +inf where unknown */
    so_noise second; /* of phase 2, with what phase 1 leaves at least; of the only phase */
    so_needs needs;  /* at `second` */
    /* the smallest a_g, with a_H = sqrt(M a_g), whose conditions hold; +inf: none; 0: not looked for */
    double reachable;
    bool claims;    /* G or M is claimed to be less than what is certified */
    bool practical; /* the tolerances are those for which noise is typically half of eps */
} so_work;

/** Everything that options and objective say, but for tolerances and noise.  Errors: of pn_model_read; PN_EINVAL for
 *  options that contradict each other, or where nothing bounds G, M or the gap;
 *  PN_EUNSUPPORTED for sets without projection; PN_ENOMEM. */
pn_status so_read_problem(so_work *at, pn_err *err);
/** a_g, a_H and what follows from them, T included: as given, else practical (second_order_tolerance.c).  Errors:
 *  PN_EINVAL for constants whose conditions fail; PN_EBUDGET where the noise is above every tolerance. */
pn_status so_choose_tolerance(so_work *at, pn_err *err);
/* Iterations by default: of more, nobody waits for the last, and private ones are all noise. */
#define SO_MOST_PLANNED 100000
/** Of an iteration with all that it may ask, estimated (work.h). */
double so_step_seconds(const so_plan *plan);
/** Fills at->reachable. */
pn_status so_find_reachable(so_work *at, pn_err *err);
/** The allowance and everything that is paid from it, for plan->cap iterations, and the records that the conditions
 *  then need.  Errors: as so_noise_of and pn_allowance_open. */
pn_status so_set_noise(so_work *at, pn_err *err);
/** The lines, warnings and settings (second_order_explain.c). */
void so_explain(so_work *at);

enum {
    SO_TOLERANCE_GRADIENT = 0,
    SO_TOLERANCE_HESSIAN,
    SO_LINE_SEARCH,
    SO_SVT,
    SO_BATCH,
    SO_PHASES,
    SO_FIRST_SHARE,
    SO_FIRST_ITERATIONS,
    SO_USE_FILTER,
    SO_SMOOTHNESS,
    SO_HESSIAN_LIPSCHITZ,
    SO_GAP,
    SO_FLOOR,
    SO_VALUE_SHARE,
    SO_HESSIAN_NOISE,
    SO_HESSIAN_BOUND,
    SO_EIGEN,
    SO_FAILURE,
    SO_C,
    SO_C1,
    SO_C2,
    SO_CG,
    SO_CH,
    SO_BETA_G,
    SO_BETA_H,
    SO_B0
};
extern const char *const so_eigens[]; /* names, in the order of pn_eigen */
extern const pn_param so_params[];

pn_status so_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
