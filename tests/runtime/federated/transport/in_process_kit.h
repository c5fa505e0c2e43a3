/* in_process_kit.h -- a small problem, and plans and runs of federated_frank_wolfe over parties in this process.
 * Depends on: federated_frank_wolfe.h, check.h.  Used by: in_process*_test.c. */
#ifndef PN_TESTS_IN_PROCESS_KIT_H
#define PN_TESTS_IN_PROCESS_KIT_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "federated/solver/federated_frank_wolfe.h"
#include "geometry/sets/sets.h"
#include "solvers/catalogue/solvers.h"

enum { N = 80, D = 7 };

typedef struct problem {
    pn_dataset *data;
    pn_objective *objective;
    size_t d;
} problem;

static inline double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

static inline pn_status make_data(pn_dataset **out, size_t n, size_t d, bool classes, pn_err *err)
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

/* Over `set`, which stays the caller's. */
static inline pn_status open_problem_over(problem *self, size_t n, size_t d, pn_set *set, const char *loss_name,
                                          pn_err *err)
{
    pn_arg of_loss[4] = { { 0 } };
    pn_loss *loss = NULL;
    pn_status status = make_data(&self->data, n, d, strcmp(loss_name, "logistic") == 0, err);

    self->d = d;
    if (status == PN_OK)
        status = pn_loss_from_args(&loss, loss_name, of_loss, err);
    if (status == PN_OK)
        status = pn_objective_new(&self->objective,
                                  &(pn_objective_parts){ .data = self->data, .loss = loss, .set = set }, err);
    pn_loss_free(loss);
    return status;
}

static inline pn_status open_problem(problem *self, size_t n, size_t d, const char *loss_name, pn_err *err)
{
    pn_arg of_set[4] = { { .given = true, .count = d }, { .given = true, .real = 1.0 } };
    pn_set *set = NULL;
    pn_status status = pn_set_from_args(&set, "l1_ball", of_set, err);

    if (status == PN_OK)
        status = open_problem_over(self, n, d, set, loss_name, err);
    pn_set_free(set);
    return status;
}

static inline void close_problem(problem *self)
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

static inline pn_status make_plan(pn_plan **out, const problem *at, pn_transport *transport, const manner *how,
                                  pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[FED_COUNT] = { { 0 } };

    PN_TRY(pn_federated_open(err));
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
    return pn_plan_from_args(out, "federated_frank_wolfe", at->objective, how->ledger, common, own, NULL, err);
}

static inline pn_status run(pn_fit **out, const pn_plan *plan, const manner *how, pn_err *err)
{
    pn_run_options options = { .ledger = how->ledger };
    pn_status status = how->seed ? pn_rng_seeded(&options.rng, how->seed, err) : PN_OK;

    if (status == PN_OK)
        status = pn_plan_run(out, plan, &options, err);
    pn_rng_free(options.rng);
    return status;
}

/* A run of two parties from its transport on, to be tried without memory: `status` says whether there is a problem. */
static inline pn_status whole_run_of(problem *at, const size_t *columns, const manner *how, pn_status status,
                                     pn_err *err)
{
    const pn_in_process_options options = { .parties = 2, .columns = columns };
    pn_transport *transport = NULL;
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;

    if (status == PN_OK)
        status = pn_transport_in_process(&transport, &options, err);
    if (status == PN_OK)
        status = make_plan(&plan, at, transport, how, err);
    if (status == PN_OK)
        status = run(&fit, plan, how, err);
    for (size_t k = 0; status == PN_OK && k < 2; k++) { /* a farewell that is lost fails nobody's run */
        pn_party_report report;

        status = pn_party_report_of(pn_in_process_party(transport, k), &report, err);
        CHECK(status != PN_OK || !isnan(report.rho));
        if (status == PN_OK && report.phase != PN_PARTY_DONE)
            status = pn_fail(err, PN_ENOMEM, "party %zu was not told", k + 1);
    }
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_transport_free(transport);
    close_problem(at);
    return status;
}

static inline pn_transport *transport_of(size_t parties, const size_t *columns, pn_ledger *const *ledgers)
{
    const pn_in_process_options options = { .parties = parties, .columns = columns, .ledgers = ledgers };
    pn_transport *out = NULL;
    pn_err err;

    CHECK(pn_transport_in_process(&out, &options, &err) == PN_OK);
    return out;
}

static inline bool went_well(pn_status status, const pn_err *err)
{
    if (!CHECK(status == PN_OK))
        (void)fprintf(stderr, "    message: %s\n", err->message);
    return status == PN_OK;
}

static inline pn_fit *solve(const problem *at, pn_transport *transport, const manner *how)
{
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;
    pn_err err;

    if (went_well(make_plan(&plan, at, transport, how, &err), &err))
        (void)went_well(run(&fit, plan, how, &err), &err);
    pn_plan_free(plan);
    return fit;
}

#endif
