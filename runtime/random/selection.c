/* selection.c -- exact coins with probability exp(-rational), discrete Laplace noise, and two ways to pick a
 * candidate.  Most candidates are turned down by a single word, see "bundles".
 * Every decision compares uniform integers with integers: no rounding anywhere, so each law is the one in the header.
 * Time is not constant: it depends on the gaps between the scores, which are secret.
 * Depends on: selection.h, stream.h.  Used by: privacy/, noise.c (the selection mechanisms). */
#include <math.h>

#include "random/selection.h"
#include "random/stream.h"

/* ---- epsilon ---- */

#define MANTISSA_BITS 20

pn_dyadic pn_dyadic_floor(double x)
{
    const uint32_t largest = (1u << MANTISSA_BITS) - 1;
    pn_dyadic result = { 0, 0 };
    int exponent;

    if (!(x >= 0x1p-40))
        return result;
    if (x >= (double)largest) {
        result.mantissa = largest;
        return result;
    }
    (void)frexp(x, &exponent); /* x < 2^exponent, exponent in [-39, 20] */
    result.exponent = (unsigned)(MANTISSA_BITS - exponent);
    result.mantissa = (uint32_t)ldexp(x, (int)result.exponent);
    return result;
}

double pn_dyadic_value(pn_dyadic x)
{
    return ldexp((double)x.mantissa, -(int)x.exponent);
}

/* ---- coins ---- */

/* Words masked to the length of n, until one is below it. */
pn_u128 pn_below_wide(pn_rng *rng, pn_u128 n)
{
    uint64_t top = (uint64_t)((n - 1) >> 64), mask = top;

    if (top == 0 && (uint64_t)n != 0)
        return pn_rng_below(rng, (uint64_t)n);
    for (unsigned shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    for (;;) {
        uint64_t high = mask ? pn_stream_word(rng) & mask : 0;
        pn_u128 value;

        if (high > top)
            continue;
        value = (pn_u128)high << 64 | pn_stream_word(rng);
        if (value < n)
            return value;
    }
}

/* 7 * 20!/k! for k = 2 .. 20: a word below 7 * 20! is below entry k with probability 1/k!. */
#define WORD_LIMIT UINT64_C(17030314057236480000)
static const uint64_t inverse_factorial[] = {
    UINT64_C(8515157028618240000),
    UINT64_C(2838385676206080000),
    UINT64_C(709596419051520000),
    UINT64_C(141919283810304000),
    UINT64_C(23653213968384000),
    UINT64_C(3379030566912000),
    UINT64_C(422378820864000),
    UINT64_C(46930980096000),
    UINT64_C(4693098009600),
    UINT64_C(426645273600),
    UINT64_C(35553772800),
    UINT64_C(2734905600),
    UINT64_C(195350400),
    UINT64_C(13023360),
    UINT64_C(813960),
    UINT64_C(47880),
    UINT64_C(2660),
    UINT64_C(140),
    UINT64_C(7),
};
#define FACTORIALS (sizeof inverse_factorial / sizeof inverse_factorial[0])

/* Uniform in [0, 7 * 20!). */
static uint64_t factorial_word(pn_rng *rng)
{
    uint64_t word;

    do
        word = pn_stream_word(rng);
    while (word >= WORD_LIMIT);
    return word;
}

/* k in 2, 3, ... is the first whose coin 1/k failed, `passed` of the table's having been tossed. */
static bool first_failure_is_odd(pn_rng *rng, size_t passed)
{
    uint64_t k = passed + 2;

    if (passed == FACTORIALS) {
        while (pn_rng_below(rng, k) == 0)
            k++;
    }
    return k % 2 == 1;
}

/* The coin below for g = 1, where the continuing events are nested: {word < 7 * 20!/2!}, {word < 7 * 20!/3!}, ...  So
 * one word decides all of them up to 1/20!. */
static bool coin_exp_one(pn_rng *rng)
{
    uint64_t word = factorial_word(rng);
    size_t passed = 0;

    while (passed < FACTORIALS && word < inverse_factorial[passed])
        passed++;
    return first_failure_is_odd(rng, passed);
}

/* The same coin when the first 8 bits of the uniform number are known: (byte + rest) / 256 < 1/k! is tested as
 * rest < 256/k! - byte, and only 1 byte in 64 leaves that to the rest. */
static bool coin_exp_one_from(pn_rng *rng, unsigned byte)
{
    const pn_u128 base = (pn_u128)byte * WORD_LIMIT;
    uint64_t rest = 0;
    bool drawn = false;
    size_t passed = 0;

    for (; passed < FACTORIALS; passed++) {
        pn_u128 edge = (pn_u128)inverse_factorial[passed] << 8;

        if (edge <= base)
            break;
        if (edge - base < WORD_LIMIT) {
            rest = drawn ? rest : factorial_word(rng);
            drawn = true;
            if (rest >= (uint64_t)(edge - base))
                break;
        }
    }
    return first_failure_is_odd(rng, passed);
}

/* exp(-g) = sum (-g)^k/k! for g = num/den <= 1: toss coins of probability g/k, k = 1, 2, ..., until one fails; true
 * when that k is odd (von Neumann).  A coin g/k is a coin g and a coin 1/k, which keeps den from growing with k. */
static bool coin_exp_fraction(pn_rng *rng, pn_u128 num, pn_u128 den)
{
    uint64_t k = 1;

    while (pn_below_wide(rng, den) < num && (k == 1 || pn_rng_below(rng, k) == 0))
        k++;
    return k % 2 == 1;
}

/* exp(-g) = exp(-1)^floor(g) exp(-frac(g)).  The loop ends after 1.6 coins on average, however large g is. */
bool pn_bernoulli_exp(pn_rng *rng, pn_u128 num, pn_u128 den)
{
    for (; num >= den; num -= den) {
        if (!coin_exp_one(rng))
            return false;
    }
    return num == 0 || coin_exp_fraction(rng, num, den);
}

/* ---- discrete Laplace ----
 * K >= 0 has |K| = floor((U + den V) / num), V geometric with ratio exp(-1), U in [0,
 * den) with P(U = u) proportional to
 * exp(-u/den).  K <= -1 has -1 - K of the same law, and exp(-num/den) times the chance. */

static bool laplace_is_negative(pn_rng *rng, uint64_t num, pn_u128 den)
{
    while (pn_stream_word(rng) >> 63) {
        if (pn_bernoulli_exp(rng, num, den))
            return true;
    }
    return false;
}

static pn_u128 laplace_fraction(pn_rng *rng, pn_u128 den)
{
    pn_u128 u;

    do
        u = pn_below_wide(rng, den);
    while (!coin_exp_fraction(rng, u, den));
    return u;
}

/* den V.  Saturates at 2^126, which takes more than 2^126/den successes of exp(-1) in a row. */
static pn_u128 laplace_whole(pn_rng *rng, pn_u128 den)
{
    const pn_u128 limit = (pn_u128)1 << 126;
    pn_u128 x = 0;

    while (coin_exp_one(rng))
        x = x < limit - den ? x + den : limit;
    return x;
}

__extension__ typedef __int128 wide;

static wide laplace_wide(pn_rng *rng, uint64_t num, pn_u128 den)
{
    bool negative = laplace_is_negative(rng, num, den);
    pn_u128 whole = laplace_whole(rng, den); /* drawn in this order by every compiler */
    wide magnitude = (wide)((whole + laplace_fraction(rng, den)) / num);

    return negative ? -1 - magnitude : magnitude;
}

int64_t pn_discrete_laplace(pn_rng *rng, uint64_t num, pn_u128 den)
{
    const wide limit = (wide)1 << 62;
    wide k = laplace_wide(rng, num, den);

    return (int64_t)(k > limit ? limit : k < -limit ? -limit : k);
}

/* ---- selection ---- */

pn_rate pn_rate_of(pn_dyadic epsilon, uint64_t shift)
{
    pn_rate r = { epsilon.mantissa, (pn_u128)shift << (epsilon.exponent + 1) };

    while (r.num != 0 && r.num % 2 == 0 && r.den % 2 == 0) {
        r.num /= 2;
        r.den /= 2;
    }
    return r;
}

static int64_t largest(const int64_t *scores, size_t count)
{
    int64_t best = scores[0];

    for (size_t i = 1; i < count; i++)
        best = scores[i] > best ? scores[i] : best;
    return best;
}

/* ---- bundles ----
 * exp(-g) with g >= q needs q coins exp(-1) to come up, and it takes only one that does not to be done.  A word holds
 * the first bytes of several such coins, tossed at once whether needed or not; above them are an index or a sign.
 * A byte from 128 on has failed (k = 2), as it has in 11 .. 41 (k = 4) and at 1 (k = 6); 42, 10,
 * 2 and 0 do not tell. */

#define INDEXED_COINS 4 /* below 32 bits of an index */
#define SIGNED_COINS  7 /* below a sign */
#ifndef NEXT_BUNDLE     /* a test that enumerates the draws has its own */
#define NEXT_BUNDLE pn_stream_word
#endif

static inline unsigned bundle_byte(uint64_t bundle, unsigned i)
{
    return (unsigned)(bundle >> (8 * i)) & 255;
}

/* True when one of the first `needed` <= 7 coins is seen to fail, being 128 or more, or 11 .. 41: the upper bits of the
 * bytes after additions that cannot carry. */
static inline bool bundle_fails(uint64_t bundle, unsigned needed)
{
    const uint64_t every = UINT64_C(0x0101010101010101), lower = bundle & (0x7f * every);
    uint64_t from_11 = lower + (128 - 11) * every, from_42 = lower + (128 - 42) * every;

    return ((bundle | (from_11 & ~from_42)) & (0x80 * every) & (((uint64_t)1 << (8 * needed)) - 1)) != 0;
}

/* How many coins g = units * num/den needs at least, up to `most`. */
static inline unsigned coins_needed(double units, double per_unit, unsigned most)
{
    double g = units * per_unit;

    return g < most ? (unsigned)g : most;
}

/* num/den in a double, low enough that no rounding makes a product too large. */
static double rate_below(pn_rate r)
{
    return (double)r.num / (double)r.den * (1.0 - 0x1p-48);
}

/* pn_bernoulli_exp, from a bundle. */
static bool bernoulli_exp_from(pn_rng *rng, uint64_t bundle, pn_u128 num, pn_u128 den)
{
    for (unsigned i = 0; i < INDEXED_COINS && num >= den; i++, num -= den) {
        if (!coin_exp_one_from(rng, bundle_byte(bundle, i)))
            return false;
    }
    return pn_bernoulli_exp(rng, num, den);
}

/* Uniform in [0, n), and a new bundle, from one word when n fits the upper half. */
static inline size_t bundle_index(pn_rng *rng, size_t n, uint64_t *bundle)
{
    uint64_t product;

    if (n > UINT32_MAX) {
        *bundle = NEXT_BUNDLE(rng);
        return (size_t)pn_rng_below(rng, n);
    }
    do {
        *bundle = NEXT_BUNDLE(rng);
        product = (*bundle >> 32) * n;
    } while ((uint32_t)product < n && (uint32_t)product < (uint32_t)(((uint64_t)1 << 32) % n));
    return (size_t)(product >> 32);
}

static inline bool accept(pn_rng *rng, uint64_t bundle, uint64_t gap, pn_rate r, double per_unit)
{
    if (bundle_fails(bundle, coins_needed((double)gap, per_unit, INDEXED_COINS)))
        return false;
    return bernoulli_exp_from(rng, bundle, (pn_u128)gap * r.num, r.den);
}

/* ---- two laws ---- */

size_t pn_select_exponential(pn_rng *rng, const int64_t *scores, size_t count, pn_dyadic epsilon, uint64_t shift)
{
    const pn_rate r = pn_rate_of(epsilon, shift);
    const double per_unit = rate_below(r);
    const int64_t best = largest(scores, count);
    uint64_t bundle;
    size_t i;

    do
        i = bundle_index(rng, count, &bundle);
    while (!accept(rng, bundle, (uint64_t)(best - scores[i]), r, per_unit));
    return i;
}

/* The bits of a word below its sign are the first of the uniform number that the sign's coin begins with. */
#define SIGN_BITS 63

/* ceil(2^63 num/den): from it on, the coin exp(-num/den) has come up.  num < 2^20. */
static uint64_t sign_edge(pn_rate r)
{
    return r.num < r.den ? (uint64_t)((((pn_u128)r.num << SIGN_BITS) + r.den - 1) / r.den) : (uint64_t)1 << SIGN_BITS;
}

/* The coin exp(-num/den), num < den, given the first 63 bits of its first coin num/den, which came below sign_edge. */
static bool sign_coin_from(pn_rng *rng, uint64_t first, pn_rate r)
{
    pn_u128 rest =
        ((pn_u128)r.num << SIGN_BITS) - (pn_u128)first * r.den; /* of den: the part of this cell below num/den */
    uint64_t k = 1;

    if (pn_below_wide(rng, r.den) >= rest)
        return true;
    for (k = 2; pn_below_wide(rng, r.den) < r.num && pn_rng_below(rng, k) == 0; k++) {
    }
    return k % 2 == 1;
}

/* Also leaves a bundle whose coins are new. */
static bool sign_from(pn_rng *rng, uint64_t *bundle, pn_rate r)
{
    while (*bundle >> SIGN_BITS) {
        uint64_t first = *bundle & (((uint64_t)1 << SIGN_BITS) - 1);
        bool up = r.num < r.den ? first >= sign_edge(r) || sign_coin_from(rng, first, r)
                                : pn_bernoulli_exp(rng, r.num, r.den);

        *bundle = NEXT_BUNDLE(rng);
        if (up)
            return true;
    }
    return false;
}

/* laplace_whole, from a bundle. */
static pn_u128 whole_from(pn_rng *rng, uint64_t bundle, pn_u128 den)
{
    pn_u128 x = 0;

    for (unsigned i = 0; i < SIGNED_COINS; i++, x += den) {
        if (!coin_exp_one_from(rng, bundle_byte(bundle, i)))
            return x;
    }
    return x + laplace_whole(rng, den);
}

/* score + K when that is above `best`, else anything that is not: the sign and the whole part of the noise, drawn
 * first, mostly show that a candidate cannot win, and its other draws are left out. */
static wide noisy_score(pn_rng *rng, uint64_t bundle, int64_t score, wide best, pn_rate r)
{
    const wide far = (wide)1 << 100;
    wide ahead = best - score, magnitude;
    bool negative = sign_from(rng, &bundle, r);
    pn_u128 x;

    if (negative && ahead >= -1)
        return best;
    x = whole_from(rng, bundle, r.den);
    if (ahead >= 0 && ahead < far && x + r.den <= (pn_u128)(ahead + 1) * r.num)
        return best;
    magnitude = (wide)((x + laplace_fraction(rng, r.den)) / r.num);
    return score + (negative ? -1 - magnitude : magnitude);
}

/* A word that shows noise of at most `ahead`: negative for certain, or with a coin that fails too soon. */
static inline bool stays_behind(uint64_t bundle, int64_t ahead, double per_unit, uint64_t edge)
{
    uint64_t negative = bundle >> SIGN_BITS, first = bundle & (((uint64_t)1 << SIGN_BITS) - 1);
    unsigned needed = ahead < 0 ? 0 : coins_needed((double)ahead + 1.0, per_unit, SIGNED_COINS);

    return (ahead >= -1) & ((negative & (first >= edge)) | (!negative & bundle_fails(bundle, needed)));
}

/* A bound from below is enough for `ahead`. */
static int64_t narrow(wide best)
{
    const wide limit = (wide)1 << 61;

    return (int64_t)(best > limit ? limit : best < -limit ? -limit : best);
}

static size_t first_largest(const int64_t *scores, size_t count)
{
    const int64_t best = largest(scores, count);
    size_t i = 0;

    while (scores[i] != best)
        i++;
    return i;
}

/* The largest score draws its noise first: after it most others are seen to stay behind.  Who comes before the winner
 * wins a tie, so the bar is one lower there. */
size_t pn_select_laplace(pn_rng *rng, const int64_t *scores, size_t count, pn_dyadic epsilon, uint64_t shift)
{
    const pn_rate r = pn_rate_of(epsilon, shift);
    const double per_unit = rate_below(r);
    const uint64_t edge = sign_edge(r);
    const size_t first = first_largest(scores, count);
    size_t winner = first;
    int64_t near_best;
    wide best;

    if (r.num == 0) /* noise without bound: every candidate alike */
        return (size_t)pn_rng_below(rng, count);
    best = scores[first] + laplace_wide(rng, r.num, r.den);
    near_best = narrow(best);
    for (size_t i = 0; i < count; i++) {
        const int64_t lower = i < winner;
        uint64_t bundle = NEXT_BUNDLE(rng);
        wide noisy;

        if (stays_behind(bundle, near_best - lower - scores[i], per_unit, edge) || i == first)
            continue;
        noisy = noisy_score(rng, bundle, scores[i], best - lower, r);
        if (noisy > best - lower) {
            best = noisy;
            near_best = narrow(best);
            winner = i;
        }
    }
    return winner;
}
