/* potential_bench.c -- one mirror step of each potential at 10^6 coordinates beside a copy of the vector.
 * Depends on: geometry/potential.h, bench.h.  Run with `make bench`. */
#include <string.h>

#include "bench.h"
#include "geometry/potential.h"

#define DIM 1000000

static double g[DIM], c[DIM], x[DIM], y[DIM];

typedef struct pair {
    pn_set *set;
    pn_potential *potential;
} pair;

static void copy(void *self)
{
    (void)self;
    memcpy(y, c, sizeof c);
}

static void step(void *self)
{
    pair *of = self;

    (void)pn_potential_step(of->potential, of->set, c, y, NULL);
}

static void whole(void *self)
{
    pair *of = self;

    (void)pn_mirror_step(of->potential, of->set, x, g, 0.1, DIM, y, NULL);
}

static int measure(const char *name, const char *set, pn_arg *set_args, const char *potential, pn_arg *args,
                   double scale)
{
    char line[100];
    pair of = { NULL, NULL };

    if (pn_set_new(&of.set, set, set_args, NULL) != PN_OK ||
        pn_potential_new(&of.potential, potential, args, NULL) != PN_OK ||
        pn_potential_start(of.potential, of.set, x, NULL) != PN_OK)
        return 1;
    for (size_t j = 0; j < DIM; j++)
        c[j] = scale * g[j];
    (void)snprintf(line, sizeof line, "%s step, c to %g / copy", name, scale);
    bench_line(line, step, &of, copy, NULL, 11, 0.0);
    (void)snprintf(line, sizeof line, "%s with its gradient / copy", name);
    bench_line(line, whole, &of, copy, NULL, 11, 0.0);
    pn_set_free(of.set);
    pn_potential_free(of.potential);
    return 0;
}

#define COUNT(value)                                                                                                   \
    {                                                                                                                  \
        .given = true, .count = (value)                                                                                \
    }
#define REAL(value)                                                                                                    \
    {                                                                                                                  \
        .given = true, .real = (value)                                                                                 \
    }
#define NONE                                                                                                           \
    {                                                                                                                  \
        .given = false                                                                                                 \
    }

int main(void)
{
    pn_arg ball[4] = { COUNT(DIM), REAL(10.0), NONE, NONE };
    unsigned state = 1;
    int failed = 0;

    for (size_t j = 0; j < DIM; j++) {
        state = state * 1664525u + 1013904223u;
        g[j] = (double)state / 4294967296.0 - 0.5;
    }
    for (int i = 0; i < 2; i++) {
        double scale = i ? 1000.0 : 10.0;

        failed |= measure("euclidean, l1_ball", "l1_ball", ball, "euclidean", (pn_arg[1]){ NONE }, scale);
        failed |= measure("entropy, simplex", "simplex", ball, "entropy", (pn_arg[1]){ REAL(10.0) }, scale);
        failed |= measure("lp, l1_ball", "l1_ball", ball, "lp", (pn_arg[2]){ NONE, COUNT(DIM) }, scale);
        failed |= measure("lp, simplex", "simplex", ball, "lp", (pn_arg[2]){ NONE, COUNT(DIM) }, scale);
        failed |= measure("group(1), l1_ball", "l1_ball", ball, "group",
                          (pn_arg[4]){ COUNT(DIM), NONE, REAL(10.0), NONE }, scale);
        failed |= measure("group(10), group_ball", "group_ball", (pn_arg[4]){ COUNT(DIM), COUNT(10), REAL(10.0), NONE },
                          "group", (pn_arg[4]){ COUNT(DIM), COUNT(10), REAL(10.0), NONE }, scale);
        failed |= measure("interpolation(1/2), its ball", "interpolation_ball",
                          (pn_arg[4]){ COUNT(DIM), REAL(0.5), REAL(10.0), NONE }, "interpolation",
                          (pn_arg[4]){ COUNT(DIM), REAL(0.5), REAL(10.0), NONE }, scale);
    }
    return failed;
}
