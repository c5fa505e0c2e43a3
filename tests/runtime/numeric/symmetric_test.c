/* symmetric_test.c -- packed matrices and the least eigenpair: against full decompositions, numbers of the
 * specification, spectra that need many steps, steps that do not suffice, refusals.
 * Depends on: check.h, fail_alloc.h, numeric/symmetric.h, numeric/lapack.h, numeric/blas.h. */
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"

#define MOST 602

static double a[MOST * (MOST + 1) / 2], full[MOST * MOST], values[MOST], x[MOST], y[MOST], start[MOST];
static const pn_smallest_options sharp = { .tolerance = 1e-10, .failure = 1e-9 };

static double uniform(void)
{
    static uint64_t state = 5;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1.0;
}

/* Sums of twelve uniform numbers: of variance 1 after scaling by sqrt(3)/sqrt(12). */
static double normal(void)
{
    double sum = 0.0;

    for (int i = 0; i < 12; i++)
        sum += uniform();
    return 0.5 * sum;
}

static void fill_start(size_t n)
{
    for (size_t i = 0; i < n; i++)
        start[i] = normal();
}

/* noise: of a symmetric matrix with normal entries, about 2 noise sqrt(n) in norm; then -depth u u^T with a unit u */
static void fill_noisy(size_t n, double noise, double depth)
{
    double size;

    for (size_t i = 0; i < n; i++)
        y[i] = normal();
    size = pn_lp_norm(PN_L2, n, y);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i <= j; i++)
            a[j * (j + 1) / 2 + i] = noise * normal() - depth * y[i] * y[j] / (size * size);
    }
    fill_start(n);
}

static void fill_diagonal(size_t n, double first, double others, double rise)
{
    memset(a, 0, sizeof a);
    for (size_t j = 0; j < n; j++)
        a[j * (j + 1) / 2 + j] = j == 0 ? first : others + rise * (double)j;
    fill_start(n);
}

static double least_in_full(size_t n)
{
    pn_packed_unpack(a, n, full);
    CHECK(pn_eigen_symmetric(values, full, (pn_mat){ full, n, n }, NULL) == PN_OK);
    return values[0];
}

static double norm_in_full(size_t n)
{
    return fmax(fabs(values[0]), fabs(values[n - 1]));
}

static pn_status times(void *self, const double *in, double *out, pn_err *err)
{
    (void)err;
    pn_packed_times(1.0, a, *(const size_t *)self, in, 0.0, out);
    return PN_OK;
}

/* x is unit, its value is what is said, and its residual too. */
static void check_pair(size_t n, const pn_smallest *found, double norm)
{
    double residual;

    CHECK_CLOSE(pn_lp_norm(PN_L2, n, x), 1.0, 1e-14);
    pn_packed_times(1.0, a, n, x, 0.0, y);
    CHECK_CLOSE(pn_dot(n, x, y), found->value, 1e-13 * norm);
    pn_axpy(n, -found->value, x, y);
    residual = pn_lp_norm(PN_L2, n, y);
    CHECK_CLOSE(found->residual, residual, 1e-12 * norm);
}

static void test_packed(void)
{
    static const size_t orders[] = { 1, 2, 3, 17 };

    CHECK(pn_packed_size(0) == 0 && pn_packed_size(1) == 1 && pn_packed_size(54) == 1485 && pn_packed_size(55) == 1540);
    CHECK(pn_packed_size(SIZE_MAX) == 0 && pn_packed_size((size_t)1 << 40) == 0);
    CHECK(pn_packed_size((size_t)1 << 24) == ((size_t)1 << 47) + ((size_t)1 << 23) &&
          pn_packed_size((size_t)1 << 25) == 0);
    for (size_t k = 0; k < 4; k++) {
        size_t n = orders[k];
        double plain = 0.0, packed = 0.0;

        fill_noisy(n, 1.0, 1.0);
        pn_packed_unpack(a, n, full);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j < n; j++)
                CHECK(full[i * n + j] == a[j * (j + 1) / 2 + i] && full[j * n + i] == full[i * n + j]);
        }
        pn_mat_times_vec((pn_mat){ full, n, n }, start, x);
        memcpy(y, start, n * sizeof *y);
        pn_packed_times(2.0, a, n, start, -3.0, y);
        for (size_t i = 0; i < n; i++)
            CHECK_CLOSE(y[i], 2.0 * x[i] - 3.0 * start[i], 1e-13);
        pn_packed_scale_off(a, n, sqrt(2.0));
        plain = pn_lp_norm(PN_L2, n * n, full);
        packed = pn_lp_norm(PN_L2, pn_packed_size(n), a);
        CHECK_CLOSE(packed, plain, 1e-14 * plain);
        CHECK(a[0] == full[0]);
    }
}

/* second-order.md section 11, item 5, and by hand: 1 + ceil(ln(2.75 1000/1e-8)/2 sqrt(50)) = 1 +
 * ceil(13.17 * 7.071) = 95. */
static void test_steps_rule(void)
{
    CHECK(pn_lanczos_steps(54, 1.0, 0.05, 1e-3) == 31);
    CHECK(pn_lanczos_steps(1000, 1.0, 0.01, 1e-4) == 95);
    CHECK(pn_lanczos_steps(20, 1.0, 0.05, 1e-3) == 20);
    CHECK(pn_lanczos_steps(54, INFINITY, 0.05, 1e-3) == 54 && pn_lanczos_steps(54, 1.0, 0.0, 1e-3) == 54);
    CHECK(pn_lanczos_steps(54, 0.0, 0.0, 1e-3) == 54 && pn_lanczos_steps(54, 1e-9, 1.0, 1e-3) == 2);
}

/* d = 54, a small noise and an eigenvalue far below: item 5.  Every number of steps;
 * theta falls to the least eigenvalue from above. */
static void test_isolated_negative(void)
{
    size_t n = 54;

    for (int round = 0; round < 20; round++) {
        double least, before = INFINITY;

        fill_noisy(n, 0.01, 1.0); /* about -1 beside a bulk within 0.15 */
        least = least_in_full(n);
        for (size_t limit = 1; limit <= 20; limit++) {
            const pn_smallest_options few = { .tolerance = 1e-300, .failure = 1e-8, .limit = limit };
            pn_smallest found;

            CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &few, start, NULL, NULL) == PN_OK);
            CHECK(found.steps <= limit && found.value - least >= -1e-14);
            CHECK(found.value - least <= found.residual + 1e-14 ||
                  limit < 4); /* before that the nearest is another one */
            CHECK(found.value <= before + 1e-14);
            before = found.value;
            check_pair(n, &found, 1.0);
        }
        CHECK_CLOSE(before, least, 1e-10);
    }
}

/* With failure 1e-9 a start in 1e9 may mislead; the starts are fixed. */
static void check_reached(size_t n, double tolerance, double norm)
{
    const pn_smallest_options options = { .tolerance = tolerance, .failure = 1e-9 };
    double least = least_in_full(n);
    pn_smallest found;

    CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &options, start, NULL, NULL) == PN_OK);
    CHECK(found.reached && !found.fell_back && found.steps >= 1 && found.steps <= n);
    CHECK(found.error <= fmax(tolerance, 1e-13 * norm) && found.value - least <= found.error + 1e-13 * norm);
    if (!CHECK(found.value >= least - 1e-13 * norm && found.value <= least + tolerance + 1e-13 * norm))
        (void)fprintf(stderr, "    n = %zu: %.17g beside %.17g, %zu steps\n", n, found.value, least, found.steps);
    check_pair(n, &found, norm);
}

static void test_spectra(void)
{
    static const size_t orders[] = { 1, 2, 3, 30, 120, 250 };
    static const double tolerances[] = { 1e-1, 1e-3, 1e-10 };

    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        for (size_t t = 0; t < 3; t++) {
            size_t n = orders[k];

            fill_noisy(n, 1.0 / sqrt((double)n), 0.0); /* the edge of a semicircle */
            check_reached(n, tolerances[t], 3.0);
            fill_noisy(n, 0.1 / sqrt((double)n), 1.0);
            check_reached(n, tolerances[t], 2.0);
            fill_diagonal(n, 1.0, 1.0, 0.0); /* one step says it all */
            check_reached(n, tolerances[t], 1.0);
            fill_diagonal(n, -1.0, -1.0, 1e-8); /* a cluster at the end */
            check_reached(n, tolerances[t], 1.0);
            fill_diagonal(n, -1.001, -1.0, 0.0); /* one below many equal ones */
            check_reached(n, tolerances[t], 1.0);
            fill_diagonal(n, 5.0, 1.0, 0.1); /* positive */
            check_reached(n, tolerances[t], 26.0);
            fill_diagonal(n, 0.0, 0.0, 0.0);
            check_reached(n, tolerances[t], 0.0);
        }
    }
}

/* The residual is small at once, and of the wrong eigenvalue: the start has little of the right eigenvector. */
static void test_small_residual_is_no_reason(void)
{
    size_t n = 100;
    pn_smallest found;

    fill_diagonal(n, -1.0, 0.0, 0.0);
    start[0] = 1e-7 * start[1];
    CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &sharp, start, NULL, NULL) == PN_OK);
    CHECK_CLOSE(found.value, -1.0, 1e-10);
    CHECK(found.reached && found.steps <= 4);
}

/* limit too small: said so, and the pair is still one; the steps of the theorem count as reached. */
static void test_not_reached(void)
{
    size_t n = 120;
    pn_smallest_options options = { .tolerance = 1e-6, .failure = 1e-6, .limit = 9 };
    double least;
    pn_smallest found;

    fill_noisy(n, 1.0 / sqrt(120.0), 0.0);
    least = least_in_full(n);
    CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &options, start, NULL, NULL) == PN_OK);
    CHECK(!found.reached && !found.fell_back && found.steps == 9 && found.value > least + 1e-6);
    CHECK(found.error > 1e-6 && found.value - least <= found.error && isfinite(found.error));
    check_pair(n, &found, 3.0);
    options.tolerance = 0.5;
    options.limit = 0;
    options.norm = norm_in_full(n);
    CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &options, start, NULL, NULL) == PN_OK);
    CHECK(found.reached && found.steps <= pn_lanczos_steps(n, options.norm, 0.5, 1e-6));
    CHECK(found.value - least <= 0.5);
    options.tolerance = 1e-300; /* below rounding: means rounding */
    options.norm = 0.0;
    CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &options, start, NULL, NULL) == PN_OK);
    CHECK(found.reached);
    CHECK_CLOSE(found.value, least, 1e-13);
}

/* failure = 1/2 stops as early as the rule allows: among 2,000 starts over one hard matrix, more than 1,200 misses have
 * a probability below exp(-2 2000 0.1^2) < 1e-17 if each misses with at most 1/2 (Hoeffding).  Misses there must be, or
 * the rule only wastes steps: the same test with 1e-3 has none beyond 40 (expected at most 2: P < (2e/40)^40 <
 * 1e-34). */
static void test_failure_is_kept(void)
{
    size_t n = 60, missed[2] = { 0, 0 }, steps[2] = { 0, 0 };

    fill_diagonal(n, -1.0, -0.9, 0.9 / 60.0);
    for (int k = 0; k < 2000; k++) {
        fill_start(n);
        for (int i = 0; i < 2; i++) {
            const pn_smallest_options options = { .tolerance = 0.05, .failure = i == 0 ? 0.5 : 1e-3 };
            pn_smallest found;

            CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &options, start, NULL, NULL) == PN_OK);
            missed[i] += found.value > -1.0 + found.error;
            steps[i] += found.steps;
        }
    }
    CHECK(missed[0] <= 1200 && missed[1] <= 40 && steps[0] <= steps[1]);
}

static void test_stored(void)
{
    static const size_t orders[] = { 1, 2, 54, PN_SYMMETRIC_DIRECT, PN_SYMMETRIC_DIRECT + 1, MOST };

    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        size_t n = orders[k];
        bool direct = n <= PN_SYMMETRIC_DIRECT;
        const pn_smallest_options loose = { .tolerance = 1e-2, .failure = 1e-6 };
        pn_smallest found;
        double least, first;

        fill_noisy(n, 0.1 / sqrt((double)n), 1.0);
        first = a[0];
        least = least_in_full(n);
        CHECK(pn_smallest_eigen(&found, x, a, n, &loose, direct ? NULL : start, NULL, NULL) == PN_OK);
        CHECK(found.reached && !found.fell_back && (found.steps == 0) == direct && a[0] == first);
        CHECK(found.value >= least - 1e-13 && found.value <= least + (direct ? 1e-13 : 1e-2));
        if (direct)
            CHECK(found.residual == 0.0);
        else
            check_pair(n, &found, 1.3);
        CHECK(pn_smallest_in_full(&found, x, a, n, NULL) == PN_OK && found.steps == 0 && found.reached);
        CHECK_CLOSE(found.value, least, fmin(found.error, 1e-13));
        CHECK(found.error < 1e-11 && a[0] == first);
        pn_packed_times(1.0, a, n, x, 0.0, y);
        CHECK_CLOSE(pn_dot(n, x, y), least, 1e-13);
    }
    a[2] = NAN;
    CHECK(pn_smallest_in_full(&(pn_smallest){ 0 }, x, a, 5, NULL) == PN_EDOMAIN);
}

/* A cluster of many at the end: more steps than are allowed. */
static void test_fall_back(void)
{
    size_t n = MOST;
    pn_smallest_options options = { .tolerance = 1e-9, .failure = 1e-9 };
    pn_smallest found;

    fill_diagonal(n, 0.0, 0.0, 1e-6);
    CHECK(pn_smallest_eigen(&found, x, a, n, &options, start, NULL, NULL) == PN_OK);
    CHECK(found.reached && found.fell_back && found.steps == 0);
    CHECK_CLOSE(found.value, 0.0, 1e-15);
    CHECK_CLOSE(fabs(x[0]), 1.0, 1e-6);

    options.limit = 10;
    CHECK(pn_smallest_eigen(&found, x, a, n, &options, start, NULL, NULL) == PN_OK);
    CHECK(found.reached && found.fell_back);
}

static void test_scales(void)
{
    static const double units[] = { 1e300, 1e-300, 5e-320 };
    static const size_t orders[] = { 30, MOST };

    for (size_t k = 0; k < 3; k++) {
        for (size_t m = 0; m < 2; m++) {
            size_t n = orders[m];
            const pn_smallest_options options = { .tolerance = fmax(1e-8 * units[k], 5e-324), .failure = 1e-9 };
            double entry = -units[k] / 100.0;
            pn_smallest found;

            for (size_t i = 0; i < n * (n + 1) / 2; i++)
                a[i] = entry; /* entry 1 1^T */
            fill_start(n);
            CHECK(pn_smallest_eigen(&found, x, a, n, &options, start, NULL, NULL) == PN_OK);
            CHECK(found.reached);
            CHECK_CLOSE(found.value / ((double)n * entry), 1.0, units[k] < DBL_MIN ? 1e-2 : 1e-8);
        }
    }
}

/* Scaled by a power of two all is the same, bit for bit: with and without a norm, by steps and in full. */
static void test_powers_of_two(void)
{
    static const size_t orders[] = { 30, 200 };

    for (size_t k = 0; k < 4; k++) {
        size_t n = orders[k / 2];
        pn_smallest_options options = { .tolerance = 0.05, .failure = 1e-3, .norm = k % 2 ? 1.2 : 0.0 };
        pn_smallest plain, scaled;

        fill_noisy(n, 0.2 / sqrt((double)n), 0.6);
        CHECK(pn_smallest_eigen(&plain, x, a, n, &options, start, NULL, NULL) == PN_OK);
        for (size_t i = 0; i < n * (n + 1) / 2; i++)
            a[i] *= 0x1p-700;
        options.tolerance *= 0x1p-700;
        options.norm *= 0x1p-700;
        CHECK(pn_smallest_eigen(&scaled, x, a, n, &options, start, NULL, NULL) == PN_OK);
        CHECK(scaled.value == plain.value * 0x1p-700 && scaled.error == plain.error * 0x1p-700);
        CHECK(scaled.residual == plain.residual * 0x1p-700 && scaled.steps == plain.steps);
        CHECK(scaled.reached && plain.reached && plain.error > 0.0 && (n == 200) == (plain.steps > 0));
    }
}

static pn_status refuse(const pn_smallest_options *options, size_t n, const char *words)
{
    pn_smallest found = { .steps = 77 };
    pn_err err;
    pn_status status = pn_smallest_eigen(&found, x, a, n, options, start, NULL, &err);

    CHECK(found.steps == 77);
    if (!CHECK(status != PN_OK && strstr(err.message, words) != NULL))
        (void)fprintf(stderr, "    %s\n", err.message);
    return status;
}

static void test_refusals(void)
{
    static const double bads[] = { 0.0, -1.0, NAN, INFINITY };

    fill_noisy(MOST, 1.0, 0.0);
    for (size_t k = 0; k < 4; k++) {
        CHECK(refuse(&(pn_smallest_options){ .tolerance = bads[k], .failure = 0.1 }, 5, "tolerance must be") ==
              PN_EINVAL);
        CHECK(refuse(&(pn_smallest_options){ .tolerance = 0.1, .failure = bads[k] }, 5, "failure must be") ==
              PN_EINVAL);
        if (k > 0)
            CHECK(refuse(&(pn_smallest_options){ .tolerance = 0.1, .failure = 0.1, .norm = bads[k] }, 5,
                         "norm must be") == PN_EINVAL);
        CHECK(k == 0 || refuse(&(pn_smallest_options){ .tolerance = 0.1, .failure = 0.1, .relative = bads[k] }, 5,
                               "relative must be") == PN_EINVAL);
    }
    CHECK(refuse(&sharp, 0, "order must be") == PN_EDIM);
    CHECK(refuse(&sharp, (size_t)1 << 40, "order must be") == PN_EDIM);
    start[3] = NAN;
    CHECK(refuse(&sharp, MOST, "start must be") == PN_EDOMAIN);
    memset(start, 0, sizeof start);
    CHECK(refuse(&sharp, MOST, "start must be") == PN_EDOMAIN);
    fill_start(MOST);
    a[MOST * (MOST + 1) / 2 - 2] = NAN;
    CHECK(refuse(&sharp, MOST, "entry (601, 602)") == PN_EDOMAIN);
    a[4] = -INFINITY;
    CHECK(refuse(&sharp, 54, "entry (2, 3)") == PN_EDOMAIN);
    a[0] = NAN;
    CHECK(refuse(&sharp, 1, "entry (1, 1)") == PN_EDOMAIN);
}

static int calls;

static pn_status broken_times(void *self, const double *in, double *out, pn_err *err)
{
    size_t n = *(const size_t *)self;

    pn_packed_times(1.0, a, n, in, 0.0, out);
    if (++calls == 4)
        out[n / 2] = NAN;
    return calls == 7 ? pn_fail(err, PN_ECALLBACK, "seventh") : PN_OK;
}

static pn_status stop(void *self, const pn_progress *progress, pn_err *err)
{
    (void)self;
    (void)progress;
    return pn_fail(err, PN_ECANCELLED, "enough");
}

static void test_broken_operators(void)
{
    size_t n = 100;
    pn_smallest found = { .steps = 77 };
    pn_task *task = NULL;
    pn_err err;

    fill_noisy(n, 1.0, 0.0);
    calls = 0;
    CHECK(pn_smallest_lanczos(&found, x, n, broken_times, &n, &sharp, start, NULL, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "product 4 is not finite") != NULL && found.steps == 77);
    CHECK(calls == 4);
    CHECK(pn_smallest_lanczos(&found, x, n, broken_times, &n, &sharp, start, NULL, &err) == PN_ECALLBACK);
    CHECK(strcmp(err.message, "seventh") == 0);
    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    pn_task_listen(task, stop, NULL);
    CHECK(pn_smallest_lanczos(&found, x, n, times, &n, &sharp, start, task, &err) == PN_ECANCELLED);
    pn_task_free(task);
}

static pn_status without_memory(void *self, pn_err *err)
{
    pn_smallest found;

    return pn_smallest_eigen(&found, x, a, *(const size_t *)self, &sharp, start, NULL, err);
}

int main(void)
{
    size_t small = 20, large = MOST;

    test_packed();
    test_steps_rule();
    test_isolated_negative();
    test_spectra();
    test_small_residual_is_no_reason();
    test_not_reached();
    test_failure_is_kept();
    test_stored();
    test_fall_back();
    test_scales();
    test_powers_of_two();
    test_refusals();
    test_broken_operators();
    fill_diagonal(MOST, 0.0, 0.0, 1e-9);
    CHECK(fail_alloc_sweep("clustered matrix", without_memory, &large) > 0);
    fill_noisy(MOST, 0.001, 1.0);
    CHECK(fail_alloc_sweep("small matrix", without_memory, &small) > 0);
    CHECK(fail_alloc_sweep("large matrix", without_memory, &large) > 0);
    return check_summary();
}
