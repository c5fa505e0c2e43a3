/* blas.c -- sums, products and norms.  Depends on: blas.h, simd.h, CBLAS.  Used by: geometry, objective,
 * solvers, bindings. */
#include <limits.h>
#include <math.h>

#include <cblas.h>

#include "numeric/blas.h"
#include "numeric/simd/simd.h"

/* From sixteen numbers on in eight lanes, which compile to vector instructions. */
/* Pairwise, below that in eight lanes, which compile to vector instructions. */
#define PAIRWISE(name, of)                                                                                             \
    double name(size_t n, const double *x)                                                                             \
    {                                                                                                                  \
        double lane[8] = { 0.0 };                                                                                      \
        size_t i = 0;                                                                                                  \
                                                                                                                       \
        if (n > 512)                                                                                                   \
            return name(n / 2, x) + name(n - n / 2, x + n / 2);                                                        \
        for (; n >= 16 && i + 8 <= n; i += 8) {                                                                        \
            for (size_t k = 0; k < 8; k++)                                                                             \
                lane[k] += of(x[i + k]);                                                                               \
        }                                                                                                              \
        for (size_t half = 4; n >= 16 && half > 0; half /= 2) {                                                        \
            for (size_t k = 0; k < half; k++)                                                                          \
                lane[k] += lane[k + half];                                                                             \
        }                                                                                                              \
        for (; i < n; i++)                                                                                             \
            lane[0] += of(x[i]);                                                                                       \
        return lane[0];                                                                                                \
    }

PAIRWISE(pn_sum, )
static PAIRWISE(sum_of_magnitudes, fabs)

    double pn_dot(size_t n, const double *x, const double *y)
{
    double dot;

    if (n > 8192) {
        size_t half = n / 2 & ~(size_t)7; /* keeps the second half as aligned as the first */

        return pn_dot(half, x, y) + pn_dot(n - half, x + half, y + half);
    }
    pn_simd_best()->dense_times(x, 1, n, y, &dot);
    return dot;
}

/* In eight lanes, which compile to vector instructions; comparisons lose a NaN, so it is kept beside them. */
static double largest_magnitude(size_t n, const double *x)
{
    double lane[8] = { 0.0 }, odd[8] = { 0.0 };

    for (size_t i = 0; i < n; i += 8) {
        size_t lanes = n - i < 8 ? n - i : 8;

        for (size_t k = 0; k < lanes; k++) {
            double size = fabs(x[i + k]);

            lane[k] = size > lane[k] ? size : lane[k];
            odd[k] = size == size ? odd[k] : size;
        }
    }
    for (size_t k = 1; k < 8; k++) {
        lane[0] = lane[k] > lane[0] ? lane[k] : lane[0];
        odd[0] += odd[k];
    }
    return isnan(odd[0]) ? odd[0] : lane[0];
}

static double euclidean(size_t n, const double *x)
{
    double square = pn_dot(n, x, x), scale, sum = 0.0;

    /* Far from both ends: what underflowed among the squares cannot matter. */
    if (square > 0x1p-900 && square < 0x1p1020)
        return sqrt(square);
    scale = largest_magnitude(n, x);
    if (!(scale > 0.0) || isinf(scale))
        return scale;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] / scale) * (x[i] / scale);
    return scale * sqrt(sum);
}

double pn_lp_norm(pn_lp norm, size_t n, const double *x)
{
    return norm == PN_L1 ? sum_of_magnitudes(n, x) : norm == PN_L2 ? euclidean(n, x) : largest_magnitude(n, x);
}

void pn_axpy(size_t n, double alpha, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

void pn_mix(size_t n, double r, const double *a, const double *b, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = b[j] + r * (a[j] - b[j]);
}

void pn_mat_times_vec(pn_mat A, const double *x, double *y)
{
    pn_simd_best()->dense_times(A.data, A.rows, A.cols, x, y);
}

pn_status pn_mat_times_mat(pn_mat C, pn_mat A, pn_mat B, pn_err *err)
{
    const size_t most = INT_MAX;

    if (A.cols != B.rows || C.rows != A.rows || C.cols != B.cols)
        return pn_fail(err, PN_EDIM, "mat * mat: %zu x %zu and %zu x %zu", A.rows, A.cols, B.rows, B.cols);
    if (A.rows > most || A.cols > most || B.cols > most)
        return pn_fail(err, PN_EDIM, "mat * mat: %zu x %zu and %zu x %zu; at most %zu rows and columns", A.rows, A.cols,
                       B.rows, B.cols, most);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)A.rows, (blasint)B.cols, (blasint)A.cols, 1.0,
                A.data, (blasint)A.cols, B.data, (blasint)B.cols, 0.0, C.data, (blasint)C.cols);
    return PN_OK;
}

void pn_mat_transpose(double *out, pn_mat A)
{
    const size_t tile = 16; /* so that neither side jumps through memory */

    for (size_t i0 = 0; i0 < A.rows; i0 += tile) {
        size_t i1 = i0 + tile < A.rows ? i0 + tile : A.rows;

        for (size_t j0 = 0; j0 < A.cols; j0 += tile) {
            size_t j1 = j0 + tile < A.cols ? j0 + tile : A.cols;

            for (size_t i = i0; i < i1; i++) {
                for (size_t j = j0; j < j1; j++)
                    out[j * A.rows + i] = A.data[i * A.cols + j];
            }
        }
    }
}
