/* toeplitz_best_test.c -- the best banded coefficients and buffers: as low as the spec's, at a minimum, and the table
 * is made of them.  With the argument "table" it optimises every row again and prints runtime/continual/blt_table.c's
 * rows (half a minute); other processors may give other last digits. */
#include <stdint.h>
#include <string.h>

#include "continual/toeplitz.h"
#include "core/alloc.h"

#include "check.h"
#include "fail_alloc.h"

static const size_t horizons[] = { 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576 };
#define HORIZONS (sizeof horizons / sizeof horizons[0])
#define WORTH    1e-4 /* what one buffer more must gain, relatively, to have a row */

static double largest_factor(const double *r, size_t count, double square)
{
    double sum = 0.0;

    for (size_t t = 0; t < count; t++)
        sum += r[t] * r[t];
    return sum * square;
}

static double banded_factor(size_t bands, const double *c, size_t horizon)
{
    double *r = pn_alloc(horizon, sizeof *r), factor = NAN;

    if (r) {
        CHECK(pn_toeplitz_inverse_sums(bands, c, horizon, r, NULL) == PN_OK);
        factor = largest_factor(r, horizon, pn_toeplitz_square(bands, c, horizon));
    }
    pn_free(r);
    return factor;
}

/* The mean factor too where it is asked for. */
static double blt_factor(size_t m, const double *theta, const double *omega, size_t horizon, double *mean)
{
    double *r = pn_alloc(horizon, sizeof *r), square = pn_toeplitz_blt_square(m, theta, omega, horizon), factor = NAN;

    if (r) {
        pn_toeplitz_blt_sums(m, theta, omega, horizon, r);
        factor = largest_factor(r, horizon, square);
        if (mean) {
            *mean = 0.0;
            for (size_t t = 0; t < horizon; t++)
                *mean += square * r[t] * r[t] * (double)(horizon - t) / (double)horizon;
        }
    }
    pn_free(r);
    return factor;
}

/* ---- the table's maker ---- */

static void print_numbers(const char *open, size_t m, const double *x, const char *close)
{
    (void)printf("%s", open);
    for (size_t i = 0; i < m; i++)
        (void)printf("%s%.17g", i == 0 ? "" : i == 4 ? ",\n        " : ", ", x[i]);
    (void)printf("%s", close);
}

static int print_table(void)
{
    for (size_t k = 0; k < HORIZONS; k++) {
        double before = INFINITY;

        for (size_t m = 1; m <= PN_BLT_BUFFERS_MAX; m++) {
            double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX], factor;

            pn_toeplitz_blt_start(m, horizons[k], theta, omega);
            if (pn_toeplitz_best_blt(m, horizons[k], theta, omega, NULL) != PN_OK)
                return 1;
            factor = blt_factor(m, theta, omega, horizons[k], NULL);
            if (factor > before * (1.0 - WORTH))
                break;
            before = factor;
            (void)printf("    { %zu, %zu, /* %.4f */\n", horizons[k], m, factor);
            print_numbers("      { ", m, theta, " },\n");
            print_numbers("      { ", m, omega, " } },\n");
        }
    }
    return 0;
}

/* ---- banded ---- */

static void test_banded(void)
{
    static const double want[] = { 1, .81614, .76585, .73483, .70925, .68372, .65282, .60250 };
    double c[32], factor;

    CHECK(pn_toeplitz_best_banded(8, 1024, c, NULL) == PN_OK);
    factor = banded_factor(8, c, 1024);
    CHECK_CLOSE(factor, 137.11, 0.5001e-2);
    for (size_t j = 0; j < 8; j++)
        CHECK_CLOSE(c[j], want[j], 1.5e-5);
    for (size_t j = 1; j < 8; j++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double kept = c[j];

            c[j] *= 1.0 + 0.003 * sign;
            CHECK(banded_factor(8, c, 1024) > factor * (1.0 + 1e-8));
            c[j] = kept;
        }
    pn_toeplitz_sqrt(32, c);
    factor = banded_factor(32, c, 1024);
    CHECK(pn_toeplitz_best_banded(32, 1024, c, NULL) == PN_OK);
    CHECK(banded_factor(32, c, 1024) < 0.9 * factor);
}

/* Where r and lambda are filled in, from a few leaves of the stretch to nearly all: a gradient that counted one leaf
 * more or less would end where some coefficient is off by more than this moves it. */
static void test_settled(void)
{
    static const size_t longer[] = { 30, 100, 300, 1000, 20000 }, bands[] = { 2, 3, 8 };
    double c[8];

    for (size_t i = 0; i < 15; i++) {
        const size_t horizon = longer[i / 3], width = bands[i % 3];
        double factor;

        CHECK(pn_toeplitz_best_banded(width, horizon, c, NULL) == PN_OK);
        factor = banded_factor(width, c, horizon);
        for (size_t k = 0; k < 2 * (width - 1); k++) {
            const size_t j = k / 2 + 1;
            const double kept = c[j];

            c[j] *= k % 2 ? 1.0 + 3e-6 : 1.0 - 3e-6;
            CHECK(banded_factor(width, c, horizon) > factor);
            c[j] = kept;
        }
    }
}

/* T = 2: (1 + a^2)(1 + (1 - a)^2) is least at a = 1/2, (5/4)^2. */
static void test_two_leaves(void)
{
    double c[4], theta[2], omega[2];

    CHECK(pn_toeplitz_best_banded(2, 2, c, NULL) == PN_OK);
    CHECK_CLOSE(c[1], 0.5, 1e-8);
    CHECK(pn_toeplitz_best_banded(4, 2, c, NULL) == PN_OK); /* bands that no row has */
    CHECK_CLOSE(c[1], 0.5, 1e-8);
    CHECK(c[2] == 0.0 && c[3] == 0.0);
    CHECK(pn_toeplitz_best_banded(1, 2, c, NULL) == PN_OK && c[0] == 1.0);
    CHECK(pn_toeplitz_best_banded(3, 1, c, NULL) == PN_OK && c[0] == 1.0 && c[1] == 0.0);
    for (size_t m = 1; m <= 2; m++) {
        pn_toeplitz_blt_start(m, 2, theta, omega);
        CHECK(pn_toeplitz_best_blt(m, 2, theta, omega, NULL) == PN_OK);
        CHECK_CLOSE(blt_factor(m, theta, omega, 2, NULL), 1.5625, 1e-12);
    }
}

/* All bands, T = 3, against a search over a grid. */
static void test_three_leaves(void)
{
    double c[3], best = INFINITY;

    CHECK(pn_toeplitz_best_banded(3, 3, c, NULL) == PN_OK);
    for (int i = 0; i <= 400; i++)
        for (int j = 0; j <= 400; j++) {
            double a = 0.4 + 0.0005 * i, b = 0.2 + 0.0005 * j;
            double r1 = 1.0 - a, r2 = 1.0 - a * r1 - b;

            best = fmin(best, (1.0 + a * a + b * b) * (1.0 + r1 * r1 + r2 * r2));
        }
    CHECK(banded_factor(3, c, 3) <= best && banded_factor(3, c, 3) > best - 1e-5);
}

/* ---- buffers ---- */

/* The rows of the spec, section 6: max and mean. */
static void test_spec_rows(void)
{
    static const struct {
        size_t horizon, m;
        double max, mean;
    } rows[] = { { 1024, 2, 11.0875, 9.8692 },  { 1024, 3, 10.7427, 9.6921 },   { 1024, 4, 10.7122, 9.6727 },
                 { 4096, 4, 13.8090, 12.6234 }, { 16384, 4, 17.3298, 15.9901 }, { 16384, 5, 17.2752, 15.9508 } };
    static const double theta4[] = { .9992293203647773, .9889009847556557, .9218360849518312, .5627952169379714 };
    static const double omega4[] = { .03715647833267586, .06897158212895721, .16004949879323765, .23056251102230865 };
    double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX], max, mean;
    size_t found;

    CHECK_CLOSE(blt_factor(4, theta4, omega4, 1024, &mean), 10.7122, 0.5001e-4);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(pn_toeplitz_blt_table(rows[i].horizon, rows[i].m, &found, theta, omega) && found == rows[i].m);
        max = blt_factor(found, theta, omega, rows[i].horizon, &mean);
        CHECK(max <= rows[i].max + 0.5001e-4 && max >= rows[i].max - 1e-3);
        CHECK_CLOSE(mean, rows[i].mean, 2e-4);
    }
    CHECK(pn_toeplitz_blt_table(1024, 4, &found, theta, omega));
    for (size_t i = 0; i < 4; i++) {
        CHECK_CLOSE(theta[i], theta4[i], 1e-4);
        CHECK_CLOSE(omega[i], omega4[i], 1e-4);
    }
}

/* Moving any parameter of a row by 1 in 100 (of 1 - theta, of omega) costs. */
static void check_row_is_lowest(size_t horizon, size_t m, double *theta, double *omega, size_t parameters)
{
    double factor = blt_factor(m, theta, omega, horizon, NULL);

    for (size_t i = 0; i < parameters; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double kept = theta[i], weight = omega[i];

            theta[i] = 1.0 - (1.0 - theta[i]) * (1.0 + 0.01 * sign);
            CHECK(blt_factor(m, theta, omega, horizon, NULL) > factor * (1.0 + 1e-9));
            theta[i] = kept;
            omega[i] *= 1.0 + 0.01 * sign;
            CHECK(blt_factor(m, theta, omega, horizon, NULL) > factor * (1.0 + 1e-9));
            omega[i] = weight;
        }
}

static void test_table(void)
{
    size_t found, rows = 0;

    for (size_t k = 0; k < HORIZONS; k++) {
        double before = INFINITY;

        for (size_t m = 1; m <= PN_BLT_BUFFERS_MAX; m++) {
            double theta[PN_BLT_BUFFERS_MAX], omega[PN_BLT_BUFFERS_MAX], factor, again;

            if (!CHECK(pn_toeplitz_blt_table(horizons[k], m, &found, theta, omega)))
                continue;
            if (found < m) {
                CHECK(found + 1 > 3); /* m = 2 and 3 always help */
                break;
            }
            rows++;
            CHECK(pn_toeplitz_blt_check("table", m, theta, omega, NULL) == PN_OK);
            factor = blt_factor(m, theta, omega, horizons[k], NULL);
            CHECK(factor < before * (1.0 - WORTH));
            before = factor;
            check_row_is_lowest(horizons[k], m, theta, omega, horizons[k] <= (size_t)check_draws(16384, 4096) ? m : 1);
            if (horizons[k] > (size_t)check_draws(65536, 4096))
                continue;
            CHECK(pn_toeplitz_best_blt(m, horizons[k], theta, omega, NULL) == PN_OK);
            again = blt_factor(m, theta, omega, horizons[k], NULL);
            CHECK_CLOSE(again, factor, 1e-9 * factor);
        }
    }
    CHECK(rows >= 40);
}

static void test_lookup(void)
{
    double theta[8], omega[8], other[8], weight[8];
    size_t found, same;

    CHECK(pn_toeplitz_blt_longest() == 1048576);
    CHECK(pn_toeplitz_blt_table(1, 2, &found, theta, omega) && pn_toeplitz_blt_table(64, 2, &same, other, weight));
    CHECK(found == 2 && same == 2 && theta[0] == other[0] && omega[1] == weight[1]);
    CHECK(pn_toeplitz_blt_table(65, 2, &found, theta, omega) && theta[0] > other[0]);
    CHECK(!pn_toeplitz_blt_table(1048577, 4, &found, theta, omega) &&
          !pn_toeplitz_blt_table(64, 0, &found, theta, omega));
}

/* From the start to the table's row, and the same bits each time; short horizons and many buffers end somewhere,
 * too. */
static void test_search(void)
{
    double theta[8], omega[8], other[8], weight[8], start;
    size_t found;

    for (size_t m = 1; m <= 5; m++) {
        CHECK(pn_toeplitz_blt_table(4096, m, &found, other, weight) && found == m);
        pn_toeplitz_blt_start(m, 4096, theta, omega);
        CHECK(pn_toeplitz_best_blt(m, 4096, theta, omega, NULL) == PN_OK);
        start = blt_factor(m, other, weight, 4096, NULL);
        CHECK_CLOSE(blt_factor(m, theta, omega, 4096, NULL), start, 1e-8 * start);
        pn_toeplitz_blt_start(m, 4096, other, weight);
        CHECK(pn_toeplitz_best_blt(m, 4096, other, weight, NULL) == PN_OK);
        CHECK(memcmp(theta, other, m * sizeof(double)) == 0 && memcmp(omega, weight, m * sizeof(double)) == 0);
    }
    for (size_t m = 1; m <= 8; m++)
        for (size_t horizon = 1; horizon <= 40; horizon += 3) {
            pn_toeplitz_blt_start(m, horizon, theta, omega);
            CHECK(pn_toeplitz_blt_check("start", m, theta, omega, NULL) == PN_OK);
            start = blt_factor(m, theta, omega, horizon, NULL);
            CHECK(pn_toeplitz_best_blt(m, horizon, theta, omega, NULL) == PN_OK);
            CHECK(blt_factor(m, theta, omega, horizon, NULL) <= start * (1.0 + 1e-15));
        }
    theta[0] = 2.0;
    CHECK(pn_toeplitz_best_blt(1, 40, theta, omega, NULL) == PN_EINVAL);
}

static pn_status search_banded(void *self, pn_err *err)
{
    double c[4];

    (void)self;
    return pn_toeplitz_best_banded(4, 20, c, err);
}

static pn_status search_buffers(void *self, pn_err *err)
{
    double theta[2], omega[2];

    (void)self;
    pn_toeplitz_blt_start(2, 20, theta, omega);
    return pn_toeplitz_best_blt(2, 20, theta, omega, err);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "table") == 0)
        return print_table();
    test_banded();
    test_settled();
    test_two_leaves();
    test_three_leaves();
    test_spec_rows();
    test_table();
    test_lookup();
    test_search();
    fail_alloc_sweep("banded", search_banded, NULL);
    fail_alloc_sweep("buffers", search_buffers, NULL);
    return check_summary();
}
