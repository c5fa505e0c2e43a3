/* potential_test.c -- each potential and its mirror step: the numbers of the specification, optimality, ranges,
 * inverse gradients.
 * Depends on: potential_checks.h. */
#include <stdlib.h>

#include "runtime/geometry/potentials/potential_checks.h"

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
    CHECK(pn_potential_vertices(p).rows == N && pn_potential_vertices(p).cols == N);
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

/* Over the l1 ball: the weights on its 2 N vertices, which the step shows as their mean; Psi is RADIUS^2 times their
 * entropy, so that c is divided by that. */
static void test_signed_entropy(void)
{
    enum { N = 7 };
    const double radius = 2.5, sizes[] = { 0.0, 0.1, 3.0, 60.0 };
    double vertices[2 * N * N] = { 0.0 }, c[N], pulled[2 * N], weights[2 * N], x[N], value = NAN;
    pn_set *ball = new_set("l1_ball", (pn_arg[3]){ COUNT(N), REAL(2.5), NONE }), *hull;
    pn_potential *p = new_potential("signed_entropy", (pn_arg[3]){ COUNT(N), REAL(2.5), NONE }), *lifted;
    pn_err err;

    for (size_t j = 0; j < N; j++) {
        vertices[2 * j * N + j] = radius;
        vertices[(2 * j + 1) * N + j] = -radius;
    }
    hull = new_set("polytope", (pn_arg[1]){ { .given = true, .matrix = { vertices, 2 * N, N } } });
    lifted = new_potential("polytope", (pn_arg[1]){ { .given = true, .object = hull } });
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fill(c, N, sizes[i], 4);
        for (size_t j = 0; j < N; j++) {
            pulled[2 * j] = c[j] / radius;
            pulled[2 * j + 1] = -c[j] / radius;
        }
        CHECK(pn_potential_step(p, ball, c, x, &err) == PN_OK);
        CHECK(pn_potential_step(lifted, hull, pulled, weights, &err) == PN_OK);
        for (size_t j = 0; j < N; j++)
            CHECK_CLOSE(x[j], radius * (weights[2 * j] - weights[2 * j + 1]), 1e-12);
        if (sizes[i] < 10.0) { /* inside the ball Psi is radius^2 times the least entropy of weights with that mean */
            check_gradient(p, x, N);
            CHECK(pn_potential_value(p, x, N, &value, &err) == PN_OK);
            for (size_t j = 0; j < 2 * N; j++)
                value -= radius * radius * weights[j] * log(weights[j]);
            CHECK_CLOSE(value, 0.0, 1e-12);
        }
    }
    for (size_t j = 0; j < N; j++)
        c[j] = j == 2 ? -1e4 : j == 3 ? 1e4 - 1.0 : 1.0;
    CHECK(pn_potential_step(p, ball, c, x, &err) == PN_OK);
    CHECK_CLOSE(x[2] + x[3] * exp(1.0 / radius), 0.0, 1e-12);
    CHECK(pn_potential_gradient(p, x, N, c, &err) == PN_OK); /* just inside */
    memset(x, 0, sizeof x);
    x[0] = -radius;
    CHECK(pn_potential_value(p, x, N, &value, &err) == PN_OK && fabs(value) < 1e-12);
    CHECK(pn_potential_gradient(p, x, N, c, &err) == PN_EDOMAIN);
    x[0] = -1.001 * radius;
    CHECK(pn_potential_value(p, x, N, &value, &err) == PN_OK && isinf(value));
    pn_potential_free(p);
    pn_potential_free(lifted);
    pn_set_free(ball);
    pn_set_free(hull);
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

/* Spec section 4. */
static void test_interpolation_step(void)
{
    const double want[6] = { 0.68505031, -0.09053883, 0.01760437, 0.34044482, 0, 0.09053883 };
    const double corner[6] = { 0, 1, 0, 0, 0, 0 };
    double c[6] = { 3, -1, 0.5, 2, 0, 1 }, x[6], range = NAN, value = NAN;
    pn_set *ball = new_set("interpolation_ball", (pn_arg[4]){ COUNT(6), REAL(0.5), NONE, NONE });
    pn_potential *p = new_potential("interpolation", (pn_arg[4]){ COUNT(6), REAL(0.5), NONE, NONE });
    double B = 1.0 / (0.5 + 0.5 / sqrt(6.0)), ln = log(6.0);
    pn_err err;

    CHECK(pn_potential_step(p, ball, c, x, &err) == PN_OK);
    for (int j = 0; j < 6; j++)
        CHECK_CLOSE(x[j], want[j], 5e-9);
    CHECK(pn_potential_range(p, ball, &range, &err) == PN_OK);
    CHECK_CLOSE(range, 0.5 * pow(B, 1.0 - 1.0 / ln) * exp(1.0) * ln / (1.0 + 1.0 / ln) + 0.25, 1e-12);
    CHECK(pn_potential_value(p, corner, 6, &value, &err) == PN_OK && value <= range && value > range * (1.0 - 1e-12));
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
        { "interpolation_ball", "interpolation" },
        { "l1_ball", "group" },
        { "simplex", "group" },
        { "unit_simplex", "group" },
        { "l1_ball", "lp" },
        { "simplex", "lp" },
    };
    const double scales[] = { 30.0, 3000.0, 1e-3 };
    double *c = malloc(2 * N * sizeof *c), *x = c + N;
    pn_err err;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool mixed = i == 0;
        pn_set *set = new_set(cases[i].set, mixed ? (pn_arg[4]){ COUNT(N), REAL(0.5), REAL(3.0), NONE }
                                                  : (pn_arg[4]){ COUNT(N), REAL(3.0), NONE, NONE });
        pn_potential *p =
            new_potential(cases[i].potential, i >= 4  ? (pn_arg[4]){ REAL(1.2), NONE, NONE, NONE }
                                              : mixed ? (pn_arg[4]){ COUNT(N), REAL(0.5), REAL(3.0), NONE }
                                                      : (pn_arg[4]){ COUNT(N), NONE, REAL(3.0), NONE });

        for (unsigned seed = 1; seed <= 9; seed++) {
            double most = NAN, here = 0.0, scale = scales[(seed - 1) / 3];
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
            CHECK(most - here <= 1e-9 * fmax(scale, 1.0));
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
    CHECK(pn_potential_from_args(&none, "quadratic", (pn_arg[1]){ { .given = true, .matrix = { skew, 2, 2 } } },
                                 &err) == PN_EINVAL);
    CHECK(pn_potential_from_args(&none, "quadratic", (pn_arg[1]){ { .given = true, .matrix = { flat, 2, 2 } } },
                                 &err) == PN_EINVAL);
    CHECK(pn_potential_from_args(&none, "quadratic", (pn_arg[1]){ { .given = true, .matrix = { A, 3, 2 } } }, &err) ==
          PN_EDIM);
    pn_set_free(ball);
    pn_potential_free(p);
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
    test_signed_entropy();
    test_numeric_steps();
    test_interpolation_step();
    test_interpolation();
    test_long_vectors();
    test_nuclear_step();
    test_schatten();
    test_quadratic();
    return check_summary();
}
