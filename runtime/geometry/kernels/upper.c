/* upper.c -- norms rounded outward.  Sums are taken in long double, then raised by the worst rounding of the sum.
 * Depends on: upper.h.  Used by: the sets of this room. */
#include <float.h>
#include <math.h>

#include "geometry/kernels/upper.h"

long double pn_norm_term(pn_lp norm, long double x)
{
    return norm == PN_L2 ? x * x : fabsl(x);
}

long double pn_norm_join(pn_lp norm, long double a, long double b)
{
    return norm == PN_LINF ? fmaxl(a, b) : a + b;
}

static double up(long double x)
{
    double rounded = (double)x;

    return (long double)rounded < x ? nextafter(rounded, INFINITY) : rounded;
}

double pn_norm_finish(pn_lp norm, long double joined, size_t n)
{
    long double value = norm == PN_L2 ? sqrtl(joined) : joined;

    if (norm == PN_LINF)
        return up(value);
    return up(value * (1.0L + (long double)(n + 2) * LDBL_EPSILON));
}

double pn_distance_upper(pn_lp norm, const double *x, const double *y, size_t n)
{
    long double joined = 0.0L;

    for (size_t j = 0; j < n; j++)
        joined = pn_norm_join(norm, joined, pn_norm_term(norm, (long double)x[j] - (y ? (long double)y[j] : 0.0L)));
    if (norm == PN_LINF && y)
        joined *= 1.0L + 2.0L * LDBL_EPSILON; /* the differences round too */
    return pn_norm_finish(norm, joined, n);
}

double pn_norm_upper(pn_lp norm, const double *x, size_t n)
{
    return pn_distance_upper(norm, x, NULL, n);
}

double pn_times_up(double a, double b)
{
    double product = a * b;

    if (product < DBL_MIN && a > 0.0 && b > 0.0) /* the error may itself be too small for a number */
        return nextafter(product, INFINITY);
    return fma(a, b, -product) > 0.0 ? nextafter(product, INFINITY) : product;
}

/* The rounding error of a sum is itself a double (Knuth's two-sum). */
double pn_plus_up(double a, double b)
{
    double sum = a + b, part = sum - a;
    double error = (a - (sum - part)) + (b - part);

    return error > 0.0 ? nextafter(sum, INFINITY) : sum;
}

bool pn_square_fits(double size)
{
    return size >= 1e-120 && size <= 1e120;
}
