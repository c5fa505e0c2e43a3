/* symmetric_noise_test.c -- symmetric matrices of Gaussian numbers: the same when stored and when drawn again, their
 * law, their norms.  Seeds are fixed; a true law fails each statistical check with probability below 1e-6
 * (computed beside it).
 * Depends on: check.h, fail_alloc.h, random/symmetric_noise.h, numeric/symmetric.h, numeric/lapack.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"
#include "random/symmetric_noise.h"

#define MOST 300

static double packed[MOST * (MOST + 1) / 2], other[MOST * (MOST + 1) / 2], full[MOST * MOST], values[MOST];
static double x[9000], y[9000], z[9000];

static pn_symmetric_noise noise_of(uint64_t seed, size_t n, bool frobenius)
{
    pn_symmetric_noise noise = { .query = 1, .n = n, .frobenius = frobenius };
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    pn_address_key_draw(&noise.key, rng);
    pn_rng_normals(rng, sizeof x / sizeof x[0], x);
    pn_rng_free(rng);
    return noise;
}

static double norm(size_t n)
{
    pn_packed_unpack(packed, n, full);
    CHECK(pn_eigen_symmetric(values, full, (pn_mat){ full, n, n }, NULL) == PN_OK);
    return fmax(fabs(values[0]), fabs(values[n - 1]));
}

/* second-order.md section 11, item 4.  ||E|| is a function of independent normal numbers that changes by at
 * most sqrt(2) (packed entries; 1 with frobenius) times their distance, so a mean of k norms is off by t with
 * probability at most 2 exp(-k t^2/4): k = 2000 and t = 0.19, 3e-8; k = 200 and t = 0.59, 6e-8; k = 2000 and t = 0.3
 * (below 2 sqrt(54)), 6e-20.  Printed digits: 0.05. */
static void test_norms(void)
{
    static const struct {
        size_t n;
        bool frobenius;
        int count;
        double mean, within;
    } cases[] = {
        { 54, false, 2000, 14.4, 0.24 },
        { 200, false, 200, 27.9, 0.64 },
        { 54, true, 2000, 10.2, 0.24 },
        { 200, true, 200, 19.8, 0.64 },
    };

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k += (size_t)check_times(3, 1)) {
        pn_symmetric_noise noise = noise_of(3, cases[k].n, cases[k].frobenius);
        double sum = 0.0;

        for (int i = 0; i < cases[k].count; i++) {
            noise.query = (uint64_t)i;
            CHECK(pn_symmetric_noise_fill(&noise, packed, NULL) == PN_OK);
            sum += norm(cases[k].n);
        }
        CHECK_CLOSE(sum / cases[k].count, cases[k].mean, cases[k].within);
        if (k == 0)
            CHECK(sum / cases[k].count < 2.0 * sqrt(54.0));
    }
}

/* Orders with one block, several, and a block for each column. */
static void test_same_stored_and_drawn_again(void)
{
    static const size_t orders[] = { 1, 2, 54, 90, 91, 127, 200, 300 };
    pn_task *tasks[3] = { NULL };

    CHECK(pn_task_new(&tasks[1], 1, NULL) == PN_OK && pn_task_new(&tasks[2], 3, NULL) == PN_OK);
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        size_t n = orders[k];
        pn_symmetric_noise noise = noise_of(4, n, k % 2 == 0);
        double size = 1e-12 * 4.0 * (double)n;

        CHECK(pn_symmetric_noise_fill(&noise, packed, NULL) == PN_OK);
        for (int t = 0; t < 3; t++) {
            for (size_t i = 0; i < n; i++)
                y[i] = z[i] = (double)i;
            pn_packed_times(0.3, packed, n, x, 1.0, z);
            CHECK(pn_symmetric_noise_times(&noise, 0.3, x, y, tasks[t], NULL) == PN_OK);
            for (size_t i = 0; i < n; i++)
                CHECK_CLOSE(y[i], z[i], size);
            memcpy(t == 0 ? other : full, y, n * sizeof *y);
            CHECK(t == 0 || memcmp(other, full, n * sizeof *y) == 0); /* whatever the number of threads */
        }
    }
    pn_task_free(tasks[1]);
    pn_task_free(tasks[2]);
}

/* E e_j is column j to the last bit: the sum has one term that is not zero. */
static void test_every_entry_bit_for_bit(void)
{
    static const size_t orders[] = { 7, 130 };

    for (size_t k = 0; k < 2; k++) {
        size_t n = orders[k];
        pn_symmetric_noise noise = noise_of(5, n, k == 1);

        CHECK(pn_symmetric_noise_fill(&noise, packed, NULL) == PN_OK);
        pn_packed_unpack(packed, n, full);
        for (size_t j = 0; j < n; j++) {
            memset(z, 0, n * sizeof *z);
            memset(y, 0, n * sizeof *y);
            z[j] = 1.0;
            CHECK(pn_symmetric_noise_times(&noise, 1.0, z, y, NULL, NULL) == PN_OK);
            for (size_t i = 0; i < n; i++)
                CHECK(y[i] == full[j * n + i] && y[i] == full[i * n + j]);
        }
    }
}

/* A block for each column, of more numbers than a block has. */
static void test_large_order(void)
{
    pn_symmetric_noise noise = noise_of(6, 9000, false);
    double sum = 0.0;

    memset(y, 0, sizeof y);
    memset(z, 0, sizeof z);
    CHECK(pn_symmetric_noise_times(&noise, 1.0, x, y, NULL, NULL) == PN_OK);
    CHECK(pn_symmetric_noise_times(&noise, 1.0, y, z, NULL, NULL) == PN_OK);
    for (size_t i = 0; i < 9000; i++)
        sum += x[i] * z[i] / 9000.0 - y[i] * y[i] / 9000.0; /* x^T E (E x) = ||E x||^2 */
    CHECK_CLOSE(sum, 0.0, 1e-9);
    sum = 0.0;
    for (size_t i = 0; i < 9000; i++)
        sum += y[i] * y[i];
    CHECK_CLOSE(sum / 9000.0 / 9000.0, 1.0,
                0.2); /* E ||E x||^2 = n ||x||^2: thirteen standard deviations of sqrt(2/n) */
}

/* Diagonal and off-diagonal numbers of many matrices.  Sums of squares of k standard normal numbers are off k by 6
 * sqrt(2 k) with probability 2e-7 at most for k >= 5,000 (chi-square, Laurent and Massart: exp(-t) beyond 2 sqrt(k t) +
 * 2 t, t = 15.6); sums by 6 sqrt(k): 2e-9. */
static void check_moments(double sum, double squares, double count, double variance)
{
    CHECK_CLOSE(sum / sqrt(variance), 0.0, 6.0 * sqrt(count));
    CHECK_CLOSE(squares / variance, count, 2.0 * sqrt(15.6 * count) + 31.2);
}

static void test_law(void)
{
    for (int frobenius = 0; frobenius < 2; frobenius++) {
        pn_symmetric_noise noise = noise_of(7, 150, frobenius);
        double sum[2] = { 0, 0 }, squares[2] = { 0, 0 }, product = 0.0;

        for (uint64_t query = 0; query < 60; query++) {
            noise.query = query;
            memcpy(other, packed, sizeof other);
            CHECK(pn_symmetric_noise_fill(&noise, packed, NULL) == PN_OK);
            for (size_t j = 0, at = 0; j < 150; j++) {
                for (size_t i = 0; i <= j; i++, at++) {
                    sum[i == j] += packed[at];
                    squares[i == j] += packed[at] * packed[at];
                    product += query > 0 ? packed[at] * other[at] : 0.0;
                }
            }
        }
        check_moments(sum[0], squares[0], 60.0 * 149.0 * 75.0, frobenius ? 0.5 : 1.0);
        check_moments(sum[1], squares[1], 60.0 * 150.0, 1.0);
        CHECK_CLOSE(product, 0.0, 6.0 * sqrt(59.0 * 151.0 * 75.0)); /* a query's numbers are not the next one's */
    }
}

static void test_addresses_differ(void)
{
    pn_symmetric_noise one = noise_of(8, 54, false), two = one;

    CHECK(pn_symmetric_noise_fill(&one, packed, NULL) == PN_OK);
    CHECK(pn_symmetric_noise_fill(&two, other, NULL) == PN_OK);
    CHECK(memcmp(packed, other, pn_packed_size(54) * sizeof *packed) == 0);
    two.query = 2;
    CHECK(pn_symmetric_noise_fill(&two, other, NULL) == PN_OK);
    CHECK(packed[0] != other[0] && packed[1484] != other[1484]);
    two = noise_of(9, 54, false);
    CHECK(pn_symmetric_noise_fill(&two, other, NULL) == PN_OK);
    CHECK(packed[0] != other[0] && packed[1484] != other[1484]);
    two = one;
    two.frobenius = true; /* the same numbers, scaled */
    CHECK(pn_symmetric_noise_fill(&two, other, NULL) == PN_OK);
    CHECK(packed[0] == other[0] && packed[2] == other[2]);
    CHECK_CLOSE(other[1], packed[1] / sqrt(2.0), 1e-15);
}

static int ascending(const void *a, const void *b)
{
    double one = *(const double *)a, two = *(const double *)b;

    return (one > two) - (one < two);
}

/* No number stands twice: blocks do not repeat one another. */
static void test_blocks_differ(void)
{
    pn_symmetric_noise noise = noise_of(10, 300, false);
    size_t count = pn_packed_size(300), twice = 0;

    CHECK(pn_symmetric_noise_fill(&noise, packed, NULL) == PN_OK);
    qsort(packed, count, sizeof *packed, ascending);
    for (size_t i = 1; i < count; i++)
        twice += packed[i] == packed[i - 1];
    CHECK(twice == 0);
}

static void test_refusals(void)
{
    pn_symmetric_noise noise = noise_of(1, 5, false);
    pn_task *task = NULL;
    pn_rng *secure = NULL;
    pn_err err;

    packed[0] = y[0] = 77.0;
    noise.n = 0;
    CHECK(pn_symmetric_noise_fill(&noise, packed, &err) == PN_EDIM);
    noise.n = SIZE_MAX / 2;
    CHECK(pn_symmetric_noise_times(&noise, 1.0, x, y, NULL, &err) == PN_EDIM);
    noise.n = 5;
    CHECK(pn_rng_secure(&secure, NULL) == PN_OK);
    pn_address_key_draw(&noise.key, secure);
    pn_rng_free(secure);
    CHECK(pn_symmetric_noise_fill(&noise, packed, &err) == PN_EPRIVACY && strstr(err.message, "seeded") != NULL);
    CHECK(pn_symmetric_noise_times(&noise, 1.0, x, y, NULL, &err) == PN_EPRIVACY);
    noise = noise_of(1, 5, false);
    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    pn_task_cancel(task);
    CHECK(pn_symmetric_noise_times(&noise, 1.0, x, y, task, &err) == PN_ECANCELLED);
    pn_task_free(task);
    CHECK(packed[0] == 77.0 && y[0] == 77.0);
}

static pn_status without_memory(void *self, pn_err *err)
{
    const pn_symmetric_noise *noise = self;
    pn_status status = pn_symmetric_noise_fill(noise, packed, err);

    return status == PN_OK ? pn_symmetric_noise_times(noise, 1.0, x, y, NULL, err) : status;
}

int main(void)
{
    pn_symmetric_noise noise = noise_of(2, 100, true);

    test_norms();
    test_same_stored_and_drawn_again();
    test_every_entry_bit_for_bit();
    test_large_order();
    test_law();
    test_addresses_differ();
    test_blocks_differ();
    test_refusals();
    CHECK(fail_alloc_sweep("symmetric noise", without_memory, &noise) > 0);
    return check_summary();
}
