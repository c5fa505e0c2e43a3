/* potential_test.c -- potentials and mirror steps: the numbers of the specification, optimality of each step, strong convexity, inverse
 * gradients, ranges, and every allocation that fails.  Depends on: geometry/potential.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
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

static void check_steps_up_to(const pn_potential *p, const pn_set *set, double size)
{
    const double sizes[] = { 0.0, 1e-3, 0.3, 1.0, 10.0, 1e3 };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= size; i++) {
        for (unsigned seed = 1; seed <= 3; seed++)
            check_step(p, set, sizes[i], seed);
    }
}

static void check_steps(const pn_potential *p, const pn_set *set)
{
    check_steps_up_to(p, set, INFINITY);
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
        check_steps_up_to(p, set, 10.0); /* beside a shift, weights of e^-1000 are not to be told from 0 */
        check_range(p, set);
    }
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
    check_for_moved("l2_ball", (pn_arg[3]){ COUNT(9), REAL(3.0), NONE }, "euclidean");
    check_for_moved("polytope", (pn_arg[1]){ { .given = true, .matrix = { (double[6]){ 1, 0, 0, 1, -1, -1 }, 3, 2 } } },
                    "polytope");
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
    test_for_set();
    return check_summary();
}
