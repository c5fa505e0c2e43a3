/* potential_bench.c -- one mirror step of each potential at 10^6 coordinates, gradient and all, beside a copy of the
 * vector and beside one pass over it that does to each entry what the step cannot do without: nothing (Euclidean), an
 * exponential (entropy), a power, a power and an exponential (interpolation, where both terms of power s^e + linear s
 * are functions of ln s).  At most ten such passes.
 * Depends on: geometry/potentials/potential.h, numeric/simd/simd.h, bench.h.  Run with `make bench`;
 * a word as argument selects lines. */
#include <string.h>

#include "bench/bench.h"
#include "geometry/potentials/potential.h"
#include "geometry/sets/sets.h"
#include "numeric/simd/simd.h"

#define DIM  1000000
#define MOST 10.0 /* passes */

static double g[DIM], back[DIM], c[DIM], x[DIM], y[DIM];
static const char *only; /* those whose names hold this */

typedef struct pair {
    pn_set *set;
    pn_potential *potential;
    double eta;
} pair;

static void copy(void *self)
{
    (void)self;
    memcpy(y, g, sizeof g);
}

static void exponentials(void *self)
{
    (void)self;
    pn_simd_best()->exp(DIM, g, y);
}

static void powers(void *self)
{
    pn_powers of = { .magnitude = 1, .size = 0.5, .exponent = 2.5 };
    double sums[2] = { 0.0 };

    (void)self;
    pn_simd_best()->powers(DIM, g, &of, 1.0, y, sums);
}

static void powers_and_exponentials(void *self)
{
    powers(self);
    exponentials(self);
}

typedef struct unit {
    const char *name;
    bench_fn pass;
} unit;

static const unit nothing = { "copy", copy }, exponential = { "exponentials", exponentials },
                  power = { "powers", powers }, both = { "powers, exponentials", powers_and_exponentials };

static void mirror_step(void *self)
{
    pair *of = self;

    if (pn_mirror_step(of->potential, of->set, x, back, of->eta, DIM, y, NULL) != PN_OK)
        exit(1);
}

/* From the point that a step along g of that length leads to, against the reversed g. */
static int measure(const char *name, const char *set, pn_arg *set_args, const char *potential, pn_arg *args, unit by,
                   double scale)
{
    char line[100];
    pair of = { NULL, NULL, scale };
    int over;

    if (only && !strstr(name, only))
        return 0;
    for (size_t j = 0; j < DIM; j++)
        c[j] = scale * g[j];
    if (pn_set_from_args(&of.set, set, set_args, NULL) != PN_OK ||
        pn_potential_from_args(&of.potential, potential, args, NULL) != PN_OK ||
        pn_potential_step(of.potential, of.set, c, x, NULL) != PN_OK)
        return 1;
    if (by.pass != copy) {
        (void)snprintf(line, sizeof line, "%s, c to %g / copy", name, 0.5 * scale);
        (void)bench_line_busy(line, mirror_step, &of, copy, NULL, 21, 0.0);
    }
    (void)snprintf(line, sizeof line, "%s, c to %g / %s", name, 0.5 * scale, by.name);
    over = bench_line_busy(line, mirror_step, &of, by.pass, NULL, 21, MOST);
    pn_set_free(of.set);
    pn_potential_free(of.potential);
    return over;
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

int main(int argc, char **argv)
{
    pn_arg ball[4] = { COUNT(DIM), REAL(10.0), NONE, NONE };
    unsigned state = 1;
    int over = 0;

    only = argc > 1 ? argv[1] : NULL;
    for (size_t j = 0; j < DIM; j++) {
        state = state * 1664525u + 1013904223u;
        g[j] = (double)state / 4294967296.0 - 0.5;
    }
    for (size_t j = 0; j < DIM; j++)
        back[j] = g[DIM - 1 - j];
    for (int i = 0; i < 2; i++) {
        double scale = i ? 1000.0 : 10.0;

        over += measure("euclidean, l1_ball", "l1_ball", ball, "euclidean", (pn_arg[1]){ NONE }, nothing, scale);
        over += measure("entropy, simplex", "simplex", ball, "entropy", (pn_arg[1]){ REAL(10.0) }, exponential, scale);
        over += measure("lp, l1_ball", "l1_ball", ball, "lp", (pn_arg[2]){ NONE, COUNT(DIM) }, power, scale);
        over += measure("lp, simplex", "simplex", ball, "lp", (pn_arg[2]){ NONE, COUNT(DIM) }, power, scale);
        over += measure("group(1), l1_ball", "l1_ball", ball, "group",
                        (pn_arg[4]){ COUNT(DIM), NONE, REAL(10.0), NONE }, power, scale);
        over += measure("group(1), simplex", "simplex", ball, "group",
                        (pn_arg[4]){ COUNT(DIM), NONE, REAL(10.0), NONE }, power, scale);
        over += measure("group(10), group_ball", "group_ball", (pn_arg[4]){ COUNT(DIM), COUNT(10), REAL(10.0), NONE },
                        "group", (pn_arg[4]){ COUNT(DIM), COUNT(10), REAL(10.0), NONE }, power, scale);
        over += measure("interpolation(1/2), its ball", "interpolation_ball",
                        (pn_arg[4]){ COUNT(DIM), REAL(0.5), REAL(10.0), NONE }, "interpolation",
                        (pn_arg[4]){ COUNT(DIM), REAL(0.5), REAL(10.0), NONE }, both, scale);
    }
    return over > 0;
}
