/* matrix_bench.c -- the support of the nuclear ball beside a full singular value decomposition of the same matrix.
 * Depends on: geometry/convex/set.h, numeric/lapack.h, bench.h.  Run with `make bench`. */
#include <stdint.h>

#include "bench/bench.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"
#include "numeric/lapack.h"

#define SIDE 2000

static double g[SIDE * SIDE], x[SIDE * SIDE], u[SIDE * SIDE], vt[SIDE * SIDE], s[SIDE];
static size_t side;

static void support(void *self)
{
    const pn_set *set = self;
    double value;

    (void)set->ops->support(set, g, x, &value, NULL);
}

static void svd(void *self)
{
    (void)self;
    (void)pn_svd(u, s, vt, (pn_mat){ g, side, side }, NULL);
}

/* Sums of four uniform numbers, near enough to normal. */
static void fill(size_t count)
{
    uint64_t state = 1;

    for (size_t i = 0; i < count; i++) {
        double sum = 0.0;

        for (int k = 0; k < 4; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sum += (double)(state >> 11) * 0x1p-53 - 0.5;
        }
        g[i] = sum;
    }
}

static int compare(size_t n, double tolerance, int runs, double limit)
{
    pn_arg args[5] = { { .given = true, .count = n },
                       { .given = true, .count = n },
                       { .given = false },
                       { .given = false },
                       { .given = true, .real = tolerance } };
    char name[64];
    pn_set *ball;
    int over;

    if (pn_set_from_args(&ball, "nuclear_ball", args, NULL) != PN_OK)
        return 1;
    side = n;
    fill(n * n);
    (void)snprintf(name, sizeof name, "nuclear support %zu, tolerance %.0e / svd", n, tolerance);
    over = bench_line(name, support, ball, svd, NULL, runs, limit);
    pn_set_free(ball);
    return over;
}

int main(void)
{
    int over = compare(100, 1e-10, 21, 0.0);

    over += compare(500, 1e-10, 11, 0.0);
    over += compare(SIDE, 1e-3, 5, 0.05);
    over += compare(SIDE, 1e-10, 3, 0.0);
    return over > 0;
}
