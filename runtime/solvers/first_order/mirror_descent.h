/* mirror_descent.h -- what the plan and the steps of noisy mirror descent share.  Private to mirror_descent*.c.
 * Depends on: gradient_noise.h, schedule.h, mirror_geometry.h. */
#ifndef PN_SOLVERS_MIRROR_DESCENT_H
#define PN_SOLVERS_MIRROR_DESCENT_H

#include "oracle/gradient_batch.h"
#include "oracle/gradient_noise.h"
#include "solvers/engine/first_order.h"
#include "solvers/engine/schedule.h"
#include "solvers/first_order/mirror_geometry.h"

#define MD_DEFAULT_STEPS 1000

typedef struct md_plan {
    pn_plan base; /* first */
    pn_gradient_noise noise;
    pn_mirror_space space;
    pn_schedule step; /* with relative strong convexity Delta: PN_STEP_HARMONIC, eta = Delta, iterate t weighs t */
    /* Noise without privacy: b = root z, z standard normal; root_count 1: a multiple of I, p: diagonal,
     * p^2: a matrix. */
    double *root;
    size_t root_count;
    pn_gradient_oracle oracle; /* sample NULL: the objective's gradient plus that noise; else root is only its size */
    bool after;                /* the answer is of the points after steps, else of those where gradients were taken */
    size_t skipped;            /* the answer is the mean of what comes after that many points */
} md_plan;

/* What the default plan depends on; see mirror_descent_bound.c. */
typedef struct md_terms {
    double D2, K, dual_square; /* of the geometry: range, noise trace, G^2 + R^2 at most */
    double smoothness;         /* beta of the objective in the potential's norm; +inf: not smooth */
    double gradient;           /* V: half the square of a gradient in the dual norm */
    double unit;               /* s: T steps have noise s sqrt(T); 0 without */
    pn_noise_time along;       /* what else limits the time, where something does */
    double times;              /* the option `time` */
} md_terms;

bool md_smooth(const md_terms *of);
/** U = s sqrt(2 D2 K): the bound is a small multiple of it where noise decides. */
double md_cost(const md_terms *of);
/** The steps by default, before a limit of work: at least 1. */
double md_steps(const md_terms *of);
/** t = eta T of T steps. */
double md_time(const md_terms *of, double T);
/** D2/t + t s^2 K/2: U at the time of noise, more where steps are too few for it. */
double md_usual(const md_terms *of, double t);
/** k of (c): what the mean of the points after `skipped` of T pays for noise, over what that of all pays. */
double md_tail_factor(const md_terms *of, size_t T, size_t skipped);
/** On the expected excess after T steps of time t; `factor` as by md_tail_factor, 1 for all points.  +inf where steps
 *  are too long. */
double md_bound(const md_terms *of, double T, double t, double factor);

/* What the theorem's steps depend on besides the geometry. */
typedef struct md_theory {
    double lipschitz, sensitivity; /* of records, of the mean gradient; the second 0 without privacy */
    double rho;                    /* of the whole run; NaN without privacy */
    size_t given, most;            /* steps asked for, or 0; the most by default */
} md_theory;

size_t md_theory_steps(const pn_mirror_geometry *of, const md_theory *with);
/** The bound with those steps; where gradients are not bounded, what is left to compare by: what noise costs.
 *  `self`: an md_theory. */
double md_theory_bound(const pn_mirror_geometry *of, const void *self);

/** noise.covariance and noise.oracle; *largest: sqrt of the covariance's largest eigenvalue, untouched without one.
 *  Errors: PN_EINVAL for an oracle without a covariance, or beside batch=, for noise beside privacy, and for what is no
 *  covariance; PN_EDIM. */
pn_status md_read_noise(md_plan *plan, const pn_arg *own, double *largest, pn_err *err);

extern const pn_param md_params[];
enum {
    MD_POTENTIAL = 0,
    MD_STEP,
    MD_STRONGLY_CONVEX,
    MD_PRESET,
    MD_TIME,
    MD_RANGE,
    MD_FORM,
    MD_AVERAGE,
    MD_COVARIANCE,
    MD_ORACLE,
    MD_BATCH,
    MD_WIDTH = MD_BATCH + PN_BATCH_OPTIONS
};

/** The settings of the plan, which follows the theorem or not. */
void md_set_settings(md_plan *plan, const pn_arg *own, bool theory);
pn_status md_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
