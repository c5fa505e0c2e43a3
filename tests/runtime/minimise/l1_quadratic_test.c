/* l1_quadratic_test.c -- the minimum of a quadratic plus l1 ||u||_1: its conditions on random problems, singular ones
 * among them, with the matrix and with products alone; and the block of a Hessian that it is asked for.
 * Depends on: minimise/l1_quadratic.h, objective/passes/second_order.h, check.h, fail_alloc.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "core/alloc.h"
#include "fail_alloc.h"
#include "numeric/blas.h"
#include "objective/passes/second_order.h"
#include "minimise/l1_quadratic.h"

#define P 40

static uint64_t state = 7;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53 * 2.0 - 1.0;
}

static double matrix[P * P], scale[P];

/* B^T B / rank, of columns of very different size, the last of which repeats the first. */
static void make_matrix(size_t rank)
{
    double rows[P * P];

    for (size_t r = 0; r < rank; r++) {
        for (size_t j = 0; j < P; j++)
            rows[r * P + j] = uniform() * pow(10.0, (double)(j % 3) - 1.0);
        rows[r * P + P - 1] = rows[r * P];
    }
    for (size_t i = 0; i < P * P; i++) {
        matrix[i] = 0.0;
        for (size_t r = 0; r < rank; r++)
            matrix[i] += rows[r * P + i / P] * rows[r * P + i % P] / (double)rank;
    }
    for (size_t j = 0; j < P; j++)
        scale[j] = matrix[j * P + j];
}

static pn_status times(void *self, const double *v, double *out, pn_err *err)
{
    (void)self;
    (void)err;
    pn_mat_times_vec((pn_mat){ matrix, P, P }, v, out);
    return PN_OK;
}

/* With the gradient A u - A w at u, w random: then there is a minimum without l1, too. */
static void check_problem(size_t rank, double l1, bool formed)
{
    double u[P], slope[P], least[P], start[P], want[P], change[P], before, after;
    pn_l1_quadratic of = { .owner = "test",
                           .p = P,
                           .matrix = formed ? matrix : NULL,
                           .times = times,
                           .scale = scale,
                           .l1 = l1,
                           .tolerance = 1e-9,
                           .most = 200000 };
    pn_err err;

    make_matrix(rank);
    for (size_t j = 0; j < P; j++) {
        start[j] = u[j] = j % 3 ? uniform() : 0.0;
        change[j] = uniform();
    }
    (void)times(NULL, change, slope, &err);
    memcpy(want, slope, sizeof want);
    before = l1 * pn_lp_norm(PN_L1, P, u);
    CHECK(pn_l1_quadratic_minimise(&of, u, slope, &err) == PN_OK);
    CHECK(pn_least_subgradient(P, u, slope, l1, least) <= 1e-9);
    for (size_t j = 0; j < P; j++) /* the gradient that was handed back, afresh */
        change[j] = u[j] - start[j];
    (void)times(NULL, change, least, &err);
    after = l1 * pn_lp_norm(PN_L1, P, u) + 0.5 * pn_dot(P, change, least) + pn_dot(P, want, change);
    CHECK(after <= before);
    for (size_t j = 0; j < P; j++)
        CHECK_CLOSE(slope[j], want[j] + least[j], 1e-9);
}

static void least_subgradients_are_those_of_the_definition(void)
{
    const double u[] = { 2.0, -2.0, 0.0, 0.0, 0.0 }, slope[] = { 1.0, 1.0, 0.2, 0.8, -0.9 };
    double out[5];

    CHECK_CLOSE(pn_least_subgradient(5, u, slope, 0.5, out), sqrt(2.25 + 0.25 + 0.09 + 0.16), 1e-15);
    CHECK(out[0] == 1.5 && out[1] == 0.5 && out[2] == 0.0);
    CHECK_CLOSE(out[3], 0.3, 1e-15);
    CHECK_CLOSE(out[4], -0.4, 1e-15);
}

/* ---- a block of a Hessian ---- */

#define DIM 9

static pn_status make(pn_dataset **data, pn_objective **objective, bool sparse, bool single, pn_err *err)
{
    double x[70 * DIM], y[70];
    pn_objective_parts parts = { 0 };
    pn_arg none[4] = { { 0 } };
    pn_dataset *dense = NULL, *made = NULL;
    pn_status status = PN_OK;

    state = 3;
    for (size_t i = 0; i < 70; i++) {
        for (size_t j = 0; j < DIM; j++)
            x[i * DIM + j] = (i + j) % 3 ? uniform() : 0.0;
        y[i] = i % 2 ? 1.0 : -1.0;
    }
    if (sparse) {
        size_t start[71], count = 0;
        uint32_t column[70 * DIM];
        double value[70 * DIM];
        pn_csr csr = { 70, DIM, start, column, value };

        for (size_t i = 0; i < 70; i++) {
            start[i] = count;
            for (size_t j = 0; j < DIM; j++) {
                if (x[i * DIM + j] != 0.0) {
                    column[count] = (uint32_t)j;
                    value[count++] = x[i * DIM + j];
                }
            }
        }
        start[70] = count;
        status = pn_dataset_from_csr(&dense, &csr, y, "test", err);
    } else {
        status = pn_dataset_from_dense(&dense, x, 70, DIM, y, "test", err);
    }
    if (status == PN_OK && single) {
        status = pn_dataset_to_float32(&made, dense, err);
        pn_dataset_free(dense);
        dense = made;
    }
    *data = dense;
    parts.data = dense;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, "logistic", none, err);
    if (status == PN_OK)
        status = pn_objective_new(objective, &parts, err);
    pn_loss_free(parts.loss);
    return status;
}

static void a_block_is_that_of_the_whole(bool sparse, bool single)
{
    const size_t columns[] = { 0, 3, 4, 8 };
    double theta[DIM], whole[DIM * DIM], some[16], threaded[16];
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    pn_err err;

    CHECK(make(&data, &objective, sparse, single, &err) == PN_OK && pn_task_new(&task, 3, &err) == PN_OK);
    for (size_t j = 0; j < DIM; j++)
        theta[j] = uniform();
    CHECK(pn_objective_hessian(objective, theta, whole, NULL, &err) == PN_OK);
    CHECK(pn_objective_hessian_columns(objective, theta, columns, 4, some, NULL, &err) == PN_OK);
    CHECK(pn_objective_hessian_columns(objective, theta, columns, 4, threaded, task, &err) == PN_OK);
    CHECK(memcmp(some, threaded, sizeof some) == 0);
    for (size_t k = 0; k < 16; k++) /* sums of 70 products below 1/4 */
        CHECK_CLOSE(some[k], whole[columns[k / 4] * DIM + columns[k % 4]], 1e-15);
    CHECK(pn_objective_hessian_columns(objective, theta, columns, 0, some, NULL, &err) == PN_EDIM);
    CHECK(pn_objective_hessian_columns(objective, theta, (size_t[]){ 3, 3 }, 2, some, NULL, &err) == PN_EDIM);
    CHECK(pn_objective_hessian_columns(objective, theta, (size_t[]){ DIM }, 1, some, NULL, &err) == PN_EDIM);
    theta[2] = NAN;
    CHECK(pn_objective_hessian_columns(objective, theta, columns, 4, some, NULL, &err) == PN_EDOMAIN);
    pn_task_cancel(task);
    theta[2] = 0.0;
    CHECK(pn_objective_hessian_columns(objective, theta, columns, 4, some, task, &err) == PN_ECANCELLED);
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static pn_status block_once(void *self, pn_err *err)
{
    const size_t columns[] = { 1, 2 };
    double theta[DIM] = { 0 }, out[4];
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_status status = make(&data, &objective, true, false, err);

    (void)self;
    if (status == PN_OK)
        status = pn_objective_hessian_columns(objective, theta, columns, 2, out, NULL, err);
    pn_objective_free(objective);
    pn_dataset_free(data);
    return status;
}

static void a_cancel_ends_the_search(void)
{
    double u[P] = { 0 }, slope[P];
    pn_task *task = NULL;
    pn_err err;
    pn_l1_quadratic of = { .owner = "test", .p = P, .matrix = matrix, .scale = scale, .l1 = 0.1, .most = 1000000 };

    make_matrix(P);
    for (size_t j = 0; j < P; j++)
        slope[j] = 1.0 + uniform();
    CHECK(pn_task_new(&task, 1, &err) == PN_OK);
    pn_task_cancel(task);
    of.task = task;
    CHECK(pn_l1_quadratic_minimise(&of, u, slope, &err) == PN_ECANCELLED);
    pn_task_free(task);
}

int main(void)
{
    least_subgradients_are_those_of_the_definition();
    for (int i = 0; i < 10; i++) {
        for (size_t rank = 10; rank <= P; rank += 30) {
            check_problem(rank, 0.01, true);
            check_problem(rank, 1e-3, true);
            check_problem(rank, 0.01, false);
            check_problem(rank, 0.0, true);
        }
    }
    a_cancel_ends_the_search();
    for (int kind = 0; kind < 4; kind++)
        a_block_is_that_of_the_whole(kind & 1, kind & 2);
    CHECK(fail_alloc_sweep("hessian_columns", block_once, NULL) > 3);
    return check_summary();
}
