/* root.c -- golden section, and bisection over the ordered bit patterns of doubles.
 * Depends on: root.h, libm.  Used by: privacy, geometry. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "numeric/root.h"

typedef struct golden {
    double (*f)(void *self, double x);
    void *self;
    double best_x, best_f;
} golden;

static double golden_ask(golden *search, double x)
{
    double value = search->f(search->self, x);

    if (value < search->best_f) {
        search->best_f = value;
        search->best_x = x;
    }
    return value;
}

double pn_golden_min(double (*f)(void *self, double x), void *self, double low, double high, double tolerance)
{
    const double ratio = 0.61803398874989484820; /* (sqrt 5 - 1) / 2 */
    golden search = { f, self, low, INFINITY };
    double a = fmin(low, high), b = fmax(low, high);
    double left = b - ratio * (b - a), right = a + ratio * (b - a);
    double at_left, at_right;

    (void)golden_ask(&search, a);
    (void)golden_ask(&search, b);
    at_left = golden_ask(&search, left);
    at_right = golden_ask(&search, right);
    /* a < left < right < b fails once the bracket is a few doubles wide: then no tolerance could ask for more. */
    while (b - a > tolerance && a < left && left < right && right < b) {
        if (at_left <= at_right) {
            b = right;
            right = left;
            at_right = at_left;
            left = b - ratio * (b - a);
            at_left = golden_ask(&search, left);
        } else {
            a = left;
            left = right;
            at_left = at_right;
            right = a + ratio * (b - a);
            at_right = golden_ask(&search, right);
        }
    }
    return search.best_x;
}

/* Doubles in order as integers: adjacent doubles are adjacent integers, -0 and 0 are both 0. */
static int64_t order_of(double x)
{
    int64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits;
}

static double double_of(int64_t order)
{
    int64_t bits = order >= 0 ? order : INT64_MIN - order;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

double pn_middle(double low, double high)
{
    int64_t below = order_of(low), over = order_of(high);

    return double_of(below + (int64_t)(((uint64_t)over - (uint64_t)below) / 2));
}

double pn_bisect(bool (*above)(void *self, double x), void *self, double low, double high)
{
    int64_t below = order_of(low), over = order_of(high);

    if (!above(self, high))
        return high;
    if (above(self, low))
        return low;
    for (;;) {
        uint64_t apart = (uint64_t)over - (uint64_t)below; /* may exceed INT64_MAX, never UINT64_MAX */
        int64_t middle = below + (int64_t)(apart / 2);

        if (apart <= 1)
            return double_of(below);
        if (above(self, double_of(middle)))
            over = middle;
        else
            below = middle;
    }
}

double pn_newton(double (*f)(void *self, double x, double *slope), void *self, double low, double high)
{
    double slope, at_low = f(self, low, &slope), first_slope = slope, x, value, last;

    if (at_low == 0.0)
        return low;
    last = value = f(self, high, &slope);
    if (value == 0.0 || (value > 0.0) == (at_low > 0.0))
        return fabs(at_low) < fabs(value) ? low : high;
    x = first_slope != 0.0 && isfinite(first_slope) ? low - at_low / first_slope : INFINITY;
    for (int calls = 2; calls < 200; calls++) {
        int64_t below = order_of(low), over = order_of(high);

        if ((uint64_t)over - (uint64_t)below <= 1)
            break;
        if (!(x > low && x < high))
            x = pn_middle(low, high);
        value = f(self, x, &slope);
        if (value == 0.0)
            return x;
        if ((value > 0.0) == (at_low > 0.0))
            low = x;
        else
            high = x;
        slope = isfinite(slope) ? slope : 0.0;
        if (slope != 0.0 && fabs(value / slope) <= DBL_EPSILON * fabs(x))
            return x;
        x = slope != 0.0 && fabs(value) <= 0.5 * fabs(last) ? x - value / slope : INFINITY;
        last = value;
    }
    return x > low && x < high ? x : low;
}

double pn_newton_near(double (*f)(void *self, double x, double *slope), void *self, double x, double low, double high)
{
    double last = INFINITY;

    while (x > low && x < high) {
        double slope, value = f(self, x, &slope), step = value / slope;

        if (value == 0.0 || fabs(step) <= DBL_EPSILON * fabs(x))
            return x;
        if (!isfinite(step) || fabs(value) > 0.5 * last)
            break;
        if (step > 0.0) /* the root is below */
            high = x;
        else
            low = x;
        x -= step;
        last = fabs(value);
    }
    return pn_newton(f, self, low, high);
}
