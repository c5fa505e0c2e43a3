/* potential.h -- potentials of mirror descent: functions Psi that are strongly convex in some norm.  Depends on:
 * norm.h, set.h. */
#ifndef PENUMBRA_POTENTIAL_H
#define PENUMBRA_POTENTIAL_H

#include <stddef.h>

#include "penumbra/norm.h"
#include "penumbra/set.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_potential pn_potential;

/** A potential by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL, PN_EDOMAIN for
 *  options; PN_ENOMEM. */
pn_status pn_potential_new(pn_potential **out, const char *name, const pn_options *options, pn_err *err);

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
    double range; /* max - min over the set that it is for, declared: plans rest on it, noise never does; 0: unknown */
} pn_custom_potential;

/** Takes over `self` on success.  Errors: PN_EINVAL for a constant that is not positive and finite, and for a range
 *  that is negative or not finite; PN_ENOMEM. */
pn_status pn_potential_custom(pn_potential **out, const pn_custom_potential *parts, pn_err *err);

void pn_potential_free(pn_potential *potential); /* NULL allowed */
/** One line for people.  Truncates. */
void pn_potential_describe(const pn_potential *potential, char *text, size_t size);

/**
 * The potential that fits a set: entropy for the simplex, signed_entropy for the l1 ball, group, interpolation,
 * schatten (nuclear ball, spectrahedra), the lifted entropy for polytopes with a list of vertices; one for each part of
 * a product or a sum, with the weights at which noise costs least; for an intersection that of one of the sets where
 * noise costs less in it than in the Euclidean one; else Euclidean about the set's centre.  Scaled and shifted sets get
 * the scaled and shifted potential.  `why` (may be NULL) gets a static phrase for plans.
 */
pn_status pn_potential_for_set(pn_potential **out, pn_set *set, const char **why, pn_err *err);

/** Doors with checks as in set.h (PN_EDIM, PN_EDOMAIN with position): P(x); out[n] = its gradient at x[n]; out[n] =
 *  the point whose gradient is u[n]. */
pn_status pn_potential_value(const pn_potential *p, const double *x, size_t n, double *value, pn_err *err);
pn_status pn_potential_gradient(const pn_potential *p, const double *x, size_t n, double *out, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
