/* power_root.c -- sums of powers and the root of their size.  Each pass works in pieces and drops the entries at or below nu before it
 * takes logarithms.  Depends on: power_root.h, numeric/.  Used by: potentials. */
#include <math.h>

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

/* The root after a last, short step from mu to next, with the sums to first order: ds_a/dmu = a (s_{a-1} - s_a) / mu. */
static pn_power_root moved_root(const pn_power_problem *problem, double mu, double next, sums s)
{
    double by = (next - mu) / mu;

    return (pn_power_root){ next, s.at + by * problem->t * (s.below - s.at),
                            s.above + by * (problem->t + 1.0) * (s.at - s.above) };
}

/* Newton's method for size(mu) = target inside (low, high); the sums at the last mu. */
static pn_power_root newton(const pn_power_problem *problem, double target, double mu, double high, size_t stride,
                            double tolerance)
{
    double low = 0.0, last = INFINITY;
    sums s = { 0.0, 0.0, 0.0 };

    for (int round = 0; round < MOST_ROUNDS; round++) {
        double size, next;

        s = sums_at(problem, mu, stride);
        size = size_of(problem, mu, s);
        if (size < target)
            low = mu;
        else
            high = mu;
        next = size > 0.0 ? mu + mu * (target - size) / (size * steepness(problem, s)) : INFINITY;
        if (fabs(next - mu) <= tolerance * mu)
            return moved_root(problem, mu, next, s);
        if (fabs(next - mu) >= last)
            break;
        last = round > 2 ? fabs(next - mu) : INFINITY; /* once rounding decides, steps stop shrinking */
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
            last = INFINITY;
        }
        if (next == mu)
            break;
        mu = next;
    }
    return (pn_power_root){ mu, s.at, s.above };
}

pn_power_root pn_power_solve(const pn_power_problem *problem, double target, double most, bool *met)
{
    double bound = target / problem->gain; /* size >= gain mu, by the largest entry alone */
    double high = fmin(bound, most), start = high;

    if (most < bound) {
        pn_power_root end = pn_power_at(problem, most);

        *met = pn_power_size(problem, &end) > target;
        if (!*met)
            return end;
    }
    *met = true;
    if (problem->n > SAMPLE_ABOVE)
        start = newton(problem, target, high, high, SAMPLE_STRIDE, 1e-3).mu;
    return newton(problem, target, start, high, 1, 1e-8 / problem->t);
}

void pn_power_write(const pn_power_problem *problem, double mu, double factor, double *out)
{
    double u[PIECE];
    place at = place_of(problem, mu);
    size_t n = problem->n;
    const double *c = problem->c;

    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE;

        if (!(mu > 0.0)) {
            for (size_t j = 0; j < count; j++)
                out[first + j] = 0.0;
            continue;
        }
        for (size_t j = 0; j < count; j++) {
            double entry = problem->magnitude ? fabs(c[first + j]) : c[first + j];

            entry = ((entry - at.base) + at.add) / mu;
            u[j] = entry > 0.0 ? entry : 0.0;
        }
        raise_to(count, u, problem->t, u); /* ln 0 = -inf, and e^-inf = 0 */
        for (size_t j = 0; j < count; j++)
            out[first + j] = problem->magnitude ? factor * copysign(u[j], c[first + j]) + 0.0 : factor * u[j];
    }
}

void pn_signed_power(size_t n, const double *x, double size, double exponent, double factor, double *out)
{
    double u[PIECE];

    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE;

        for (size_t j = 0; j < count; j++)
            u[j] = fabs(x[first + j]) / size;
        raise_to(count, u, exponent, u);
        for (size_t j = 0; j < count; j++)
            out[first + j] = factor * copysign(u[j], x[first + j]) + 0.0; /* no -0 */
    }
}

double pn_power_sum(size_t n, const double *x, double size, double exponent)
{
    double u[PIECE], sum = 0.0;

    for (size_t first = 0; first < n; first += PIECE) {
        size_t count = n - first < PIECE ? n - first : PIECE;

        for (size_t j = 0; j < count; j++)
            u[j] = fabs(x[first + j]) / size;
        raise_to(count, u, exponent, u);
        sum += pn_sum(count, u);
    }
    return sum;
}
