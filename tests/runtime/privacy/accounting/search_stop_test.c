/* search_stop_test.c -- searches for noise, and sums of loss distributions, end when the task that their thread has
 * entered is cancelled: at the next price, not when they are done.
 * Depends on: check.h, core/stop.h, privacy/. */
#include <string.h>

#include "check.h"
#include "core/stop.h"
#include "privacy/accounting/allowance.h"

static const pn_run_budget usual = { .owner = "test", .accountant = "rdp", .epsilon = 1.0, .delta = 1e-6, .rho = NAN };

#define ASKED 3

/* A run of Gaussian noise that is cancelled when its price is asked for the third time. */
typedef struct cancelled_run {
    pn_task *task;
    size_t asked;
} cancelled_run;

static pn_status release(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    cancelled_run *run = self;

    *count = 100;
    if (++run->asked == ASKED)
        pn_task_cancel(run->task);
    return pn_event_gaussian(event, z, 1.0, 20, PN_REPLACE_ONE, err);
}

static void test_noise_of_a_run(pn_task *task, const char *accountant)
{
    cancelled_run run = { task, 0 };
    pn_program program = { release, &run };
    pn_run_budget budget = usual;
    double z = 0.0;
    pn_err err = { 0 };

    budget.accountant = accountant;
    CHECK(pn_calibrate_run(&z, NULL, &budget, &program, &err) == PN_ECANCELLED);
    CHECK(strstr(err.message, "stopped by the user") != NULL);
    CHECK(run.asked == ASKED && z == 0.0);
    pn_task_reset(task);
}

static void test_noise_of_an_allowance(pn_task *task)
{
    cancelled_run run = { task, 0 };
    pn_program program = { release, &run };
    pn_allowance allowance;
    double z = 0.0;

    CHECK(pn_allowance_open(&allowance, &usual, PN_UNIT_GAUSSIAN, false, NULL, NULL) == PN_OK);
    CHECK(pn_allowance_noise(&allowance, allowance.total, &program, &z, NULL) == PN_ECANCELLED);
    CHECK(run.asked == ASKED && z == 0.0);
    pn_task_reset(task);
}

static void test_loss_distributions(pn_task *task)
{
    pn_arg args[3] = { { .given = true, .real = 1.0 }, { .given = true, .real = 1.0 } };
    pn_accountant *accountant = NULL;
    pn_event *event = NULL;
    double value;

    CHECK(pn_event_from_args(&event, "laplace", args, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_accountant_new(&accountant, "pld", NULL, NULL) == PN_OK);
    CHECK(pn_accountant_add(accountant, event, 10, NULL) == PN_OK);
    pn_task_cancel(task);
    CHECK(pn_accountant_epsilon(accountant, 1e-6, &value, NULL) == PN_ECANCELLED);
    CHECK(pn_accountant_delta(accountant, 1.0, &value, NULL) == PN_ECANCELLED);
    pn_task_reset(task);
    CHECK(pn_accountant_epsilon(accountant, 1e-6, &value, NULL) == PN_OK && value > 1.0 && value < 10.0);
    pn_accountant_free(accountant);
    pn_event_free(event);
}

int main(void)
{
    pn_task *task = NULL;

    if (!CHECK(pn_task_new(&task, 1, NULL) == PN_OK))
        return check_summary();
    CHECK(pn_stop_enter(task) == NULL);
    test_noise_of_a_run(task, "rdp");
    test_noise_of_a_run(task, "pld");
    test_noise_of_an_allowance(task);
    test_loss_distributions(task);
    (void)pn_stop_enter(NULL);
    pn_task_free(task);
    return check_summary();
}
