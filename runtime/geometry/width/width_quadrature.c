/* width_quadrature.c -- E max of independent variables, as integrals of 1 - prod of their distribution functions.
 * Products are exponentials of sums of logarithms, so that 1 - F^p keeps its digits where F is near 1.
 * Depends on: width_quadrature.h.  Used by: the sets of vectors of this room.  See geometry.md section 2. */
#include <float.h>
#include <math.h>

#include "geometry/width/width_quadrature.h"
#include "numeric/quadrature.h"
#include "numeric/special.h"

#define TOLERANCE 1e-13
#define FAR       14.0 /* 2^53 P(|N(0, 1)| > FAR) < 1e-27 */

static const double sqrt_half = 0.70710678118654752440, sqrt_two = 1.41421356237309504880;

static pn_width between(double value, double error, pn_width_method method)
{
    pn_width out = { value, value - error, value + error, method, 0, 1.0, 0.0 };

    return out;
}

pn_width pn_width_exactly(double value)
{
    return between(value, 1e-13 * fabs(value), PN_WIDTH_EXACT);
}

pn_width pn_width_times(pn_width width, double factor)
{
    double error = fmax(width.high - width.value, width.value - width.low) * factor;
    double value = width.value * factor;

    return between(value, error + DBL_EPSILON * fabs(value), width.method);
}

pn_width pn_width_of_l2(size_t dim)
{
    return pn_width_exactly(sqrt_two * pn_gamma_half_ratio(0.5 * (double)dim));
}

/* ---- equal laws ---- */

typedef struct power {
    double p;
} power;

/* 1 - P(|N(0, 1)| <= t)^p */
static double sizes_above(void *self, double t)
{
    return -expm1(((const power *)self)->p * log1p(-erfc(t * sqrt_half)));
}

/* 1 - Phi(t)^p - Phi(-t)^p, whose second part is the integral over the negative numbers. */
static double entries_above(void *self, double t)
{
    double p = ((const power *)self)->p;

    return -expm1(p * pn_log_normal_cdf(t)) - exp(p * pn_log_normal_cdf(-t));
}

static double entries_above_zero(void *self, double t)
{
    return -expm1(((const power *)self)->p * pn_log_normal_cdf(t));
}

/* The integrand is flat up to about sqrt(2 ln p) and falls from there. */
static pn_width integrate(double (*f)(void *self, double t), void *self, double low, double middle, double high)
{
    double before, after;
    double value = pn_integrate(f, self, low, middle, TOLERANCE, &before);

    value += pn_integrate(f, self, middle, high, TOLERANCE, &after);
    return between(value, before + after + 1e-14 * fabs(value), PN_WIDTH_QUADRATURE);
}

static pn_width of_power(double (*f)(void *self, double t), size_t dim)
{
    power of = { (double)dim };

    return integrate(f, &of, 0.0, sqrt(2.0 * log(1.0 + of.p)), FAR);
}

pn_width pn_width_of_l1(size_t dim)
{
    return of_power(sizes_above, dim);
}

pn_width pn_width_of_simplex(size_t dim)
{
    return dim == 1 ? pn_width_exactly(0.0) : of_power(entries_above, dim);
}

pn_width pn_width_of_unit_simplex(size_t dim)
{
    return of_power(entries_above_zero, dim);
}

/* ---- blocks ---- */

typedef struct groups {
    double whole, size, rest; /* blocks of `size` coordinates, and one of `rest`, which may be 0 */
} groups;

/* ln P(chi_size <= t) */
static double log_chi_cdf(double size, double t)
{
    double below, above;

    pn_gamma_tails(0.5 * size, 0.5 * t * t, &below, &above);
    return below < 0.5 ? log(below) : log1p(-above);
}

static double longest_above(void *self, double t)
{
    const groups *g = self;
    double sum = g->whole * log_chi_cdf(g->size, t);

    return -expm1(g->rest > 0.0 ? sum + log_chi_cdf(g->rest, t) : sum);
}

/* ||b|| of a block is within FAR of sqrt(size) but for 1e-42: below that the integrand is 1. */
pn_width pn_width_of_groups(size_t dim, size_t k)
{
    groups of = { (double)(dim / k), (double)k, (double)(dim % k) };
    double root = sqrt(of.size), low = fmax(0.0, root - FAR);
    pn_width out = integrate(longest_above, &of, low, root + sqrt(2.0 * log1p(of.whole)), root + FAR + 1.0);

    return between(low + out.value, out.high - out.value + DBL_EPSILON * low, PN_WIDTH_QUADRATURE);
}

/* ---- unequal laws ---- */

typedef struct reaches {
    const double *reach;
    size_t count;
    double unit;
} reaches;

/* 1 - prod P(reach_j |N(0, 1)| <= t), in units of the largest reach. */
static double reaches_above(void *self, double t)
{
    const reaches *r = self;
    double sum = 0.0;

    for (size_t j = 0; j < r->count; j++) {
        double reach = r->reach[j] / r->unit;

        if (reach * FAR * 2.0 > t)
            sum += log1p(-erfc(t / reach * sqrt_half));
    }
    return -expm1(sum);
}

pn_width pn_width_of_reaches(const double *reach, size_t count)
{
    reaches of = { reach, count, 0.0 };
    pn_width out;

    for (size_t j = 0; j < count; j++)
        of.unit = fmax(of.unit, reach[j]);
    if (of.unit == 0.0)
        return pn_width_exactly(0.0);
    out = integrate(reaches_above, &of, 0.0, sqrt(2.0 * log(1.0 + (double)count)), FAR);
    return pn_width_times(out, of.unit);
}
