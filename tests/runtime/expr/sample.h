/* sample.h -- an evaluator that knows nothing of intervals: long double with a bound on its own rounding;
 * random expressions.
 * Depends on: check.h, expr/graph.h.  Used by: tests of bounds. */
#ifndef PN_TESTS_SAMPLE_H
#define PN_TESTS_SAMPLE_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "expr/graph.h"

#define SAMPLE_EPS 0x1p-62L /* of a function or operation: two units and more */

typedef struct sample {
    long double value, error; /* |exact - value| <= error; NaN value: not defined, or not told apart */
} sample;

static uint64_t sample_state;

static inline uint64_t sample_bits(void)
{
    uint64_t z = (sample_state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double sample_uniform(double low, double high)
{
    double x = low + (high - low) * (double)(sample_bits() >> 11) * 0x1p-53;

    return x < low ? low : x > high ? high : x;
}

static inline long double sample_function(pn_opcode op, long double x)
{
    switch (op) {
    case PN_X_SQRT:
        return sqrtl(x);
    case PN_X_EXP:
        return expl(x);
    case PN_X_LOG:
        return logl(x);
    case PN_X_LOG1P:
        return log1pl(x);
    case PN_X_EXPM1:
        return expm1l(x);
    case PN_X_TANH:
        return tanhl(x);
    case PN_X_SIGMOID:
        return x >= 0.0L ? 1.0L / (1.0L + expl(-x)) : expl(x) / (1.0L + expl(x));
    case PN_X_SOFTPLUS:
        return fmaxl(x, 0.0L) + log1pl(expl(-fabsl(x)));
    case PN_X_ERF:
        return erfl(x);
    case PN_X_SIN:
        return sinl(x);
    default:
        return cosl(x);
    }
}

/* Functions are monotone or 1-Lipschitz, so the operand's error shows at its ends. */
static inline sample sample_unary(pn_opcode op, sample a)
{
    long double v, left, right;

    if (op == PN_X_NEG)
        return (sample){ -a.value, a.error };
    if (op == PN_X_ABS)
        return (sample){ fabsl(a.value), a.error };
    if (op == PN_X_SIGN) {
        if (fabsl(a.value) <= a.error && a.error > 0.0L)
            return (sample){ NAN, 0.0L };
        return (sample){ isnan(a.value) ? a.value : a.value > 0.0L ? 1.0L : a.value < 0.0L ? -1.0L : 0.0L, 0.0L };
    }
    v = sample_function(op, a.value);
    if (op == PN_X_SIN || op == PN_X_COS)
        return (sample){ v, a.error + 4.0L * SAMPLE_EPS };
    left = sample_function(op, a.value - a.error);
    right = sample_function(op, a.value + a.error);
    if (isnan(left) || isnan(right) || isinf(left) || isinf(right))
        return (sample){ NAN, 0.0L };
    return (sample){ v,
                     fmaxl(fabsl(v - left), fabsl(right - v)) + 4.0L * SAMPLE_EPS * fmaxl(fabsl(left), fabsl(right)) };
}

static inline sample sample_power(sample a, sample b)
{
    long double v = powl(a.value, b.value), error = 0.0L;
    bool whole = b.error == 0.0L && b.value == rintl(b.value);

    if ((!whole && a.value - a.error < 0.0L) || (b.value - b.error < 0.0L && fabsl(a.value) <= a.error))
        return (sample){ NAN, 0.0L };
    for (int i = 0; i < 4; i++) {
        long double corner = powl(a.value + (i & 1 ? a.error : -a.error), b.value + (i & 2 ? b.error : -b.error));

        error = fmaxl(error, fabsl(corner - v) + 8.0L * SAMPLE_EPS * fabsl(corner));
    }
    return (sample){ v, error };
}

static inline sample sample_compare(pn_opcode op, sample a, sample b)
{
    long double difference = a.value - b.value, error = a.error + b.error;

    if (isnan(difference) || (error > 0.0L && fabsl(difference) <= 2.0L * error))
        return (sample){ NAN, 0.0L };
    return (sample){ (op == PN_X_LT ? difference < 0.0L : difference <= 0.0L) ? 1.0L : 0.0L, 0.0L };
}

static inline sample sample_binary(pn_opcode op, sample a, sample b)
{
    long double v, least;

    switch (op) {
    case PN_X_ADD:
    case PN_X_SUB:
        v = op == PN_X_ADD ? a.value + b.value : a.value - b.value;
        return (sample){ v, a.error + b.error + SAMPLE_EPS * fabsl(v) };
    case PN_X_MUL:
        v = a.value * b.value;
        return (sample){ v, fabsl(a.value) * b.error + fabsl(b.value) * a.error + a.error * b.error +
                                SAMPLE_EPS * fabsl(v) };
    case PN_X_DIV:
        v = a.value / b.value;
        least = fabsl(b.value) - b.error;
        return least > 0.0L ? (sample){ v, (a.error + fabsl(v) * b.error) / least * 1.0001L + SAMPLE_EPS * fabsl(v) }
                            : (sample){ NAN, 0.0L };
    case PN_X_POW:
        return sample_power(a, b);
    case PN_X_MIN:
    case PN_X_MAX:
        if (isnan(a.value) || isnan(b.value))
            return (sample){ NAN, 0.0L };
        v = op == PN_X_MIN ? fminl(a.value, b.value) : fmaxl(a.value, b.value);
        return (sample){ v, fmaxl(a.error, b.error) };
    default:
        return sample_compare(op, a, b);
    }
}

/* The expression at x[variables].  `work` [root + 1]. */
static inline sample sample_at(const pn_graph *graph, pn_node root, const double *x, sample *work)
{
    for (pn_node n = 0; n <= root; n++) {
        const pn_term *t = pn_graph_term(graph, n);

        if (t->op == PN_X_CONST)
            work[n] = (sample){ t->value, fabs(fabs(t->value) - 1.1283791670955126) < 1e-16 ? 1e-16L : 0.0L };
        else if (t->op == PN_X_VAR)
            work[n] = (sample){ x[t->a], 0.0L };
        else if (t->op == PN_X_WHERE)
            work[n] = isnan(work[t->a].value) ? (sample){ NAN, 0.0L } : work[work[t->a].value != 0.0L ? t->b : t->c];
        else if (pn_opcode_operands(t->op) == 1)
            work[n] = sample_unary(t->op, work[t->a]);
        else
            work[n] = sample_binary(t->op, work[t->a], work[t->b]);
    }
    return work[root];
}

/* A constant that people write. */
static inline double sample_constant(void)
{
    static const double some[] = { 0.0, 1.0, 2.0, 0.5, -1.0, 3.0, 0.1, -0.25, 1.5, 4.0, 10.0, 1e-3 };

    return sample_bits() % 3 ? some[sample_bits() % 12] : sample_uniform(-3.0, 3.0);
}

static inline pn_node sample_operation(pn_graph *graph, const pn_node *made, size_t count)
{
    static const double exponents[] = { 2.0, 3.0, 4.0, -1.0, -2.0, 0.5, 1.5, 0.0 };
    pn_opcode op = (pn_opcode)(PN_X_NEG + sample_bits() % (PN_X_COUNT - PN_X_NEG));
    pn_node a = made[sample_bits() % count], b = made[sample_bits() % count], c = made[sample_bits() % count];

    if (op == PN_X_WHERE) {
        pn_opcode test = sample_bits() % 2 ? PN_X_LT : PN_X_LE;

        return pn_x_where(graph, pn_x_binary(graph, test, c, pn_x_const(graph, sample_constant())), a, b);
    }
    if (op == PN_X_POW && sample_bits() % 4)
        b = pn_x_const(graph, exponents[sample_bits() % 8]);
    if (op == PN_X_DIV && sample_bits() % 2) /* most quotients would be unbounded */
        b = pn_x_binary(graph, PN_X_ADD, pn_x_const(graph, 1.0), pn_x_binary(graph, PN_X_MUL, b, b));
    if ((op == PN_X_LOG || op == PN_X_SQRT) && sample_bits() % 2)
        a = pn_x_binary(graph, PN_X_ADD, pn_x_const(graph, 0.5), pn_x_unary(graph, PN_X_ABS, a));
    return pn_opcode_operands(op) == 1 ? pn_x_unary(graph, op, a) : pn_x_binary(graph, op, a, b);
}

/* An expression of `operations` operations over the graph's variables. */
static inline pn_node sample_expression(pn_graph *graph, size_t operations)
{
    pn_node made[64];
    size_t count = 0;

    for (unsigned v = 0; v < pn_graph_variables(graph); v++)
        made[count++] = pn_x_var(graph, v);
    made[count++] = pn_x_const(graph, sample_constant());
    for (size_t i = 0; i < operations && count < 64; i++, count++)
        made[count] = sample_operation(graph, made, count);
    return made[count - 1];
}

#endif
