/* zeroth_order.h -- what the plan, the bounds and the steps of private zeroth-order optimization share.  Private to
 * zeroth_order*.c.  rho here is the ARTICLE's (square-root) scale: rho^2/2-zCDP.
 * Conversion from options happens once, in zeroth_order_plan.c.
 * Depends on: solver.h, continual/single_pass.h, continual/sum_noise.h, objective/measures/smoothed.h.
 * Source: Zhang, Tran, Cutkosky (2024), Algorithms 1 to 3, Theorem 4.9; zeroth-order.md. */
#ifndef PN_SOLVERS_ZEROTH_ORDER_H
#define PN_SOLVERS_ZEROTH_ORDER_H

#include "continual/single_pass.h"
#include "continual/sum_noise.h"
#include "objective/measures/smoothed.h"
#include "solvers/engine/solver.h"

/* ---- zeroth_order_bound.c: numbers only ---- */

typedef enum zo_oracle { ZO_VARIANCE_REDUCED = 0, ZO_NAIVE } zo_oracle;

/* A way to estimate gradients.  PN_SUM_TREE is the article's, its root kept; the root is dropped from PN_SUM_HONAKER's.
 * Naive: the sum is not used; PN_DIRECTIONS_ONE or _ORTHOGONAL. */
typedef struct zo_method {
    zo_oracle oracle;
    pn_directions directions;
    pn_sum_kind sum;
} zo_method;
#define ZO_METHODS 10 /* variance-reduced: 2 directions times 4 sums; naive: one direction, orthogonal */
extern const zo_method zo_methods[ZO_METHODS];

typedef struct zo_problem {
    double records;   /* M that may be used */
    double dim;       /* d */
    double rho;       /* article's; INFINITY without privacy */
    double lipschitz; /* L */
    double gap;       /* bound on F(x0) - inf F; what smoothing adds to it, at most L mu d/(d + 1), is added */
    double radius;    /* delta of the Goldstein measure that is aimed at */
    bool zero_out;    /* neighbours leave a record out; otherwise they replace one */
    bool published; /* bounds as they were published: every error counts twice, differences at their largest distance */
    double group;   /* records that share their directions, 0: none */
    double seconds; /* what a search keeps to (zo_fits); 0: whatever it takes */
} zo_problem;

/* What a run would use.  Sizes 0 and numbers NaN or 0 in what is given mean "to be chosen". */
typedef struct zo_choice {
    zo_method method;
    size_t epochs, rounds;  /* K, T */
    size_t first, others;   /* B1, B2; naive: both are B */
    double smoothing, ball; /* mu, D */
    double step;            /* eta */
    double sensitivity;     /* max(s1, s2) */
    double sigma;           /* of a coordinate of a node, or of z; naive: of the gradient */
    double noise;           /* root of the mean over t of E||N_t||^2 */
    double error;           /* e, root of the mean over t of E||g_t - grad F_mu(w_t)||^2 */
    double past;            /* the same of what earlier rounds have seen of g_t - grad F_mu(w_t) */
    double drift;           /* root of E||mean over t of g_t - grad F_mu(w_t)||^2 */
    double bound;           /* BOUND on the expected norm of the smoothed gradient averaged over an epoch's points */
} zo_choice;

/* Neither 0 nor NaN. */
static inline bool zo_is_given(double number)
{
    return number > 0.0;
}

/** Everything that follows from the method, K, T, B1, B2, mu and D of `choice`: step (kept where it is given) to bound;
 *  a bound of INFINITY for a sum that has no such horizon.  Source: zeroth-order.md sections 4 to 6,
 *  tree-mechanism.md sections 2.2, 6 and 7. */
void zo_evaluate(const zo_problem *problem, zo_choice *choice);
/** Errors from what is sampled with `how` and from the noise: choice->noise,
 *  of which it takes past / spread and drift / spread. */
void zo_set_errors(const zo_problem *problem, const pn_smoothing *how, const pn_sum_noise *noise, zo_choice *choice);
/** Step, where `choice` has none, and bound, from its errors and sizes. */
void zo_finish(const zo_problem *problem, zo_choice *choice);
/** The same for any prefix sum. */
void zo_evaluate_sum(const zo_problem *problem, const pn_sum_noise *noise, zo_choice *choice);
/** The smallest bound over the grids of sections 5 and 6; false when there are too few records for any,
 *  or no ball left beside the
 *  smoothing.  What `fixed` (may be NULL) gives of K, T, B1, B2, mu, D, eta is kept. */
bool zo_search(const zo_problem *problem, zo_method method, const zo_choice *fixed, zo_choice *best);
/** The records at which the bound falls to `eps`, doubled from 2 on; INFINITY beyond 2^60. */
double zo_records_for(const zo_problem *problem, zo_method method, double eps);
/** The two terms of the records needed for `eps`, without constants and logarithms: what learning takes,
 *  what privacy adds. */
void zo_complexity(const zo_problem *problem, zo_method method, double eps, double *nonprivate, double *private_term);

/* ---- zeroth_order_work.c ---- */

/** Of one core, for all epochs of one pass, estimated. */
double zo_seconds(const zo_problem *problem, const zo_choice *choice);
/** Whether its rounds take no more than what its values leave of problem->seconds, or a quarter of what these take:
 *  every record is used whatever that takes, and larger batches make rounds fewer. */
bool zo_fits(const zo_problem *problem, const zo_choice *choice);

/* ---- zeroth_order_practical.c ---- */

/** Where bounds say nothing (BOUND >= L): T, batches, mu and D that do well in practice.  `distance`: how far the
 *  minimum may be from the start.  What `fixed` (may be NULL) gives is kept.  False when there are too few records. */
bool zo_practical(const zo_problem *problem, zo_method method, double distance, const zo_choice *fixed,
                  zo_choice *choice);
/** By which such choices compare, the smaller the better: error times the root of the path over which it does not
 *  average out.  Bounds do not order them as runs do. */
double zo_practical_error(const zo_choice *choice);

/* ---- the plan (zeroth_order_plan.c) ---- */

typedef enum zo_output { ZO_RANDOM = 0, ZO_BEST, ZO_LAST } zo_output;

typedef struct zo_plan {
    pn_plan base; /* first */
    size_t dim;
    zo_choice choice;
    zo_output output;
} zo_plan;

/* Rows of the two tables.  Those of the naive one are the first of the other. */
enum {
    ZO_SMOOTHING = 0,
    ZO_DIRECTIONS,
    ZO_RADIUS,
    ZO_LIPSCHITZ,
    ZO_STATIONARITY,
    ZO_TARGET,
    ZO_GAP,
    ZO_DISTANCE,
    ZO_EPOCHS,
    ZO_ROUNDS,
    ZO_BATCH,
    ZO_STEP,
    ZO_PASSES,
    ZO_OUTPUT,
    ZO_GROUP,
    ZO_LEVEL,
    ZO_STRICT,
    ZO_NAIVE_COUNT,
    ZO_FIRST_BATCH = ZO_NAIVE_COUNT,
    ZO_ORACLE,
    ZO_PREFIX /* the first of the rows of pn_prefix_params */
};
extern const pn_param zo_params[], zo_naive_params[];

/* A plan in the making. */
typedef struct zo_work {
    zo_plan *plan;
    pn_question *question; /* the plan's; each of its streams is an epoch's prefix sums, naive: one release */
    const char *owner;     /* "solve.zeroth_order" */
    const pn_arg *common, *own;
    bool naive, is_private, paper;
    zo_problem problem; /* of one pass */
    zo_choice fixed;    /* what options say */
    pn_prefix_options prefix;
    bool prefix_given;               /* any of them */
    const char *slope_source;        /* where L is from */
    bool slope_guessed, slope_holds; /* nothing bounds the loss; L is certified or declared of the loss itself */
    double regulariser_slope;        /* Lipschitz constant of r; +inf */
    double distance;                 /* from the start to where it may end */
    bool gap_known;
    zo_choice best[ZO_METHODS]; /* of each method, where found */
    bool found[ZO_METHODS], allowed[ZO_METHODS];
    bool practical; /* no method has a bound below L */
} zo_work;

bool zo_given(const zo_work *at, int option);
/** Everything in zo_work up to gap_known.  Errors: PN_EUNSUPPORTED for sets, relations and budgets that it cannot
 *  serve; PN_EPRIVACY without an L; PN_EINVAL; PN_ENOMEM. */
pn_status zo_read_problem(zo_work *at, pn_err *err);
/** Why the plan's bound is not proved; NULL where it is. */
const char *zo_no_bound(const zo_work *at);
/** The lines, warnings and settings. */
void zo_explain(zo_work *at);

pn_status zo_fill(pn_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
