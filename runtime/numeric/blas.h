/* blas.h -- sums, products and norms of vectors and matrices of any size.  The vector part is our own (one thread, the
 * same bits whatever the number of processors); matrix times matrix is the BLAS's.
 * Depends on: core/view.h, simd.h, CBLAS.  Used by: geometry, objective, solvers, bindings. */
#ifndef PN_NUMERIC_BLAS_H
#define PN_NUMERIC_BLAS_H

#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

/** sum_i x[i], pairwise: the error grows as log n. */
double pn_sum(size_t n, const double *x);

/** sum_i x[i] y[i], pairwise over blocks of a few thousand. */
double pn_dot(size_t n, const double *x, const double *y);

/** ||x[n]||; L2 neither overflows nor underflows on the way.  NaN when an entry is NaN. */
double pn_lp_norm(pn_lp norm, size_t n, const double *x);

/** y[n] += alpha x[n]. */
void pn_axpy(size_t n, double alpha, const double *x, double *y);

/** out[n] = b + r (a - b); out may be either. */
void pn_mix(size_t n, double r, const double *a, const double *b, double *out);

/** y[A.rows] = A x, x[A.cols]; y is not x. */
void pn_mat_times_vec(pn_mat A, const double *x, double *y);

/** C = A B, C.data [A.rows * B.cols] of the caller, not A or B.
 *  Errors: PN_EDIM when the sizes do not fit, or exceed the index type of this BLAS. */
pn_status pn_mat_times_mat(pn_mat C, pn_mat A, pn_mat B, pn_err *err);

/** out [A.cols * A.rows] = the transpose of A, row-major; out is not A. */
void pn_mat_transpose(double *out, pn_mat A);

#endif
