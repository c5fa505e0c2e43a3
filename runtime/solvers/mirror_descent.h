/* mirror_descent.h -- what the plan and the steps of noisy mirror descent share.  Private to mirror_descent*.c.
 * Depends on: noisy_gradient.h, geometry/potential.h. */
#ifndef PN_SOLVERS_MIRROR_DESCENT_H
#define PN_SOLVERS_MIRROR_DESCENT_H

#include "geometry/potential.h"
#include "solvers/noisy_gradient.h"

/* A potential, and what the bound needs: Q is the unit ball of its norm. */
typedef struct md_geometry {
    pn_potential *potential; /* owned */
    const char *why;         /* this one; NULL when given */
    double R, G2R2;          /* radius of Q; G^2 + R^2 */
    pn_width width;          /* of Q */
    double D2;               /* range of the potential made 1-strongly convex; +inf: unknown */
    double regular;          /* bound on the regulariser's gradient in the norm of Q* */
    double risk;             /* the bound that a plan would have with it */
    char other[160]; /* the potential that was not taken, and how much larger its risk is; 0 when none was looked at */
    double other_ratio;
} md_geometry;

/* What the steps of a plan depend on besides the geometry. */
typedef struct md_terms {
    double lipschitz, sensitivity; /* of records, of the mean gradient; the second 0 without privacy */
    double rho;                    /* of the whole run; NaN without privacy */
    size_t given, most;            /* steps asked for, or 0; the most by default */
} md_terms;

#define MD_DEFAULT_STEPS 1000

/** T where L R = sigma sqrt(G^2 + R^2), with sigma = Delta sqrt(T / (2 rho)); at most terms->most; the given one. */
size_t md_steps(const md_geometry *of, const md_terms *terms);

/** The potential that is given, or the better of the set's own and the Euclidean one.  Clear it also after a failure. */
pn_status md_geometry_choose(md_geometry *of, pn_objective *objective, const md_terms *terms, const pn_arg *potential,
                             bool start_given, pn_task *task, pn_err *err);
void md_geometry_explain(const md_geometry *of, pn_plan *plan);
void md_geometry_clear(md_geometry *of);

typedef struct md_plan {
    pn_plan base; /* first */
    pn_gradient_noise noise;
    pn_potential *potential; /* kept */
    size_t state_dim;        /* of the point that the potential acts on: p, or the number of vertices when lifted */
    double *start;           /* [state_dim] */
    double step;             /* eta of every iteration, when strongly_convex is 0 */
    double strongly_convex;  /* Delta of relative strong convexity; 0: not used */
    /* Noise without privacy: b = root z, z standard normal; root_count 1: a multiple of I, p: diagonal, p^2: a matrix. */
    double *root;
    size_t root_count;
    pn_gradient_oracle oracle; /* sample NULL: the objective's gradient plus that noise; else root is only its size */
} md_plan;

extern const pn_param md_params[];
enum { MD_POTENTIAL = 0, MD_STEP, MD_STRONGLY_CONVEX, MD_COVARIANCE, MD_ORACLE };

pn_status md_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err);
void md_plan_destroy(pn_plan *plan);

#endif
