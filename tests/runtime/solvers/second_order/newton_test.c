/* newton_test.c -- slopes that sensitivities rest on, and the quadratic of a step.
 * Depends on: check.h, solvers/second_order/newton.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "data/dataset.h"
#include "geometry/sets/sets.h"
#include "numeric/symmetric.h"
#include "random/rng.h"
#include "solvers/second_order/newton.h"

static const double X[] = { 0.6, 0.8, -1.0, 0.0, 0.0, 0.5 };

/* Records in the unit ball under that loss, with the start in the problem. */
typedef struct fixture {
    pn_dataset *raw, *data;
    pn_loss *loss;
    pn_objective *objective;
    double start[2];
    pn_first_order problem;
} fixture;

static void open_fixture(fixture *f, const char *name, pn_arg *args, const double *y, pn_interval labels, double first)
{
    pn_objective_parts parts = { 0 };
    pn_dataset *clipped = NULL;

    memset(f, 0, sizeof *f);
    CHECK(pn_dataset_from_dense(&f->raw, X, 3, 2, y, "test", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&clipped, f->raw, PN_L2, 1.0, NULL) == PN_OK);
    CHECK(pn_dataset_clip_labels(&f->data, clipped, labels.low, labels.high, NULL) == PN_OK);
    pn_dataset_free(clipped);
    CHECK(pn_loss_from_args(&f->loss, name, args, NULL) == PN_OK);
    parts.data = f->data;
    parts.loss = f->loss;
    CHECK(pn_objective_new(&f->objective, &parts, NULL) == PN_OK);
    f->start[0] = first;
    f->problem = (pn_first_order){ .objective = f->objective, .n = 3.0, .p = 2, .start = f->start };
}

static void close_fixture(fixture *f)
{
    pn_objective_free(f->objective);
    pn_loss_free(f->loss);
    pn_dataset_free(f->data);
    pn_dataset_free(f->raw);
}

/* Slopes at the start and changes of slopes, against what losses really do at many margins. */
static void within(const fixture *f, const nw_slopes *slopes, double label)
{
    double reach = fabs(f->start[0]), y[1] = { label }, z0[1], z1[1], s0[1], s1[1];

    for (int i = -20; i <= 20; i++) {
        z0[0] = reach * i / 20.0;
        f->loss->ops->evaluate(f->loss, 1, z0, y, NULL, s0);
        CHECK(fabs(s0[0]) <= slopes->start);
        for (int k = -40; k <= 40; k++) {
            z1[0] = k * fabs((double)k) / 20.0;
            f->loss->ops->evaluate(f->loss, 1, z1, y, NULL, s1);
            CHECK(fabs(s1[0] - s0[0]) <= slopes->change);
        }
    }
}

static void slopes_of_a_logistic_loss(void)
{
    const double y[] = { 1.0, -1.0, 1.0 };
    fixture f;
    nw_slopes slopes;

    open_fixture(&f, "logistic", NULL, y, (pn_interval){ -1.0, 1.0 }, 0.0);
    CHECK(nw_read_slopes(&f.problem, &slopes, NULL) == PN_OK);
    CHECK_CLOSE(slopes.start, 0.5, 1e-8);
    CHECK_CLOSE(slopes.change, 0.5, 1e-8);
    within(&f, &slopes, 1.0);
    within(&f, &slopes, -1.0);
    f.start[0] = 2.0; /* slopes from s(-2) to s(2) in size, so up to s(2) to go */
    CHECK(nw_read_slopes(&f.problem, &slopes, NULL) == PN_OK);
    CHECK_CLOSE(slopes.start, 1.0 / (1.0 + exp(-2.0)), 1e-8);
    CHECK_CLOSE(slopes.change, 1.0 / (1.0 + exp(-2.0)), 1e-8);
    within(&f, &slopes, 1.0);
    close_fixture(&f);
}

static void slopes_of_a_smooth_hinge(void)
{
    const double y[] = { 1.0, -1.0, 1.0 };
    pn_arg args[] = { { .given = true, .real = 0.5 }, { 0 } };
    fixture f;
    nw_slopes slopes;

    open_fixture(&f, "smooth_hinge", args, y, (pn_interval){ -1.0, 1.0 }, 0.0);
    CHECK(nw_read_slopes(&f.problem, &slopes, NULL) == PN_OK);
    CHECK_CLOSE(slopes.start, 1.0, 1e-8); /* at 0 the loss is a straight line */
    CHECK_CLOSE(slopes.change, 1.0, 1e-8);
    within(&f, &slopes, 1.0);
    close_fixture(&f);
}

static void slopes_of_a_huber_loss(void)
{
    const double y[] = { 0.1, -0.3, 0.2 };
    pn_arg args[] = { { .given = true, .real = 0.4 }, { 0 } };
    fixture f;
    nw_slopes slopes;

    open_fixture(&f, "huber", args, y, (pn_interval){ -0.3, 0.3 }, 0.0);
    CHECK(nw_read_slopes(&f.problem, &slopes, NULL) == PN_OK);
    CHECK_CLOSE(slopes.start, 0.3, 1e-8);  /* |y| <= 0.3 */
    CHECK_CLOSE(slopes.change, 0.7, 1e-8); /* from 0.3 to -0.4 */
    within(&f, &slopes, 0.3);
    within(&f, &slopes, -0.1);
    close_fixture(&f);
}

static void nothing_is_known_of_unbounded_rows(void)
{
    const double y[] = { 1.0, -1.0, 1.0 };
    pn_objective_parts parts = { 0 };
    fixture f;
    nw_slopes slopes;

    open_fixture(&f, "logistic", NULL, y, (pn_interval){ -1.0, 1.0 }, 0.0);
    pn_objective_free(f.objective);
    parts.data = f.raw;
    parts.loss = f.loss;
    CHECK(pn_objective_new(&f.objective, &parts, NULL) == PN_OK);
    f.problem.objective = f.objective;
    CHECK(nw_read_slopes(&f.problem, &slopes, NULL) == PN_OK);
    CHECK(isinf(slopes.change));
    close_fixture(&f);
}

/* A = (2 1; 1 3), g = (1, -2): w - A^-1 g = w + (-1, 1). */
static void solves_a_quadratic(void)
{
    const double packed[] = { 2.0, 1.0, 3.0 }, g[] = { 1.0, -2.0 }, w[] = { 0.5, 0.25 };
    double next[2], image[2];
    nw_quadratic q;

    CHECK(nw_quadratic_init(&q, 2, NULL) == PN_OK);
    CHECK(nw_quadratic_set(&q, packed, 0.0, NULL) == PN_OK);
    nw_quadratic_times(&q, g, image);
    CHECK_CLOSE(image[0], 0.0, 1e-14);
    CHECK_CLOSE(image[1], -5.0, 1e-14);
    CHECK_CLOSE(q.found[0], (5.0 - sqrt(5.0)) / 2.0, 1e-14);
    CHECK(nw_quadratic_minimise(&q, NULL, w, g, next, NULL, NULL) == PN_OK);
    CHECK_CLOSE(next[0], -0.5, 1e-14);
    CHECK_CLOSE(next[1], 1.25, 1e-14);
    nw_quadratic_clear(&q);
}

/* diag(-3, 0.5, 2) with 1 as the least: diag(1, 1, 2). */
static void raises_eigenvalues(void)
{
    const double packed[] = { -3.0, 0.0, 0.5, 0.0, 0.0, 2.0 }, g[] = { 1.0, 2.0, 4.0 }, w[] = { 0.0, 0.0, 0.0 };
    double next[3];
    nw_quadratic q;

    CHECK(nw_quadratic_init(&q, 3, NULL) == PN_OK);
    CHECK(nw_quadratic_set(&q, packed, 1.0, NULL) == PN_OK);
    CHECK_CLOSE(q.found[0], -3.0, 1e-14);
    CHECK(nw_quadratic_minimise(&q, NULL, w, g, next, NULL, NULL) == PN_OK);
    CHECK_CLOSE(next[0], -1.0, 1e-14);
    CHECK_CLOSE(next[1], -2.0, 1e-14);
    CHECK_CLOSE(next[2], -2.0, 1e-14);
    nw_quadratic_clear(&q);
}

/* Over the ball of radius 1 the least point of x^2/2 + 2 y^2 - 3 x - 4 y is where (1 + m) x = 3, (4 + m) y = 4. */
static void minimises_over_a_set(void)
{
    const double packed[] = { 1.0, 0.0, 4.0 }, g[] = { -3.0, -4.0 }, w[] = { 0.0, 0.0 };
    pn_arg args[] = { { .given = true, .count = 2 }, { .given = true, .real = 1.0 }, { 0 }, { 0 } };
    double next[2], low = 0.0, high = 10.0;
    pn_set *set = NULL;
    nw_quadratic q;

    for (int i = 0; i < 200; i++) {
        double m = (low + high) / 2.0;

        if (hypot(3.0 / (1.0 + m), 4.0 / (4.0 + m)) > 1.0)
            low = m;
        else
            high = m;
    }
    CHECK(pn_set_from_args(&set, "l2_ball", args, NULL) == PN_OK);
    CHECK(nw_quadratic_init(&q, 2, NULL) == PN_OK);
    CHECK(nw_quadratic_set(&q, packed, 0.0, NULL) == PN_OK);
    CHECK(nw_quadratic_minimise(&q, set, w, g, next, NULL, NULL) == PN_OK);
    CHECK_CLOSE(next[0], 3.0 / (1.0 + low), 1e-8);
    CHECK_CLOSE(next[1], 4.0 / (4.0 + low), 1e-8);
    nw_quadratic_clear(&q);
    pn_set_free(set);
}

static void refuses_what_is_not_a_number(void)
{
    const double packed[] = { 1.0, NAN, 4.0 };
    nw_quadratic q;

    CHECK(nw_quadratic_init(&q, 2, NULL) == PN_OK);
    CHECK(nw_quadratic_set(&q, packed, 1.0, NULL) == PN_EDOMAIN);
    nw_quadratic_clear(&q);
}

/* P/(P + s^2) of a difference that both explain, of 100 numbers; all that noise does not explain of one that they do
 * not. */
static void weighs_a_release(void)
{
    double variance = 3.0;

    CHECK_CLOSE(nw_gain(&variance, 1.0, 4.0, 100.0), 0.75, 1e-15);
    CHECK_CLOSE(variance, 0.75, 1e-15);
    variance = 0.0;
    CHECK(nw_gain(&variance, 1.0, 1.8, 100.0) == 0.0); /* 1 + 6 sqrt(2/100) = 1.85 */
    CHECK(variance == 0.0);
    CHECK_CLOSE(nw_gain(&variance, 1.0, 5.0, 100.0), 0.8, 1e-15);
    CHECK_CLOSE(variance, 0.8, 1e-15);
}

/* diag(1, 4), both known.  The least of (s^2 - b^2)/(a + d) + a b^2/(2 (a + d)^2), s^2 noise, b slope: of one number
 * b^2 = 5, s^2 = 1, a = 1 the derivative is 0 where (b^2 - s^2)(1 + d) = b^2, so 1 + d = 5/4; without noise at d = 0;
 * with as much noise as slope nowhere. */
static void damps_as_noise_advises(void)
{
    const double packed[] = { 1.0, 0.0, 4.0 }, one[] = { sqrt(5.0), 0.0 }, both[] = { 1.0, 1.0 };
    nw_quadratic q;

    CHECK(nw_quadratic_init(&q, 2, NULL) == PN_OK);
    CHECK(nw_quadratic_set(&q, packed, 0.0, NULL) == PN_OK);
    CHECK(nw_quadratic_damping(&q, one, 0.0) == 0.0);
    CHECK(nw_quadratic_damping(&q, both, 1.0) == INFINITY);
    CHECK(nw_quadratic_damping(&q, both, 1e-6) < 1e-3);
    nw_quadratic_clear(&q);
    CHECK(nw_quadratic_init(&q, 1, NULL) == PN_OK);
    CHECK(nw_quadratic_set(&q, packed, 0.0, NULL) == PN_OK);
    CHECK_CLOSE(nw_quadratic_damping(&q, one, 1.0), 0.25, 1e-12); /* 2^-2 is on the grid */
    nw_quadratic_clear(&q);
}

/* diag(-3, 1, 8), 4 the least: half of that stands for what is below it. */
static void predicts_half_of_the_least(void)
{
    const double packed[] = { -3.0, 0.0, 1.0, 0.0, 0.0, 8.0 }, x[] = { 1.0, 1.0, 1.0 };
    double y[3];
    nw_quadratic q;

    CHECK(nw_quadratic_init(&q, 3, NULL) == PN_OK);
    CHECK(nw_quadratic_set(&q, packed, 4.0, NULL) == PN_OK);
    nw_quadratic_predict(&q, x, y);
    CHECK_CLOSE(y[0], 2.0, 1e-14);
    CHECK_CLOSE(y[1], 2.0, 1e-14);
    CHECK_CLOSE(y[2], 8.0, 1e-14);
    nw_quadratic_clear(&q);
}

int main(void)
{
    weighs_a_release();
    damps_as_noise_advises();
    predicts_half_of_the_least();
    slopes_of_a_logistic_loss();
    slopes_of_a_smooth_hinge();
    slopes_of_a_huber_loss();
    nothing_is_known_of_unbounded_rows();
    solves_a_quadratic();
    raises_eigenvalues();
    minimises_over_a_set();
    refuses_what_is_not_a_number();
    return check_summary();
}
