/* gaussian.c -- the analytic Gaussian mechanism, to full relative accuracy for every mu.
 * Depends on: gaussian.h, numeric/special.h, numeric/root.h.  Used by: calibration, accountants.
 *
 * With a = mu/2 - epsilon/mu and b = mu/2 + epsilon/mu, exp(epsilon) Phi(-b) = exp(-a^2/2) erfcx(b/sqrt 2)/2, so
 * exp(epsilon) never appears.  The difference cancels when mu is small or a negative; then
 *     delta = mu int_0^inf exp(-mu s) Phi(a - s) ds,
 * whose integrand is positive. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "numeric/root.h"
#include "numeric/special.h"
#include "privacy/event/gaussian.h"

static const double sqrt_half = 0.70710678118654752440;

/* exp(c^2/2 - mu s) Phi(-c - s) */
static double scaled(double mu, double c, double s)
{
    return exp(-(c + mu + 0.5 * s) * s) * 0.5 * pn_erfcx((c + s) * sqrt_half);
}

/* Gauss-Legendre panels over the s where the integrand falls by e^40. */
static double integral(double mu, double c)
{
    static const double point[] = { 0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                                    0.96028985649753623168 };
    static const double weight[] = { 0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                     0.10122853629037625915 };
    const int panels = 24;
    double slope = c + mu, width = 80.0 / (slope + sqrt(slope * slope + 80.0)) / panels, sum = 0.0;

    for (int p = 0; p < panels; p++) {
        for (size_t i = 0; i < 4; i++) {
            double middle = (p + 0.5) * width, off = 0.5 * width * point[i];

            sum += weight[i] * (scaled(mu, c, middle - off) + scaled(mu, c, middle + off));
        }
    }
    return 0.5 * width * sum;
}

double pn_gaussian_delta(double mu, double epsilon)
{
    double a = mu / 2.0 - epsilon / mu, value;

    if (!(mu > 0.0 && epsilon >= 0.0))
        return NAN;
    if (isinf(mu))
        return 1.0;
    if (mu < 1.0 || a < 0.0)
        value = isinf(a) ? 0.0 : exp(log(mu) - 0.5 * a * a + log(integral(mu, -a)));
    else
        value =
            1.0 - 0.5 * erfc(a * sqrt_half) - 0.5 * exp(-0.5 * a * a) * pn_erfcx((mu / 2.0 + epsilon / mu) * sqrt_half);
    return fmin(1.0, value + value * 1e-12 + DBL_MIN);
}

/* Is pn_gaussian_delta(mu, epsilon) <= delta?  In searches most points are far from the answer, where the difference of
 *     delta = exp(-a^2/2) (erfcx(-a/sqrt 2) - erfcx(b/sqrt 2))/2
 * is near enough: it loses SPACING near/(near - far), and pn_gaussian_delta has DOUBT with what it is rounded up by.
 * The answer is that of pn_gaussian_delta at every point, so that searches end at the same double. */
#define DOUBT   1e-11
#define SPACING 1e-14

static bool within(double mu, double epsilon, double delta)
{
    double a = mu / 2.0 - epsilon / mu, near = pn_erfcx(-a * sqrt_half), far, value;

    far = pn_erfcx((mu / 2.0 + epsilon / mu) * sqrt_half);
    value = 0.5 * exp(-0.5 * a * a) * (near - far);
    if (value > 1e-290 && fabs(value - delta) > value * (DOUBT + SPACING * near / (near - far)))
        return value < delta;
    return pn_gaussian_delta(mu, epsilon) <= delta;
}

typedef struct question {
    double mu, epsilon, delta;
} question;

static bool is_private(void *self, double epsilon)
{
    const question *q = self;

    return within(q->mu, epsilon, q->delta);
}

/* delta(epsilon) <= exp(-(epsilon - mu^2/2)^2 / (2 mu^2)) above mu^2/2. */
double pn_gaussian_epsilon(double mu, double delta)
{
    question q = { .mu = mu, .delta = delta };
    double high;

    if (!(mu > 0.0 && delta >= 0.0 && delta <= 1.0))
        return NAN;
    high = (mu * mu / 2.0 + mu * sqrt(-2.0 * log(delta))) * (1.0 + 1e-9);
    if (is_private(&q, 0.0))
        return 0.0;
    if (!isfinite(high) || !is_private(&q, high))
        return INFINITY;
    return nextafter(pn_bisect(is_private, &q, 0.0, high), INFINITY);
}

static bool too_much(void *self, double mu)
{
    const question *q = self;

    return !within(mu, q->epsilon, q->delta);
}

double pn_gaussian_mu(double epsilon, double delta)
{
    question q = { .epsilon = epsilon, .delta = delta };
    double low = 1.0, high = 1.0;

    if (!(epsilon >= 0.0 && delta >= 0.0 && delta < 1.0))
        return NAN;
    if (isinf(epsilon))
        return INFINITY;
    while (low > 0.0 && too_much(&q, low))
        low /= 2.0;
    while (isfinite(high) && !too_much(&q, high))
        high *= 2.0;
    return low > 0.0 && isfinite(high) ? pn_bisect(too_much, &q, low, high) : low;
}
