/* fit_facts_test.c -- what objectives, plans and fits say of themselves to those who cannot look into them.
 * Depends on: check.h. */
#include <string.h>

#include "objective/passes/objective.h"
#include "solvers/catalogue/solvers.h"

#include "check.h"

static pn_dataset *records(bool clipped)
{
    const pn_synthetic_options how = { .n = 400, .p = 4, .sparsity = 2, .signal = 2.0, .seed = 3 };
    pn_dataset *raw = NULL, *data = NULL;
    pn_err err;

    CHECK(pn_dataset_synthetic_logistic(&raw, &how, NULL, &err) == PN_OK);
    if (!clipped) { /* without the bounds that come with it */
        double x[1600];

        for (size_t i = 0; i < 400; i++)
            CHECK(pn_dataset_record(raw, i, x + 4 * i, &err) == PN_OK);
        CHECK(pn_dataset_from_dense(&data, x, 400, 4, pn_dataset_labels(raw), "raw", &err) == PN_OK);
    } else {
        CHECK(pn_dataset_clip_rows(&data, raw, PN_L2, 1.0, &err) == PN_OK);
    }
    pn_dataset_free(raw);
    return data;
}

static pn_objective *objective_of(const pn_dataset *data)
{
    pn_objective *objective = NULL;
    pn_loss *loss = NULL;
    pn_err err;

    CHECK(pn_loss_new(&loss, "logistic", NULL, &err) == PN_OK && strcmp(pn_loss_name(loss), "logistic") == 0);
    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
    pn_loss_free(loss);
    return objective;
}

static pn_plan *plan_of(pn_objective *objective, const char *epsilon)
{
    pn_options *options = NULL;
    pn_plan *plan = NULL;
    pn_err err;

    CHECK(pn_options_new(&options, &err) == PN_OK);
    if (epsilon) {
        pn_options_set(options, "epsilon", epsilon);
        pn_options_set(options, "delta", "1e-6");
    } else {
        pn_options_set(options, "privacy", "false");
    }
    pn_options_set(options, "iterations", "12");
    if (pn_plan_new(&plan, "gradient_descent", objective, NULL, options, NULL, &err) != PN_OK)
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_options_free(options);
    return plan;
}

static void an_objective_tells_its_bounds(void)
{
    pn_dataset *data = records(true), *raw = records(false);
    pn_objective *objective = objective_of(data), *open = objective_of(raw);
    const char *missing = NULL;

    CHECK(pn_objective_is_certified(objective, &missing) && missing[0] == '\0');
    CHECK(pn_objective_is_certified(objective, NULL) && pn_objective_is_convex(objective));
    CHECK_CLOSE(pn_objective_lipschitz(objective, PN_L2), 1.0, 1e-9); /* the slope of the logistic loss is below 1 */
    CHECK_CLOSE(pn_objective_smoothness(objective), 0.25, 1e-9);
    CHECK(pn_objective_strong_convexity(objective) >= 0.0);
    CHECK(!pn_objective_is_certified(open, &missing) && missing[0] != '\0');
    pn_objective_free(objective);
    pn_objective_free(open);
    pn_dataset_free(data);
    pn_dataset_free(raw);
}

static void a_plan_and_its_fit_tell_what_they_are(void)
{
    pn_dataset *data = records(true);
    pn_objective *objective = objective_of(data);
    pn_plan *plan = plan_of(objective, "1");
    pn_fit *fit = NULL;
    pn_err err;
    size_t rows = 0;

    CHECK(strcmp(pn_plan_solver(plan), "gradient_descent") == 0 && pn_plan_iterations(plan) == 12);
    CHECK(pn_plan_is_private(plan) && pn_plan_is_proven(plan) && pn_plan_epsilon(plan) <= 1.0);
    CHECK(pn_plan_epsilon(plan) > 0.9 && pn_plan_delta(plan) <= 1e-6 && pn_plan_rho(plan) > 0.0);
    CHECK(pn_plan_sigma(plan) > 0.0 && pn_plan_gradients(plan) == 12.0 * 400.0);
    CHECK(pn_plan_warning(plan, 3) == NULL && (isnan(pn_plan_bound(plan)) || pn_plan_bound(plan) > 0.0));
    CHECK(pn_plan_predicted(plan) >= 0.0 && !pn_plan_hopeless(plan));
    CHECK(pn_plan_run(&fit, plan, NULL, &err) == PN_OK);
    CHECK(pn_fit_dim(fit) == 4 && pn_fit_steps(fit) == 12 && pn_fit_gradients(fit) == 12 * 400 && !pn_fit_stopped(fit));
    CHECK(pn_fit_seconds(fit) >= 0.0 && isfinite(pn_fit_theta(fit)[3]));
    CHECK(pn_fit_trace(fit, &rows)[11].step == 12 && rows == 12);
    CHECK(pn_fit_is_private(fit) && pn_fit_epsilon(fit) == pn_plan_epsilon(plan));
    CHECK(pn_fit_delta(fit) == pn_plan_delta(plan) && pn_fit_rho(fit) == pn_plan_rho(plan));
    CHECK(pn_fit_neighbours(fit) == PN_REPLACE_ONE && pn_fit_certificate(fit)->status == NULL);
    pn_fit_free(fit);
    pn_plan_free(plan);
    plan = plan_of(objective, NULL);
    CHECK(!pn_plan_is_private(plan) && isnan(pn_plan_epsilon(plan)));
    CHECK(pn_plan_run(&fit, plan, NULL, &err) == PN_OK && !pn_fit_is_private(fit));
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

static void seeded_noise_is_no_privacy(void)
{
    const pn_budget budget = { .epsilon = 1.0, .delta = 1e-6, .rho = (double)NAN, .teaching = true };
    pn_dataset *data = records(true);
    pn_objective *objective = objective_of(data);
    pn_plan *plan = plan_of(objective, "1");
    pn_ledger *ledger = NULL;
    pn_rng *rng = NULL;
    pn_fit *fit = NULL;
    pn_err err;

    CHECK(pn_rng_seeded(&rng, 1, &err) == PN_OK && pn_ledger_new(&ledger, &budget, &err) == PN_OK);
    CHECK(pn_plan_run(&fit, plan, &(pn_run_options){ .rng = rng, .ledger = ledger }, &err) == PN_OK);
    CHECK(!pn_fit_is_private(fit) && pn_fit_epsilon(fit) == pn_plan_epsilon(plan));
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

int main(void)
{
    an_objective_tells_its_bounds();
    a_plan_and_its_fit_tell_what_they_are();
    seeded_noise_is_no_privacy();
    return check_summary();
}
