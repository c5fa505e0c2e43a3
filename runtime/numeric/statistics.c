/* statistics.c -- see statistics.h.  Depends on: statistics.h, blas.h.  Used by: bindings/numeric. */
#include <math.h>
#include <stdlib.h>

#include "numeric/blas.h"
#include "numeric/statistics.h"

double pn_mean(size_t n, const double *x)
{
    return pn_sum(n, x) / (double)n;
}

/* sum d^2 - (sum d)^2 / n: the second term is 0 but for what the mean was rounded by.  0 * mean is NaN where the mean
 * is no number, which fmax would pass over. */
double pn_deviation(size_t n, const double *x)
{
    double mean = pn_mean(n, x), squares = 0.0, rest = 0.0;

    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;

        squares += d * d;
        rest += d;
    }
    return sqrt(fmax(0.0, squares - rest * rest / (double)n) / (double)(n - 1)) + 0.0 * mean;
}

/* NaN is above everything, and equal to NaN. */
static int rising(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

void pn_sort(size_t n, double *x)
{
    qsort(x, n, sizeof *x, rising);
}

double pn_quantile(size_t n, const double *x, double q)
{
    double place = (double)(n - 1) * q, below = floor(place), part = place - below;
    size_t i = (size_t)below;

    if (isnan(x[n - 1]))
        return x[n - 1];
    if (part == 0.0 || i + 1 >= n || x[i] == x[i + 1])
        return x[i < n ? i : n - 1];
    return x[i] * (1.0 - part) + x[i + 1] * part;
}
