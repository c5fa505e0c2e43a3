/* intersection_step_test.c -- steps over intersections: exact ones by one root, the dual where there is no formula, and
 * what a limit asks of it.
 * Depends on: potential_checks.h, geometry/potentials/intersection_step.h, core/stop.h. */
#include "core/stop.h"
#include "geometry/algebra/set_algebra.h"
#include "geometry/potentials/intersection_step.h"
#include "runtime/geometry/potentials/potential_checks.h"

enum { P = 1000, SMALL = 30 };

static pn_set *meet(pn_set *a, pn_set *b)
{
    pn_set *both = NULL;
    pn_err err;

    if (!CHECK(pn_set_intersect(&both, a, b, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_set_free(a);
    pn_set_free(b);
    return both;
}

static pn_set *l1(size_t n, double radius)
{
    return new_set("l1_ball", (pn_arg[3]){ COUNT(n), REAL(radius), NONE });
}

static pn_set *cube(size_t n, double radius)
{
    return new_set("linf_ball", (pn_arg[3]){ COUNT(n), REAL(radius), NONE });
}

static pn_potential *signed_entropy(size_t n)
{
    return new_potential("signed_entropy", (pn_arg[3]){ COUNT(n), REAL(1.0), NONE });
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* max <c - grad Psi(x), v - x> over {||v||_1 <= 1, |v_j| <= box}, or over v >= 0 of sum 1: the largest entries fill
 * up. */
static double optimality(const pn_potential *p, const double *c, const double *x, double box, bool simplex)
{
    static double slope[P], sorted[P];
    double here = 0.0, most = 0.0, left = 1.0;
    pn_err err;

    CHECK(pn_potential_gradient(p, x, P, slope, &err) == PN_OK);
    for (size_t j = 0; j < P; j++) {
        slope[j] = c[j] - slope[j];
        here += slope[j] * x[j];
        sorted[j] = simplex ? slope[j] : fabs(slope[j]);
    }
    qsort(sorted, P, sizeof *sorted, descending);
    for (size_t j = 0; j < P && left > 0.0; j++) {
        double filled = fmin(box, left);

        most += filled * sorted[j];
        left -= filled;
    }
    return most - here;
}

static double distance(const double *x, const double *y, size_t n)
{
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        sum += fabs(x[j] - y[j]);
    return sum;
}

/* Psi(x) - <c, x> */
static double height(const pn_potential *p, const double *c, const double *x, size_t n)
{
    double value = NAN;
    pn_err err;

    CHECK(pn_potential_value(p, x, n, &value, &err) == PN_OK);
    for (size_t j = 0; j < n; j++)
        value -= c[j] * x[j];
    return value;
}

/* Where a dual step stops it is at most `gap` above the minimum, at x. */
static void check_gap(const pn_potential *p, const pn_set *set, const double *c, const double *x, double gap)
{
    static double y[P];
    pn_step_limit limit = { .gap = gap };
    pn_err err;

    CHECK(pn_dual_step(p, set, c, y, &limit, &err) == PN_OK);
    if (!CHECK(height(p, c, y, set->dim) - height(p, c, x, set->dim) <= fmax(gap, limit.reached) + 1e-12))
        (void)fprintf(stderr, "    %s: %g above\n", p->ops->name,
                      height(p, c, y, set->dim) - height(p, c, x, set->dim));
}

/* The step by the row, by the dual, and how far these may be apart: ||x - y||_1 <= sqrt(2 gap).  At the border of the
 * l1 ball no gradient is left to judge by. */
static void check_boxed(const pn_potential *p, const pn_set *set, double box, bool simplex)
{
    static double c[P], x[P], y[P];
    const double sizes[] = { 0.0, 1.0, 5.0, 30.0 };

    for (int i = 0; i < 4; i++) {
        pn_step_limit limit = { .gap = 1e-10 };
        bool inside = false;
        double gap;
        pn_err err;

        fill(c, P, sizes[i], (unsigned)i + 3);
        CHECK(p->ops->step(p, set, c, x, &err) == PN_OK);
        CHECK(pn_set_contains(set, x, P, 1e-13, &inside, &err) == PN_OK && inside);
        gap = simplex || sizes[i] < 10.0 ? optimality(p, c, x, box, simplex) : 0.0;
        if (!CHECK(gap <= 1e-9))
            (void)fprintf(stderr, "    %s at %g: %g\n", p->ops->name, sizes[i], gap);
        for (int digits = 1; digits <= 5; digits += 2)
            check_gap(p, set, c, x, pow(10.0, -digits));
        CHECK(pn_dual_step(p, set, c, y, &limit, &err) == PN_OK);
        CHECK(limit.rounds <= PN_STEP_ROUNDS && (limit.reached == 0.0 || sizes[i] > 1.0));
        if (!CHECK(distance(x, y, P) <= sqrt(2.0 * fmax(limit.gap, limit.reached)) + 1e-9))
            (void)fprintf(stderr, "    %s at %g: %g apart\n", p->ops->name, sizes[i], distance(x, y, P));
    }
}

static void test_boxes(void)
{
    pn_set *ball = meet(l1(P, 1.0), cube(P, 0.05));
    pn_set *simplex = meet(cube(P, 0.004), new_set("simplex", (pn_arg[2]){ COUNT(P), REAL(1.0) }));
    pn_potential *p = signed_entropy(P), *q = new_potential("entropy", (pn_arg[1]){ REAL(1.0) });

    check_boxed(p, ball, 0.05, false);
    check_boxed(q, simplex, 0.004, true);
    pn_potential_free(p);
    pn_potential_free(q);
    pn_set_free(ball);
    pn_set_free(simplex);
}

/* A box that does not hold the origin, and one that fixes entries: x_0 = 0.1, x_1 >= 0.2, x_2 <= -0.1, others free. */
static void test_crooked_box(void)
{
    double low[6] = { 0.1, 0.2, -1, -1, -1, -1 }, high[6] = { 0.1, 1, -0.1, 1, 1, 0 }, c[6], x[6], y[6];
    pn_set *box = new_set(
        "box", (pn_arg[2]){ { .given = true, .vector = { low, 6 } }, { .given = true, .vector = { high, 6 } } });
    pn_set *set = meet(l1(6, 1.0), pn_set_keep(box));
    pn_potential *p = signed_entropy(6);

    for (unsigned seed = 1; seed <= 20; seed++) {
        pn_step_limit limit = { .gap = 1e-13 };
        bool inside = false;
        pn_err err;

        fill(c, 6, seed % 2 ? 2.0 : 20.0, seed);
        CHECK(pn_potential_step(p, set, c, x, &err) == PN_OK);
        CHECK(pn_set_contains(set, x, 6, 1e-12, &inside, &err) == PN_OK && inside);
        CHECK(pn_dual_step(p, set, c, y, &limit, &err) == PN_OK && limit.reached == 0.0);
        if (!CHECK(distance(x, y, 6) <= 2e-6))
            (void)fprintf(stderr, "    seed %u: %g apart\n", seed, distance(x, y, 6));
        CHECK(pn_potential_step(p, box, c, y, &err) == PN_OK); /* the domain is the ball all the same */
        CHECK(distance(x, y, 6) <= 1e-13);
    }
    pn_potential_free(p);
    pn_set_free(set);
    pn_set_free(box);
}

/* Weights of which no number is left, and boxes that leave one point. */
static void test_extremes(void)
{
    pn_set *simplex = meet(new_set("simplex", (pn_arg[2]){ COUNT(4), REAL(1.0) }), cube(4, 0.3));
    pn_set *one = meet(new_set("simplex", (pn_arg[2]){ COUNT(4), REAL(1.0) }), cube(4, 0.25));
    pn_set *ball = meet(l1(4, 1.0), cube(4, 0.3));
    pn_potential *p = new_potential("entropy", (pn_arg[1]){ REAL(1.0) }), *q = signed_entropy(4);
    double c[4] = { 1e4, 0, -1e4, -3e4 }, x[4];
    pn_err err;

    CHECK(pn_potential_step(p, simplex, c, x, &err) == PN_OK);
    CHECK_CLOSE(x[0], 0.3, 1e-15);
    CHECK_CLOSE(x[1], 0.3, 1e-15);
    CHECK_CLOSE(x[2], 0.3, 1e-15);
    CHECK_CLOSE(x[3], 0.1, 1e-12);
    CHECK(pn_potential_step(p, one, c, x, &err) == PN_OK);
    for (int j = 0; j < 4; j++)
        CHECK_CLOSE(x[j], 0.25, 1e-12);
    CHECK(pn_potential_step(q, ball, c, x, &err) == PN_OK);
    CHECK_CLOSE(x[0], 0.3, 1e-12);
    CHECK_CLOSE(x[1], 0.0, 1e-12);
    CHECK_CLOSE(x[2], -0.3, 1e-12);
    CHECK_CLOSE(x[3], -0.3, 1e-12);
    pn_potential_free(p);
    pn_potential_free(q);
    pn_set_free(simplex);
    pn_set_free(one);
    pn_set_free(ball);
}

/* check_step asks the support of the intersection, which is right to 1e-9 of its size. */
static void test_slabs(void)
{
    double normal[SMALL];
    pn_potential *p = new_potential("entropy", (pn_arg[1]){ REAL(1.0) }), *q = signed_entropy(SMALL);

    fill(normal, SMALL, 1.0, 4);
    for (int i = 0; i < 2; i++) {
        const char *names[] = { "halfspace", "hyperplane" };
        pn_arg args[2] = { { .given = true, .vector = { normal, SMALL } }, REAL(-0.4) };
        pn_set *a = meet(new_set("simplex", (pn_arg[2]){ COUNT(SMALL), REAL(1.0) }), new_set(names[i], args));
        pn_set *b = meet(new_set(names[i], args), l1(SMALL, 1.0)), *twice = NULL;
        pn_err err;

        check_steps_between(p, a, 0.0, 10.0);
        check_steps_between(q, b, 0.0, 1.0);
        CHECK(pn_set_scale(&twice, b, 0.5, &err) == PN_OK); /* of which the parts are scaled, -0.2 is the height */
        check_steps_between(q, twice, 0.0, 1.0);
        pn_set_free(twice);
        pn_set_free(a);
        pn_set_free(b);
    }
    pn_potential_free(p);
    pn_potential_free(q);
}

/* l1 n l2 n a slab: no formula, two dual variables, and a common point at the border. */
static void test_dual(void)
{
    double normal[SMALL], c[SMALL], x[SMALL], y[SMALL], warm[SMALL] = { 0 };
    pn_arg args[2] = { { .given = true, .vector = { normal, SMALL } }, REAL(-0.1) };
    pn_set *set = meet(meet(l1(SMALL, 1.0), new_set("l2_ball", (pn_arg[3]){ COUNT(SMALL), REAL(0.4), NONE })),
                       new_set("halfspace", (fill(normal, SMALL, 1.0, 8), args)));
    pn_potential *p = signed_entropy(SMALL);
    pn_err err;

    for (unsigned seed = 1; seed <= 5; seed++) {
        fill(c, SMALL, 4.0, seed);
        CHECK(pn_potential_step(p, set, c, x, &err) == PN_OK);
        for (int digits = 4; digits <= 8; digits += 2) {
            pn_step_limit limit = { .gap = pow(10.0, -digits) };
            bool inside = false;

            CHECK(pn_potential_step_within(p, set, c, y, &limit, &err) == PN_OK && limit.reached == 0.0);
            CHECK(pn_set_contains(set, y, SMALL, 1e-9, &inside, &err) == PN_OK && inside);
            CHECK(distance(x, y, SMALL) <= sqrt(2.0 * limit.gap) + 1e-6);
        }
    }
    for (int i = 0; i < 3; i++) { /* the third step begins where the second, at the same c, has ended */
        pn_step_limit limit = { .gap = 1e-6, .warm = warm };

        CHECK(pn_potential_step_within(p, set, c, y, &limit, &err) == PN_OK);
        CHECK(i == 0 || limit.rounds <= 2 * PN_STEP_ROUNDS / 10);
    }
    pn_potential_free(p);
    pn_set_free(set);
}

enum { FEW = 12 };

/* The weights on the vertices of a polytope whose mean is in another set: of the vertices +-e_j of the l1 ball Psi of
 * the weights at their least is the signed entropy, which has exact steps over a box.  For each gap the step is as near
 * as that in Psi, hence the points as sqrt(2 gap) in l1. */
static void check_lifted(pn_set *other, double factor, const double *shift)
{
    static double vertices[2 * FEW * FEW];
    pn_set *corners, *plain, *set = NULL, *own = NULL, *exact;
    pn_potential *p, *q = signed_entropy(FEW);
    double c[FEW], u[2 * FEW], a[2 * FEW], x[FEW], y[FEW], back[FEW], least, value = NAN, along;
    pn_err err;

    for (size_t i = 0; i < 2 * FEW; i++)
        vertices[i * FEW + i % FEW] = i < FEW ? 1.0 : -1.0;
    corners = new_set("polytope", (pn_arg[1]){ { .given = true, .matrix = { vertices, 2 * FEW, FEW } } });
    CHECK(pn_set_moved(&own, corners, factor, shift, &err) == PN_OK);
    p = new_potential("polytope", (pn_arg[1]){ { .given = true, .object = own } });
    exact = meet(l1(FEW, 1.0), pn_set_keep(other));
    plain = meet(other, corners);
    CHECK(pn_set_moved(&set, plain, factor, shift, &err) == PN_OK);
    for (unsigned seed = 1; seed <= 12; seed++) {
        pn_step_limit limit = { .gap = pow(10.0, -(double)(seed % 4) - 4.0) };
        bool inside = false;

        fill(c, FEW, seed <= 6 ? 2.0 : 10.0, seed);
        CHECK(pn_potential_step(q, exact, c, x, &err) == PN_OK);
        least = height(q, c, x, FEW);
        for (size_t j = 0; j < FEW; j++)
            back[j] = c[j] / factor;
        pn_potential_pull(p, back, FEW, u, NULL);
        CHECK(pn_potential_step_within(p, set, u, a, &limit, &err) == PN_OK && limit.reached == 0.0);
        pn_potential_theta(p, a, FEW, y, NULL);
        CHECK(pn_set_contains(set, y, FEW, 1e-11, &inside, &err) == PN_OK && inside);
        CHECK(pn_potential_value(p, a, 2 * FEW, &value, &err) == PN_OK);
        along = 0.0;
        for (size_t j = 0; j < FEW; j++) {
            y[j] = (y[j] - (shift ? shift[j] : 0.0)) / factor;
            along += c[j] * y[j];
        }
        if (!CHECK(value - along - least <= limit.gap + 1e-11 && value - along - least >= -1e-9))
            (void)fprintf(stderr, "    seed %u: %g above\n", seed, value - along - least);
        CHECK(distance(x, y, FEW) <= sqrt(2.0 * limit.gap) + 1e-6);
    }
    pn_potential_free(p);
    pn_potential_free(q);
    pn_set_free(exact);
    pn_set_free(plain);
    pn_set_free(own);
    pn_set_free(set);
}

static void test_lifted(void)
{
    double shift[FEW];

    fill(shift, FEW, 1.0, 5);
    check_lifted(cube(FEW, 0.2), 1.0, NULL);
    check_lifted(cube(FEW, 0.2), -2.0, shift);
    check_lifted(new_set("l2_ball", (pn_arg[3]){ COUNT(FEW), REAL(0.5), NONE }), 1.0, NULL);
}

/* Steps are stopped, end after PN_STEP_ROUNDS rounds, and say so. */
static void test_limits(void)
{
    double c[SMALL], y[SMALL];
    pn_set *set = meet(l1(SMALL, 1.0), new_set("l2_ball", (pn_arg[3]){ COUNT(SMALL), REAL(0.25), NONE }));
    pn_potential *p = signed_entropy(SMALL);
    pn_step_limit limit = { .gap = 0.0 };
    const pn_task *before;
    pn_task *task = NULL;
    bool inside = false;
    pn_err err;

    fill(c, SMALL, 1e3, 5); /* gaps are 1e-14 of 1e3 at best */
    CHECK(pn_dual_step(p, set, c, y, &limit, &err) == PN_OK);
    CHECK(limit.rounds <= PN_STEP_ROUNDS && (limit.rounds == PN_STEP_ROUNDS) == (limit.reached > 0.0));
    CHECK(limit.reached > 0.0 && limit.reached < 10.0);
    CHECK(pn_set_contains(set, y, SMALL, 1e-9, &inside, &err) == PN_OK && inside);
    CHECK(pn_task_new(&task, 1, &err) == PN_OK);
    before = pn_stop_enter(task);
    pn_task_cancel(task);
    CHECK(pn_dual_step(p, set, c, y, &limit, &err) == PN_ECANCELLED);
    (void)pn_stop_enter(before);
    pn_task_free(task);
    pn_potential_free(p);
    pn_set_free(set);
}

int main(void)
{
    test_boxes();
    test_crooked_box();
    test_extremes();
    test_slabs();
    test_dual();
    test_lifted();
    test_limits();
    return check_summary();
}
