/* noise.c -- discrete Gaussian integers: the fast sampler at S = 2^40, and the exact ones of Canonne, Kamath, Steinke.
 * Depends on: noise.h, noise_sampler.h, selection.h (exact coins).  Used by: noise_lattice.c, privacy/. */
#include "random/noise.h"
#include "random/noise_sampler.h"

static const sampler_shape full = {
    .scale_bits = PN_LATTICE_BITS,
    .bin_bits = 34,
    .slot_bits = 13,
    .y_bits = 16,
    .body = PN_NOISE_BODY,
    .bins = PN_NOISE_BINS,
    .slots = pn_noise_slots,
    .low = pn_noise_low,
    .high = pn_noise_high,
    .peaks = pn_noise_peaks,
    .tail_ends = pn_noise_tail_ends,
};

void pn_noise_gaussian(pn_rng *rng, size_t n, int64_t *out)
{
    pn_stream_enter(rng);
    sampler_fill(rng, &full, n, out);
}

/* ---- exact ----
 * A Laplace integer Y of scale t, kept with probability exp(-(|Y| - sigma^2/t)^2 / (2 sigma^2)). */

static uint64_t magnitude(int64_t k)
{
    return k < 0 ? 0 - (uint64_t)k : (uint64_t)k;
}

/* t = sigma = S: the exponent is (|Y| - S)^2 / (2 S^2), and |Y| < 2^62 squared fits 128 bits. */
static int64_t exact_one(pn_rng *rng)
{
    const uint64_t scale = (uint64_t)1 << PN_LATTICE_BITS;

    for (;;) {
        int64_t y = pn_discrete_laplace(rng, 1, scale);
        uint64_t size = magnitude(y), gap = size > scale ? size - scale : scale - size;

        if (size >> 62 == 0 && pn_bernoulli_exp(rng, (pn_u128)gap * gap, (pn_u128)1 << (2 * PN_LATTICE_BITS + 1)))
            return y;
    }
}

void pn_noise_gaussian_exact(pn_rng *rng, size_t n, int64_t *out)
{
    pn_stream_enter(rng);
    for (size_t i = 0; i < n; i++)
        out[i] = exact_one(rng);
}

static uint64_t floor_root(uint64_t x) /* x < 2^31 */
{
    uint64_t root = (uint64_t)sqrt((double)x);

    while (root * root > x)
        root--;
    while ((root + 1) * (root + 1) <= x)
        root++;
    return root;
}

/* t = floor(sigma) + 1.  The exponent over common denominators is (|Y| t den - num)^2 / (2 num den t^2); t^2 den <
 * 2^34, so numbers up to 2^29 t square into 127 bits.  A larger one has 2^29 scales, which no stream shows. */
int64_t pn_discrete_gaussian(pn_rng *rng, uint32_t num, uint32_t den)
{
    const uint64_t t = floor_root(num / den) + 1;
    const pn_u128 twice_variance = (pn_u128)num * den * (2 * t * t);

    for (;;) {
        int64_t y = pn_discrete_laplace(rng, 1, t);
        pn_u128 size = (pn_u128)magnitude(y) * (t * den), gap = size > num ? size - num : num - size;

        if (magnitude(y) >> 29 < t && pn_bernoulli_exp(rng, gap * gap, twice_variance))
            return y;
    }
}
