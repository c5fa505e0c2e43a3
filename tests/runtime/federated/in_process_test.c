/* in_process_test.c -- federated_frank_wolfe over parties in this process: the same answer as Frank-Wolfe on the product set without
 * noise, what a private run charges and shows, ledgers that are too small, traffic, splits, memory that runs out.
 * Depends on: federated_frank_wolfe.h, check.h, fail_alloc.h. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "federated/federated_frank_wolfe.h"

enum { N = 80, D = 7 };

typedef struct problem {
    pn_dataset *data;
    pn_objective *objective;
    size_t d;
} problem;

static double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

static pn_status make_data(pn_dataset **out, size_t n, size_t d, bool classes, pn_err *err)
{
    double *X = malloc(n * d * sizeof *X), *y = malloc(n * sizeof *y);
    pn_dataset *raw = NULL, *rows = NULL;
    unsigned state = 11;
    pn_status status;

    for (size_t j = 0; j < n; j++) {
        y[j] = 0.0;
        for (size_t i = 0; i < d; i++) {
            X[j * d + i] = 2.0 * unit(&state) - 1.0;
            y[j] += (i % 3 == 0 ? 0.5 : i % 3 == 1 ? -0.3 : 0.0) * X[j * d + i];
        }
        if (classes)
            y[j] = y[j] < 0.0 ? -1.0 : 1.0;
    }
    status = pn_dataset_from_dense(&raw, X, n, d, y, "made", err);
    if (status == PN_OK)
        status = pn_dataset_clip_rows(&rows, raw, PN_LINF, 1.0, err);
    if (status == PN_OK)
        status = pn_dataset_clip_labels(out, rows, -1.0, 1.0, err);
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    free(X);
    free(y);
    return status;
}

static pn_status open_problem(problem *self, size_t n, size_t d, const char *loss_name, pn_err *err)
{
    pn_arg of_set[4] = { { .given = true, .count = d }, { .given = true, .real = 1.0 } }, of_loss[4] = { { 0 } };
    pn_set *set = NULL;
    pn_loss *loss = NULL;
    pn_status status = make_data(&self->data, n, d, strcmp(loss_name, "logistic") == 0, err);

    self->d = d;
    if (status == PN_OK)
        status = pn_set_new(&set, "l1_ball", of_set, err);
    if (status == PN_OK)
        status = pn_loss_new(&loss, loss_name, of_loss, err);
    if (status == PN_OK)
        status = pn_objective_new(&self->objective,
                                  &(pn_objective_parts){ .data = self->data, .loss = loss, .set = set }, err);
    pn_set_free(set);
    pn_loss_free(loss);
    return status;
}

static void close_problem(problem *self)
{
    pn_objective_free(self->objective);
    pn_dataset_free(self->data);
    *self = (problem){ NULL, NULL, 0 };
}

/* What a test says about a run. */
typedef struct manner {
    double epsilon, delta, rho;       /* all 0: no privacy */
    size_t iterations, sampled, rows; /* rows 0: identity */
    pn_federated_mode mode;
    bool no_stay, stay;
    uint64_t seed; /* 0: secure */
    pn_ledger *ledger;
} manner;

static pn_status make_plan(pn_plan **out, const problem *at, pn_transport *transport, const manner *how, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[FED_COUNT] = { { 0 } };

    common[PN_OPT_PRIVACY] = (pn_arg){ .given = true, .flag = how->epsilon > 0.0 || how->rho > 0.0 };
    common[PN_OPT_EPSILON] = (pn_arg){ .given = how->epsilon > 0.0, .real = how->epsilon };
    common[PN_OPT_DELTA] = (pn_arg){ .given = how->delta > 0.0, .real = how->delta };
    common[PN_OPT_RHO] = (pn_arg){ .given = how->rho > 0.0, .real = how->rho };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = how->iterations };
    own[FED_TRANSPORT] = (pn_arg){ .given = true, .object = transport };
    own[FED_MODE] = (pn_arg){ .given = true, .text = pn_federated_mode_names[how->mode], .count = how->mode };
    own[FED_SAMPLED] = (pn_arg){ .given = how->sampled > 0, .count = how->sampled };
    own[FED_STAY] = (pn_arg){ .given = how->no_stay || how->stay, .flag = how->stay };
    own[FED_SKETCH_KIND] = (pn_arg){ .given = true,
                                     .text = how->rows ? "gaussian" : "identity",
                                     .count = how->rows ? PN_SKETCH_GAUSSIAN : PN_SKETCH_IDENTITY };
    own[FED_SKETCH_ROWS] = (pn_arg){ .given = how->rows > 0, .count = how->rows };
    return pn_plan_new(out, "federated_frank_wolfe", at->objective, how->ledger, common, own, NULL, err);
}

static pn_status run(pn_fit **out, const pn_plan *plan, const manner *how, pn_err *err)
{
    pn_run_options options = { .ledger = how->ledger };
    pn_status status = how->seed ? pn_rng_seeded(&options.rng, how->seed, err) : PN_OK;

    if (status == PN_OK)
        status = pn_run(out, plan, &options, err);
    pn_rng_free(options.rng);
    return status;
}

static pn_transport *transport_of(size_t parties, const size_t *columns, pn_ledger *const *ledgers)
{
    const pn_in_process_options options = { .parties = parties, .columns = columns, .ledgers = ledgers };
    pn_transport *out = NULL;
    pn_err err;

    CHECK(pn_transport_in_process(&out, &options, &err) == PN_OK);
    return out;
}

static bool went_well(pn_status status, const pn_err *err)
{
    if (!CHECK(status == PN_OK))
        (void)fprintf(stderr, "    message: %s\n", err->message);
    return status == PN_OK;
}

static pn_fit *solve(const problem *at, pn_transport *transport, const manner *how)
{
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;
    pn_err err;

    if (went_well(make_plan(&plan, at, transport, how, &err), &err))
        (void)went_well(run(&fit, plan, how, &err), &err);
    pn_plan_free(plan);
    return fit;
}

/* ---- without noise ---- */

/* Frank-Wolfe over a product of l1 balls, by the book, with gradients of the objective. */
static void frank_wolfe(const problem *at, size_t parties, const size_t *columns, double radius, size_t rounds,
                        double *x)
{
    double gradient[D];
    pn_err err;

    for (size_t i = 0; i < at->d; i++)
        x[i] = 0.0;
    for (size_t t = 0; t < rounds; t++) {
        double gamma = 2.0 / ((double)t + 2.0);
        size_t first = 0;

        CHECK(pn_objective_evaluate(at->objective, x, NULL, gradient, NULL, &err) == PN_OK);
        for (size_t k = 0; k < parties; first += columns[k++]) {
            size_t best = first;

            for (size_t i = first; i < first + columns[k]; i++)
                best = fabs(gradient[i]) > fabs(gradient[best]) ? i : best;
            for (size_t i = first; i < first + columns[k]; i++)
                x[i] *= 1.0 - gamma;
            x[best] -= gradient[best] > 0.0 ? gamma * radius : -gamma * radius;
        }
    }
}

static void is_frank_wolfe(const char *loss, pn_federated_mode mode, const size_t *columns)
{
    static const size_t even[3] = { 3, 2, 2 }, whole[1] = { D };
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(3, columns, NULL);
    pn_fit *fit;
    double want[D];
    const manner how = { .iterations = 60, .mode = mode };

    CHECK(open_problem(&at, N, D, loss, &err) == PN_OK);
    fit = solve(&at, transport, &how);
    if (mode == PN_FEDERATED_PRODUCT)
        frank_wolfe(&at, 3, columns ? columns : even, 1.0 / 3.0, 60, want);
    else
        frank_wolfe(&at, 1, whole, 1.0, 60, want);
    for (size_t i = 0; fit && i < D; i++)
        CHECK_CLOSE(fit->theta[i], want[i], 1e-9);
    if (CHECK(fit && fit->rows == 60)) {
        CHECK(!fit->is_private && isfinite(fit->trace[59].value) && fit->trace[59].gap >= -1e-12);
        CHECK(fit->trace[59].value < fit->trace[0].value);
        CHECK(fit->gradients == 60 * N && fit->trace[0].step_size == 1.0);
        CHECK((mode == PN_FEDERATED_BALL) == (fit->trace[5].atom > 0));
    }
    pn_fit_free(fit);
    pn_transport_free(transport);
    close_problem(&at);
}

/* Value and gap are those before the step, and on the ball the step goes toward the vertex that the row names. */
static void check_row(const problem *at, const pn_trace_row *row, const double *before, const double *after, bool ball)
{
    const pn_set *set = pn_objective_set(at->objective);
    double value, gradient[D], scratch[D], want[D], gap = 0.0, largest[3] = { 0 };
    static const size_t owner[D] = { 0, 0, 0, 1, 1, 2, 2 };
    pn_atom atom;
    pn_err err;

    CHECK(pn_objective_evaluate(at->objective, before, &value, gradient, NULL, &err) == PN_OK);
    for (size_t i = 0; i < D; i++) {
        gap += gradient[i] * before[i];
        largest[owner[i]] = fmax(largest[owner[i]], fabs(gradient[i]));
    }
    gap += ball ? fmax(largest[0], fmax(largest[1], largest[2])) : (largest[0] + largest[1] + largest[2]) / 3.0;
    CHECK_CLOSE(row->value, value, 1e-12);
    CHECK_CLOSE(row->gap, gap, 1e-12);
    if (!ball || !CHECK(row->atom > 0 && strcmp(row->kind, "moved") == 0))
        return;
    for (size_t i = 0; i < D; i++)
        want[i] = (1.0 - row->step_size) * before[i];
    set->ops->atom(set, row->atom - 1, &atom, scratch);
    pn_atom_add(&atom, row->step_size, want);
    for (size_t i = 0; i < D; i++)
        CHECK_CLOSE(after[i], want[i], 1e-15);
}

static void rows_say_what_was_done(pn_federated_mode mode)
{
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(3, NULL, NULL);
    const manner how = { .iterations = 25, .mode = mode };
    pn_plan *plan = NULL;
    pn_walk *walk = NULL;
    pn_trace_row row;
    double before[D] = { 0 };
    bool done = false;

    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    CHECK(make_plan(&plan, &at, transport, &how, &err) == PN_OK);
    CHECK(pn_walk_new(&walk, plan, &(pn_run_options){ 0 }, &err) == PN_OK);
    while (walk && !done && CHECK(pn_walk_step(walk, &row, &done, &err) == PN_OK)) {
        const double *after = pn_walk_theta(walk);

        check_row(&at, &row, before, after, mode == PN_FEDERATED_BALL);
        memcpy(before, after, sizeof before);
    }
    pn_walk_free(walk);
    pn_plan_free(plan);
    pn_transport_free(transport);
    close_problem(&at);
}

/* ---- with noise ---- */

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

        pn_party_report_of(pn_in_process_party(transport, k), &report);
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

/* The same parties as if they were far away: they charge their own ledgers only, and the server charges the overall one. */
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

        pn_party_report_of(pn_in_process_party(transport, k), &report);
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
    CHECK(pn_set_new(&set, "l1_ball", of_set, &err) == PN_OK);
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

/* ---- traffic ---- */

static void traffic(size_t n, uint64_t *scalars)
{
    problem at;
    pn_err err;
    pn_transport *transport = transport_of(2, NULL, NULL);
    const manner how = { .iterations = 60, .sampled = 1, .no_stay = true, .rows = 16 };
    uint64_t bytes = 0, down = 0;

    CHECK(open_problem(&at, n, D, "squared", &err) == PN_OK);
    for (int twice = 0; twice < 2; twice++) /* the accounts are those of one run */
        pn_fit_free(solve(&at, transport, &how));
    *scalars = 0;
    for (size_t k = 0; k < 2; k++) {
        const pn_peer *peer = &transport->peers[k];

        *scalars += peer->scalars_up;
        bytes += peer->bytes_up;
        down += peer->scalars_down;
        CHECK(peer->messages_up == 1 + 60 + pn_party_columns(pn_in_process_party(transport, k)));
        CHECK(peer->messages_down == peer->messages_up + 1);
    }
    CHECK(*scalars == 2 * 60 + 16 * D);
    CHECK(bytes >= 8 * 16 * D + 2 * 60 && bytes <= 8 * 16 * D + 64 * (2 * 61 + D));
    CHECK(down >= 2 * 60 * 16);
    pn_transport_free(transport);
    close_problem(&at);
}

static void traffic_does_not_know_n(void)
{
    uint64_t once, twice;

    traffic(N, &once);
    traffic(2 * N, &twice);
    CHECK(once == twice);
}

/* ---- splits ---- */

static void splits_columns(void)
{
    static const size_t given[2] = { 2, 5 }, wrong[2] = { 2, 4 }, none[2] = { 7, 0 };
    problem at, other;
    pn_err err;
    pn_transport *transport = transport_of(2, given, NULL), *bad = transport_of(2, wrong, NULL), *refused = NULL;
    pn_plan *plan = NULL;
    const manner how = { .iterations = 3 };
    pn_fit *fit;

    CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK);
    CHECK(open_problem(&other, N, 4, "squared", &err) == PN_OK);
    fit = solve(&at, transport, &how);
    CHECK(pn_party_columns(pn_in_process_party(transport, 0)) == 2);
    CHECK(pn_party_columns(pn_in_process_party(transport, 1)) == 5);
    CHECK(pn_in_process_party(transport, 2) == NULL);
    CHECK(make_plan(&plan, &other, transport, &how, &err) == PN_EDIM);
    CHECK(make_plan(&plan, &at, bad, &how, &err) == PN_EDIM);
    CHECK(pn_transport_in_process(&refused, &(pn_in_process_options){ .parties = 2, .columns = none }, &err) ==
          PN_EINVAL);
    CHECK(pn_transport_in_process(&refused, &(pn_in_process_options){ .parties = 0 }, &err) == PN_EINVAL);
    CHECK(pn_transport_in_process(&refused, &(pn_in_process_options){ .parties = PN_PARTIES_MAX + 1 }, &err) ==
          PN_EINVAL);
    pn_fit_free(fit);
    pn_transport_free(transport);
    pn_transport_free(bad);
    transport = transport_of(3, NULL, NULL); /* one after the other, of different widths */
    for (int i = 0; i < 2; i++) {
        fit = solve(i ? &other : &at, transport, &how);
        CHECK(fit && fit->p == (i ? 4 : D));
        pn_fit_free(fit);
    }
    pn_transport_free(transport);
    close_problem(&at);
    close_problem(&other);
}

/* ---- memory ---- */

static pn_status whole_run(void *self, pn_err *err)
{
    const manner *how = self;
    problem at = { NULL, NULL, 0 };
    pn_transport *transport = NULL;
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;
    pn_status status = open_problem(&at, 12, 4, "squared", err);

    if (status == PN_OK)
        status = pn_transport_in_process(&transport, &(pn_in_process_options){ .parties = 2 }, err);
    if (status == PN_OK)
        status = make_plan(&plan, &at, transport, how, err);
    if (status == PN_OK)
        status = run(&fit, plan, how, err);
    for (size_t k = 0; status == PN_OK && k < 2; k++) { /* a farewell that is lost fails nobody's run */
        pn_party_report report;

        pn_party_report_of(pn_in_process_party(transport, k), &report);
        if (report.phase != PN_PARTY_DONE || isnan(report.rho))
            status = pn_fail(err, PN_ENOMEM, "party %zu was not told", k + 1);
    }
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_transport_free(transport);
    close_problem(&at);
    return status;
}

int main(void)
{
    static const size_t uneven[3] = { 1, 2, 4 };
    manner memory = { .rho = 1.0, .iterations = 2, .seed = 3 };

    is_frank_wolfe("squared", PN_FEDERATED_PRODUCT, NULL);
    is_frank_wolfe("squared", PN_FEDERATED_PRODUCT, uneven);
    is_frank_wolfe("logistic", PN_FEDERATED_PRODUCT, NULL);
    is_frank_wolfe("squared", PN_FEDERATED_BALL, NULL);
    is_frank_wolfe("logistic", PN_FEDERATED_BALL, uneven);
    rows_say_what_was_done(PN_FEDERATED_PRODUCT);
    rows_say_what_was_done(PN_FEDERATED_BALL);
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
    traffic_does_not_know_n();
    splits_columns();
    fail_alloc_sweep("federated run", whole_run, &memory);
    return check_summary();
}
