/* softmax_hessian_test.c -- the packed Hessian of a loss of several margins is the sum of S x x^T over records, S =
 * diag(p) - p p^T, for every storage; a record moves it by no more than is stated,
 * and by that much where two classes tie.
 * Depends on: hessian_helpers.h, objective/passes/second_order.h, fail_alloc.h. */
#include "fail_alloc.h"
#include "objective/passes/second_order.h"
#include "runtime/objective/passes/hessian_helpers.h"

enum { N = 700, P = 5, K = 3, DIM = K * P, PACKED = DIM * (DIM + 1) / 2, BATCH = 300 };

static pn_status softmax_of(pn_objective **out, const pn_dataset *data, size_t classes, double clip, pn_err *err)
{
    pn_arg args[2] = { { .given = true, .count = classes } };
    pn_objective_parts parts = { .data = data, .clip = clip };
    pn_status status = pn_loss_from_args(&parts.loss, "softmax", args, err);

    if (status == PN_OK)
        status = pn_objective_new(out, &parts, err);
    pn_loss_free(parts.loss);
    return status;
}

static pn_status labelled(pn_dataset **out, size_t n, size_t p, size_t classes, storage how, double clip, pn_err *err)
{
    double *y = malloc(n * sizeof *y);
    pn_dataset *plain = NULL;
    pn_status status = made(&plain, n, p, how, clip, err);

    for (size_t i = 0; i < n; i++)
        y[i] = (double)(1 + i % classes);
    if (status == PN_OK)
        status = pn_dataset_with_labels(out, plain, y, n, err);
    pn_dataset_free(plain);
    free(y);
    return status;
}

static void add_record(const pn_dataset *data, size_t i, size_t classes, const double *theta, long double *sums)
{
    size_t p = data->p;
    double *x = malloc(p * sizeof *x);
    long double *z = calloc(classes, sizeof *z), total = 0.0L;

    record_features(data, i, x);
    for (size_t k = 0; k < classes; k++) {
        for (size_t j = 0; j < p; j++)
            z[k] += (long double)x[j] * theta[k * p + j];
        z[k] = expl(z[k]);
        total += z[k];
    }
    for (size_t b = 0, e = 0; b < classes * p; b++) {
        for (size_t a = 0; a <= b; a++, e++) {
            size_t k = a / p, l = b / p;
            long double pk = z[k] / total, pl = z[l] / total;

            sums[e] += ((k == l ? pk : 0.0L) - pk * pl) * x[a % p] * x[b % p];
        }
    }
    free(x);
    free(z);
}

static void test_sum(storage how, size_t n, size_t p, size_t classes)
{
    size_t dim = classes * p, size = dim * (dim + 1) / 2, *rows = malloc(BATCH * sizeof *rows);
    double *theta = malloc(dim * sizeof *theta), *packed = malloc(size * sizeof *packed),
           *again = malloc(size * sizeof *again), *g = malloc(dim * sizeof *g), *want = malloc(dim * sizeof *want);
    double value, want_value;
    long double *sums = calloc(size, sizeof *sums);
    pn_batch batch = { rows, BATCH, 250.0 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;

    CHECK(labelled(&data, n, p, classes, how, 0.0, NULL) == PN_OK);
    CHECK(softmax_of(&objective, data, classes, 0.0, NULL) == PN_OK && pn_task_new(&task, 3, NULL) == PN_OK);
    point(theta, dim);
    for (size_t i = 0; i < n; i++)
        add_record(data, i, classes, theta, sums);
    CHECK(pn_objective_quadratic(objective, NULL, theta, &value, g, packed, NULL, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, again, task, NULL) == PN_OK);
    CHECK(memcmp(packed, again, size * sizeof *packed) == 0);
    CHECK(pn_objective_losses(objective, NULL, theta, &want_value, want, NULL, NULL) == PN_OK);
    CHECK(value == want_value && memcmp(g, want, dim * sizeof *g) == 0);
    for (size_t e = 0; e < size; e++)
        CHECK_CLOSE(packed[e], (double)(sums[e] / (long double)n), 1e-14);
    memset(sums, 0, size * sizeof *sums);
    for (size_t r = 0; r < BATCH; r++) {
        rows[r] = (r * 1237) % n;
        add_record(data, rows[r], classes, theta, sums);
    }
    CHECK(pn_objective_quadratic(objective, &batch, theta, NULL, NULL, packed, NULL, NULL) == PN_OK);
    for (size_t e = 0; e < size; e++)
        CHECK_CLOSE(packed[e], (double)(sums[e] / 250.0L), 1e-14);
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
    free(theta);
    free(packed);
    free(again);
    free(g);
    free(want);
    free(sums);
    free(rows);
}

static double distance(const double *a, const double *b)
{
    double sum = 0.0;

    for (size_t j = 0, e = 0; j < DIM; j++) {
        for (size_t i = 0; i <= j; i++, e++)
            sum += (i < j ? 2.0 : 1.0) * (a[e] - b[e]) * (a[e] - b[e]);
    }
    return sqrt(sum);
}

static void test_bounds(void)
{
    const double none[PACKED] = { 0.0 };
    double theta[DIM], H[2][PACKED], most = 0.0, most_zero = 0.0;
    unsigned state = 9;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_hessian_bounds bounds;

    CHECK(labelled(&data, 1, P, 1, DENSE, 2.0, NULL) == PN_OK);
    CHECK(softmax_of(&objective, data, K, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian_bounds(objective, &bounds, NULL) == PN_OK);
    CHECK_CLOSE(bounds.record, 0.5 * 4.0, 1e-8);
    CHECK_CLOSE(bounds.zero, 0.5 * 4.0, 1e-8);
    CHECK_CLOSE(bounds.replace, sqrt(2.0) * 0.5 * 4.0, 1e-8);
    CHECK_CLOSE(bounds.generic, 2.0 * sqrt((double)DIM) * 0.5 * 4.0, 1e-7);
    CHECK_CLOSE(bounds.lipschitz, 0.2721655269759087 * 8.0, 1e-8);
    for (int k = 0; k < 4000; k++) {
        for (size_t j = 0; j < DIM; j++) /* now and then the last class is far from the two that nearly tie */
            theta[j] = (k % 2 && j >= 2 * P ? -40.0 : 4.0 * (unit(&state) - 0.5) * (k % 3));
        for (int side = 0; side < 2; side++) {
            double squared = 0.0;

            memset(data->dense, 0, P * sizeof *data->dense);
            for (size_t j = 0; j < P; j++) {
                data->dense[j] = k % 6 == 3 ? (double)(j == (size_t)side) : unit(&state) - 0.3;
                squared += data->dense[j] * data->dense[j];
            }
            for (size_t j = 0; j < P; j++)
                data->dense[j] *= 2.0 / sqrt(squared) * (1.0 - 1e-15);
            CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, H[side], NULL, NULL) == PN_OK);
        }
        most = fmax(most, distance(H[0], H[1]));
        most_zero = fmax(most_zero, distance(H[0], none));
    }
    CHECK(most <= bounds.replace && most >= bounds.replace * (1.0 - 1e-6));
    CHECK(most_zero <= bounds.zero && most_zero >= bounds.zero * (1.0 - 1e-6));
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static void test_refusals(void)
{
    double theta[DIM] = { 0.0 }, packed[PACKED];
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_err err;

    CHECK(labelled(&data, N, P, K, DENSE, 1.0, NULL) == PN_OK);
    CHECK(softmax_of(&objective, data, K, 0.5, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "clip="));
    pn_objective_free(objective);
    CHECK(softmax_of(&objective, data, K, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian(objective, theta, packed, NULL, &err) == PN_EUNSUPPORTED);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[DIM] = { 0.0 }, packed[PACKED];
    pn_status status = labelled(&data, N, P, K, *(storage *)self, 0.0, err);

    if (status == PN_OK)
        status = softmax_of(&objective, data, K, 0.0, err);
    if (status == PN_OK)
        status = pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, NULL, err);
    pn_objective_free(objective);
    pn_dataset_free(data);
    return status;
}

int main(void)
{
    for (int how = DENSE; how < STORAGES; how++) {
        test_sum((storage)how, N, P, K);
        CHECK(fail_alloc_sweep("softmax", scenario, &(storage){ (storage)how }) > 0);
    }
    test_sum(DENSE, 400, 200, 2); /* two tiles in a block */
    test_sum(SPARSE, N, 40, 6);
    test_bounds();
    test_refusals();
    return check_summary();
}
