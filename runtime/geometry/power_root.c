/* power_root.c -- sums of powers and the root of their size.
 * Each pass works in pieces that stay in the first cache, and drops the entries at or below nu before it takes logarithms.  A solve and
 * its write pass over a long vector five times: the largest entry, two sums of powers from a start that a sample gives, the powers
 * themselves, and the factor that makes them add up.  Depends on: power_root.h, numeric/.  Used by: potentials. */
#include <math.h>
#include <string.h>

#include "geometry/potential_parts.h"
#include "geometry/power_root.h"
#include "numeric/blas.h"
#include "numeric/simd.h"

#define PIECE         PN_POTENTIAL_PIECE
#define SAMPLE_ABOVE  16384
#define SAMPLE_STRIDE 61
#define MOST_ROUNDS   200

typedef struct sums {
    double below, at, above; /* s_{t-1}, s_t, s_{t+1} */
} sums;

/* Differences to the largest entry keep their digits however large the entries are; with nu = 0 there is nothing to subtract. */
typedef struct place {
    double base, add, mu;
} place;

static place place_of(const pn_power_problem *problem, double mu)
{
    return mu == problem->top ? (place){ 0.0, 0.0, mu } : (place){ problem->top, mu, mu };
}

/* u of the entries first, first + stride, ... that are above nu, at most PIECE of them; advances *first. */
static size_t gather(const pn_power_problem *problem, place at, size_t *first, size_t stride, double *u)
{
    size_t left = (problem->n - *first + stride - 1) / stride, take = left < PIECE ? left : PIECE, count = 0;
    const double *c = problem->c + *first;
    double scale = 1.0 / at.mu;

    if (problem->magnitude) {
        for (size_t i = 0; i < take; i++) {
            u[count] = ((fabs(c[i * stride]) - at.base) + at.add) * scale;
            count += u[count] > 0.0;
        }
    } else {
        for (size_t i = 0; i < take; i++) {
            u[count] = ((c[i * stride] - at.base) + at.add) * scale;
            count += u[count] > 0.0;
        }
    }
    *first += take * stride;
    return count;
}

/* w <- u^exponent for u > 0 */
static void raise_to(size_t n, const double *u, double exponent, double *w)
{
    const pn_simd *simd = pn_simd_best();

    if (exponent == 0.0 || exponent == 1.0) {
        for (size_t j = 0; j < n; j++)
            w[j] = exponent == 0.0 ? 1.0 : u[j];
        return;
    }
    simd->log(n, u, w);
    for (size_t j = 0; j < n; j++)
        w[j] *= exponent;
    simd->exp(n, w, w);
}

static void add_sums(size_t n, const double *u, const double *w, sums *into)
{
    double below[4] = { 0.0 }, at[4] = { 0.0 }, above[4] = { 0.0 };
    size_t j = 0;

    for (; j + 4 <= n; j += 4) {
        for (size_t k = 0; k < 4; k++) {
            double once = w[j + k] * u[j + k];

            below[k] += w[j + k];
            at[k] += once;
            above[k] += once * u[j + k];
        }
    }
    for (; j < n; j++) {
        below[0] += w[j];
        at[0] += w[j] * u[j];
        above[0] += w[j] * u[j] * u[j];
    }
    into->below += (below[0] + below[1]) + (below[2] + below[3]);
    into->at += (at[0] + at[1]) + (at[2] + at[3]);
    into->above += (above[0] + above[1]) + (above[2] + above[3]);
}

static sums sums_at(const pn_power_problem *problem, double mu, size_t stride)
{
    double u[PIECE], w[PIECE];
    sums total = { 0.0, 0.0, 0.0 };
    place at = place_of(problem, mu);

    for (size_t first = 0; first < problem->n;) {
        size_t count = gather(problem, at, &first, stride, u);

        raise_to(count, u, problem->t - 1.0, w);
        add_sums(count, u, w, &total);
    }
    return (sums){ total.below * (double)stride, total.at * (double)stride, total.above * (double)stride };
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

pn_power_root pn_power_at(const pn_power_problem *problem, double mu)
{
    sums s;

    if (!(mu > 0.0))
        return (pn_power_root){ 0.0, 0.0, 0.0 };
    s = sums_at(problem, mu, 1);
    return (pn_power_root){ mu, s.at, s.above };
}

double pn_power_size(const pn_power_problem *problem, const pn_power_root *at)
{
    return size_of(problem, at->mu, (sums){ 0.0, at->sum, at->above });
}

/* ---- the root ---- */

/* Newton's method for ln size as a function of ln mu, with the second derivative `bend` where one is known, between bounds. */
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
static double start_from_sample(const pn_power_problem *problem, search *by, size_t stride)
{
    search on_sample = *by;
    double mu = by->high, near, steep;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        double next = advance(problem, &on_sample, mu, sums_at(problem, mu, stride));

        if (next == mu)
            break;
        mu = next;
        if (fabs(on_sample.gap) <= 1e-4)
            break;
    }
    near = 0.99 * mu;
    steep = steepness(problem, sums_at(problem, mu, stride));
    steep -= steepness(problem, sums_at(problem, near, stride));
    by->bend = isfinite(steep) ? steep / log(mu / near) : 0.0;
    return mu;
}

/* The root in (low, high], or high where the size is below the target there; the last step, to the mu that is returned, is so short that
 * nothing of what it leaves shows. */
static double solve(const pn_power_problem *problem, search *by, double mu)
{
    double first = 0.0, last = INFINITY;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        double before = by->steep, next = advance(problem, by, mu, sums_at(problem, mu, 1)), gap = fabs(by->gap);

        if (round > 0 && fabs(first) > 1e-12 && isfinite(first))
            by->bend = (by->steep - before) / first;
        if (next == mu || gap * gap * (1.0 + fabs(by->bend) / by->steep) <= 1e-15 ||
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
        mu = start_from_sample(problem, &by, SAMPLE_STRIDE);
    mu = solve(problem, &by, mu);
    *met = by.proved;
    return mu;
}

/* ---- powers ---- */

/* w <- u^exponent for u >= 0, exponent > 0; where most are 0, those cost nothing.  w may be u. */
static void raise_entries(size_t n, const double *u, double exponent, double *w)
{
    double packed[PIECE];
    size_t count = 0, next = 0;

    for (size_t j = 0; j < n; j++)
        count += u[j] > 0.0;
    if (4 * count > 3 * n) { /* ln 0 = -inf, and e^-inf = 0 */
        raise_to(n, u, exponent, w);
        return;
    }
    count = 0;
    for (size_t j = 0; j < n; j++) {
        packed[count] = u[j];
        count += u[j] > 0.0;
    }
    raise_to(count, packed, exponent, packed);
    packed[count] = 0.0;
    for (size_t j = 0; j < n; j++) {
        bool positive = u[j] > 0.0;

        w[j] = positive ? packed[next] : 0.0;
        next += positive;
    }
}

/* out[n] <- factor u^t of a piece of c, with its sign when `magnitude`; the sum of u^t. */
static double write_piece(const pn_power_problem *problem, place at, size_t n, const double *c, double factor,
                          double *out)
{
    double u[PIECE], scale = 1.0 / at.mu, sum;

    for (size_t j = 0; j < n; j++) {
        double entry = (((problem->magnitude ? fabs(c[j]) : c[j]) - at.base) + at.add) * scale;

        u[j] = entry > 0.0 ? entry : 0.0;
    }
    raise_entries(n, u, problem->t, u);
    sum = pn_sum(n, u);
    if (problem->magnitude) {
        for (size_t j = 0; j < n; j++)
            out[j] = copysign(factor * u[j], c[j]) + 0.0; /* no -0 */
    } else {
        for (size_t j = 0; j < n; j++)
            out[j] = factor * u[j];
    }
    return sum;
}

double pn_power_write(const pn_power_problem *problem, double mu, double factor, double *out)
{
    place at = place_of(problem, mu);
    double sum = 0.0;

    if (!(mu > 0.0)) {
        memset(out, 0, problem->n * sizeof *out);
        return 0.0;
    }
    for (size_t first = 0; first < problem->n; first += PIECE) {
        size_t left = problem->n - first;

        sum += write_piece(problem, at, left < PIECE ? left : PIECE, problem->c + first, factor, out + first);
    }
    return sum;
}

void pn_power_write_total(const pn_power_problem *problem, double mu, double total, double *out)
{
    double factor = total / pn_power_write(problem, mu, 1.0, out);

    for (size_t j = 0; j < problem->n; j++)
        out[j] *= factor;
}

size_t pn_signed_power(size_t n, const double *x, double size, double exponent, double factor, double *out)
{
    double u[PIECE];
    size_t bad = n;

    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE, at;

        for (size_t j = 0; j < count; j++)
            u[j] = fabs(x[first + j]) / size;
        raise_entries(count, u, exponent, u);
        for (size_t j = 0; j < count; j++)
            out[first + j] = copysign(factor * u[j], x[first + j]) + 0.0; /* no -0 */
        at = pn_first_nonfinite(out + first, count);
        if (at < count && bad == n)
            bad = first + at;
    }
    return bad;
}

double pn_signed_power_sum(size_t n, const double *x, double size, double exponent, double *out)
{
    double u[PIECE], w[PIECE], sum = 0.0;

    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE;

        for (size_t j = 0; j < count; j++)
            u[j] = fabs(x[first + j]) / size;
        raise_entries(count, u, exponent, w);
        sum += pn_dot(count, u, w);
        for (size_t j = 0; j < count; j++)
            out[first + j] = copysign(w[j], x[first + j]);
    }
    return sum;
}

double pn_power_sum(size_t n, const double *x, double size, double exponent)
{
    double u[PIECE], sum = 0.0;

    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE;

        for (size_t j = 0; j < count; j++)
            u[j] = fabs(x[first + j]) / size;
        raise_entries(count, u, exponent, u);
        sum += pn_sum(count, u);
    }
    return sum;
}
