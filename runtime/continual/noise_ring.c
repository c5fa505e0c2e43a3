/* noise_ring.c -- one push of a factorization with bands: noise from a ring of increments.
 * Depends on: noise_ring.h, numeric/simd/simd.h.  Used by: banded_prefix.c, matrix_prefix.c. */
#include "continual/noise_ring.h"
#include "numeric/simd/simd.h"

/* Sums of `size` products are made of sums of SUMMED: the first of n products are off by at most n + 2 roundings of
 * sum |c_j| max |w|, the outer one by another for each part. */
#define SUMMED ((size_t)256)

double pn_ring_error(size_t size)
{
    size_t inner = size < SUMMED ? size : SUMMED, parts = size > SUMMED ? size / SUMMED + 1 : 0;

    return (double)(inner + 2 + parts) * 0x1p-53;
}

/* mixed = sum of the ring's `rows` rows times c, SUMMED at a time. */
static void mix(const pn_prefix_step *step, const double *ring, size_t rows, const double *c, double *mixed)
{
    const pn_simd *simd = pn_simd_best();
    double *part = step->work[1];

    memset(mixed, 0, step->stride * sizeof *mixed);
    if (rows > 0)
        simd->dense_add_transposed(ring, rows < SUMMED ? rows : SUMMED, step->stride, c, mixed);
    for (size_t row = SUMMED; row < rows; row += SUMMED) {
        memset(part, 0, step->stride * sizeof *part);
        simd->dense_add_transposed(ring + row * step->stride, rows - row < SUMMED ? rows - row : SUMMED, step->stride,
                                   c + row, part);
        for (size_t k = 0; k < step->stride; k++)
            mixed[k] += part[k];
    }
}

void pn_ring_push(const pn_prefix_step *step, double length, double *ring, size_t size, const double *c)
{
    const uint64_t before = step->t - 1;
    double *mixed = step->work[0], *last = step->work[1];
    bool far;

    pn_prefix_noise(step, 0, step->t, step->noise);
    far = !pn_prefix_round(step, length, step->whole) && pn_prefix_has_far(step, step->whole);
    mix(step, ring, (size_t)(before < size ? before : size), c, mixed);
    if (size > 0)
        last = ring + (size_t)(before % size) * step->stride;
    for (size_t k = 0; k < step->count; k++) {
        int64_t w = pn_factored_increment(step->noise[k], mixed[k]);

        last[k] = pn_factored_double(w);
        step->prefix[k] += far ? pn_factored_far(step, length, k, w) : (double)pn_wrap_add(step->whole[k], w) * length;
    }
}
