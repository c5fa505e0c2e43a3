/* selection.c -- exact coins with probability exp(-rational), discrete Laplace noise, and three ways to pick a candidate.
 * Every decision compares uniform integers with integers: no rounding anywhere, so each law is the one in the header.
 * Time is not constant: it depends on the gaps between the scores, which are secret.
 * Depends on: selection.h.  Used by: privacy/ (the selection mechanisms). */
#include <math.h>

#include "random/selection.h"

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

/* Uniform in [0, n), n >= 1: words masked to the length of n, until one is below it. */
static pn_u128 below_wide(pn_rng *rng, pn_u128 n)
{
    uint64_t top = (uint64_t)((n - 1) >> 64), mask = top;

    if (top == 0 && (uint64_t)n != 0)
        return pn_rng_below(rng, (uint64_t)n);
    for (unsigned shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    for (;;) {
        uint64_t high = mask ? pn_rng_u64(rng) & mask : 0;
        pn_u128 value;

        if (high > top)
            continue;
        value = (pn_u128)high << 64 | pn_rng_u64(rng);
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

/* The coin below for g = 1, where the continuing events are nested: {word < 7 * 20!/2!}, {word < 7 * 20!/3!}, ...  So one
 * word decides all of them up to 1/20!. */
static bool coin_exp_one(pn_rng *rng)
{
    size_t passed = 0;
    uint64_t k, word;

    do
        word = pn_rng_u64(rng);
    while (word >= WORD_LIMIT);
    while (passed < FACTORIALS && word < inverse_factorial[passed])
        passed++;
    k = passed + 2; /* the first k whose coin 1/k failed */
    if (passed == FACTORIALS) {
        while (pn_rng_below(rng, k) == 0)
            k++;
    }
    return k % 2 == 1;
}

/* exp(-g) = sum (-g)^k/k! for g = num/den <= 1: toss coins of probability g/k, k = 1, 2, ..., until one fails; true when
 * that k is odd (von Neumann).  A coin g/k is a coin g and a coin 1/k, which keeps den from growing with k. */
static bool coin_exp_fraction(pn_rng *rng, pn_u128 num, pn_u128 den)
{
    uint64_t k = 1;

    while (below_wide(rng, den) < num && (k == 1 || pn_rng_below(rng, k) == 0))
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
 * K >= 0 has |K| = floor((U + den V) / num), V geometric with ratio exp(-1), U in [0, den) with P(U = u) proportional to
 * exp(-u/den).  K <= -1 has -1 - K of the same law, and exp(-num/den) times the chance. */

static bool laplace_is_negative(pn_rng *rng, uint64_t num, pn_u128 den)
{
    while (pn_rng_u64(rng) >> 63) {
        if (pn_bernoulli_exp(rng, num, den))
            return true;
    }
    return false;
}

static pn_u128 laplace_fraction(pn_rng *rng, pn_u128 den)
{
    pn_u128 u;

    do
        u = below_wide(rng, den);
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
    wide magnitude = (wide)((laplace_whole(rng, den) + laplace_fraction(rng, den)) / num);

    return negative ? -1 - magnitude : magnitude;
}

int64_t pn_discrete_laplace(pn_rng *rng, uint64_t num, pn_u128 den)
{
    const wide limit = (wide)1 << 62;
    wide k = laplace_wide(rng, num, den);

    return (int64_t)(k > limit ? limit : k < -limit ? -limit : k);
}

/* ---- selection ---- */

/* epsilon / (2 shift) in lowest powers of two, so that most denominators fit one word. */
typedef struct rate {
    uint64_t num;
    pn_u128 den;
} rate;

static rate rate_per_unit(pn_dyadic epsilon, uint64_t shift)
{
    rate r = { epsilon.mantissa, (pn_u128)shift << (epsilon.exponent + 1) };

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

static bool accept(pn_rng *rng, int64_t best, int64_t score, rate r)
{
    return pn_bernoulli_exp(rng, (pn_u128)(uint64_t)(best - score) * r.num, r.den);
}

size_t pn_select_exponential(pn_rng *rng, const int64_t *scores, size_t count, pn_dyadic epsilon, uint64_t shift)
{
    const rate r = rate_per_unit(epsilon, shift);
    const int64_t best = largest(scores, count);
    size_t i;

    do
        i = (size_t)pn_rng_below(rng, count);
    while (!accept(rng, best, scores[i], r));
    return i;
}

/* The order is shuffled only as far as it is visited. */
size_t pn_select_permute_and_flip(pn_rng *rng, const int64_t *scores, size_t count, pn_dyadic epsilon, uint64_t shift,
                                  size_t *order)
{
    const rate r = rate_per_unit(epsilon, shift);
    const int64_t best = largest(scores, count);

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t left = count; left > 1; left--) {
        size_t j = (size_t)pn_rng_below(rng, left), candidate = order[j];

        if (accept(rng, best, scores[candidate], r))
            return candidate;
        order[j] = order[left - 1];
    }
    return order[0]; /* all others failed, so this one has the maximum */
}

/* score + K when that is above `best`, else anything that is not: the sign and the whole part of the noise, drawn first,
 * mostly show that a candidate cannot win, and its other draws are left out. */
static wide noisy_score(pn_rng *rng, int64_t score, wide best, rate r)
{
    const wide far = (wide)1 << 100;
    wide ahead = best - score, magnitude;
    bool negative = laplace_is_negative(rng, r.num, r.den);
    pn_u128 x;

    if (negative && ahead >= -1)
        return best;
    x = laplace_whole(rng, r.den);
    if (ahead >= 0 && ahead < far && x + r.den <= (pn_u128)(ahead + 1) * r.num)
        return best;
    magnitude = (wide)((x + laplace_fraction(rng, r.den)) / r.num);
    return score + (negative ? -1 - magnitude : magnitude);
}

size_t pn_select_laplace(pn_rng *rng, const int64_t *scores, size_t count, pn_dyadic epsilon, uint64_t shift)
{
    const rate r = rate_per_unit(epsilon, shift);
    size_t winner = 0;
    wide best;

    if (r.num == 0) /* noise without bound: every candidate alike */
        return (size_t)pn_rng_below(rng, count);
    best = scores[0] + laplace_wide(rng, r.num, r.den);
    for (size_t i = 1; i < count; i++) {
        wide noisy = noisy_score(rng, scores[i], best, r);

        if (noisy > best) {
            best = noisy;
            winner = i;
        }
    }
    return winner;
}
