/* quadratic_test.c -- value, gradient and packed Hessian of one pass are those of sums over records taken plainly, for
 * every storage, on all records and batches, for losses that bend either way, with any number of threads; and no
 * further off than what is stated.
 * Depends on: hessian_helpers.h, objective/passes/second_order.h, fail_alloc.h. */
#include "fail_alloc.h"
#include "objective/passes/second_order.h"
#include "runtime/objective/passes/hessian_helpers.h"

enum { N = 2000, P = 9, PACKED = P * (P + 1) / 2, BATCH = 700 };

/* l''(z_i) of one record, as the loss says. */
static double bend_of(pn_objective *objective, size_t i, const double *theta)
{
    const pn_dataset *data = pn_objective_data(objective);
    const pn_loss *loss = pn_objective_loss(objective);
    size_t count;
    pn_rows read;
    double z = 0.0, one = 1.0, out;
    const double *stored;

    CHECK(pn_rows_open(&read, data, NULL) == PN_OK);
    stored = pn_rows_get(&read, i, &count);
    for (size_t k = 0; k < count; k++)
        z += stored[k] * theta[data->sparse ? data->csr.column[data->csr.start[i] + k] : k];
    loss->ops->curve(loss, 1, &z, data->y + i, &one, &out);
    pn_rows_close(&read);
    return out;
}

/* sums[packed] of the records rows[count] (NULL: 0, 1 ...); roots: each record's part as dense passes round it. */
static void plain_sum(pn_objective *objective, const size_t *rows, size_t count, const double *theta, bool roots,
                      long double *sums)
{
    const pn_dataset *data = pn_objective_data(objective);
    size_t p = data->p;
    double *x = malloc(p * sizeof *x);

    memset(sums, 0, p * (p + 1) / 2 * sizeof *sums);
    for (size_t r = 0; r < count; r++) {
        size_t i = rows ? rows[r] : r;
        double bend = bend_of(objective, i, theta), weight = bend;

        record_features(data, i, x);
        if (roots) {
            for (size_t j = 0; j < p; j++)
                x[j] *= sqrt(fabs(bend));
            weight = bend < 0.0 ? -1.0 : 1.0;
        }
        for (size_t j = 0; j < p; j++) {
            for (size_t i2 = 0; i2 <= j; i2++)
                sums[j * (j + 1) / 2 + i2] += (long double)weight * x[i2] * x[j];
        }
    }
    free(x);
}

static void test_pass(storage how, const char *loss)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    double theta[P], value, gradient[P], packed[PACKED], again[PACKED], want_value, want[P];
    long double sums[PACKED];
    bool positive = false, negative = false;

    CHECK(made(&data, N, P, how, 0.0, NULL) == PN_OK && objective_of(&objective, data, loss, 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 3, NULL) == PN_OK);
    point(theta, P);
    CHECK(pn_objective_quadratic(objective, NULL, theta, &value, gradient, packed, NULL, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, again, task, NULL) == PN_OK);
    CHECK(memcmp(packed, again, sizeof packed) == 0);
    CHECK(pn_objective_losses(objective, NULL, theta, &want_value, want, NULL, NULL) == PN_OK);
    CHECK(value == want_value && memcmp(gradient, want, sizeof want) == 0);
    plain_sum(objective, NULL, N, theta, false, sums);
    for (size_t k = 0; k < PACKED; k++)
        CHECK_CLOSE(packed[k], (double)(sums[k] / N), 1e-14);
    for (size_t i = 0; i < N; i++) {
        positive |= bend_of(objective, i, theta) > 0.0;
        negative |= bend_of(objective, i, theta) < 0.0;
    }
    CHECK(positive);
    CHECK(negative == (strcmp(loss, "logistic") != 0 && strcmp(loss, "squared") != 0));
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static void test_batch(storage how, const char *loss)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    size_t rows[BATCH];
    pn_batch batch = { rows, BATCH, 650.0 };
    double theta[P], value, gradient[P], packed[PACKED], again[PACKED], want_value, want[P];
    long double sums[PACKED];

    for (size_t r = 0; r < BATCH; r++)
        rows[r] = (r * 1237) % N; /* and one of them twice */
    rows[5] = rows[17];
    CHECK(made(&data, N, P, how, 0.0, NULL) == PN_OK && objective_of(&objective, data, loss, 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 3, NULL) == PN_OK);
    point(theta, P);
    CHECK(pn_objective_quadratic(objective, &batch, theta, &value, gradient, packed, NULL, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, &batch, theta, NULL, NULL, again, task, NULL) == PN_OK);
    CHECK(memcmp(packed, again, sizeof packed) == 0);
    CHECK(pn_objective_losses(objective, &batch, theta, &want_value, want, NULL, NULL) == PN_OK);
    CHECK(value == want_value && memcmp(gradient, want, sizeof want) == 0);
    plain_sum(objective, rows, BATCH, theta, false, sums);
    for (size_t k = 0; k < PACKED; k++)
        CHECK_CLOSE(packed[k], (double)(sums[k] / 650.0L), 1e-14);
    batch.count = 0;
    CHECK(pn_objective_quadratic(objective, &batch, theta, &value, gradient, packed, NULL, NULL) == PN_OK);
    for (size_t k = 0; k < PACKED; k++)
        CHECK(packed[k] == 0.0);
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* Clipped records of a batch: their own norms decide, not those of the first ones. */
static void test_clipped_batch(storage how)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    size_t rows[BATCH], kept = 0;
    pn_batch batch = { rows, BATCH, 1.0 };
    double theta[P], packed[PACKED], trace = 0.0, want = 0.0, x[P];

    for (size_t r = 0; r < BATCH; r++)
        rows[r] = N - 1 - 2 * r;
    CHECK(made(&data, N, P, how, 0.0, NULL) == PN_OK &&
          objective_of(&objective, data, "logistic", 0.8, 0.0, NULL) == PN_OK);
    point(theta, P);
    CHECK(pn_objective_quadratic(objective, &batch, theta, NULL, NULL, packed, NULL, NULL) == PN_OK);
    for (size_t j = 0; j < P; j++)
        trace += packed[j * (j + 1) / 2 + j];
    for (size_t r = 0; r < BATCH; r++) {
        double z = 0.0, squared = 0.0, l1;

        record_features(data, rows[r], x);
        for (size_t j = 0; j < P; j++) {
            z += x[j] * theta[j];
            squared += x[j] * x[j];
        }
        l1 = 1.0 / (1.0 + exp(data->y[rows[r]] * z));
        if (l1 * sqrt(squared) <= 0.8) {
            want += l1 * (1.0 - l1) * squared;
            kept++;
        }
    }
    CHECK(kept > BATCH / 10 && kept < BATCH);
    CHECK_CLOSE(trace, want, 1e-9);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* Many features: threads share the tiles of one matrix. */
static void test_many_features(size_t n, size_t p, storage how, const char *loss)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    size_t size = p * (p + 1) / 2;
    double *packed = malloc(size * sizeof *packed), *again = malloc(size * sizeof *again), *theta, *product;
    long double *sums = malloc(size * sizeof *sums);

    theta = malloc(p * sizeof *theta);
    product = malloc(p * sizeof *product);
    CHECK(made(&data, n, p, how, 0.0, NULL) == PN_OK && objective_of(&objective, data, loss, 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 3, NULL) == PN_OK);
    for (size_t j = 0; j < p; j++)
        theta[j] = 0.01 * (double)(j % 7) - 0.02;
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, product, packed, NULL, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, again, task, NULL) == PN_OK);
    CHECK(memcmp(packed, again, size * sizeof *packed) == 0);
    plain_sum(objective, NULL, n, theta, false, sums);
    for (size_t k = 0; k < size; k++) {
        if (!CHECK_CLOSE(packed[k], (double)(sums[k] / (long double)n), 1e-13))
            break;
    }
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
    free(packed);
    free(again);
    free(theta);
    free(product);
    free(sums);
}

/* ||computed - exact||_F of the sum, over what is stated: `most` is what one record's part may be. */
static double off_by(pn_objective *objective, const pn_batch *batch, const double *theta, bool roots, double most)
{
    const pn_dataset *data = pn_objective_data(objective);
    size_t p = data->p, size = p * (p + 1) / 2, n = batch ? batch->count : data->n;
    double *packed = malloc(size * sizeof *packed), stated = pn_objective_hessian_error(objective, n);
    long double *sums = malloc(size * sizeof *sums), off = 0.0L;
    long double denominator = batch ? batch->denominator : (double)n;

    CHECK(pn_objective_quadratic(objective, batch, theta, NULL, NULL, packed, NULL, NULL) == PN_OK);
    plain_sum(objective, batch ? batch->rows : NULL, n, theta, roots, sums);
    for (size_t j = 0, k = 0; j < p; j++) {
        for (size_t i = 0; i <= j; i++, k++) {
            long double one = packed[k] * denominator - sums[k];

            off += (i == j ? 1.0L : 2.0L) * one * one;
        }
    }
    free(packed);
    free(sums);
    return (double)sqrtl(off) / (stated * most);
}

/* Records that round the same way again and again: one large at first,
 * then equal ones whose products are lost in part. */
static void test_rounding(storage how, size_t n, size_t p, double large)
{
    double *X = malloc(n * p * sizeof *X), *y = malloc(n * sizeof *y), *theta = calloc(p, sizeof *theta), worst;
    size_t *rows = malloc(n * sizeof *rows);
    pn_batch batch = { rows, n - n / 3, 1.0 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double most = 0.0;

    for (size_t i = 0; i < n; i++) {
        double squared = 0.0;

        y[i] = 1.0;
        rows[i] = i;
        for (size_t j = 0; j < p; j++) {
            X[i * p + j] = (i % 256 == 0 ? large : 1.0) * (double)(float)(0.7 + 0.01 * (double)j);
            squared += X[i * p + j] * X[i * p + j];
        }
        most = fmax(most, squared);
    }
    CHECK(store(&data, X, y, n, p, how, 0.0, NULL) == PN_OK);
    for (int which = 0; which < 2; which++) {
        CHECK(objective_of(&objective, data, which ? "logistic" : "squared", 0.0, 0.0, NULL) == PN_OK);
        worst = off_by(objective, NULL, theta, which == 1 && !data->sparse, which ? 0.25 * most : most);
        CHECK(worst <= 1.0 && worst > 1e-5);
        worst = off_by(objective, &batch, theta, which == 1 && !data->sparse, which ? 0.25 * most : most);
        CHECK(worst <= 1.0 && worst > 1e-5);
        if (which == 0) {
            CHECK(pn_objective_prepare(objective, 1000000, NULL, NULL) == PN_OK);
            CHECK(off_by(objective, NULL, theta, false, most) <= 1.0);
        }
        pn_objective_free(objective);
    }
    pn_dataset_free(data);
    free(X);
    free(y);
    free(theta);
    free(rows);
}

/* The Gram matrix serves: bit by bit the same whatever theta is. */
static void test_gram(void)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[P], packed[PACKED], gram[PACKED], gradient[P], want[P];

    CHECK(made(&data, N, P, DENSE, 0.0, NULL) == PN_OK &&
          objective_of(&objective, data, "squared", 0.0, 0.0, NULL) == PN_OK);
    point(theta, P);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, NULL, NULL) == PN_OK);
    CHECK(pn_objective_prepare(objective, 1000000, NULL, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, gradient, gram, NULL, NULL) == PN_OK);
    CHECK(pn_objective_losses(objective, NULL, theta, NULL, want, NULL, NULL) == PN_OK);
    CHECK(memcmp(gradient, want, sizeof want) == 0);
    for (size_t k = 0; k < PACKED; k++)
        CHECK_CLOSE(packed[k], gram[k], 1e-14);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static void test_refusals(void)
{
    static const char *const rough[] = { "hinge", "absolute" };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[P], packed[PACKED];
    size_t row = N;
    pn_err err;

    point(theta, P);
    CHECK(made(&data, N, P, DENSE, 0.0, NULL) == PN_OK);
    for (size_t k = 0; k < 2; k++) {
        CHECK(objective_of(&objective, data, rough[k], 0.0, 0.0, NULL) == PN_OK);
        CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, NULL, &err) == PN_EUNSUPPORTED);
        CHECK(strstr(err.message, rough[k]));
        pn_objective_free(objective);
    }
    CHECK(objective_of(&objective, data, "sigmoid", 0.5, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "clip"));
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, &(pn_batch){ &row, 1, 1.0 }, theta, NULL, NULL, packed, NULL, NULL) ==
          PN_EINVAL);
    theta[3] = INFINITY;
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, NULL, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "entry 4"));
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* 70,000 features: more than can be packed; refused before anything is asked for. */
static void test_too_large(void)
{
    size_t p = 70000, start[2] = { 0, 1 };
    uint32_t column[1] = { 5 };
    double value[1] = { 1.0 }, y[1] = { 1.0 }, *theta = calloc(p, sizeof *theta), packed[1];
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;

    CHECK(pn_dataset_from_csr(&data, &(pn_csr){ 1, p, start, column, value }, y, "made", NULL) == PN_OK);
    CHECK(objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, NULL, NULL) == PN_EDIM);
    pn_objective_free(objective);
    pn_dataset_free(data);
    free(theta);
}

static void test_cancelled(size_t n, size_t p)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    double *packed = malloc(p * (p + 1) / 2 * sizeof *packed), *theta = calloc(p, sizeof *theta);

    CHECK(made(&data, n, p, DENSE, 0.0, NULL) == PN_OK &&
          objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 2, NULL) == PN_OK);
    pn_task_cancel(task);
    CHECK(pn_objective_quadratic(objective, NULL, theta, NULL, NULL, packed, task, NULL) == PN_ECANCELLED);
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
    free(packed);
    free(theta);
}

static pn_status scenario(void *self, pn_err *err)
{
    const storage *how = self;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    size_t rows[3] = { 3, 1, 4 };
    pn_batch batch = { rows, 3, 3.0 };
    double theta[P], gradient[P], packed[PACKED];
    pn_status status = made(&data, N, P, *how, 0.0, err);

    point(theta, P);
    if (status == PN_OK)
        status = objective_of(&objective, data, "sigmoid", 0.0, 0.0, err);
    if (status == PN_OK)
        status = pn_objective_quadratic(objective, NULL, theta, NULL, gradient, packed, NULL, err);
    if (status == PN_OK)
        status = pn_objective_quadratic(objective, &batch, theta, NULL, gradient, packed, NULL, err);
    pn_objective_free(objective);
    pn_dataset_free(data);
    return status;
}

int main(void)
{
    static const char *const losses[] = { "logistic", "sigmoid", "cauchy", "squared", "wavy" };

    for (int how = DENSE; how < STORAGES; how++) {
        for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
            test_pass((storage)how, losses[k]);
            test_batch((storage)how, losses[k]);
        }
        test_clipped_batch((storage)how);
        test_rounding((storage)how, 3000, 5, 2000.0);
        CHECK(fail_alloc_sweep("quadratic", scenario, &(storage){ (storage)how }) > 0);
    }
    test_many_features(300, 600, DENSE, "sigmoid");
    test_many_features(300, 600, SINGLE, "logistic");
    test_many_features(700, 250, DENSE, "wavy");
    test_many_features(60, 3000, SPARSE, "sigmoid");
    test_rounding(DENSE, 3000, 1, 1e6);
    test_gram();
    test_refusals();
    test_too_large();
    test_cancelled(500, 9);
    test_cancelled(500, 520);
    return check_summary();
}
