/* potential_test.c -- potentials and mirror steps: the numbers of the specification, optimality of each step, strong convexity, inverse
 * gradients, ranges, and every allocation that fails.  Depends on: geometry/potential.h, check.h, fail_alloc.h. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/potential.h"

static pn_set *new_set(const char *name, pn_arg *args)
{
    pn_set *set = NULL;
    pn_err err;

    if (!CHECK(pn_set_new(&set, name, args, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return set;
}

static pn_potential *new_potential(const char *name, pn_arg *args)
{
    pn_potential *p = NULL;
    pn_err err;

    if (!CHECK(pn_potential_new(&p, name, args, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return p;
}

/* Spec section 4: theta uniform on 4, g = (3, -1, .5, 2), eta = 1/2. */
static void test_entropy_step(void)
{
    const double want[4] = { 0.0739201, 0.5461998, 0.2580065, 0.1218736 };
    double x[4] = { 0.25, 0.25, 0.25, 0.25 }, g[4] = { 3, -1, 0.5, 2 }, y[4] = { 0 }, range = 0.0;
    pn_set *simplex = new_set("simplex", (pn_arg[2]){ { .given = true, .count = 4 } });
    pn_potential *p = new_potential("entropy", (pn_arg[1]){ { .given = false } });
    pn_err err;

    CHECK(pn_mirror_step(p, simplex, x, g, 0.5, 4, y, &err) == PN_OK);
    for (int j = 0; j < 4; j++)
        CHECK_CLOSE(y[j], want[j], 5e-8);
    CHECK(pn_mirror_step(p, simplex, x, g, 0.5, 4, g, &err) == PN_OK);
    CHECK(memcmp(g, y, sizeof y) == 0);
    CHECK(pn_potential_range(p, simplex, &range, &err) == PN_OK);
    CHECK_CLOSE(range, log(4.0), 1e-12);
    CHECK(range >= log(4.0));
    CHECK(pn_potential_start(p, simplex, y, &err) == PN_OK && y[0] == 0.25 && y[3] == 0.25);
    pn_set_free(simplex);
    pn_potential_free(p);
}

static void test_euclidean(void)
{
    double x[3] = { 0.25, 0.25, 0.25 }, g[3] = { 3, -1, 0.5 }, y[3], range = 0.0, center[3] = { 3, 4, 0 };
    pn_set *ball = new_set("l2_ball", (pn_arg[3]){ { .given = true, .count = 3 }, { .given = true, .real = 2.0 } });
    pn_potential *p = new_potential("euclidean", (pn_arg[1]){ { .given = true, .vector = { center, 3 } } });
    pn_err err;

    CHECK(pn_mirror_step(p, ball, x, g, 0.1, 3, y, &err) == PN_OK);
    CHECK_CLOSE(y[0], -0.05, 1e-15);
    CHECK_CLOSE(y[1], 0.35, 1e-15);
    CHECK(pn_potential_range(p, ball, &range, &err) == PN_OK); /* (7^2 - 3^2) / 2 */
    CHECK_CLOSE(range, 20.0, 1e-9);
    CHECK(range >= 20.0);
    CHECK(pn_potential_start(p, ball, y, &err) == PN_OK);
    CHECK_CLOSE(y[0], 1.2, 1e-15);
    CHECK_CLOSE(y[1], 1.6, 1e-15);
    pn_set_free(ball);
    pn_potential_free(p);
}

/* ---- what holds for each step ---- */

static double uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)*state / 2147483648.0 - 1.0;
}

static void fill(double *x, size_t n, double size, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1u;

    for (size_t j = 0; j < n; j++)
        x[j] = size * uniform(&state);
}

/* <c - grad Psi(x), v - x> <= 1e-7 for all v in C, x in C (spec section 4), and in place gives the same. */
static void check_step(const pn_potential *p, const pn_set *set, double size, unsigned seed)
{
    enum { MOST = 64 };
    double c[MOST], x[MOST], slope[MOST], most = NAN, here = 0.0, largest = 1.0;
    size_t n = set->dim;
    bool inside = false;
    pn_err err;

    fill(c, n, size, seed);
    if (!CHECK(pn_potential_step(p, set, c, x, &err) == PN_OK)) {
        (void)fprintf(stderr, "    %s over %s: %s\n", p->ops->name, set->ops->name, err.message);
        return;
    }
    CHECK(pn_set_contains(set, x, n, 1e-9, &inside, &err) == PN_OK && inside);
    CHECK(pn_potential_gradient(p, x, n, slope, &err) == PN_OK);
    for (size_t j = 0; j < n; j++) {
        slope[j] = c[j] - slope[j];
        here += slope[j] * x[j];
        largest = fmax(largest, fabs(c[j]));
    }
    CHECK(pn_set_support(set, slope, n, &most, NULL, &err) == PN_OK);
    if (!CHECK(most - here <= 1e-7 * largest))
        (void)fprintf(stderr, "    %s over %s: gap %g at size %g\n", p->ops->name, set->ops->name, most - here, size);
    CHECK(pn_potential_step(p, set, c, c, &err) == PN_OK && memcmp(c, x, n * sizeof *x) == 0);
}

static void check_steps_between(const pn_potential *p, const pn_set *set, double least, double most)
{
    const double sizes[] = { 0.0, 1e-3, 0.3, 1.0, 10.0, 1e3 };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i] < least || sizes[i] > most)
            continue;
        for (unsigned seed = 1; seed <= 3; seed++)
            check_step(p, set, sizes[i], seed);
    }
}

static void check_steps(const pn_potential *p, const pn_set *set)
{
    check_steps_between(p, set, 0.0, INFINITY);
}

/* The range bounds Psi(v) - Psi(start) for support points in random directions. */
static void check_range(const pn_potential *p, const pn_set *set)
{
    double x[64], g[64], range = NAN, least = NAN, value = NAN;
    pn_err err;

    CHECK(pn_potential_range(p, set, &range, &err) == PN_OK);
    CHECK(pn_potential_start(p, set, x, &err) == PN_OK);
    CHECK(pn_potential_value(p, x, set->dim, &least, &err) == PN_OK);
    for (unsigned seed = 1; seed <= 20; seed++) {
        fill(g, set->dim, 1.0, seed);
        CHECK(pn_set_support(set, g, set->dim, NULL, x, &err) == PN_OK);
        CHECK(pn_potential_value(p, x, set->dim, &value, &err) == PN_OK);
        CHECK(value - least <= range);
    }
}

/* grad Psi*(grad Psi(x)) = x, and Psi's gradient is that of its values. */
static void check_gradient(const pn_potential *p, const double *x, size_t n)
{
    double slope[64], back[64], moved[64], up = NAN, down = NAN;
    pn_err err;

    CHECK(pn_potential_gradient(p, x, n, slope, &err) == PN_OK);
    for (size_t j = 0; j < n; j++) {
        double h = 1e-5 * fmax(fabs(x[j]), 1e-2);

        memcpy(moved, x, n * sizeof *x);
        moved[j] = x[j] + h;
        CHECK(pn_potential_value(p, moved, n, &up, &err) == PN_OK);
        moved[j] = x[j] - h;
        CHECK(pn_potential_value(p, moved, n, &down, &err) == PN_OK);
        CHECK_CLOSE(slope[j], (up - down) / (2.0 * h), 1e-5 * (1.0 + fabs(slope[j])));
    }
    if (!p->ops->inverse_gradient)
        return;
    CHECK(pn_potential_inverse_gradient(p, slope, n, back, &err) == PN_OK);
    for (size_t j = 0; j < n; j++)
        CHECK_CLOSE(back[j], x[j], 1e-12);
}

/* ---- the rows ---- */

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

/* Spec section 4; psi_q itself. */
static void test_q_norm_steps(void)
{
    double c[8] = { 1, 0.5, 0, -1, 2, 0, 0, 0.2 }, x[8], q = log(8.0) / (log(8.0) - 1.0);
    pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(8), NONE });
    pn_set *ball = new_set("l1_ball", (pn_arg[3]){ COUNT(8), NONE, NONE });
    pn_potential *p = new_potential("lp", (pn_arg[2]){ REAL(q), NONE });
    pn_err err;

    CHECK_CLOSE(q, 1.926404962, 5e-10);
    CHECK(pn_potential_step(p, simplex, c, x, &err) == PN_OK);
    CHECK_CLOSE(x[0], 0.03223717, 5e-9);
    CHECK_CLOSE(x[4], 0.96776283, 5e-9);
    CHECK(x[1] == 0.0 && x[2] == 0.0 && x[3] == 0.0 && x[5] == 0.0 && x[7] == 0.0);
    CHECK(pn_potential_step(p, ball, c, x, &err) == PN_OK);
    CHECK_CLOSE(x[0], 0.02218859, 5e-9);
    CHECK_CLOSE(x[3], -0.02218859, 5e-9);
    CHECK_CLOSE(x[4], 0.95562283, 5e-9);
    CHECK(x[1] == 0.0 && x[2] == 0.0 && x[5] == 0.0 && x[7] == 0.0);
    pn_set_free(simplex);
    pn_set_free(ball);
    pn_potential_free(p);
}

static void test_lp(void)
{
    const size_t dims[] = { 1, 2, 5, 8, 40 };
    double range = NAN, x[64];
    pn_err err;

    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        size_t n = dims[i];
        pn_set *ball = new_set("l1_ball", (pn_arg[3]){ COUNT(n), REAL(2.5), NONE });
        pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(n), REAL(0.5) });
        pn_potential *plain = new_potential("lp", (pn_arg[2]){ REAL(1.3), NONE });
        pn_potential *fitted = new_potential("lp", (pn_arg[2]){ NONE, COUNT(n) });

        check_steps(plain, ball);
        check_steps(plain, simplex);
        check_steps(fitted, ball);
        check_steps(fitted, simplex);
        check_range(plain, ball);
        check_range(fitted, simplex);
        fill(x, n, 1.0, 7);
        check_gradient(plain, x, n);
        check_gradient(fitted, x, n);
        /* D2 = e^2 (ln k - 1)/2 from 8 entries, k/2 below, times radius^2 */
        CHECK(pn_potential_range(fitted, ball, &range, &err) == PN_OK);
        CHECK_CLOSE(range, 6.25 * (n >= 8 ? exp(2.0) * (log((double)n) - 1.0) : (double)n) / 2.0, 1e-11);
        CHECK(plain->strong_convexity == 1.0 && fitted->strong_convexity == 1.0);
        pn_set_free(ball);
        pn_set_free(simplex);
        pn_potential_free(plain);
        pn_potential_free(fitted);
    }
}

static void test_group(void)
{
    const size_t dims[] = { 1, 2, 3, 40 };
    double range = NAN, x[64];
    pn_err err;

    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        size_t n = dims[i];
        double m = (double)n;
        pn_set *ball = new_set("l1_ball", (pn_arg[3]){ COUNT(n), REAL(2.5), NONE });
        pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(n), REAL(2.0) });
        pn_potential *p = new_potential("group", (pn_arg[4]){ COUNT(n), NONE, REAL(2.5), NONE });

        check_steps(p, ball);
        check_steps(p, simplex);
        check_range(p, ball);
        check_range(p, simplex);
        fill(x, n, 1.0, 7);
        check_gradient(p, x, n);
        CHECK(pn_potential_range(p, ball, &range, &err) == PN_OK);
        CHECK_CLOSE(range, 6.25 * (n == 1 ? 0.5 : n == 2 ? 1.0 : exp(1.0) * log(m) / (1.0 + 1.0 / log(m))), 1e-11);
        pn_set_free(ball);
        pn_set_free(simplex);
        pn_potential_free(p);
    }
}

/* Blocks of k: the step of blocks along one direction is that of their lengths. */
static void test_blocks(void)
{
    double x[10], c[10], lengths[4] = { 0.3, -1.2, 2.0, 0.7 }, want[4];
    pn_potential *blocks = new_potential("group", (pn_arg[4]){ COUNT(10), COUNT(3), REAL(2.0), NONE });
    pn_potential *singles = new_potential("group", (pn_arg[4]){ COUNT(4), NONE, REAL(2.0), NONE });
    pn_err err;

    for (size_t j = 0; j < 10; j++)
        c[j] = lengths[j / 3] * (j == 9 ? 1.0 : j % 3 == 0 ? 0.6 : j % 3 == 1 ? 0.8 : 0.0);
    CHECK(pn_potential_inverse_gradient(blocks, c, 10, x, &err) == PN_OK);
    CHECK(pn_potential_inverse_gradient(singles, lengths, 4, want, &err) == PN_OK);
    for (size_t j = 0; j < 4; j++)
        CHECK_CLOSE(x[3 * j], want[j] * (j == 3 ? 1.0 : 0.6), 1e-14);
    check_gradient(blocks, x, 10);
    pn_potential_free(blocks);
    pn_potential_free(singles);
}

/* V = I: the weights are the point. */
static void test_polytope(void)
{
    enum { N = 12 };
    double vertices[N * N] = { 0.0 }, c[N], lifted[N], plain[N], range = NAN;
    pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(N), NONE }), *hull;
    pn_potential *p, *entropy = new_potential("entropy", (pn_arg[1]){ NONE });
    pn_err err;

    for (size_t j = 0; j < N; j++)
        vertices[j * N + j] = 1.0;
    hull = new_set("polytope", (pn_arg[1]){ { .given = true, .matrix = { vertices, N, N } } });
    p = new_potential("polytope", (pn_arg[1]){ { .given = true, .object = hull } });
    fill(c, N, 3.0, 5);
    CHECK(p->lift.rows == N && p->lift.cols == N);
    CHECK(pn_potential_step(p, hull, c, lifted, &err) == PN_OK);
    CHECK(pn_potential_step(entropy, simplex, c, plain, &err) == PN_OK);
    for (size_t j = 0; j < N; j++)
        CHECK_CLOSE(lifted[j], plain[j], 1e-12);
    CHECK(pn_potential_range(p, hull, &range, &err) == PN_OK && range >= log(12.0) && range < log(12.0) + 1e-12);
    CHECK(pn_potential_step(p, simplex, c, lifted, &err) == PN_OK); /* the same vertices */
    pn_set_free(simplex);
    simplex = new_set("simplex", (pn_arg[2]){ COUNT(N), REAL(2.0) });
    CHECK(pn_potential_step(p, simplex, c, lifted, &err) == PN_EINVAL);
    pn_potential_free(p);
    pn_potential_free(entropy);
    pn_set_free(hull);
    pn_set_free(simplex);
}

/* A potential that knows nothing of the set. */
static void test_numeric_steps(void)
{
    double low[6] = { -1, 0, -2, 0.5, -1, -3 }, high[6] = { 1, 2, 2, 1, -0.5, 3 };
    pn_set *box = new_set(
        "box", (pn_arg[2]){ { .given = true, .vector = { low, 6 } }, { .given = true, .vector = { high, 6 } } });
    pn_set *ball = new_set("l2_ball", (pn_arg[3]){ COUNT(6), REAL(1.5), NONE });
    pn_potential *lp = new_potential("lp", (pn_arg[2]){ REAL(1.5), NONE });
    pn_potential *group = new_potential("group", (pn_arg[4]){ COUNT(6), COUNT(2), REAL(4.0), NONE });

    check_steps(lp, box);
    check_steps(lp, ball);
    check_steps(group, box);
    check_steps(group, ball);
    pn_set_free(box);
    pn_set_free(ball);
    pn_potential_free(lp);
    pn_potential_free(group);
}

static bool is_shifted(const pn_set *set)
{
    const double *shift;
    double factor;

    (void)pn_set_unwrap(set, &factor, &shift);
    return shift != NULL;
}

static void check_for_set(pn_set *set, const char *name)
{
    pn_potential *p = NULL;
    const char *why = NULL;
    char text[200];
    pn_err err;

    if (!CHECK(pn_potential_for_set(&p, set, &why, &err) == PN_OK)) {
        (void)fprintf(stderr, "    %s: %s\n", set->ops->name, err.message);
        return;
    }
    pn_potential_describe(p, text, sizeof text);
    CHECK(strcmp(p->ops->name, name) == 0 && why && *why && strncmp(text, name, strlen(name)) == 0);
    if (!p->lift.data) {
        /* beside a shift, what is below 1e-16 of it is lost: weights of e^-1000, high powers of small numbers */
        check_steps_between(p, set, is_shifted(set) ? 1.0 : 0.0, is_shifted(set) ? 10.0 : INFINITY);
        check_range(p, set);
    }
    pn_potential_free(p);
}

/* Spec section 4. */
static void test_interpolation_step(void)
{
    const double want[6] = { 0.68505031, -0.09053883, 0.01760437, 0.34044482, 0, 0.09053883 };
    double c[6] = { 3, -1, 0.5, 2, 0, 1 }, x[6], range = NAN;
    pn_set *ball = new_set("interpolation_ball", (pn_arg[4]){ COUNT(6), REAL(0.5), NONE, NONE });
    pn_potential *p = new_potential("interpolation", (pn_arg[4]){ COUNT(6), REAL(0.5), NONE, NONE });
    double B = 1.0 / (0.5 + 0.5 / sqrt(6.0)), ln = log(6.0);
    pn_err err;

    CHECK(pn_potential_step(p, ball, c, x, &err) == PN_OK);
    for (int j = 0; j < 6; j++)
        CHECK_CLOSE(x[j], want[j], 5e-9);
    CHECK(pn_potential_range(p, ball, &range, &err) == PN_OK);
    CHECK_CLOSE(range, 0.5 * B * B * exp(1.0) * ln / (1.0 + 1.0 / ln) + 0.25, 1e-12);
    pn_set_free(ball);
    pn_potential_free(p);
}

static void test_interpolation(void)
{
    const double alphas[] = { 0.01, 0.5, 0.99 };
    const size_t dims[] = { 1, 2, 3, 40 };
    double x[64];

    for (size_t i = 0; i < 12; i++) {
        size_t n = dims[i % 4];
        double alpha = alphas[i / 4];
        pn_set *ball = new_set("interpolation_ball", (pn_arg[4]){ COUNT(n), REAL(alpha), REAL(1.5), NONE });
        pn_potential *p = new_potential("interpolation", (pn_arg[4]){ COUNT(n), REAL(alpha), REAL(2.0), NONE });

        check_steps(p, ball);
        check_range(p, ball);
        fill(x, n, 1.0, 7);
        check_gradient(p, x, n);
        pn_set_free(ball);
        pn_potential_free(p);
    }
}

/* A long vector goes by a sample and a polish: the optimality conditions of the spec hold all the same. */
static void test_long_vectors(void)
{
    enum { N = 50000 };
    const struct {
        const char *set, *potential;
    } cases[] = {
        { "interpolation_ball", "interpolation" }, { "l1_ball", "group" }, { "l1_ball", "lp" }, { "simplex", "lp" }
    };
    double *c = malloc(2 * N * sizeof *c), *x = c + N;
    pn_err err;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool mixed = i == 0;
        pn_set *set = new_set(cases[i].set, mixed ? (pn_arg[4]){ COUNT(N), REAL(0.5), REAL(3.0), NONE }
                                                  : (pn_arg[4]){ COUNT(N), REAL(3.0), NONE, NONE });
        pn_potential *p =
            new_potential(cases[i].potential, i >= 2  ? (pn_arg[4]){ REAL(1.2), NONE, NONE, NONE }
                                              : mixed ? (pn_arg[4]){ COUNT(N), REAL(0.5), REAL(3.0), NONE }
                                                      : (pn_arg[4]){ COUNT(N), NONE, REAL(3.0), NONE });

        for (unsigned seed = 1; seed <= 6; seed++) {
            double most = NAN, here = 0.0, scale = seed <= 3 ? 30.0 : 3000.0;
            bool inside = false;

            fill(c, N, scale, seed);
            for (size_t j = 0; seed % 2 && j < N; j += 61) /* where the sample looks there is nothing */
                c[j] = 0.0;
            CHECK(pn_potential_step(p, set, c, x, &err) == PN_OK);
            CHECK(pn_set_contains(set, x, N, 1e-9, &inside, &err) == PN_OK && inside);
            CHECK(pn_potential_gradient(p, x, N, x, &err) == PN_OK);
            for (size_t j = 0; j < N; j++)
                x[j] = c[j] - x[j];
            CHECK(pn_set_support(set, x, N, &most, NULL, &err) == PN_OK);
            CHECK(pn_potential_step(p, set, c, c, &err) == PN_OK);
            for (size_t j = 0; j < N; j++)
                here += x[j] * c[j];
            CHECK(most - here <= 1e-7 * scale);
        }
        pn_set_free(set);
        pn_potential_free(p);
    }
    free(c);
}

/* Spec section 4: diag(6, 4), m = 2: interior. */
static void test_nuclear_step(void)
{
    double c[4] = { 6, 0, 0, 4 }, x[4], range = NAN, start[4] = { 0 }, g[4] = { -6, 0, 0, -4 };
    pn_set *ball = new_set("nuclear_ball", (pn_arg[5]){ COUNT(2), COUNT(2), NONE, NONE, NONE });
    pn_potential *p = new_potential("schatten", (pn_arg[4]){ COUNT(2), COUNT(2), NONE, NONE });
    pn_err err;

    CHECK(pn_potential_step(p, ball, c, x, &err) == PN_OK);
    CHECK_CLOSE(x[0], 0.62214527, 5e-9);
    CHECK_CLOSE(x[3], 0.20214508, 5e-9);
    CHECK_CLOSE(x[1], 0.0, 1e-15);
    CHECK(pn_mirror_step(p, ball, start, g, 1.0, 4, start, &err) == PN_OK); /* grad Psi(0) = 0 */
    CHECK_CLOSE(start[0], x[0], 1e-15);
    CHECK(pn_potential_range(p, ball, &range, &err) == PN_OK);
    CHECK_CLOSE(range, 7.120148779 / 1.3606737602, 5e-9);
    pn_set_free(ball);
    pn_potential_free(p);
}

static void test_schatten(void)
{
    const size_t shapes[][2] = { { 1, 1 }, { 3, 5 }, { 6, 4 } };
    double x[64];

    for (size_t i = 0; i < 3; i++) {
        size_t rows = shapes[i][0], cols = shapes[i][1];
        pn_set *ball = new_set("nuclear_ball", (pn_arg[5]){ COUNT(rows), COUNT(cols), REAL(2.0), NONE, NONE });
        pn_potential *p = new_potential("schatten", (pn_arg[4]){ COUNT(rows), COUNT(cols), REAL(2.0), NONE });

        check_steps(p, ball);
        check_range(p, ball);
        fill(x, rows * cols, 1.0, 7);
        check_gradient(p, x, rows * cols);
        pn_set_free(ball);
        pn_potential_free(p);
    }
}

static void test_quadratic(void)
{
    double A[9] = { 4, 1, 0, 1, 3, -1, 0, -1, 2 }, skew[4] = { 1, 0, 1, 1 }, flat[4] = { 1, 1, 1, 1 },
           x[3] = { 1, -2, 3 };
    double u[3] = { 2, -8, 8 }, got[3], value = NAN;
    pn_potential *p = new_potential("quadratic", (pn_arg[1]){ { .given = true, .matrix = { A, 3, 3 } } }), *none = NULL;
    pn_set *ball = new_set("l1_ball", (pn_arg[3]){ COUNT(3), REAL(2.0), NONE });
    pn_err err;

    CHECK(pn_potential_value(p, x, 3, &value, &err) == PN_OK);
    CHECK_CLOSE(value, 0.5 * (1.0 * 2.0 + 2.0 * 8.0 + 3.0 * 8.0), 1e-13);
    CHECK(pn_potential_gradient(p, x, 3, got, &err) == PN_OK);
    CHECK_CLOSE(got[0], 2.0, 1e-14);
    CHECK_CLOSE(got[1], -8.0, 1e-14);
    CHECK_CLOSE(got[2], 8.0, 1e-14);
    CHECK(pn_potential_inverse_gradient(p, u, 3, got, &err) == PN_OK);
    for (int j = 0; j < 3; j++)
        CHECK_CLOSE(got[j], x[j], 1e-13);
    /* eigenvalues 3, 3 +- sqrt 3 */
    CHECK_CLOSE(p->strong_convexity, 3.0 - sqrt(3.0), 1e-13);
    CHECK(p->strong_convexity <= 3.0 - sqrt(3.0));
    check_gradient(p, x, 3);
    check_steps(p, ball);
    check_range(p, ball);
    CHECK(pn_potential_new(&none, "quadratic", (pn_arg[1]){ { .given = true, .matrix = { skew, 2, 2 } } }, &err) ==
          PN_EINVAL);
    CHECK(pn_potential_new(&none, "quadratic", (pn_arg[1]){ { .given = true, .matrix = { flat, 2, 2 } } }, &err) ==
          PN_EINVAL);
    CHECK(pn_potential_new(&none, "quadratic", (pn_arg[1]){ { .given = true, .matrix = { A, 3, 2 } } }, &err) ==
          PN_EDIM);
    pn_set_free(ball);
    pn_potential_free(p);
}

/* Scaled and shifted sets get the potential scaled and shifted. */
static void check_for_moved(const char *set_name, pn_arg *args, const char *name)
{
    pn_set *set = new_set(set_name, args), *twice = NULL, *moved = NULL;
    double shift[64];
    pn_err err;

    fill(shift, set->dim, 2.0, 9);
    check_for_set(set, name);
    CHECK(pn_set_scale(&twice, set, 2.0, &err) == PN_OK);
    check_for_set(twice, name);
    CHECK(pn_set_shift(&moved, twice, shift, set->dim, &err) == PN_OK);
    check_for_set(moved, name);
    pn_set_free(set);
    pn_set_free(twice);
    pn_set_free(moved);
}

static void test_for_set(void)
{
    check_for_moved("simplex", (pn_arg[2]){ COUNT(9), REAL(0.5) }, "entropy");
    check_for_moved("l1_ball", (pn_arg[3]){ COUNT(9), REAL(3.0), NONE }, "group");
    check_for_moved("group_ball", (pn_arg[4]){ COUNT(9), COUNT(4), REAL(3.0), NONE }, "group");
    check_for_moved("interpolation_ball", (pn_arg[4]){ COUNT(9), REAL(0.3), REAL(3.0), NONE }, "interpolation");
    check_for_moved("nuclear_ball", (pn_arg[5]){ COUNT(3), COUNT(4), REAL(3.0), NONE, NONE }, "schatten");
    check_for_moved("spectrahedron", (pn_arg[3]){ COUNT(4), REAL(3.0), NONE }, "schatten");
    check_for_moved("unit_spectrahedron", (pn_arg[3]){ COUNT(4), REAL(3.0), NONE }, "schatten");
    check_for_moved("unit_simplex", (pn_arg[2]){ COUNT(9), REAL(0.5) }, "entropy");
    check_for_moved("l2_ball", (pn_arg[3]){ COUNT(9), REAL(3.0), NONE }, "euclidean");
    check_for_moved("polytope", (pn_arg[1]){ { .given = true, .matrix = { (double[6]){ 1, 0, 0, 1, -1, -1 }, 3, 2 } } },
                    "polytope");
}

/* ---- strong convexity: h' Hess h / ||h||^2 over random x and h is at least the constant (spec section 4) ---- */

static double least_modulus(const pn_potential *p, size_t n, double size, bool positive)
{
    double least = INFINITY;
    unsigned state = 11;
    pn_err err;

    for (int trial = 0; trial < 3000; trial++) {
        double x[64], h[64], up[64], down[64], norm = NAN, total = 0.0, bend = 0.0;
        const double step = 1e-5;

        for (size_t j = 0; j < n; j++) {
            x[j] = uniform(&state);
            x[j] = trial % 2 ? x[j] * x[j] * x[j] * x[j] * x[j] : x[j];
            x[j] = positive ? fabs(x[j]) + 1e-3 : x[j] + copysign(1e-3, x[j]);
            h[j] = trial % 3 ? uniform(&state) : x[j];
            if (trial == 0) { /* where q-norms bend least */
                x[j] = 1.0;
                h[j] = j % 2 ? -1.0 : 1.0;
            }
        }
        CHECK(pn_norm_value(p->norm, x, n, &norm, &err) == PN_OK);
        for (size_t j = 0; j < n; j++)
            x[j] *= size / norm;
        total = norm;
        CHECK(pn_norm_value(p->norm, h, n, &norm, &err) == PN_OK);
        for (size_t j = 0; j < n; j++) {
            double t = step * 1e-3 * size / total * h[j] / norm;

            up[j] = x[j] + t;
            down[j] = x[j] - t;
            h[j] = up[j] - down[j];
        }
        CHECK(pn_norm_value(p->norm, h, n, &norm, &err) == PN_OK);
        CHECK(pn_potential_gradient(p, up, n, up, &err) == PN_OK);
        CHECK(pn_potential_gradient(p, down, n, down, &err) == PN_OK);
        for (size_t j = 0; j < n; j++)
            bend += h[j] * (up[j] - down[j]);
        least = fmin(least, bend / (norm * norm));
    }
    return least;
}

static void test_strong_convexity(void)
{
    pn_potential *entropy = new_potential("entropy", (pn_arg[1]){ REAL(2.0) });
    pn_potential *lp = new_potential("lp", (pn_arg[2]){ REAL(1.4), NONE });
    pn_potential *fitted = new_potential("lp", (pn_arg[2]){ NONE, COUNT(9) });
    pn_potential *two = new_potential("group", (pn_arg[4]){ COUNT(2), NONE, REAL(1.5), NONE });
    pn_potential *group = new_potential("group", (pn_arg[4]){ COUNT(9), COUNT(2), REAL(1.5), NONE });
    pn_potential *mixed = new_potential("interpolation", (pn_arg[4]){ COUNT(9), REAL(0.4), REAL(1.5), NONE });
    pn_potential *nuclear = new_potential("schatten", (pn_arg[4]){ COUNT(3), COUNT(4), REAL(1.5), NONE });
    double at_two = least_modulus(two, 2, 1.5, false), at_lp = least_modulus(lp, 6, 1.0, false);
    double at_entropy = least_modulus(entropy, 6, 2.0, true), at_nuclear = least_modulus(nuclear, 12, 1.5, false);

    CHECK(at_entropy >= 0.999 && at_entropy < 1.001); /* attained at h = x */
    CHECK(at_lp >= 0.999 && at_lp < 1.001);           /* psi_q is exactly 1-strongly convex */
    CHECK(at_two >= 0.999 && at_two < 1.001);
    CHECK(at_nuclear >= 1.999);
    CHECK(least_modulus(fitted, 9, 1.0, false) >= 0.999);
    CHECK(least_modulus(group, 9, 1.5, false) >= 0.999);
    CHECK(least_modulus(mixed, 9, 1.5, false) >= 0.999);
    pn_potential_free(entropy);
    pn_potential_free(lp);
    pn_potential_free(fitted);
    pn_potential_free(two);
    pn_potential_free(group);
    pn_potential_free(mixed);
    pn_potential_free(nuclear);
}

/* ---- memory ---- */

typedef struct scenario {
    const char *set, *name;
    pn_arg set_args[5], args[4];
} scenario;

static pn_status use_potential(void *self, pn_err *err)
{
    scenario of = *(scenario *)self;
    pn_set *set = NULL, *moved = NULL;
    pn_potential *p = NULL, *fitting = NULL;
    double x[16], y[16], g[16], value = 0.0, shift[16];
    pn_status status = pn_set_new(&set, of.set, of.set_args, err);

    if (strcmp(of.name, "polytope") == 0)
        of.args[0].object = set;
    if (status == PN_OK)
        status = pn_potential_new(&p, of.name, of.args, err);
    if (status == PN_OK)
        status = pn_potential_start(p, set, x, err);
    if (status == PN_OK) {
        size_t n = p->lift.data ? p->dim : set->dim;

        fill(g, n, 1.0, 3);
        status = pn_mirror_step(p, set, x, g, 0.1, n, y, err);
        if (status == PN_OK)
            status = pn_mirror_step(p, set, y, g, 0.1, n, y, err);
        if (status == PN_OK)
            status = pn_potential_bregman(p, y, x, n, &value, err);
    }
    if (status == PN_OK)
        status = pn_potential_range(p, set, &value, err);
    fill(shift, 16, 1.0, 4);
    if (status == PN_OK)
        status = pn_set_shift(&moved, set, shift, set->dim, err);
    if (status == PN_OK)
        status = pn_potential_for_set(&fitting, moved, NULL, err);
    if (status == PN_OK)
        status = pn_potential_start(fitting, moved, x, err);
    pn_potential_free(p);
    pn_potential_free(fitting);
    pn_set_free(set);
    pn_set_free(moved);
    return status;
}

static void test_memory(void)
{
    static double vertices[6] = { 1, 0, 0, 1, -1, -1 }, A[4] = { 2, 1, 1, 2 }, center[3] = { 1, 2, 3 };
    scenario cases[] = {
        { "simplex", "entropy", { COUNT(5) }, { NONE } },
        { "l1_ball", "lp", { COUNT(5) }, { REAL(1.5) } },
        { "group_ball", "group", { COUNT(5), COUNT(2) }, { COUNT(5), COUNT(2) } },
        { "interpolation_ball", "interpolation", { COUNT(5), REAL(0.5) }, { COUNT(5), REAL(0.5) } },
        { "nuclear_ball", "schatten", { COUNT(2), COUNT(3) }, { COUNT(2), COUNT(3) } },
        { "spectrahedron", "schatten", { COUNT(2) }, { COUNT(2), COUNT(2) } },
        { "l1_ball", "quadratic", { COUNT(2) }, { { .given = true, .matrix = { A, 2, 2 } } } },
        { "polytope", "polytope", { { .given = true, .matrix = { vertices, 3, 2 } } }, { { .given = true } } },
        { "l2_ball", "euclidean", { COUNT(3) }, { { .given = true, .vector = { center, 3 } } } },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fail_alloc_sweep(cases[i].name, use_potential, &cases[i]);
}

/* ---- refusals ---- */

static void test_refusals(void)
{
    double x[4] = { 0.25, 0.25, 0.0, 0.5 }, bad[4] = { 1, NAN, 0, 0 }, out[4], value = 0.0;
    pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(4), REAL(2.0) });
    pn_potential *entropy = new_potential("entropy", (pn_arg[1]){ NONE }), *none = NULL;
    pn_potential *group = new_potential("group", (pn_arg[4]){ COUNT(3), NONE, NONE, NONE });
    pn_err err;

    CHECK(pn_potential_gradient(entropy, x, 4, out, &err) == PN_EDOMAIN && strstr(err.message, "entry 3"));
    CHECK(pn_potential_value(entropy, bad, 4, &value, &err) == PN_EDOMAIN && strstr(err.message, "entry 2"));
    CHECK(pn_potential_value(group, x, 4, &value, &err) == PN_EDIM && strstr(err.message, "4") &&
          strstr(err.message, "3"));
    CHECK(pn_potential_step(group, simplex, x, out, &err) == PN_EDIM);
    /* the constant holds for sums up to 1 only */
    CHECK(pn_potential_range(entropy, simplex, &value, &err) == PN_EINVAL && strstr(err.message, "radius=2"));
    CHECK(pn_mirror_step(entropy, simplex, x, x, NAN, 4, out, &err) == PN_EINVAL);
    CHECK(pn_potential_new(&none, "lp", (pn_arg[2]){ NONE, NONE }, &err) == PN_EINVAL && !none);
    CHECK(pn_potential_new(&none, "lp", (pn_arg[2]){ REAL(2.5), NONE }, &err) == PN_EINVAL && !none);
    CHECK(pn_potential_new(&none, "lp", (pn_arg[2]){ REAL(1.0), NONE }, &err) == PN_EINVAL && !none);
    CHECK(pn_potential_new(&none, "entropi", NULL, &err) == PN_EUNSUPPORTED && strstr(err.message, "entropy"));
    CHECK(pn_potential_new(&none, "group", (pn_arg[4]){ COUNT(3), NONE, NONE, { .given = true, .vector = { x, 4 } } },
                           &err) == PN_EDIM);
    x[2] = -1e-3;
    CHECK(pn_potential_value(entropy, x, 4, &value, &err) == PN_OK && isinf(value));
    pn_set_free(simplex);
    pn_potential_free(entropy);
    pn_potential_free(group);
}

int main(void)
{
    test_entropy_step();
    test_euclidean();
    test_q_norm_steps();
    test_lp();
    test_group();
    test_blocks();
    test_polytope();
    test_numeric_steps();
    test_interpolation_step();
    test_interpolation();
    test_long_vectors();
    test_nuclear_step();
    test_schatten();
    test_quadratic();
    test_for_set();
    test_strong_convexity();
    test_memory();
    test_refusals();
    return check_summary();
}
