/* elementwise.c -- functions and operators entry by entry.  Depends on: elementwise.h, simd.h, libm.
 * Used by: bindings. */
#include <math.h>
#include <stdbool.h>

#include "numeric/elementwise.h"
#include "numeric/simd/simd.h"

/* ---- functions ---- */

#define THROUGH_SIMD(name)                                                                                             \
    static void apply_##name(size_t n, const double *x, double *out)                                                   \
    {                                                                                                                  \
        pn_simd_best()->name(n, x, out);                                                                               \
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
THROUGH_SIMD(sqrt)
THROUGH_SIMD(abs)
THROUGH_SIMD(sign)
THROUGH_SIMD(negate)

static void apply_relu(size_t n, const double *x, double *out)
{
    const double zero = 0.0;

    pn_simd_best()->max(n, x, 1, &zero, 0, out);
}

static const pn_function functions[] = {
    { "exp", apply_exp, "e^x, within 1 ulp." },
    { "log", apply_log, "The natural logarithm, within 1 ulp; -inf at 0, NaN below." },
    { "log1p", apply_log1p, "log(1 + x), within 1 ulp also for small x." },
    { "expm1", apply_expm1, "e^x - 1, within 1 ulp also for small x." },
    { "sqrt", apply_sqrt, "The square root, correctly rounded; NaN below 0." },
    { "abs", apply_abs, "The absolute value." },
    { "sign", apply_sign, "-1, 0 or 1." },
    { "relu", apply_relu, "max(x, 0)." },
    { "tanh", apply_tanh, "The hyperbolic tangent, within 1 ulp." },
    { "sigmoid", apply_sigmoid, "1 / (1 + e^-x), without overflow, within 3 ulp." },
    { "softplus", apply_softplus, "log(1 + e^x), without overflow, within 4 ulp." },
    { "erf", apply_erf, "The error function, 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x, within 1 ulp." },
    { "sin", apply_sin, "The sine of x in radians, within 1 ulp." },
    { "cos", apply_cos, "The cosine of x in radians, within 1 ulp." },
};

const pn_function pn_negate = { "negate", apply_negate, "-x." };

const pn_function *pn_function_at(size_t index)
{
    return index < sizeof functions / sizeof functions[0] ? &functions[index] : NULL;
}

/* ---- operators ---- */

static const struct {
    const char *name;
    size_t slot;  /* of the kernel in a simd table */
    bool swapped; /* a > b is b < a */
} operators[PN_OP_COUNT] = {
    [PN_OP_ADD] = { "+", offsetof(pn_simd, add), false },
    [PN_OP_SUBTRACT] = { "-", offsetof(pn_simd, subtract), false },
    [PN_OP_MULTIPLY] = { "*", offsetof(pn_simd, multiply), false },
    [PN_OP_DIVIDE] = { "/", offsetof(pn_simd, divide), false },
    [PN_OP_POWER] = { "^", offsetof(pn_simd, power), false },
    [PN_OP_MIN] = { "min", offsetof(pn_simd, min), false },
    [PN_OP_MAX] = { "max", offsetof(pn_simd, max), false },
    [PN_OP_LT] = { "lt", offsetof(pn_simd, lt), false },
    [PN_OP_LE] = { "le", offsetof(pn_simd, le), false },
    [PN_OP_GT] = { "gt", offsetof(pn_simd, lt), true },
    [PN_OP_GE] = { "ge", offsetof(pn_simd, le), true },
};

const char *pn_operator_name(pn_operator op)
{
    return operators[op].name;
}

void pn_operate(pn_operator op, size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out)
{
    const char *table = (const char *)pn_simd_best();
    pn_binary_fn kernel = *(const pn_binary_fn *)(const void *)(table + operators[op].slot);

    if (operators[op].swapped)
        kernel(n, b, b_step, a, a_step, out);
    else
        kernel(n, a, a_step, b, b_step, out);
}

void pn_where(size_t n, const double *condition, const double *a, size_t a_step, const double *b, size_t b_step,
              double *out)
{
    pn_simd_best()->where(n, condition, a, a_step, b, b_step, out);
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
