/* normals_test.c -- pn_rng_many_normals: the law, and that it writes what it should.
 * Depends on: random/rng.h, check.h. */
#include <stdlib.h>

#include "check.h"
#include "random/rng.h"

#define N 1000000

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* sup |F_n - Phi|: above 2.8/sqrt(n) with probability below 2 exp(-2 * 2.8^2) = 3.1e-7 (Massart). */
static double distance(double *x, size_t n)
{
    double largest = 0.0;

    qsort(x, n, sizeof *x, compare);
    for (size_t i = 0; i < n; i++) {
        double phi = 0.5 * erfc(-x[i] / sqrt(2.0));

        largest = fmax(largest, fmax((double)(i + 1) / N - phi, phi - (double)i / N));
    }
    return largest;
}

int main(void)
{
    static double x[N + 1], y[N];
    double product = 0.0, squares = 0.0;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 3, NULL) == PN_OK);
    for (size_t n = 0; n <= 5000; n += 1 + n / 3) { /* odd and even, below and above a chunk */
        for (size_t i = 0; i <= n; i++)
            x[i] = 99.0;
        pn_rng_many_normals(rng, n, x);
        CHECK(x[n] == 99.0);
        for (size_t i = 0; i < n; i++)
            CHECK(fabs(x[i]) < 9.0);
    }
    pn_rng_many_normals(rng, N, x);
    pn_rng_many_normals(rng, N, y);
    /* The two halves of a pair lie 1024 apart; sums of 1e6 products have standard deviation 1e3,
     * of products of squares 1e3 * 2. */
    for (size_t i = 0; i + 1024 < N; i++) {
        product += x[i] * x[i + 1024];
        squares += (x[i] * x[i] - 1.0) * (x[i + 1024] * x[i + 1024] - 1.0);
    }
    CHECK(fabs(product) < 5.0e3);
    CHECK(fabs(squares) < 1.0e4);
    CHECK(x[0] != y[0]);
    CHECK(distance(x, N) < 2.8e-3);
    CHECK(distance(y, N) < 2.8e-3);
    pn_rng_free(rng);
    return check_summary();
}
