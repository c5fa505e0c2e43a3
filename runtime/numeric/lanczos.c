/* lanczos.c -- top singular pairs and eigenpairs of stored matrices by Lanczos steps.
 * Depends on: lanczos.h, krylov.h, lapack.h, blas.h, simd.h, CBLAS.  Used by: geometry. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cblas.h>

#include "core/alloc.h"
#include "core/size.h"
#include "numeric/blas.h"
#include "numeric/blas_threads.h"
#include "numeric/krylov.h"
#include "numeric/lanczos.h"
#include "numeric/lapack.h"
#include "numeric/simd/simd.h"

#define DIRECT_UP_TO 96 /* a full decomposition of this size costs no more than the steps */
#define OVERLAP      1e-3
#define BLOCK        32768 /* entries of A that stay in the cache between its two products */

/* A symmetric M of n rows that is made from A: s^2 A^T A, s^2 A A^T, or s (A + A^T)/2. */
typedef enum shape { GRAM, OUTER, SYMMETRIC } shape;

typedef struct operator_of {
    pn_mat A;
    shape shape;
    size_t n;
    double scale;    /* s, a power of two that brings the entries of A near 1 */
    double *scaled;  /* [n] */
    double *product; /* [max(rows, cols)] */
} operator_of;

/* ---- the operator ---- */

static double scale_for(double largest)
{
    int exponent;

    (void)frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
}

static size_t block_rows(size_t cols)
{
    size_t rows = BLOCK / cols;

    return rows > 8 ? rows & ~(size_t)7 : 8;
}

static void times(size_t n, double factor, const double *x, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = factor * x[i];
}

/* y = s^2 A^T A x */
static void apply_gram(const operator_of *self, double *y)
{
    const pn_simd *simd = pn_simd_best();
    size_t rows = self->A.rows, cols = self->A.cols, step = block_rows(cols);

    for (size_t i = 0; i < rows; i += step) {
        size_t count = rows - i < step ? rows - i : step;

        simd->dense_times(self->A.data + i * cols, count, cols, self->scaled, self->product);
        times(count, self->scale, self->product, self->product);
        simd->dense_add_transposed(self->A.data + i * cols, count, cols, self->product, y);
    }
}

/* y = s (A + A^T)/2 x */
static void apply_symmetric(const operator_of *self, double *y)
{
    const pn_simd *simd = pn_simd_best();
    size_t n = self->n, step = block_rows(n);

    for (size_t i = 0; i < n; i += step) {
        size_t count = n - i < step ? n - i : step;

        simd->dense_times(self->A.data + i * n, count, n, self->scaled, self->product + i);
        simd->dense_add_transposed(self->A.data + i * n, count, n, self->scaled + i, y);
    }
    for (size_t i = 0; i < n; i++)
        y[i] = 0.5 * y[i] + 0.5 * self->product[i];
}

/* y = M x; each pass over A serves both products but for A A^T. */
static void apply(const operator_of *self, const double *x, double *y)
{
    const pn_simd *simd = pn_simd_best();

    times(self->n, self->scale, x, self->scaled);
    memset(y, 0, self->n * sizeof *y);
    if (self->shape == GRAM) {
        apply_gram(self, y);
    } else if (self->shape == SYMMETRIC) {
        apply_symmetric(self, y);
    } else {
        memset(self->product, 0, self->A.cols * sizeof *self->product);
        simd->dense_add_transposed(self->A.data, self->A.rows, self->A.cols, self->scaled, self->product);
        times(self->A.cols, self->scale, self->product, self->product);
        simd->dense_times(self->A.data, self->A.rows, self->A.cols, self->product, y);
    }
}

/* ---- in full ---- */

/* S [n * n] = M for GRAM and OUTER */
static pn_status multiply(const operator_of *self, double *S, pn_err *err)
{
    size_t rows = self->A.rows, cols = self->A.cols, n = self->n, depth = rows * cols / n;
    double *copy;
    bool alone;

    if (rows > INT_MAX || cols > INT_MAX)
        return pn_fail(err, PN_EDIM, "singular pair: %zu x %zu is too large", rows, cols);
    PN_TRY(pn_new(&copy, rows * cols, err, "singular pair: out of memory"));
    times(rows * cols, self->scale, self->A.data, copy);
    alone = pn_blas_alone(rows > cols ? rows : cols);
    cblas_dsyrk(CblasRowMajor, CblasLower, self->shape == GRAM ? CblasTrans : CblasNoTrans, (blasint)n, (blasint)depth,
                1.0, copy, (blasint)cols, 0.0, S, (blasint)n);
    pn_blas_alone_end(alone);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            S[j * n + i] = S[i * n + j];
    }
    pn_free(copy);
    return PN_OK;
}

static pn_status solve_in_full(const operator_of *self, double *x, pn_err *err)
{
    size_t n = self->n, top = n - 1, size;
    double *S = pn_size_multiply(&size, n, n + 1) ? pn_alloc(size, sizeof *S) : NULL, *values;
    pn_status status;

    PN_TRY(pn_made(S, err, "top of the spectrum: not enough memory for %zu x %zu", n, n));
    values = S + n * n;
    status = self->shape == SYMMETRIC ? PN_OK : multiply(self, S, err);
    if (status == PN_OK)
        status = pn_eigen_symmetric(values, S, self->shape == SYMMETRIC ? self->A : (pn_mat){ S, n, n }, err);
    if (status == PN_OK) {
        while (top > 0 && values[top - 1] == values[n - 1])
            top--;
        memcpy(x, S + top * n, n * sizeof *x);
    }
    pn_free(S);
    return status;
}

/* ---- by steps ---- */

/* Pseudo-random and the same for all matrices of a size (splitmix64). */
static double fill_start(double *x, size_t n)
{
    uint64_t state = 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < n; i++) {
        uint64_t z = state += 0x9e3779b97f4a7c15u;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        x[i] = (double)(int64_t)(z ^ (z >> 31)) * 0x1p-63;
    }
    return pn_lp_norm(PN_L2, n, x);
}

static pn_status apply_step(void *self, const double *x, double *y, pn_err *err)
{
    (void)err;
    apply(self, x, y);
    return PN_OK;
}

static pn_status solve(operator_of *M, double tolerance, double *x, pn_err *err)
{
    pn_krylov_rule rule = { .relative = fmax(tolerance, 16.0 * DBL_EPSILON), .overlap = OVERLAP };
    bool settled = false;
    pn_krylov space;
    pn_status status;
    double top;

    if (M->n <= DIRECT_UP_TO)
        return solve_in_full(M, x, err);
    PN_TRY(pn_krylov_init(&space, M->n, 32 + M->n / 4, err));
    status = pn_krylov_run(&space, &top, &settled, apply_step, M, fill_start(space.next, M->n), &rule, NULL, err);
    if (status == PN_OK && settled)
        pn_krylov_vector(&space, x);
    pn_krylov_clear(&space);
    return status == PN_OK && !settled ? solve_in_full(M, x, err) : status;
}

/* ---- doors ---- */

static pn_status check(const char *what, pn_mat A, double *largest, pn_err *err)
{
    size_t bad;

    if (A.rows == 0 || A.cols == 0)
        return pn_fail(err, PN_EDIM, "%s: the matrix is empty, %zu x %zu", what, A.rows, A.cols);
    *largest = pn_lp_norm(PN_LINF, A.rows * A.cols, A.data);
    if (isfinite(*largest))
        return PN_OK;
    bad = pn_first_nonfinite(A.data, A.rows * A.cols);
    return pn_fail(err, PN_EDOMAIN, "%s: entry (%zu, %zu) is not finite", what, bad / A.cols + 1, bad % A.cols + 1);
}

static pn_status prepare(operator_of *M, double largest, pn_err *err)
{
    size_t most = M->A.rows > M->A.cols ? M->A.rows : M->A.cols;

    M->scale = scale_for(largest);
    PN_TRY(pn_new(&M->scaled, 2 * most, err, "top of the spectrum: out of memory"));
    M->product = M->scaled + most;
    return PN_OK;
}

/* The other vector and the value, from one of the two: A v = sigma u. */
static double complete(const operator_of *M, double *u, double *v)
{
    const pn_simd *simd = pn_simd_best();
    size_t rows = M->A.rows, cols = M->A.cols;
    double *other = M->shape == GRAM ? u : v, length;

    times(M->n, M->scale, M->shape == GRAM ? v : u, M->scaled);
    if (M->shape == GRAM) {
        simd->dense_times(M->A.data, rows, cols, M->scaled, other);
    } else {
        memset(other, 0, cols * sizeof *other);
        simd->dense_add_transposed(M->A.data, rows, cols, M->scaled, other);
    }
    length = pn_lp_norm(PN_L2, M->shape == GRAM ? rows : cols, other);
    times(M->shape == GRAM ? rows : cols, 1.0 / length, other, other);
    return length / M->scale;
}

static void first_unit(double *x, size_t n)
{
    memset(x, 0, n * sizeof *x);
    x[0] = 1.0;
}

pn_status pn_top_singular(double *sigma, double *u, double *v, pn_mat A, double tolerance, pn_err *err)
{
    operator_of M = { .A = A };
    double largest = 0.0;
    pn_status status = check("singular pair", A, &largest, err);
    bool small = A.rows <= DIRECT_UP_TO || A.cols <= DIRECT_UP_TO;

    if (status != PN_OK)
        return status;
    if (!(largest > 0.0)) {
        first_unit(u, A.rows);
        first_unit(v, A.cols);
        *sigma = 0.0;
        return PN_OK;
    }
    M.shape = A.cols <= (small ? A.rows : 2 * A.rows) ? GRAM : OUTER;
    M.n = M.shape == GRAM ? A.cols : A.rows;
    status = prepare(&M, largest, err);
    if (status == PN_OK)
        status = solve(&M, 2.0 * tolerance, M.shape == GRAM ? v : u, err); /* of the square */
    if (status == PN_OK)
        *sigma = complete(&M, u, v);
    pn_free(M.scaled);
    return status;
}

pn_status pn_top_eigen(double *value, double *x, pn_mat A, double tolerance, pn_err *err)
{
    operator_of M = { .A = A, .shape = SYMMETRIC, .n = A.rows };
    double largest = 0.0, *product;
    pn_status status = check("top eigenvalue", A, &largest, err);

    if (status == PN_OK && A.rows != A.cols)
        return pn_fail(err, PN_EDIM, "top eigenvalue: the matrix must be square, got %zu x %zu", A.rows, A.cols);
    if (status != PN_OK)
        return status;
    if (!(largest > 0.0)) {
        first_unit(x, M.n);
        *value = 0.0;
        return PN_OK;
    }
    status = prepare(&M, largest, err);
    product = status == PN_OK ? pn_alloc(M.n, sizeof *product) : NULL;
    if (status == PN_OK && !product)
        status = pn_fail(err, PN_ENOMEM, "top eigenvalue: out of memory");
    if (status == PN_OK)
        status = solve(&M, tolerance, x, err);
    if (status == PN_OK) {
        apply(&M, x, product);
        *value = pn_dot(M.n, x, product) / M.scale;
    }
    pn_free(product);
    pn_free(M.scaled);
    return status;
}
