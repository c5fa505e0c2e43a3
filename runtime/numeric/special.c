/* special.c -- scaled error function and the logarithm of the normal distribution function.
 * Depends on: special.h, libm.  Used by: privacy. */
#include <math.h>

#include "numeric/special.h"

static const double sqrt_half = 0.70710678118654752440, one_over_sqrt_pi = 0.56418958354775628695;

/* exp(x^2); rounding x^2 alone would cost x^2 units in the last place. */
static double exp_square(double x)
{
    double square = x * x, rest = fma(x, x, -square);

    return isinf(square) ? INFINITY : exp(square) * (1.0 + rest);
}

/* Asymptotic series 1/(x sqrt(pi)) sum (-1)^k (2k-1)!!/(2x^2)^k for x >= 12: its terms fall below 1e-16 before they grow. */
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
