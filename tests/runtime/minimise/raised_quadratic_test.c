/* raised_quadratic_test.c -- the quadratic of a Newton step: its least point, its damping, what it predicts.
 * Depends on: check.h, minimise/raised_quadratic.h. */
#include <math.h>

#include "check.h"
#include "geometry/sets/sets.h"
#include "minimise/raised_quadratic.h"

/* A = (2 1; 1 3), g = (1, -2): w - A^-1 g = w + (-1, 1). */
static void solves_a_quadratic(void)
{
    const double packed[] = { 2.0, 1.0, 3.0 }, g[] = { 1.0, -2.0 }, w[] = { 0.5, 0.25 };
    double next[2], image[2];
    pn_raised q;

    CHECK(pn_raised_init(&q, "test", 2, NULL) == PN_OK);
    CHECK(pn_raised_set(&q, packed, 0.0, NULL) == PN_OK);
    pn_raised_times(&q, g, image);
    CHECK_CLOSE(image[0], 0.0, 1e-14);
    CHECK_CLOSE(image[1], -5.0, 1e-14);
    CHECK_CLOSE(q.found[0], (5.0 - sqrt(5.0)) / 2.0, 1e-14);
    CHECK(pn_raised_minimise(&q, NULL, w, g, next, NULL, NULL) == PN_OK);
    CHECK_CLOSE(next[0], -0.5, 1e-14);
    CHECK_CLOSE(next[1], 1.25, 1e-14);
    pn_raised_clear(&q);
}

/* diag(-3, 0.5, 2) with 1 as the least: diag(1, 1, 2). */
static void raises_eigenvalues(void)
{
    const double packed[] = { -3.0, 0.0, 0.5, 0.0, 0.0, 2.0 }, g[] = { 1.0, 2.0, 4.0 }, w[] = { 0.0, 0.0, 0.0 };
    double next[3];
    pn_raised q;

    CHECK(pn_raised_init(&q, "test", 3, NULL) == PN_OK);
    CHECK(pn_raised_set(&q, packed, 1.0, NULL) == PN_OK);
    CHECK_CLOSE(q.found[0], -3.0, 1e-14);
    CHECK(pn_raised_minimise(&q, NULL, w, g, next, NULL, NULL) == PN_OK);
    CHECK_CLOSE(next[0], -1.0, 1e-14);
    CHECK_CLOSE(next[1], -2.0, 1e-14);
    CHECK_CLOSE(next[2], -2.0, 1e-14);
    pn_raised_clear(&q);
}

/* Over the ball of radius 1 the least point of x^2/2 + 2 y^2 - 3 x - 4 y is where (1 + m) x = 3, (4 + m) y = 4. */
static void minimises_over_a_set(void)
{
    const double packed[] = { 1.0, 0.0, 4.0 }, g[] = { -3.0, -4.0 }, w[] = { 0.0, 0.0 };
    pn_arg args[] = { { .given = true, .count = 2 }, { .given = true, .real = 1.0 }, { 0 }, { 0 } };
    double next[2], low = 0.0, high = 10.0;
    pn_set *set = NULL;
    pn_raised q;

    for (int i = 0; i < 200; i++) {
        double m = (low + high) / 2.0;

        if (hypot(3.0 / (1.0 + m), 4.0 / (4.0 + m)) > 1.0)
            low = m;
        else
            high = m;
    }
    CHECK(pn_set_from_args(&set, "l2_ball", args, NULL) == PN_OK);
    CHECK(pn_raised_init(&q, "test", 2, NULL) == PN_OK);
    CHECK(pn_raised_set(&q, packed, 0.0, NULL) == PN_OK);
    CHECK(pn_raised_minimise(&q, set, w, g, next, NULL, NULL) == PN_OK);
    CHECK_CLOSE(next[0], 3.0 / (1.0 + low), 1e-8);
    CHECK_CLOSE(next[1], 4.0 / (4.0 + low), 1e-8);
    pn_raised_clear(&q);
    pn_set_free(set);
}

static void refuses_what_is_not_a_number(void)
{
    const double packed[] = { 1.0, NAN, 4.0 };
    pn_raised q;

    CHECK(pn_raised_init(&q, "test", 2, NULL) == PN_OK);
    CHECK(pn_raised_set(&q, packed, 1.0, NULL) == PN_EDOMAIN);
    pn_raised_clear(&q);
}

/* diag(1, 4), both known.  The least of (s^2 - b^2)/(a + d) + a b^2/(2 (a + d)^2), s^2 noise, b slope: of one number
 * b^2 = 5, s^2 = 1, a = 1 the derivative is 0 where (b^2 - s^2)(1 + d) = b^2, so 1 + d = 5/4; without noise at d = 0;
 * with as much noise as slope nowhere. */
static void damps_as_noise_advises(void)
{
    const double packed[] = { 1.0, 0.0, 4.0 }, one[] = { sqrt(5.0), 0.0 }, both[] = { 1.0, 1.0 };
    pn_raised q;

    CHECK(pn_raised_init(&q, "test", 2, NULL) == PN_OK);
    CHECK(pn_raised_set(&q, packed, 0.0, NULL) == PN_OK);
    CHECK(pn_raised_damping(&q, one, 0.0) == 0.0);
    CHECK(pn_raised_damping(&q, both, 1.0) == INFINITY);
    CHECK(pn_raised_damping(&q, both, 1e-6) < 1e-3);
    pn_raised_clear(&q);
    CHECK(pn_raised_init(&q, "test", 1, NULL) == PN_OK);
    CHECK(pn_raised_set(&q, packed, 0.0, NULL) == PN_OK);
    CHECK_CLOSE(pn_raised_damping(&q, one, 1.0), 0.25, 1e-12); /* 2^-2 is on the grid */
    pn_raised_clear(&q);
}

/* diag(-3, 1, 8), 4 the least: half of that stands for what is below it. */
static void predicts_half_of_the_least(void)
{
    const double packed[] = { -3.0, 0.0, 1.0, 0.0, 0.0, 8.0 }, x[] = { 1.0, 1.0, 1.0 };
    double y[3];
    pn_raised q;

    CHECK(pn_raised_init(&q, "test", 3, NULL) == PN_OK);
    CHECK(pn_raised_set(&q, packed, 4.0, NULL) == PN_OK);
    pn_raised_predict(&q, x, y);
    CHECK_CLOSE(y[0], 2.0, 1e-14);
    CHECK_CLOSE(y[1], 2.0, 1e-14);
    CHECK_CLOSE(y[2], 8.0, 1e-14);
    pn_raised_clear(&q);
}

int main(void)
{
    damps_as_noise_advises();
    predicts_half_of_the_least();
    solves_a_quadratic();
    raises_eigenvalues();
    minimises_over_a_set();
    refuses_what_is_not_a_number();
    return check_summary();
}
