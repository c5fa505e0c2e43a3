/* special.c -- scaled error function, the logarithm of the normal distribution function, the incomplete gamma function.
 * Depends on: special.h, libm.  Used by: numeric, privacy, geometry. */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "numeric/special.h"

static const double sqrt_half = 0.70710678118654752440, one_over_sqrt_pi = 0.56418958354775628695;

/* exp(x^2); rounding x^2 alone would cost x^2 units in the last place. */
static double exp_square(double x)
{
    double square = x * x, rest = fma(x, x, -square);

    return isinf(square) ? INFINITY : exp(square) * (1.0 + rest);
}

/* Asymptotic series 1/(x sqrt(pi)) sum (-1)^k (2k-1)!!/(2x^2)^k for x >= 12: its terms fall below 1e-16 before they
 * grow. */
static double erfcx_far(double x)
{
    double step = 0.5 / x / x, term = 1.0, sum = 1.0;

    for (int k = 1; k <= 12; k++) {
        term *= -(2 * k - 1) * step;
        sum += term;
    }
    return one_over_sqrt_pi * sum / x;
}

double pn_erfcx(double x)
{
    return x < 12.0 ? exp_square(x) * erfc(x) : erfcx_far(x);
}

double pn_log_normal_cdf(double x)
{
    if (x > 0.0)
        return log1p(-0.5 * erfc(x * sqrt_half));
    if (x > -5.0)
        return log(0.5 * erfc(-x * sqrt_half));
    return isinf(x) ? -INFINITY : -0.5 * x * x + log(0.5 * pn_erfcx(-x * sqrt_half));
}

/* ---- gamma ---- */

static const double two_pi = 6.28318530717958647692;

double pn_stirling_rest(double x)
{
    double square = x * x;

    if (x > 15.0)
        return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) / square) /
               x;
    return log(tgamma(x + 1.0)) - ((x + 0.5) * log(x) - x + 0.5 * log(two_pi));
}

/* Near m in powers of t = (x - m)/(x + m): x ln(x/m) = 2x (t + t^3/3 + ...), x - m = t (x + m). */
double pn_deviance(double x, double m)
{
    double t = (x - m) / (x + m), power = t, sum = (x - m) * t, next;

    if (fabs(t) > 0.1)
        return x * log(x / m) + m - x;
    for (double odd = 3.0;; odd += 2.0) {
        power *= t * t;
        next = sum + 2.0 * x * power / odd;
        if (next == sum)
            return sum;
        sum = next;
    }
}

/* x^a e^-x / Gamma(a + 1) */
static double gamma_term(double a, double x)
{
    return exp(-pn_deviance(a, x) - pn_stirling_rest(a)) / sqrt(two_pi * a);
}

/* P = term (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...), for x below a + 1. */
static double gamma_series(double a, double x)
{
    double term = 1.0, sum = 1.0;

    for (double i = 1.0; term > 0.25 * DBL_EPSILON * sum; i += 1.0) {
        term *= x / (a + i);
        sum += term;
    }
    return sum;
}

/* Q = a term / (x + 1 - a - 1(1-a)/(x + 3 - a - 2(2-a)/(x + 5 - a - ...))), for x above a + 1; Lentz's evaluation. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, h = d, factor = 0.0;

    for (double i = 1.0; fabs(factor - 1.0) > DBL_EPSILON && i < 1e7; i += 1.0) {
        double top = -i * (i - a);

        b += 2.0;
        d = 1.0 / (top * d + b);
        c = b + top / c;
        factor = c * d;
        h *= factor;
    }
    return h;
}

void pn_gamma_tails(double shape, double x, double *below, double *above)
{
    if (!(x > 0.0) || isinf(x)) {
        *below = x > 0.0 ? 1.0 : 0.0;
        *above = 1.0 - *below;
    } else if (x < shape + 1.0) {
        *below = gamma_term(shape, x) * gamma_series(shape, x);
        *above = 1.0 - *below;
    } else {
        *above = shape * gamma_term(shape, x) * gamma_fraction(shape, x);
        *below = 1.0 - *above;
    }
}

/* The expansion at infinity, reached by Gamma(x + 3/2)/Gamma(x + 1) = (1 + 1/(2x)) Gamma(x + 1/2)/Gamma(x). */
double pn_gamma_half_ratio(double x)
{
    static const double series[] = { 39325.0 / 33554432, 869.0 / 4194304, -399.0 / 262144, -21.0 / 32768,
                                     5.0 / 1024,         1.0 / 128,       -1.0 / 8,        1.0 };
    double factor = 1.0, sum = 0.0;

    for (; x < 50.0; x += 1.0)
        factor *= x / (x + 0.5);
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++)
        sum = sum / x + series[i];
    return factor * sqrt(x) * sum;
}
