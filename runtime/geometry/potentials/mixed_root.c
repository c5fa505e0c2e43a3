/* mixed_root.c -- the roots of mixed_root.h, in pieces that stay in the first cache.
 * A long vector is solved on a sample first, by nested searches that cannot fail; from there Newton's method in both
 * numbers at once needs two passes over all of it as a rule, and the step six: the largest entry, the l2 norm, those
 * two, the entries themselves, and the factor that brings their size to its bound.
 * Depends on: mixed_root.h, mixed_curve.h, numeric/.  Used by: potential_interpolation.c. */
#include <math.h>
#include <stdbool.h>

#include "geometry/potentials/mixed_curve.h"
#include "geometry/potentials/mixed_root.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

#define PIECE         256 /* entries: the many arrays of a piece stay in the first cache beside the table */
#define SAMPLE_ABOVE  16384
#define SAMPLE_STRIDE 61
#define MOST_ROUNDS   100
#define FINE_STRIDE   7
#define MOST_POLISH   10
#define ENOUGH        2e-6

/* With h_j = ds_j/db_j: the size and ||s||_2, and how they and s change. */
typedef struct sums {
    double s1, s2;     /* sum s, sum s^2 */
    double h0, h1, h2; /* sum h, sum h s, sum h s^2 */
    double b2;         /* sum b^2 */
} sums;

/* s[n] and h[n] for b > 0: Newton's method for ln s on a convex function, from a start to the right of the root where
 * it is at most twice b. */
static void roots_by_newton(const pn_mixed_problem *problem, double linear, size_t n, const double *b, double *s,
                            double *h)
{
    const pn_simd *simd = pn_simd_best();
    double e = problem->exponent, log_power = log(problem->power), log_linear = log(linear);
    double z[PIECE], first[PIECE];
    bool moving = true;

    simd->log(n, b, z);
    for (size_t j = 0; j < n; j++)
        z[j] = fmin((z[j] - log_power) / e, z[j] - log_linear);
    for (int round = 0; round < MOST_ROUNDS && moving; round++) {
        moving = false;
        for (size_t j = 0; j < n; j++)
            first[j] = e * z[j];
        simd->exp(n, first, first);
        simd->exp(n, z, s);
        for (size_t j = 0; j < n; j++) {
            double p = problem->power * first[j], q = linear * s[j], slope = e * p + q;
            double move = slope > 0.0 ? (p + q - b[j]) / slope : 0.0;

            z[j] -= move;
            h[j] = slope > 0.0 ? s[j] / slope : 0.0; /* ds/db = s / (e p + q) */
            s[j] -= s[j] * move;                     /* the last step, to first order */
            moving = moving || fabs(move) > 1e-9;
        }
    }
}

/* The same from a table of the curve: with s = unit y, power s^e + linear s = b is y^e + y = b / scale. */
static void roots_of(const pn_mixed_problem *problem, const pn_mixed_curve *curve, double linear, size_t n,
                     const double *b, double *s, double *h)
{
    const pn_simd *simd = pn_simd_best();
    double log_unit, log_scale, unit, per_scale, tau[PIECE], log_tau[PIECE];

    if (!curve || !(linear > 0.0)) {
        roots_by_newton(problem, linear, n, b, s, h);
        return;
    }
    log_unit = (log(problem->power) - log(linear)) / (1.0 - problem->exponent);
    log_scale = log(linear) + log_unit;
    if (!(fabs(log_unit) < 600.0 && fabs(log_scale) < 600.0)) {
        roots_by_newton(problem, linear, n, b, s, h);
        return;
    }
    unit = exp(log_unit);
    per_scale = exp(-log_scale);
    simd->log(n, b, log_tau);
    for (size_t j = 0; j < n; j++) {
        log_tau[j] -= log_scale;
        tau[j] = b[j] * per_scale;
    }
    pn_mixed_curve_at(curve, n, tau, log_tau, s, h);
    for (size_t j = 0; j < n; j++) {
        s[j] *= unit;
        h[j] *= unit * per_scale;
    }
}

/* b of the entries first, first + stride, ... that are above the threshold, at most PIECE; advances *first. */
static size_t gather(const pn_mixed_problem *problem, double threshold, size_t *first, size_t stride, double *b)
{
    size_t left = (problem->n - *first + stride - 1) / stride, take = left < PIECE ? left : PIECE, count = 0;
    const double *c = problem->c + *first;

    for (size_t i = 0; i < take; i++) {
        b[count] = fabs(c[i * stride]) - threshold;
        count += b[count] > 0.0;
    }
    *first += take * stride;
    return count;
}

static sums sums_at(const pn_mixed_problem *problem, const pn_mixed_curve *curve, pn_mixed_root at, size_t stride)
{
    double b[PIECE], s[PIECE], h[PIECE], weight = (double)stride;
    sums total = { 0 };

    for (size_t first = 0; first < problem->n;) {
        size_t count = gather(problem, at.nu * (1.0 - problem->alpha), &first, stride, b);

        roots_of(problem, curve, problem->alpha + at.w, count, b, s, h);
        total.s1 += pn_sum(count, s);
        total.s2 += pn_dot(count, s, s);
        total.b2 += pn_dot(count, b, b);
        for (size_t j = 0; j < count; j++)
            b[j] = h[j] * s[j];
        total.h0 += pn_sum(count, h);
        total.h1 += pn_sum(count, b);
        total.h2 += pn_dot(count, b, s);
    }
    return (sums){ weight * total.s1, weight * total.s2, weight * total.h0,
                   weight * total.h1, weight * total.h2, weight * total.b2 };
}

/* The two equations and their derivatives in nu and w. */
typedef struct equations {
    double size, tie; /* N(s) - size, w ||s|| - nu alpha */
    double size_nu, size_w, tie_nu, tie_w;
} equations;

static equations equations_at(const pn_mixed_problem *problem, pn_mixed_root at, sums s)
{
    double a = problem->alpha, l2 = sqrt(s.s2), b = 1.0 - a;
    double l2_tau = l2 > 0.0 ? -s.h1 / l2 : 0.0, l2_w = l2 > 0.0 ? -s.h2 / l2 : 0.0;

    return (equations){
        .size = b * s.s1 + a * l2 - problem->size,
        .tie = at.w * l2 - at.nu * a,
        .size_nu = b * (-b * s.h0 + a * l2_tau),
        .size_w = -b * s.h1 + a * l2_w,
        .tie_nu = b * at.w * l2_tau - a,
        .tie_w = l2 + at.w * l2_w,
    };
}

/* w for this nu: w ||s(w)|| rises from 0 towards ||b||; INFINITY when nu alpha is not below that (then s = 0). */
static double tie(const pn_mixed_problem *problem, const pn_mixed_curve *curve, double nu, double w, size_t stride)
{
    double low = 0.0, high = INFINITY;

    if (!(problem->alpha > 0.0) || nu == 0.0)
        return 0.0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        sums s = sums_at(problem, curve, (pn_mixed_root){ nu, w }, stride);
        equations at = equations_at(problem, (pn_mixed_root){ nu, w }, s);
        double next = w - at.tie / at.tie_w;

        if (nu * problem->alpha >= sqrt(s.b2))
            return INFINITY;
        if (at.tie < 0.0)
            low = w;
        else
            high = w;
        if (!(next > low && next < high))
            next = isinf(high) ? 2.0 * w + 1.0 : 0.5 * (low + high);
        if (fabs(next - w) <= (stride > 1 ? 1e-5 : 1e-14) * next)
            return next;
        w = next;
    }
    return w;
}

/* nu by guarded Newton's method, w following it. */
static pn_mixed_root nested(const pn_mixed_problem *problem, const pn_mixed_curve *curve, double most, size_t stride)
{
    pn_mixed_root at = { 0.5 * most, 0.0 };
    double low = 0.0, high = most;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        double next = low, w = tie(problem, curve, at.nu, at.w, stride);

        if (isinf(w)) {
            high = at.nu;
            at.w = 0.0;
        } else {
            equations e;
            double total;

            at.w = w;
            e = equations_at(problem, at, sums_at(problem, curve, at, stride));
            total = e.size_nu - (e.tie_w > 0.0 ? e.size_w * e.tie_nu / e.tie_w : 0.0);
            next = at.nu - e.size / total;
            if (e.size > 0.0)
                low = at.nu;
            else
                high = at.nu;
        }
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - at.nu) <= (stride > 1 ? 1e-4 : 1e-15) * next || !(low < high))
            break;
        at.nu = next;
    }
    return at;
}

/* One step of Newton's method for ln N(s) and ln(w ||s|| / nu) as functions of ln(end - nu) and ln w,
 * in which they bend little; its
 * length.  NAN when it leads nowhere. */
static double log_step(const pn_mixed_problem *problem, double end, sums s, pn_mixed_root *at)
{
    equations e = equations_at(problem, *at, s);
    double size = e.size + problem->size, l2 = sqrt(s.s2), room = end - at->nu, a = problem->alpha, by_nu, by_w = 0.0;
    double f = log(size / problem->size), f_nu = -room * e.size_nu / size;

    if (a > 0.0) {
        double g = log(at->w * l2 / (at->nu * a)), f_w = at->w * e.size_w / size, determinant;
        double l2_nu = (e.tie_nu + a) / (at->w * l2), l2_w = (e.tie_w - l2) / l2;
        double g_nu = -room * (l2_nu - 1.0 / at->nu), g_w = 1.0 + l2_w;

        determinant = f_nu * g_w - f_w * g_nu;
        by_nu = -(f * g_w - g * f_w) / determinant;
        by_w = -(f_nu * g - g_nu * f) / determinant;
    } else {
        by_nu = -f / f_nu;
    }
    at->nu -= room * expm1(by_nu);
    at->w *= exp(by_w);
    return at->nu > 0.0 && at->w >= 0.0 && isfinite(at->nu) && isfinite(at->w) ? hypot(by_nu, by_w) : NAN;
}

/* Such steps over all entries, and before them over a finer sample; false when they do not settle. */
static bool polish(const pn_mixed_problem *problem, const pn_mixed_curve *curve, double top, pn_mixed_root *root)
{
    pn_mixed_root at = *root;
    double end = problem->alpha < 1.0 ? top / (1.0 - problem->alpha) : 0.0; /* then ln nu itself */

    for (int round = 0; round < MOST_POLISH; round++) {
        double moved = log_step(problem, end, sums_at(problem, curve, at, round < 2 ? FINE_STRIDE : 1), &at);

        if (isnan(moved))
            return false;
        if (round >= 2 && moved <= ENOUGH) { /* the error left is a small multiple of the square */
            *root = at;
            return true;
        }
    }
    return false;
}

static pn_mixed_root solve(const pn_mixed_problem *problem, const pn_mixed_curve *curve)
{
    pn_mixed_root root = { 0.0, 0.0 };
    double top, most;
    bool whole = problem->n <= SAMPLE_ABOVE;
    sums s;

    if (isinf(problem->size))
        return root;
    top = pn_potential_magnitude(problem->c, problem->n);
    s = sums_at(problem, curve, root, whole ? 1 : SAMPLE_STRIDE);
    /* where a sample says that the bound binds, the root will prove it */
    if (!whole && equations_at(problem, root, s).size <= 0.5 * problem->size) {
        s = sums_at(problem, curve, root, 1);
        whole = true;
    }
    if (whole && equations_at(problem, root, s).size <= 0.0)
        return root;
    /* s = 0 once nu is the dual norm of c */
    most = problem->alpha < 1.0 ? top / (1.0 - problem->alpha) : INFINITY;
    most = problem->alpha > 0.0 ? fmin(most, pn_lp_norm(PN_L2, problem->n, problem->c) / problem->alpha) : most;
    if (problem->n > SAMPLE_ABOVE) {
        root = nested(problem, curve, most, SAMPLE_STRIDE);
        if (root.nu > 0.0 && (root.w > 0.0 || !(problem->alpha > 0.0)) && polish(problem, curve, top, &root))
            return root;
    }
    root = (pn_mixed_root){ 0.0, 0.0 };
    if (!whole && equations_at(problem, root, sums_at(problem, curve, root, 1)).size <= 0.0)
        return root;
    return nested(problem, curve, most, 1);
}

static void write(const pn_mixed_problem *problem, const pn_mixed_curve *curve, pn_mixed_root root, double *out)
{
    double b[PIECE], s[PIECE], h[PIECE], threshold = root.nu * (1.0 - problem->alpha), size, l1 = 0.0, l2 = 0.0;

    for (size_t at = 0; at < problem->n; at += PIECE) {
        size_t first = at, left = problem->n - at, take = left < PIECE ? left : PIECE, next = 0;
        size_t count = gather(problem, threshold, &first, 1, b);

        roots_of(problem, curve, problem->alpha + root.w, count, b, s, h);
        l1 += pn_sum(count, s);
        l2 += pn_dot(count, s, s);
        for (size_t j = at; j < at + take; j++) {
            bool active = fabs(problem->c[j]) - threshold > 0.0;
            double entry = active ? s[next] : 0.0;

            next += active;
            out[j] = copysign(entry, problem->c[j]) + 0.0; /* no -0 */
        }
    }
    size = (1.0 - problem->alpha) * l1 + problem->alpha * sqrt(l2);
    for (size_t j = 0; root.nu > 0.0 && size > 0.0 && j < problem->n; j++)
        out[j] *= problem->size / size;
}

void pn_mixed_step(const pn_mixed_problem *problem, double *out)
{
    pn_mixed_curve table, *curve = NULL;

    if (problem->n > SAMPLE_ABOVE && problem->power > 0.0) {
        pn_mixed_curve_open(&table, problem->exponent);
        curve = &table;
    }
    write(problem, curve, solve(problem, curve), out);
}
