/* simd_test.c -- every simd table of this processor against plain loops and long double.
 * Depends on: check.h, simd.h. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "numeric/simd/simd.h"

#define MOST_ROWS 70
#define MOST_COLS 150

static uint64_t random_state = 1;

/* In [-1, 1); a linear congruential generator is random enough for test points. */
static double draw(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) * 0x1p-52 - 1.0;
}

static void fill(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = draw();
}

/* ---- the dense kernels ---- */

/* Any order of n products rounds to within n eps sum |x||y| (Higham 2002, section 3.1). */
static bool dot_is_right(const double *x, const double *w, size_t n, double got)
{
    long double sum = 0.0L, size = 0.0L;

    for (size_t j = 0; j < n; j++) {
        sum += (long double)x[j] * w[j];
        size += fabsl((long double)x[j] * w[j]);
    }
    return fabsl(sum - got) <= (long double)n * DBL_EPSILON * size;
}

static void test_times(const pn_simd *simd, double *X, double *w, size_t rows, size_t cols)
{
    double z[MOST_ROWS + 1], alone;
    bool right = true, same = true;

    z[rows] = 7.0;
    simd->dense_times(X, rows, cols, w, z);
    for (size_t r = 0; r < rows; r++) {
        right = right && dot_is_right(X + r * cols, w, cols, z[r]);
        simd->dense_times(X + r * cols, 1, cols, w, &alone);
        same = same && alone == z[r];
    }
    CHECK(right);
    CHECK(same); /* a row gives the same bits in a block and alone */
    CHECK(z[rows] == 7.0);
}

static void test_add_transposed(const pn_simd *simd, double *X, double *a, size_t rows, size_t cols)
{
    double g[MOST_COLS + 1], halves[MOST_COLS + 1], column[MOST_ROWS + 1], weights[MOST_ROWS + 1];
    bool right = true;

    for (size_t j = 0; j <= cols; j++)
        g[j] = halves[j] = (double)j;
    simd->dense_add_transposed(X, rows, cols, a, g);
    for (size_t j = 0; j < cols; j++) {
        for (size_t r = 0; r < rows; r++) {
            column[r] = X[r * cols + j];
            weights[r] = a[r];
        }
        column[rows] = 1.0;
        weights[rows] = (double)j;
        right = right && dot_is_right(column, weights, rows + 1, g[j]);
    }
    CHECK(right);
    CHECK(g[cols] == (double)cols);
    simd->dense_add_transposed(X, rows / 3, cols, a, halves);
    simd->dense_add_transposed(X + rows / 3 * cols, rows - rows / 3, cols, a + rows / 3, halves);
    CHECK(memcmp(g, halves, (cols + 1) * sizeof *g) == 0); /* the same bits however the rows are cut */
}

/* Blocks of memory of exactly the right size, so that a sanitizer sees a read past the end. */
static void test_dense(const pn_simd *simd)
{
    static const size_t row_counts[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 64, 70 };
    static const size_t col_counts[] = {
        1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 54, 63, 64, 65, 71, 72, 123, 128, 150
    };

    for (size_t i = 0; i < sizeof row_counts / sizeof row_counts[0]; i++) {
        for (size_t k = 0; k < sizeof col_counts / sizeof col_counts[0]; k++) {
            size_t rows = row_counts[i], cols = col_counts[k];
            double *X = malloc(rows * cols * sizeof *X + 1), *w = malloc(cols * sizeof *w);
            double *a = malloc(rows * sizeof *a + 1);

            if (!CHECK(X && w && a))
                exit(1);
            fill(X, rows * cols);
            fill(w, cols);
            fill(a, rows);
            test_times(simd, X, w, rows, cols);
            test_add_transposed(simd, X, a, rows, cols);
            free(X);
            free(w);
            free(a);
        }
    }
}

/* ---- element-wise functions ---- */

static long double sigmoid_ref(long double x)
{
    return 1.0L / (1.0L + expl(-x));
}

static long double softplus_ref(long double x)
{
    return x > 0.0L ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

typedef struct function {
    const char *name;
    void (*const *slot)(size_t, const double *, double *); /* within the table under test */
    long double (*reference)(long double);
    double low, high; /* where accuracy is measured */
    double ulps;
} function;

/* Distance in units of the last place of the double nearest to the reference. */
static double ulps_between(double got, long double want)
{
    double nearest = fabs((double)want);
    double unit = nearest < DBL_MAX ? nextafter(nearest, INFINITY) - nearest : nearest - nextafter(nearest, 0.0);

    if (isinf((double)want) || isinf(got))
        return (double)want == got ? 0.0 : INFINITY;
    return (double)(fabsl((long double)got - want) / (long double)unit);
}

#define POINTS 60000

/* A third of the points are spread evenly, a third by magnitude, a third close to 1 in magnitude. */
static void choose_points(const function *f, double *x)
{
    for (size_t i = 0; i < POINTS; i++) {
        double u = draw();

        if (i % 3 == 0)
            x[i] = f->low + (f->high - f->low) * (u + 1.0) / 2.0;
        else if (i % 3 == 1)
            x[i] = (u < 0.0 ? f->low : f->high) * exp2(-60.0 * fabs(draw()));
        else
            x[i] = u * 4.0;
        x[i] = fmin(fmax(x[i], f->low), f->high);
    }
}

static void test_accuracy(const pn_simd *simd, const function *f)
{
    double *x = malloc(2 * POINTS * sizeof *x), *out = x + POINTS, worst = 0.0, worst_x = 0.0;

    if (!CHECK(x != NULL))
        exit(1);
    choose_points(f, x);
    (*f->slot)(POINTS, x, out);
    for (size_t i = 0; i < POINTS; i++) {
        double ulps = ulps_between(out[i], f->reference((long double)x[i]));

        if (!(ulps <= worst)) {
            worst = ulps;
            worst_x = x[i];
        }
    }
    if (!CHECK(worst <= f->ulps) || getenv("PN_TEST_VERBOSE"))
        (void)fprintf(stderr, "%s %s: %.4f ulp at %.17g\n", simd->name, f->name, worst, worst_x);
    free(x);
}

/* Every length up to 40, in place and not, in memory of exactly that size; a lane does not depend on its neighbours. */
static void test_lengths(const function *f)
{
    for (size_t n = 0; n <= 40; n++) {
        double *x = malloc(n * sizeof *x + 1), *out = malloc(n * sizeof *out + 1), one;
        bool same = true;

        if (!CHECK(x && out))
            exit(1);
        for (size_t i = 0; i < n; i++)
            x[i] = f->low > -1.0 ? draw() + 1.5 : 3.0 * draw();
        (*f->slot)(n, x, out);
        for (size_t i = 0; i < n; i++) {
            (*f->slot)(1, &x[i], &one);
            same = same && one == out[i];
        }
        CHECK(same);
        (*f->slot)(n, x, x);
        CHECK(n == 0 || memcmp(x, out, n * sizeof *x) == 0);
        free(x);
        free(out);
    }
}

static double at(void (*f)(size_t, const double *, double *), double x)
{
    double out;

    f(1, &x, &out);
    return out;
}

static void test_special_values(const pn_simd *simd)
{
    const double inf = INFINITY;
    void (*const all[])(size_t, const double *, double *) = { simd->exp,     simd->log,     simd->log1p, simd->expm1,
                                                              simd->tanh,    simd->erf,     simd->sin,   simd->cos,
                                                              simd->sigmoid, simd->softplus };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CHECK(isnan(at(all[i], NAN)));
    CHECK(at(simd->exp, 0.0) == 1.0 && at(simd->exp, inf) == inf && at(simd->exp, -inf) == 0.0);
    CHECK(at(simd->exp, 710.0) == inf && at(simd->exp, -800.0) == 0.0);
    CHECK(at(simd->log, 1.0) == 0.0 && at(simd->log, 0.0) == -inf && at(simd->log, inf) == inf);
    CHECK(isnan(at(simd->log, -1.0)));
    CHECK(at(simd->log1p, 0.0) == 0.0 && at(simd->log1p, -1.0) == -inf && at(simd->log1p, inf) == inf);
    CHECK(isnan(at(simd->log1p, -2.0)));
    CHECK(at(simd->expm1, 0.0) == 0.0 && at(simd->expm1, -inf) == -1.0 && at(simd->expm1, inf) == inf);
    CHECK(at(simd->tanh, 1e-300) == 1e-300 && at(simd->tanh, -0x1p-27) == -0x1p-27);
    CHECK(at(simd->tanh, 0.0) == 0.0 && at(simd->tanh, inf) == 1.0 && at(simd->tanh, -inf) == -1.0);
    CHECK(at(simd->erf, 0.0) == 0.0 && at(simd->erf, inf) == 1.0 && at(simd->erf, -inf) == -1.0);
    CHECK(at(simd->sin, 0.0) == 0.0 && at(simd->cos, 0.0) == 1.0);
    CHECK(isnan(at(simd->sin, inf)) && isnan(at(simd->cos, -inf)));
    CHECK(at(simd->sigmoid, 0.0) == 0.5 && at(simd->sigmoid, -0.0) == 0.5);
    CHECK(at(simd->sigmoid, inf) == 1.0 && at(simd->sigmoid, -inf) == 0.0);
    CHECK(at(simd->sigmoid, DBL_MAX) == 1.0 && at(simd->sigmoid, -DBL_MAX) == 0.0);
    CHECK(at(simd->softplus, inf) == inf && at(simd->softplus, -inf) == 0.0);
    CHECK(at(simd->softplus, DBL_MAX) == DBL_MAX && at(simd->softplus, -DBL_MAX) == 0.0);
    CHECK(at(simd->softplus, 1000.0) == 1000.0 && at(simd->softplus, -1000.0) == 0.0);
}

/* Subnormal arguments, where a double has few bits to be right in. */
static void test_tiny(const function *functions, size_t count)
{
    for (size_t f = 0; f < count; f++) {
        double worst = 0.0, worst_x = 0.0;

        for (int i = 0; i < 3000; i++) {
            double x = fabs(draw()) * 1e-307 * exp2(-30.0 * fabs(draw()));
            double ulps = ulps_between(at(*functions[f].slot, x), functions[f].reference((long double)x));

            if (!(ulps <= worst)) {
                worst = ulps;
                worst_x = x;
            }
        }
        if (!CHECK(worst <= functions[f].ulps) || getenv("PN_TEST_VERBOSE"))
            (void)fprintf(stderr, "%s: %.4f ulp at %.17g\n", functions[f].name, worst, worst_x);
    }
}

static void test_functions(const pn_simd *simd)
{
    const function functions[] = {
        { "exp", &simd->exp, expl, -740.0, 709.7, 1.0 },
        { "log", &simd->log, logl, 1e-307, 1e300, 1.0 },
        { "log1p", &simd->log1p, log1pl, -0.999999, 1e300, 1.0 },
        { "expm1", &simd->expm1, expm1l, -60.0, 709.7, 1.0 },
        { "tanh", &simd->tanh, tanhl, -25.0, 25.0, 1.0 },
        { "erf", &simd->erf, erfl, -6.0, 6.0, 1.0 },
        { "sin", &simd->sin, sinl, -1e5, 1e5, 1.0 },
        { "cos", &simd->cos, cosl, -1e5, 1e5, 1.0 },
        { "sigmoid", &simd->sigmoid, sigmoid_ref, -740.0, 60.0, 3.0 },
        { "softplus", &simd->softplus, softplus_ref, -740.0, 1e6, 4.0 },
    };

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        test_accuracy(simd, &functions[i]);
        test_lengths(&functions[i]);
    }
    test_tiny(functions, sizeof functions / sizeof functions[0]);
}

/* ---- entries ---- */

typedef void (*unary_fn)(size_t n, const double *x, double *out);

/* Entry `at` is anything at all: no other entry of the result knows, to the last bit.  Sensitivities rest on that:
 * records that stay the same count as the same. */
static size_t moved_by_a_neighbour(unary_fn f, size_t repetitions)
{
    static const double strange[] = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e15, -1e15, 1e9, 1e5,
                                      3e4, 100.0,    15.5,      -14.5, 1e-320, 0.0,  -1.0,  -0.0 };
    double one[19], two[19], out[2][19];
    size_t moved = 0;

    for (size_t i = 0; i < repetitions; i++) {
        size_t n = 1 + i % 19, at = i / 19 % n;
        double scale = pow(10.0, 2.5 * draw());

        fill(one, n);
        for (size_t j = 0; j < n; j++)
            two[j] = one[j] *= scale;
        two[at] = strange[i % (sizeof strange / sizeof *strange)];
        f(n, one, out[0]);
        f(n, two, out[1]);
        for (size_t j = 0; j < n; j++)
            moved += j != at && memcmp(&out[0][j], &out[1][j], sizeof(double)) != 0;
    }
    return moved;
}

static void test_entries_alone(const pn_simd *simd)
{
    const unary_fn functions[] = { simd->exp,   simd->log, simd->log1p, simd->expm1,   simd->tanh,
                                   simd->erf,   simd->sin, simd->cos,   simd->sigmoid, simd->softplus,
                                   simd->decay, simd->abs, simd->sqrt };

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        CHECK(moved_by_a_neighbour(functions[i], 20000) == 0);
}

static void test_choice(void)
{
    size_t count = 0;

    while (pn_simd_at(count))
        count++;
    CHECK(count >= 1);
    CHECK(strcmp(pn_simd_at(count - 1)->name, "base") == 0); /* the last runs everywhere */
    CHECK(pn_simd_at(count + 5) == NULL);
    CHECK(pn_simd_best() == pn_simd_best());
    if (!getenv("PN_SIMD"))
        CHECK(pn_simd_best() == pn_simd_at(0));
}

int main(void)
{
    test_choice();
    for (size_t i = 0; pn_simd_at(i); i++) {
        test_dense(pn_simd_at(i));
        test_special_values(pn_simd_at(i));
        test_entries_alone(pn_simd_at(i));
        if (LDBL_MANT_DIG > DBL_MANT_DIG)
            test_functions(pn_simd_at(i));
    }
    return check_summary();
}
