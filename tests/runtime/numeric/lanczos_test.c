/* lanczos_test.c -- top singular pairs and eigenpairs beside LAPACK's full decompositions: shapes, ranks, ties,
 * scales, failures.
 * Depends on: check.h, fail_alloc.h, numeric/lanczos.h, numeric/lapack.h, numeric/blas.h. */
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "numeric/lanczos.h"
#include "numeric/lapack.h"

#define MOST 300

static double a[MOST * MOST], work[MOST * MOST], right[MOST * MOST], s[MOST], u[MOST], v[MOST], product[MOST];

static double uniform(void)
{
    static uint64_t state = 7;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1.0;
}

static void fill(size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = uniform();
}

/* A = sum of `rank` products of random vectors */
static void fill_rank(size_t rows, size_t cols, size_t rank)
{
    memset(a, 0, sizeof a);
    for (size_t k = 0; k < rank; k++) {
        for (size_t i = 0; i < rows; i++)
            work[i] = uniform();
        for (size_t j = 0; j < cols; j++)
            right[j] = uniform();
        for (size_t i = 0; i < rows; i++)
            pn_axpy(cols, work[i], right, a + i * cols);
    }
}

static void diagonal(size_t n, double first, double others, double fall)
{
    memset(a, 0, sizeof a);
    for (size_t i = 0; i < n; i++)
        a[i * n + i] = i == 0 ? first : others - fall * (double)i;
}

/* Within tolerance of the top value, which it attains with unit vectors. */
static void check_singular(size_t rows, size_t cols, double top, double tolerance)
{
    pn_mat A = { a, rows, cols };
    double sigma = -1.0;

    CHECK(pn_top_singular(&sigma, u, v, A, tolerance, NULL) == PN_OK);
    CHECK_CLOSE(pn_lp_norm(PN_L2, rows, u), 1.0, 1e-14);
    CHECK_CLOSE(pn_lp_norm(PN_L2, cols, v), 1.0, 1e-14);
    pn_mat_times_vec(A, v, product);
    CHECK_CLOSE(pn_dot(rows, u, product), sigma, 1e-13 * top);
    CHECK(sigma <= top * (1.0 + 1e-13));
    if (!CHECK(sigma >= top * (1.0 - tolerance - 1e-13)))
        (void)fprintf(stderr, "    %zu x %zu, tolerance %g: %.17g of %.17g\n", rows, cols, tolerance, sigma, top);
}

static void compare_with_svd(size_t rows, size_t cols)
{
    CHECK(pn_svd(work, s, right, (pn_mat){ a, rows, cols }, NULL) == PN_OK);
    check_singular(rows, cols, s[0], 1e-10);
    check_singular(rows, cols, s[0], 1e-3);
}

static void test_shapes(void)
{
    static const size_t shapes[][2] = {
        { 1, 1 },   { 1, 300 },   { 300, 1 },   { 2, 3 },     { 40, 7 },    { 96, 300 },
        { 97, 97 }, { 100, 300 }, { 120, 200 }, { 300, 100 }, { 300, 300 }, { 98, 250 }
    };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        fill(shapes[i][0] * shapes[i][1]);
        compare_with_svd(shapes[i][0], shapes[i][1]);
        fill_rank(shapes[i][0], shapes[i][1], 3);
        compare_with_svd(shapes[i][0], shapes[i][1]);
        fill_rank(shapes[i][0], shapes[i][1], 1);
        compare_with_svd(shapes[i][0], shapes[i][1]);
    }
}

/* In each the residual of a Ritz pair is small long before the pair is the top one. */
static void test_hard_spectra(void)
{
    static const size_t sides[] = { 5, 120, 300 };

    for (size_t k = 0; k < 3; k++) {
        diagonal(sides[k], 1.0, 1.0, 0.0); /* all equal */
        check_singular(sides[k], sides[k], 1.0, 1e-10);
        diagonal(sides[k], 1.002, 1.0, 0.0); /* one above many equal */
        check_singular(sides[k], sides[k], 1.002, 1e-3);
        check_singular(sides[k], sides[k], 1.002, 1e-10);
        diagonal(sides[k], 1.0 + 1e-6, 1.0, 0.0);
        check_singular(sides[k], sides[k], 1.0 + 1e-6, 1e-10);
        diagonal(sides[k], 1.0, 1.0, 1e-8); /* a cluster: more steps than are allowed */
        check_singular(sides[k], sides[k], 1.0, 1e-10);
        diagonal(sides[k], 1.0, 0.0, 0.0);
        check_singular(sides[k], sides[k], 1.0, 1e-10);
    }
}

static void test_scales(void)
{
    static const size_t sides[] = { 5, 120 };
    static const double scales[] = { 1e307, 1e-300, 5e-320 };

    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < 3; i++) {
            double sigma, digits = scales[i] < DBL_MIN ? 1e-3 : 1e-10, entry = scales[i] / (double)sides[k];

            for (size_t j = 0; j < sides[k] * sides[k]; j++)
                a[j] = entry;
            if (entry > 0.0) {
                CHECK(pn_top_singular(&sigma, u, v, (pn_mat){ a, sides[k], sides[k] }, 1e-10, NULL) == PN_OK);
                CHECK_CLOSE(sigma / ((double)sides[k] * entry), 1.0, digits);
            }
        }
    }
}

static void test_zero(void)
{
    static const size_t sides[] = { 1, 4, 120 };

    memset(a, 0, sizeof a);
    for (size_t k = 0; k < 3; k++) {
        double value = 1.0;

        u[0] = v[0] = 0.0;
        CHECK(pn_top_singular(&value, u, v, (pn_mat){ a, sides[k], sides[k] }, 1e-10, NULL) == PN_OK);
        CHECK(value == 0.0 && u[0] == 1.0 && v[0] == 1.0 && pn_lp_norm(PN_L1, sides[k], u) == 1.0);
        u[0] = 0.0;
        value = 1.0;
        CHECK(pn_top_eigen(&value, u, (pn_mat){ a, sides[k], sides[k] }, 1e-10, NULL) == PN_OK);
        CHECK(value == 0.0 && u[0] == 1.0 && pn_lp_norm(PN_L1, sides[k], u) == 1.0);
    }
}

static void test_same_input_same_pair(void)
{
    static double first[MOST];
    double one, two;

    fill(MOST * MOST);
    CHECK(pn_top_singular(&one, u, v, (pn_mat){ a, MOST, MOST }, 1e-6, NULL) == PN_OK);
    memcpy(first, v, sizeof first);
    CHECK(pn_top_singular(&two, u, v, (pn_mat){ a, MOST, MOST }, 1e-6, NULL) == PN_OK);
    CHECK(one == two && memcmp(first, v, sizeof first) == 0);
}

static void check_eigen(size_t n, double tolerance)
{
    double value = NAN, norm;

    CHECK(pn_eigen_symmetric(s, work, (pn_mat){ a, n, n }, NULL) == PN_OK);
    norm = fmax(fabs(s[0]), fabs(s[n - 1]));
    CHECK(pn_top_eigen(&value, u, (pn_mat){ a, n, n }, tolerance, NULL) == PN_OK);
    CHECK_CLOSE(pn_lp_norm(PN_L2, n, u), 1.0, 1e-14);
    pn_mat_times_vec((pn_mat){ a, n, n }, u, product); /* x^T A x = x^T (A + A^T)/2 x */
    CHECK_CLOSE(pn_dot(n, u, product), value, 1e-13 * norm);
    CHECK(value <= s[n - 1] + 1e-13 * norm && value >= s[n - 1] - (tolerance + 1e-13) * norm);
}

static void test_eigen(void)
{
    static const size_t sides[] = { 1, 2, 30, 97, 250 };

    for (size_t k = 0; k < 5; k++) {
        size_t n = sides[k];

        fill(n * n); /* not symmetric */
        check_eigen(n, 1e-10);
        check_eigen(n, 1e-3);
        diagonal(n, -1.0, -2.0, 0.01); /* negative definite: the top is the smallest in size */
        check_eigen(n, 1e-10);
        diagonal(n, 1.0, -50.0, 0.0);
        check_eigen(n, 1e-10);
    }
}

static void test_refusals(void)
{
    double value;
    pn_err err;

    fill(4);
    a[2] = NAN;
    CHECK(pn_top_singular(&value, u, v, (pn_mat){ a, 2, 2 }, 1e-10, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "(2, 1)") != NULL);
    CHECK(pn_top_eigen(&value, u, (pn_mat){ a, 2, 2 }, 1e-10, &err) == PN_EDOMAIN);
    CHECK(pn_top_singular(&value, u, v, (pn_mat){ a, 0, 2 }, 1e-10, &err) == PN_EDIM);
    CHECK(pn_top_eigen(&value, u, (pn_mat){ a, 1, 2 }, 1e-10, &err) == PN_EDIM);
}

static pn_status without_memory(void *self, pn_err *err)
{
    const pn_mat *A = self;
    double value;
    pn_status status = pn_top_singular(&value, u, v, *A, 1e-10, err);

    return status == PN_OK && A->rows == A->cols ? pn_top_eigen(&value, u, *A, 1e-10, err) : status;
}

int main(void)
{
    pn_mat small = { a, 5, 7 }, large = { a, 120, 120 }, cluster = { a, 110, 110 };

    test_shapes();
    test_hard_spectra();
    test_scales();
    test_zero();
    test_same_input_same_pair();
    test_eigen();
    test_refusals();
    fill(MOST * MOST);
    CHECK(fail_alloc_sweep("small pair", without_memory, &small) > 0);
    CHECK(fail_alloc_sweep("large pair", without_memory, &large) > 0);
    diagonal(110, 1.0, 1.0, 1e-8);
    CHECK(fail_alloc_sweep("clustered pair", without_memory, &cluster) > 0);
    return check_summary();
}
