/* trust_region.h -- the least value of a quadratic over a ball.
 * Depends on: core, symmetric.h, lapack.h, root.h.  Used by: solvers.  Source: More, Sorensen (1983); Conn,
 * Gould, Toint (2000), chapter 7. */
#ifndef PN_NUMERIC_TRUST_REGION_H
#define PN_NUMERIC_TRUST_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct pn_trust_step {
    double multiplier; /* lambda >= 0, with (A + lambda I) h = -g, A + lambda I >= 0, lambda (radius - ||h||) = 0 */
    double least;      /* least eigenvalue of A */
    double decrease;   /* -(g^T h + h^T A h/2) >= 0 */
    bool hard;         /* g has no part along the least eigenvectors: one of them was added to reach the boundary */
} pn_trust_step;

/**
 * h[n] = argmin over ||h|| <= radius of g^T h + h^T A h/2, A packed (symmetric.h) and of any inertia, by
 * eigendecomposition and the root of 1/||h(lambda)|| = 1/radius, to about 1e-12 relative.  In the hard case both signs
 * of the eigenvector that is added are as good: its entry of largest size is positive.  Eigenvalues above -n 2^-50
 * ||A|| count as not negative, and parts of g within n 2^-50 ||g|| as none: without that a singular A >= 0 would send h
 * to the boundary by rounding.
 * Errors: PN_EINVAL unless radius > 0 is finite; PN_EDOMAIN for NaN or infinity in A or g, with its position;
 * PN_EDIM; PN_ENOMEM; PN_ENUMERIC.
 */
pn_status pn_trust_region(pn_trust_step *out, double *h, size_t n, const double *packed, const double *g, double radius,
                          pn_err *err);

#endif
