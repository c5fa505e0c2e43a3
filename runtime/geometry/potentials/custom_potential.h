/* custom_potential.h -- potentials that a host or a Lua table gives by functions, and sums of a formula over the coordinates.
 * Depends on: potential.h, expr/.  Used by: bindings, hosts. */
#ifndef PN_GEOMETRY_CUSTOM_POTENTIAL_H
#define PN_GEOMETRY_CUSTOM_POTENTIAL_H

#include "expr/bound.h"
#include "geometry/potentials/potential.h"

typedef struct pn_custom_potential {
    size_t dim;                  /* 0: any */
    double strong_convexity;     /* > 0, declared; step lengths and predictions rest on it, noise never does */
    pn_norm *norm;               /* kept */
    void *self;                  /* for the functions */
    void (*destroy)(void *self); /* or NULL */
    /* +inf (or NaN) outside the domain. */
    pn_status (*value)(void *self, const double *x, size_t n, double *value, pn_err *err);
    /* Asked only where the value is finite. */
    pn_status (*gradient)(void *self, const double *x, size_t n, double *out, pn_err *err);
    pn_status (*inverse_gradient)(void *self, const double *u, size_t n, double *out, pn_err *err); /* or NULL */
} pn_custom_potential;

/** Takes over `self` on success.  Errors: PN_EINVAL for a constant that is not positive and finite; PN_ENOMEM. */
pn_status pn_potential_custom(pn_potential **out, const pn_custom_potential *parts, pn_err *err);

/**
 * Psi(x) = sum_j psi(x_j) for the expression psi of one variable, on low <= x_j <= high (ends may be infinite).  The constant is a certified
 * lower bound of psi'' there, in the l2 norm.  Keeps `graph`.
 * Errors: PN_EINVAL for low >= high, for a slope that jumps, and where no positive lower bound of psi'' can be certified; PN_EDOMAIN
 *         where psi is undefined; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_potential_separable(pn_potential **out, pn_graph *graph, pn_node root, pn_interval domain, pn_task *task,
                                 pn_err *err);

#endif
