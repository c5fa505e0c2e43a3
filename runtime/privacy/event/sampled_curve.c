/* sampled_curve.c -- Renyi curves of subsampled Gaussians by quadrature, and by a finite sum at small whole orders.
 * Depends on: sampled_curve.h, event_curve.h, libm.  Used by: event_sampled.c.
 *
 * Each curve is ln(A)/(alpha-1).  A - 1 is the integral of a function f >= 0 over N(0, z^2),
 * written so that nothing cancels:
 *     w(x) = (2x-1)/(2z^2),   u = ln(1-q + q e^w),   T(alpha, l) = e^(alpha l) - 1 - alpha (e^l - 1)
 *     Poisson        f = T(alpha, u(x))
 *     fixed size     f = (e^(alpha u) - 1)(1 - e^((1-alpha) u))  on x >= 1/2
 *     replace one    f = e^(u(-x)) T(alpha, v),  v = u(x) - u(-x)
 * Quadrature: panels of 16 Gauss-Legendre points.  u has its singularities at distance pi z^2 from the real line, which
 * with the width z of the normal density sets the size of a panel; panels that cannot matter are skipped by a bound. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "privacy/event/event_curve.h"
#include "privacy/event/sampled_curve.h"

/* Beyond either, sampling is given no credit: such a cost is none that a budget has, and at such orders places of the
 * quadrature come to lie in each other's ulp. */
#define HUGE_ORDER 0x1p40
#define HUGE_COST  1e7

typedef enum scheme { POISSON, FIXED_SIZE, REPLACE } scheme;

typedef struct quadrature {
    scheme kind;
    double q, z, alpha, log_q;
    double low, width; /* of the first panel */
    double scale, sum; /* the integral so far is sum e^scale, without 1/(z sqrt(2 pi)) */
    double threshold;  /* logarithms of f below it do not matter */
} quadrature;

/* ln(1 - q + q e^w).  Beyond 700, 1 - q is 1 or does not count; where the ratio is small, 1 - q must not drown in 1. */
static double log_ratio(const quadrature *s, double w)
{
    double t = w + s->log_q, above;

    if (w >= 700.0)
        return t > 40.0 ? t : fmax(t, 0.0) + log1p(exp(-fabs(t))); /* exp is slow where it underflows */
    above = s->q * expm1(w);
    return above < -0.5 ? log((1.0 - s->q) + s->q * exp(w)) : log1p(above);
}

static double log_up(const quadrature *s, double x)
{
    return log_ratio(s, (2.0 * x - 1.0) / (2.0 * s->z * s->z));
}

/* T(alpha, l) = value e^exponent */
static double split_tangent(double alpha, double l, double *exponent)
{
    double a = alpha - 1.0, power;

    *exponent = 0.0;
    if (alpha * l < 40.0)
        return pn_above_tangent(alpha, l);
    *exponent = alpha * l;
    power = expm1(-a * l); /* e^(-al) - 1 */
    return -power + a * (1.0 + power) * expm1(-l);
}

static void add(quadrature *s, double x, double weight)
{
    double u = log_up(s, x), t = x / s->z, exponent, value;

    if (s->kind == POISSON) {
        value = split_tangent(s->alpha, u, &exponent);
    } else if (s->kind == FIXED_SIZE) {
        exponent = s->alpha * u;
        value = -expm1(-exponent) * -expm1(-(s->alpha - 1.0) * u);
    } else {
        double down = log_up(s, -x);

        value = split_tangent(s->alpha, u - down, &exponent);
        exponent += down;
    }
    exponent -= t * t / 2.0;
    if (exponent > s->scale + 300.0) {
        s->sum *= exp(s->scale - exponent);
        s->scale = exponent;
    }
    if (!(exponent <= s->scale - 750.0)) /* else exp underflows, slowly */
        s->sum += weight * value * exp(exponent - s->scale);
}

/* At least ln f on [low, high], e^(-x^2/2z^2) included. */
static double log_bound(const quadrature *s, double low, double high)
{
    double nearest = low > 0.0 ? low : high < 0.0 ? high : 0.0, t = nearest / s->z;
    double loss = log_up(s, high), weight = 0.0;

    if (s->kind == REPLACE) {
        weight = pn_nonnegative(log_up(s, -low));
        loss -= log_up(s, -high);
    }
    return weight + fmax(s->alpha * loss, log(s->alpha)) - t * t / 2.0;
}

static void add_panel(quadrature *s, double middle, double half)
{
    static const double point[] = { 0.095012509837637440185, 0.28160355077925891323, 0.45801677765722738634,
                                    0.61787624440264374845,  0.75540440835500303390, 0.86563120238783174388,
                                    0.94457502307323257608,  0.98940093499164993260 };
    static const double weight[] = { 0.18945061045506849629,  0.18260341504492358887, 0.16915651939500253819,
                                     0.14959598881657673208,  0.12462897125553387205, 0.095158511682492784810,
                                     0.062253523938647892863, 0.027152459411754094852 };

    for (size_t i = 0; i < sizeof point / sizeof point[0]; i++) {
        add(s, middle - half * point[i], half * weight[i]);
        add(s, middle + half * point[i], half * weight[i]);
    }
}

/* Panels first ... first + count - 1, halving, so that what does not matter goes in large pieces. */
static void add_panels(quadrature *s, double first, double count)
{
    double low = s->low + first * s->width, high = low + count * s->width, half = floor(count / 2.0);

    if (s->threshold > -INFINITY && log_bound(s, low, high) < s->threshold)
        return;
    if (count == 1.0) {
        add_panel(s, 0.5 * (low + high), 0.5 * s->width);
        return;
    }
    add_panels(s, first + half, count - half); /* the largest values are on the right */
    add_panels(s, first, half);
}

/* Half a panel.  The points resolve an ellipse around it that reaches 1.2 times as far to the side; in it the phase of
 * e^w must stay below pi, and e^((1-alpha) u(-x)) must not grow much. */
static double half_panel(const quadrature *s)
{
    double zz = s->z * s->z, spread = s->q < 0.5 ? s->q * (1.0 - s->q) : 0.25;

    if (s->kind != REPLACE)
        return fmin(2.5 * s->z, 2.5 * zz);
    return fmin(fmin(2.5 * s->z, 1.7 * zz), 2.6 * zz / sqrt(s->alpha * spread));
}

/* A first idea of max ln f: skipping may be timid, never bold. */
static double log_peak(const quadrature *s, double low, double high)
{
    quadrature probe = *s;
    double best = -INFINITY;

    for (int i = 0; i <= 16; i++) {
        double points[] = { low + (high - low) * i / 16.0, (i - 8) * s->z, s->alpha, 2.0 * s->alpha - 1.0 };

        for (size_t k = 0; k < (i ? 2 : 4); k++) {
            if (!(points[k] > low && points[k] <= high))
                continue;
            probe.scale = -INFINITY;
            probe.sum = 0.0;
            add(&probe, points[k], 1.0);
            best = fmax(best, probe.scale + log(probe.sum));
        }
    }
    return best;
}

/* ln(A - 1) */
static double integrate(quadrature *s)
{
    double reach = 9.0 * s->z, low = -reach, high = s->alpha + reach, panels;

    if (s->kind == REPLACE) {
        low = -1.0 - reach;
        high = 2.0 * s->alpha + reach;
    } else if (s->kind == FIXED_SIZE) {
        low = 0.5;
        high += 0.5;
    }
    panels = ceil((high - low) / (2.0 * half_panel(s)));
    s->low = low;
    s->width = (high - low) / panels;
    s->sum = 0.0;
    s->scale = 0.0;
    s->threshold = -INFINITY;
    if (panels > 40.0) { /* else looking for the peak costs more than it saves */
        s->scale = log_peak(s, low, high);
        s->threshold = s->scale - 38.0 - log((high - low) / fmin(s->z, s->z * s->z));
    }
    add_panels(s, 0.0, panels);
    return s->scale + log(s->sum) - log(s->z) - 0.91893853320467274178; /* ln sqrt(2 pi) */
}

static double log_one_plus_exp(double x)
{
    return x > 36.0 ? x : log1p(exp(x));
}

/* ln(e^x - 1), x > 0 */
static double log_expm1(double x)
{
    return x > 36.0 ? x : log(expm1(x));
}

/* When z is so small that the two normal laws hardly meet, each stands for itself: A - 1 = (1-q)(e^(al) - 1) +
 * q(e^r - 1) up to e^(-1/(8 z^2)), with l the loss at the first mode and r the logarithm of what the second adds. */
static bool far_apart(double q, double z)
{
    return z < 0.05 && z * z * fabs(log(q) - log1p(-q)) < 0.1;
}

static double log_far_apart(scheme kind, double q, double z, double alpha)
{
    double a = alpha - 1.0, square = alpha * a / (2.0 * z * z), stay = log1p(-q), leave = log(q);
    double right = square + a * (kind == REPLACE ? leave - stay : leave);
    double log_right = leave + log_expm1(right);

    if (kind != POISSON || log_right > 36.0)
        return log_right;
    return log(exp(log_right) + (1.0 - q) * expm1(a * stay));
}

/* A - 1 = sum over k >= 2 of C(alpha,k) (1-q)^(alpha-k) q^k (e^((k^2-k)/(2z^2)) - 1) */
static double log_sum(double q, double z, int order)
{
    double stay = log1p(-q), step = log(q) - stay, term = order * stay + step + log(order); /* of k = 1 */
    double scale = -INFINITY, sum = 1.0;

    for (int k = 2; k <= order; k++) {
        double x;

        term += step + log((double)(order - k + 1) / k);
        x = term + log_expm1((double)k * (k - 1) / (2.0 * z * z));
        if (k == 2) {
            scale = x;
        } else if (x > scale) {
            sum = sum * exp(scale - x) + 1.0;
            scale = x;
        } else {
            sum += exp(x - scale);
        }
    }
    return scale + log(sum);
}

/* The forms above are good to 1e-13 of A - 1, so also of its logarithm's share of A. */
static double curve(scheme kind, double q, double z, double alpha)
{
    double a = alpha - 1.0, unsampled = (kind == REPLACE ? 4.0 : 1.0) * alpha / (2.0 * z * z), value;
    quadrature s = { .kind = kind, .q = q, .z = z, .alpha = alpha, .log_q = log(q) };

    if (isinf(alpha))
        return INFINITY;
    if (alpha > HUGE_ORDER || unsampled > HUGE_COST)
        return unsampled * (1.0 + 4.0 * DBL_EPSILON);
    if (far_apart(q, z))
        value = log_far_apart(kind, q, z, alpha);
    else if (kind == POISSON && alpha <= 64.0 && alpha == floor(alpha))
        value = log_sum(q, z, (int)alpha);
    else
        value = integrate(&s);
    value = log_one_plus_exp(value) / a;
    return fmin(value + value * 1e-12 + 1e-300, unsampled * (1.0 + 4.0 * DBL_EPSILON));
}

double pn_curve_poisson(double q, double z, double alpha)
{
    return curve(POISSON, q, z, alpha);
}

double pn_curve_fixed_size(double q, double z, double alpha)
{
    return curve(FIXED_SIZE, q, z, alpha);
}

double pn_curve_poisson_replace(double q, double z, double alpha)
{
    return curve(REPLACE, q, z, alpha);
}
