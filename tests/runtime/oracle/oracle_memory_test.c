/* oracle_memory_test.c -- what the oracle keeps of a step that failed: its answers, and that they are paid for.
 * Depends on: oracle/oracle.h, solvers/, check.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "oracle/oracle.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/engine/solver.h"

enum { DIM = 3, STEPS = 4 };

typedef struct world {
    pn_dataset *data;
    pn_loss *loss;
    pn_objective *objective;
    pn_plan *plan;
    pn_ledger *ledger;
    pn_rng *rng;
    pn_oracle *ask;
} world;

/* One whose ledger holds rho. */
static world world_new(double rho)
{
    pn_synthetic_options how = { .n = 100, .p = DIM, .sparsity = 1, .signal = 1.0, .seed = 1 };
    pn_budget budget = { .epsilon = NAN, .delta = 0.0, .rho = rho, .teaching = true };
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[16] = { { 0 } };
    pn_objective_parts parts = { .clip = 1.0 };
    world of = { 0 };

    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = STEPS };
    CHECK(pn_dataset_synthetic_lasso(&of.data, &how, NULL, NULL) == PN_OK);
    CHECK(pn_loss_from_args(&of.loss, "squared", NULL, NULL) == PN_OK);
    parts.data = of.data;
    parts.loss = of.loss;
    CHECK(pn_objective_new(&of.objective, &parts, NULL) == PN_OK);
    CHECK(pn_plan_from_args(&of.plan, "gradient_descent", of.objective, NULL, common, own, NULL, NULL) == PN_OK);
    CHECK(pn_ledger_new(&of.ledger, &budget, NULL) == PN_OK);
    CHECK(pn_rng_seeded(&of.rng, 3, NULL) == PN_OK);
    CHECK(pn_oracle_open(&of.ask, of.plan, of.ledger, of.rng, NULL, NULL) == PN_OK);
    pn_oracle_begin(of.ask);
    return of;
}

static void world_free(world *of)
{
    pn_oracle_close(of->ask);
    pn_rng_free(of->rng);
    pn_ledger_free(of->ledger);
    pn_plan_free(of->plan);
    pn_objective_free(of->objective);
    pn_loss_free(of->loss);
    pn_dataset_free(of->data);
}

/* Steps that have been charged. */
static double paid(const world *of)
{
    return STEPS * (1.0 - pn_ledger_remaining(of->ledger)) / of->plan->rho;
}

static bool are(double number, double steps)
{
    return fabs(number - steps) < 1e-9;
}

static bool equal(const double *a, const double *b)
{
    return memcmp(a, b, DIM * sizeof *a) == 0;
}

static void a_step_that_is_tried_again_gets_its_answer_unpaid(void)
{
    const double x[DIM] = { 0.1, 0.2, 0.3 };
    double first[DIM], again[DIM], next[DIM];
    world of = world_new(1.0);

    CHECK(pn_ask_gradient(of.ask, x, NULL, first, NULL) == PN_OK);
    CHECK(are(paid(&of), 1.0));
    for (int times = 0; times < 3; times++) {
        pn_oracle_begin(of.ask);
        memset(again, 0, sizeof again);
        CHECK(pn_ask_gradient(of.ask, x, NULL, again, NULL) == PN_OK);
        CHECK(equal(first, again));
        CHECK(are(paid(&of), 1.0));
    }
    pn_oracle_next(of.ask);
    pn_oracle_begin(of.ask);
    CHECK(pn_ask_gradient(of.ask, x, NULL, next, NULL) == PN_OK);
    CHECK(!equal(first, next) && are(paid(&of), 2.0));
    CHECK(pn_oracle_records(of.ask) == 200);
    world_free(&of);
}

static void an_answer_is_not_given_for_another_point(void)
{
    const double x[DIM] = { 0.1, 0.2, 0.3 }, y[DIM] = { 0.1, 0.2, 0.3 + 0x1p-54 };
    double first[DIM], again[DIM];
    world of = world_new(1.0);
    pn_err err;

    CHECK(pn_ask_gradient(of.ask, x, NULL, first, NULL) == PN_OK);
    pn_oracle_begin(of.ask);
    CHECK(pn_ask_gradient(of.ask, y, NULL, again, &err) == PN_EPRIVACY && strstr(err.message, "at another point"));
    CHECK(pn_ask_gradient(of.ask, x, NULL, again, NULL) == PN_OK && equal(first, again));
    CHECK(are(paid(&of), 1.0));
    world_free(&of);
}

static void what_a_plan_does_not_have_is_refused_before_it_is_paid(void)
{
    const double x[DIM] = { 0.1, 0.2, 0.3 };
    double out[DIM], next[2][DIM], value = 7.0;
    size_t chosen = 9;
    world of = world_new(1.0), twin = world_new(1.0);
    pn_err err;

    CHECK(pn_ask_gradient(of.ask, x, NULL, out, NULL) == PN_OK);
    CHECK(pn_ask_gradient(of.ask, x, NULL, out, &err) == PN_EPRIVACY &&
          strstr(err.message, "more often than its plan pays for"));
    CHECK(pn_ask_vertex(of.ask, x, NULL, &chosen, &err) == PN_EPRIVACY && strstr(err.message, "does not have"));
    CHECK(pn_ask_value(of.ask, x, &value, &err) == PN_EPRIVACY);
    CHECK(pn_ask_difference(of.ask, x, x, 1.0, out, &err) == PN_EPRIVACY);
    CHECK(are(paid(&of), 1.0) && chosen == 9);
    /* nor was anything drawn: its next answer is that of a run which asked only what it may */
    CHECK(pn_ask_gradient(twin.ask, x, NULL, out, NULL) == PN_OK);
    for (int k = 0; k < 2; k++) {
        world *one = k ? &twin : &of;

        pn_oracle_next(one->ask);
        pn_oracle_begin(one->ask);
        CHECK(pn_ask_gradient(one->ask, x, NULL, next[k], NULL) == PN_OK);
    }
    CHECK(equal(next[0], next[1]) && !equal(next[0], out));
    world_free(&of);
    world_free(&twin);
}

static void a_charge_that_fails_leaves_the_step_as_it_was(void)
{
    const double x[DIM] = { 0.1, 0.2, 0.3 };
    double out[DIM] = { 0.0 };
    world of = world_new(0.1); /* a step costs 0.125 */
    pn_err err;

    CHECK(pn_ask_gradient(of.ask, x, NULL, out, &err) == PN_EBUDGET);
    CHECK(pn_oracle_records(of.ask) == 0 && out[0] == 0.0);
    CHECK(pn_ask_gradient(of.ask, x, NULL, out, &err) == PN_EBUDGET); /* not: more than once */
    world_free(&of);
}

int main(void)
{
    a_step_that_is_tried_again_gets_its_answer_unpaid();
    an_answer_is_not_given_for_another_point();
    what_a_plan_does_not_have_is_refused_before_it_is_paid();
    a_charge_that_fails_leaves_the_step_as_it_was();
    return check_summary();
}
