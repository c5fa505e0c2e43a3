/* absent_test.c -- a data set whose records others have: an objective over it has the bounds of one that has them, and
 * every look at a record is refused with the same words.  Depends on: objective, data, check.h. */
#include <string.h>

#include "check.h"
#include "data/rows.h"
#include "fail_alloc.h"
#include "geometry/sets/sets.h"
#include "objective/measures/smoothed.h"
#include "objective/measures/stationarity.h"
#include "objective/passes/second_order.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

enum { N = 40, P = 3 };

static bool refused(pn_status status, const pn_err *err)
{
    return status == PN_EUNSUPPORTED && strstr(err->message, "the parties hold the records of this data set");
}

static pn_set *ball(void)
{
    pn_set *set = NULL;
    pn_arg args[4] = { { .given = true, .count = P }, { .given = true, .real = 2.0 } };
    pn_err err;

    CHECK(pn_set_from_args(&set, "l1_ball", args, &err) == PN_OK);
    return set;
}

static pn_objective *objective_over(const pn_dataset *data, const char *name)
{
    pn_objective *out = NULL;
    pn_loss *loss = NULL;
    pn_set *set = ball();
    pn_arg args[4] = { { 0 } };
    pn_err err;

    CHECK(pn_loss_from_args(&loss, name, args, &err) == PN_OK);
    CHECK(pn_objective_new(&out, &(pn_objective_parts){ .data = data, .loss = loss, .set = set }, &err) == PN_OK);
    pn_loss_free(loss);
    pn_set_free(set);
    return out;
}

static pn_dataset *absent(void)
{
    const pn_record_bounds bounds = { .norm = { NAN, NAN, 1.0 }, .label_low = -1.0, .label_high = 1.0 };
    pn_dataset *data = NULL;
    pn_err err;

    CHECK(pn_dataset_absent(&data, N, P, &bounds, "parties", &err) == PN_OK);
    return data;
}

/* The same bounds, enforced on records that are here. */
static pn_dataset *present(void)
{
    double X[N * P], y[N];
    pn_dataset *raw = NULL, *clipped = NULL, *out = NULL;
    pn_err err;

    for (size_t i = 0; i < N * P; i++)
        X[i] = (double)(i % 7) / 7.0 - 0.4;
    for (size_t i = 0; i < N; i++)
        y[i] = i % 3 ? 1.0 : -1.0;
    CHECK(pn_dataset_from_dense(&raw, X, N, P, y, "here", &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&clipped, raw, PN_LINF, 1.0, &err) == PN_OK);
    CHECK(pn_dataset_clip_labels(&out, clipped, -1.0, 1.0, &err) == PN_OK);
    pn_dataset_free(raw);
    pn_dataset_free(clipped);
    return out;
}

static void same_bounds(const char *loss)
{
    pn_dataset *far = absent(), *here = present();
    pn_objective *one = objective_over(far, loss), *other = objective_over(here, loss);
    const pn_bounds *a = pn_objective_bounds(one), *b = pn_objective_bounds(other);

    CHECK(a->certified && b->certified);
    CHECK_CLOSE(a->slope, b->slope, 0.0);
    CHECK_CLOSE(a->curvature, b->curvature, 0.0);
    CHECK_CLOSE(a->smoothness, b->smoothness, 0.0);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        CHECK_CLOSE(a->lipschitz[norm], b->lipschitz[norm], 0.0);
    CHECK_CLOSE(far->bounds.norm[PN_L1], 3.0, 1e-15);
    CHECK_CLOSE(far->bounds.norm[PN_L2], sqrt(3.0), 1e-15);
    pn_objective_free(one);
    pn_objective_free(other);
    pn_dataset_free(far);
    pn_dataset_free(here);
}

static void no_transformation(const pn_dataset *data)
{
    const double low[P] = { 0, 0, 0 }, high[P] = { 1, 1, 1 }, y[N] = { 0 };
    const size_t rows[2] = { 0, 1 };
    pn_dataset *out = NULL;
    pn_dataset_summary summary;
    pn_rows open;
    pn_err err;

    CHECK(refused(pn_dataset_clip_rows(&out, data, PN_L2, 1.0, &err), &err));
    CHECK(refused(pn_dataset_clip_labels(&out, data, -1.0, 1.0, &err), &err));
    CHECK(refused(pn_dataset_rescale(&out, data, low, high, P, &err), &err));
    CHECK(refused(pn_dataset_with_labels(&out, data, y, N, &err), &err));
    CHECK(refused(pn_dataset_add_bias(&out, data, &err), &err));
    CHECK(refused(pn_dataset_subset(&out, data, rows, 2, &err), &err));
    CHECK(refused(pn_dataset_to_float32(&out, data, &err), &err));
    CHECK(refused(pn_dataset_summarise(data, &summary, &err), &err));
    CHECK(refused(pn_rows_open(&open, data, &err), &err));
    CHECK(out == NULL);
}

static void no_value(pn_objective *at)
{
    const double theta[P] = { 0.1, 0.2, 0.3 };
    const size_t rows[2] = { 0, 1 };
    const pn_batch batch = { rows, 2, 2.0 };
    double value = 7.0, gradient[P], factors[N] = { 0 }, z[N], hessian[P * P];
    pn_err err;

    CHECK(refused(pn_objective_evaluate(at, theta, &value, gradient, NULL, &err), &err));
    CHECK(refused(pn_objective_losses(at, &batch, theta, &value, gradient, NULL, &err), &err));
    CHECK(refused(pn_objective_factors(at, theta, NULL, factors, NULL, &err), &err));
    CHECK(refused(pn_objective_snapshot(at, theta, factors, &value, gradient, NULL, &err), &err));
    CHECK(refused(pn_objective_batch_differences(at, &batch, theta, factors, 1.0, gradient, NULL, &err), &err));
    CHECK(refused(pn_objective_record_difference(at, 0, theta, factors, &value, &err), &err));
    CHECK(refused(pn_objective_differences(at, NULL, theta, theta, 1, 0.1, &value, NULL, &err), &err));
    CHECK(refused(pn_objective_hessian_times(at, NULL, theta, theta, gradient, NULL, &err), &err));
    CHECK(refused(pn_objective_hessian(at, theta, hessian, NULL, &err), &err));
    CHECK(refused(pn_objective_quadratic(at, NULL, theta, &value, gradient, hessian, NULL, &err), &err));
    CHECK(refused(pn_objective_accuracy(at, theta, &value, NULL, &err), &err));
    CHECK(refused(pn_dataset_predict(pn_objective_data(at), theta, P, z, NULL, &err), &err));
    CHECK(value == 7.0);
}

/* What goes over many points or directions, and what is solved by looking at records. */
static void no_measure(pn_objective *at)
{
    const double theta[P] = { 0.1, 0.2, 0.3 }, t[1] = { 0.5 };
    const size_t rows[2] = { 0, 1 };
    const pn_smoothing how = { .directions = PN_DIRECTIONS_ONE, .radius = 0.1, .lipschitz = 1.0 };
    const pn_smoothed_call call = { .rows = rows, .count = 2 };
    double gradient[P], out[1], gap;
    size_t clipped;
    pn_rng *rng = NULL;
    pn_stationarity measure;
    pn_second_order_gap second;
    pn_err err;

    CHECK(pn_rng_seeded(&rng, 1, &err) == PN_OK);
    CHECK(refused(pn_objective_line(at, NULL, theta, theta, t, 1, 1.0, out, &clipped, NULL, &err), &err));
    CHECK(refused(pn_smoothed_gradient(at, &how, &call, theta, gradient, NULL, &err), &err));
    CHECK(refused(
        pn_stationarity_measure(&measure, at, theta, &(pn_stationarity_options){ .radius = 0.1 }, rng, NULL, &err),
        &err));
    CHECK(refused(pn_second_order_gap_measure(&second, at, theta, NULL, NULL, &err), &err));
    CHECK(refused(pn_objective_minimise(at, 1e-3, 100, gradient, out, &gap, NULL, &err), &err));
    if (pn_objective_loss(at)->quadratic)
        CHECK(refused(pn_objective_exact_curvature(at, out, NULL, &err), &err));
    pn_rng_free(rng);
}

static pn_status never(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                       double *losses, pn_err *err)
{
    (void)self, (void)thetas, (void)count, (void)dim, (void)record, (void)losses, (void)err;
    CHECK(!"called");
    return PN_OK;
}

static void no_black_box(const pn_dataset *data)
{
    const double theta[P] = { 0 };
    pn_loss *loss = NULL;
    pn_objective *at = NULL;
    double value;
    pn_err err;

    CHECK(pn_loss_black_box(&loss, never, NULL, NULL, 0, 1.0, &err) == PN_OK);
    CHECK(pn_objective_new(&at, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
    CHECK(refused(pn_objective_evaluate(at, theta, &value, NULL, NULL, &err), &err));
    pn_loss_free(loss);
    pn_objective_free(at);
}

/* Every solver but those that ask parties says so when it is asked for a plan. */
static void no_plan(pn_objective *at)
{
    for (const pn_solver_ops *const *row = pn_solver_table(); *row; row++) {
        pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[64] = { { 0 } };
        pn_plan *plan = NULL;
        pn_err err;

        if (!(*row)->remote)
            CHECK(refused(pn_plan_from_args(&plan, (*row)->name, at, NULL, common, own, NULL, &err), &err));
        CHECK(plan == NULL);
    }
}

static void clipping_needs_records(const pn_dataset *data)
{
    pn_arg args[4] = { { 0 } };
    pn_loss *loss = NULL;
    pn_objective *at = NULL;
    pn_err err;

    CHECK(pn_loss_from_args(&loss, "squared", args, &err) == PN_OK);
    CHECK(refused(pn_objective_new(&at, &(pn_objective_parts){ .data = data, .loss = loss, .clip = 1.0 }, &err), &err));
    pn_loss_free(loss);
}

static pn_status make(void *self, pn_err *err)
{
    const pn_record_bounds bounds = { .norm = { NAN, NAN, 1.0 }, .label_low = -1.0, .label_high = 1.0 };
    pn_dataset *data = NULL;
    pn_status status = pn_dataset_absent(&data, N, P, &bounds, "parties", err);

    (void)self;
    pn_dataset_free(data);
    return status;
}

int main(void)
{
    pn_dataset *data = absent();
    pn_objective *squared = objective_over(data, "squared"), *logistic = objective_over(data, "logistic");

    same_bounds("squared");
    same_bounds("logistic");
    no_transformation(data);
    no_value(squared);
    no_value(logistic);
    no_measure(squared);
    no_measure(logistic);
    no_black_box(data);
    no_plan(squared);
    clipping_needs_records(data);
    pn_objective_free(squared);
    pn_objective_free(logistic);
    pn_dataset_free(data);
    fail_alloc_sweep("absent", make, NULL);
    return check_summary();
}
