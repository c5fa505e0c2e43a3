/* sketch_gaussian.c -- J with independent entries N(0, 1/m), to 2^-40 of their standard deviation: whole numbers from
 * the sampler of private noise, which are the same on every platform, times one double.  Every entry is a double,
 * and exactly that.
 * Depends on: sketch_impl.h, random/noise.h, numeric/simd/simd.h, geometry/kernels/upper.h, CBLAS.
 * Used by: sketch.c's table. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include <cblas.h>

#include "federated/sketch/sketch_impl.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"
#include "random/noise.h"

#define DRAWS 2048 /* at a time */

/* Two megabytes, but columns enough for a fast product; and no more than 32 megabytes,
 * which is one column for the largest m. */
static size_t gaussian_width(size_t m)
{
    const size_t entries = (size_t)1 << 18, most = (size_t)1 << 22;
    size_t width = entries / m;

    width = width < 256 ? 256 : width > 4096 ? 4096 : width;
    if (width * m > most)
        width = most / m;
    return width > 0 ? width : 1;
}

static size_t gaussian_column_bytes(size_t m)
{
    return m * sizeof(double);
}

static double gaussian_scale(size_t m)
{
    (void)m;
    return 1.0;
}

static void gaussian_make(pn_rng *rng, size_t m, size_t count, void *columns)
{
    const double step = 0x1p-40 / sqrt((double)m);
    double *out = columns;
    int64_t draws[DRAWS];

    for (size_t begin = 0; begin < count * m; begin += DRAWS) {
        size_t some = count * m - begin < DRAWS ? count * m - begin : DRAWS;

        pn_noise_gaussian(rng, some, draws);
        for (size_t i = 0; i < some; i++)
            out[begin + i] = (double)draws[i] * step;
    }
}

/* The exact norm is taken only of columns that may be the longest. */
static double gaussian_survey(const void *columns, size_t m, size_t count, double *row_sums)
{
    const double *column = columns, doubt = 1.0 - 0x1p-50 * (double)(m + 8);
    double longest = 0.0, norm = 0.0;

    for (size_t k = 0; k < count; k++, column += m) {
        double square = pn_dot(m, column, column);

        if (square >= doubt * longest)
            norm = fmax(norm, pn_norm_upper(PN_L2, column, m));
        longest = fmax(longest, square);
        for (size_t r = 0; r < m; r++)
            row_sums[r] += fabs(column[r]);
    }
    return norm;
}

/* One vector reads J once either way; BLAS counts in int. */
static void gaussian_multiply(const void *columns, size_t m, size_t count, const double *a, size_t stride, size_t c,
                              double *out, double *scratch)
{
    (void)scratch;
    if (c == 1 || stride > INT_MAX) {
        memset(out, 0, c * m * sizeof *out);
        for (size_t i = 0; i < c; i++)
            pn_simd_best()->dense_add_transposed(columns, count, m, a + i * stride, out + i * m);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)c, (blasint)m, (blasint)count, 1.0, a,
                (blasint)stride, columns, (blasint)m, 0.0, out, (blasint)m);
}

static void gaussian_add(const void *columns, size_t m, size_t k, double value, double *out)
{
    pn_axpy(m, value, (const double *)columns + k * m, out);
}

static void gaussian_transpose(const void *columns, size_t m, size_t count, const double *q, double *z)
{
    pn_simd_best()->dense_times(columns, count, m, q, z);
}

static double gaussian_rounding(size_t m)
{
    return (double)m;
}

const sketch_ops sketch_gaussian = {
    .name = "gaussian",
    .width = gaussian_width,
    .column_bytes = gaussian_column_bytes,
    .scale = gaussian_scale,
    .make = gaussian_make,
    .survey = gaussian_survey,
    .multiply = gaussian_multiply,
    .add = gaussian_add,
    .transpose = gaussian_transpose,
    .rounding = gaussian_rounding,
};
