/* interval.c -- arithmetic of intervals, rounded outward, in the processor's ordinary rounding to nearest.
 * An end steps one unit outward only when the residual of its operation (TwoSum, or a fused multiply-add) says that
 * rounding went inward, so exact results stay exact.  Residuals that may themselves underflow count as inexact.
 * Depends on: interval.h, interval_math.h, libm.  Used by: expr, objective, bindings. */
#include <float.h>
#include <math.h>

#include "expr/interval_math.h"

/* Below this a product's or quotient's residual may not be a double. */
#define TINY 0x1p-900

static const pn_interval whole = { -INFINITY, INFINITY };

/* ---- one end ---- */

/* Whether an operation's rounded result is one that residuals tell the truth about. */
static inline bool is_ordinary(double x)
{
    return fabs(x) >= TINY && fabs(x) <= DBL_MAX;
}

/* The double below x, which is not 0, when `inward`: without a branch, which would be taken half of the time. */
static inline double lowered(double x, bool inward)
{
    int64_t place;

    memcpy(&place, &x, sizeof place);
    place -= (int64_t)inward * (1 - 2 * (int64_t)(x < 0.0));
    memcpy(&x, &place, sizeof x);
    return x;
}

/* Of numbers whose sum is not finite. */
static double add_down_far(double a, double b, double s)
{
    if (isinf(a) || isinf(b))
        return s == s ? s : -INFINITY;
    return s > 0.0 ? DBL_MAX : s;
}

static inline double add_down(double a, double b)
{
    double s = a + b, back, residual;

    if (!(fabs(s) <= DBL_MAX))
        return add_down_far(a, b, s);
    back = s - a;
    residual = (a - (s - back)) + (b - back);
    return lowered(s, !(residual >= 0.0)); /* also when it is NaN, near the largest number; exact when s is 0 */
}

static double mul_down_far(double a, double b, double p)
{
    double below;

    if (a == 0.0 || b == 0.0) /* also against an infinite end: it is a limit, and 0 times every number is 0 */
        return 0.0;
    if (isinf(a) || isinf(b))
        return p;
    if (isinf(p))
        return p > 0.0 ? DBL_MAX : p;
    below = pn_step(p, -1);
    return (a > 0.0) == (b > 0.0) ? fmax(below, 0.0) : below;
}

static inline double mul_down(double a, double b)
{
    double p = a * b;

    return is_ordinary(p) ? lowered(p, fma(a, b, -p) < 0.0) : mul_down_far(a, b, p);
}

static inline double mul_up(double a, double b)
{
    return -mul_down(-a, b);
}

/* b > 0, not both infinite. */
static double div_down(double a, double b)
{
    double q, below;

    if (a == 0.0)
        return 0.0;
    q = a / b;
    if (isinf(a) || isinf(b))
        return q;
    if (isinf(q))
        return q > 0.0 ? DBL_MAX : q;
    if (is_ordinary(a) && is_ordinary(q))
        return lowered(q, fma(-q, b, a) < 0.0);
    below = pn_step(q, -1);
    return a > 0.0 ? fmax(below, 0.0) : below;
}

static double div_up(double a, double b)
{
    return -div_down(-a, b);
}

/* x >= 0; `way` is -1 or 1. */
static double sqrt_towards(double x, int way)
{
    double s = sqrt(x), residual;

    if (x == 0.0 || isinf(x))
        return s;
    residual = x >= TINY ? fma(-s, s, x) : (double)way;
    return residual * way > 0.0 ? fmax(pn_step(s, way), 0.0) : s;
}

/* ---- intervals ---- */

pn_interval pn_interval_add(pn_interval a, pn_interval b)
{
    return (pn_interval){ add_down(a.low, b.low), -add_down(-a.high, -b.high) };
}

static pn_interval negated(pn_interval a)
{
    return (pn_interval){ -a.high, -a.low };
}

pn_interval pn_interval_mul(pn_interval a, pn_interval b)
{
    if (a.low >= 0.0) {
        if (b.low >= 0.0)
            return (pn_interval){ mul_down(a.low, b.low), mul_up(a.high, b.high) };
        if (b.high <= 0.0)
            return (pn_interval){ mul_down(a.high, b.low), mul_up(a.low, b.high) };
        return (pn_interval){ mul_down(a.high, b.low), mul_up(a.high, b.high) };
    }
    if (a.high <= 0.0)
        return negated(pn_interval_mul(negated(a), b));
    if (b.low >= 0.0 || b.high <= 0.0)
        return pn_interval_mul(b, a);
    return (pn_interval){ fmin(mul_down(a.low, b.high), mul_down(a.high, b.low)),
                          fmax(mul_up(a.low, b.low), mul_up(a.high, b.high)) };
}

pn_interval pn_interval_square(pn_interval a)
{
    double near = a.low > 0.0 ? a.low : a.high < 0.0 ? a.high : 0.0, far = pn_interval_magnitude(a);

    return (pn_interval){ mul_down(near, near), mul_up(far, far) };
}

/* A divisor that may be 0 makes the quotient unbounded on both sides, for the sign of a zero is not known; what is
 * bounded again later, tanh(1/x), may have jumped. */
static pn_interval divide(pn_interval a, pn_interval b, unsigned *doubt)
{
    if (b.low <= 0.0 && b.high >= 0.0) {
        *doubt |= PN_MAY_JUMP;
        if ((a.low <= 0.0 && a.high >= 0.0) || (b.low == 0.0 && b.high == 0.0))
            *doubt |= PN_MAY_BE_UNDEFINED;
        return whole;
    }
    if (b.high < 0.0)
        return divide(negated(a), negated(b), doubt);
    if (a.low >= 0.0)
        return (pn_interval){ div_down(a.low, b.high), div_up(a.high, b.low) };
    if (a.high <= 0.0)
        return (pn_interval){ div_down(a.low, b.low), div_up(a.high, b.high) };
    return (pn_interval){ div_down(a.low, b.low), div_up(a.high, b.low) };
}

static pn_interval root(pn_interval a, unsigned *doubt)
{
    if (a.low < 0.0)
        *doubt |= PN_MAY_BE_UNDEFINED;
    if (a.high < 0.0)
        return whole;
    return (pn_interval){ sqrt_towards(fmax(a.low, 0.0), -1), sqrt_towards(a.high, 1) };
}

static pn_interval absolute(pn_interval a)
{
    if (a.low >= 0.0)
        return a;
    if (a.high <= 0.0)
        return negated(a);
    return (pn_interval){ 0.0, fmax(-a.low, a.high) };
}

static pn_interval sign_of(pn_interval a, unsigned *doubt)
{
    pn_interval s = { a.low > 0.0 ? 1.0 : a.low < 0.0 ? -1.0 : 0.0, a.high > 0.0 ? 1.0 : a.high < 0.0 ? -1.0 : 0.0 };

    if (s.low < s.high)
        *doubt |= PN_MAY_JUMP;
    return s;
}

/* a < b, or a <= b when `or_equal`. */
static pn_interval less(pn_interval a, pn_interval b, bool or_equal, unsigned *doubt)
{
    bool always = or_equal ? a.high <= b.low : a.high < b.low;
    bool never = or_equal ? a.low > b.high : a.low >= b.high;

    if (!always && !never)
        *doubt |= PN_MAY_JUMP;
    return (pn_interval){ always ? 1.0 : 0.0, never ? 0.0 : 1.0 };
}

static pn_interval choose(pn_interval condition, pn_interval a, pn_interval b, unsigned *doubt)
{
    if (condition.low > 0.0 || condition.high < 0.0)
        return a;
    if (condition.low == 0.0 && condition.high == 0.0)
        return b;
    *doubt |= PN_MAY_JUMP;
    return pn_interval_hull(a, b);
}

pn_interval pn_interval_hull(pn_interval a, pn_interval b)
{
    return (pn_interval){ a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high };
}

double pn_interval_magnitude(pn_interval a)
{
    return fmax(fabs(a.low), fabs(a.high));
}

pn_interval pn_interval_apply(pn_opcode op, pn_interval a, pn_interval b, pn_interval c, unsigned *doubt)
{
    switch (op) {
    case PN_X_NEG:
        return negated(a);
    case PN_X_ABS:
        return absolute(a);
    case PN_X_SIGN:
        return sign_of(a, doubt);
    case PN_X_SQRT:
        return root(a, doubt);
    case PN_X_ADD:
        return pn_interval_add(a, b);
    case PN_X_SUB:
        return pn_interval_add(a, negated(b));
    case PN_X_MUL:
        return pn_interval_mul(a, b);
    case PN_X_DIV:
        return divide(a, b, doubt);
    case PN_X_POW:
        return pn_interval_power(a, b, doubt);
    case PN_X_MIN:
        return (pn_interval){ fmin(a.low, b.low), fmin(a.high, b.high) };
    case PN_X_MAX:
        return (pn_interval){ fmax(a.low, b.low), fmax(a.high, b.high) };
    case PN_X_LT:
        return less(a, b, false, doubt);
    case PN_X_LE:
        return less(a, b, true, doubt);
    case PN_X_WHERE:
        return choose(a, b, c, doubt);
    case PN_X_SIN:
        return pn_interval_sin(a);
    case PN_X_COS:
        return pn_interval_cos(a);
    default:
        return pn_interval_monotone(op, a, doubt);
    }
}
