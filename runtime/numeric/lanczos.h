/* lanczos.h -- the top singular pair or eigenpair of a matrix, to a stated accuracy, without the rest of the spectrum.
 * Depends on: core/view.h, lapack.h, simd.h.  Used by: geometry (sets of matrices). */
#ifndef PN_NUMERIC_LANCZOS_H
#define PN_NUMERIC_LANCZOS_H

#include "core/status.h"
#include "core/view.h"

/**
 * *sigma = u^T A v with unit u[A.rows], v[A.cols], and (1 - tolerance) s <= *sigma <= s for the largest singular value
 * s (to rounding, near 1e-15).  Matrices with a side of at most 96 are solved in full.  Others by Lanczos steps on A^T
 * A from a fixed pseudo-random start, until the Christoffel function of the start's spectrum leaves no room for a
 * larger value: that is certain unless the start is nearly orthogonal to the singular vector, with a cosine below
 * 1e-3/sqrt(n), which happens to fewer than one random start in a thousand.  Where it takes too many steps
 * (a cluster at the top), in full after all.  The same input gives the same pair;
 * the zero matrix gives the first unit vectors.  tolerance in (0, 1).
 * Errors: PN_EDIM for an empty matrix, PN_EDOMAIN for a NaN or infinity, PN_ENOMEM, PN_ENUMERIC.
 */
pn_status pn_top_singular(double *sigma, double *u, double *v, pn_mat A, double tolerance, pn_err *err);

/**
 * *value = x^T M x with a unit x[n], M = (A + A^T)/2, A square, and t - tolerance ||M|| <= *value <= t for the largest
 * eigenvalue t of M; ||M|| is the spectral norm.  The rest as above.
 */
pn_status pn_top_eigen(double *value, double *x, pn_mat A, double tolerance, pn_err *err);

#endif
