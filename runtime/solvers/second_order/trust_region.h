/* trust_region.h -- what the plan and the steps of the private trust-region method share.  Private to trust_region*.c
 * and their tests.  Every step releases gradient and Hessian at one point, goes to the least value of that quadratic
 * over a ball, and is the last one where the ball hardly held it back.
 * Depends on: first_order.h, model_release.h, privacy/accounting/allowance.h.
 * Source: Wang, Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust region method;
 * constants derived anew.
 *
 * With e and E the errors of the released gradient g~ and Hessian H~,
 * r the radius and lam the multiplier of the step h, (H~ + lam I) h = -g~:
 *   on the boundary   f(w + h) <= f(w) - lam r^2/2 + ||e|| r + ||E|| r^2/2 + M r^3/6
 *   always            ||gradient of f at w + h|| <= lam ||h|| + ||e|| + ||E|| ||h|| + M ||h||^2/2
 *                     least eigenvalue there >= least eigenvalue of H~ - ||E|| - M ||h|| >= -lam - ||E|| - M ||h||
 * r = sqrt(a/M), ||e|| <= a/12 and ||E|| <= sqrt(M a)/6 make that a decrease of more than a^1.5/(6 sqrt M) while lam >
 * sqrt(M a), and at the first lam <= sqrt(M a) the bounds 1.75 a and -(13/6) sqrt(M a). */
#ifndef PN_SOLVERS_TRUST_REGION_H
#define PN_SOLVERS_TRUST_REGION_H

#include "numeric/trust_region.h"
#include "privacy/accounting/allowance.h"
#include "solvers/engine/first_order.h"
#include "oracle/model_release.h"

/* ---- numbers only ---- */

typedef struct tr_constants {
    double tolerance; /* a */
    double lipschitz; /* M: of f's Hessian */
    double radius;    /* sqrt(a/M), or as given */
    double gap;       /* f(w0) - min f, at most; +inf */
    double failure;   /* zeta: chance that some error of the run is above its bound */
} tr_constants;

/** The largest multiplier that ends the run: sqrt(M a). */
double tr_threshold(const tr_constants *of);
/** ||e|| and ||E|| for which the theorem speaks: a/12 and sqrt(M a)/6. */
double tr_gradient_limit(const tr_constants *of);
double tr_hessian_limit(const tr_constants *of);
/** a^1.5/(6 sqrt M): by which a step that is not the last one lowers f, at least. */
double tr_decrease(const tr_constants *of);
/** The same for any radius and errors e, E; not above 0 where nothing is sure. */
double tr_sure_decrease(const tr_constants *of, double e, double E);
/** clamp(ceil(gap/decrease), 1, cap): a run of so many steps ends by its own test.  cap where the gap is infinite. */
size_t tr_iterations(const tr_constants *of, size_t cap);

/* What a step has released, or what follows from that. */
typedef struct tr_move {
    double multiplier, least, length; /* lam, least eigenvalue of H~, ||h|| */
} tr_move;

/** What a step proves of the point it led to, when errors are at most e and E and no eigenvalue of f's Hessian is below
 *  `lowest`.  NaN in the move: only that is proven. */
void tr_certify(const tr_constants *of, const tr_move *move, double e, double E, double lowest, pn_certificate *out);

/* ---- the plan (trust_region_plan.c) ---- */

/* At most, in all steps with probability >= 1 - failure. */
typedef struct tr_errors {
    double gradient, hessian;                   /* ||e||, ||E||: noise and batches together */
    double gradient_sampling, hessian_sampling; /* batches alone */
} tr_errors;

typedef struct tr_plan {
    pn_plan base; /* first */
    pn_model model;
    pn_first_order problem;
    tr_constants of;
    double gradient_z, hessian_z; /* noise multipliers; 0 without privacy */
    tr_errors error;
    double lowest; /* public: no eigenvalue of f's Hessian is below */
} tr_plan;

enum {
    TR_TOLERANCE_GRADIENT = 0,
    TR_RADIUS,
    TR_BATCH,
    TR_SMOOTHNESS,
    TR_HESSIAN_LIPSCHITZ,
    TR_GAP,
    TR_FLOOR,
    TR_HESSIAN_NOISE,
    TR_HESSIAN_BOUND,
    TR_HESS_NOISE_FACTOR,
    TR_FAILURE
};
extern const pn_param tr_params[];

pn_status tr_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);
void tr_plan_destroy(pn_plan *plan);

#endif
