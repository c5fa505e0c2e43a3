/* interval_math.c -- enclosures of the transcendental functions and of powers.
 * glibc documents at most 2 units in the last place for the functions used here; what is composed of two of them
 * (sigmoid, softplus) is within 3 units, so it is widened by twice as much.  Depends on: interval_math.h, libm.
 * Used by: interval.c. */
#include <math.h>

#include "expr/interval_math.h"

#define WIDEN 4 /* places, each way */

static double sigmoid(double x)
{
    double e = exp(-fabs(x));

    return x >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

static double softplus(double x)
{
    return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

/* An increasing function, its range, a point where its value is exact, and where its domain begins (at -inf values). */
typedef struct increasing {
    double (*at)(double x);
    double low, high;
    double anchor, anchored; /* at(anchor) == anchored; NaN for none */
    double begin;
    int widen;
} increasing;

static const increasing functions[PN_X_COUNT] = {
    [PN_X_EXP] = { exp, 0.0, INFINITY, 0.0, 1.0, -INFINITY, WIDEN },
    [PN_X_LOG] = { log, -INFINITY, INFINITY, 1.0, 0.0, 0.0, WIDEN },
    [PN_X_LOG1P] = { log1p, -INFINITY, INFINITY, 0.0, 0.0, -1.0, WIDEN },
    [PN_X_EXPM1] = { expm1, -1.0, INFINITY, 0.0, 0.0, -INFINITY, WIDEN },
    [PN_X_TANH] = { tanh, -1.0, 1.0, 0.0, 0.0, -INFINITY, WIDEN },
    [PN_X_SIGMOID] = { sigmoid, 0.0, 1.0, 0.0, 0.5, -INFINITY, 2 * WIDEN },
    [PN_X_SOFTPLUS] = { softplus, 0.0, INFINITY, NAN, NAN, -INFINITY, 2 * WIDEN },
    [PN_X_ERF] = { erf, -1.0, 1.0, 0.0, 0.0, -INFINITY, WIDEN },
};

static double value_below(const increasing *f, double x)
{
    double v;

    if (x == f->anchor)
        return f->anchored;
    if (x == f->begin)
        return f->low;
    v = fmax(pn_step(f->at(x), -f->widen), f->low);
    return x > f->anchor ? fmax(v, f->anchored) : v;
}

static double value_above(const increasing *f, double x)
{
    double v;

    if (x == f->anchor)
        return f->anchored;
    v = fmin(pn_step(f->at(x), f->widen), f->high);
    return x < f->anchor ? fmin(v, f->anchored) : v;
}

pn_interval pn_interval_monotone(pn_opcode op, pn_interval a, unsigned *doubt)
{
    const increasing *f = &functions[op];
    pn_interval v;

    if (!f->at)
        return (pn_interval){ -INFINITY, INFINITY };
    if (a.low < f->begin) {
        *doubt |= PN_MAY_BE_UNDEFINED;
        if (a.high < f->begin)
            return (pn_interval){ -INFINITY, INFINITY };
        a.low = f->begin;
    }
    /* At the pole itself the upper end is the value just beside it. */
    v.high = value_above(f, a.high > f->begin ? a.high : pn_step(f->begin, 1));
    v.low = value_below(f, a.low);
    if (op == PN_X_SOFTPLUS)
        v.low = fmax(v.low, a.low);
    return v;
}

/* ---- sine and cosine ---- */

static const double pi = 3.14159265358979323846;

/* f has maxima at (2k + shift) pi and minima between them; a point where one may lie counts as one where it does. */
static pn_interval wave(double (*f)(double), pn_interval a, double shift)
{
    double from = f(a.low), to = f(a.high), first, last, slack;
    pn_interval v;

    if (!(a.high - a.low < 6.0))
        return (pn_interval){ -1.0, 1.0 };
    v.low = fmax(pn_step(fmin(from, to), -WIDEN), -1.0);
    v.high = fmin(pn_step(fmax(from, to), WIDEN), 1.0);
    if (a.low == a.high)
        return v;
    if (pn_interval_magnitude(a) > 0x1p40)
        return (pn_interval){ -1.0, 1.0 };
    slack = 0x1p-50 * (1.0 + pn_interval_magnitude(a));
    first = ceil(a.low / pi - shift - slack);
    last = floor(a.high / pi - shift + slack);
    for (double k = first; k <= last; k += 1.0) {
        if (fmod(k, 2.0) == 0.0)
            v.high = 1.0;
        else
            v.low = -1.0;
    }
    return v;
}

pn_interval pn_interval_sin(pn_interval a)
{
    pn_interval v;

    if (a.low == 0.0 && a.high == 0.0)
        return a;
    v = wave(sin, a, 0.5);
    if (a.low >= 0.0 && a.high <= 3.0)
        v.low = fmax(v.low, 0.0);
    if (a.high <= 0.0 && a.low >= -3.0)
        v.high = fmin(v.high, 0.0);
    return v;
}

pn_interval pn_interval_cos(pn_interval a)
{
    if (a.low == 0.0 && a.high == 0.0)
        return (pn_interval){ 1.0, 1.0 };
    return wave(cos, a, 0.0);
}

/* ---- powers ---- */

/* x^n for x >= 0, n > 0: increasing. */
static pn_interval rising_power(double low, double high, double n)
{
    pn_interval v = { low, high };

    if (low != 0.0 && low != 1.0)
        v.low = fmax(pn_step(pow(low, n), -WIDEN), low > 1.0 ? 1.0 : 0.0);
    if (high != 0.0 && high != 1.0)
        v.high = fmin(pn_step(pow(high, n), WIDEN), high < 1.0 ? 1.0 : INFINITY);
    return v;
}

static pn_interval whole_power(pn_interval a, double n)
{
    bool odd = fmod(n, 2.0) != 0.0;
    pn_interval v;

    if (a.low >= 0.0)
        return rising_power(a.low, a.high, n);
    if (a.high <= 0.0) {
        v = rising_power(-a.high, -a.low, n);
        return odd ? (pn_interval){ -v.high, -v.low } : v;
    }
    if (odd)
        return (pn_interval){ -rising_power(0.0, -a.low, n).high, rising_power(0.0, a.high, n).high };
    return rising_power(0.0, pn_interval_magnitude(a), n);
}

/* 1 / v, where v = x^n; a power that is not negative is positive where it is not 0. */
static pn_interval reciprocal(pn_interval v, bool positive, unsigned *doubt)
{
    const pn_interval one = { 1.0, 1.0 };
    pn_interval far = { v.high, v.high };

    if (!positive || v.low > 0.0)
        return pn_interval_apply(PN_X_DIV, one, v, one, doubt);
    *doubt |= PN_MAY_JUMP;
    return (pn_interval){ v.high > 0.0 ? pn_interval_apply(PN_X_DIV, one, far, one, doubt).low : 0.0, INFINITY };
}

pn_interval pn_interval_power(pn_interval a, pn_interval b, unsigned *doubt)
{
    double n = b.low;

    if (isinf(n) && b.low == b.high)
        return (pn_interval){ -INFINITY, INFINITY };
    if (b.low == b.high && n == floor(n)) {
        if (n == 0.0)
            return (pn_interval){ 1.0, 1.0 };
        if (n > 0.0)
            return whole_power(a, n);
        return reciprocal(whole_power(a, -n), fmod(n, 2.0) == 0.0, doubt);
    }
    if (a.low < 0.0) {
        *doubt |= PN_MAY_BE_UNDEFINED;
        if (a.high < 0.0 || b.low != b.high)
            return (pn_interval){ -INFINITY, INFINITY };
        a.low = 0.0;
    }
    if (b.low == b.high)
        return n > 0.0 ? rising_power(a.low, a.high, n) : reciprocal(rising_power(a.low, a.high, -n), true, doubt);
    if (a.low <= 0.0 && b.low <= 0.0) /* 0^b falls from infinity through 1 to 0 as b grows */
        *doubt |= PN_MAY_JUMP;
    return pn_interval_monotone(PN_X_EXP, pn_interval_mul(b, pn_interval_monotone(PN_X_LOG, a, doubt)), doubt);
}
