/* toeplitz_test.c -- numbers of Toeplitz factorizations against closed forms, dense matrices and brute force.
 * Numbers: tree-mechanism.md, section 7 and items 5 to 8 and 11 of section 9. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "continual/toeplitz.h"
#include "core/alloc.h"
#include "core/stop.h"
#include "numeric/lapack.h"

#include "check.h"
#include "fail_alloc.h"

#define MOST 16384

static double c[MOST], r[MOST];

/* max and mean of F_t = square * (r_0^2 + ... + r_{t-1}^2), t = 1 .. count. */
static void factors(double square, size_t count, double *max, double *mean)
{
    double sum = 0.0, total = 0.0;

    for (size_t t = 0; t < count; t++) {
        sum += r[t] * r[t];
        total += sum;
    }
    *max = square * sum;
    *mean = square * total / (double)count;
}

static void banded_factors(size_t bands, size_t count, double *max, double *mean)
{
    CHECK(pn_toeplitz_inverse_sums(bands, c, count, r, NULL) == PN_OK);
    factors(pn_toeplitz_square(bands, c, count), count, max, mean);
}

/* (nuc / T)^2 with nuc = sum_j 1 / (2 sin((2j-1) pi / (4T+2))), the singular values of A. */
static double lower_bound(size_t count)
{
    double sum = 0.0;

    for (size_t j = 1; j <= count; j++)
        sum += 0.5 / sin((2.0 * (double)j - 1.0) * acos(-1.0) / (4.0 * (double)count + 2.0));
    return (sum / (double)count) * (sum / (double)count);
}

static void test_square_root(void)
{
    static const double inverse[] = { 1.0, -1.0 / 2, -1.0 / 8, -1.0 / 16, -5.0 / 128 };
    static double b[1024];

    pn_toeplitz_sqrt(1024, c);
    b[0] = 1.0;
    CHECK(pn_toeplitz_solve(1024, c, 1024, b, NULL) == PN_OK); /* the first column of the inverse */
    CHECK(c[0] == 1.0 && c[1] == 0.5 && c[2] == 0.375 && c[3] == 0.3125);
    for (size_t j = 0; j < 5; j++)
        CHECK_CLOSE(b[j], inverse[j], 1e-16);
    /* binom(2j, j) / 4^j by the Gamma function */
    for (size_t j = 1; j < 1024; j += 51)
        CHECK_CLOSE(c[j], exp(lgamma((double)j + 0.5) - lgamma((double)j + 1.0)) / sqrt(acos(-1.0)), 1e-11 * c[j]);
    for (size_t n = 0; n < 1024; n += 11) {
        double product = 0.0;

        for (size_t j = 0; j <= n; j++)
            product += c[j] * b[n - j];
        CHECK_CLOSE(product, n == 0 ? 1.0 : 0.0, 1e-14);
    }
    CHECK(pn_toeplitz_inverse_sums(1024, c, 1024, r, NULL) == PN_OK); /* R = C */
    for (size_t j = 0; j < 1024; j++)
        CHECK_CLOSE(r[j], c[j], 1e-13);
}

static void test_square_root_errors(void)
{
    static const struct {
        size_t count;
        double max, mean, bound;
    } table[] = { { 8, 2.9528, 2.5149, 2.0689 },
                  { 16, 3.7787, 3.2285, 2.6518 },
                  { 256, 8.0148, 7.1224, 6.1080 },
                  { 1024, 10.7096, 9.6708, 8.4657 },
                  { 16384, 17.2654, 15.9431, 14.3710 } };
    double max, mean, square;

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        pn_toeplitz_sqrt(table[i].count, c);
        memcpy(r, c, sizeof r);
        factors(pn_toeplitz_square(table[i].count, c, table[i].count), table[i].count, &max, &mean);
        CHECK_CLOSE(max, table[i].max, 0.5001e-4);
        CHECK_CLOSE(mean, table[i].mean, 0.5001e-4);
        CHECK_CLOSE(lower_bound(table[i].count), table[i].bound, 0.5001e-4);
    }
    pn_toeplitz_sqrt(1024, c);
    memcpy(r, c, sizeof r);
    factors(pn_toeplitz_square(1000, c, 1000), 1000, &max, &mean);
    CHECK_CLOSE(max, 10.660245, 0.5001e-6);
    CHECK_CLOSE(mean, 9.623887, 0.5001e-6);
    square = pn_toeplitz_square(1024, c, 1024);
    CHECK_CLOSE(square, 3.272554, 0.5001e-6);
    CHECK_CLOSE((log(16.0 * 1024.0) + 0.5772157) / acos(-1.0), 3.272632, 0.5001e-6);
    CHECK(pn_toeplitz_square(1024, c, 3) == 1.0 + 0.25 + 0.140625); /* over the first leaves only */
    CHECK(pn_toeplitz_square(2, c, 3) == 1.25);
}

static void test_banded(void)
{
    static const struct {
        size_t bands;
        double max, mean;
        /* the spec has 90.943, where 90.94243 is right (40 digits by mpmath) */
    } table[] = { { 2, 569.444, 285.278 }, { 8, 179.971, 90.942 }, { 32, 58.099, 30.679 } };
    double max, mean;

    pn_toeplitz_sqrt(1024, c);
    for (size_t i = 0; i < 3; i++) {
        banded_factors(table[i].bands, 1024, &max, &mean);
        CHECK_CLOSE(max, table[i].max, 0.5001e-3);
        CHECK_CLOSE(mean, table[i].mean, 0.5001e-3);
        CHECK(mean > lower_bound(1024));
    }
    banded_factors(1, 1024, &max, &mean); /* independent noise */
    CHECK(max == 1024.0 && mean == 1025.0 / 2.0);
    /* c = 1, 1/2: 1/c(x) = sum (-x/2)^j, so r_t = (2 + (-1/2)^t) / 3 */
    banded_factors(2, 40, &max, &mean);
    for (size_t t = 0; t < 40; t++)
        CHECK_CLOSE(r[t], (2.0 + pow(-0.5, (double)t)) / 3.0, 1e-15);
    CHECK(pn_toeplitz_inverse_sums(100, c, 3, r, NULL) == PN_OK); /* more bands than rows */
    CHECK(r[0] == 1.0 && r[1] == 0.5 && r[2] == 0.375);
}

static const double theta3[] = { .995, .9, .5 }, omega3[] = { .02, .08, .25 };

/* w = C^-1 z by LAPACK. */
static void dense_solve(size_t count, const double *z, double *w)
{
    double *C = pn_calloc(count * count, sizeof *C);
    pn_mat view = { .data = C, .rows = count, .cols = count };

    if (!CHECK(C))
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            C[i * count + j] = c[i - j];
    CHECK(pn_linear_solve(w, view, z, NULL) == PN_OK);
    pn_free(C);
}

static void test_buffers(void)
{
    static const double z[] = { 1.0, -2.0, .5, 3.0, 0.0, 1.0 };
    static const double want[] = { 1.0, -2.35, 1.1056, 2.9756545, -1.0448690375, .7267224183875 };
    double w[64], dense[64], sums[64], steps[64];

    CHECK_CLOSE(pn_toeplitz_blt_square(3, theta3, omega3, 64), 1.259015, 0.5001e-6);
    pn_toeplitz_blt(3, theta3, omega3, 64, c);
    CHECK_CLOSE(pn_toeplitz_square(64, c, 64), pn_toeplitz_blt_square(3, theta3, omega3, 64), 1e-15);
    CHECK(c[0] == 1.0);
    CHECK_CLOSE(c[1], .35, 1e-16);
    CHECK_CLOSE(c[3], .02 * .995 * .995 + .08 * .81 + .25 * .25, 1e-16);
    memcpy(w, z, sizeof z);
    CHECK(pn_toeplitz_solve(64, c, 6, w, NULL) == PN_OK);
    dense_solve(6, z, dense);
    for (size_t i = 0; i < 6; i++) {
        CHECK_CLOSE(w[i], want[i], 1e-13);
        CHECK_CLOSE(dense[i], want[i], 1e-13);
    }
    for (size_t i = 0; i < 64; i++)
        steps[i] = i == 0;
    dense_solve(64, steps, dense); /* the first column of C^-1, whose sums are r */
    pn_toeplitz_blt_sums(3, theta3, omega3, 64, sums);
    CHECK(pn_toeplitz_inverse_sums(64, c, 64, r, NULL) == PN_OK);
    for (size_t i = 0; i < 64; i++) {
        dense[i] += i > 0 ? dense[i - 1] : 0.0;
        CHECK_CLOSE(sums[i], dense[i], 1e-14);
        CHECK_CLOSE(r[i], dense[i], 1e-14);
    }
    CHECK(pn_toeplitz_blt_square(3, theta3, omega3, 0) == 0.0 && pn_toeplitz_blt_square(3, theta3, omega3, 1) == 1.0);
    CHECK_CLOSE(pn_toeplitz_blt_square(3, theta3, omega3, 2), 1.0 + .35 * .35, 1e-15);
}

/* The closed form where 1 - theta^2 cancels, against the sum. */
static void test_slow_buffers(void)
{
    static const double theta[] = { 1.0 - 1e-9, 1.0 - 1e-4 }, omega[] = { 1e-3, 2e-3 };
    double square;

    pn_toeplitz_blt(2, theta, omega, MOST, c);
    square = pn_toeplitz_square(MOST, c, MOST);
    CHECK_CLOSE(pn_toeplitz_blt_square(2, theta, omega, MOST), square, 1e-12 * square);
}

/* ---- several participations ---- */

/* The largest norm over all sets that are allowed, by trying each. */
static double worst_of_all(size_t bands, size_t horizon, size_t q, size_t b)
{
    double worst = 0.0;

    for (unsigned set = 1; set < 1u << horizon; set++) {
        size_t count = 0, last = 0;
        double column[16] = { 0.0 }, square = 0.0;
        bool allowed = true;

        for (size_t t = 0; t < horizon; t++) {
            if (!(set >> t & 1u))
                continue;
            allowed = allowed && (count == 0 || t - last >= b);
            count++;
            last = t;
            for (size_t i = t; i < horizon && i - t < bands; i++)
                column[i] += c[i - t];
        }
        if (!allowed || count > q)
            continue;
        for (size_t i = 0; i < horizon; i++)
            square += column[i] * column[i];
        worst = fmax(worst, square);
    }
    return sqrt(worst);
}

static void test_worst_participations(void)
{
    static const double flat[] = { 1.0, 1.0, 1.0, 0.25, 0.25 };
    double got;

    for (size_t kind = 0; kind < 3; kind++) {
        size_t bands = kind == 0 ? 16 : 5;

        if (kind == 0)
            pn_toeplitz_sqrt(16, c);
        else if (kind == 1)
            pn_toeplitz_blt(3, theta3, omega3, 5, c);
        else
            memcpy(c, flat, sizeof flat);
        for (size_t horizon = 1; horizon <= 11; horizon += 2)
            for (size_t q = 1; q <= 6; q++)
                for (size_t b = 1; b <= 12; b++) {
                    double want = worst_of_all(bands, horizon, q, b);

                    CHECK(pn_toeplitz_sensitivity(&got, bands, c, horizon, q, b, NULL) == PN_OK);
                    CHECK(got >= want * (1.0 - 2e-16) && got <= want * (1.0 + 1e-14));
                }
    }
}

static void test_participations(void)
{
    double got, banded;
    pn_err err;

    pn_toeplitz_sqrt(1024, c);
    CHECK(pn_toeplitz_sensitivity(&got, 1024, c, 1024, 2, 512, NULL) == PN_OK);
    CHECK_CLOSE(got, 2.728805, 0.5001e-6);
    CHECK(pn_toeplitz_sensitivity(&banded, 8, c, 1024, 2, 512, NULL) == PN_OK);
    CHECK_CLOSE(banded, 1.853850, 0.5001e-6);
    CHECK_CLOSE(banded, sqrt(2.0 * pn_toeplitz_square(8, c, 1024)), 1e-14);
    /* columns that do not overlap, but the last is cut: q of them still bound it */
    CHECK(pn_toeplitz_sensitivity(&got, 8, c, 1024, 100, 8, NULL) == PN_OK);
    CHECK_CLOSE(got, 10.0 * sqrt(pn_toeplitz_square(8, c, 1024)), 1e-12);
    /* every leaf: || (S_1, S_1 + S_2, ...) || of c = 1, 1 is || (1, 2, 2, ...) || */
    c[1] = 1.0;
    CHECK(pn_toeplitz_sensitivity(&got, 2, c, 1000, SIZE_MAX, 1, NULL) == PN_OK);
    CHECK_CLOSE(got, sqrt(1.0 + 4.0 * 999.0), 1e-12);
    c[1] = 0.25;
    c[2] = 0.5;
    CHECK(pn_toeplitz_sensitivity(&got, 3, c, 10, 2, 1, &err) == PN_EUNSUPPORTED && strstr(err.message, "index 2"));
    CHECK(pn_toeplitz_sensitivity(&got, 3, c, 10, 1, 1, NULL) == PN_OK);
    CHECK_CLOSE(got, sqrt(1.3125), 1e-14);
    CHECK(pn_toeplitz_sensitivity(&got, 3, c, 2, 2, 1, NULL) == PN_OK); /* the increase is past the horizon */
    c[2] = -0.1;
    CHECK(pn_toeplitz_sensitivity(&got, 3, c, 10, 2, 1, NULL) == PN_EUNSUPPORTED);
}

/* ---- checks ---- */

static bool refused(size_t m, const double *theta, const double *omega, const char *word)
{
    pn_err err;

    return pn_toeplitz_blt_check("blt", m, theta, omega, &err) == PN_EINVAL && strstr(err.message, word) &&
           strstr(err.message, "blt: ");
}

static void test_check(void)
{
    const double two[] = { 0.5, 0.5 }, half[] = { 0.25, 0.25 }, bad[] = { 0.0, 1.0, -0.5, NAN, INFINITY };
    double theta[] = { 0.5 }, omega[] = { 1.5 };

    CHECK(pn_toeplitz_blt_check("blt", 3, theta3, omega3, NULL) == PN_OK);
    CHECK(refused(0, theta3, omega3, "1 to 8") && refused(9, theta3, omega3, "got 9"));
    CHECK(refused(2, two, half, "theta[1] and theta[2] must differ"));
    for (size_t i = 0; i < 5; i++) {
        theta[0] = bad[i];
        omega[0] = 0.5;
        CHECK(refused(1, theta, omega, "theta[1] must be between 0 and 1"));
        theta[0] = 0.5;
        omega[0] = bad[i];
        CHECK((bad[i] == 1.0) != refused(1, theta, omega, "omega[1] must be positive"));
    }
    /* 1/c(x) = (1 - theta x) / (1 - (theta - omega) x): from omega = 1 + theta on its coefficients do not fade */
    omega[0] = 1.499;
    CHECK(pn_toeplitz_blt_check("blt", 1, theta, omega, NULL) == PN_OK);
    pn_toeplitz_blt_sums(1, theta, omega, MOST, r);
    CHECK(fabs(r[MOST - 1]) < 1.0);
    omega[0] = 1.501;
    CHECK(refused(1, theta, omega, "grow without bound"));
    pn_toeplitz_blt_sums(1, theta, omega, MOST, r);
    CHECK(fabs(r[MOST - 1]) > 1e3);
}

/* What the refusal says of any parameters, seen in the sums: they grow just when it is made. */
static void test_check_is_sharp(void)
{
    uint64_t state = 7;
    int grew = 0;

    for (int trial = 0; trial < 300; trial++) {
        double theta[4], omega[4], at = 1.0, sum = 0.0;

        for (size_t i = 0; i < 4; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            theta[i] = 0.01 + 0.98 * (double)(state >> 40) * 0x1p-24;
            state = state * 6364136223846793005u + 1442695040888963407u;
            omega[i] = 0.01 + 0.7 * (double)(state >> 40) * 0x1p-24;
            at -= omega[i] / (1.0 + theta[i]);
        }
        if (fabs(at) < 0.02)
            continue;
        pn_toeplitz_blt_sums(4, theta, omega, 2000, r);
        for (size_t t = 1900; t < 2000; t++)
            sum += fabs(r[t]);
        CHECK((pn_toeplitz_blt_check("blt", 4, theta, omega, NULL) == PN_OK) == (sum < 110.0));
        grew += !(sum < 110.0);
    }
    CHECK(grew > 20 && grew < 280);
}

/* ---- the shape of the errors ---- */

static void test_shape(void)
{
    double theta[4], omega[4], max, mean, root, root_mean;
    size_t found;

    pn_toeplitz_sqrt(1024, c);
    memcpy(r, c, 1024 * sizeof(double));
    factors(pn_toeplitz_square(1024, c, 1024), 1024, &root, &root_mean);
    CHECK(pn_toeplitz_blt_table(1024, 4, &found, theta, omega) && found == 4);
    pn_toeplitz_blt_sums(4, theta, omega, 1024, r);
    factors(pn_toeplitz_blt_square(4, theta, omega, 1024), 1024, &max, &mean);
    CHECK(max > root && max < 1.0003 * root);
    CHECK(58.0286 / max > 5.4); /* efficient tree, root dropped */
    CHECK(mean > lower_bound(1024));
    for (size_t t = 0; t + 1 < 1024; t++) /* a smooth rise: every step smaller than the one before */
        CHECK(r[t] > r[t + 1] && r[t + 1] > 0.0);
}

static pn_status participate(void *self, pn_err *err)
{
    double got;

    (void)self;
    pn_toeplitz_sqrt(64, c);
    return pn_toeplitz_sensitivity(&got, 64, c, 64, 3, 5, err);
}

/* Hours of work, were it not stopped. */
static void test_stops(void)
{
    enum { HORIZON = 1 << 20, BANDS = 1 << 17 };
    double *wide = calloc(BANDS, sizeof *wide), *sums = calloc(HORIZON, sizeof *sums), theta[2] = { 0.9, 0.5 },
           omega[2] = { 0.1, 0.3 };
    const pn_task *before;
    pn_task *task;
    pn_err err;

    CHECK(pn_task_new(&task, 1, &err) == PN_OK);
    pn_task_cancel(task);
    before = pn_stop_enter(task);
    wide[0] = 1.0;
    CHECK(pn_toeplitz_inverse_sums(BANDS, wide, HORIZON, sums, &err) == PN_ECANCELLED);
    CHECK(pn_toeplitz_best_banded(BANDS, HORIZON, wide, &err) == PN_ECANCELLED);
    CHECK(pn_toeplitz_best_blt(2, HORIZON, theta, omega, &err) == PN_ECANCELLED);
    (void)pn_stop_enter(before);
    pn_task_free(task);
    free(wide);
    free(sums);
}

int main(void)
{
    test_square_root();
    test_square_root_errors();
    test_banded();
    test_buffers();
    test_slow_buffers();
    test_worst_participations();
    test_participations();
    test_check();
    test_check_is_sharp();
    test_shape();
    test_stops();
    fail_alloc_sweep("participations", participate, NULL);
    return check_summary();
}
