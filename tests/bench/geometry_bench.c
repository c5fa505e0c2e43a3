/* geometry_bench.c -- the set operations of one Frank-Wolfe or projected step at 10^6 coordinates, beside a copy of the
 * vector, projections at 10^7, one near the border of a sum beside one far from it, and a block of the logistic loss
 * beside its sigmoids.  A projection works in place: what is timed is a copy and then the projection, so its limit is
 * one more than the share of the projection.
 * Depends on: geometry/convex/set.h, objective/losses/loss.h, core/alloc.h, bench.h.
 * Run with `make bench`. */
#include <string.h>

#include "bench/bench.h"
#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"
#include "numeric/simd/simd.h"
#include "objective/losses/loss.h"

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
    loss->ops->evaluate(loss, DIM, g, y, NULL, x);
}

/* ---- projections of LONG coordinates ---- */

#define LONG 10000000

typedef struct projection {
    pn_set *set;
    const double *from;
    double *to;
} projection;

static void copy_long(void *self)
{
    const projection *p = self;

    memcpy(p->to, p->from, LONG * sizeof *p->to);
}

static void project_long(void *self)
{
    const projection *p = self;

    copy_long(self);
    (void)pn_set_project(p->set, p->to, LONG, NULL);
}

static int bench_projection(const char *name, pn_arg a, pn_arg b, pn_arg c, double limit, double *from, double *to)
{
    pn_arg args[4] = { a, b, c, { .given = false } };
    projection p = { NULL, from, to };
    char line[64];
    int over;

    (void)snprintf(line, sizeof line, "copy and %s projection, 1e7 / copy", name);
    if (pn_set_from_args(&p.set, name, args, NULL) != PN_OK)
        return 1;
    over = bench_line_busy(line, project_long, &p, copy_long, &p, 7, limit);
    pn_set_free(p.set);
    return over;
}

/* A copy moves two vectors, one in and one out.  With the copy, a projection that moves `vectors` more is as fast as
 * memory when it takes (2 + vectors) / 2 copies; a quarter more is the limit. */
#define MOVES(vectors) (1.25 * (2.0 + (vectors)) / 2.0)

static int bench_projections(void)
{
    double *from = pn_alloc(LONG, sizeof *from), *to = pn_alloc(LONG, sizeof *to), *low = pn_alloc(LONG, sizeof *low);
    double *high = pn_alloc(LONG, sizeof *high);
    pn_arg none = { .given = false }, dim = { .given = true, .count = LONG }, ten = { .given = true, .real = 10.0 };
    pn_arg tenth = { .given = true, .real = 0.1 }, group = { .given = true, .count = 10 };
    pn_arg lower = { .given = true, .vector = { low, LONG } }, upper = { .given = true, .vector = { high, LONG } };
    int over = 0;

    if (from && to && low && high) {
        for (size_t j = 0; j < LONG; j++) {
            from[j] = g[j % DIM] + 1e-9 * (double)(j / DIM);
            low[j] = -0.1;
            high[j] = 0.2;
        }
        over += bench_projection("simplex", dim, ten, none, 6.0, from, to);
        over += bench_projection("l1_ball", dim, ten, none, 6.0, from, to);
        over += bench_projection("l2_ball", dim, ten, none, MOVES(3), from, to);       /* norm, scaling */
        over += bench_projection("group_ball", dim, group, ten, MOVES(3.6), from, to); /* and six passes of lengths */
        over += bench_projection("box", lower, upper, none, MOVES(4), from, to);       /* x twice, its two bounds */
        over += bench_projection("linf_ball", dim, tenth, none, MOVES(2), from, to);
        over += bench_projection("interpolation_ball", dim, (pn_arg){ .given = true, .real = 0.5 }, ten, 0.0, from, to);
        over += bench_projection("ksparse_polytope", dim, group, none, 0.0, from, to);
    }
    pn_free(from);
    pn_free(to);
    pn_free(low);
    pn_free(high);
    return over;
}

/* ---- a sum that is projected on by turns: near the border, beside far from it ---- */

#define SUM_DIM 1000

typedef struct sum_point {
    pn_set *sum;
    double at[SUM_DIM], to[SUM_DIM];
} sum_point;

static void project_on_sum(void *self)
{
    sum_point *of = self;

    memcpy(of->to, of->at, sizeof of->to);
    if (pn_set_project(of->sum, of->to, SUM_DIM, NULL) != PN_OK)
        exit(1);
}

static int bench_sum(void)
{
    static sum_point near, far;
    pn_arg dim = { .given = true, .count = SUM_DIM }, one = { .given = true, .real = 1.0 }, none = { .given = false };
    pn_set *parts[2] = { NULL, NULL };
    int over;

    if (pn_set_from_args(&parts[0], "l1_ball", (pn_arg[3]){ dim, one, none }, NULL) != PN_OK ||
        pn_set_from_args(&parts[1], "l2_ball", (pn_arg[3]){ dim, one, none }, NULL) != PN_OK ||
        pn_set_sum(&near.sum, parts[0], parts[1], NULL) != PN_OK ||
        pn_set_support(near.sum, g, SUM_DIM, NULL, near.at, NULL) != PN_OK)
        return 1;
    far.sum = near.sum;
    for (size_t j = 0; j < SUM_DIM; j++) {
        far.at[j] = 3.0 * near.at[j];
        near.at[j] *= 1.0 + 1e-6;
    }
    over = bench_line_busy("l1_ball + l2_ball, p = 1000, projection from 1e-6 beyond the border / from 3 sizes",
                           project_on_sum, &near, project_on_sum, &far, 21, 2000.0);
    pn_set_free(near.sum);
    pn_set_free(parts[0]);
    pn_set_free(parts[1]);
    return over;
}

int main(void)
{
    pn_arg args[3] = { { .given = true, .count = DIM }, { .given = true, .real = 10.0 }, { .given = false } };
    unsigned state = 1;
    int over;

    if (pn_set_from_args(&ball, "l1_ball", args, NULL) != PN_OK ||
        pn_loss_from_args(&loss, "logistic", NULL, NULL) != PN_OK)
        return 1;
    for (size_t j = 0; j < DIM; j++) {
        state = state * 1664525u + 1013904223u;
        g[j] = (double)state / 4294967296.0 - 0.5;
        y[j] = state >> 31 ? 1.0 : -1.0;
    }
    bench_line_busy("l1_ball scores of 2 dim vertices / copy", scores, NULL, copy, NULL, 21, 0.0);
    bench_line_busy("l1_ball support / copy", support, NULL, copy, NULL, 21, 0.0);
    bench_line_busy("l1_ball projection / copy", project, NULL, copy, NULL, 21, 0.0);
    over = bench_projections();
    over += bench_sum();
    bench_line_busy("logistic slopes / sigmoids", slopes, NULL, sigmoids, NULL, 21, 0.0);
    pn_set_free(ball);
    pn_loss_free(loss);
    return over > 0;
}
