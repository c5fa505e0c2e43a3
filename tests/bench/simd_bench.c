/* simd_bench.c -- speed of the dense kernels against one streaming read of the matrix, for every table of this processor.
 * For each width: GB/s of a plain sum (the yardstick), of dense_times, of dense_add_transposed, and of the fused logistic
 * gradient in blocks of rows, with its time as a multiple of the streaming read.  Not a test: it only prints.
 * Depends on: numeric/simd.h.  Build: make bench. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "numeric/simd.h"

#define REPEATS 7

typedef struct problem {
    size_t rows, cols, block;
    double *X, *w, *y, *z, *g;
    double sink;
} problem;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The yardstick: as fast as one thread reads this matrix. */
static void stream(const pn_simd *simd, problem *p)
{
    typedef double lanes __attribute__((vector_size(64), aligned(8)));
    lanes sum[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
    size_t n = p->rows * p->cols, i = 0;

    (void)simd;
    for (; i + 32 <= n; i += 32) {
        for (size_t k = 0; k < 4; k++)
            sum[k] += *(const lanes *)(const void *)(p->X + i + 8 * k);
    }
    for (size_t k = 0; k < 4; k++) {
        for (size_t l = 0; l < 8; l++)
            p->sink += sum[k][l];
    }
}

static void times(const pn_simd *simd, problem *p)
{
    simd->dense_times(p->X, p->rows, p->cols, p->w, p->z);
}

static void add_transposed(const pn_simd *simd, problem *p)
{
    for (size_t r = 0; r < p->rows; r += p->block) {
        size_t count = p->rows - r < p->block ? p->rows - r : p->block;

        simd->dense_add_transposed(p->X + r * p->cols, count, p->cols, p->y + r, p->g);
    }
}

/* grad = sum_i -y_i sigmoid(-y_i <x_i, w>) x_i */
static void gradient(const pn_simd *simd, problem *p)
{
    for (size_t r = 0; r < p->rows; r += p->block) {
        size_t count = p->rows - r < p->block ? p->rows - r : p->block;
        const double *X = p->X + r * p->cols, *y = p->y + r;

        simd->dense_times(X, count, p->cols, p->w, p->z);
        for (size_t i = 0; i < count; i++)
            p->z[i] *= -y[i];
        simd->sigmoid(count, p->z, p->z);
        for (size_t i = 0; i < count; i++)
            p->z[i] *= -y[i];
        simd->dense_add_transposed(X, count, p->cols, p->z, p->g);
    }
}

static double best_time(void (*work)(const pn_simd *, problem *), const pn_simd *simd, problem *p)
{
    double best = 1e30;

    for (int k = 0; k < REPEATS; k++) {
        double start = seconds(), time;

        work(simd, p);
        time = seconds() - start;
        best = time < best ? time : best;
    }
    return best;
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
    problem p = { rows, cols, block, NULL, NULL, NULL, NULL, NULL, 0.0 };
    double bytes = (double)(rows * cols) * sizeof(double), plain;

    p.X = fill(rows * cols, 1.0);
    p.w = fill(cols, 1.0);
    p.y = fill(rows, 2.0);
    p.z = fill(rows, 0.0);
    p.g = fill(cols, 0.0);
    plain = best_time(stream, NULL, &p);
    printf("%zu x %zu, blocks of %zu rows: stream %.2f GB/s\n", rows, cols, block, 1e-9 * bytes / plain);
    for (size_t i = 0; pn_simd_at(i); i++) {
        const pn_simd *simd = pn_simd_at(i);
        double a = best_time(times, simd, &p), b = best_time(add_transposed, simd, &p);
        double c = best_time(gradient, simd, &p);

        printf("  %-7s times %6.2f GB/s   add_transposed %6.2f GB/s   gradient %6.2f GB/s = %.2f x stream\n",
               simd->name, 1e-9 * bytes / a, 1e-9 * bytes / b, 1e-9 * bytes / c, c / plain);
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
