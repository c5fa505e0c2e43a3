/* federated_plan_kit.h -- a plan of federated_frank_wolfe over parties that exist only as numbers.
 * Depends on: check.h, federated_frank_wolfe_plan.h.  Used by: federated_plan*_test.c. */
#ifndef PN_TESTS_FEDERATED_PLAN_KIT_H
#define PN_TESTS_FEDERATED_PLAN_KIT_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "federated/solver/federated_frank_wolfe_plan.h"
#include "geometry/sets/sets.h"

static inline void double_destroy(pn_transport *self)
{
    pn_transport_clear(self);
}

static const pn_transport_ops double_ops = { .name = "double", .doc = "no parties at all", .destroy = double_destroy };

/* The parties, the objective and the options of one plan. */
typedef struct fixture {
    pn_dataset *data;
    pn_loss *loss;
    pn_set *set;
    pn_objective *objective;
    pn_transport transport;
    pn_request request;
    pn_arg common[PN_OPT_COUNT + 1], own[FED_COUNT + 1];
    double vector[8]; /* for options */
} fixture;

static inline pn_set *ball_of(size_t d, double radius)
{
    const pn_set_ops *ops = pn_set_find("l1_ball");
    pn_arg args[8] = { { 0 } };
    pn_set *set = NULL;

    args[pn_param_find(ops->params, "dim")] = (pn_arg){ .given = true, .count = d };
    args[pn_param_find(ops->params, "radius")] = (pn_arg){ .given = true, .real = radius };
    CHECK(pn_set_from_args(&set, "l1_ball", args, NULL) == PN_OK);
    return set;
}

/* n x d entries +-1 and labels +-1; bounded when asked for. */
static inline pn_dataset *data_of(size_t n, size_t d, double X, double Y)
{
    double *x = malloc(n * d * sizeof *x), *y = malloc(n * sizeof *y);
    pn_dataset *data = NULL, *next = NULL;

    for (size_t i = 0; i < n * d; i++)
        x[i] = (i * 2654435761u >> 7) % 2 ? X : -X;
    for (size_t j = 0; j < n; j++)
        y[j] = j % 3 == 0 ? Y : -Y;
    CHECK(pn_dataset_from_dense(&data, x, n, d, y, "test", NULL) == PN_OK);
    CHECK(pn_dataset_clip_rows(&next, data, PN_LINF, X, NULL) == PN_OK);
    pn_dataset_free(data);
    CHECK(pn_dataset_clip_labels(&data, next, -Y, Y, NULL) == PN_OK);
    pn_dataset_free(next);
    free(x);
    free(y);
    return data;
}

static inline void make_objective(fixture *f)
{
    pn_objective_parts parts = { .data = f->data, .loss = f->loss, .set = f->set };

    CHECK(pn_objective_new(&f->objective, &parts, NULL) == PN_OK);
}

/* epsilon 2 at delta 1e-6, everything else by default. */
static inline void open_fixture(fixture *f, const char *loss, size_t n, size_t d, size_t parties, double radius)
{
    memset(f, 0, sizeof *f);
    f->data = data_of(n, d, 1.0, 1.0);
    f->set = ball_of(d, radius);
    CHECK(pn_loss_from_args(&f->loss, loss, NULL, NULL) == PN_OK);
    make_objective(f);
    CHECK(pn_transport_init(&f->transport, &double_ops, parties, NULL) == PN_OK);
    f->request = (pn_request){ .kind = PN_EPSILON_DELTA, .epsilon = 2.0, .delta = 1e-6, .rho = NAN };
    f->own[FED_TRANSPORT] = (pn_arg){ .given = true, .object = &f->transport };
}

static inline void close_fixture(fixture *f)
{
    CHECK(f->transport.references == 1); /* plans let go of it */
    pn_transport_free(&f->transport);
    pn_objective_free(f->objective);
    pn_loss_free(f->loss);
    pn_set_free(f->set);
    pn_dataset_free(f->data);
}

static inline void use_rounds(fixture *f, size_t rounds)
{
    f->common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = rounds };
}

/* "mode", "sketch.kind" ...: by the words that users write. */
static inline void use_choice(fixture *f, int option, const char *word)
{
    f->own[option] = (pn_arg){ .given = true, .text = word };
}

static inline void use_number(fixture *f, int option, double value)
{
    f->own[option] = (pn_arg){ .given = true, .real = value, .count = (size_t)value, .flag = value != 0.0 };
}

static inline void leave(fixture *f, int option)
{
    f->own[option] = (pn_arg){ 0 };
}

static inline pn_status try_plan(fixture *f, fed_plan **out, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT + 1], own[FED_COUNT + 1];
    pn_plan *plan = NULL;
    pn_status status;

    f->request.solver = &fed_solver;
    memcpy(common, f->common, sizeof common);
    memcpy(own, f->own, sizeof own);
    *out = NULL;
    status = pn_args_check("solve", pn_solver_common, common, err);
    if (status == PN_OK)
        status = pn_args_check("solve", federated_params, own, err);
    if (status == PN_OK)
        status = pn_plan_make(&plan, &fed_solver, f->objective, &f->request, common, own, err);
    *out = (fed_plan *)plan;
    return status;
}

static inline fed_plan *plan_of(fixture *f)
{
    fed_plan *plan = NULL;
    pn_err err = { 0 };

    if (!CHECK(try_plan(f, &plan, &err) == PN_OK)) {
        (void)fprintf(stderr, "    %s\n", err.message);
        exit(1);
    }
    return plan;
}

static inline void drop(fed_plan *plan)
{
    pn_plan_free(&plan->base);
}

static inline void refuses(fixture *f, pn_status expected, const char *words)
{
    fed_plan *plan = NULL;
    pn_err err = { 0 };
    pn_status status = try_plan(f, &plan, &err);

    CHECK(f->transport.references == 1);
    if (!CHECK(status == expected && strstr(err.message, words)))
        (void)fprintf(stderr, "    %d: %s\n    wanted %s\n", (int)status, err.message, words);
    if (plan)
        drop(plan);
}

/* The value of a line of the explanation; NaN without. */
static inline double line_of(const fed_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->base.lines.count; i++) {
        if (strcmp(plan->base.lines.line[i].name, name) == 0)
            return plan->base.lines.line[i].value;
    }
    return NAN;
}

/* Parties would take its terms, and its explanation has room for all that it says. */
static inline void terms_are_in_order(const fed_plan *plan)
{
    for (size_t k = 0; k < plan->parties; k++) {
        pn_err err = { 0 };

        if (!CHECK(pn_terms_check(&plan->terms[k], &err) == PN_OK))
            (void)fprintf(stderr, "    %s\n", err.message);
        CHECK(plan->terms[k].party == k);
    }
    CHECK(plan->base.lines.count < PN_PLAN_LINES);
    for (size_t i = 0; i < plan->base.lines.count; i++) {
        CHECK(isfinite(plan->base.lines.line[i].value) || plan->base.lines.line[i].text[0]);
        CHECK(strlen(plan->base.lines.line[i].formula) < sizeof plan->base.lines.line[i].formula - 1);
    }
}

#endif
