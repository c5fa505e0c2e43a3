/* lapack.c -- singular values, eigenvalues and linear equations.  A row-major A is LAPACK's A^T, which all functions
 * use as it is, so nothing is transposed.  Depends on: lapack.h, the LAPACK in OpenBLAS
 * (called by its Fortran names: liblapacke would load the reference BLAS, LAPACK and their test library besides, a
 * third of the time that the program starts in).  Used by: geometry, solvers, bindings. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <lapack.h>

#include "core/alloc.h"
#include "core/size.h"
#include "numeric/blas_threads.h"
#include "numeric/lapack.h"

/* A size of work of -1 asks how much there should be. */
static const lapack_int ask = -1;
/* The ends of a range that is not given. */
static const double none = 0.0;

static pn_status check(const char *what, pn_mat A, pn_err *err)
{
    size_t count = 0, bad;

    if (A.rows == 0 || A.cols == 0 || A.rows > INT_MAX || A.cols > INT_MAX)
        return pn_fail(err, PN_EDIM, "%s: from 1 to %d rows and columns, got %zu x %zu", what, INT_MAX, A.rows, A.cols);
    PN_TRY(pn_size_product(&count, what, "rows x columns", A.rows, A.cols, err));
    bad = pn_first_nonfinite(A.data, count);
    if (bad < count)
        return pn_fail(err, PN_EDOMAIN, "%s: entry (%zu, %zu) is not finite", what, bad / A.cols + 1, bad % A.cols + 1);
    return PN_OK;
}

static double *copy_of(pn_mat A)
{
    double *copy = pn_alloc(A.rows * A.cols, sizeof *copy); /* check() has seen the product */

    if (copy)
        memcpy(copy, A.data, A.rows * A.cols * sizeof *copy);
    return copy;
}

/* LAPACK computes in ints how much work space it wants, of which `squares` n x n at least: beyond,
 * what it says has wrapped around. */
static bool work_fits(size_t n, size_t squares, double wanted)
{
    return n <= UINT16_MAX && squares * n * n + 8 * n <= INT_MAX && wanted >= 1.0 && wanted <= INT_MAX;
}

pn_status pn_svd(double *U, double *s, double *Vt, pn_mat A, pn_err *err)
{
    /* A^T = V diag(s) U^T by columns: LAPACK's "u" is V by columns, which is V^T by rows; and its "vt" is U by rows. */
    lapack_int m = (lapack_int)A.cols, n = (lapack_int)A.rows, k = m < n ? m : n, room, info = 0;
    double *copy = NULL, *work = NULL, wanted = 0.0;
    lapack_int *iwork = NULL;
    pn_status status = check("svd", A, err);
    bool alone;

    if (status != PN_OK)
        return status;
    LAPACK_dgesdd("S", &m, &n, A.data, &m, s, Vt, &m, U, &k, &wanted, &ask, iwork, &info);
    if (info != 0 || !work_fits((size_t)k, 4, wanted))
        return pn_fail(err, PN_EDIM, "svd: %zu x %zu is too large", A.rows, A.cols);
    room = (lapack_int)wanted;
    copy = copy_of(A);
    work = pn_alloc((size_t)wanted, sizeof *work);
    iwork = pn_alloc(8 * (size_t)k, sizeof *iwork);
    if (!copy || !work || !iwork) {
        status = pn_fail(err, PN_ENOMEM, "svd: not enough memory for %zu x %zu", A.rows, A.cols);
        goto done;
    }
    alone = pn_blas_alone(A.rows > A.cols ? A.rows : A.cols);
    LAPACK_dgesdd("S", &m, &n, copy, &m, s, Vt, &m, U, &k, work, &room, iwork, &info);
    pn_blas_alone_end(alone);
    if (info != 0)
        status = pn_fail(err, PN_ENUMERIC, "svd: the iteration did not converge");
done:
    pn_free(copy);
    pn_free(work);
    pn_free(iwork);
    return status;
}

/* For a symmetric A = U diag(s) V^T that is positive semidefinite U = V where s > 0, and U diag(sqrt s) is a root. */
pn_status pn_psd_root(double *root, pn_mat A, double *norm, double *off, pn_err *err)
{
    size_t p = A.rows;
    double *U, *s, *Vt;
    pn_status status;

    PN_TRY(pn_new(&U, 2 * p * p + p, err, "psd_root: out of memory for a matrix of %zu rows", p));
    s = U + p * p;
    Vt = s + p;
    status = pn_svd(U, s, Vt, A, err);
    *off = 0.0;
    for (size_t i = 0; status == PN_OK && i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            double back = 0.0;

            for (size_t k = 0; k < p; k++)
                back += U[i * p + k] * s[k] * U[j * p + k];
            *off = fmax(*off, fabs(back - A.data[i * p + j]));
            root[i * p + j] = U[i * p + j] * sqrt(s[j]);
        }
    }
    *norm = status == PN_OK ? s[0] : 0.0;
    pn_free(U);
    return status;
}

/* out <- (A + A^T)/2, out may be A.data */
static void symmetrise(double *out, pn_mat A)
{
    size_t n = A.rows;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++)
            out[i * n + j] = out[j * n + i] = 0.5 * A.data[i * n + j] + 0.5 * A.data[j * n + i];
    }
}

pn_status pn_eigen_symmetric(double *values, double *vectors, pn_mat A, pn_err *err)
{
    lapack_int n = (lapack_int)A.rows, wanted_ints = 0, room, info = 0;
    double *work = NULL, wanted = 0.0;
    lapack_int *iwork = NULL;
    pn_status status;

    if (A.rows != A.cols)
        return pn_fail(err, PN_EDIM, "eigen: the matrix must be square, got %zu x %zu", A.rows, A.cols);
    status = check("eigen", A, err);
    if (status != PN_OK)
        return status;
    LAPACK_dsyevd("V", "L", &n, vectors, &n, values, &wanted, &ask, &wanted_ints, &ask, &info);
    if (info != 0 || wanted_ints < 1 || !work_fits(A.rows, 2, wanted))
        return pn_fail(err, PN_EDIM, "eigen: %zu x %zu is too large", A.rows, A.cols);
    room = (lapack_int)wanted;
    work = pn_alloc((size_t)wanted, sizeof *work);
    iwork = pn_alloc((size_t)wanted_ints, sizeof *iwork);
    if (!work || !iwork) {
        status = pn_fail(err, PN_ENOMEM, "eigen: not enough memory for %zu x %zu", A.rows, A.cols);
    } else {
        bool alone = pn_blas_alone(A.rows);

        symmetrise(vectors, A);
        LAPACK_dsyevd("V", "L", &n, vectors, &n, values, work, &room, iwork, &wanted_ints, &info);
        pn_blas_alone_end(alone);
        if (info != 0)
            status = pn_fail(err, PN_ENUMERIC, "eigen: the iteration did not converge");
    }
    pn_free(work);
    pn_free(iwork);
    return status;
}

pn_status pn_eigen_least(double *value, double *vector, double *A, size_t n, pn_err *err)
{
    lapack_int count = n <= INT_MAX ? (lapack_int)n : -1, found = 0, support[2], wanted_ints = 0, room, info = 0;
    const lapack_int first = 1;
    double *values = NULL, *work = NULL, wanted = 0.0;
    lapack_int *iwork = NULL;
    pn_status status = PN_OK;

    if (count >= 0)
        LAPACK_dsyevr("V", "I", "L", &count, A, &count, &none, &none, &first, &first, &none, &found, value, vector,
                      &count, support, &wanted, &ask, &wanted_ints, &ask, &info);
    if (count < 0 || info != 0 || !(wanted >= 1.0 && wanted <= INT_MAX) || wanted_ints < 1)
        return pn_fail(err, PN_EDIM, "eigen: %zu x %zu is too large", n, n);
    room = (lapack_int)wanted;
    values = pn_alloc(n, sizeof *values);
    work = pn_alloc((size_t)wanted, sizeof *work);
    iwork = pn_alloc((size_t)wanted_ints, sizeof *iwork);
    if (!values || !work || !iwork) {
        status = pn_fail(err, PN_ENOMEM, "eigen: not enough memory for %zu x %zu", n, n);
    } else {
        bool alone = pn_blas_alone(n);

        LAPACK_dsyevr("V", "I", "L", &count, A, &count, &none, &none, &first, &first, &none, &found, values, vector,
                      &count, support, work, &room, iwork, &wanted_ints, &info);
        pn_blas_alone_end(alone);
        if (info != 0 || found != 1)
            status = pn_fail(err, PN_ENUMERIC, "eigen: the iteration did not converge");
        else
            *value = values[0];
    }
    pn_free(values);
    pn_free(work);
    pn_free(iwork);
    return status;
}

pn_status pn_tridiagonal_top(double *value, double *vector, const double *diagonal, const double *off, size_t n,
                             pn_err *err)
{
    /* dstevr overwrites both diagonals; 20 n and 10 n are the work it wants, n the room for all eigenvalues. */
    double *room, *d, *e, *all, *work;
    lapack_int *iwork, count = (lapack_int)n, found = 0, info = 0, support[2], work_size, iwork_size;
    pn_status status = PN_OK;

    if (n > INT_MAX / 20)
        return pn_fail(err, PN_EDIM, "eigen: a tridiagonal matrix of order %zu is too large; at most %d", n,
                       INT_MAX / 20);
    work_size = 20 * count;
    iwork_size = 10 * count;
    room = d = pn_alloc(n, 23 * sizeof *room);
    iwork = pn_alloc(n, 10 * sizeof *iwork);
    if (!room || !iwork) {
        pn_free(room);
        pn_free(iwork);
        return pn_fail(err, PN_ENOMEM, "eigen: out of memory");
    }
    e = d + n;
    all = e + n;
    work = all + n;
    memcpy(d, diagonal, n * sizeof *d);
    if (n > 1)
        memcpy(e, off, (n - 1) * sizeof *e);
    LAPACK_dstevr("V", "I", &count, d, e, &none, &none, &count, &count, &none, &found, all, vector, &count, support,
                  work, &work_size, iwork, &iwork_size, &info);
    if (info != 0 || found != 1)
        status = pn_fail(err, PN_ENUMERIC, "eigen: the iteration did not converge");
    else
        *value = all[0];
    pn_free(room);
    pn_free(iwork);
    return status;
}

/* Factors in place; refuses what cannot be solved. */
static pn_status factor(double *lu, lapack_int n, lapack_int *pivots, double *work, lapack_int *iwork, pn_err *err)
{
    double norm = LAPACK_dlange("1", &n, &n, lu, &n, work), reciprocal = 0.0;
    lapack_int info = 0;

    LAPACK_dgetrf(&n, &n, lu, &n, pivots, &info);
    if (info > 0)
        return pn_fail(err, PN_ENUMERIC, "solve: the %d x %d matrix is singular (its rank is below %d)", n, n, n);
    LAPACK_dgecon("1", &n, lu, &n, &norm, &reciprocal, work, iwork, &info);
    if (info != 0 || !(reciprocal >= DBL_EPSILON))
        return pn_fail(err, PN_ENUMERIC,
                       "solve: the %d x %d matrix is singular to working precision (condition number above %.0e)", n, n,
                       1.0 / DBL_EPSILON);
    return PN_OK;
}

pn_status pn_linear_solve(double *x, pn_mat A, const double *b, pn_err *err)
{
    lapack_int n = (lapack_int)A.rows, *pivots = NULL, *iwork = NULL, info = 0;
    const lapack_int one = 1;
    double *lu = NULL, *work = NULL;
    bool alone = false;
    pn_status status;

    if (A.rows != A.cols)
        return pn_fail(err, PN_EDIM, "solve: the matrix must be square, got %zu x %zu", A.rows, A.cols);
    status = check("solve", A, err);
    if (status != PN_OK)
        return status;
    lu = copy_of(A);
    pivots = pn_alloc(A.rows, sizeof *pivots);
    iwork = pn_alloc(A.rows, sizeof *iwork);
    work = pn_alloc(4 * A.rows, sizeof *work);
    if (!lu || !pivots || !iwork || !work) {
        status = pn_fail(err, PN_ENOMEM, "solve: not enough memory for %zu x %zu", A.rows, A.cols);
        goto done;
    }
    alone = pn_blas_alone(A.rows);
    status = factor(lu, n, pivots, work, iwork, err);
    if (status != PN_OK)
        goto done;
    memmove(x, b, A.rows * sizeof *x);
    LAPACK_dgetrs("T", &n, &one, lu, &n, pivots, x, &n, &info);
done:
    pn_blas_alone_end(alone);
    pn_free(lu);
    pn_free(pivots);
    pn_free(iwork);
    pn_free(work);
    return status;
}

bool pn_positive_definite(double *A, size_t n)
{
    bool alone = pn_blas_alone(n);
    lapack_int count = (lapack_int)n, info = 0;

    LAPACK_dpotrf("L", &count, A, &count, &info);
    pn_blas_alone_end(alone);
    return info == 0;
}
