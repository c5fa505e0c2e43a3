/* power_root.c -- sums of powers and the root of their size.
 * Each pass works in pieces that stay in the first cache, and drops the entries at or below nu before it takes
 * logarithms.  A solve and its write pass over a long vector five times: the largest entry, one or two sums of powers
 * from a start that a sample gives, the powers themselves, and the factor that makes them add up.  Depends on:
 * power_root.h, numeric/.  Used by: potentials. */
#include <math.h>
#include <string.h>

#include "geometry/potentials/potential_parts.h"
#include "geometry/potentials/power_root.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

#define PIECE         PN_POTENTIAL_PIECE
#define SAMPLE_ABOVE  16384
#define SAMPLE_STRIDE 61
#define FINE_STRIDE   7
#define MOST_ROUNDS   200

typedef struct sums {
    double below, at, above; /* s_{t-1}, s_t, s_{t+1} */
} sums;

/* Differences to the largest entry keep their digits however large the entries are;
 * with nu = 0 there is nothing to subtract. */
typedef struct place {
    double base, add, mu;
} place;

static place place_of(const pn_power_problem *problem, double mu)
{
    return mu == problem->top ? (place){ 0.0, 0.0, mu } : (place){ problem->top, mu, mu };
}

static pn_powers powers_of(const pn_power_problem *problem, place at, double exponent)
{
    return (pn_powers){
        .magnitude = problem->magnitude, .base = at.base, .add = at.add, .size = at.mu, .exponent = exponent
    };
}

/* Of every stride-th entry. */
static sums sums_at(const pn_power_problem *problem, double mu, size_t stride)
{
    pn_powers of = powers_of(problem, place_of(problem, mu), problem->t - 1.0);
    const pn_simd *simd = pn_simd_best();
    double total[3] = { 0.0 }, weight = (double)stride, sample[PIECE];

    if (stride == 1)
        simd->power_sums(problem->n, problem->c, &of, total);
    for (size_t first = 0; stride > 1 && first < problem->n;) {
        size_t count = 0;

        for (; count < PIECE && first < problem->n; first += stride)
            sample[count++] = problem->c[first];
        simd->power_sums(count, sample, &of, total);
    }
    return (sums){ total[0] * weight, total[1] * weight, total[2] * weight };
}

static double size_of(const pn_power_problem *problem, double mu, sums s)
{
    double t = problem->t, shape;

    if (!(s.at > 0.0))
        return 0.0;
    shape = problem->dual ? s.at * pow(s.above, (1.0 - t) / (t + 1.0)) : pow(s.at, 1.0 / t);
    return problem->gain * mu * shape;
}

/* d ln size / d ln mu */
static double steepness(const pn_power_problem *problem, sums s)
{
    double t = problem->t;

    return problem->dual ? t * s.below / s.at + (1.0 - t) * s.at / s.above : s.below / s.at;
}

void pn_power_open(pn_power_problem *problem)
{
    problem->top = problem->magnitude ? pn_potential_magnitude(problem->c, problem->n)
                                      : pn_potential_largest(problem->c, problem->n);
}

double pn_power_size(const pn_power_problem *problem, const pn_power_root *at)
{
    return size_of(problem, at->mu, (sums){ 0.0, at->sum, at->above });
}

/* ---- the root ---- */

/* Newton's method for ln size as a function of ln mu, with the second derivative `bend` where one is known,
 * between bounds. */
typedef struct search {
    double target;
    double low, high; /* of mu */
    bool proved;      /* the size at high has been found to be at least the target, or must be */
    double bend;      /* d steepness / d ln mu */
    double gap;       /* how far ln mu was from the root at the last sums, as far as they tell */
    double steep;
} search;

/* The next mu after the sums at this one. */
static double advance(const pn_power_problem *problem, search *by, double mu, sums s)
{
    double size = size_of(problem, mu, s), next, rise;

    if (size < by->target) {
        by->low = mu;
    } else {
        by->high = mu;
        by->proved = true;
    }
    if (!(size > 0.0)) {
        by->gap = INFINITY;
        return by->proved ? 0.5 * (by->low + by->high) : by->high;
    }
    by->steep = steepness(problem, s);
    rise = log(by->target / size) / by->steep;
    if (fabs(rise * by->bend) < 0.25 * by->steep)
        rise -= 0.5 * rise * rise * by->bend / by->steep;
    by->gap = rise;
    next = mu + mu * expm1(rise);
    if (next > by->low && next < by->high)
        return next;
    if (fabs(rise) <= 1e-12) /* rounding decides */
        return mu;
    return next >= by->high && !by->proved ? by->high : 0.5 * (by->low + by->high);
}

/* A root on every so-manyth entry, and how the steepness changes there: `by` starts from it. */
static double start_from_sample(const pn_power_problem *problem, search *by)
{
    search on_sample = *by;
    double mu = by->high, near, steep;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        double next = advance(problem, &on_sample, mu, sums_at(problem, mu, SAMPLE_STRIDE));

        if (next == mu)
            break;
        mu = next;
        if (fabs(on_sample.gap) <= 1e-4)
            break;
    }
    near = 0.99 * mu;
    steep = steepness(problem, sums_at(problem, mu, SAMPLE_STRIDE));
    steep -= steepness(problem, sums_at(problem, near, SAMPLE_STRIDE));
    on_sample = *by;
    on_sample.bend = by->bend = isfinite(steep) ? steep / log(mu / near) : 0.0;
    return advance(problem, &on_sample, mu, sums_at(problem, mu, FINE_STRIDE));
}

/* How far the next ln mu may be from the root: a quarter of what the second derivative did, and the third order. */
static double left(const search *by)
{
    double gap = fabs(by->gap);

    return gap * gap * (0.125 * fabs(by->bend) / by->steep + gap);
}

/* The root in (low, high], or high where the size is below the target there; the last step, to the mu that is returned,
 * is so short that nothing of what it leaves shows. */
static double solve(const pn_power_problem *problem, search *by, double mu)
{
    double first = 0.0, last = INFINITY;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        double before = by->steep, next = advance(problem, by, mu, sums_at(problem, mu, 1)), gap = fabs(by->gap);

        if (round > 0 && fabs(first) > 1e-12 && isfinite(first))
            by->bend = (by->steep - before) / first;
        if (next == mu || left(by) <= (problem->n > SAMPLE_ABOVE ? 1e-11 : 1e-15) ||
            (!by->proved && by->low >= by->high) || (round > 8 && gap >= last && gap < 1e-9))
            return next;
        first = log(next / mu);
        last = gap;
        mu = next;
    }
    return mu;
}

double pn_power_solve(const pn_power_problem *problem, double target, double most, bool *met)
{
    double bound = target / problem->gain; /* size >= gain mu, by the largest entry alone */
    search by = { .target = target, .high = fmin(bound, most), .proved = !(most < bound), .steep = 1.0 };
    double mu = by.high;

    if (problem->n > SAMPLE_ABOVE)
        mu = start_from_sample(problem, &by);
    mu = solve(problem, &by, mu);
    *met = by.proved;
    return mu;
}

/* ---- powers ---- */

pn_power_root pn_power_write(const pn_power_problem *problem, double mu, double factor, double *out)
{
    pn_powers of = powers_of(problem, place_of(problem, mu), problem->t);
    double made[2] = { 0.0 };

    if (mu > 0.0)
        pn_simd_best()->powers(problem->n, problem->c, &of, factor, out, made);
    else
        memset(out, 0, problem->n * sizeof *out);
    return (pn_power_root){ mu, made[0], made[1] };
}

void pn_power_write_total(const pn_power_problem *problem, double mu, double total, double *out)
{
    double factor = total / pn_power_write(problem, mu, 1.0, out).sum;

    for (size_t j = 0; j < problem->n; j++)
        out[j] *= factor;
}

size_t pn_signed_power(size_t n, const double *x, double size, double exponent, double factor, double *out)
{
    pn_powers of = { .magnitude = true, .size = size, .exponent = exponent };
    double made[2] = { 0.0 };
    size_t bad = n;

    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE, at;

        pn_simd_best()->powers(count, x + first, &of, factor, out + first, made);
        at = pn_first_nonfinite(out + first, count);
        if (at < count && bad == n)
            bad = first + at;
    }
    return bad;
}

double pn_signed_power_sum(size_t n, const double *x, double size, double exponent, double *out)
{
    pn_powers of = { .magnitude = true, .size = size, .exponent = exponent };
    double made[2] = { 0.0 };

    pn_simd_best()->powers(n, x, &of, 1.0, out, made);
    return made[1];
}

double pn_power_sum(size_t n, const double *x, double size, double exponent)
{
    pn_powers of = { .magnitude = true, .size = size, .exponent = exponent };
    double made[3] = { 0.0 };

    pn_simd_best()->power_sums(n, x, &of, made);
    return made[0];
}
