/* eigen_bench.c -- the least eigenpair of a noisy Hessian by Lanczos beside LAPACK: that pair only, and all pairs.
 * Depends on: numeric/symmetric.h, numeric/lapack.h, random/rng.h, bench.h.  Run with `make bench`; an argument N
 * measures all pairs at N instead of 5000 (a few seconds at 1500). */
#include <math.h>
#include <stdbool.h>

#include <lapacke.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"
#include "random/rng.h"

typedef struct problem {
    size_t n;
    double *packed, *full, *values, *x, *start;
    pn_smallest_options options;
    pn_smallest found;
    double value;
    pn_rng *rng;
} problem;

static pn_status times(void *self, const double *x, double *y, pn_err *err)
{
    const problem *at = self;

    (void)err;
    pn_packed_times(1.0, at->packed, at->n, x, 0.0, y);
    return PN_OK;
}

static void by_steps(void *self)
{
    problem *at = self;

    if (pn_smallest_lanczos(&at->found, at->x, at->n, times, at, &at->options, at->start, NULL, NULL) != PN_OK)
        exit(1);
}

static void stored(void *self)
{
    problem *at = self;

    if (pn_smallest_eigen(&at->found, at->x, at->packed, at->n, &at->options, at->start, NULL, NULL) != PN_OK)
        exit(1);
}

static void one_pair(void *self)
{
    problem *at = self;

    pn_packed_unpack(at->packed, at->n, at->full);
    if (pn_eigen_least(&at->value, at->x, at->full, at->n, NULL) != PN_OK)
        exit(1);
}

/* What a Hessian of a mean loss looks like after a private release: 20 products of positive weight, noise of norm 1/20,
 * and one direction of curvature -1/10.  The norm is about 1; the algorithm's eps_H would be near 1/10,
 * and tau a tenth of that. */
static void fill(problem *at)
{
    size_t n = at->n, count = pn_packed_size(n);

    pn_rng_many_normals(at->rng, count, at->packed);
    for (size_t i = 0; i < count; i++)
        at->packed[i] *= 0.025 / sqrt((double)n);
    for (int k = 0; k < 21; k++) {
        double weight = (k == 20 ? -0.1 : 1.0 / (1.0 + k)) / (double)n;

        pn_rng_many_normals(at->rng, n, at->x);
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i <= j; i++)
                at->packed[j * (j + 1) / 2 + i] += weight * at->x[i] * at->x[j];
        }
    }
    pn_rng_many_normals(at->rng, n, at->start);
}

static problem make(size_t n)
{
    problem at = { .n = n, .options = { .tolerance = 0.01, .failure = 1e-6 } };

    at.packed = pn_alloc(pn_packed_size(n), sizeof(double));
    at.full = pn_alloc(n * n, sizeof(double));
    at.values = pn_alloc(n, sizeof(double));
    at.x = pn_alloc(n, sizeof(double));
    at.start = pn_alloc(n, sizeof(double));
    if (!at.packed || !at.full || !at.values || !at.x || !at.start || pn_rng_seeded(&at.rng, n, NULL) != PN_OK)
        exit(1);
    fill(&at);
    return at;
}

static void drop(problem *at)
{
    pn_rng_free(at->rng);
    pn_free(at->packed);
    pn_free(at->full);
    pn_free(at->values);
    pn_free(at->x);
    pn_free(at->start);
}

/* Where steps begin to pay: PN_SYMMETRIC_DIRECT. */
static void crossover(size_t n, double tolerance)
{
    problem at = make(n);
    char name[80];

    at.options.tolerance = tolerance;
    by_steps(&at);
    (void)snprintf(name, sizeof name, "steps (%zu) / dsyevr, one pair, n = %zu, tau %.0e", at.found.steps, n,
                   tolerance);
    (void)bench_line(name, by_steps, &at, one_pair, &at, n <= 300 ? 41 : 7, 0.0);
    drop(&at);
}

static bool every_pair(problem *at)
{
    const lapack_int n = (lapack_int)at->n, first = 1, room = 64 * n, whole = 10 * n;
    const double none = 0.0;
    lapack_int found = 0, *support = pn_alloc(at->n, 2 * sizeof *support), info = -1;
    lapack_int *iwork = pn_alloc(at->n, 10 * sizeof *iwork);
    double *vectors = pn_alloc(at->n * at->n, sizeof *vectors), *work = pn_alloc(at->n, 64 * sizeof *work);

    if (support && iwork && vectors && work)
        LAPACK_dsyevr("V", "A", "L", &n, at->full, &n, &none, &none, &first, &first, &none, &found, at->values, vectors,
                      &n, support, work, &room, iwork, &whole, &info);
    pn_free(support);
    pn_free(iwork);
    pn_free(vectors);
    pn_free(work);
    return info == 0 && found == n;
}

/* All pairs take a minute at 5,000: once. */
static int all_pairs(size_t n)
{
    problem at = make(n);
    double begun, full, steps;
    int over;

    stored(&at);
    begun = bench_now();
    for (int i = 0; i < 5; i++)
        stored(&at);
    steps = (bench_now() - begun) / 5.0;
    pn_packed_unpack(at.packed, n, at.full);
    begun = bench_now();
    if (!every_pair(&at))
        exit(1);
    full = bench_now() - begun;
    over = bench_print("least pair / dsyevr, all pairs", steps, full, steps / full, 0.05);
    over += !(at.found.reached && at.found.value - at.values[0] <= at.options.tolerance);
    printf("  n = %zu: %zu steps, %.6f beside %.6f\n", n, at.found.steps, at.found.value, at.values[0]);
    drop(&at);
    return over;
}

int main(int argc, char **argv)
{
    static const size_t orders[] = { 54, 100, 150, 200, 300, 500, 1000 };

    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++)
        crossover(orders[k], 1e-2);
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++)
        crossover(orders[k], 1e-8);
    return all_pairs(argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 5000) > 0;
}
