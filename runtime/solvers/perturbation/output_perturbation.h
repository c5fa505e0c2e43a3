/* output_perturbation.h -- what the plan, the bounds and the run of output perturbation share.
 * Private to output_perturbation*.c.
 * Depends on: solver.h, gradient_noise.h, objective_perturbation.h, geometry/prox/prox.h. */
#ifndef PN_SOLVERS_OUTPUT_PERTURBATION_H
#define PN_SOLVERS_OUTPUT_PERTURBATION_H

#include "geometry/prox/prox.h"
#include "oracle/gradient_noise.h"
#include "solvers/perturbation/objective_perturbation.h"

typedef enum output_method { OUTPUT_GD = 0, OUTPUT_EXACT, OUTPUT_SGD } output_method;

/* What is known of the problem before anything is chosen; all public. */
typedef struct output_problem {
    const char *owner; /* what messages start with */
    pn_objective *objective;
    const pn_set *set; /* or NULL */
    const pn_bounds *bounds;
    const pn_request *request;
    const double *start;
    const pn_prox *prox; /* of a regulariser with kinks; NULL: none, and a smooth one is taken by its gradient */
    double n, p;
    double lipschitz;     /* G */
    double loss_smooth;   /* of every record's loss */
    double smooth;        /* L: of all that is taken by its gradient */
    double strong_smooth; /* certified strong convexity of what is taken by its gradient ... */
    double strong_prox;   /* ... and of what is taken by its proximal operator */
    double strong;        /* mu: the sum, rounded down */
    double kink;          /* of an r with kinks: r(1, ..., 1) less its square part; a norm of the vector of ones */
    double pull;          /* smallest ||subgradient of r||_2 at the start */
    /* bound on ||gradient of the part of r that is smooth||_2 grows from there by smooth x distance */
    double regular_slope;
    double away;    /* max ||theta - start||_2 over the set; +inf without */
    double bend;    /* curvature of the loss somewhat beyond the certified margins: for rounding only */
    double records; /* how many contributions a neighbour changes: 2, or 1 under zero_out */
} output_problem;

/* Which steps are made: of size `step`, or min(step, 1/(mu t)) with mu = decreasing > 0. */
typedef struct output_schedule {
    size_t passes, batches, batch; /* batches of a pass; records of a batch */
    double step, decreasing;
} output_schedule;

/* What a schedule leads to. */
typedef struct output_bounds {
    double exact;       /* sensitivity in exact arithmetic */
    double sensitivity; /* l2, of what is computed */
    double reach;       /* max ||theta - start||_2 of every point that is computed */
    double size;        /* max ||theta||_2 */
    double entry;       /* max |theta_j| */
} output_bounds;

typedef struct output_plan {
    pn_plan base; /* first */
    output_method method;
    output_schedule schedule;
    op_problem minimum; /* of the exact method */
    op_choice certificate;
    pn_prox *prox; /* owned; NULL: none */
    size_t *order; /* [n] of sgd, owned */
} output_plan;

/* Everything while a plan is made. */
typedef struct output_draft {
    output_plan *plan;
    output_problem at;
    output_bounds bounds;
    const pn_question *point; /* the answer with its noise; NULL without privacy */
    double unit;      /* standard deviation of an entry of the noise for sensitivity 1, nearly; 0 without privacy */
    double distance;  /* D: bound on ||minimum - start||; +inf */
    double assumed;   /* what predictions take it to be */
    double bias;      /* predicted risk before the noise */
    double proven;    /* the same for the bound; +inf */
    const char *rule; /* for the number of steps */
    double wanted;    /* steps that would be taken if work were no limit; 0: those that are */
} output_draft;

/** Step t, from 1. */
double output_step_size(const output_schedule *schedule, double t);
/** Read and check what all methods need.  Errors: PN_EUNSUPPORTED, PN_EPRIVACY with what is missing; PN_ENOMEM. */
pn_status output_read(output_problem *at, output_plan *plan, pn_err *err);
/** Lipschitz constant of the map of one step of that size. */
double output_contraction(const output_problem *at, double step);
/** Everything in `bounds` for private runs.  Errors: PN_EUNSUPPORTED when rounding cannot be kept small. */
pn_status output_measure(const output_problem *at, const output_schedule *schedule, output_bounds *bounds, pn_err *err);

/** D and what predictions take it to be; the noise of sensitivity 1. */
void output_measure_distance(output_draft *of);
/** Bound on the risk of where steps end, for a start at that distance from the minimum;
 *  and what is to be expected of it. */
double output_step_risk(const output_problem *at, const output_schedule *schedule, double distance);
double output_expected_risk(const output_problem *at, const output_schedule *schedule, double distance);
/** Excess risk that noise of standard deviation sigma on each entry adds, from above where nothing is projected. */
double output_noise_risk(const output_problem *at, double sigma);
/** The schedule of plan->method, and of the exact method its certificate and bounds.
 *  Errors: PN_EINVAL, PN_EUNSUPPORTED, PN_ENOMEM. */
pn_status output_choose(output_draft *of, const pn_arg *common, const pn_arg *own, pn_err *err);

#define OUTPUT_PASSES 10
#define OUTPUT_BATCH  64

extern const pn_param output_params[];
enum {
    OUTPUT_OPT_METHOD = 0,
    OUTPUT_OPT_STEP,
    OUTPUT_OPT_PASSES,
    OUTPUT_OPT_BATCH,
    OUTPUT_OPT_SEED,
    OUTPUT_OPT_TOLERANCE
};

pn_status output_fill(pn_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err);
void output_plan_destroy(pn_plan *plan);

#endif
