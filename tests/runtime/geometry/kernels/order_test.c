/* order_test.c -- ranks, selection and monotone regression against sorting by definition.
 * Depends on: check.h, geometry/kernels/order.h, random/rng.h. */
#include <stdlib.h>

#include "check.h"
#include "geometry/kernels/order.h"
#include "random/rng.h"

#define MOST 60

static int down(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Few different values, so that ties are common. */
static void fill(pn_rng *rng, double *x, size_t n)
{
    for (size_t j = 0; j < n; j++)
        x[j] = (double)pn_rng_below(rng, 1 + n / 2) - 0.25 * (double)n;
}

static void test_selection(pn_rng *rng, size_t n)
{
    double x[MOST], sorted[MOST], scratch[MOST];
    bool which[MOST];

    fill(rng, x, n);
    for (size_t j = 0; j < n; j++)
        sorted[j] = x[j];
    qsort(sorted, n, sizeof *sorted, down);
    for (size_t k = 1; k <= n; k++) {
        size_t count = 0, ties = 0;

        for (size_t j = 0; j < n; j++)
            scratch[j] = x[j];
        CHECK(pn_kth_largest(scratch, n, k) == sorted[k - 1]);
        pn_mark_largest(which, x, n, k, scratch);
        for (size_t j = 0; j < n; j++) {
            bool tie = x[j] == sorted[k - 1];

            count += which[j];
            CHECK(tie || which[j] == (x[j] > sorted[k - 1]));
            CHECK(!tie || !which[j] || ties == 0); /* no tie is left out before one that is in */
            ties += tie && !which[j];
        }
        CHECK(count == k);
    }
}

static void test_ranks(pn_rng *rng, size_t n)
{
    double x[MOST];
    pn_ranked items[MOST];

    fill(rng, x, n);
    for (int sizes = 0; sizes < 2; sizes++) {
        pn_rank_down(items, x, n, sizes == 1);
        for (size_t i = 0; i < n; i++) {
            CHECK(items[i].value == (sizes ? fabs(x[items[i].index]) : x[items[i].index]));
            CHECK(i == 0 || items[i - 1].value > items[i].value ||
                  (items[i - 1].value == items[i].value && items[i - 1].index < items[i].index));
        }
    }
}

/* The nearest falling sequence: falling, every block has mean 0 of what is left,
 * and no falling start of a block improves it. */
static void test_pooling(pn_rng *rng, size_t n)
{
    double y[MOST], last = INFINITY;
    pn_block blocks[MOST];
    size_t used, i = 0;

    fill(rng, y, n);
    used = pn_pool_down(blocks, y, n);
    for (size_t b = 0; b < used; b++) {
        double mean = blocks[b].sum / (double)blocks[b].count, left = 0.0;

        CHECK(mean < last);
        last = mean;
        for (size_t end = i + blocks[b].count; i < end; i++) {
            left += y[i] - mean;
            CHECK(left <= 1e-12);
        }
        CHECK_CLOSE(left, 0.0, 1e-12);
    }
    CHECK(i == n);
}

int main(void)
{
    pn_rng *rng;

    if (!CHECK(pn_rng_seeded(&rng, 4, NULL) == PN_OK))
        return check_summary();
    for (size_t n = 1; n <= MOST; n++) {
        test_selection(rng, n);
        test_ranks(rng, n);
        test_pooling(rng, n);
    }
    pn_rng_free(rng);
    return check_summary();
}
