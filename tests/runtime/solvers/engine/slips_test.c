/* slips_test.c -- what a C program is told that forgot a part, passed zeros for what should be NaN,
 * or misspelt a name: never a crash.
 * Depends on: solvers/, check.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

typedef struct parts {
    pn_dataset *data;
    pn_loss *loss;
    pn_objective *objective;
} parts;

static void make(parts *self)
{
    pn_synthetic_options how = { .n = 200, .p = 3, .sparsity = 1, .signal = 1.0, .seed = 1 };
    pn_objective_parts of = { 0 };

    CHECK(pn_dataset_synthetic_lasso(&self->data, &how, NULL, NULL) == PN_OK);
    CHECK(pn_loss_from_args(&self->loss, "squared", NULL, NULL) ==
          PN_OK); /* it has no options, so none need be there */
    of.data = self->data;
    of.loss = self->loss;
    of.clip = 1.0;
    CHECK(pn_objective_new(&self->objective, &of, NULL) == PN_OK);
}

static void drop(parts *self)
{
    pn_objective_free(self->objective);
    pn_loss_free(self->loss);
    pn_dataset_free(self->data);
}

static void forgotten_parts_are_named(parts *with)
{
    pn_objective_parts of = { .loss = with->loss };
    pn_objective *objective = NULL;
    pn_loss *huber = NULL;
    pn_err err;

    CHECK(pn_objective_new(&objective, &of, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "objective: the parts have no data") == 0);
    of = (pn_objective_parts){ .data = with->data };
    CHECK(pn_objective_new(&objective, &of, &err) == PN_EINVAL);
    CHECK(strcmp(err.message, "objective: the parts have no loss") == 0);
    CHECK(!objective);
    CHECK(pn_loss_from_args(&huber, "huber", NULL, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "loss.huber: args is NULL; give an array of 1") == err.message);
}

static void a_zero_that_should_be_nan_is_named(void)
{
    pn_budget budget = { .epsilon = 1.0, .delta = 1e-6 };
    pn_ledger *ledger = NULL;
    pn_err err;

    CHECK(pn_ledger_new(&ledger, &budget, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "NaN for the other; got epsilon 1 and rho 0") != NULL);
}

static void an_unknown_solver_is_answered_with_the_known(parts *with)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[16] = { { 0 } };
    pn_plan *plan = NULL;
    pn_err err;

    CHECK(pn_plan_from_args(&plan, "frank_wolf", with->objective, NULL, common, own, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message,
                 "pn_plan_from_args: there is no solver \"frank_wolf\", the nearest is frank_wolfe; known are auto, "));
    for (size_t i = 0; pn_solver_table()[i]; i++)
        CHECK(strstr(err.message, pn_solver_table()[i]->name) != NULL);
}

static void a_run_needs_no_options(parts *with)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[16] = { { 0 } };
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;

    common[PN_OPT_EPSILON] = (pn_arg){ .given = true, .real = 1.0 };
    common[PN_OPT_DELTA] = (pn_arg){ .given = true, .real = 1e-6 };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = 2 };
    own[pn_param_find(pn_solver_find("gradient_descent")->params, "step")] = (pn_arg){ .given = true, .real = 0.1 };
    if (CHECK(pn_plan_from_args(&plan, "gradient_descent", with->objective, NULL, common, own, NULL, NULL) == PN_OK) &&
        CHECK(pn_plan_run(&fit, plan, NULL, NULL) == PN_OK))
        CHECK(fit->is_private && !fit->simulated && fit->steps == 2 && fit->epsilon <= 1.0);
    pn_fit_free(fit);
    pn_plan_free(plan);
}

int main(void)
{
    parts with = { NULL, NULL, NULL };

    make(&with);
    forgotten_parts_are_named(&with);
    a_zero_that_should_be_nan_is_named();
    an_unknown_solver_is_answered_with_the_known(&with);
    a_run_needs_no_options(&with);
    drop(&with);
    return check_summary();
}
