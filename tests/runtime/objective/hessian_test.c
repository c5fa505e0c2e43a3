/* hessian_test.c -- the Hessian as a matrix is that of products and of differences of gradients, for every storage and any number
 * of threads.  Depends on: objective/objective.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "numeric/csr.h"
#include "objective/objective.h"

enum { N = 3000, P = 9 };

typedef enum storage { DENSE, SINGLE, SPARSE, SPARSE_SINGLE } storage;

static double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

static void fill(double *X, double *y)
{
    unsigned state = 7;

    for (size_t i = 0; i < N * P; i++)
        X[i] = unit(&state) < 0.4 ? 0.0 : (double)(float)(2.0 * unit(&state) - 1.0);
    for (size_t i = 0; i < N; i++)
        y[i] = unit(&state) < 0.5 ? -1.0 : 1.0;
}

static pn_status make_sparse(pn_dataset **out, const double *X, const double *y, pn_err *err)
{
    static size_t start[N + 1];
    static uint32_t column[N * P];
    static double value[N * P];
    size_t k = 0;

    for (size_t i = 0; i < N; i++) {
        start[i] = k;
        for (size_t j = 0; j < P; j++) {
            if (X[i * P + j] != 0.0) {
                column[k] = (uint32_t)j;
                value[k++] = X[i * P + j];
            }
        }
    }
    start[N] = k;
    return pn_dataset_from_csr(out, &(pn_csr){ N, P, start, column, value }, y, "made", err);
}

static pn_status make_data(pn_dataset **out, storage how, pn_err *err)
{
    static double X[N * P], y[N];
    pn_dataset *wide = NULL;
    pn_status status;

    fill(X, y);
    status = how >= SPARSE ? make_sparse(&wide, X, y, err) : pn_dataset_from_dense(&wide, X, N, P, y, "made", err);
    if (status == PN_OK && (how == SINGLE || how == SPARSE_SINGLE)) {
        status = pn_dataset_to_float32(out, wide, err);
        pn_dataset_free(wide);
    } else if (status == PN_OK) {
        *out = wide;
    }
    return status;
}

static pn_status make(pn_objective **out, const pn_dataset *data, const char *loss, double clip, pn_err *err)
{
    pn_arg args[4] = { { 0 } };
    pn_objective_parts parts = { .data = data, .clip = clip };
    pn_status status = pn_loss_new(&parts.loss, loss, args, err);

    if (status == PN_OK)
        status = pn_objective_new(out, &parts, err);
    pn_loss_free(parts.loss);
    return status;
}

static void point(double *theta)
{
    for (size_t j = 0; j < P; j++)
        theta[j] = 0.3 * (double)(j % 4) - 0.4;
}

/* Column i is the derivative of the gradient along e_i; central differences are good to about 1e-9 away from kinks. */
static void compare_with_differences(pn_objective *objective, const double *H)
{
    double theta[P], above[P], below[P];
    const double step = 1e-5;

    for (size_t i = 0; i < P; i++) {
        point(theta);
        theta[i] += step;
        CHECK(pn_objective_losses(objective, NULL, theta, NULL, above, NULL, NULL) == PN_OK);
        theta[i] -= 2.0 * step;
        CHECK(pn_objective_losses(objective, NULL, theta, NULL, below, NULL, NULL) == PN_OK);
        for (size_t j = 0; j < P; j++)
            CHECK_CLOSE(H[i * P + j], (above[j] - below[j]) / (2.0 * step), 2e-4); /* kinks of clips: a few records */
    }
}

static void test_hessian(storage how, const char *loss, double clip)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    double theta[P], H[P * P], again[P * P], v[P], product[P];

    CHECK(make_data(&data, how, NULL) == PN_OK && make(&objective, data, loss, clip, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 3, NULL) == PN_OK);
    point(theta);
    CHECK(pn_objective_hessian(objective, theta, H, NULL, NULL) == PN_OK);
    CHECK(pn_objective_hessian(objective, theta, again, task, NULL) == PN_OK);
    CHECK(memcmp(H, again, sizeof H) == 0);
    compare_with_differences(objective, H);
    for (size_t i = 0; clip == 0.0 && i < P; i++) {
        memset(v, 0, sizeof v);
        v[i] = 1.0;
        CHECK(pn_objective_hessian_times(objective, NULL, theta, v, product, NULL, NULL) == PN_OK);
        for (size_t j = 0; j < P; j++)
            CHECK_CLOSE(H[i * P + j], product[j], 1e-13);
    }
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* The clip flattens: with none of the records left alone nothing bends. */
static void test_clip_flattens(void)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[P], H[P * P];

    CHECK(make_data(&data, DENSE, NULL) == PN_OK && make(&objective, data, "logistic", 1e-9, NULL) == PN_OK);
    point(theta);
    CHECK(pn_objective_hessian(objective, theta, H, NULL, NULL) == PN_OK);
    for (size_t i = 0; i < P * P; i++)
        CHECK(H[i] == 0.0);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static void test_refusals(void)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[P], H[P * P];

    point(theta);
    CHECK(make_data(&data, DENSE, NULL) == PN_OK && make(&objective, data, "sigmoid", 0.7, NULL) == PN_OK);
    CHECK(pn_objective_hessian(objective, theta, H, NULL, NULL) == PN_EUNSUPPORTED); /* clipped and not convex */
    pn_objective_free(objective);
    CHECK(make(&objective, data, "hinge", 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian(objective, theta, H, NULL, NULL) == PN_EUNSUPPORTED);
    pn_objective_free(objective);
    CHECK(make(&objective, data, "logistic", 0.0, NULL) == PN_OK);
    theta[2] = NAN;
    CHECK(pn_objective_hessian(objective, theta, H, NULL, NULL) == PN_EDOMAIN);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static pn_status scenario(void *self, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[P], H[P * P];
    pn_status status = make_data(&data, SPARSE, err);

    (void)self;
    point(theta);
    if (status == PN_OK)
        status = make(&objective, data, "logistic", 0.0, err);
    if (status == PN_OK)
        status = pn_objective_hessian(objective, theta, H, NULL, err);
    pn_objective_free(objective);
    pn_dataset_free(data);
    return status;
}

int main(void)
{
    for (int how = DENSE; how <= SPARSE_SINGLE; how++) {
        test_hessian((storage)how, "logistic", 0.0);
        test_hessian((storage)how, "logistic", 0.7);
        test_hessian((storage)how, "squared", 0.0);
        test_hessian((storage)how, "sigmoid", 0.0);
    }
    test_clip_flattens();
    test_refusals();
    CHECK(fail_alloc_sweep("hessian", scenario, NULL) > 0);
    return check_summary();
}
