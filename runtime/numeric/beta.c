/* beta.c -- binomial probabilities from logarithms that do not cancel; tails by a continued fraction.
 * Depends on: beta.h, special.h, libm.  Used by: privacy/audit*.c. */
#include <math.h>

#include "numeric/beta.h"
#include "numeric/special.h"

#define TWO_PI      6.28318530717958647692
#define SQRT_TWO_PI 2.50662827463100050242

/* ---- one probability ---- */

double pn_binomial_pmf(size_t k, size_t n, double p)
{
    double x = (double)k, rest = (double)(n - k), total = (double)n;

    if (k > n)
        return 0.0;
    if (p <= 0.0 || p >= 1.0)
        return (p <= 0.0 ? k == 0 : k == n) ? 1.0 : 0.0;
    if (k == 0)
        return exp(total * log1p(-p));
    if (k == n)
        return exp(total * log(p));
    return exp(pn_stirling_rest(total) - pn_stirling_rest(x) - pn_stirling_rest(rest) - pn_deviance(x, total * p) -
               pn_deviance(rest, total * (1.0 - p))) *
           sqrt(total / (TWO_PI * x * rest));
}

/* ---- tails ---- */

/* The continued fraction of I_x(a, b) x^-a (1-x)^-b a B(a, b), by the modified Lentz method; converges fast for
 * x < (a + 1)/(a + b + 2).  Source: DLMF 8.17.22. */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), value;

    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    value = d;
    for (double m = 1.0; m < 1e6; m++) {
        double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)), factor;

        d = 1.0 + even * d;
        c = 1.0 + even / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= c * d;
        d = 1.0 + odd * d;
        c = 1.0 + odd / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        factor = c * d;
        value *= factor;
        if (fabs(factor - 1.0) < 4e-16)
            break;
    }
    return value;
}

/* 0 < k <= n, 0 < p < 1.  P(X >= k) = I_p(k, n - k + 1), and p^k (1-p)^(n-k+1) / (k B) is pmf(k) (1 - p). */
void pn_binomial_tails(size_t k, size_t n, double p, double *below, double *above)
{
    double q = 1.0 - p, high = (double)k, low = (double)(n - k) + 1.0;

    if (k == 0 || k > n || p <= 0.0 || p >= 1.0) {
        *above = k == 0 || (k <= n && p >= 1.0) ? 1.0 : 0.0;
        *below = 1.0 - *above;
    } else if (p < (high + 1.0) / (high + low + 2.0)) {
        *above = fmin(1.0, pn_binomial_pmf(k, n, p) * q * beta_fraction(p, high, low));
        *below = 1.0 - *above;
    } else {
        *below = fmin(1.0, pn_binomial_pmf(k - 1, n, p) * p * beta_fraction(q, low, high));
        *above = 1.0 - *below;
    }
}

/* ---- the normal quantile ---- */

/* Newton's method on ln Phi(z) = ln p, which is concave: from the left it never passes the root.
 * Phi(z) <= exp(-z^2/2). */
double pn_normal_quantile(double p)
{
    double tail = p <= 0.5 ? p : 1.0 - p, goal = log(tail), z = -sqrt(-2.0 * goal);

    if (!(tail > 0.0))
        return p <= 0.5 ? -INFINITY : INFINITY;
    for (int i = 0; i < 60; i++) {
        double here = pn_log_normal_cdf(z), slope = exp(-z * z / 2.0 - here) / SQRT_TWO_PI,
               next = z + (goal - here) / slope;

        if (!(next > z))
            break;
        z = next;
    }
    return p <= 0.5 ? z : -z;
}
