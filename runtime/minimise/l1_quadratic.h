/* l1_quadratic.h -- the minimum of a convex quadratic plus l1 ||u||_1: what a Newton step for a smooth function plus l1
 * ||x||_1 asks for.
 * Depends on: core.  Used by: newton_descent.c.
 * Source: Solntsev, Nocedal, Byrd (2015), An algorithm for quadratic l1-regularized optimization with a flexible
 * active-set strategy; Nocedal, Wright (2006), chapter 7, for preconditioned conjugate gradients. */
#ifndef PN_MINIMISE_L1_QUADRATIC_H
#define PN_MINIMISE_L1_QUADRATIC_H

#include <stddef.h>

#include "core/status.h"
#include "core/task.h"

typedef struct pn_l1_quadratic {
    const char *owner; /* what messages start with */
    size_t p;
    double *matrix; /* [p * p] A, or NULL: products out[p] = A v.  A >= 0 */
    pn_status (*times)(void *self, const double *v, double *out, pn_err *err);
    void *self;
    const double *scale; /* [p] > 0: about the diagonal of A, by which steps are scaled */
    double l1;           /* >= 0 */
    double tolerance;    /* of the l2 norm of the least subgradient */
    size_t most;         /* products with A */
    pn_task *task;       /* what may end it; NULL: nothing */
} pn_l1_quadratic;

/** The subgradient of least norm of h(u) + l1 ||u||_1, slope[p] = the gradient of h at u: out[p], and its l2 norm. */
double pn_least_subgradient(size_t p, const double *u, const double *slope, double l1, double *out);

/**
 * From u = x: u[p] with a lower value of <slope, u - x> + <u - x, A (u - x)>/2 + l1 ||u||_1, and within the tolerance
 * of its minimum unless the products ran out or rounding ends the descent;
 * slope[p] becomes the quadratic's gradient at u.
 * Errors: PN_ENOMEM; PN_ECANCELLED; what `times` fails with.
 */
pn_status pn_l1_quadratic_minimise(const pn_l1_quadratic *of, double *u, double *slope, pn_err *err);

#endif
