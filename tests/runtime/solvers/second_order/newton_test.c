/* newton_test.c -- slopes that sensitivities rest on, and gains.
 * Depends on: check.h, solvers/second_order/newton.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "data/dataset.h"
#include "numeric/symmetric.h"
#include "random/rng.h"
#include "solvers/second_order/newton.h"

static const double X[] = { 0.6, 0.8, -1.0, 0.0, 0.0, 0.5 };

/* Records in the unit ball under that loss, and a start. */
typedef struct fixture {
    pn_dataset *raw, *data;
    pn_loss *loss;
    pn_objective *objective;
    double start[2];
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
}

static void close_fixture(fixture *f)
{
    pn_objective_free(f->objective);
    pn_loss_free(f->loss);
    pn_dataset_free(f->data);
    pn_dataset_free(f->raw);
}

/* Slopes at the start and changes of slopes, against what losses really do at many margins. */
static void within(const fixture *f, const pn_slopes *slopes, double label)
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
    pn_slopes slopes;

    open_fixture(&f, "logistic", NULL, y, (pn_interval){ -1.0, 1.0 }, 0.0);
    CHECK(pn_slopes_read(&slopes, f.objective, f.start, NULL) == PN_OK);
    CHECK_CLOSE(slopes.start, 0.5, 1e-8);
    CHECK_CLOSE(slopes.change, 0.5, 1e-8);
    within(&f, &slopes, 1.0);
    within(&f, &slopes, -1.0);
    f.start[0] = 2.0; /* slopes from s(-2) to s(2) in size, so up to s(2) to go */
    CHECK(pn_slopes_read(&slopes, f.objective, f.start, NULL) == PN_OK);
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
    pn_slopes slopes;

    open_fixture(&f, "smooth_hinge", args, y, (pn_interval){ -1.0, 1.0 }, 0.0);
    CHECK(pn_slopes_read(&slopes, f.objective, f.start, NULL) == PN_OK);
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
    pn_slopes slopes;

    open_fixture(&f, "huber", args, y, (pn_interval){ -0.3, 0.3 }, 0.0);
    CHECK(pn_slopes_read(&slopes, f.objective, f.start, NULL) == PN_OK);
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
    pn_slopes slopes;

    open_fixture(&f, "logistic", NULL, y, (pn_interval){ -1.0, 1.0 }, 0.0);
    pn_objective_free(f.objective);
    parts.data = f.raw;
    parts.loss = f.loss;
    CHECK(pn_objective_new(&f.objective, &parts, NULL) == PN_OK);
    CHECK(pn_slopes_read(&slopes, f.objective, f.start, NULL) == PN_OK);
    CHECK(isinf(slopes.change));
    close_fixture(&f);
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

int main(void)
{
    weighs_a_release();
    slopes_of_a_logistic_loss();
    slopes_of_a_smooth_hinge();
    slopes_of_a_huber_loss();
    nothing_is_known_of_unbounded_rows();
    return check_summary();
}
