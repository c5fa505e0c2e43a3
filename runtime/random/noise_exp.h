/* noise_exp.h -- the one comparison of the noise samplers: is a uniform Y below peak exp(-x)?  Y is drawn as far as the
 * answer needs: the double decides unless it is closer than 2^-44, and then 128 bits do.
 * exp is computed in integers, so the answer does not depend on a platform's arithmetic.
 * Depends on: stream.h, noise_table.h, selection.h (pn_u128).  Used by: noise*.c. */
#ifndef PN_RANDOM_NOISE_EXP_H
#define PN_RANDOM_NOISE_EXP_H

#include <math.h>
#include <stdbool.h>

#include "random/tables/noise_table.h"
#include "random/selection.h"
#include "random/stream.h"

#define PN_WIDE_ONE (~(pn_u128)0) /* 1 - 2^-128 */

static inline pn_u128 pn_wide_value(pn_wide x)
{
    return (pn_u128)x.high << 64 | x.low;
}

/** The upper half of a b. */
static inline pn_u128 pn_wide_times(pn_u128 a, pn_u128 b)
{
    pn_u128 a1 = a >> 64, a0 = (uint64_t)a, b1 = b >> 64, b0 = (uint64_t)b;
    pn_u128 middle = a1 * b0 + (a0 * b0 >> 64), cross = a0 * b1 + (uint64_t)middle;

    return a1 * b1 + (middle >> 64) + (cross >> 64);
}

/** 2^128 exp(-x / 2^128), below 2^128, with an absolute error of at most 8. */
pn_u128 pn_wide_exp(pn_u128 x);

/** True with probability peak exp(-x), peak and x in units of 2^-128: the fraction of Y below it, given the first
 *  y_bits of Y, 1 <= y_bits <= 16.  For probabilities above 2^-9 the log of the probability is wrong by less than
 *  2^-100 (error below 2^-122, table and comparison included, over the probability). */
static inline bool pn_below_exp(pn_rng *rng, uint64_t y, unsigned y_bits, pn_u128 peak, pn_u128 x)
{
    uint64_t first = y << (64 - y_bits) | pn_stream_extra(rng) >> y_bits;
    double probability = (double)(uint64_t)(peak >> 64) * 0x1p-64 * exp(-((double)(uint64_t)(x >> 64) * 0x1p-64));
    double distance = (double)first * 0x1p-64 - probability;

    if (fabs(distance) > 0x1p-44)
        return distance < 0.0;
    return ((pn_u128)first << 64 | pn_stream_extra(rng)) < pn_wide_times(peak, pn_wide_exp(x));
}

#endif
