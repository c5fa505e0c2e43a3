/* newton.h -- what the plan and the steps of private Newton share.  Private to newton*.c and their tests.
 * The first release is of gradient and Hessian at the start; every later one is of a gradient, of which only what a record's slope has moved
 * since the start is released where that needs less noise.
 * Depends on: first_order.h, noisy_model.h, privacy/allowance.h.
 * Source: Ganesh, Haghifam, Steinke, Thakurta (2023), Faster differentially private convex optimization via second-order methods; differences,
 * gain and shares of the budget are ours.
 *
 * With l the loss of <x, w>, ||x|| <= R, and w0 the start:
 *   at w0        a record's gradient is l'(<x, w0>) x, at most s0 R; s0 = 1/2 for the logistic loss at 0, where elsewhere it is 1
 *   differences  (l'(<x, w>) - l'(<x, w0>)) x, at most s R for all w; s = 1/2 for the logistic loss
 * so the gradient at w, as the sum of two releases, has noise of (s0/z0, s/z) in place of 1/z, and the part of w0 is paid for once. */
#ifndef PN_SOLVERS_NEWTON_H
#define PN_SOLVERS_NEWTON_H

#include "privacy/allowance.h"
#include "solvers/first_order.h"
#include "solvers/noisy_model.h"

/* ---- the plan (newton_plan.c) ---- */

typedef struct nw_plan {
    pn_plan base;   /* first */
    pn_model model; /* as certified for every point */
    pn_model first; /* with what a gradient at the start can be */
    pn_model later; /* with what a gradient, or a difference of it from that at the start, can be */
    pn_first_order problem;
    bool differences;
    size_t hessians;                    /* the first so many steps release one */
    double first_z, hessian_z, later_z; /* noise multipliers; 0 without privacy */
    double least; /* eigenvalues of a released Hessian are raised to it, or to r's strong convexity */
    double
        drift; /* variance per coordinate and squared distance by which a gradient is off when it is predicted by the Hessian */
} nw_plan;

/* A record's slopes, over all admissible labels and margins. */
typedef struct nw_slopes {
    double start;  /* |l'| at the start, at most, l2 norm of several margins' slopes; +inf */
    double change; /* |l'(z) - l'(z0)|, at most, likewise; +inf */
} nw_slopes;
/** From public numbers.  Errors: PN_ENOMEM. */
pn_status nw_read_slopes(const pn_first_order *problem, nw_slopes *out, pn_err *err);

enum { NW_HESSIANS = 0, NW_HESSIAN_SHARE, NW_START_SHARE, NW_DAMPING, NW_GRADIENTS, NW_HESSIAN_NOISE };
extern const pn_param nw_params[];

pn_status nw_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err);
void nw_plan_destroy(pn_plan *plan);

/* ---- the quadratic of a step, all of it public or released (newton_step.c) ---- */

typedef struct nw_quadratic {
    size_t dim;
    double *values;  /* [dim] eigenvalues, rising, raised to the least one */
    double *vectors; /* [dim * dim], one in each row */
    double *part;    /* [dim] */
    double lowest;   /* eigenvalue before it was raised */
} nw_quadratic;

pn_status nw_quadratic_init(nw_quadratic *self, size_t dim, pn_err *err);
void nw_quadratic_clear(nw_quadratic *self); /* of zeros allowed */
/** A = the packed matrix with eigenvalues below `least` > 0 raised to it.  Errors: those of pn_eigen_symmetric. */
pn_status nw_quadratic_set(nw_quadratic *self, const double *packed, double least, pn_err *err);
/** y[dim] = A x. */
void nw_quadratic_times(nw_quadratic *self, const double *x, double *y);
/**
 * next[dim] = argmin of <g, v - w> + <v - w, A (v - w)>/2 over the set (NULL: R^dim).
 * Errors: of the set's projection; PN_EUNSUPPORTED for a set without one; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status nw_quadratic_minimise(nw_quadratic *self, const pn_set *set, const double *w, const double *g, double *next,
                                pn_task *task, pn_err *err);
/** x[dim] is drawn toward the origin until the set's radii hold for it, but for a little; NULL: left as it is. */
void nw_keep_within(const pn_set *set, double *x, size_t dim);

#endif
