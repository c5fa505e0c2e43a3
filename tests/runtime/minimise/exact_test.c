/* exact_test.c -- what Lua cannot ask of pn_objective_minimise: memory that runs out at each of its allocations, runs
 * that are stopped, and results that are left alone by a failure.  Depends on: solvers/engine/solver.h,
 * check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/sets/sets.h"
#include "solvers/engine/solver.h"

#define DIM 3

/* Logistic loss and l1 over the unit l2 ball. */
static pn_status make(pn_dataset **data, pn_objective **objective, pn_err *err)
{
    pn_synthetic_options how = { .n = 30, .p = DIM, .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_objective_parts parts = { 0 };
    pn_arg none[4] = { { 0 } };
    pn_arg ball[4] = { { .given = true, .count = DIM }, { .given = true, .real = 1.0 }, { 0 } };
    pn_arg weight[4] = { { .given = true, .real = 0.05 } };
    pn_status status = pn_dataset_synthetic_logistic(data, &how, NULL, err);

    parts.data = *data;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, "logistic", none, err);
    if (status == PN_OK)
        status = pn_set_from_args(&parts.set, "l2_ball", ball, err);
    if (status == PN_OK)
        status = pn_regulariser_from_args(&parts.reg, "l1", weight, err);
    if (status == PN_OK)
        status = pn_objective_new(objective, &parts, err);
    pn_loss_free(parts.loss);
    pn_set_free(parts.set);
    pn_regulariser_free(parts.reg);
    return status;
}

static pn_status solve_all(void *self, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    double theta[DIM] = { 7, 8, 9 }, value = 5, gap = 6;
    pn_status status = make(&data, &objective, err);

    (void)self;
    if (status == PN_OK)
        status = pn_objective_minimise(objective, 1e-2, 1000, theta, &value, &gap, NULL, err);
    if (status == PN_OK)
        CHECK(gap >= 0.0 && gap <= 1e-2 && value != 5);
    else
        CHECK(theta[0] == 7 && theta[1] == 8 && theta[2] == 9 && value == 5 && gap == 6);
    pn_objective_free(objective);
    pn_dataset_free(data);
    return status;
}

static void a_stopped_run_leaves_its_results_alone(void)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_task *task = NULL;
    double theta[DIM] = { 7, 8, 9 }, value = 5, gap = 6;
    pn_err err;

    CHECK(make(&data, &objective, &err) == PN_OK && pn_task_new(&task, 1, &err) == PN_OK);
    pn_task_cancel(task);
    CHECK(pn_objective_minimise(objective, 1e-2, 1000, theta, &value, &gap, task, &err) == PN_ECANCELLED);
    CHECK(theta[0] == 7 && value == 5 && gap == 6);
    pn_task_free(task);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

int main(void)
{
    a_stopped_run_leaves_its_results_alone();
    CHECK(fail_alloc_sweep("solve.exact", solve_all, NULL) > 20);
    return check_summary();
}
