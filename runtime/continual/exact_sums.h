/* exact_sums.h -- vectors of exact sums of lattice integers, 128 bits each, that cost 64 bits while they are small,
 * which nearly all are.  `low` alone is the sums as long as high[0] is 0; then each is below 2^61, so that two add up
 * without overflow and a loop need look only once for all whether they have grown.  Otherwise a sum is upper 2^64 + low
 * (low with its sign), and high holds upper with its first bit turned, which is never 0.  All zero bytes are sums of
 * zero.  Sums of honest streams stay far below 128 bits.  Those of a file that somebody forged may be anything,
 * so additions wrap around.
 * Private to continual/.  Depends on: nothing.  Used by: prefix_impl.h, binary_push.c. */
#ifndef PN_CONTINUAL_EXACT_SUMS_H
#define PN_CONTINUAL_EXACT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* T leaves of up to 2^124 / T steps, and room for noise. */
__extension__ typedef __int128 pn_prefix_wide;
__extension__ typedef unsigned __int128 pn_prefix_wide_bits;

typedef struct pn_exact_sums {
    int64_t *low, *high;
} pn_exact_sums;

#define PN_SUMS_MARK INT64_MIN

/* a + b and a - b modulo 2^64 and 2^128. */
static inline int64_t pn_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t pn_wrap_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline pn_prefix_wide pn_wrap_add_wide(pn_prefix_wide a, pn_prefix_wide b)
{
    return (pn_prefix_wide)((pn_prefix_wide_bits)a + (pn_prefix_wide_bits)b);
}

static inline bool pn_sums_far(pn_exact_sums sums)
{
    return sums.high[0] != 0;
}

/* Or'ed together over numbers below 2^63: pn_sums_beyond says whether one is not in [-2^61, 2^61). */
static inline uint64_t pn_sums_seen(int64_t x)
{
    return (uint64_t)x + ((uint64_t)1 << 61);
}

static inline bool pn_sums_beyond(uint64_t seen)
{
    return seen >> 62 != 0;
}

/* What is small becomes far, and stays what it is. */
static inline void pn_sums_mark(pn_exact_sums sums, size_t count)
{
    for (size_t j = 0; j < count; j++)
        sums.high[j] = PN_SUMS_MARK;
}

/* low[count] was computed in 64 bits; `seen` of all of them. */
static inline void pn_sums_end(pn_exact_sums sums, size_t count, uint64_t seen)
{
    sums.high[0] = 0;
    if (pn_sums_beyond(seen))
        pn_sums_mark(sums, count);
}

static inline pn_prefix_wide pn_sums_at(pn_exact_sums sums, size_t j)
{
    pn_prefix_wide upper = pn_sums_far(sums) ? sums.high[j] ^ PN_SUMS_MARK : 0;

    return pn_wrap_add_wide(upper * ((pn_prefix_wide)1 << 64), sums.low[j]);
}

/* Of sums that are far. */
static inline void pn_sums_set(pn_exact_sums sums, size_t j, pn_prefix_wide value)
{
    int64_t low = (int64_t)(uint64_t)(pn_prefix_wide_bits)value;

    sums.low[j] = low;
    sums.high[j] = (int64_t)(pn_wrap_add_wide(value, -(pn_prefix_wide)low) >> 64) ^ PN_SUMS_MARK;
}

/* sums += whole, |whole| <= 2^62. */
static inline void pn_sums_add_whole(pn_exact_sums sums, const int64_t *restrict whole, size_t count)
{
    int64_t *restrict low = sums.low;
    uint64_t seen = 0;

    if (pn_sums_far(sums)) {
        for (size_t j = 0; j < count; j++)
            pn_sums_set(sums, j, pn_wrap_add_wide(pn_sums_at(sums, j), whole[j]));
        return;
    }
    for (size_t j = 0; j < count; j++) {
        low[j] = pn_wrap_add(low[j], whole[j]);
        seen |= pn_sums_seen(low[j]);
    }
    pn_sums_end(sums, count, seen);
}

/* sums += more, of other memory. */
static inline void pn_sums_add(pn_exact_sums sums, pn_exact_sums more, size_t count)
{
    if (!pn_sums_far(more)) {
        pn_sums_add_whole(sums, more.low, count);
        return;
    }
    if (!pn_sums_far(sums))
        pn_sums_mark(sums, count);
    for (size_t j = 0; j < count; j++)
        pn_sums_set(sums, j, pn_wrap_add_wide(pn_sums_at(sums, j), pn_sums_at(more, j)));
}

/* Conversions of 128 bits are calls; nearly all sums need 64. */
static inline double pn_sums_double(pn_prefix_wide x)
{
    return x == (int64_t)x ? (double)(int64_t)x : (double)x;
}

#endif
