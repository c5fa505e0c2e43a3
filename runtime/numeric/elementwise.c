/* elementwise.c -- functions and operators entry by entry.  Depends on: elementwise.h, simd.h, libm.  Used by: bindings. */
#include <math.h>

#include "numeric/elementwise.h"
#include "numeric/simd.h"

/* ---- functions ---- */

#define THROUGH_SIMD(name)                                                                                             \
    static void apply_##name(size_t n, const double *x, double *out)                                                   \
    {                                                                                                                  \
        pn_simd_best()->name(n, x, out);                                                                               \
    }

#define BY_LOOP(name, expression)                                                                                      \
    static void apply_##name(size_t n, const double *x, double *out)                                                   \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double t = x[i];                                                                                           \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

THROUGH_SIMD(exp)
THROUGH_SIMD(log)
THROUGH_SIMD(log1p)
THROUGH_SIMD(expm1)
THROUGH_SIMD(tanh)
THROUGH_SIMD(sigmoid)
THROUGH_SIMD(softplus)
THROUGH_SIMD(erf)
THROUGH_SIMD(sin)
THROUGH_SIMD(cos)
BY_LOOP(sqrt, sqrt(t))
BY_LOOP(abs, fabs(t))
BY_LOOP(sign, t > 0.0 ? 1.0 : t < 0.0 ? -1.0 : t * 0.0) /* 0 for 0, NaN for NaN */
BY_LOOP(relu, t < 0.0 ? 0.0 : t)                        /* NaN for NaN */
BY_LOOP(negate, -t)

static const pn_function functions[] = {
    { "exp", apply_exp, "e^x." },
    { "log", apply_log, "The natural logarithm; -inf at 0, NaN below." },
    { "log1p", apply_log1p, "log(1 + x), accurate for small x." },
    { "expm1", apply_expm1, "e^x - 1, accurate for small x." },
    { "sqrt", apply_sqrt, "The square root; NaN below 0." },
    { "abs", apply_abs, "The absolute value." },
    { "sign", apply_sign, "-1, 0 or 1." },
    { "relu", apply_relu, "max(x, 0)." },
    { "tanh", apply_tanh, "The hyperbolic tangent." },
    { "sigmoid", apply_sigmoid, "1 / (1 + e^-x), without overflow." },
    { "softplus", apply_softplus, "log(1 + e^x), without overflow." },
    { "erf", apply_erf, "The error function, 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x." },
    { "sin", apply_sin, "The sine of x in radians." },
    { "cos", apply_cos, "The cosine of x in radians." },
};

const pn_function pn_negate = { "negate", apply_negate, "-x." };

const pn_function *pn_function_at(size_t index)
{
    return index < sizeof functions / sizeof functions[0] ? &functions[index] : NULL;
}

/* ---- operators ---- */

typedef void (*operate_fn)(size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out);

#define OPERATOR(name, expression)                                                                                     \
    static void operate_##name(size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out)  \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double s = a[i * a_step], t = b[i * b_step];                                                               \
            out[i] = (expression);                                                                                     \
        }                                                                                                              \
    }

OPERATOR(add, s + t)
OPERATOR(subtract, s - t)
OPERATOR(multiply, s *t)
OPERATOR(divide, s / t)
OPERATOR(power, t == 2.0 ? s * s : pow(s, t))
OPERATOR(min, s < t || isnan(s) ? s : t)
OPERATOR(max, s > t || isnan(s) ? s : t)
OPERATOR(lt, s < t)
OPERATOR(le, s <= t)
OPERATOR(gt, s > t)
OPERATOR(ge, s >= t)

static const struct {
    const char *name;
    operate_fn run;
} operators[PN_OP_COUNT] = {
    [PN_OP_ADD] = { "+", operate_add },
    [PN_OP_SUBTRACT] = { "-", operate_subtract },
    [PN_OP_MULTIPLY] = { "*", operate_multiply },
    [PN_OP_DIVIDE] = { "/", operate_divide },
    [PN_OP_POWER] = { "^", operate_power },
    [PN_OP_MIN] = { "min", operate_min },
    [PN_OP_MAX] = { "max", operate_max },
    [PN_OP_LT] = { "lt", operate_lt },
    [PN_OP_LE] = { "le", operate_le },
    [PN_OP_GT] = { "gt", operate_gt },
    [PN_OP_GE] = { "ge", operate_ge },
};

const char *pn_operator_name(pn_operator op)
{
    return operators[op].name;
}

void pn_operate(pn_operator op, size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out)
{
    operators[op].run(n, a, a_step, b, b_step, out);
}

void pn_where(size_t n, const double *condition, const double *a, size_t a_step, const double *b, size_t b_step,
              double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = condition[i] != 0.0 ? a[i * a_step] : b[i * b_step];
}

/* ---- whole vectors ---- */

void pn_linspace(double first, double last, size_t n, double *out)
{
    double steps = (double)(n - 1), span = last - first;

    for (size_t i = 0; i < n; i++) {
        /* Multiply before dividing: whole numbers come out whole.  Unless that overflows. */
        if (isfinite(span * steps))
            out[i] = n == 1 ? first : first + span * (double)i / steps;
        else
            out[i] = first * (1.0 - (double)i / steps) + last * ((double)i / steps);
    }
    if (n > 1)
        out[n - 1] = last;
}

size_t pn_argmax(size_t n, const double *x)
{
    size_t best = 0;

    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            return i;
        if (x[i] > x[best])
            best = i;
    }
    return best;
}

size_t pn_argmin(size_t n, const double *x)
{
    size_t best = 0;

    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            return i;
        if (x[i] < x[best])
            best = i;
    }
    return best;
}
