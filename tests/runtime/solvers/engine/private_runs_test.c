/* private_runs_test.c -- what Lua cannot ask of the private solvers that step: other numbers of threads, a cancel from
 * outside, memory that runs out anywhere.  Objective perturbation and the second-order solvers, which charge what they
 * release, have tests of their own.
 * Depends on: solvers/, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "geometry/sets/sets.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

enum { DIM = 6, STEPS = 5, OWN_MAX = 16 };

static const char *const solvers[] = {
    "mirror_descent", "frank_wolfe", "frank_wolfe_convex", "gradient_descent", "accelerated_mirror_descent", "sgd"
};
static const char *const pay_at_the_end[] = { "output_perturbation" }; /* nothing is released before */

static pn_status make(pn_dataset **data, pn_objective **objective, size_t n, pn_err *err)
{
    pn_synthetic_options how = { .n = n, .p = DIM, .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_objective_parts parts = { .clip = 0.0 };
    pn_arg none[4] = { { 0 } };
    pn_arg ball[4] = { { .given = true, .count = DIM }, { .given = true, .real = 1.0 }, { 0 } };
    pn_dataset *raw = NULL;
    pn_status status = pn_dataset_synthetic_logistic(&raw, &how, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(data, raw, PN_L2, 1.0, err);
    pn_dataset_free(raw);
    parts.data = *data;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, "logistic", none, err);
    if (status == PN_OK)
        status = pn_set_from_args(&parts.set, "l1_ball", ball, err);
    if (status == PN_OK)
        status = pn_objective_new(objective, &parts, err);
    pn_loss_free(parts.loss);
    pn_set_free(parts.set);
    return status;
}

static pn_status plan_of(pn_plan **out, const char *solver, pn_objective *objective, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN_MAX] = { { 0 } };

    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = STEPS };
    return pn_plan_from_args(out, solver, objective, NULL, common, own, NULL, err);
}

static pn_ledger *teaching(void)
{
    pn_budget budget = { .epsilon = NAN, .delta = 0.0, .rho = 1.0, .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

/* How often a run of so many steps has paid. */
static size_t due(const char *solver, size_t steps)
{
    for (size_t i = 0; i < sizeof pay_at_the_end / sizeof pay_at_the_end[0]; i++) {
        if (strcmp(solver, pay_at_the_end[i]) == 0)
            return steps == STEPS;
    }
    return steps;
}

static size_t charges(const pn_ledger *ledger)
{
    size_t sum = 0;

    for (size_t i = 0; i < pn_ledger_entries(ledger); i++)
        sum += pn_ledger_entry(ledger, i).count;
    return sum;
}

/* ---- threads ---- */

static void run_with(pn_plan *plan, unsigned threads, double *theta)
{
    pn_task *task = NULL;
    pn_rng *rng = NULL;
    pn_fit *fit = NULL;

    CHECK(pn_task_new(&task, threads, NULL) == PN_OK && pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    CHECK(pn_plan_run(&fit, plan, &(pn_run_options){ .rng = rng, .task = task }, NULL) == PN_OK);
    memcpy(theta, fit->theta, DIM * sizeof *theta);
    CHECK(fit->steps == STEPS && !fit->stopped && fit->simulated);
    pn_fit_free(fit);
    pn_rng_free(rng);
    pn_task_free(task);
}

static void test_any_number_of_threads_gives_the_same(const char *solver)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    double one[DIM], other[DIM];

    CHECK(make(&data, &objective, 3000, NULL) == PN_OK && plan_of(&plan, solver, objective, NULL) == PN_OK);
    run_with(plan, 1, one);
    for (unsigned threads = 2; threads <= 5; threads++) {
        run_with(plan, threads, other);
        for (size_t j = 0; j < DIM; j++)
            CHECK_CLOSE(other[j], one[j], 1e-12);
    }
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* ---- stopping ---- */

static pn_status cancel_after_two(void *self, const pn_trace_row *row, const double *theta, size_t p, pn_err *err)
{
    (void)theta;
    (void)p;
    (void)err;
    if (row->step == 2)
        pn_task_cancel(self);
    return PN_OK;
}

/* A limit of time that is over by the next look at it. */
static pn_status end_the_time_after_two(void *self, const pn_trace_row *row, const double *theta, size_t p, pn_err *err)
{
    (void)theta;
    (void)p;
    (void)err;
    if (row->step == 2)
        pn_task_govern(self, 1e-9);
    return PN_OK;
}

/* Two steps were made and paid for, and no third one. */
static void test_a_stop_leaves_what_was_paid_for(const char *solver, pn_step_fn stop, const char *why)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_task *task = NULL;
    pn_fit *fit = NULL;
    pn_rng *rng = NULL;
    pn_ledger *ledger = teaching();

    CHECK(make(&data, &objective, 300, NULL) == PN_OK && plan_of(&plan, solver, objective, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 1, NULL) == PN_OK && pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    CHECK(pn_plan_run(
              &fit, plan,
              &(pn_run_options){ .ledger = ledger, .rng = rng, .task = task, .on_step = stop, .on_step_self = task },
              NULL) == PN_OK);
    CHECK(fit->steps == 2 && fit->stopped && strcmp(fit->stopped, why) == 0);
    CHECK(charges(ledger) == due(solver, 2));
    CHECK_CLOSE(fit->charged_rho, plan->rho * (double)due(solver, 2) / (double)due(solver, STEPS), 1e-12);
    CHECK_CLOSE(1.0 - pn_ledger_remaining(ledger), fit->charged_rho, 1e-12);
    CHECK(fit->rho == (due(solver, 2) > 0 ? plan->rho : 0.0)); /* who stopped it could see what it had released */
    pn_fit_free(fit);
    pn_rng_free(rng);
    pn_task_free(task);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_ledger_free(ledger);
}

/* ---- memory ---- */

typedef struct short_memory {
    const char *solver;
    long k; /* the allocation of the run that fails, from 1; 0: none */
    fail_alloc count;
    size_t failures;
    double theta[DIM];
} short_memory;

/* Walk to the end; what fails is tried again. */
static void walk_through(short_memory *self, pn_plan *plan, pn_ledger *ledger, pn_rng *rng)
{
    pn_walk *walk = NULL;
    pn_fit *fit = NULL;
    pn_trace_row row;
    bool done = false;
    pn_run_options options = { .ledger = ledger, .rng = rng };

    self->count.fail_at = self->k > 0 ? atomic_load(&self->count.calls) + self->k : 0;
    while (pn_walk_new(&walk, plan, &options, NULL) != PN_OK && ++self->failures < 3)
        CHECK(charges(ledger) == 0);
    while (walk && !done && self->failures < 3)
        self->failures += pn_walk_step(walk, &row, &done, NULL) != PN_OK;
    while (walk && pn_walk_fit(walk, NULL, &fit, NULL) != PN_OK && ++self->failures < 3)
        continue;
    if (CHECK(fit != NULL)) {
        memcpy(self->theta, fit->theta, DIM * sizeof *self->theta);
        CHECK_CLOSE(fit->rho, plan->rho, 1e-12);
    }
    self->count.fail_at = 0;
    pn_fit_free(fit);
    pn_walk_free(walk);
}

static pn_status scenario(void *self, pn_err *err)
{
    short_memory *run = self;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_rng *rng = NULL;
    pn_ledger *ledger = teaching();

    CHECK(make(&data, &objective, 60, err) == PN_OK && plan_of(&plan, run->solver, objective, err) == PN_OK);
    CHECK(pn_rng_seeded(&rng, 3, err) == PN_OK);
    walk_through(run, plan, ledger, rng);
    CHECK(charges(ledger) == due(run->solver, STEPS));
    pn_rng_free(rng);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_ledger_free(ledger);
    return PN_OK;
}

/* Whatever allocation fails, steps that are tried again draw nothing twice: the same answer at the same price. */
static void test_short_memory_costs_no_noise(const char *solver)
{
    short_memory whole = { .solver = solver }, run = whole;
    long failed = 0;

    CHECK(fail_alloc_run(&whole.count, scenario, &whole) == PN_OK && whole.failures == 0);
    do {
        run = (short_memory){ .solver = solver, .k = run.k + 1 };
        CHECK(fail_alloc_run(&run.count, scenario, &run) == PN_OK);
        CHECK(atomic_load(&run.count.live) == 0);
        CHECK(memcmp(run.theta, whole.theta, sizeof whole.theta) == 0);
        failed += run.failures > 0;
    } while (run.failures > 0 && run.k < 1000);
    CHECK(failed >= 2 * STEPS); /* so many allocations at least has a run */
}

static void test(const char *solver)
{
    test_any_number_of_threads_gives_the_same(solver);
    test_a_stop_leaves_what_was_paid_for(solver, cancel_after_two, "interrupted");
    test_a_stop_leaves_what_was_paid_for(solver, end_the_time_after_two, "limit");
    test_short_memory_costs_no_noise(solver);
}

int main(void)
{
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++)
        test(solvers[i]);
    for (size_t i = 0; i < sizeof pay_at_the_end / sizeof pay_at_the_end[0]; i++)
        test(pay_at_the_end[i]);
    return check_summary();
}
