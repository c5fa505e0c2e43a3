/* second_order_gap_test.c -- value, gradient norm and least eigenvalue of an objective at a point: against products
 * with the Hessian, Hessians known in closed form, losses that bend either way, several margins,
 * many coordinates; refusals.
 * Depends on: hessian_helpers.h, objective/passes/second_order.h, numeric/, fail_alloc.h. */
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "objective/passes/second_order.h"
#include "runtime/objective/passes/hessian_helpers.h"

enum { MOST = 40 };

/* The least eigenvalue by way of products with the unit vectors. */
static double plain(pn_objective *objective, const double *theta, double *norm)
{
    static double full[MOST * MOST], values[MOST];
    size_t dim = pn_objective_dim(objective);
    double along[MOST] = { 0 };

    for (size_t j = 0; j < dim; j++) {
        along[j] = 1.0;
        CHECK(pn_objective_hessian_times(objective, NULL, theta, along, full + j * dim, NULL, NULL) == PN_OK);
        along[j] = 0.0;
    }
    CHECK(pn_eigen_symmetric(values, full, (pn_mat){ full, dim, dim }, NULL) == PN_OK);
    *norm = fmax(fabs(values[0]), fabs(values[dim - 1]));
    return values[0];
}

static void compare(pn_objective *objective, const double *theta, bool in_full)
{
    size_t dim = pn_objective_dim(objective);
    double gradient[MOST], direction[MOST], image[MOST], value, norm, least = plain(objective, theta, &norm);
    pn_second_order_gap gap = { 0 };

    CHECK(pn_objective_evaluate(objective, theta, &value, gradient, NULL, NULL) == PN_OK);
    CHECK(pn_second_order_gap_measure(&gap, objective, theta, direction, NULL, NULL) == PN_OK);
    CHECK(gap.value == value && gap.gradient_norm == pn_lp_norm(PN_L2, dim, gradient));
    CHECK(gap.error >= 0.0 && gap.error <= 2e-9 * norm + 1e-300 && (gap.steps == 0) == in_full);
    CHECK_CLOSE(gap.eigenvalue, least, gap.error + 1e-13 * norm);
    CHECK_CLOSE(pn_lp_norm(PN_L2, dim, direction), 1.0, 1e-13);
    CHECK(pn_objective_hessian_times(objective, NULL, theta, direction, image, NULL, NULL) == PN_OK);
    CHECK_CLOSE(pn_dot(dim, direction, image), gap.eigenvalue, 1e-12 * norm);
    CHECK(pn_second_order_gap_measure(&gap, objective, theta, NULL, NULL, NULL) == PN_OK);
    CHECK_CLOSE(gap.eigenvalue, least, gap.error + 1e-13 * norm);
}

static pn_regulariser *nonconvex(double lambda)
{
    pn_arg args[4] = { { .given = true, .real = lambda } };
    pn_regulariser *reg = NULL;

    CHECK(pn_regulariser_from_args(&reg, "nonconvex", args, NULL) == PN_OK);
    return reg;
}

static void test_losses(storage how)
{
    static const char *const losses[] = { "logistic", "sigmoid", "cauchy", "squared", "wavy" };
    double theta[MOST];

    point(theta, MOST);
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
        for (int with = 0; with < 2; with++) {
            pn_dataset *data = NULL;
            pn_objective *objective = NULL, *bare = NULL;
            pn_objective_parts parts;

            CHECK(made(&data, 60, 30, how, 0.0, NULL) == PN_OK);
            CHECK(objective_of(&bare, data, losses[k], 0.0, 0.0, NULL) == PN_OK);
            parts = (pn_objective_parts){ .data = data,
                                          .loss = pn_objective_loss(bare),
                                          .reg = with ? nonconvex(0.5) : NULL };
            CHECK(pn_objective_new(&objective, &parts, NULL) == PN_OK);
            compare(objective, theta, true);
            pn_regulariser_free(parts.reg);
            pn_objective_free(objective);
            pn_objective_free(bare);
            pn_dataset_free(data);
        }
    }
}

/* r = lambda w^2/(1 + w^2): r'' = lambda (2 - 6 w^2)/(1 + w^2)^3, least at w = 1: -lambda/2.
 * Records that see the first coordinate only. */
static void test_closed_form(void)
{
    const double X[6] = { 1.0, 0.0, 2.0, 0.0, -1.0, 0.0 }, y[3] = { 1.0, -1.0, 1.0 }, theta[2] = { 0.0, 1.0 };
    double direction[2];
    pn_dataset *data = NULL;
    pn_objective *bare = NULL, *objective = NULL;
    pn_objective_parts parts;
    pn_second_order_gap gap;

    CHECK(pn_dataset_from_dense(&data, X, 3, 2, y, "made", NULL) == PN_OK);
    CHECK(objective_of(&bare, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    parts = (pn_objective_parts){ .data = data, .loss = pn_objective_loss(bare), .reg = nonconvex(0.001) };
    CHECK(pn_objective_new(&objective, &parts, NULL) == PN_OK);
    CHECK(pn_second_order_gap_measure(&gap, objective, theta, direction, NULL, NULL) == PN_OK);
    CHECK_CLOSE(gap.value, log(2.0) + 0.0005, 1e-15);
    CHECK_CLOSE(gap.gradient_norm, hypot(0.5 * (-1.0 + 2.0 + 1.0) / 3.0, 0.001 * 0.5),
                1e-15); /* r' = 2 w/(1 + w^2)^2 */
    CHECK_CLOSE(gap.eigenvalue, -0.0005, 1e-15);
    CHECK_CLOSE(fabs(direction[1]), 1.0, 1e-15);
    CHECK(gap.error < 1e-14 && gap.steps == 0);
    pn_regulariser_free(parts.reg);
    pn_objective_free(objective);
    pn_objective_free(bare);
    pn_dataset_free(data);
}

/* At 0 the wavy loss bends as y, so that records of one entry each make the Hessian diagonal: y_i x_i^2/n. */
static void diagonal_problem(pn_dataset **data, pn_objective **objective, size_t p)
{
    size_t *start = malloc((p + 1) * sizeof *start);
    uint32_t *column = malloc(p * sizeof *column);
    double *value = malloc(p * sizeof *value), *y = malloc(p * sizeof *y);

    for (size_t i = 0; i < p; i++) {
        start[i] = i;
        column[i] = (uint32_t)i;
        value[i] = i == p / 2 ? 2.0 : 1.0 + (double)(i % 7) * 0.05;
        y[i] = i == p / 2 || i % 3 == 0 ? -1.0 : 1.0;
    }
    start[p] = p;
    CHECK(pn_dataset_from_csr(data, &(pn_csr){ p, p, start, column, value }, y, "made", NULL) == PN_OK);
    CHECK(objective_of(objective, *data, "wavy", 0.0, 0.0, NULL) == PN_OK);
    free(start);
    free(column);
    free(value);
    free(y);
}

static void test_many_coordinates(void)
{
    static const size_t orders[] = { 200, 2048, 2049, 20000 };

    for (size_t k = 0; k < 4; k++) {
        size_t p = orders[k];
        double *theta = calloc(p, sizeof *theta), *direction = calloc(p, sizeof *direction);
        double norm = 4.0 / (double)p;
        pn_dataset *data = NULL;
        pn_objective *objective = NULL;
        pn_second_order_gap gap = { 0 };

        diagonal_problem(&data, &objective, p);
        CHECK(pn_second_order_gap_measure(&gap, objective, theta, direction, NULL, NULL) == PN_OK);
        CHECK(gap.steps > 0 && gap.steps < 64 && gap.error <= 1.1e-9 * norm && gap.error > 0.0);
        CHECK_CLOSE(gap.eigenvalue, -norm, gap.error + 1e-14 * norm);
        CHECK_CLOSE(fabs(direction[p / 2]), 1.0, 1e-6);
        pn_objective_free(objective);
        pn_dataset_free(data);
        free(theta);
        free(direction);
    }
}

static void test_several_margins(void)
{
    double X[40 * 4], y[40], theta[12];
    unsigned state = 3;
    pn_arg args[4] = { { .given = true, .count = 3 } };
    pn_objective_parts parts = { 0 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;

    for (size_t i = 0; i < 160; i++)
        X[i] = unit(&state) - 0.5;
    for (size_t i = 0; i < 40; i++)
        y[i] = (double)(1 + i % 3);
    for (size_t i = 0; i < 12; i++)
        theta[i] = unit(&state);
    CHECK(pn_dataset_from_dense(&data, X, 40, 4, y, "made", NULL) == PN_OK);
    CHECK(pn_loss_from_args(&parts.loss, "softmax", args, NULL) == PN_OK);
    parts.data = data;
    CHECK(pn_objective_new(&objective, &parts, NULL) == PN_OK);
    compare(objective, theta, false);
    pn_objective_free(objective);
    pn_loss_free(parts.loss);
    pn_dataset_free(data);
}

static void refuse(pn_objective *objective, const double *theta, pn_task *task, pn_status want, const char *words)
{
    pn_second_order_gap gap = { .steps = 77 };
    double direction[MOST] = { 77.0 };
    pn_err err;

    CHECK(pn_second_order_gap_measure(&gap, objective, theta, direction, task, &err) == want);
    if (!CHECK(strstr(err.message, words) != NULL))
        (void)fprintf(stderr, "    %s\n", err.message);
    CHECK(gap.steps == 77 && direction[0] == 77.0);
}

static void test_refusals(void)
{
    double theta[9] = { 0 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;

    CHECK(made(&data, 50, 9, DENSE, 0.0, NULL) == PN_OK);
    CHECK(objective_of(&objective, data, "logistic", 0.5, 0.0, NULL) == PN_OK);
    refuse(objective, theta, NULL, PN_EUNSUPPORTED, "without clip=");
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "hinge", 0.0, 0.0, NULL) == PN_OK);
    refuse(objective, theta, NULL, PN_EUNSUPPORTED, "hinge");
    pn_objective_free(objective);
    CHECK(objective_of(&objective, data, "logistic", 0.0, 0.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 2, NULL) == PN_OK);
    pn_task_cancel(task);
    refuse(objective, theta, task, PN_ECANCELLED, "stopped");
    pn_task_free(task);
    theta[4] = NAN;
    refuse(objective, theta, NULL, PN_EDOMAIN, "5");
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static pn_status scenario(void *self, pn_err *err)
{
    size_t p = *(const size_t *)self;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double *theta = calloc(p, sizeof *theta);
    pn_second_order_gap gap;
    pn_status status = made(&data, 20, p, p > 100 ? SPARSE : DENSE, 0.0, err);

    if (status == PN_OK)
        status = objective_of(&objective, data, "sigmoid", 0.0, 0.0, err);
    if (status == PN_OK)
        status = pn_second_order_gap_measure(&gap, objective, theta, NULL, NULL, err);
    pn_objective_free(objective);
    pn_dataset_free(data);
    free(theta);
    return status;
}

int main(void)
{
    size_t small = 9, large = 2100;

    test_losses(DENSE);
    test_losses(SPARSE);
    test_closed_form();
    test_many_coordinates();
    test_several_margins();
    test_refusals();
    CHECK(fail_alloc_sweep("stored Hessian", scenario, &small) > 0);
    CHECK(fail_alloc_sweep("products", scenario, &large) > 0);
    return check_summary();
}
