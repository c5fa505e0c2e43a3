/* line_test.c -- how far the mean loss falls along a line is what two values say, for all steps at once; what a record
 * can change is clipped, and with a certified bound nothing ever is.
 * Depends on: hessian_helpers.h, objective/passes/second_order.h, fail_alloc.h. */
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "objective/passes/second_order.h"
#include "runtime/objective/passes/hessian_helpers.h"

enum { N = 1500, P = 9, STEPS = 7, BATCH = 400 };

static const double steps[STEPS] = { 12.0, 4.0, 1.0, 0.6, 0.05, 1e-3, 1e-6 };

static void direction(double *u, size_t p)
{
    for (size_t j = 0; j < p; j++)
        u[j] = 0.5 - 0.2 * (double)(j % 5);
}

static void moved_by(const double *theta, double t, const double *u, double *out, size_t p)
{
    for (size_t j = 0; j < p; j++)
        out[j] = theta[j] + t * u[j];
}

static void test_values(storage how, const char *loss)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    size_t rows[BATCH], clipped = 99;
    pn_batch batch = { rows, BATCH, 321.0 };
    double theta[P], u[P], there[P], out[STEPS], again[STEPS], here, value;

    for (size_t r = 0; r < BATCH; r++)
        rows[r] = (r * 1237) % N;
    CHECK(made(&data, N, P, how, 0.0, NULL) == PN_OK && objective_of(&objective, data, loss, 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 3, NULL) == PN_OK);
    point(theta, P);
    direction(u, P);
    for (int k = 0; k < 2; k++) {
        const pn_batch *which = k ? &batch : NULL;

        CHECK(pn_objective_line(objective, which, theta, u, steps, STEPS, INFINITY, out, &clipped, NULL, NULL) ==
              PN_OK);
        CHECK(clipped == 0);
        CHECK(pn_objective_line(objective, which, theta, u, steps, STEPS, INFINITY, again, NULL, task, NULL) == PN_OK);
        CHECK(memcmp(out, again, sizeof out) == 0);
        CHECK(pn_objective_losses(objective, which, theta, &here, NULL, NULL, NULL) == PN_OK);
        for (size_t s = 0; s < STEPS; s++) {
            moved_by(theta, steps[s], u, there, P);
            CHECK(pn_objective_losses(objective, which, there, &value, NULL, NULL, NULL) == PN_OK);
            CHECK_CLOSE(out[s], here - value, 1e-12 * (1.0 + fabs(value)));
        }
    }
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* One record after the other, clipped by hand. */
static void test_clip(double most)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[P], u[P], there[P], out[STEPS], want[STEPS] = { 0 }, here[N], moved[N];
    size_t clipped, expected = 0;

    CHECK(made(&data, N, P, DENSE, 0.0, NULL) == PN_OK &&
          objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    point(theta, P);
    direction(u, P);
    CHECK(pn_objective_factors(objective, theta, here, NULL, NULL, NULL) == PN_OK);
    for (size_t s = 0; s < STEPS; s++) {
        moved_by(theta, steps[s], u, there, P);
        CHECK(pn_objective_factors(objective, there, moved, NULL, NULL, NULL) == PN_OK);
        for (size_t i = 0; i < N; i++) {
            double change = here[i] - moved[i], limit = most * steps[s];

            expected += fabs(change) > limit;
            want[s] += fmax(-limit, fmin(limit, change)) / N;
        }
    }
    CHECK(pn_objective_line(objective, NULL, theta, u, steps, STEPS, most, out, &clipped, NULL, NULL) == PN_OK);
    CHECK(clipped == expected && clipped > 0 && clipped < N * STEPS);
    for (size_t s = 0; s < STEPS; s++)
        CHECK_CLOSE(out[s], want[s], 1e-12 * most * steps[s] + 1e-15);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* A certified bound on gradients bounds every difference: over 200 points and directions none of 2.1 million is
 * clipped.  Every other direction is that of a record whose slope is as steep as can be: with a tenth less it is. */
static void test_certified(const char *loss, storage how)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    unsigned state = 5;
    size_t caught = 0;

    CHECK(made(&data, N, P, how, 1.0, NULL) == PN_OK && objective_of(&objective, data, loss, 0.0, 0.0, NULL) == PN_OK);
    for (size_t k = 0; k < 200; k++) {
        double theta[P], u[P], out[STEPS], most, scale = k % 4 == 0 ? 20.0 : 1.0;
        size_t clipped;

        for (size_t j = 0; j < P; j++) {
            theta[j] = scale * (2.0 * unit(&state) - 1.0);
            u[j] = 2.0 * unit(&state) - 1.0;
        }
        if (k % 2) {
            record_features(data, k, u);
            for (size_t j = 0; j < P; j++)
                theta[j] = -(double)(k % 40 / 2) * data->y[k] * u[j];
        }
        most = pn_objective_bounds(objective)->lipschitz[PN_L2] * pn_lp_norm(PN_L2, P, u);
        CHECK(pn_objective_line(objective, NULL, theta, u, steps, STEPS, most, out, &clipped, NULL, NULL) == PN_OK);
        CHECK(clipped == 0);
        CHECK(pn_objective_line(objective, NULL, theta, u, steps, STEPS, 0.9 * most, out, &clipped, NULL, NULL) ==
              PN_OK);
        caught += clipped > 0;
    }
    CHECK(caught >= 5);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* Losses that overflow: not a step that is taken, or an error where nothing bounds them. */
static void test_strange(void)
{
    static const double X[3] = { 1.0, 1.0, -1.0 }, y[3] = { 1.0, 1.0, 1.0 };
    double theta[1] = { 1e160 }, u[1] = { 1e200 }, t[2] = { 1.0, 1e-50 }, out[2];
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    size_t clipped;

    CHECK(pn_dataset_from_dense(&data, X, 3, 1, y, "made", NULL) == PN_OK);
    CHECK(objective_of(&objective, data, "squared", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 2, 2.0, out, &clipped, NULL, NULL) == PN_OK);
    CHECK(clipped == 6);
    CHECK(out[0] == -2.0 && out[1] == -2e-50);
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 2, INFINITY, out, NULL, NULL, NULL) == PN_EDOMAIN);
    theta[0] = 0.0; /* only the moved losses overflow */
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, 3.0, out, &clipped, NULL, NULL) == PN_OK);
    CHECK(out[0] == -3.0 && clipped == 3);
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, INFINITY, out, NULL, NULL, NULL) == PN_OK);
    CHECK(out[0] == -INFINITY);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* No sum of records exceeds what each may change, in real arithmetic: limits are rounded down. */
static void test_limits(void)
{
    static const double X[1] = { 1.0 }, y[1] = { 1.0 };
    const double theta[1] = { -700.0 }, u[1] = { 1.0 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    unsigned state = 3;
    int rounded_down = 0;

    CHECK(pn_dataset_from_dense(&data, X, 1, 1, y, "made", NULL) == PN_OK);
    CHECK(objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    for (int k = 0; k < 1000; k++) {
        double t[1] = { unit(&state) + 0.1 }, most = 0.5 * unit(&state) + 0.1, out[1];

        CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, most, out, NULL, NULL, NULL) == PN_OK);
        CHECK((long double)out[0] <= (long double)most * t[0] && out[0] >= most * t[0] * (1.0 - 1e-15));
        rounded_down += out[0] < most * t[0];
    }
    CHECK(rounded_down > 100);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* Records whose differences round the same way again and again. */
static void test_rounding(size_t n)
{
    double *X = malloc(n * sizeof *X), *y = malloc(n * sizeof *y), *here = malloc(n * sizeof *here),
           *there = malloc(n * sizeof *there);
    const double theta[1] = { 0.0 }, u[1] = { 1.0 }, t[1] = { 0.25 };
    double out[1], moved[1] = { 0.25 }, off;
    long double sum = 0.0L;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;

    for (size_t i = 0; i < n; i++) {
        X[i] = i % 8 == 0 ? 0.9 : 1.1e-3;
        y[i] = i % 3 == 0 ? 1.0 : -1.0;
    }
    CHECK(pn_dataset_from_dense(&data, X, n, 1, y, "made", NULL) == PN_OK);
    CHECK(objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, 1.0, out, NULL, NULL, NULL) == PN_OK);
    CHECK(pn_objective_factors(objective, theta, here, NULL, NULL, NULL) == PN_OK);
    CHECK(pn_objective_factors(objective, moved, there, NULL, NULL, NULL) == PN_OK);
    for (size_t i = 0; i < n; i++)
        sum += here[i] - there[i];
    off = (double)fabsl((long double)out[0] * n - sum) / (1.0 * t[0]);
    CHECK(off <= pn_objective_line_error(objective, n) && off > 0.0);
    CHECK(pn_objective_line_error(objective, n) < 1e-13 * (double)n);
    pn_objective_free(objective);
    pn_dataset_free(data);
    free(X);
    free(y);
    free(here);
    free(there);
}

static pn_status nothing(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                         double *values, pn_err *err)
{
    (void)self, (void)thetas, (void)dim, (void)record, (void)err;
    memset(values, 0, count * sizeof *values);
    return PN_OK;
}

static void test_refusals(void)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_objective_parts parts = { 0 };
    double theta[P], u[P], out[2], t[2] = { 1.0, 0.0 };
    size_t row = N;
    pn_err err;

    point(theta, P);
    direction(u, P);
    CHECK(made(&data, N, P, DENSE, 0.0, NULL) == PN_OK &&
          objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 2, 1.0, out, NULL, NULL, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "got 0 at 2"));
    t[1] = INFINITY;
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 2, 1.0, out, NULL, NULL, NULL) == PN_EINVAL);
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, 0.0, out, NULL, NULL, NULL) == PN_EINVAL);
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, NAN, out, NULL, NULL, NULL) == PN_EINVAL);
    CHECK(pn_objective_line(objective, &(pn_batch){ &row, 1, 1.0 }, theta, u, t, 1, 1.0, out, NULL, NULL, NULL) ==
          PN_EINVAL);
    u[1] = NAN;
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, 1.0, out, NULL, NULL, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "entry 2"));
    pn_objective_free(objective);
    CHECK(pn_loss_black_box(&parts.loss, nothing, NULL, NULL, 0, 0.0, NULL) == PN_OK);
    parts.data = data;
    CHECK(pn_objective_new(&objective, &parts, NULL) == PN_OK);
    u[1] = 0.0;
    CHECK(pn_objective_line(objective, NULL, theta, u, t, 1, 1.0, out, NULL, NULL, NULL) == PN_EUNSUPPORTED);
    pn_objective_free(objective);
    pn_loss_free(parts.loss);
    pn_dataset_free(data);
}

static void test_softmax(void)
{
    pn_arg args[2] = { { .given = true, .count = 3 } };
    pn_dataset *plain = NULL, *data = NULL;
    pn_objective *objective = NULL;
    pn_objective_parts parts = { 0 };
    double theta[3 * P], u[3 * P], there[3 * P], out[STEPS], here, value, *y = malloc(N * sizeof *y);

    for (size_t i = 0; i < N; i++)
        y[i] = (double)(1 + i % 3);
    CHECK(made(&plain, N, P, SINGLE, 0.0, NULL) == PN_OK && pn_dataset_with_labels(&data, plain, y, N, NULL) == PN_OK);
    CHECK(pn_loss_from_args(&parts.loss, "softmax", args, NULL) == PN_OK);
    parts.data = data;
    CHECK(pn_objective_new(&objective, &parts, NULL) == PN_OK);
    point(theta, 3 * P);
    direction(u, 3 * P);
    CHECK(pn_objective_line(objective, NULL, theta, u, steps, STEPS, INFINITY, out, NULL, NULL, NULL) == PN_OK);
    CHECK(pn_objective_losses(objective, NULL, theta, &here, NULL, NULL, NULL) == PN_OK);
    for (size_t s = 0; s < STEPS; s++) {
        moved_by(theta, steps[s], u, there, 3 * P);
        CHECK(pn_objective_losses(objective, NULL, there, &value, NULL, NULL, NULL) == PN_OK);
        CHECK_CLOSE(out[s], here - value, 1e-12 * (1.0 + fabs(value)));
    }
    pn_objective_free(objective);
    pn_loss_free(parts.loss);
    pn_dataset_free(data);
    pn_dataset_free(plain);
    free(y);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[P], u[P], out[STEPS];
    pn_status status = made(&data, N, P, DENSE, 0.0, err);

    (void)self;
    point(theta, P);
    direction(u, P);
    if (status == PN_OK)
        status = objective_of(&objective, data, "logistic", 0.0, 0.0, err);
    if (status == PN_OK)
        status = pn_objective_line(objective, NULL, theta, u, steps, STEPS, 1.0, out, NULL, NULL, err);
    pn_objective_free(objective);
    pn_dataset_free(data);
    return status;
}

int main(void)
{
    for (int how = DENSE; how < STORAGES; how++) {
        test_values((storage)how, "logistic");
        test_values((storage)how, "sigmoid");
        test_certified("logistic", (storage)how);
    }
    test_values(DENSE, "hinge");
    test_certified("sigmoid", DENSE);
    test_certified("hinge", DENSE);
    test_clip(0.3);
    test_clip(1.0);
    test_strange();
    test_limits();
    test_rounding(1000);
    test_rounding(100003);
    test_refusals();
    test_softmax();
    CHECK(fail_alloc_sweep("line", scenario, NULL) > 0);
    return check_summary();
}
