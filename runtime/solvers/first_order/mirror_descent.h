/* mirror_descent.h -- what the plan and the steps of noisy mirror descent share.  Private to mirror_descent*.c.
 * Depends on: gradient_noise.h, schedule.h, mirror_geometry.h. */
#ifndef PN_SOLVERS_MIRROR_DESCENT_H
#define PN_SOLVERS_MIRROR_DESCENT_H

#include "oracle/gradient_noise.h"
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
} md_plan;

extern const pn_param md_params[];
enum { MD_POTENTIAL = 0, MD_STEP, MD_STRONGLY_CONVEX, MD_COVARIANCE, MD_ORACLE, MD_BATCH };

pn_status md_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
