/* linear_test.c -- blas.h and lapack.h: norms at both ends of the doubles, products, svd, eigenvalues, solve,
 * out of memory.
 * Depends on: check.h, fail_alloc.h, numeric/blas.h, numeric/lapack.h. */
#include <float.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

static void test_norms(void)
{
    double x[] = { 3.0, -4.0 }, large[] = { 3e300, -4e300 }, small[] = { 3e-310, 4e-310 }, none[] = { 0.0, 0.0 };
    double bad[] = { 1.0, NAN, 2.0 }, endless[] = { -INFINITY, 1.0 }, mixed[] = { 1.0, 1e-200 };

    CHECK(pn_lp_norm(PN_L1, 2, x) == 7.0 && pn_lp_norm(PN_L2, 2, x) == 5.0 && pn_lp_norm(PN_LINF, 2, x) == 4.0);
    CHECK_CLOSE(pn_lp_norm(PN_L2, 2, large), 5e300, 1e285);
    CHECK_CLOSE(pn_lp_norm(PN_L2, 2, small), 5e-310, 5e-324); /* x^2 underflows to 0 */
    CHECK(pn_lp_norm(PN_L2, 2, mixed) == 1.0);
    CHECK(pn_lp_norm(PN_L2, 2, none) == 0.0 && pn_lp_norm(PN_L2, 0, NULL) == 0.0);
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        CHECK(isnan(pn_lp_norm((pn_lp)norm, 3, bad)));
        CHECK(pn_lp_norm((pn_lp)norm, 2, endless) == INFINITY);
    }
}

static void test_sums(void)
{
    static double x[100000];
    double y[] = { 1.0, 2.0, 3.0 }, z[] = { 10.0, 20.0, 30.0 };

    for (size_t i = 0; i < 100000; i++)
        x[i] = 0.1;
    /* Left to right the error is about 2e-8; pairwise it stays near log2(n) eps sum. */
    CHECK_CLOSE(pn_sum(100000, x), 100000 * 0.1, 1e-10);
    CHECK(pn_dot(3, y, z) == 140.0);
    pn_axpy(3, 2.0, y, z);
    CHECK(z[0] == 12.0 && z[1] == 24.0 && z[2] == 36.0);
}

static void test_products(void)
{
    double a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 1, 0, 0, 1, 1, 1 }, c[4], t[6], y[2];
    double want[] = { 4, 5, 10, 11 }, want_t[] = { 1, 4, 2, 5, 3, 6 };
    pn_err err;

    CHECK(pn_mat_times_mat((pn_mat){ c, 2, 2 }, (pn_mat){ a, 2, 3 }, (pn_mat){ b, 3, 2 }, &err) == PN_OK);
    CHECK(memcmp(c, want, sizeof c) == 0);
    CHECK(pn_mat_times_mat((pn_mat){ c, 2, 3 }, (pn_mat){ a, 2, 3 }, (pn_mat){ b, 2, 3 }, &err) == PN_EDIM);
    CHECK(pn_mat_times_mat((pn_mat){ c, (size_t)1 << 40, 1 }, (pn_mat){ a, (size_t)1 << 40, 1 }, (pn_mat){ b, 1, 1 },
                           &err) == PN_EDIM); /* more rows than the BLAS can count */
    pn_mat_times_vec((pn_mat){ a, 2, 3 }, b, y);
    CHECK(y[0] == 1.0 && y[1] == 4.0);
    pn_mat_transpose(t, (pn_mat){ a, 2, 3 });
    CHECK(memcmp(t, want_t, sizeof t) == 0);
}

/* U diag(s) Vt must be A again, and the columns of U and the rows of Vt orthonormal. */
static void check_svd(const double *A, size_t m, size_t n)
{
    double U[12], s[3], Vt[12], copy[12];
    size_t k = m < n ? m : n;

    memcpy(copy, A, m * n * sizeof *A);
    CHECK(pn_svd(U, s, Vt, (pn_mat){ copy, m, n }, NULL) == PN_OK);
    CHECK(memcmp(copy, A, m * n * sizeof *A) == 0);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;

            for (size_t l = 0; l < k; l++)
                sum += U[i * k + l] * s[l] * Vt[l * n + j];
            CHECK_CLOSE(sum, A[i * n + j], 1e-13);
        }
    }
    for (size_t p = 0; p < k; p++) {
        CHECK(s[p] >= 0.0 && (p == 0 || s[p] <= s[p - 1]));
        for (size_t q = 0; q < k; q++) {
            double uu = 0.0, vv = 0.0;

            for (size_t i = 0; i < m; i++)
                uu += U[i * k + p] * U[i * k + q];
            for (size_t j = 0; j < n; j++)
                vv += Vt[p * n + j] * Vt[q * n + j];
            CHECK_CLOSE(uu, p == q, 1e-13);
            CHECK_CLOSE(vv, p == q, 1e-13);
        }
    }
}

static void test_svd(void)
{
    double A[] = { 4, 0, 1, 2, 7, -1, 0, 3, 5, 1, -2, 6 }, diagonal[] = { 0, 2, 0, 3, 0, 0 }, U[4], s[2], Vt[6];
    double bad[] = { 1, 2, 3, INFINITY };
    pn_err err;

    check_svd(A, 4, 3);
    check_svd(A, 3, 4);
    check_svd(A, 3, 3);
    check_svd(A, 1, 4);
    CHECK(pn_svd(U, s, Vt, (pn_mat){ diagonal, 2, 3 }, &err) == PN_OK);
    CHECK_CLOSE(s[0], 3.0, 1e-15);
    CHECK_CLOSE(s[1], 2.0, 1e-15);
    CHECK(pn_svd(U, s, Vt, (pn_mat){ bad, 2, 2 }, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "(2, 2)") != NULL);
}

static void test_mixtures_may_replace_what_they_are_of(void)
{
    double a[] = { 1, 2 }, b[] = { 5, -2 };

    pn_mix(2, 0.25, a, b, b);
    CHECK(b[0] == 4.0 && b[1] == -1.0);
    pn_mix(2, 1.0, b, a, a);
    CHECK(a[0] == 4.0 && a[1] == -1.0);
}

/* A = B B^T of a 3 x 2 matrix B, so of rank 2; and matrices that have no root. */
static void test_roots_of_semidefinite_matrices(void)
{
    double A[] = { 5, 4, 0, 4, 13, -7, 0, -7, 5 }, root[9], norm, off;
    double indefinite[] = { 1, 2, 2, 1 }, skew[] = { 2, 1, -1, 2 }, bad[] = { 1, NAN, NAN, 1 };
    pn_err err;

    CHECK(pn_psd_root(root, (pn_mat){ A, 3, 3 }, &norm, &off, &err) == PN_OK);
    CHECK(off < 1e-13 * norm && norm > 13.0 && norm < 23.0); /* between an entry of the diagonal and their sum */
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            double sum = 0.0;

            for (size_t k = 0; k < 3; k++)
                sum += root[i * 3 + k] * root[j * 3 + k];
            CHECK_CLOSE(sum, A[i * 3 + j], 1e-12);
        }
    }
    CHECK(pn_psd_root(root, (pn_mat){ indefinite, 2, 2 }, &norm, &off, &err) == PN_OK && off > 0.5);
    CHECK_CLOSE(norm, 3.0, 1e-14);
    CHECK(pn_psd_root(root, (pn_mat){ skew, 2, 2 }, &norm, &off, &err) == PN_OK && off > 0.5);
    CHECK(pn_psd_root(root, (pn_mat){ bad, 2, 2 }, &norm, &off, &err) == PN_EDOMAIN);
}

static void test_eigen_symmetric(void)
{
    double A[] = { 2, 5, -3, 2 }, values[4], vectors[4]; /* symmetric part (2 1; 1 2) */
    double B[] = { 4, 1, 0, 0, 1, -3, 2, 1, 0, 2, 0, 5, 0, 1, 5, 1 }, rows[16], bad[] = { 1, 2, NAN, 1 };
    pn_err err;

    CHECK(pn_eigen_symmetric(values, vectors, (pn_mat){ A, 2, 2 }, &err) == PN_OK);
    CHECK_CLOSE(values[0], 1.0, 1e-15);
    CHECK_CLOSE(values[1], 3.0, 1e-15);
    CHECK_CLOSE(vectors[2] * vectors[3], 0.5, 1e-15); /* (1, 1)/sqrt 2 belongs to 3 */
    CHECK_CLOSE(vectors[0] * vectors[1], -0.5, 1e-15);
    CHECK(A[1] == 5.0 && A[2] == -3.0);
    CHECK(pn_eigen_symmetric(values, rows, (pn_mat){ B, 4, 4 }, &err) == PN_OK);
    for (size_t i = 0; i < 4; i++) {
        CHECK(i == 0 || values[i] >= values[i - 1]);
        for (size_t j = 0; j < 4; j++) {
            double sum = 0.0, dot = 0.0;

            for (size_t k = 0; k < 4; k++) {
                sum += values[k] * rows[k * 4 + i] * rows[k * 4 + j];
                dot += rows[i * 4 + k] * rows[j * 4 + k];
            }
            CHECK_CLOSE(sum, B[i * 4 + j], 1e-14);
            CHECK_CLOSE(dot, i == j, 1e-14);
        }
    }
    CHECK(pn_eigen_symmetric(values, vectors, (pn_mat){ bad, 2, 2 }, &err) == PN_EDOMAIN);
    CHECK(pn_eigen_symmetric(values, vectors, (pn_mat){ A, 1, 4 }, &err) == PN_EDIM);
    CHECK(strstr(err.message, "1 x 4") != NULL);
    CHECK(pn_eigen_symmetric(values, A, (pn_mat){ A, 2, 2 }, &err) == PN_OK && values[1] == 3.0); /* in place */
}

/* 2 - 2 cos(j pi/(n + 1)) are the eigenvalues of the second difference. */
static void test_tridiagonal(void)
{
    double diagonal[50], off[49], vector[50], value;
    const double pi = 3.14159265358979323846;

    for (size_t n = 1; n <= 50; n++) {
        double top = 2.0 - 2.0 * cos((double)n * pi / (double)(n + 1));

        for (size_t i = 0; i < n; i++) {
            diagonal[i] = 2.0;
            if (i + 1 < n)
                off[i] = -1.0;
        }
        CHECK(pn_tridiagonal_top(&value, vector, diagonal, off, n, NULL) == PN_OK);
        CHECK_CLOSE(value, top, 1e-14);
        CHECK_CLOSE(pn_lp_norm(PN_L2, n, vector), 1.0, 1e-14);
        for (size_t i = 0; i < n; i++) {
            double left = i > 0 ? vector[i - 1] : 0.0, next = i + 1 < n ? vector[i + 1] : 0.0;

            CHECK_CLOSE(2.0 * vector[i] - left - next, top * vector[i], 1e-13);
        }
    }
}

static void test_solve(void)
{
    double A[] = { 0, 2, 1, 1, 1, 0, 3, 0, -1 }, x[3], want[] = { 1, -2, 5 }, b[] = { 1, -1, -2 };
    double singular[] = { 1, 2, 2, 4 }, nearly[] = { 1, 1, 1, 1 + DBL_EPSILON }, bad[] = { 1, NAN, 0, 1 };
    pn_err err;

    CHECK(pn_linear_solve(x, (pn_mat){ A, 3, 3 }, b, &err) == PN_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK_CLOSE(x[i], want[i], 1e-14);
    CHECK(pn_linear_solve(b, (pn_mat){ A, 3, 3 }, b, &err) == PN_OK && b[0] == x[0] && b[2] == x[2]);
    CHECK(pn_linear_solve(x, (pn_mat){ singular, 2, 2 }, b, &err) == PN_ENUMERIC);
    CHECK(strstr(err.message, "2 x 2 matrix is singular") != NULL);
    CHECK(pn_linear_solve(x, (pn_mat){ nearly, 2, 2 }, b, &err) == PN_ENUMERIC);
    CHECK(strstr(err.message, "working precision") != NULL);
    CHECK(pn_linear_solve(x, (pn_mat){ A, 2, 3 }, b, &err) == PN_EDIM);
    CHECK(pn_linear_solve(x, (pn_mat){ bad, 2, 2 }, b, &err) == PN_EDOMAIN);
}

static pn_status scenario(void *self, pn_err *err)
{
    double A[] = { 2, 1, 1, 3 }, U[4], s[2], Vt[4], b[] = { 1, 2 };
    pn_status status = pn_svd(U, s, Vt, (pn_mat){ A, 2, 2 }, err);

    (void)self;
    return status == PN_OK ? pn_linear_solve(b, (pn_mat){ A, 2, 2 }, b, err) : status;
}

int main(void)
{
    test_norms();
    test_sums();
    test_products();
    test_svd();
    test_mixtures_may_replace_what_they_are_of();
    test_roots_of_semidefinite_matrices();
    test_eigen_symmetric();
    test_tridiagonal();
    test_solve();
    CHECK(fail_alloc_sweep("lapack", scenario, NULL) == 7);
    return check_summary();
}
