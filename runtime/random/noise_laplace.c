/* noise_laplace.c -- discrete Laplace integers of scale w 2^40.
 * |K| = w 2^40 G + U: G geometric with P(G >= g) = exp(-g), and U below w 2^40 kept with probability
 * exp(-U / (w 2^40)).  From the upper end of a word: 40 bits of U, a sign, the first 11 bits of the uniform number
 * behind G, and the first 12 of the one that keeps U.  Where these do not decide,
 * more bits come from the second stream.
 * Depends on: noise.h, noise_exp.h.  Used by: noise_lattice.c, privacy/.  See noise.md section 6. */
#include "random/noise.h"
#include "random/noise_exp.h"

#define KEEP_BITS   12
#define WHOLE_BITS  11
#define POWERS      8   /* exp(-1) ... exp(-8) are in the table */
#define UNDECIDED   255 /* pn_noise_laplace_whole: the 11 bits do not tell G */
#define WHOLE_LIMIT ((uint64_t)1 << 22)
#define CAP         ((pn_u128)1 << 62)

typedef struct laplace_word {
    uint64_t offset, prefix, keep;
    bool negative;
} laplace_word;

static inline laplace_word split(uint64_t word)
{
    laplace_word parts = { word >> 24, word >> KEEP_BITS & ((1u << WHOLE_BITS) - 1), word & ((1u << KEEP_BITS) - 1),
                           (word >> 23 & 1) != 0 };

    return parts;
}

/* How many of the powers are above 128 bits of a uniform number, `y` being its first `bits`. */
static uint64_t powers_above(pn_rng *rng, uint64_t y, unsigned bits)
{
    pn_u128 place = (pn_u128)pn_stream_extra(rng) << 64;
    uint64_t count = 0;

    place |= pn_stream_extra(rng);
    if (bits > 0)
        place = (pn_u128)y << (128 - bits) | place >> bits;
    while (count < POWERS && place < pn_wide_value(pn_noise_laplace_powers[count]))
        count++;
    return count;
}

/* G, given its first bits.  Past the powers it starts again: a geometric number has no memory. */
static uint64_t whole_part(pn_rng *rng, uint64_t prefix)
{
    uint64_t whole = pn_noise_laplace_whole[prefix], more;

    if (whole != UNDECIDED)
        return whole;
    whole = more = powers_above(rng, prefix, WHOLE_BITS);
    while (more == POWERS && whole < WHOLE_LIMIT) {
        more = powers_above(rng, 0, 0);
        whole += more;
    }
    return whole;
}

/* U / (w 2^40) in units of 2^-128, U = 2^40 block + offset; short by less than 3 of them. */
static pn_u128 exponent_of(uint64_t block, uint64_t offset, uint32_t w)
{
    pn_u128 first = ((pn_u128)block << 64) / w, rest = ((pn_u128)block << 64) % w;

    return (first << 64 | (rest << 64) / w) + ((pn_u128)offset << 88) / w;
}

/* Any word, slowly: true and *k, or a rejected word. */
static bool resolve(pn_rng *rng, uint64_t word, uint64_t block, uint32_t w, int64_t *k)
{
    const laplace_word parts = split(word);
    const uint64_t fraction = block << PN_LATTICE_BITS | parts.offset;
    uint64_t whole = whole_part(rng, parts.prefix);
    pn_u128 size = (((pn_u128)w << PN_LATTICE_BITS) * whole) + fraction;

    if (size == 0 && parts.negative) /* zero has no second sign */
        return false;
    if (!pn_below_exp(rng, parts.keep, KEEP_BITS, PN_WIDE_ONE, exponent_of(block, parts.offset, w)))
        return false;
    size = size < CAP ? size : CAP;
    *k = parts.negative ? -(int64_t)size : (int64_t)size;
    return true;
}

/* w = 1.  Two words in five are rejected, so a branch there would be mispredicted: the number is stored,
 * and kept or not. */
static size_t fill_narrow(pn_rng *rng, const unsigned char *words, size_t count, int64_t *out)
{
    size_t done = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t word = pn_load_word(words + 8 * i);
        laplace_word parts = split(word);
        uint64_t whole = pn_noise_laplace_whole[parts.prefix], low = pn_noise_laplace_low[parts.offset >> 32];
        bool near = parts.keep - low < pn_noise_laplace_high[parts.offset >> 32] - low; /* unsigned: not below low */
        int64_t size = (int64_t)(whole << PN_LATTICE_BITS | parts.offset);

        if (near || whole == UNDECIDED || (parts.offset == 0 && parts.negative)) {
            done += resolve(rng, word, 0, 1, &out[done]);
        } else {
            out[done] = pn_with_sign(size, parts.negative);
            done += parts.keep < low;
        }
    }
    return done;
}

static int64_t wide_one(pn_rng *rng, uint32_t w)
{
    int64_t k;

    for (;;) {
        uint64_t block = pn_rng_below(rng, w);

        if (resolve(rng, pn_stream_word(rng), block, w, &k))
            return k;
    }
}

void pn_noise_laplace(pn_rng *rng, uint32_t w, size_t n, int64_t *out)
{
    size_t done = 0, count;

    pn_stream_enter(rng);
    while (w == 1 && done < n) {
        const unsigned char *words = pn_stream_words(rng, n - done, &count);

        done += fill_narrow(rng, words, count, out + done);
    }
    for (; done < n; done++)
        out[done] = wide_one(rng, w);
}
