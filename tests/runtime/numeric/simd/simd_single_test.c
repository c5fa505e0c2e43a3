/* simd_single_test.c -- the kernels for matrices of floats against those for doubles, which simd_test.c checks: a float
 * is a double without rounding and the order of operations is the same, so every bit must agree.
 * Depends on: check.h, simd.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numeric/simd/simd.h"

static uint64_t state = 3;

static double draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1.0;
}

/* Blocks of exactly the right size, so that a sanitizer sees a read past the end. */
static void *block(size_t count, size_t size)
{
    void *made = malloc(count * size + (count == 0));

    if (!CHECK(made != NULL))
        exit(1);
    return made;
}

static void compare(const pn_simd *simd, size_t rows, size_t cols)
{
    float *single = block(rows * cols, sizeof *single);
    double *X = block(rows * cols, sizeof *X), *w = block(cols, sizeof *w), *a = block(rows, sizeof *a);
    double *z[2] = { block(rows, sizeof(double)), block(rows, sizeof(double)) };
    double *g[2] = { block(cols, sizeof(double)), block(cols, sizeof(double)) };

    for (size_t k = 0; k < rows * cols; k++)
        X[k] = single[k] = (float)draw();
    for (size_t j = 0; j < cols; j++) {
        w[j] = draw();
        g[0][j] = g[1][j] = draw();
    }
    for (size_t r = 0; r < rows; r++)
        a[r] = draw();
    simd->dense_times(X, rows, cols, w, z[0]);
    simd->dense_times_single(single, rows, cols, w, z[1]);
    CHECK(memcmp(z[0], z[1], rows * sizeof(double)) == 0);
    simd->dense_add_transposed(X, rows, cols, a, g[0]);
    simd->dense_add_transposed_single(single, rows, cols, a, g[1]);
    CHECK(memcmp(g[0], g[1], cols * sizeof(double)) == 0);
    free(single);
    free(X);
    free(w);
    free(a);
    for (int k = 0; k < 2; k++) {
        free(z[k]);
        free(g[k]);
    }
}

int main(void)
{
    static const size_t row_counts[] = { 0, 1, 2, 3, 4, 5, 8, 64, 70 };

    for (size_t i = 0; pn_simd_at(i); i++) {
        for (size_t k = 0; k < sizeof row_counts / sizeof row_counts[0]; k++) {
            for (size_t cols = 1; cols <= 150; cols += cols < 34 ? 1 : 13)
                compare(pn_simd_at(i), row_counts[k], cols);
        }
    }
    return check_summary();
}
