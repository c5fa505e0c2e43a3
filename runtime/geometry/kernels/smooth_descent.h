/* smooth_descent.h -- argmin over C of Psi(x) - <c, x> for smooth convex Psi, by accelerated projected gradients.
 * Depends on: core.  Used by: numeric_step.c. */
#ifndef PN_GEOMETRY_SMOOTH_DESCENT_H
#define PN_GEOMETRY_SMOOTH_DESCENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct pn_smooth_problem {
    size_t n;
    const double *c; /* [n] */
    void *self;      /* for the functions */
    /* out[n] = grad Psi(x); PN_EDOMAIN where there is none: then another point is tried */
    pn_status (*gradient)(void *self, const double *x, double *out, pn_err *err);
    pn_status (*project)(void *self, double *x, pn_err *err);
    /* max over C of <g, v>, inf where there is none; NULL: it is not to be asked, and `gap` says when it ends */
    pn_status (*support)(void *self, const double *g, double *value, pn_err *err);
    double modulus;  /* of Psi, in l2: for `gap` */
    double gap;      /* > 0: it ends that near to the minimum; 0: by the support function, as below */
    double rounding; /* how far a projection may be off, in l2: steps as short as that are the last */
    size_t most;     /* rounds */
    size_t rounds;   /* out */
    double reached;  /* out, without a support function: an upper bound of f(x) - min f by the modulus */
} pn_smooth_problem;

/**
 * x[n] in: a point of C, where grad Psi is slope[n]; out: the minimiser, once the gap max_v <grad Psi(x) - c, x - v> is
 * below 1e-9 of the scale of the terms (without a support function: once a step changes nothing at that scale), or
 * `reached` is at most `gap`, or after `most` rounds.
 * Errors: PN_ENOMEM; what the functions return.
 */
pn_status pn_smooth_descent(pn_smooth_problem *problem, double *x, const double *slope, bool *ended, pn_err *err);

#endif
