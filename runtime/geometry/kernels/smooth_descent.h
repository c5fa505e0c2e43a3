/* smooth_descent.h -- argmin over C of Psi(x) - <c, x> for smooth convex Psi, by accelerated projected gradients.
 * Depends on: core.  Used by: numeric_step.c. */
#ifndef PN_GEOMETRY_SMOOTH_DESCENT_H
#define PN_GEOMETRY_SMOOTH_DESCENT_H

#include <stddef.h>

#include "core/status.h"

typedef struct pn_smooth_problem {
    size_t n;
    const double *c; /* [n] */
    void *self;      /* for the functions */
    /* out[n] = grad Psi(x); PN_EDOMAIN where there is none: then another point is tried */
    pn_status (*gradient)(void *self, const double *x, double *out, pn_err *err);
    pn_status (*project)(void *self, double *x, pn_err *err);
    /* max over C of <g, v>; inf where there is none */
    pn_status (*support)(void *self, const double *g, double *value, pn_err *err);
} pn_smooth_problem;

/**
 * x[n] in: a point of C with a gradient; out: the minimiser, once the gap max_v <grad Psi(x) - c, x - v> is below 1e-9
 * of the scale of the terms (without a support function: once a step changes nothing at that scale).
 * Errors: PN_ENUMERIC when it does not get there; PN_ENOMEM; what the functions return.
 */
pn_status pn_smooth_descent(const pn_smooth_problem *problem, double *x, pn_err *err);

#endif
