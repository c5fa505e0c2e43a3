/* bound_tail.c -- values as |x|^p * [a, b] for one variable x that keeps its sign and may grow without bound.
 * Plain intervals know nothing of x*x/(1 + x*x) on [1, inf]; here the dividend is x^2 * [1, 1], the divisor x^2 *
 * [1, 2], the quotient x^0 * [1/2, 1].  An exponential that falls faster than any power is x^-m * [0,
 * M] for an m that fits.
 * Depends on: bound_impl.h, interval_math.h.  Used by: bound_sweep.c. */
#include <math.h>

#include "expr/bound_impl.h"
#include "expr/interval_math.h"

#define FALL_MAX 24.0 /* the highest m */

static const pn_scaled unknown = { 0.0, { -INFINITY, INFINITY } };

/* Powers are added, subtracted and scaled as numbers: on this grid without rounding. */
static bool is_exact(double power)
{
    return fabs(power) <= 0x1p20 && power * 0x1p20 == floor(power * 0x1p20);
}

static pn_interval power_of(const pn_sweep *self, double p)
{
    unsigned doubt = 0;

    return pn_interval_power(self->base, (pn_interval){ p, p }, &doubt);
}

static pn_interval plain(const pn_sweep *self, pn_scaled x)
{
    return x.power == 0.0 ? x.factor : pn_interval_mul(power_of(self, x.power), x.factor);
}

/* The factor of x when written with the power p >= x.power. */
static pn_interval with_power(const pn_sweep *self, pn_scaled x, double p)
{
    return x.power == p ? x.factor : pn_interval_mul(power_of(self, x.power - p), x.factor);
}

/* exp(-g |x|^p) for g >= gamma > 0, p > 0: |x|^m exp(-gamma |x|^p) falls where |x|^p >= m/(gamma p). */
static pn_scaled falling(const pn_sweep *self, double gamma, double p)
{
    unsigned doubt = 0;
    double near = power_of(self, p).low;
    double m = fmin(floor(0.999 * gamma * p * near), FALL_MAX);
    pn_interval at, g = { -gamma, -gamma }, start = { self->base.low, self->base.low };

    if (!(m >= 1.0))
        return unknown;
    at = pn_interval_monotone(PN_X_EXP, pn_interval_mul(g, (pn_interval){ near, near }), &doubt);
    at = pn_interval_mul(pn_interval_power(start, (pn_interval){ m, m }, &doubt), at);
    return isinf(at.high) ? unknown : (pn_scaled){ -m, { 0.0, at.high } };
}

static pn_scaled scaled_function(const pn_sweep *self, pn_opcode op, pn_scaled a)
{
    unsigned doubt = 0;
    pn_interval rest;

    switch (op) {
    case PN_X_NEG:
    case PN_X_ABS:
        return (pn_scaled){ a.power, pn_interval_apply(op, a.factor, a.factor, a.factor, &doubt) };
    case PN_X_SIGN:
        return (pn_scaled){ 0.0, pn_interval_apply(op, a.factor, a.factor, a.factor, &doubt) };
    case PN_X_SQRT:
        return a.factor.low >= 0.0
                   ? (pn_scaled){ 0.5 * a.power, pn_interval_apply(op, a.factor, a.factor, a.factor, &doubt) }
                   : unknown;
    case PN_X_SOFTPLUS: /* x + softplus(-x) where x is positive */
        if (a.power > 0.0 && a.factor.low > 0.0) {
            rest = plain(self, a);
            rest = pn_interval_monotone(op, (pn_interval){ -rest.low, -rest.low }, &doubt);
            rest = pn_interval_mul(power_of(self, -a.power), (pn_interval){ 0.0, rest.high });
            return (pn_scaled){ a.power, pn_interval_add(a.factor, rest) };
        }
        return a.power > 0.0 && a.factor.high < 0.0 ? falling(self, -a.factor.high, a.power) : unknown;
    case PN_X_EXP:
    case PN_X_SIGMOID: /* below exp */
        return a.power > 0.0 && a.factor.high < 0.0 ? falling(self, -a.factor.high, a.power) : unknown;
    default:
        return unknown;
    }
}

static pn_scaled scaled_power(pn_scaled a, pn_interval exponent)
{
    unsigned doubt = 0;
    bool whole = exponent.low == floor(exponent.low);
    pn_interval factor;

    if (exponent.low != exponent.high || isinf(exponent.low) || (!whole && a.factor.low < 0.0))
        return unknown;
    factor = pn_interval_power(a.factor, exponent, &doubt);
    return doubt || fma(a.power, exponent.low, -(a.power * exponent.low)) != 0.0
               ? unknown
               : (pn_scaled){ a.power * exponent.low, factor };
}

static pn_scaled scaled_pair(const pn_sweep *self, pn_opcode op, pn_scaled a, pn_scaled b)
{
    unsigned doubt = 0;
    double p = fmax(a.power, b.power);
    pn_interval x, y, zero = { 0.0, 0.0 };

    switch (op) {
    case PN_X_MUL:
        return (pn_scaled){ a.power + b.power, pn_interval_mul(a.factor, b.factor) };
    case PN_X_DIV:
        if (b.factor.low <= 0.0 && b.factor.high >= 0.0)
            return unknown;
        return (pn_scaled){ a.power - b.power, pn_interval_apply(op, a.factor, b.factor, zero, &doubt) };
    case PN_X_ADD:
    case PN_X_SUB:
    case PN_X_MIN:
    case PN_X_MAX:
    case PN_X_LT:
    case PN_X_LE:
        x = with_power(self, a, p);
        y = with_power(self, b, p);
        x = pn_interval_apply(op, x, y, zero, &doubt);
        return (pn_scaled){ op == PN_X_LT || op == PN_X_LE ? 0.0 : p, x };
    default:
        return unknown;
    }
}

static pn_scaled scaled_choice(const pn_sweep *self, pn_interval condition, pn_scaled a, pn_scaled b)
{
    double p = fmax(a.power, b.power);

    if (condition.low > 0.0 || condition.high < 0.0)
        return a;
    if (condition.low == 0.0 && condition.high == 0.0)
        return b;
    return (pn_scaled){ p, pn_interval_hull(with_power(self, a, p), with_power(self, b, p)) };
}

pn_interval pn_sweep_tail(pn_sweep *self, const pn_sweep_step *step, size_t slot)
{
    const pn_scaled *scaled = self->scaled;
    pn_scaled a = scaled[step->a], b = scaled[step->b], out;
    unsigned operands = pn_opcode_operands((pn_opcode)step->op);

    if (operands == 3)
        out = scaled_choice(self, self->value[step->a], b, scaled[step->c]);
    else if (a.power == 0.0 && b.power == 0.0)
        out = unknown;
    else if (step->op == PN_X_POW)
        out = b.power == 0.0 ? scaled_power(a, b.factor) : unknown;
    else if (step->op == PN_X_MUL && step->a == step->b)
        out = (pn_scaled){ 2.0 * a.power, pn_interval_square(a.factor) };
    else
        out = operands == 1 ? scaled_function(self, (pn_opcode)step->op, a)
                            : scaled_pair(self, (pn_opcode)step->op, a, b);
    if ((isinf(out.factor.low) && isinf(out.factor.high)) || !is_exact(out.power))
        out = unknown;
    self->scaled[slot] = out;
    return plain(self, out);
}
