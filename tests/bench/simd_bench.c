/* simd_bench.c -- speed of the dense kernels against one streaming read of the matrix, for every table of this
 * processor.  For each width: GB/s of a plain sum (the yardstick), of dense_times, of dense_add_transposed, and of the
 * fused logistic gradient in blocks of rows, with its time as a multiple of the streaming read.
 * Not a test: it only prints.
 * Depends on: numeric/simd/simd.h.  Build: make bench. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "numeric/simd/simd.h"

#define RUNS 9

typedef struct problem {
    const pn_simd *simd;
    size_t rows, cols, block;
    double *X, *w, *y, *z, *g;
    volatile double sink; /* so that the sum is not optimised away */
} problem;

/* The yardstick: as fast as one thread reads this matrix. */
static void stream(void *self)
{
    problem *p = self;
    typedef double lanes __attribute__((vector_size(64), aligned(8)));
    lanes sum[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
    size_t n = p->rows * p->cols, i = 0;

    for (; i + 32 <= n; i += 32) {
        for (size_t k = 0; k < 4; k++)
            sum[k] += *(const lanes *)(const void *)(p->X + i + 8 * k);
    }
    for (size_t k = 0; k < 4; k++) {
        for (size_t l = 0; l < 8; l++)
            p->sink += sum[k][l];
    }
}

static void times(void *self)
{
    problem *p = self;
    p->simd->dense_times(p->X, p->rows, p->cols, p->w, p->z);
}

static void add_transposed(void *self)
{
    problem *p = self;
    for (size_t r = 0; r < p->rows; r += p->block) {
        size_t count = p->rows - r < p->block ? p->rows - r : p->block;

        p->simd->dense_add_transposed(p->X + r * p->cols, count, p->cols, p->y + r, p->g);
    }
}

/* grad = sum_i -y_i sigmoid(-y_i <x_i, w>) x_i */
static void gradient(void *self)
{
    problem *p = self;
    for (size_t r = 0; r < p->rows; r += p->block) {
        size_t count = p->rows - r < p->block ? p->rows - r : p->block;
        const double *X = p->X + r * p->cols, *y = p->y + r;

        p->simd->dense_times(X, count, p->cols, p->w, p->z);
        for (size_t i = 0; i < count; i++)
            p->z[i] *= -y[i];
        p->simd->sigmoid(count, p->z, p->z);
        for (size_t i = 0; i < count; i++)
            p->z[i] *= -y[i];
        p->simd->dense_add_transposed(X, count, p->cols, p->z, p->g);
    }
}

static double *fill(size_t n, double scale)
{
    double *x = malloc(n * sizeof *x);
    uint64_t state = 1;

    if (!x)
        exit(1);
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = scale * ((double)(state >> 11) * 0x1p-53 - 0.5);
    }
    return x;
}

static void measure(size_t rows, size_t cols, size_t block)
{
    static const struct {
        const char *name;
        bench_fn run;
    } works[] = { { "times", times }, { "add_transposed", add_transposed }, { "gradient", gradient } };
    problem p = { NULL, rows, cols, block, NULL, NULL, NULL, NULL, NULL, 0.0 };
    double bytes = (double)(rows * cols) * sizeof(double);

    p.X = fill(rows * cols, 1.0);
    p.w = fill(cols, 1.0);
    p.y = fill(rows, 2.0);
    p.z = fill(rows, 0.0);
    p.g = fill(cols, 0.0);
    printf("%zu x %zu, blocks of %zu rows\n", rows, cols, block);
    for (size_t i = 0; pn_simd_at(i); i++) {
        p.simd = pn_simd_at(i);
        for (size_t k = 0; k < sizeof works / sizeof works[0]; k++) {
            double time, plain, ratio;

            bench_pair(works[k].run, &p, stream, &p, RUNS, &time, &plain, &ratio);
            printf("  %-7s %-15s %6.2f GB/s, streaming read %6.2f GB/s: %.2f x its time\n", p.simd->name, works[k].name,
                   1e-9 * bytes / time, 1e-9 * bytes / plain, ratio);
        }
    }
    free(p.X);
    free(p.w);
    free(p.y);
    free(p.z);
    free(p.g);
}

int main(void)
{
    measure(581012, 54, 64);
    measure(581012, 54, 128);
    measure(250000, 123, 64);
    measure(40000, 1000, 64);
    return 0;
}
