/* hessian_test.c -- the Hessian as a matrix is that of products and of differences of gradients, for every storage and
 * any number of threads.  Depends on: hessian_helpers.h, fail_alloc.h. */
#include "fail_alloc.h"
#include "runtime/objective/passes/hessian_helpers.h"

enum { N = 3000, P = 9 };

/* Column i is the derivative of the gradient along e_i; central differences are good to about 1e-9 away from kinks. */
static void compare_with_differences(pn_objective *objective, const double *H)
{
    double theta[P], above[P], below[P];
    const double step = 1e-5;

    for (size_t i = 0; i < P; i++) {
        point(theta, P);
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

    CHECK(made(&data, N, P, how, 0.0, NULL) == PN_OK && objective_of(&objective, data, loss, clip, 0.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 3, NULL) == PN_OK);
    point(theta, P);
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

    CHECK(made(&data, N, P, DENSE, 0.0, NULL) == PN_OK &&
          objective_of(&objective, data, "logistic", 1e-9, 0.0, NULL) == PN_OK);
    point(theta, P);
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

    point(theta, P);
    CHECK(made(&data, N, P, DENSE, 0.0, NULL) == PN_OK &&
          objective_of(&objective, data, "sigmoid", 0.7, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian(objective, theta, H, NULL, NULL) == PN_EUNSUPPORTED); /* clipped and not convex */
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "hinge", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_objective_hessian(objective, theta, H, NULL, NULL) == PN_EUNSUPPORTED);
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
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
    pn_status status = made(&data, N, P, SPARSE, 0.0, err);

    (void)self;
    point(theta, P);
    if (status == PN_OK)
        status = objective_of(&objective, data, "logistic", 0.0, 0.0, err);
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
