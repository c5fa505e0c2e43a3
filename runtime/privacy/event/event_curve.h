/* event_curve.h -- the Renyi curves behind the events, and exact sums of them.  Private to privacy/.
 * Depends on: libm.  Used by: event_*.c, accountant*.c, ledger*.c.  See accounting.md sections 2 and 8.
 *
 * Rounding.  A parameter is what its double says; quotients and products of parameters, and what comes out of exp and
 * log, are rounded upward.  No form below overflows or cancels, for any e > 0 and alpha > 1. */
#ifndef PN_PRIVACY_EVENT_CURVE_H
#define PN_PRIVACY_EVENT_CURVE_H

#include <math.h>

/** x/y for x, y > 0, rounded upward: the remainder, which a fused product has without rounding, says whether the
 *  nearest double is below. */
static inline double pn_quotient_up(double x, double y)
{
    double nearest = x / y;

    return fma(nearest, y, -x) < 0.0 || x < 0x1p-960 ? nextafter(nearest, INFINITY) : nearest;
}

/** Rounded downward: of noise, less is on the safe side. */
static inline double pn_quotient_down(double x, double y)
{
    double nearest = x / y;

    return fma(nearest, y, -x) > 0.0 || x < 0x1p-960 ? nextafter(nearest, 0.0) : nearest;
}

/** x y for x, y >= 0, rounded upward. */
static inline double pn_product_up(double x, double y)
{
    double nearest = x * y;

    return fma(x, y, -nearest) > 0.0 ? nextafter(nearest, INFINITY) : nearest;
}

/** x, or 0 where it is below.  NaN stays NaN, which no budget admits; fmax would make it a price of nothing. */
static inline double pn_nonnegative(double x)
{
    return x < 0.0 ? 0.0 : x;
}

/** Any e-DP mechanism; the worst case is randomised response.  Order alpha in (1, inf]; at most min(e, alpha e^2/2). */
double pn_curve_pure(double e, double alpha);

/** The Laplace mechanism with sensitivity/scale = e.  At most pn_curve_pure. */
double pn_curve_laplace(double e, double alpha);

/** A mechanism of bounded range e (the exponential mechanism): the supremum over t of its two-point pairs, in closed
 *  form.  At most min(e, alpha e^2/8).  Source: Dong, Durfee, Rogers (2020); Cesar, Rogers (2021). */
double pn_curve_bounded_range(double e, double alpha);

/** rho alpha; infinite at alpha = inf. */
double pn_curve_zcdp(double rho, double alpha);

/** e^(alpha l) - 1 - alpha (e^l - 1) >= 0 for any real l with alpha l <= 700, without cancellation. */
double pn_above_tangent(double alpha, double l);

/* A sum kept in two doubles.  count * value is added exactly, so the total of many charges does not depend on how they
 * were grouped or ordered, and a plan of `count` steps costs to the last bit what its steps cost one by one. */
typedef struct pn_sum {
    double high, low;
} pn_sum;

static inline void pn_sum_add_one(pn_sum *sum, double value)
{
    double total = sum->high + value, virtual_part = total - sum->high;
    double error = (sum->high - (total - virtual_part)) + (value - virtual_part);

    if (!isfinite(total)) {
        *sum = (pn_sum){ INFINITY, 0.0 };
        return;
    }
    error += sum->low;
    sum->high = total + error;
    sum->low = error - (sum->high - total);
}

/** count >= 0 a whole number, value >= 0, possibly infinite. */
static inline void pn_sum_add(pn_sum *sum, double count, double value)
{
    double product = count * value;

    pn_sum_add_one(sum, product);
    if (isfinite(product) && isfinite(sum->high))
        pn_sum_add_one(sum, fma(count, value, -product));
}

#endif
