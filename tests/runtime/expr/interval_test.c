/* interval_test.c -- enclosures of single operations: against quadruple precision for arithmetic,
 * extended for functions.
 * Depends on: check.h, expr/interval.h. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "expr/interval_math.h"

#if LDBL_MANT_DIG >= 113
typedef long double quad;
#else
__extension__ typedef __float128 quad;
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TIMES 2000
#else
#define TIMES 50000
#endif

static uint64_t state;

static uint64_t bits(void)
{
    uint64_t z = (state += 0x9E3779B97F4A7C15u);

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double uniform(double low, double high)
{
    return low + (high - low) * (double)(bits() >> 11) * 0x1p-53;
}

/* Of magnitude 2^-spread .. 2^spread, either sign, often with few bits, never 0. */
static double number(double spread)
{
    double x = exp2(uniform(-spread, spread)) * (bits() & 1 ? 1.0 : -1.0);

    return bits() % 4 == 0 ? (double)(float)x : bits() % 16 == 0 ? ceil(fabs(x)) : x;
}

static pn_interval point(double x)
{
    return (pn_interval){ x, x };
}

static pn_interval apply(pn_opcode op, pn_interval a, pn_interval b, unsigned *doubt)
{
    *doubt = PN_SURE;
    return pn_interval_apply(op, a, b, b, doubt);
}

static pn_interval sure(pn_opcode op, pn_interval a, pn_interval b)
{
    unsigned doubt;
    pn_interval v = apply(op, a, b, &doubt);

    CHECK(doubt == PN_SURE);
    return v;
}

static bool same(pn_interval a, double low, double high)
{
    return a.low == low && a.high == high;
}

static void report(const char *what, uint64_t seed, double a, double b, pn_interval v)
{
    (void)fprintf(stderr, "    %s, seed %llu: %a, %a gives [%a, %a]\n", what, (unsigned long long)seed, a, b, v.low,
                  v.high);
}

/* ---- one end after the other is the nearest double on its side ---- */

static void test_steps(void)
{
    CHECK(pn_step(1.0, 1) == nextafter(1.0, 2.0));
    CHECK(pn_step(1.0, -1) == nextafter(1.0, 0.0));
    CHECK(pn_step(0.0, 1) == 0x1p-1074);
    CHECK(pn_step(-0.0, -1) == -0x1p-1074);
    CHECK(pn_step(0x1p-1074, -2) == -0x1p-1074);
    CHECK(pn_step(DBL_MAX, 1) == INFINITY);
    CHECK(pn_step(INFINITY, 5) == INFINITY);
    CHECK(pn_step(INFINITY, -1) == DBL_MAX);
    CHECK(pn_step(-INFINITY, -4) == -INFINITY);
}

/* The signs of a op b - x, in numbers that hold the products and sums of doubles exactly. */
static int against(pn_opcode op, double a, double b, double x)
{
    quad difference;

    switch (op) {
    case PN_X_ADD:
        difference = (quad)a + (quad)b - (quad)x;
        break;
    case PN_X_SUB:
        difference = (quad)a - (quad)b - (quad)x;
        break;
    case PN_X_MUL:
        difference = (quad)a * (quad)b - (quad)x;
        break;
    case PN_X_DIV:
        difference = ((quad)a - (quad)x * (quad)b) * (b > 0.0 ? 1 : -1);
        break;
    default: /* square root */
        difference = x < 0.0 ? (quad)1 : (quad)a - (quad)x * (quad)x;
        break;
    }
    return (difference > 0) - (difference < 0);
}

static void test_arithmetic_is_rounded_the_right_way_and_no_further(void)
{
    const pn_opcode ops[] = { PN_X_ADD, PN_X_SUB, PN_X_MUL, PN_X_DIV, PN_X_SQRT };

    state = 1;
    for (int i = 0; i < TIMES; i++) {
        pn_opcode op = ops[i % 5];
        double a = number(29.0), b = number(29.0);
        pn_interval v;
        bool tight;

        if (op == PN_X_SQRT)
            a = fabs(a);
        v = sure(op, point(a), point(b));
        if (v.low == v.high)
            tight = against(op, a, b, v.low) == 0;
        else
            tight = pn_step(v.low, 1) == v.high && against(op, a, b, v.low) > 0 && against(op, a, b, v.high) < 0;
        if (!CHECK(tight))
            report(pn_opcode_name(op), 1, a, b, v);
    }
}

static void test_small_and_large_numbers(void)
{
    pn_interval v = sure(PN_X_MUL, point(0x1p-600), point(0x1p-600));

    CHECK(v.low == 0.0 && v.high > 0.0 && v.high <= 0x1p-1073);
    v = sure(PN_X_MUL, point(-0x1p-600), point(0x1p-600));
    CHECK(v.high == 0.0 && v.low < 0.0);
    v = sure(PN_X_DIV, point(0x1p-1074), point(3.0));
    CHECK(v.low >= 0.0 && v.low <= 0x1p-1074 && v.high >= 0x1p-1074);
    v = sure(PN_X_MUL, point(0x1p1000), point(0x1p1000));
    CHECK(same(v, DBL_MAX, INFINITY));
    v = sure(PN_X_ADD, point(-DBL_MAX), point(-DBL_MAX));
    CHECK(same(v, -INFINITY, -DBL_MAX));
    v = sure(PN_X_DIV, point(0x1p1000), point(0x1p-1000));
    CHECK(same(v, DBL_MAX, INFINITY));
    v = sure(PN_X_SQRT, point(0x1.8p-1073), point(0.0));
    CHECK(v.low > 0.0 && v.low < v.high && pn_step(v.low, 3) >= v.high);
    v = sure(PN_X_MUL, point(0x1.0000000000001p-970), point(0x1.0000000000001p-60)); /* the residual underflows */
    CHECK(v.low < 0x1.0000000000002p-1030 && v.high > 0x1.0000000000002p-1030);
}

static void test_unbounded_ends(void)
{
    const pn_interval all = { -INFINITY, INFINITY }, right = { 1.0, INFINITY }, left = { -INFINITY, -1.0 };

    CHECK(same(sure(PN_X_ADD, right, left), -INFINITY, INFINITY));
    CHECK(same(sure(PN_X_ADD, right, right), 2.0, INFINITY));
    CHECK(same(sure(PN_X_SUB, right, right), -INFINITY, INFINITY));
    CHECK(same(sure(PN_X_MUL, point(0.0), all), 0.0, 0.0));
    CHECK(same(sure(PN_X_MUL, (pn_interval){ 0.0, 2.0 }, right), 0.0, INFINITY));
    CHECK(same(sure(PN_X_MUL, right, left), -INFINITY, -1.0));
    CHECK(same(sure(PN_X_DIV, point(1.0), right), 0.0, 1.0));
    CHECK(same(sure(PN_X_DIV, right, right), 0.0, INFINITY));
    CHECK(same(sure(PN_X_DIV, left, right), -INFINITY, 0.0));
    CHECK(same(sure(PN_X_EXP, all, all), 0.0, INFINITY));
    CHECK(same(sure(PN_X_TANH, all, all), -1.0, 1.0));
    CHECK(same(sure(PN_X_SIGMOID, all, all), 0.0, 1.0));
    CHECK(same(sure(PN_X_ERF, all, all), -1.0, 1.0));
    CHECK(same(sure(PN_X_EXPM1, all, all), -1.0, INFINITY));
    CHECK(same(sure(PN_X_SOFTPLUS, all, all), 0.0, INFINITY));
    CHECK(same(sure(PN_X_SIN, all, all), -1.0, 1.0));
    CHECK(same(sure(PN_X_ABS, all, all), 0.0, INFINITY));
    CHECK(same(sure(PN_X_SQRT, (pn_interval){ 0.0, INFINITY }, all), 0.0, INFINITY));
    CHECK(same(sure(PN_X_POW, all, point(2.0)), 0.0, INFINITY));
    CHECK(same(sure(PN_X_POW, all, point(3.0)), -INFINITY, INFINITY));
}

/* ---- functions ---- */

static long double reference(pn_opcode op, long double x)
{
    switch (op) {
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
    case PN_X_COS:
        return cosl(x);
    default:
        return x;
    }
}

static const pn_opcode functions[] = { PN_X_EXP,     PN_X_LOG,      PN_X_LOG1P, PN_X_EXPM1, PN_X_TANH,
                                       PN_X_SIGMOID, PN_X_SOFTPLUS, PN_X_ERF,   PN_X_SIN,   PN_X_COS };
#define FUNCTIONS (sizeof functions / sizeof *functions)

static double argument(pn_opcode op)
{
    double x = bits() % 2 ? number(9.0) : number(40.0);

    if (op == PN_X_LOG)
        return fabs(x);
    if (op == PN_X_LOG1P)
        return x > 0.0 ? x : fmax(x, -0.999);
    return x;
}

static void test_functions_hold_their_value_and_are_narrow(void)
{
    state = 2;
    for (int i = 0; i < TIMES; i++) {
        pn_opcode op = functions[(size_t)i % FUNCTIONS];
        double x = argument(op);
        pn_interval v = sure(op, point(x), point(0.0));
        long double want = reference(op, x);

        if (!CHECK(v.low <= want && want <= v.high) || !CHECK(pn_step(v.low, 18) >= v.high || fabsl(want) < 1e-300L))
            report(pn_opcode_name(op), 2, x, 0.0, v);
    }
}

static void test_functions_over_intervals(void)
{
    state = 3;
    for (int i = 0; i < TIMES; i++) {
        pn_opcode op = functions[(size_t)i % FUNCTIONS];
        double a = argument(op), b = bits() % 2 ? argument(op) : a + fabs(a) * uniform(0.0, 0.5);
        pn_interval x = { fmin(a, b), fmax(a, b) }, v = sure(op, x, x);

        for (int k = 0; k < 8; k++) {
            double at = k == 0 ? x.low : k == 1 ? x.high : fmin(uniform(x.low, x.high), x.high);
            long double want = reference(op, at);

            if (!CHECK(v.low <= want && want <= v.high))
                report(pn_opcode_name(op), 3, x.low, x.high, v);
        }
    }
}

static void test_extremes_of_waves(void)
{
    pn_interval v = sure(PN_X_SIN, (pn_interval){ 1.0, 2.0 }, point(0.0));

    CHECK(v.high == 1.0 && v.low <= sin(1.0) && v.low > sin(1.0) - 1e-15);
    v = sure(PN_X_SIN, (pn_interval){ 2.0, 4.0 }, point(0.0));
    CHECK(v.high < 0.9093 && v.low < -0.7568 && v.low > -0.7569);
    v = sure(PN_X_SIN, (pn_interval){ 4.0, 5.0 }, point(0.0));
    CHECK(v.low == -1.0 && v.high < -0.75);
    v = sure(PN_X_COS, (pn_interval){ -1.0, 2.0 }, point(0.0));
    CHECK(v.high == 1.0 && v.low < -0.416 && v.low > -0.4162);
    v = sure(PN_X_COS, (pn_interval){ 3.0, 3.2 }, point(0.0));
    CHECK(v.low == -1.0 && v.high < -0.98);
    CHECK(same(sure(PN_X_COS, (pn_interval){ 0.0, 7.0 }, point(0.0)), -1.0, 1.0));
    v = sure(PN_X_SIN, (pn_interval){ 0.0, 1.0 }, point(0.0));
    CHECK(v.low == 0.0); /* so that convexity can be shown */
    v = sure(PN_X_SIN, (pn_interval){ 0x1p50, 0x1p50 + 1.0 }, point(0.0));
    CHECK(same(v, -1.0, 1.0));
}

static void test_exact_values(void)
{
    CHECK(same(sure(PN_X_EXP, point(0.0), point(0.0)), 1.0, 1.0));
    CHECK(same(sure(PN_X_LOG, point(1.0), point(0.0)), 0.0, 0.0));
    CHECK(same(sure(PN_X_SIGMOID, point(0.0), point(0.0)), 0.5, 0.5));
    CHECK(same(sure(PN_X_TANH, point(-0.0), point(0.0)), 0.0, 0.0));
    CHECK(same(sure(PN_X_COS, point(0.0), point(0.0)), 1.0, 1.0));
    CHECK(sure(PN_X_EXP, (pn_interval){ -1.0, 0.0 }, point(0.0)).high == 1.0);
    CHECK(sure(PN_X_LOG, (pn_interval){ 1.0, 2.0 }, point(0.0)).low == 0.0);
    CHECK(sure(PN_X_TANH, point(40.0), point(0.0)).high == 1.0);
    CHECK(sure(PN_X_EXP, point(-800.0), point(0.0)).low == 0.0);
    CHECK(sure(PN_X_EXP, point(800.0), point(0.0)).low < INFINITY);
    CHECK(sure(PN_X_SOFTPLUS, point(50.0), point(0.0)).low == 50.0);
}

/* ---- powers, choices ---- */

static void test_powers(void)
{
    const pn_interval across = { -2.0, 3.0 };
    unsigned doubt;
    pn_interval v;

    v = sure(PN_X_POW, across, point(4.0));
    CHECK(v.low == 0.0 && v.high >= 81.0 && v.high < 81.0 + 1e-12);
    v = sure(PN_X_POW, across, point(3.0));
    CHECK(v.low <= -8.0 && v.low > -8.0 - 1e-13 && v.high >= 27.0 && v.high < 27.0 + 1e-13);
    v = sure(PN_X_POW, (pn_interval){ -3.0, -2.0 }, point(2.0));
    CHECK(v.low <= 4.0 && v.low > 4.0 - 1e-13 && v.high >= 9.0);
    v = sure(PN_X_POW, (pn_interval){ 4.0, 9.0 }, point(-0.5));
    CHECK(v.low <= 1.0 / 3.0 && v.low > 0.333 && v.high >= 0.5 && v.high < 0.5 + 1e-14);
    CHECK(same(sure(PN_X_POW, across, point(0.0)), 1.0, 1.0));
    CHECK(same(sure(PN_X_POW, (pn_interval){ 0.0, 1.0 }, point(2.5)), 0.0, 1.0));
    v = apply(PN_X_POW, across, point(-2.0), &doubt);
    CHECK(doubt == PN_MAY_JUMP && v.high == INFINITY && v.low > 0.11 && v.low <= 1.0 / 9.0);
    v = apply(PN_X_POW, across, point(-1.0), &doubt);
    CHECK(doubt == PN_MAY_JUMP && same(v, -INFINITY, INFINITY));
    v = apply(PN_X_POW, across, point(0.5), &doubt);
    CHECK(doubt == PN_MAY_BE_UNDEFINED && v.high >= sqrt(3.0));
    v = apply(PN_X_POW, across, (pn_interval){ 1.0, 2.0 }, &doubt);
    CHECK(doubt == PN_MAY_BE_UNDEFINED && same(v, -INFINITY, INFINITY));
    v = sure(PN_X_POW, (pn_interval){ 0.5, 2.0 }, (pn_interval){ -1.0, 3.0 });
    CHECK(v.low <= 0.125 && v.low > 0.1249 && v.high >= 8.0 && v.high < 8.001);
    v = apply(PN_X_POW, (pn_interval){ 0.0, 2.0 }, (pn_interval){ 0.0, 1.0 }, &doubt); /* 0^0 is 1 */
    CHECK(doubt == PN_MAY_JUMP && v.low == 0.0 && v.high >= 2.0 && v.high < 2.0001);
    v = sure(PN_X_POW, (pn_interval){ 0.0, 2.0 }, (pn_interval){ 0.5, 1.0 });
    CHECK(v.low == 0.0 && v.high >= 2.0 && v.high < 2.0001);
}

static void test_choices(void)
{
    const pn_interval across = { -1.0, 2.0 }, above = { 1.0, 3.0 }, no = { 0.0, 0.0 }, yes = { 1.0, 1.0 };
    unsigned doubt = 0;

    CHECK(same(apply(PN_X_SIGN, across, across, &doubt), -1.0, 1.0) && doubt == PN_MAY_JUMP);
    CHECK(same(apply(PN_X_SIGN, (pn_interval){ 0.0, 1.0 }, across, &doubt), 0.0, 1.0) && doubt == PN_MAY_JUMP);
    CHECK(same(sure(PN_X_SIGN, above, above), 1.0, 1.0));
    CHECK(same(sure(PN_X_SIGN, no, no), 0.0, 0.0));
    CHECK(same(apply(PN_X_LT, across, above, &doubt), 0.0, 1.0) && doubt == PN_MAY_JUMP);
    CHECK(same(apply(PN_X_LT, point(1.0), above, &doubt), 0.0, 1.0) && doubt == PN_MAY_JUMP);
    CHECK(same(sure(PN_X_LE, point(1.0), above), 1.0, 1.0));
    CHECK(same(sure(PN_X_LT, above, point(1.0)), 0.0, 0.0));
    CHECK(same(apply(PN_X_LE, above, point(1.0), &doubt), 0.0, 1.0) && doubt == PN_MAY_JUMP);
    CHECK(same(sure(PN_X_MIN, across, above), -1.0, 2.0));
    CHECK(same(sure(PN_X_MAX, across, above), 1.0, 3.0));
    doubt = 0;
    CHECK(same(pn_interval_apply(PN_X_WHERE, yes, across, above, &doubt), -1.0, 2.0) && doubt == PN_SURE);
    CHECK(same(pn_interval_apply(PN_X_WHERE, no, across, above, &doubt), 1.0, 3.0) && doubt == PN_SURE);
    CHECK(same(pn_interval_apply(PN_X_WHERE, across, across, above, &doubt), -1.0, 3.0) && doubt == PN_MAY_JUMP);
}

static void test_doubts(void)
{
    const pn_interval across = { -1.0, 2.0 }, below = { -2.0, -1.0 };
    unsigned doubt;
    pn_interval v;

    v = apply(PN_X_LOG, across, across, &doubt);
    CHECK(doubt == PN_MAY_BE_UNDEFINED && v.low == -INFINITY && v.high < 0.7);
    v = apply(PN_X_LOG, below, below, &doubt);
    CHECK(doubt == PN_MAY_BE_UNDEFINED && same(v, -INFINITY, INFINITY));
    v = apply(PN_X_LOG, (pn_interval){ 0.0, 1.0 }, across, &doubt);
    CHECK(doubt == PN_SURE && same(v, -INFINITY, 0.0));
    v = apply(PN_X_LOG1P, (pn_interval){ -1.0, 0.0 }, across, &doubt);
    CHECK(doubt == PN_SURE && same(v, -INFINITY, 0.0));
    v = apply(PN_X_SQRT, across, across, &doubt);
    CHECK(doubt == PN_MAY_BE_UNDEFINED && v.low == 0.0 && v.high >= sqrt(2.0));
    v = apply(PN_X_DIV, point(1.0), across, &doubt);
    CHECK(doubt == PN_MAY_JUMP && same(v, -INFINITY, INFINITY));
    v = apply(PN_X_DIV, across, (pn_interval){ 0.0, 1.0 }, &doubt);
    CHECK((doubt & PN_MAY_BE_UNDEFINED) && same(v, -INFINITY, INFINITY));
    v = apply(PN_X_DIV, point(1.0), point(0.0), &doubt);
    CHECK(doubt & PN_MAY_BE_UNDEFINED);
}

/* a op b for numbers taken from random intervals, in extended precision. */
static void test_pairs_over_intervals(void)
{
    const pn_opcode ops[] = { PN_X_ADD, PN_X_SUB, PN_X_MUL, PN_X_DIV, PN_X_MIN, PN_X_MAX, PN_X_POW };

    state = 4;
    for (int i = 0; i < TIMES; i++) {
        pn_opcode op = ops[i % 7];
        double ends[4] = { number(4.0), number(4.0), number(3.0), number(3.0) };
        pn_interval a = { fmin(ends[0], ends[1]), fmax(ends[0], ends[1]) };
        pn_interval b = { fmin(ends[2], ends[3]), fmax(ends[2], ends[3]) };
        unsigned doubt;
        pn_interval v;

        if (op == PN_X_POW && bits() % 2)
            b.low = b.high = rint(b.low);
        else if (op == PN_X_POW)
            a = (pn_interval){ fabs(ends[0]), fabs(ends[0]) + fabs(ends[1]) };
        v = apply(op, a, b, &doubt);
        for (int k = 0; k < 8; k++) {
            long double x = k % 2 ? a.low : fmin(uniform(a.low, a.high), a.high);
            long double y = k % 3 ? b.high : fmin(uniform(b.low, b.high), b.high), want;

            want = op == PN_X_ADD   ? x + y
                   : op == PN_X_SUB ? x - y
                   : op == PN_X_MUL ? x * y
                   : op == PN_X_DIV ? x / y
                   : op == PN_X_MIN ? fminl(x, y)
                   : op == PN_X_MAX ? fmaxl(x, y)
                                    : powl(x, y);
            if (isfinite(want) && !CHECK(v.low <= want && want <= v.high))
                report(pn_opcode_name(op), 4, a.low, b.low, v);
        }
    }
}

static void test_squares_and_hulls(void)
{
    CHECK(same(pn_interval_square((pn_interval){ -3.0, 2.0 }), 0.0, 9.0));
    CHECK(same(pn_interval_square((pn_interval){ -3.0, -2.0 }), 4.0, 9.0));
    CHECK(same(pn_interval_hull(point(1.0), (pn_interval){ -1.0, 0.0 }), -1.0, 1.0));
    CHECK(pn_interval_magnitude((pn_interval){ -3.0, 2.0 }) == 3.0);
}

int main(void)
{
    test_steps();
    test_arithmetic_is_rounded_the_right_way_and_no_further();
    test_small_and_large_numbers();
    test_unbounded_ends();
    if (LDBL_MANT_DIG >= 64) {
        test_functions_hold_their_value_and_are_narrow();
        test_functions_over_intervals();
        test_pairs_over_intervals();
    } else {
        (void)puts("skipped: functions against long double, which is a double here");
    }
    test_extremes_of_waves();
    test_exact_values();
    test_powers();
    test_choices();
    test_doubts();
    test_squares_and_hulls();
    return check_summary();
}
