/* output_perturbation_test.c -- what Lua cannot ask of output perturbation: a minimum that is missed,
 * a pass that is stopped half-way.
 * Depends on: solvers/perturbation/output_perturbation.h, check.h. */
#include <string.h>

#include "check.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/perturbation/output_perturbation.h"

enum { DIM = 4, N = 60 };

typedef struct scene {
    pn_dataset *data;
    pn_objective *objective;
    pn_plan *plan;
    pn_ledger *ledger;
    pn_rng *rng;
} scene;

static void open_scene(scene *at, const char *method)
{
    pn_synthetic_options how = { .n = N, .p = DIM, .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_budget budget = { .epsilon = NAN, .delta = 0.0, .rho = 1.0, .teaching = true };
    pn_objective_parts parts = { .clip = 0.0 };
    pn_arg none[4] = { { 0 } }, weight[2] = { { .given = true, .real = 0.05 }, { 0 } };
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OUTPUT_OPT_TOLERANCE + 1] = { { 0 } };
    pn_dataset *raw = NULL;

    *at = (scene){ 0 };
    CHECK(pn_dataset_synthetic_logistic(&raw, &how, NULL, NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&at->data, raw, PN_L2, 1.0, NULL) == PN_OK);
    pn_dataset_free(raw);
    parts.data = at->data;
    CHECK(pn_loss_from_args(&parts.loss, "logistic", none, NULL) == PN_OK);
    CHECK(pn_regulariser_from_args(&parts.reg, "l2", weight, NULL) == PN_OK);
    CHECK(pn_objective_new(&at->objective, &parts, NULL) == PN_OK);
    pn_loss_free(parts.loss);
    pn_regulariser_free(parts.reg);
    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    own[OUTPUT_OPT_METHOD] = (pn_arg){ .given = true, .text = method };
    if (strcmp(method, "sgd") == 0)
        own[OUTPUT_OPT_BATCH] = (pn_arg){ .given = true, .count = 10 };
    CHECK(pn_plan_from_args(&at->plan, "output_perturbation", at->objective, NULL, common, own, NULL, NULL) == PN_OK);
    CHECK(pn_ledger_new(&at->ledger, &budget, NULL) == PN_OK && pn_rng_seeded(&at->rng, 3, NULL) == PN_OK);
}

static void close_scene(scene *at)
{
    pn_plan_free(at->plan);
    pn_objective_free(at->objective);
    pn_dataset_free(at->data);
    pn_ledger_free(at->ledger);
    pn_rng_free(at->rng);
}

/* The tolerance is made one that no number meets: the run says so, has paid, and holds its start. */
static void test_a_missed_minimum_costs_the_release_and_gives_nothing(void)
{
    scene at;
    pn_walk *walk = NULL;
    pn_trace_row row;
    pn_err err = { 0 };
    pn_fit *fit = NULL;
    bool done = false;

    open_scene(&at, "exact");
    ((output_plan *)at.plan)->certificate.computed = -1.0;
    ((output_plan *)at.plan)->certificate.most_steps = 5.0;
    CHECK(pn_walk_new(&walk, at.plan, &(pn_run_options){ .ledger = at.ledger, .rng = at.rng }, NULL) == PN_OK);
    for (int tries = 0; tries < 2; tries++) {
        CHECK(pn_walk_step(walk, &row, &done, &err) == PN_ENUMERIC);
        CHECK(strstr(err.message, "nothing is released") != NULL);
        CHECK(pn_ledger_entries(at.ledger) == 1);
    }
    CHECK(pn_walk_fit(walk, "failed", &fit, NULL) == PN_OK);
    CHECK_CLOSE(fit->rho, at.plan->rho, 1e-12);
    CHECK_CLOSE(1.0 - pn_ledger_remaining(at.ledger), at.plan->rho, 1e-12);
    for (size_t j = 0; j < DIM; j++)
        CHECK(fit->theta[j] == 0.0);
    pn_fit_free(fit);
    pn_walk_free(walk);
    close_scene(&at);
}

/* Cancelled before its first batch, then walked on: as if nothing had been. */
static void test_a_stopped_pass_goes_on(void)
{
    scene at;
    double theta[2][DIM];

    for (int stop = 0; stop < 2; stop++) {
        pn_walk *walk = NULL;
        pn_task *task = NULL;
        pn_trace_row row;
        bool done = false;
        size_t stops = 0;

        open_scene(&at, "sgd");
        CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
        CHECK(pn_walk_new(&walk, at.plan, &(pn_run_options){ .ledger = at.ledger, .rng = at.rng, .task = task },
                          NULL) == PN_OK);
        while (!done && stops < 100) {
            if (stop && stops++ % 2 == 0) {
                pn_task_cancel(task);
                CHECK(pn_walk_step(walk, &row, &done, NULL) == PN_ECANCELLED);
                pn_task_reset(task);
            }
            CHECK(pn_walk_step(walk, &row, &done, NULL) == PN_OK);
        }
        memcpy(theta[stop], pn_walk_theta(walk), sizeof theta[stop]);
        pn_walk_free(walk);
        pn_task_free(task);
        close_scene(&at);
    }
    CHECK(memcmp(theta[0], theta[1], sizeof theta[0]) == 0);
}

int main(void)
{
    test_a_missed_minimum_costs_the_release_and_gives_nothing();
    test_a_stopped_pass_goes_on();
    return check_summary();
}
