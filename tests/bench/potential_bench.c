/* potential_bench.c -- one mirror step of each potential at 10^6 coordinates, gradient and all, beside a copy of the
 * vector and beside one pass over it that does to each entry what the step cannot do without: nothing (Euclidean), an
 * exponential (entropy), a power, a power and an exponential (interpolation, where both terms of power s^e + linear s
 * are functions of ln s).  At most ten such passes.
 * Then at 10^4 and 10^5 the step that runs take: from sums of gradients, so without the potential's own.  Over boxes
 * and l1 balls at most five passes: numbers that come from memory, or that exponential; of typed potentials the first
 * two derivatives, twice, at each entry: two steps of Newton's method.
 * Depends on: geometry/potentials/custom_potential.h, numeric/simd/simd.h, bench.h.  Run with `make bench`;
 * a word as argument selects lines. */
#include <string.h>

#include "bench/bench.h"
#include "expr/compiled.h"
#include "geometry/potentials/custom_potential.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

#define DIM  1000000
#define FAR  (16 * DIM) /* more than caches hold */
#define MOST 10.0       /* passes */
#define FEW  5.0

static double g[DIM], back[DIM], c[DIM], x[DIM], y[DIM], far[FAR];
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

/* ---- the step of runs ---- */

typedef struct sums {
    pn_set *set;
    pn_potential *potential;
    pn_compiled *formula; /* of typed ones */
    size_t n;
    double eta;
    unsigned repeats;
} sums;

static void step_of_run(void *self)
{
    sums *of = self;

    for (unsigned k = 0; k < of->repeats; k++) {
        memcpy(c, x, of->n * sizeof *c);
        pn_axpy(of->n, -of->eta, back, c);
        if (pn_potential_step(of->potential, of->set, c, y, NULL) != PN_OK)
            exit(1);
    }
}

/* Vectors of n numbers that no cache holds, one after the other. */
static void streams(void *self)
{
    static size_t at;
    const sums *of = self;

    for (unsigned k = 0; k < of->repeats; k++) {
        at = at + 2 * of->n <= FAR ? at + of->n : 0;
        memcpy(y, far + at, of->n * sizeof *y);
        __asm__ volatile("" : : "r"(y) : "memory"); /* each is made */
    }
}

static void some_exponentials(void *self)
{
    const sums *of = self;

    for (unsigned k = 0; k < of->repeats; k++)
        pn_simd_best()->exp(of->n, g, y);
}

/* Of two Newton steps. */
static void own_formula(void *self)
{
    const sums *of = self;

    for (unsigned k = 0; k < 2 * of->repeats; k++) {
        pn_compiled_run(of->formula, of->n, (const double *[1]){ g }, NULL, y);
        pn_program_run(of->formula->curvature, of->n, (const double *[1]){ g }, (double *[1]){ c });
    }
}

static int measure_run(const char *name, sums *of, bench_fn pass, const char *by, double limit)
{
    char line[100];

    if (only && !strstr(name, only))
        return 0;
    of->repeats = (unsigned)(200000 / of->n);
    for (size_t j = 0; j < of->n; j++)
        x[j] = of->eta * g[j];
    if (pass != streams) {
        (void)snprintf(line, sizeof line, "%s, p = %zu / pass", name, of->n);
        (void)bench_line_busy(line, step_of_run, of, streams, of, 21, 0.0);
    }
    (void)snprintf(line, sizeof line, "%s, p = %zu / %s", name, of->n, by);
    return bench_line_busy(line, step_of_run, of, pass, of, 21, limit);
}

static int measure_table(const char *set, const char *potential, pn_arg *args, size_t n, bool exponential_each,
                         double limit)
{
    pn_arg ball[4] = { COUNT(n), REAL(10.0), NONE, NONE };
    sums of = { .n = n, .eta = 100.0 };
    char name[60];
    int over;

    (void)snprintf(name, sizeof name, "run, %s, %s", potential, set);
    if (pn_set_from_args(&of.set, set, ball, NULL) != PN_OK ||
        pn_potential_from_args(&of.potential, potential, args, NULL) != PN_OK)
        return 1;
    over = measure_run(name, &of, exponential_each ? some_exponentials : streams,
                       exponential_each ? "exponentials" : "pass", limit);
    pn_set_free(of.set);
    pn_potential_free(of.potential);
    return over;
}

/* e^t + e^-t, or t^2/2 + t^4/4, on [-1, 1] */
static pn_node make_formula(pn_graph *graph, bool exponential_one)
{
    pn_node t = pn_x_var(graph, 0), square = pn_x_binary(graph, PN_X_MUL, t, t);

    if (exponential_one)
        return pn_x_binary(graph, PN_X_ADD, pn_x_unary(graph, PN_X_EXP, t),
                           pn_x_unary(graph, PN_X_EXP, pn_x_unary(graph, PN_X_NEG, t)));
    return pn_x_binary(
        graph, PN_X_ADD, pn_x_binary(graph, PN_X_MUL, pn_x_const(graph, 0.5), square),
        pn_x_binary(graph, PN_X_MUL, pn_x_const(graph, 0.25), pn_x_binary(graph, PN_X_MUL, square, square)));
}

static int measure_typed(const char *set, bool exponential_one, size_t n)
{
    static const char *const names[1] = { "t" };
    pn_arg ball[4] = { COUNT(n), REAL(1.0), NONE, NONE };
    sums of = { .n = n, .eta = exponential_one ? 3.0 : 2.0 };
    pn_compiled formula = { .graph = NULL };
    pn_graph *graph = NULL;
    pn_node root;
    char name[60];
    int over;

    (void)snprintf(name, sizeof name, "run, typed %s, %s", exponential_one ? "e^t + e^-t" : "t^2/2 + t^4/4", set);
    if (pn_graph_new(&graph, names, 1, NULL) != PN_OK)
        return 1;
    root = make_formula(graph, exponential_one);
    if (pn_set_from_args(&of.set, set, ball, NULL) != PN_OK || pn_compiled_open(&formula, graph, root, NULL) != PN_OK ||
        pn_potential_separable(&of.potential, graph, root, (pn_interval){ -1.0, 1.0 }, NULL, NULL) != PN_OK)
        return 1;
    of.formula = &formula;
    over = measure_run(name, &of, own_formula, "derivatives", strcmp(set, "linf_ball") == 0 ? FEW : 0.0);
    pn_set_free(of.set);
    pn_potential_free(of.potential);
    pn_compiled_clear(&formula);
    pn_graph_free(graph);
    return over;
}

/* ---- images: what a step takes besides the products by A and its transpose ---- */

enum { WIDE = 1000 };

typedef struct mapped {
    pn_set *image;
    pn_potential *potential;
    pn_mat A;
} mapped;

static void step_over_image(void *self)
{
    mapped *of = self;

    pn_potential_pull(of->potential, g, WIDE, c, NULL);
    if (pn_potential_step(of->potential, of->image, c, x, NULL) != PN_OK)
        exit(1);
    pn_potential_theta(of->potential, x, WIDE, y, NULL);
}

static void two_products(void *self)
{
    const mapped *of = self;

    memset(c, 0, WIDE * sizeof *c);
    for (size_t i = 0; i < WIDE; i++)
        pn_axpy(WIDE, g[i], of->A.data + i * WIDE, c);
    pn_mat_times_vec(of->A, c, y);
}

static int measure_image(void)
{
    pn_arg ball[4] = { COUNT(WIDE), REAL(1.0), NONE, NONE };
    mapped of = { .A = { far, WIDE, WIDE } };
    pn_set *inner = NULL;
    int over;

    if (only && !strstr("run, image", only))
        return 0;
    if (pn_set_from_args(&inner, "l2_ball", ball, NULL) != PN_OK ||
        pn_set_image(&of.image, inner, of.A, NULL) != PN_OK ||
        pn_potential_for_set(&of.potential, of.image, NULL, NULL) != PN_OK)
        return 1;
    over = bench_line_busy("run, image of l2_ball, p = 1000 / products by A and its transpose", step_over_image, &of,
                           two_products, &of, 21, 2.0);
    pn_potential_free(of.potential);
    pn_set_free(of.image);
    pn_set_free(inner);
    return over;
}

static int measure_runs(size_t n)
{
    double limit = n == 100000 ? FEW : 0.0;
    int over = 0;

    over += measure_table("l1_ball", "euclidean", (pn_arg[2]){ NONE, NONE }, n, false, limit);
    over += measure_table("linf_ball", "euclidean", (pn_arg[2]){ NONE, NONE }, n, false, limit);
    over += measure_table("simplex", "euclidean", (pn_arg[2]){ NONE, NONE }, n, false, 0.0);
    over += measure_table("simplex", "entropy", (pn_arg[2]){ REAL(10.0), NONE }, n, true, limit);
    over += measure_table("l1_ball", "signed_entropy", (pn_arg[3]){ COUNT(n), REAL(10.0), NONE }, n, true, limit);
    for (int k = 0; k < 2; k++) {
        over += measure_typed("linf_ball", k, n);
        over += measure_typed("simplex", k, n);
        over += measure_typed("l1_ball", k, n);
    }
    return over;
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
    for (size_t j = 0; j < FAR; j++)
        far[j] = g[j % DIM];
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
    over += measure_runs(10000);
    over += measure_runs(100000);
    over += measure_image();
    return over > 0;
}
