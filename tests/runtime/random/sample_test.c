/* sample_test.c -- which records are drawn, and directions.  Seeds are fixed;
 * each check has a false-alarm rate of 1e-6. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/alloc.h"
#include "random/sample.h"
#include "runtime/random/chi_square.h"

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

/* ---- Poisson ---- */

static void the_rate_is_that_of_the_coins(void)
{
    CHECK(pn_poisson_rate(0.0) == 0.0);
    CHECK(pn_poisson_rate(1.0) == 1.0);
    CHECK(pn_poisson_rate(0.1) == 0.1); /* a multiple of 2^-64 already */
    CHECK(pn_poisson_rate(1e-300) == 0x1p-64);
    CHECK(pn_poisson_rate(0x1.8p-63) == 0x1.8p-63);
    CHECK(pn_poisson_rate(0x1.9p-63) == 0x1p-62);
    CHECK(pn_poisson_rate(nextafter(1.0, 0.0)) == nextafter(1.0, 0.0));
}

/* Sizes, places and pairs of neighbours: n q^2 both taken when coins are independent. */
static void rate_is(double q, uint64_t seed)
{
    enum { N = 1000003 };
    static size_t taken[N];
    double quarters[4] = { 0 }, pairs = 0.0, total = 0.0;
    pn_rng *rng = seeded(seed);
    bool increasing = true;

    for (int run = 0; run < 4; run++) {
        size_t count = pn_sample_poisson(rng, q, N, taken);

        for (size_t i = 0; i < count; i++) {
            increasing = increasing && taken[i] < N && (i == 0 || taken[i] > taken[i - 1]);
            pairs += i > 0 && taken[i] == taken[i - 1] + 1;
            quarters[taken[i] % 4]++; /* the place in a word */
        }
        total += (double)count;
    }
    CHECK(increasing);
    CHECK_CLOSE(total, 4.0 * N * q, Z_MILLIONTH * sqrt(4.0 * N * q * (1.0 - q)));
    CHECK(Z_MILLIONTH * sqrt(4.0 * N * q * (1.0 - q)) < 0.1 * 4.0 * N * q); /* a rate of 1.1 q is seen */
    for (int i = 0; i < 4; i++)
        CHECK_CLOSE(quarters[i], N * q, Z_MILLIONTH * sqrt(N * q * (1.0 - q)) + 1.0);
    CHECK_CLOSE(pairs, 4.0 * N * q * q, Z_MILLIONTH * sqrt(4.0 * N * q * q * (1.0 + 2.0 * q)) + 20.0);
    pn_rng_free(rng);
}

static void poisson_samples_have_their_rate(void)
{
    rate_is(0.5, 41);
    rate_is(0.001, 42);
    rate_is(0x1.00004p-9, 43); /* sixteen bits cannot tell it from 2^-9 */
    rate_is(0.9999, 44);
}

/* Only the coins that tie in their first 16 bits tell 0 from 2^-17: half of 1 in 65536. */
static void ties_are_settled_by_more_bits(void)
{
    enum { N = 4000000 };
    size_t *taken = malloc(N * sizeof *taken);
    double total = 0.0, mean = 16.0 * N * 0x1p-17;
    pn_rng *rng = seeded(45);

    for (int run = 0; run < 16 && CHECK(taken); run++)
        total += (double)pn_sample_poisson(rng, 0x1p-17, N, taken);
    CHECK_CLOSE(total, mean, Z_MILLIONTH * sqrt(mean)); /* 488 +- 108; all or none would give 977 or 0 */
    free(taken);
    pn_rng_free(rng);
}

static void certain_rates_toss_no_coin(void)
{
    size_t taken[10];
    pn_rng *rng = seeded(46), *other = seeded(46);

    CHECK(pn_sample_poisson(rng, 1.0, 10, taken) == 10);
    for (size_t i = 0; i < 10; i++)
        CHECK(taken[i] == i);
    CHECK(pn_rng_u64(rng) == pn_rng_u64(other));
    CHECK(pn_sample_poisson(rng, 0.0, 10, taken) == 0);
    CHECK(pn_sample_poisson(rng, 0.5, 0, taken) == 0);
    pn_rng_free(rng);
    pn_rng_free(other);
}

/* ---- subsets ---- */

/* All 10 subsets of 2 of 5, in either form of the algorithm. */
static void every_subset_is_equally_likely(void)
{
    double counts[5][5] = { { 0 } }, flat[10], tenth[10], total = 0.0;
    size_t out[2], k = 0;
    pn_rng *rng = seeded(47);

    for (int i = 0; i < 100000; i++) {
        if (pn_sample_without_replacement(rng, 5, 2, out, NULL) == PN_OK && out[0] < out[1] && out[1] < 5)
            counts[out[0]][out[1]]++;
    }
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = a + 1; b < 5; b++, k++) {
            total += flat[k] = counts[a][b];
            tenth[k] = 0.1;
        }
    }
    CHECK(total == 100000.0 && chi_square(flat, tenth, 10) < CHI2_9);
    flat[0] *= 1.1;
    CHECK(chi_square(flat, tenth, 10) > CHI2_9);
    pn_rng_free(rng);
}

/* Few of many: the table; thirds of the range, and whether 0 and n - 1 can be drawn. */
static void sparse_subsets_are_uniform_and_sorted(void)
{
    enum { COUNT = 100 };
    const size_t n = 30000000;
    const double third[3] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 };
    double counts[3] = { 0 };
    size_t out[COUNT];
    bool sorted = true;
    pn_rng *rng = seeded(48);

    for (int run = 0; run < 3000; run++) {
        sorted = sorted && pn_sample_without_replacement(rng, n, COUNT, out, NULL) == PN_OK;
        for (size_t i = 0; i < COUNT; i++) {
            sorted = sorted && out[i] < n && (i == 0 || out[i] > out[i - 1]);
            counts[out[i] / (n / 3)]++;
        }
    }
    CHECK(sorted);
    CHECK(chi_square(counts, third, 3) < CHI2_2);
    pn_rng_free(rng);
}

/* All, one of one, and one of as many as can be counted. */
static void whole_and_single_subsets_work(void)
{
    size_t out[300];
    pn_rng *rng = seeded(49);

    CHECK(pn_sample_without_replacement(rng, 300, 300, out, NULL) == PN_OK);
    for (size_t i = 0; i < 300; i++)
        CHECK(out[i] == i);
    CHECK(pn_sample_without_replacement(rng, 1, 1, out, NULL) == PN_OK && out[0] == 0);
    CHECK(pn_sample_without_replacement(rng, SIZE_MAX / 2, 1, out, NULL) == PN_OK && out[0] < SIZE_MAX / 2);
    pn_rng_free(rng);
}

static void *refuse(void *self, size_t bytes)
{
    (void)self;
    (void)bytes;
    return NULL;
}

static void *refuse_more(void *self, void *block, size_t bytes)
{
    (void)self;
    (void)block;
    (void)bytes;
    return NULL;
}

static void release(void *self, void *block)
{
    (void)self;
    free(block);
}

static void impossible_subsets_are_refused(void)
{
    const pn_allocator none = { refuse, refuse_more, release, NULL };
    size_t out[4] = { 7, 7, 7, 7 };
    pn_rng *rng = seeded(50);
    pn_err err;

    CHECK(pn_sample_without_replacement(rng, 3, 4, out, &err) == PN_EDIM);
    CHECK(strcmp(err.message, "sample: count must be from 1 to the number of records 3, got 4") == 0);
    CHECK(pn_sample_without_replacement(rng, 3, 0, out, NULL) == PN_EDIM);
    pn_allocator_set(&none);
    CHECK(pn_sample_without_replacement(rng, 3, 2, out, NULL) == PN_ENOMEM);
    pn_allocator_set(NULL);
    CHECK(out[0] == 7);
    pn_rng_free(rng);
}

static void draws_with_replacement_are_uniform(void)
{
    enum { N = 600000 };
    static size_t out[N];
    double counts[6] = { 0 }, sixth[6], repeats = 0.0;
    pn_rng *rng = seeded(51);

    pn_sample_with_replacement(rng, 6, N, out);
    for (size_t i = 0; i < N; i++) {
        counts[out[i] % 6]++;
        repeats += i > 0 && out[i] == out[i - 1];
    }
    for (int i = 0; i < 6; i++)
        sixth[i] = 1.0 / 6;
    CHECK(chi_square(counts, sixth, 6) < CHI2_5);
    CHECK_CLOSE(repeats, N / 6.0, Z_MILLIONTH * sqrt(N * 5.0 / 36.0));
    pn_rng_free(rng);
}

/* ---- directions ---- */

/* In 3 dimensions a coordinate of the sphere is uniform on [-1, 1]: variance 1/3, fourth moment 1/5.  The radius of the
 * ball has P(r < 1/2) = 1/8. */
static void directions_are_uniform(void)
{
    enum { N = 200000 };
    double square = 0.0, product = 0.0, inside = 0.0, worst = 0.0, outside = 0.0, x[3], line[1];
    pn_rng *rng = seeded(52);

    for (int i = 0; i < N; i++) {
        double r;

        pn_sample_sphere(rng, 3, x);
        worst = fmax(worst, fabs(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 1.0));
        square += x[2] * x[2];
        product += x[0] * x[1];
        pn_sample_ball(rng, 3, x);
        r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        inside += r < 0.5;
        outside += r > 1.0 + 1e-15;
    }
    CHECK(worst < 1e-15 && outside == 0.0);
    CHECK_CLOSE(square / N, 1.0 / 3, Z_MILLIONTH * sqrt((1.0 / 5 - 1.0 / 9) / N));
    CHECK_CLOSE(product / N, 0.0, Z_MILLIONTH * sqrt(1.0 / 15 / N));
    CHECK_CLOSE(inside / N, 0.125, Z_MILLIONTH * sqrt(0.125 * 0.875 / N));
    pn_sample_sphere(rng, 1, line);
    CHECK(fabs(line[0]) == 1.0);
    pn_rng_free(rng);
}

int main(void)
{
    the_rate_is_that_of_the_coins();
    poisson_samples_have_their_rate();
    ties_are_settled_by_more_bits();
    certain_rates_toss_no_coin();
    every_subset_is_equally_likely();
    sparse_subsets_are_uniform_and_sorted();
    whole_and_single_subsets_work();
    impossible_subsets_are_refused();
    draws_with_replacement_are_uniform();
    directions_are_uniform();
    return check_summary();
}
