/* event_curve.c -- closed forms of the Renyi curves, each written so that nothing cancels for small e and nothing
 * overflows for large e.  Depends on: event_curve.h, libm.  Used by: the events.
 *
 * All have the shape ln(A)/(alpha-1), A = E_Q exp(alpha L).  For moderate alpha e they compute A - 1 as a sum of terms
 * >= 0 and take log1p; beyond that the leading exponential is taken out in logs. */
#include <float.h>

#include "privacy/event/event_curve.h"

/* Above this alpha e, 1 is invisible beside A and the logarithmic forms lose nothing. */
static const double far_out = 40.0;

/* The forms are good to about 1e-13. */
static double upward(double x)
{
    return x + x * 1e-12 + DBL_MIN;
}

static double cap(double value, double e, double quadratic)
{
    return fmin(upward(value), fmin(e, quadratic * (1.0 + 0x1p-50)));
}

/* e^x - 1 - x >= 0 */
static double exp_beyond_linear(double x)
{
    double term = x * x / 2.0, sum = term;

    if (fabs(x) >= 0.5)
        return expm1(x) - x;
    for (int k = 3; k <= 16; k++) {
        term *= x / k;
        sum += term;
    }
    return sum;
}

/* A = cosh((alpha - 1/2)e) / cosh(e/2), a product of hyperbolic sines above 1. */
double pn_curve_pure(double e, double alpha)
{
    double a = alpha - 1.0, value;

    if (isinf(alpha) || isinf(e))
        return e;
    if (alpha * e <= far_out)
        value = log1p(2.0 * sinh(alpha * e / 2.0) * sinh(a * e / 2.0) / cosh(e / 2.0)) / a;
    else
        value = e - (log1p(exp(-e)) - log1p(exp(-(alpha + a) * e))) / a;
    return cap(value, e, alpha * e * e / 2.0);
}

/* A - 1 = [alpha (e^x - 1 - x) + (alpha-1)(e^-y - 1 + y)] / (2 alpha - 1), x = (alpha-1)e, y = alpha e. */
double pn_curve_laplace(double e, double alpha)
{
    double a = alpha - 1.0, value;

    if (isinf(alpha) || isinf(e))
        return e;
    if (alpha * e <= far_out)
        value = log1p((alpha * exp_beyond_linear(a * e) + a * exp_beyond_linear(-alpha * e)) / (alpha + a)) / a;
    else
        value = e + log1p(a * expm1(-(alpha + a) * e) / (alpha + a)) / a;
    return cap(value, e, alpha * e * e / 2.0);
}

/* Where the two-point pair of range e is worst: with u = e^t, A is proportional to u^(alpha-1) (1 - e^(-alpha e)) -
 * u^alpha (e^-e - e^(-alpha e)), so u = (alpha-1)(1 - e^(-alpha e)) / (alpha (e^-e - e^(-alpha e))).  Returns e - t,
 * which counts where it is far below e: taken from doubles e and t it would be 0, as if the loss e never came. */
static double worst_gap(double e, double alpha)
{
    double a = alpha - 1.0, gap;

    if (alpha * e < 0.5) {
        /* ln((1-e^-x)/x) = -x/2 + x^2/24 - x^4/2880 + x^6/181440 - ... at y less the same at x; y^2 - x^2 = (y + x)e */
        double y = alpha * e, x = a * e, yy = y * y, xx = x * x;

        gap = e / 2.0 - (y + x) * e * (1.0 / 24.0 - (yy + xx) / 2880.0 + (yy * yy + yy * xx + xx * xx) / 181440.0);
    } else {
        double shrink = alpha < 2.0 ? log(a / alpha) : log1p(-1.0 / alpha);

        gap = -shrink - log1p(-expm1(-e) * exp(-a * e) / -expm1(-a * e));
    }
    return fmin(fmax(gap, 0.0), e);
}

/* e^(alpha l) - 1 - alpha (e^l - 1) = e^l (e^(al) - 1) - a (e^l - 1) >= 0, a = alpha - 1 */
double pn_above_tangent(double alpha, double l)
{
    double a = alpha - 1.0, power = l, ratio = 0.0, sum = 0.0; /* l^k/k! and (alpha^(k-1) - 1)/a */
    double size = fabs(alpha * l);
    int terms = size < 1e-3 ? 6 : size < 0.05 ? 9 : 18;

    if (size >= 0.5)
        return exp(l) * expm1(a * l) - a * expm1(l);
    for (int k = 2; k <= terms; k++) {
        power *= l / k;
        ratio = ratio * alpha + 1.0;
        sum += ratio * power;
    }
    return alpha * a * sum;
}

static double log_add(double x, double y)
{
    double top = fmax(x, y);

    return top + log1p(exp(fmin(x, y) - top));
}

/* ln(1 - e^-x), x > 0 */
static double log_rest(double x)
{
    return x > 0.69 ? log1p(-exp(-x)) : log(-expm1(-x));
}

/* Losses t and t - e; the first has mass w = (1 - e^(t-e)) e^-t / (1 - e^-e) under Q. */
double pn_curve_bounded_range(double e, double alpha)
{
    double a = alpha - 1.0, quadratic = alpha * e * e / 8.0, gap, t, value;

    if (isinf(alpha) || isinf(e))
        return e;
    gap = worst_gap(e, alpha);
    t = e - gap;
    if (alpha * e <= far_out) {
        double whole = -expm1(-e), w = -expm1(-gap) * exp(-t) / whole, rest = -expm1(-t) / whole;

        value = log1p(w * pn_above_tangent(alpha, t) + rest * pn_above_tangent(alpha, -gap)) / a;
    } else { /* w e^(alpha t) has e^(a t), not the quotient of e^(alpha t) and e^t, whose logarithms cancel */
        double log_a = log_add(log_rest(gap) + a * t, log_rest(t) - alpha * gap) - log_rest(e);

        value = (log_a + 0x1p-50 * (1.0 + fabs(log_a))) / a; /* near order 1 rounding counts */
    }
    /* e below the smallest normal square, or t on an end of its interval: the bounds that always hold. */
    return isnan(value) ? fmin(e, quadratic) : cap(value, e, quadratic);
}

double pn_curve_zcdp(double rho, double alpha)
{
    return isinf(alpha) ? INFINITY : pn_product_up(rho, alpha);
}
