/* noise_lattice.c -- releases on the lattice: round, add integers, multiply once.
 * Depends on: noise.h, core/mutant.h, libsodium (erasing).  Used by: privacy/.  See noise.md section 3. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "core/mutant.h"
#include "random/noise.h"

#define BLOCK  2048
#define NEAR   0x1p62          /* quotients below it are those of doubles */
#define UPWARD (1.0 + 0x1p-50) /* more than the eight roundings behind it */

double pn_lattice_step(double scale)
{
    return ldexp(scale, -PN_LATTICE_BITS);
}

double pn_lattice_reach(double scale)
{
    return PN_LATTICE_FARTHEST * pn_lattice_step(scale);
}

/* ---- sensitivity ----
 * A rounded quotient is off by at most 1/2 + |quotient| 2^-53, for each of two neighbours and each rounding on the way;
 * from 2^62 on by at most 1, which is less than the 512 that are paid for there.
 * Roundings on the way go on growing: they need a public bound. */

static double steps_moved(double scale, double bound, int roundings)
{
    double largest = bound / pn_lattice_step(scale), carried = fmin(largest, PN_LATTICE_FARTHEST);

    return 1.0 + (fmin(largest, NEAR) + (double)(roundings - 1) * carried) * 0x1p-52;
}

/* Several roundings include those of public constants, which sensitivity then has to cover: noise.md section 3. */
static double charged(double sensitivity, double added, int roundings)
{
    double exact = roundings > 1 ? sensitivity * UPWARD : sensitivity;

    return (exact + added) * UPWARD;
}

double pn_lattice_l2(double sensitivity, double scale, size_t n, double bound, int roundings)
{
    double added = sqrt((double)n) * pn_lattice_step(scale) * steps_moved(scale, bound, roundings);

    return charged(sensitivity, added, roundings);
}

double pn_lattice_l1(double sensitivity, double scale, size_t n, double bound, int roundings)
{
    double added = (double)n * pn_lattice_step(scale) * steps_moved(scale, bound, roundings);

    return charged(sensitivity, added, roundings);
}

/* ---- releases ---- */

/* The clamp comes first: llrint is undefined outside its range, and a quotient of 2^63 must not turn negative.
 * Adding 1.5 * 2^52 leaves the whole part in the low bits, rounded to even like llrint,
 * at a tenth of the cost of the call. */
int64_t pn_lattice_round(double x, double step, double limit)
{
    const double shift = 0x1.8p52;
    double steps = x / step, shifted = steps + shift;
    int64_t bits, base;

    if (fabs(steps) < 0x1p51 && fabs(steps) <= limit) {
        memcpy(&bits, &shifted, sizeof bits);
        memcpy(&base, &shift, sizeof base);
        return bits - base;
    }
    steps = steps < limit ? steps : limit;
    return llrint(steps > -limit ? steps : -limit);
}

/* A quotient q of doubles leaves the remainder x - q step, which is a double too
 * (a multiple of step's last bit, below half of q's last bit times step): 2^125, 2^72 and 2^19 steps,
 * and the last is rounded to the nearest. */
pn_steps pn_lattice_round_far(double x, double step, double limit)
{
    double steps = x / step;
    pn_steps sum = 0;

    if (fabs(steps) < NEAR)
        return pn_lattice_round(x, step, fmin(limit, NEAR));
    if (!(fabs(steps) < limit))
        return steps < 0.0 ? -(pn_steps)limit : (pn_steps)limit;
    for (int part = 0; part < 3; part++) {
        steps = nearbyint(x / step);
        sum += (pn_steps)steps;
        x = fma(-steps, step, x);
    }
    return sum;
}

/* Faults for the tests to find, see core/mutant.h. */
static void sabotage(int64_t *noise, size_t first, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        if (PN_MUTANT("noise_scale"))
            noise[j] = noise[j] / 5 * 4;
        if (PN_MUTANT("noise_reuse"))
            noise[j] = (int64_t)((first + j + 1) * UINT64_C(0x9e3779b97f4a7c15)) / (1 << 22);
    }
}

typedef struct noise_law {
    void (*draw)(pn_rng *rng, size_t n, int64_t *out);
    bool capped; /* numbers go on beyond what it returns: pn_noise_laplace_uncapped */
} noise_law;

static void laplace_noise(pn_rng *rng, size_t n, int64_t *out)
{
    pn_noise_laplace(rng, 1, n, out);
}

static const noise_law gaussian = { pn_noise_gaussian, false };
static const noise_law gaussian_exact = { pn_noise_gaussian_exact, false };
static const noise_law laplace = { laplace_noise, true };

/* ---- a block of small numbers, which nearly all blocks are: loops that compile to vectors,
 * with the results of the others ---- */

#define SMALL 0x1p50
#define SHIFT 0x1.8p52 /* adding it leaves the whole part of a small number in the low bits, rounded to even */

/* Numbers of a sign are ordered as their bits are, NaN last: a loop over whole numbers,
 * whose reductions compilers know. */
static bool quotients(const double *x, double step, size_t count, double *steps)
{
    const double small = SMALL;
    uint64_t limit, above = 0;

    memcpy(&limit, &small, sizeof limit);
    for (size_t j = 0; j < count; j++) {
        double quotient = x[j] / step;
        uint64_t bits;

        memcpy(&bits, &quotient, sizeof bits);
        steps[j] = quotient;
        above |= limit - (bits & (UINT64_MAX >> 1)); /* wraps, and has the first bit, where bits are beyond the limit */
    }
    return above >> 63 == 0;
}

static bool all_small(const int64_t *noise, size_t count)
{
    const uint64_t bound = (uint64_t)1 << 50;
    uint64_t above = 0;

    for (size_t j = 0; j < count; j++)
        above |= ((uint64_t)noise[j] + bound) >> 51;
    return above == 0;
}

/* Sums of two numbers below 2^50 stay below 2^51, where whole numbers and low bits are the same thing both ways. */
static void add_small(const double *steps, const int64_t *noise, double step, size_t count, double *out)
{
    for (size_t j = 0; j < count; j++) {
        double shifted = steps[j] + SHIFT;
        uint64_t bits;

        memcpy(&bits, &shifted, sizeof bits);
        bits += (uint64_t)noise[j];
        memcpy(&shifted, &bits, sizeof bits);
        out[j] = (shifted - SHIFT) * step;
    }
}

pn_steps pn_noise_laplace_uncapped(pn_rng *rng, uint32_t w, int64_t k)
{
    const int64_t cap = (int64_t)1 << 62;
    pn_steps size = k < 0 ? -(pn_steps)k : k;
    int64_t more = cap;

    while (size >= cap && more == cap) {
        do
            pn_noise_laplace(rng, w, 1, &more);
        while (more < 0);
        size += more;
    }
    return k < 0 ? -size : size;
}

static void add_any(pn_rng *rng, const double *x, const int64_t *noise, const pn_steps *whole, const noise_law *law,
                    double step, size_t count, double *out)
{
    for (size_t j = 0; j < count; j++) {
        pn_steps sum = pn_lattice_round_far(x[j], step, PN_LATTICE_FARTHEST);

        sum += law->capped ? pn_noise_laplace_uncapped(rng, 1, noise[j]) : noise[j];
        sum += whole ? whole[j] : 0;
        out[j] = (sum == (int64_t)sum ? (double)(int64_t)sum : (double)sum) * step;
    }
}

/* `whole`: NULL, or numbers of steps to add. */
static void release(pn_rng *rng, const noise_law *law, double scale, const double *x, const pn_steps *whole, size_t n,
                    double *out)
{
    const double step = pn_lattice_step(scale);
    int64_t noise[BLOCK];
    double steps[BLOCK];

    for (size_t first = 0; first < n; first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;

        law->draw(rng, count, noise);
        sabotage(noise, first, count);
        if (!whole && quotients(x + first, step, count, steps) && all_small(noise, count))
            add_small(steps, noise, step, count, out + first);
        else
            add_any(rng, x + first, noise, whole ? whole + first : NULL, law, step, count, out + first);
    }
    sodium_memzero(noise, sizeof noise);
    sodium_memzero(steps, sizeof steps);
}

void pn_lattice_gaussian(pn_rng *rng, double sigma, const double *x, size_t n, double *out)
{
    release(rng, &gaussian, sigma, x, NULL, n, out);
}

void pn_lattice_gaussian_sum(pn_rng *rng, double sigma, const double *x, const pn_steps *whole, size_t n, double *out)
{
    release(rng, &gaussian, sigma, x, whole, n, out);
}

void pn_lattice_gaussian_exact(pn_rng *rng, double sigma, const double *x, size_t n, double *out)
{
    release(rng, &gaussian_exact, sigma, x, NULL, n, out);
}

void pn_lattice_laplace(pn_rng *rng, double scale, const double *x, size_t n, double *out)
{
    release(rng, &laplace, scale, x, NULL, n, out);
}
