/* noise_sampler.h -- dyadic-histogram rejection for P(k) proportional to exp(-k^2 / (2 S^2)), in any size.
 * One word of a stream is one attempt.  From its upper end: a slot, which names a bin; a sign; an offset in the bin;
 * the first bits of the uniform number that accepts or rejects.  Bin i owns a whole number of slots, no fewer than its
 * largest value asks for, so any rounding in the table costs attempts and never moves the law.
 * Depends on: noise_exp.h.  Used by: noise.c, and a tiny copy in the tests.  See noise.md section 5. */
#ifndef PN_RANDOM_NOISE_SAMPLER_H
#define PN_RANDOM_NOISE_SAMPLER_H

#include "random/noise_exp.h"

typedef struct sampler_shape {
    unsigned scale_bits, bin_bits, slot_bits,
        y_bits;               /* S = 2^scale_bits; the word is 1 bit longer than the last three */
    size_t body, bins;        /* bins of the body, and with those of the tail */
    const uint8_t *slots;     /* [2^slot_bits] slot -> bin; the last slot is the tail's */
    const uint16_t *low;      /* [body] first bits below it accept */
    const uint32_t *high;     /* [body] first bits from it on reject */
    const pn_wide *peaks;     /* [bins] acceptance at the inner edge of the bin */
    const pn_wide *tail_ends; /* [bins - body] cumulative chances of the tail's bins */
} sampler_shape;

typedef struct sampler_word {
    size_t slot;
    bool negative;
    uint64_t offset, y;
} sampler_word;

static inline sampler_word sampler_split(const sampler_shape *shape, uint64_t word)
{
    const unsigned sign_bit = shape->y_bits + shape->bin_bits;
    sampler_word parts = { (size_t)(word >> (sign_bit + 1)) & (((size_t)1 << shape->slot_bits) - 1),
                           (word >> sign_bit & 1) != 0, word >> shape->y_bits & (((uint64_t)1 << shape->bin_bits) - 1),
                           word & (((uint64_t)1 << shape->y_bits) - 1) };

    return parts;
}

static inline int64_t sampler_number(const sampler_shape *shape, sampler_word parts, size_t bin)
{
    return pn_with_sign((int64_t)((uint64_t)bin << shape->bin_bits | parts.offset), parts.negative);
}

/* (k^2 - k0^2) / (2 S^2) in units of 2^-128, k0 the inner edge of the bin. */
static inline pn_u128 sampler_exponent(const sampler_shape *shape, size_t bin, uint64_t offset)
{
    pn_u128 twice_edge = (pn_u128)bin << (shape->bin_bits + 1);

    return offset * (twice_edge + offset) << (127 - 2 * shape->scale_bits);
}

/* The bin of the tail that 128 new bits fall into; `bins` when none. */
static inline size_t sampler_tail_bin(pn_rng *rng, const sampler_shape *shape)
{
    pn_u128 place = (pn_u128)pn_stream_extra(rng) << 64;
    size_t low = 0, high = shape->bins - shape->body; /* the answer is in low .. high */

    place |= pn_stream_extra(rng);
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (place < pn_wide_value(shape->tail_ends[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return shape->body + low;
}

/* What the first bits do not decide: true and *k, or a rejected word.  Draws from the second stream only. */
static inline bool sampler_resolve(pn_rng *rng, const sampler_shape *shape, uint64_t word, int64_t *k)
{
    const sampler_word parts = sampler_split(shape, word);
    const bool tail = parts.slot + 1 == (size_t)1 << shape->slot_bits;
    size_t bin = shape->slots[parts.slot];

    if (!tail && parts.y >= shape->high[bin])
        return false;
    if (tail)
        bin = sampler_tail_bin(rng, shape);
    *k = bin < shape->bins ? sampler_number(shape, parts, bin) : 0;
    if (bin == shape->bins || (*k == 0 && parts.negative)) /* zero has no second sign */
        return false;
    return pn_below_exp(rng, parts.y, shape->y_bits, pn_wide_value(shape->peaks[bin]),
                        sampler_exponent(shape, bin, parts.offset));
}

/* Words become numbers in the order of the stream, each resolved before the next is looked at: a number that waited for
 * its extra bits while others took its place would carry its magnitude in its position. */
static inline void sampler_fill(pn_rng *rng, const sampler_shape *shape, size_t n, int64_t *out)
{
    size_t done = 0, count;

    while (done < n) {
        const unsigned char *words = pn_stream_words(rng, n - done, &count);

        for (size_t i = 0; i < count; i++) {
            uint64_t word = pn_load_word(words + 8 * i);
            sampler_word parts = sampler_split(shape, word);
            size_t bin = shape->slots[parts.slot];

            uint64_t low = shape->low[bin];
            bool near = parts.y - low < shape->high[bin] - low; /* unsigned: not below low */

            /* the tail's slot is marked as the last bin */
            if (near || bin + 1 == shape->body || (parts.offset == 0 && parts.negative)) {
                done += sampler_resolve(rng, shape, word, &out[done]);
            } else { /* kept or not: a branch would be mispredicted at every rejected word */
                out[done] = sampler_number(shape, parts, bin);
                done += parts.y < low;
            }
        }
    }
}

#endif
