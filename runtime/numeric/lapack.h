/* lapack.h -- singular values, eigenvalues and linear equations.  Depends on: core/view.h, LAPACKE.
 * Used by: krylov.c, lanczos.c, symmetric.c, trust_region.c, geometry (sets of matrices), objective,
 * solvers, bindings. */
#ifndef PN_NUMERIC_LAPACK_H
#define PN_NUMERIC_LAPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

/**
 * Economy singular value decomposition A = U diag(s) V^T, k = min(A.rows, A.cols); A is not changed.
 *   U   [A.rows * k] row-major      s   [k], falling, >= 0      Vt   [k * A.cols] row-major
 * Errors: PN_EDOMAIN when A has a NaN or infinity (with its position), PN_EDIM beyond LAPACK's index type, PN_ENOMEM,
 *         PN_ENUMERIC when the iteration does not converge.
 * Source: LAPACK dgesdd.
 */
pn_status pn_svd(double *U, double *s, double *Vt, pn_mat A, pn_err *err);

/**
 * root[p * p] with root root^T = A for a symmetric, positive semidefinite A of p rows, not changed.
 *   norm   the largest singular value of A
 *   off    the largest entry of |root root^T - A|: whether A is what it should be, to rounding
 * Errors: as pn_svd.
 */
pn_status pn_psd_root(double *root, pn_mat A, double *norm, double *off, pn_err *err);

/**
 * Eigenvalues and orthonormal eigenvectors of (A + A^T)/2, A square of n rows and not changed.
 *   values   [n], rising      vectors  [n * n], one in each row, in the order of the values; A.data itself is allowed
 * Errors: PN_EDIM when A is not square (or too large for LAPACK), PN_EDOMAIN for a NaN or infinity in A, PN_ENOMEM,
 *         PN_ENUMERIC when the iteration does not converge.  `vectors` is overwritten in any case,
 *             once there is memory.
 * Source: LAPACK dsyevd.
 */
pn_status pn_eigen_symmetric(double *values, double *vectors, pn_mat A, pn_err *err);

/**
 * The least eigenvalue and its unit eigenvector [n] of the symmetric A[n * n], finite,
 * of which one triangle is read and which is
 * overwritten.  Errors: PN_EDIM beyond LAPACK's index type, PN_ENOMEM, PN_ENUMERIC.  Source: LAPACK dsyevr.
 */
pn_status pn_eigen_least(double *value, double *vector, double *A, size_t n, pn_err *err);

/**
 * The largest eigenvalue and its unit eigenvector [n] of the symmetric tridiagonal matrix with diagonal [n] and
 * off-diagonal [n - 1], which are not changed.  Errors: PN_ENOMEM, PN_ENUMERIC.  Source: LAPACK dstevr.
 */
pn_status pn_tridiagonal_top(double *value, double *vector, const double *diagonal, const double *off, size_t n,
                             pn_err *err);

/**
 * x[n] with A x = b[n], A square; x may be b; A is not changed.
 * Errors: PN_EDIM when A is not square (or too large for LAPACK), PN_EDOMAIN for a NaN or infinity in A, PN_ENOMEM,
 *         PN_ENUMERIC when A is singular, or so nearly that no digit of x would be right (condition number above 2^52).
 * Source: LAPACK dgetrf, dgecon, dgetrs.
 */
pn_status pn_linear_solve(double *x, pn_mat A, const double *b, pn_err *err);

/** Whether the symmetric A[n * n], of which one triangle is read, has a Cholesky factor; A is overwritten.  If so, its
 *  smallest eigenvalue is above -n (n + 2) 2^-53 times its largest diagonal entry.  n within LAPACK's index type.
 *  Source: LAPACK dpotrf; Higham (2002), Theorem 10.3. */
bool pn_positive_definite(double *A, size_t n);

#endif
