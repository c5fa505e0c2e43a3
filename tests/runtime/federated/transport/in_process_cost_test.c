/* in_process_cost_test.c -- what a private federated run charges, in the ledgers of parties and in an overall one, near
 * and from afar; ledgers that are too small, runs that end early, and whose noise is whose.
 * Depends on: in_process_kit.h. */
#include "geometry/sets/sets.h"
#include "runtime/federated/transport/in_process_kit.h"

static void costs_what_it_says(const manner *how, const char *loss, size_t parties)
{
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(parties, NULL, NULL);
    pn_plan *plan = NULL;
    pn_fit *fit = NULL, *again = NULL;
    const fed_plan *fed;

    CHECK(open_problem(&at, N, D, loss, &err) == PN_OK);
    if (!went_well(make_plan(&plan, &at, transport, how, &err), &err))
        goto done;
    fed = (const fed_plan *)plan;
    if (!went_well(run(&fit, plan, how, &err), &err))
        goto done;
    CHECK(fit->steps == how->iterations && fit->stopped == NULL && fit->is_private);
    CHECK(fit->simulated == (how->seed != 0));
    CHECK(isnan(fit->trace[0].value) == (how->seed == 0)); /* raw: only where noise protects nobody */
    CHECK(fit->charged_rho <= plan->rho * (1.0 + 1e-12) && fit->charged_rho > 0.0);
    CHECK_CLOSE(fit->rho, plan->rho, 0.0); /* what is proven is the whole, since it was adaptive */
    for (size_t k = 0; k < parties; k++) {
        pn_party_report report;

        CHECK(pn_party_report_of(pn_in_process_party(transport, k), &report, NULL) == PN_OK);
        CHECK(report.phase == PN_PARTY_DONE && report.round == how->iterations);
        CHECK(report.selections == how->iterations);
        CHECK(report.rho <= fed->party_rho * (1.0 + 1e-12));
    }
    if (how->seed && went_well(run(&again, plan, how, &err), &err))
        CHECK(memcmp(fit->theta, again->theta, D * sizeof *fit->theta) == 0);
done:
    pn_fit_free(fit);
    pn_fit_free(again);
    pn_plan_free(plan);
    pn_transport_free(transport);
    close_problem(&at);
}

static double length_of(const double *x, size_t d)
{
    double sum = 0.0;

    for (size_t i = 0; i < d; i++)
        sum += fabs(x[i]);
    return sum;
}

static size_t charges_of(const pn_ledger *ledger)
{
    size_t charges = 0;

    for (size_t e = 0; e < pn_ledger_entries(ledger); e++)
        charges += pn_ledger_entry(ledger, e).count;
    return charges;
}

/* An overall ledger is charged for all parties what the fit says was charged, selections and each feature once. */
static void charges_the_overall_ledger(void)
{
    const pn_budget budget = { .epsilon = NAN, .rho = 50.0, .neighbours = PN_REPLACE_ONE, .teaching = true };
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(3, NULL, NULL);
    manner how = { .rho = 2.0, .iterations = 12, .seed = 5 };
    pn_fit *fit;

    CHECK(pn_ledger_new(&how.ledger, &budget, &err) == PN_OK);
    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    fit = solve(&at, transport, &how);
    if (CHECK(fit != NULL)) {
        CHECK(charges_of(how.ledger) > 36 && charges_of(how.ledger) <= 36 + D);
        CHECK_CLOSE(pn_ledger_spent(how.ledger), fit->charged_rho, 1e-9);
        CHECK(length_of(fit->theta, D) <= 1.0 + 1e-12);
    }
    pn_fit_free(fit);
    pn_ledger_free(how.ledger);
    pn_transport_free(transport);
    close_problem(&at);
}

/* The same parties as if they were far away: they charge their own ledgers only,
 * and the server charges the overall one. */
static const pn_transport_ops *near_ops;

static pn_status far_begin(pn_transport *transport, const pn_transport_run *run, pn_err *err)
{
    pn_transport_run without = *run;

    without.overall = NULL;
    return near_ops->begin(transport, &without, err);
}

static void charges_the_same_from_afar(manner how, size_t parties)
{
    const pn_budget budget = { .epsilon = NAN, .rho = 50.0, .neighbours = PN_REPLACE_ONE, .teaching = true };
    problem at;
    pn_err err;
    pn_ledger *ledgers[2] = { NULL, NULL };
    pn_fit *fits[2] = { NULL, NULL };

    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    for (int far = 0; far < 2; far++) {
        pn_transport *transport = transport_of(parties, NULL, NULL);
        pn_transport_ops ops = *transport->ops;

        near_ops = transport->ops;
        ops.charges = false;
        ops.begin = far_begin;
        if (far)
            transport->ops = &ops;
        CHECK(pn_ledger_new(&ledgers[far], &budget, &err) == PN_OK);
        how.ledger = ledgers[far];
        fits[far] = solve(&at, transport, &how);
        transport->ops = near_ops;
        pn_transport_free(transport);
    }
    if (CHECK(fits[0] && fits[1])) {
        CHECK(memcmp(fits[0]->theta, fits[1]->theta, D * sizeof *fits[0]->theta) == 0);
        CHECK(charges_of(ledgers[0]) == charges_of(ledgers[1]));
        CHECK_CLOSE(pn_ledger_spent(ledgers[0]), pn_ledger_spent(ledgers[1]), 1e-12);
        CHECK(pn_ledger_spent(ledgers[1]) <= fits[1]->charged_rho * (1.0 + 1e-12));
    }
    for (int far = 0; far < 2; far++) {
        pn_fit_free(fits[far]);
        pn_ledger_free(ledgers[far]);
    }
    close_problem(&at);
}

/* Three steps of twelve are charged as three. */
static void stopped_early_costs_less(void)
{
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(2, NULL, NULL);
    const manner how = { .rho = 1.0, .iterations = 12, .sampled = 1 };
    pn_plan *plan = NULL;
    pn_walk *walk = NULL;
    pn_trace_row row;
    pn_fit *fit = NULL;
    bool done = false;

    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    CHECK(make_plan(&plan, &at, transport, &how, &err) == PN_OK);
    CHECK(pn_walk_new(&walk, plan, &(pn_run_options){ 0 }, &err) == PN_OK);
    for (int i = 0; walk && i < 3; i++)
        CHECK(pn_walk_step(walk, &row, &done, &err) == PN_OK && !done && row.kind && isnan(row.value));
    if (walk && CHECK(pn_walk_fit(walk, "interrupted", &fit, &err) == PN_OK)) {
        const fed_plan *fed = (const fed_plan *)plan;
        double each = fed->selection->ops->zcdp(fed->selection), feature = fed->feature->ops->zcdp(fed->feature);

        CHECK(fit->charged_rho >= 6.0 * each - 1e-12 && fit->charged_rho <= 6.0 * (each + feature) * (1.0 + 1e-12));
        CHECK_CLOSE(fit->rho, plan->rho, 0.0);
    }
    pn_fit_free(fit);
    pn_walk_free(walk);
    for (size_t k = 0; k < 2; k++) {
        pn_party_report report;

        CHECK(pn_party_report_of(pn_in_process_party(transport, k), &report, NULL) == PN_OK);
        CHECK(report.phase == PN_PARTY_REFUSED && strcmp(report.last->reason, "stopped") == 0);
    }
    pn_plan_free(plan);
    pn_transport_free(transport);
    close_problem(&at);
}

/* A party's own ledger may have less than its part of the plan: it refuses the terms, and nothing has been charged. */
static void a_poor_party_refuses(void)
{
    const pn_budget rich = { .epsilon = NAN, .rho = 5.0, .neighbours = PN_REPLACE_ONE },
                    poor = { .epsilon = NAN, .rho = 0.01, .neighbours = PN_REPLACE_ONE };
    pn_ledger *ledgers[2] = { NULL, NULL };
    pn_transport *transport;
    problem at;
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;
    pn_err err;
    const manner how = { .rho = 1.0, .iterations = 5 };

    CHECK(pn_ledger_new(&ledgers[0], &rich, &err) == PN_OK && pn_ledger_new(&ledgers[1], &poor, &err) == PN_OK);
    transport = transport_of(2, NULL, ledgers);
    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    CHECK(make_plan(&plan, &at, transport, &how, &err) == PN_OK);
    CHECK(run(&fit, plan, &how, &err) == PN_EBUDGET && strstr(err.message, "party 2 refused") != NULL);
    CHECK(pn_ledger_entries(ledgers[0]) == 0 && pn_ledger_entries(ledgers[1]) == 0);
    CHECK(!transport->running);
    pn_plan_free(plan);
    pn_transport_free(transport);
    pn_ledger_free(ledgers[0]);
    pn_ledger_free(ledgers[1]);
    close_problem(&at);
}

/* Two parties with the same columns, from one seed: their noise is their own. */
static void parties_have_their_own_noise(void)
{
    enum { HALF = 3 };
    const manner how = { .rho = 1.0, .iterations = 12, .seed = 4 };
    problem at = { NULL, NULL, 2 * HALF }, once;
    pn_transport *transport = transport_of(2, NULL, NULL);
    double X[N * 2 * HALF];
    pn_dataset *raw = NULL, *rows = NULL;
    pn_set *set = NULL;
    pn_arg of_set[4] = { { .given = true, .count = 2 * HALF }, { .given = true, .real = 1.0 } };
    pn_fit *fit;
    pn_err err;

    CHECK(open_problem(&once, N, HALF, "squared", &err) == PN_OK);
    for (size_t j = 0; j < N; j++) {
        memcpy(X + 2 * HALF * j, once.data->dense + HALF * j, HALF * sizeof *X);
        memcpy(X + 2 * HALF * j + HALF, once.data->dense + HALF * j, HALF * sizeof *X);
    }
    CHECK(pn_dataset_from_dense(&raw, X, N, 2 * HALF, once.data->y, "twice", &err) == PN_OK);
    CHECK(pn_dataset_clip_rows(&rows, raw, PN_LINF, 1.0, &err) == PN_OK);
    CHECK(pn_dataset_clip_labels(&at.data, rows, -1.0, 1.0, &err) == PN_OK);
    CHECK(pn_set_from_args(&set, "l1_ball", of_set, &err) == PN_OK);
    CHECK(pn_objective_new(
              &at.objective,
              &(pn_objective_parts){ .data = at.data, .loss = pn_objective_loss(once.objective), .set = set },
              &err) == PN_OK);
    fit = solve(&at, transport, &how);
    CHECK(fit && memcmp(fit->theta, fit->theta + HALF, HALF * sizeof *fit->theta) != 0);
    pn_fit_free(fit);
    pn_set_free(set);
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    pn_transport_free(transport);
    close_problem(&at);
    close_problem(&once);
}

int main(void)
{
    costs_what_it_says(&(manner){ .rho = 1.0, .iterations = 20 }, "squared", 3);
    costs_what_it_says(&(manner){ .epsilon = 2.0, .delta = 1e-6, .iterations = 20 }, "squared", 2);
    costs_what_it_says(&(manner){ .epsilon = 2.0, .delta = 1e-6, .iterations = 20, .sampled = 2, .seed = 9 }, "squared",
                       3);
    costs_what_it_says(&(manner){ .rho = 1.0, .iterations = 15, .rows = 16, .seed = 9 }, "logistic", 3);
    costs_what_it_says(&(manner){ .rho = 1.0, .iterations = 15, .mode = PN_FEDERATED_BALL, .seed = 9 }, "squared", 3);
    costs_what_it_says(
        &(manner){
            .epsilon = 3.0, .delta = 1e-5, .iterations = 15, .mode = PN_FEDERATED_BALL, .sampled = 2, .stay = true },
        "squared", 3);
    charges_the_overall_ledger();
    charges_the_same_from_afar((manner){ .rho = 2.0, .iterations = 12, .seed = 5 }, 3);
    charges_the_same_from_afar((manner){ .rho = 2.0, .iterations = 12, .seed = 6, .mode = PN_FEDERATED_BALL }, 2);
    charges_the_same_from_afar((manner){ .rho = 2.0,
                                         .iterations = 30,
                                         .seed = 7,
                                         .mode = PN_FEDERATED_BALL,
                                         .sampled = 1,
                                         .stay = true,
                                         .rows = 16 },
                               3);
    stopped_early_costs_less();
    a_poor_party_refuses();
    parties_have_their_own_noise();
    return check_summary();
}
