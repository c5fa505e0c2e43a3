/* normals.c -- many standard normal numbers at a time: Box and Muller's transform by the vector functions.
 * Depends on: rng.h, numeric/simd/simd.h.  Used by: geometry (widths). */
#include "numeric/simd/simd.h"
#include "random/stream.h"

#define PAIRS 1024 /* a time: what is at work stays in the cache */

static const double two_pi = 6.283185307179586476925286766559;

/* radius sqrt(-2 ln u), u in (0, 1]; angle 2 pi v, v in [0, 1), both with 53 bits */
static void draw_pairs(pn_rng *rng, size_t pairs, double *radius, double *angle)
{
    unsigned char bytes[16 * PAIRS];

    pn_rng_bytes(rng, bytes, 16 * pairs);
    for (size_t i = 0; i < pairs; i++) {
        radius[i] = (double)((int64_t)(pn_load_word(bytes + 8 * i) >> 11) + 1) * 0x1p-53;
        angle[i] = (double)(int64_t)(pn_load_word(bytes + 8 * (pairs + i)) >> 11) * (two_pi * 0x1p-53);
    }
}

void pn_rng_many_normals(pn_rng *rng, size_t n, double *out)
{
    const pn_simd *simd = pn_simd_best();
    double radius[PAIRS], angle[PAIRS], other[PAIRS];

    for (size_t begin = 0; begin < n; begin += 2 * PAIRS) {
        size_t count = n - begin < 2 * PAIRS ? n - begin : 2 * PAIRS, pairs = (count + 1) / 2;

        draw_pairs(rng, pairs, radius, angle);
        simd->log(pairs, radius, radius);
        for (size_t i = 0; i < pairs; i++)
            radius[i] *= -2.0;
        simd->sqrt(pairs, radius, radius);
        simd->cos(pairs, angle, other);
        simd->multiply(pairs, radius, 1, other, 1, out + begin);
        simd->sin(pairs, angle, other);
        simd->multiply(count - pairs, radius, 1, other, 1, out + begin + pairs);
    }
}
