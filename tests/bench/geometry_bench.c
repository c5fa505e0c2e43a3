/* geometry_bench.c -- the set operations of one Frank-Wolfe or projected step at 10^6 coordinates, beside a copy of the
 * vector, and a block of the logistic loss beside its sigmoids.  Depends on: geometry/set.h, objective/loss.h, bench.h.
 * Run with `make bench`. */
#include <string.h>

#include "bench.h"
#include "geometry/set.h"
#include "numeric/simd.h"
#include "objective/loss.h"

#define DIM 1000000

static double g[DIM], x[2 * DIM], y[DIM];
static pn_set *ball;
static pn_loss *loss;

static void copy(void *self)
{
    (void)self;
    memcpy(x, g, sizeof g);
}

static void scores(void *self)
{
    (void)self;
    ball->ops->atom_scores(ball, g, x);
}

static void support(void *self)
{
    double value;

    (void)self;
    (void)ball->ops->support(ball, g, x, &value, NULL);
}

static void project(void *self)
{
    (void)self;
    memcpy(x, g, sizeof g);
    (void)ball->ops->project(ball, x, NULL);
}

static void sigmoids(void *self)
{
    (void)self;
    pn_simd_best()->sigmoid(DIM, g, x);
}

static void slopes(void *self)
{
    (void)self;
    loss->ops->evaluate(loss, DIM, g, y, NULL, x, NULL);
}

int main(void)
{
    pn_arg args[3] = { { .given = true, .count = DIM }, { .given = true, .real = 10.0 }, { .given = false } };
    unsigned state = 1;

    if (pn_set_new(&ball, "l1_ball", args, NULL) != PN_OK || pn_loss_new(&loss, "logistic", NULL, NULL) != PN_OK)
        return 1;
    for (size_t j = 0; j < DIM; j++) {
        state = state * 1664525u + 1013904223u;
        g[j] = (double)state / 4294967296.0 - 0.5;
        y[j] = state >> 31 ? 1.0 : -1.0;
    }
    bench_line("l1_ball scores of 2 dim vertices / copy", scores, NULL, copy, NULL, 21, 0.0);
    bench_line("l1_ball support / copy", support, NULL, copy, NULL, 21, 0.0);
    bench_line("l1_ball projection / copy", project, NULL, copy, NULL, 21, 0.0);
    bench_line("logistic slopes / sigmoids", slopes, NULL, sigmoids, NULL, 21, 0.0);
    pn_set_free(ball);
    pn_loss_free(loss);
    return 0;
}
