/* simd_arithmetic_test.c -- the arithmetic kernels of every simd table of this processor against C's own operators, and
 * powers against powl.  Depends on: check.h, simd.h. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numeric/simd/simd.h"

static uint64_t random_state = 1;

static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* The same double, sign of zero included; all NaNs are one. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

/* ---- what the kernels should give ---- */

static double ref_add(double a, double b)
{
    return a + b;
}
static double ref_subtract(double a, double b)
{
    return a - b;
}
static double ref_multiply(double a, double b)
{
    return a * b;
}
static double ref_divide(double a, double b)
{
    return a / b;
}
static double ref_min(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}
static double ref_max(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}
static double ref_lt(double a, double b)
{
    return a < b;
}
static double ref_le(double a, double b)
{
    return a <= b;
}
static double ref_negate(double a)
{
    return -a;
}
static double ref_sign(double a)
{
    return isnan(a) || a == 0.0 ? a : copysign(1.0, a);
}

/* ---- operators ---- */

static const double specials[] = { 0.0,      -0.0,      1.0,      -1.0,      2.0,  -2.0, 0.5,
                                   3.0,      -7.25,     INFINITY, -INFINITY, NAN,  0.1,  DBL_MAX,
                                   -DBL_MAX, 0x1p-1074, DBL_MIN,  1e16,      1e-9, 4.0,  -0x1p-1060 };

#define SPECIALS (sizeof specials / sizeof specials[0])
#define LONGEST  41

/* Memory of exactly the right size, so that a sanitizer sees a touch past the end. */
static double *array(size_t n)
{
    double *x = malloc(n * sizeof *x + 1);

    if (!CHECK(x != NULL))
        exit(1);
    for (size_t i = 0; i < n; i++)
        x[i] = uniform() < 0.3 ? specials[(size_t)(uniform() * SPECIALS)] : 8.0 * uniform() - 4.0;
    return x;
}

/* All four pairs of steps, apart and in place. */
static void test_operator_at(pn_binary_fn kernel, double (*reference)(double, double), size_t n)
{
    for (size_t form = 0; form < 12; form++) {
        size_t a_step = form & 1, b_step = form >> 1 & 1, place = form >> 2;
        double *a = array(a_step || place == 1 ? n : 1), *b = array(b_step || place == 2 ? n : 1), *want = array(n);
        double *apart = array(n), *out = place == 1 ? a : place == 2 ? b : apart;
        bool right = true;

        for (size_t i = 0; i < n; i++)
            want[i] = reference(a[i * a_step], b[i * b_step]);
        kernel(n, a, a_step, b, b_step, out);
        for (size_t i = 0; i < n; i++)
            right = right && same(out[i], want[i]);
        CHECK(right);
        free(a);
        free(b);
        free(want);
        free(apart);
    }
}

static void test_operators(const pn_simd *simd)
{
    const struct {
        pn_binary_fn kernel;
        double (*reference)(double, double);
    } operators[] = {
        { simd->add, ref_add },
        { simd->subtract, ref_subtract },
        { simd->multiply, ref_multiply },
        { simd->min, ref_min },
        { simd->divide, ref_divide },
        { simd->max, ref_max },
        { simd->lt, ref_lt },
        { simd->le, ref_le },
    };

    for (size_t k = 0; k < sizeof operators / sizeof operators[0]; k++) {
        bool right = true;

        for (size_t i = 0; i < SPECIALS * SPECIALS; i++) {
            double a = specials[i / SPECIALS], b = specials[i % SPECIALS], out;

            operators[k].kernel(1, &a, 1, &b, 0, &out);
            right = right && same(out, operators[k].reference(a, b));
        }
        CHECK(right);
        for (size_t n = 1; n <= LONGEST; n++)
            test_operator_at(operators[k].kernel, operators[k].reference, n);
        operators[k].kernel(0, NULL, 1, NULL, 1, NULL);
    }
}

static void test_where(const pn_simd *simd)
{
    for (size_t n = 1; n <= LONGEST; n++) {
        for (size_t form = 0; form < 16; form++) {
            size_t a_step = form & 1, b_step = form >> 1 & 1, place = form >> 2;
            double *c = array(n), *a = array(n), *b = array(n), *want = array(n), *apart = array(n);
            double *const outs[] = { apart, a, b, c };
            bool right = true;

            for (size_t i = 0; i < n; i++)
                want[i] = isnan(c[i]) || c[i] < 0.0 || c[i] > 0.0 ? a[i * a_step] : b[i * b_step];
            simd->where(n, c, a, a_step, b, b_step, outs[place]);
            for (size_t i = 0; i < n; i++)
                right = right && same(outs[place][i], want[i]);
            CHECK(right);
            free(c);
            free(a);
            free(b);
            free(want);
            free(apart);
        }
    }
}

/* Plain C in two statements, through memory, so that no compiler fuses them. */
static double chain_ref(int row, int column, double a, double b, double c)
{
    volatile double t = row == 0 ? a + b : row == 1 ? a - b : a * b;

    return column == 0 ? t + c : column == 1 ? t - c : column == 2 ? c - t : t * c;
}

static void test_chain_at(const pn_simd *simd, int row, int column, size_t n, size_t form)
{
    double *arrays[3] = { array(n), array(n), array(n) }, *want = array(n), *apart = array(n);
    const double *operands[3] = { arrays[0], arrays[1], arrays[2] };
    const size_t steps[3] = { form & 1, form >> 1 & 1, form >> 2 & 1 };
    size_t place = form >> 3;
    double *out = place == 0 ? apart : arrays[place - 1];
    bool right = true;

    for (size_t i = 0; i < n; i++)
        want[i] = chain_ref(row, column, arrays[0][i * steps[0]], arrays[1][i * steps[1]], arrays[2][i * steps[2]]);
    simd->chain[row][column](n, operands, steps, out);
    for (size_t i = 0; i < n; i++)
        right = right && same(out[i], want[i]);
    CHECK(right);
    for (size_t k = 0; k < 3; k++)
        free(arrays[k]);
    free(want);
    free(apart);
}

static void test_chains(const pn_simd *simd)
{
    for (int pair = 0; pair < 12; pair++) {
        for (size_t n = 1; n <= LONGEST; n++) {
            for (size_t form = 0; form < 32; form++)
                test_chain_at(simd, pair / 4, pair % 4, n, form);
        }
    }
}

static void test_functions(const pn_simd *simd)
{
    const struct {
        void (*kernel)(size_t, const double *, double *);
        double (*reference)(double);
    } functions[] = {
        { simd->negate, ref_negate }, { simd->abs, fabs }, { simd->sign, ref_sign }, { simd->sqrt, sqrt }
    };

    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
        for (size_t n = 0; n <= LONGEST; n++) {
            double *x = array(n), *out = array(n);
            bool right = true;

            functions[k].kernel(n, x, out);
            for (size_t i = 0; i < n; i++)
                right = right && same(out[i], functions[k].reference(x[i]));
            functions[k].kernel(n, x, x);
            for (size_t i = 0; i < n; i++)
                right = right && same(out[i], x[i]);
            CHECK(right);
            free(x);
            free(out);
        }
        for (size_t i = 0; i < SPECIALS; i++) {
            double out;

            functions[k].kernel(1, &specials[i], &out);
            CHECK(same(out, functions[k].reference(specials[i])));
        }
    }
}

/* ---- powers ---- */

static double power(const pn_simd *simd, double a, double b)
{
    double out;

    simd->power(1, &a, 1, &b, 1, &out);
    return out;
}

/* In units of the last place of the double nearest to powl. */
static double ulps(double got, long double want)
{
    double nearest = (double)want, unit = nextafter(fabs(nearest), INFINITY) - fabs(nearest);

    if (isinf(nearest) || isinf(got))
        return nearest == got ? 0.0 : INFINITY;
    return (double)(fabsl((long double)got - want) / (long double)unit);
}

/* Bases near and far from 1, exponents up to where results leave the doubles, and small whole ones. */
static void test_power_accuracy(const pn_simd *simd)
{
    double worst = 0.0;

    for (int i = 0; i < 150000; i++) {
        double spread = i % 3 == 0 ? 2000.0 : i % 3 == 1 ? 20.0 : 0.01;
        double a = exp2((uniform() - 0.5) * spread), room = 1021.0 / fmax(fabs(log2(a)), 1e-10);
        double b = i % 5 == 0 ? floor(uniform() * 21.0) - 10.0 : (uniform() * 2.0 - 1.0) * room;

        if (fabs(b) > room)
            continue;
        if (i % 10 == 0)
            a = -a;
        worst = fmax(worst, ulps(power(simd, a, b), powl((long double)a, (long double)b)));
    }
    if (!CHECK(worst <= 1.0) || getenv("PN_TEST_VERBOSE"))
        (void)fprintf(stderr, "%s power: %.4f ulp\n", simd->name, worst);
}

/* Where a result is 0, 1, infinite or NaN, and where it is exact, pow has no rounding to differ in. */
static void test_power_specials(const pn_simd *simd)
{
    static const double values[] = { 0.0,        -0.0,       1.0,       -1.0,    2.0,          -2.0,      3.0,
                                     -3.0,       0.5,        -0.5,      1.5,     INFINITY,     -INFINITY, NAN,
                                     0x1p-1074,  -0x1p-1074, 0x1p-1022, 1e300,   -1e300,       0x1p53,    -0x1p53,
                                     0x1p53 - 1, 1 - 0x1p53, 0x1p31,    1e5 + 1, 0x1p52 + 0.5, 1024.0,    -1074.0 };
    const size_t count = sizeof values / sizeof values[0];

    for (size_t i = 0; i < count * count; i++) {
        double a = values[i / count], b = values[i % count], want = pow(a, b), got = power(simd, a, b);

        if (!CHECK(same(got, want) || ulps(got, (long double)want) <= 1.0))
            (void)fprintf(stderr, "    %s: %.17g ^ %.17g gave %.17g, not %.17g\n", simd->name, a, b, got, want);
    }
    for (int a = -30; a <= 30; a++) {
        for (int b = 0; b <= 10; b++) {
            double product = 1.0;

            for (int k = 0; k < b; k++)
                product *= a;
            CHECK(power(simd, a, b) == product); /* below 2^53: whole numbers stay whole */
        }
    }
}

/* A square is the rounded product in every form; a power is the same alone and in company. */
static void test_power_forms(const pn_simd *simd)
{
    for (size_t n = 1; n <= LONGEST; n++) {
        double *a = array(n), *b = array(n), *out = array(n), *square = array(n), two = 2.0;
        bool right = true;

        for (size_t i = 0; i < n; i++)
            b[i] = i % 3 ? b[i] : 2.0;
        simd->power(n, a, 1, b, 1, out);
        simd->power(n, a, 1, &two, 0, square);
        for (size_t i = 0; i < n; i++) {
            right = right && same(out[i], power(simd, a[i], b[i])) && same(square[i], a[i] * a[i]);
            right = right && (i % 3 || same(out[i], square[i]));
        }
        simd->power(n, a, 0, &two, 0, square);
        right = right && same(square[n - 1], a[0] * a[0]);
        simd->power(n, &two, 0, b, 1, square);
        right = right && same(square[n - 1], power(simd, 2.0, b[n - 1]));
        simd->power(n, a, 1, b, 1, a);
        for (size_t i = 0; i < n; i++)
            right = right && same(out[i], a[i]);
        CHECK(right);
        free(a);
        free(b);
        free(out);
        free(square);
    }
}

int main(void)
{
    for (size_t i = 0; pn_simd_at(i); i++) {
        const pn_simd *simd = pn_simd_at(i);

        test_operators(simd);
        test_where(simd);
        test_chains(simd);
        test_functions(simd);
        test_power_specials(simd);
        test_power_forms(simd);
        if (LDBL_MANT_DIG > DBL_MANT_DIG)
            test_power_accuracy(simd);
    }
    return check_summary();
}
