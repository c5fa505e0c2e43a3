/* potential_noise_test.c -- what noise costs in each geometry: with phi(c) = max_C <c, x> - Psi(x), the mean of
 * (phi(c + a b) - phi(c)) / (a^2/2) over b ~ N(0, I) is at most the trace K, and is K where the bound is attained.
 * Depends on: potential_checks.h. */
#include "geometry/algebra/set_algebra.h"
#include "runtime/geometry/potentials/potential_checks.h"

enum { MOST = 64 };

static double normal(unsigned *state)
{
    double u, v, square;

    do {
        u = uniform(state);
        v = uniform(state);
        square = u * u + v * v;
    } while (!(square > 0.0 && square < 1.0));
    return u * sqrt(-2.0 * log(square) / square);
}

/* phi(c), and in x the point of the set where it is reached, which is its gradient. */
static double conjugate(const pn_potential *p, const pn_set *set, const double *c, double *x)
{
    size_t n = set->dim, m = p->theta_dim ? p->dim : n;
    double u[MOST], w[MOST], room[2 * MOST], value = NAN, sum = 0.0;
    pn_err err;

    CHECK(m <= MOST && p->room <= 2 * MOST);
    pn_potential_pull(p, c, n, u, room);
    CHECK(pn_potential_step(p, set, u, w, &err) == PN_OK);
    CHECK(pn_potential_value(p, w, m, &value, &err) == PN_OK);
    for (size_t i = 0; i < m; i++)
        sum += u[i] * w[i];
    pn_potential_theta(p, w, n, x, room);
    return sum - value;
}

/* The mean over draws, and its standard error; <b, x> has mean 0 and is left out of them. */
static double rise(const pn_potential *p, const pn_set *set, const double *c, double a, double *error)
{
    size_t n = set->dim;
    double x[MOST], far[MOST], moved[MOST], at = conjugate(p, set, c, x), sum = 0.0, squares = 0.0;
    const long draws = check_draws(2000, 200);
    unsigned state = 7;

    for (long draw = 0; draw < draws; draw++) {
        double along = 0.0, value;

        for (size_t j = 0; j < n; j++) {
            double b = normal(&state);

            moved[j] = c[j] + a * b;
            along += a * b * x[j];
        }
        value = (conjugate(p, set, moved, far) - at - along) / (0.5 * a * a);
        sum += value;
        squares += value * value;
    }
    sum /= (double)draws;
    *error = sqrt(fmax(squares / (double)draws - sum * sum, 0.0) / (double)draws);
    return sum;
}

/* At 5 standard errors a mean that meets the bound exactly is above it in 3e-7 of all seeds. */
static void check_trace(const pn_potential *p, const pn_set *set, double expected)
{
    double c[MOST], trace = NAN, error = NAN, mean;
    pn_err err;

    CHECK(pn_potential_trace(p, set, &trace, &err) == PN_OK);
    CHECK_CLOSE(trace, expected, 1e-12 * expected);
    for (int i = 0; i < 6; i++) {
        const double sizes[] = { 0.0, 1.0, 20.0 };

        fill(c, set->dim, sizes[i % 3], (unsigned)i + 1);
        for (int k = -2; k <= 1; k++) {
            mean = rise(p, set, c, pow(10.0, k), &error);
            if (!CHECK(mean <= trace * (1.0 + 1e-6) + 5.0 * error))
                (void)fprintf(stderr, "    %s: %g +- %g above %g\n", p->ops->name, mean, error, trace);
        }
    }
}

/* Where the bound is attained, or nearly, the mean is at least `share` of it. */
static void check_attained(const pn_potential *p, const pn_set *set, const double *c, double a, double share)
{
    double trace = NAN, error = NAN, mean = rise(p, set, c, a, &error);
    pn_err err;

    CHECK(pn_potential_trace(p, set, &trace, &err) == PN_OK);
    if (!CHECK(mean >= share * trace - 5.0 * error))
        (void)fprintf(stderr, "    %s: %g +- %g of %g\n", p->ops->name, mean, error, trace);
}

static void finish(pn_potential *p, pn_set *set)
{
    pn_potential_free(p);
    pn_set_free(set);
}

static void test_euclidean(void)
{
    pn_set *ball = new_set("l2_ball", (pn_arg[3]){ COUNT(20), REAL(3.0), NONE });
    pn_set *wide = new_set("l2_ball", (pn_arg[3]){ COUNT(20), REAL(1000.0), NONE });
    pn_potential *p = new_potential("euclidean", (pn_arg[1]){ NONE });
    double zero[20] = { 0 };

    check_trace(p, ball, 20.0);
    check_attained(p, wide, zero, 1.0, 0.99);
    pn_set_free(wide);
    finish(p, ball);
}

static void test_entropies(void)
{
    static double eye[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    static double away[6] = { 5, 5, 6, 5, 5, 7 };
    pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(20), REAL(2.0) }), *moved = NULL;
    pn_set *corners = new_set("polytope", (pn_arg[1]){ { .given = true, .matrix = { eye, 4, 4 } } });
    pn_set *triangle = new_set("polytope", (pn_arg[1]){ { .given = true, .matrix = { away, 3, 2 } } });
    pn_potential *p = new_potential("entropy", (pn_arg[1]){ REAL(2.0) }), *q = NULL;
    pn_potential *lifted = new_potential("polytope", (pn_arg[1]){ { .given = true, .object = corners } });
    pn_potential *far = new_potential("polytope", (pn_arg[1]){ { .given = true, .object = triangle } });
    double zero[20] = { 0 }, shift[20];
    pn_err err;

    check_trace(p, simplex, 0.95);
    check_attained(p, simplex, zero, 0.01, 0.999);
    check_trace(lifted, corners, 0.75); /* about the mean of the vertices */
    check_attained(lifted, corners, zero, 0.01, 0.999);
    /* mean (16/3, 17/3): the vertex (5, 7) is 1/9 + 16/9 from it */
    check_trace(far, triangle, 17.0 / 9.0);
    fill(shift, 20, 3.0, 2);
    CHECK(pn_set_shift(&moved, simplex, shift, 20, &err) == PN_OK);
    CHECK(pn_potential_for_set(&q, moved, NULL, &err) == PN_OK);
    check_trace(q, moved, 0.95);
    pn_potential_free(lifted);
    pn_potential_free(far);
    pn_set_free(corners);
    pn_set_free(triangle);
    finish(q, moved);
    finish(p, simplex);
}

static void test_signed_entropy(void)
{
    pn_set *ball = new_set("l1_ball", (pn_arg[3]){ COUNT(20), REAL(2.0), NONE });
    pn_potential *p = new_potential("signed_entropy", (pn_arg[3]){ COUNT(20), REAL(2.0), NONE });
    double zero[20] = { 0 };

    check_trace(p, ball, 1.0);
    check_attained(p, ball, zero, 0.01, 0.999);
    finish(p, ball);
}

/* m = 6 blocks of 3, all as long: 1 + (k - 1)/ln m. */
static void test_group(void)
{
    pn_set *ball = new_set("group_ball", (pn_arg[4]){ COUNT(18), COUNT(3), REAL(2.0), NONE });
    pn_set *two = new_set("group_ball", (pn_arg[4]){ COUNT(8), COUNT(4), REAL(2.0), NONE });
    pn_potential *p = new_potential("group", (pn_arg[4]){ COUNT(18), COUNT(3), REAL(2.0), NONE });
    pn_potential *pair = new_potential("group", (pn_arg[4]){ COUNT(8), COUNT(4), REAL(2.0), NONE });
    double even[18];

    for (size_t j = 0; j < 18; j++)
        even[j] = j % 3 == 0 ? 3.5 : 0.0; /* lengths of just under a sixth of the radius: nothing is pushed out */
    check_trace(p, ball, 1.0 + 2.0 / log(6.0));
    check_attained(p, ball, even, 0.01, 0.98);
    check_trace(pair, two, 4.0);
    finish(pair, two);
    finish(p, ball);
}

static void test_interpolation(void)
{
    pn_set *ball = new_set("interpolation_ball", (pn_arg[4]){ COUNT(20), REAL(0.5), REAL(2.0), NONE });
    pn_set *flat = new_set("interpolation_ball", (pn_arg[4]){ COUNT(2), REAL(0.9), REAL(2.0), NONE });
    pn_potential *p = new_potential("interpolation", (pn_arg[4]){ COUNT(20), REAL(0.5), REAL(2.0), NONE });
    pn_potential *q = new_potential("interpolation", (pn_arg[4]){ COUNT(2), REAL(0.9), REAL(2.0), NONE });

    check_trace(p, ball, 2.0);
    check_trace(q, flat, 2.0 / 0.9);
    finish(p, ball);
    finish(q, flat);
}

/* m = 3 of 3 x 4: m^q ((m + 1)/(2q) + m - 1 + 1)/c; equal singular values attain all but half of the m - 1. */
static void test_schatten(void)
{
    double q = 0.5 / log(6.0), c = 4.0 * exp(0.5) * log(6.0) / exp2(q), power = pow(3.0, q), even[12] = { 0 };
    pn_set *ball = new_set("nuclear_ball", (pn_arg[5]){ COUNT(3), COUNT(4), REAL(2.0), NONE, NONE });
    pn_set *cone = new_set("spectrahedron", (pn_arg[3]){ COUNT(3), REAL(2.0), NONE });
    pn_potential *p = new_potential("schatten", (pn_arg[4]){ COUNT(3), COUNT(4), REAL(2.0), NONE });
    pn_potential *s = new_potential("schatten", (pn_arg[4]){ COUNT(3), COUNT(3), REAL(2.0), NONE });

    even[0] = even[5] = even[10] = 2.0 * c * pow(0.32, q); /* just under a third of the radius each */
    check_trace(p, ball, power * (2.0 / q + 3.0) / c);
    check_attained(p, ball, even, 0.01, 0.85);
    check_trace(s, cone, power * 2.0 / q / c);
    finish(p, ball);
    finish(s, cone);
}

/* What rows without a formula have: the norm's. */
static void test_by_norm(void)
{
    static double A[4] = { 3, 1, 1, 3 };
    pn_set *ball = new_set("l1_ball", (pn_arg[3]){ COUNT(2), REAL(2.0), NONE });
    pn_set *ten = new_set("l1_ball", (pn_arg[3]){ COUNT(10), REAL(1.0), NONE });
    pn_potential *p = new_potential("quadratic", (pn_arg[1]){ { .given = true, .matrix = { A, 2, 2 } } });
    pn_potential *lp = new_potential("lp", (pn_arg[2]){ NONE, COUNT(10) });
    double G = 1.880715694, trace = NAN; /* the l1 width in ten dimensions */
    pn_err err;

    check_trace(p, ball, 0.5 + 0.25);
    CHECK(pn_potential_trace(lp, ten, &trace, &err) == PN_OK);
    CHECK_CLOSE(trace, G * G + 1.0, 1e-8);
    check_trace(lp, ten, trace);
    finish(p, ball);
    finish(lp, ten);
}

/* Costs of parts add up: sqrt(D2 K) = sqrt(D2_C K_C) + sqrt(D2_D K_D), and D2 = K.  A point costs nothing. */
static void test_pairs(void)
{
    pn_set *simplex = new_set("simplex", (pn_arg[2]){ COUNT(12), REAL(2.0) });
    pn_set *l1 = new_set("l1_ball", (pn_arg[3]){ COUNT(12), REAL(1.5), NONE });
    pn_set *l2 = new_set("l2_ball", (pn_arg[3]){ COUNT(12), REAL(1.0), NONE });
    double at[12] = { 1, 2 }, of_simplex = 2.0 * sqrt(log(12.0) * 11.0 / 12.0), of_l2 = sqrt(6.0);
    pn_arg ends = { .given = true, .vector = { at, 12 } };
    pn_set *point = new_set("box", (pn_arg[2]){ ends, ends });
    pn_set *sets[4] = { NULL }, *three = NULL;
    double costs[4] = { of_simplex + of_l2, 1.5 * sqrt(log(24.0)) + of_l2, of_l2, 2.0 * (of_simplex + 2.0 * of_l2) };
    pn_err err;

    CHECK(pn_set_product(&sets[0], simplex, l2, &err) == PN_OK);
    CHECK(pn_set_sum(&sets[1], l1, l2, &err) == PN_OK);
    CHECK(pn_set_product(&sets[2], point, l2, &err) == PN_OK);
    CHECK(pn_set_product(&three, sets[0], l2, &err) == PN_OK);
    CHECK(pn_set_scale(&sets[3], three, 2.0, &err) == PN_OK);
    pn_set_free(three);
    for (int i = 0; i < 4; i++) {
        pn_potential *p = NULL;
        double range = NAN;

        CHECK(pn_potential_for_set(&p, sets[i], NULL, &err) == PN_OK);
        CHECK(pn_potential_range(p, sets[i], &range, &err) == PN_OK);
        CHECK_CLOSE(range, costs[i], 1e-10 * costs[i]);
        check_trace(p, sets[i], range);
        finish(p, sets[i]);
    }
    pn_set_free(simplex);
    pn_set_free(l1);
    pn_set_free(l2);
    pn_set_free(point);
}

enum { ROWS = 5, COLS = 8 };

/* Over M C, C given up; of another potential of C than the set's own where there is one. */
static void check_image(pn_set *set, pn_potential *own, pn_mat M, bool attained)
{
    pn_set *image = NULL;
    pn_potential *p = NULL;
    double trace = NAN, at[MOST] = { 0 };
    pn_err err;

    CHECK(pn_set_image(&image, set, M, &err) == PN_OK);
    CHECK(pn_potential_for_set(&p, image, NULL, &err) == PN_OK);
    CHECK(strcmp(p->ops->name, own ? "polytope" : "image") == 0);
    CHECK(pn_potential_trace(p, image, &trace, &err) == PN_OK);
    check_trace(p, image, trace);
    if (attained)
        check_attained(p, image, at, 0.01, 0.99);
    if (own) { /* that of the vertices' weights, to which the radius of 2 belongs */
        double through = NAN;

        CHECK(pn_potential_trace_through(own, set, M, &through, &err) == PN_OK);
        CHECK_CLOSE(4.0 * through, trace, 1e-12 * trace);
    }
    pn_potential_free(own);
    pn_set_free(set);
    finish(p, image);
}

/* Over A C noise is seen through A: phi(A' g). */
static void test_images(void)
{
    static double numbers[ROWS * COLS], more[COLS * COLS];
    pn_mat A = { numbers, ROWS, COLS }, B = { more, COLS, COLS };
    pn_set *l2 = new_set("l2_ball", (pn_arg[3]){ COUNT(COLS), REAL(2.0), NONE }), *set = NULL;
    pn_set *half = new_set("l2_ball", (pn_arg[3]){ COUNT(COLS / 2), REAL(1.0), NONE });
    pn_set *l1 = new_set("l1_ball", (pn_arg[3]){ COUNT(COLS), REAL(2.0), NONE });
    pn_err err;

    fill(numbers, ROWS * COLS, 1.0, 3);
    fill(more, COLS * COLS, 1.0, 4);
    check_image(pn_set_keep(l2), NULL, A, true);
    CHECK(pn_set_image(&set, l2, B, &err) == PN_OK);
    check_image(set, NULL, A, true);
    CHECK(pn_set_sum(&set, l1, l2, &err) == PN_OK);
    check_image(set, NULL, A, false);
    CHECK(pn_set_product(&set, half, half, &err) == PN_OK);
    check_image(set, NULL, A, false);
    check_image(new_set("group_ball", (pn_arg[4]){ COUNT(COLS), COUNT(2), REAL(2.0), NONE }), NULL, A, false);
    check_image(new_set("interpolation_ball", (pn_arg[4]){ COUNT(COLS), REAL(0.5), REAL(2.0), NONE }), NULL, A, false);
    check_image(pn_set_keep(l1), new_potential("signed_entropy", (pn_arg[3]){ COUNT(COLS), REAL(2.0), NONE }), A,
                false);
    check_image(new_set("simplex", (pn_arg[2]){ COUNT(COLS), REAL(2.0) }),
                new_potential("entropy", (pn_arg[1]){ REAL(2.0) }), A, false);
    pn_set_free(l2);
    pn_set_free(half);
    pn_set_free(l1);
}

int main(void)
{
    test_euclidean();
    test_entropies();
    test_signed_entropy();
    test_group();
    test_interpolation();
    test_schatten();
    test_by_norm();
    test_pairs();
    test_images();
    return check_summary();
}
