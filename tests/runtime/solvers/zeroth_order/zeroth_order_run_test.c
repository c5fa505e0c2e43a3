/* zeroth_order_run_test.c -- rounds of zeroth-order optimization: the points of a run worked out by hand, and runs that
 * are broken at every place and go on where they were, with the same points, records and noise at the same price.
 * Depends on: solvers/, check.h, fail_alloc.h. */
#include "oracle/oracle.h"

static double scripted_place(pn_oracle *ask);
#define pn_ask_place(ask) scripted_place(ask)
#include "solvers/catalogue/solvers.h"
#include "solvers/zeroth_order/zeroth_order.c"
#undef pn_ask_place

#include "check.h"
#include "fail_alloc.h"

static const double *script; /* what s_t are, one after the other; NULL: what the stream says */

static double scripted_place(pn_oracle *ask)
{
    return script ? *script++ : pn_ask_place(ask);
}

/* ---- the pieces ---- */

enum { N = 60, DIM = 2, OWN = 64 };

typedef struct box {
    long calls, fail_at; /* the call that breaks, from 1; 0: none */
    pn_task *cancel;     /* breaks by cancelling the run instead */
    bool steep;          /* 5 |theta_1| */
    bool constant;       /* <(3, 4), theta>; otherwise |theta_1 - x/10| */
} box;

static pn_status values_of(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                           double *values, pn_err *err)
{
    box *of = self;

    if (++of->calls == of->fail_at) {
        if (!of->cancel)
            return pn_fail(err, PN_ECALLBACK, "broken");
        pn_task_cancel(of->cancel);
        return pn_fail(err, PN_ECANCELLED, "cancelled");
    }
    for (size_t k = 0; k < count; k++) {
        const double *theta = thetas + k * dim;

        if (of->steep)
            values[k] = 5.0 * fabs(theta[0]);
        else
            values[k] = of->constant ? 3.0 * theta[0] + 4.0 * theta[1] : fabs(theta[0] - 0.1 * record->x[0]);
    }
    return PN_OK;
}

static pn_status make(pn_dataset **data, pn_objective **objective, box *of, pn_err *err)
{
    double x[N], y[N];
    pn_objective_parts parts = { 0 };
    pn_status status;

    for (int i = 0; i < N; i++) {
        x[i] = i - 20.0;
        y[i] = 0.0;
    }
    status = pn_dataset_from_dense(data, x, N, 1, y, NULL, err);
    parts.data = *data;
    if (status == PN_OK)
        status = pn_loss_black_box(&parts.loss, values_of, NULL, of, DIM, 5.0, err);
    if (status == PN_OK)
        status = pn_objective_new(objective, &parts, err);
    pn_loss_free(parts.loss);
    return status;
}

static void give(pn_arg *own, int option, size_t count, double real)
{
    own[option] = (pn_arg){ .given = true, .count = count, .real = real };
}

static pn_status make_plan(pn_plan **out, pn_objective *objective, bool naive, double rho, size_t passes, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN] = { { 0 } };

    if (rho > 0.0)
        common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = rho };
    else
        common[PN_OPT_PRIVACY] = (pn_arg){ .given = true, .flag = false };
    give(own, ZO_EPOCHS, rho > 0.0 ? 3 : 1, 0.0);
    give(own, ZO_ROUNDS, 4, 0.0);
    give(own, ZO_BATCH, 2, 0.0);
    give(own, ZO_SMOOTHING, 0, 0.1);
    give(own, ZO_RADIUS, 0, 0.1);
    give(own, ZO_STEP, 0, 0.02);
    give(own, ZO_PASSES, passes, 0.0);
    own[ZO_OUTPUT] = (pn_arg){ .given = true, .text = "last" };
    if (!naive) {
        give(own, ZO_FIRST_BATCH, 3, 0.0);
        own[ZO_ORACLE] = (pn_arg){ .given = true, .text = "variance_reduced" };
        own[ZO_DIRECTIONS] = (pn_arg){ .given = true, .text = "orthogonal" };
    }
    return pn_plan_from_args(out, naive ? "zeroth_order_naive" : "zeroth_order", objective, NULL, common, own, NULL,
                             err);
}

/* A run's state and its oracle, with seeded chance and no ledger. */
typedef struct bench {
    pn_rng *rng;
    pn_oracle *ask;
    pn_state *state;
} bench;

static void open_bench(bench *out, const pn_plan *plan, uint64_t seed)
{
    *out = (bench){ 0 };
    CHECK(pn_rng_seeded(&out->rng, seed, NULL) == PN_OK);
    CHECK(pn_oracle_open(&out->ask, plan, NULL, out->rng, NULL, NULL) == PN_OK);
    CHECK(pn_state_new(&out->state, plan, out->ask, NULL) == PN_OK);
}

static void close_bench(bench *of)
{
    pn_state_free(of->state);
    pn_oracle_close(of->ask);
    pn_rng_free(of->rng);
}

/* ---- the points ---- */

/* zeroth-order.md section 9, item 5: a constant gradient (3, 4), no noise, D = .1, eta = .02, T = 4. */
static void test_the_points_are_those_worked_out_by_hand(void)
{
    static const double s[] = { 0.5, 0.25, 0.75, 1.0 };
    static const double w[][DIM] = { { 0.0, 0.0 }, { -0.015, -0.02 }, { -0.105, -0.14 }, { -0.18, -0.24 } };
    box of = { .constant = true };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    bench at;
    pn_trace_row row;
    zo_state *self;
    double answer[DIM];

    CHECK(make(&data, &objective, &of, NULL) == PN_OK && make_plan(&plan, objective, false, 0.0, 1, NULL) == PN_OK);
    open_bench(&at, plan, 1);
    self = (zo_state *)at.state;
    script = s;
    for (size_t t = 0; t < 4; t++) {
        row.certificate = NAN;
        pn_oracle_begin(at.ask);
        CHECK(zo_query(at.state, at.ask, &row, NULL) == PN_OK && zo_update(at.state, &row, NULL) == PN_OK);
        pn_oracle_next(at.ask);
        CHECK_CLOSE(self->w[0], w[t][0], 1e-12);
        CHECK_CLOSE(self->w[1], w[t][1], 1e-12);
        CHECK_CLOSE(row.step_size, 0.1, 1e-12); /* eta ||(3, 4)|| = D */
        CHECK(isnan(row.certificate) == (t < 3));
        at.state->step++;
    }
    script = NULL;
    CHECK_CLOSE(row.certificate, 5.0, 1e-9);
    CHECK_CLOSE(self->x[0], -0.18, 1e-12);
    CHECK_CLOSE(self->x[1], -0.24, 1e-12);
    pn_state_answer(at.state, answer);
    CHECK_CLOSE(answer[0], -0.075, 1e-12);
    CHECK_CLOSE(answer[1], -0.1, 1e-12);
    CHECK(self->delta[0] == 0.0 && self->delta[1] == 0.0); /* the learner begins anew, x goes on */
    close_bench(&at);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* Points of two rounds may be 2 D apart: 5 |theta_1| has gradients (5, 0) and (-5, 0) there,
 * and their difference is not clipped. */
static void test_differences_may_be_as_large_as_two_steps_allow(void)
{
    box of = { .steep = true };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    const double w[DIM] = { 0.1, 0.0 }, before[DIM] = { -0.1, 0.0 };

    CHECK(make(&data, &objective, &of, NULL) == PN_OK && make_plan(&plan, objective, false, 0.0, 1, NULL) == PN_OK);
    for (uint64_t seed = 1; seed <= 7; seed++) {
        double sum[2][DIM];
        bench at;

        open_bench(&at, plan, seed);
        for (size_t t = 0; t < 4; t++) { /* the first is a gradient, the others are differences */
            pn_oracle_begin(at.ask);
            CHECK(pn_ask_smoothed(at.ask, w, before, sum[t % 2], NULL) == PN_OK);
            pn_oracle_next(at.ask);
            if (t > 0) {
                CHECK_CLOSE(sum[t % 2][0] - sum[1 - t % 2][0], 10.0, 1e-9);
                CHECK_CLOSE(sum[t % 2][1] - sum[1 - t % 2][1], 0.0, 1e-9);
            }
        }
        close_bench(&at);
    }
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* Each of three epochs is the answer equally often, also of a run that ended after two: 3000 runs,
 * deviation sqrt(3000 x 2/9) = 26. */
static void test_the_answer_is_any_completed_epoch(void)
{
    box of = { .constant = true };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    double third[3] = { 0.0 }, half[2] = { 0.0 };

    CHECK(make(&data, &objective, &of, NULL) == PN_OK && make_plan(&plan, objective, false, 0.5, 1, NULL) == PN_OK);
    ((zo_plan *)plan)->output = ZO_RANDOM;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        int answer = 0;
        bench at;
        zo_state *self;

        open_bench(&at, plan, seed);
        self = (zo_state *)at.state;
        for (int k = 0; k < 3; k++) {
            at.state->step = 4 * (size_t)k + 3; /* the last round of an epoch */
            self->placed = false;
            place(self, at.ask);
            self->epochs++;
            answer = is_answer(self, 1.0) ? k : answer;
            if (k == 1)
                half[answer]++;
        }
        third[answer]++;
        close_bench(&at);
    }
    for (int k = 0; k < 3; k++)
        CHECK_CLOSE(third[k], 1000.0, 5.1 * 26.0); /* 3.4e-7 two-sided, each */
    CHECK_CLOSE(half[0], 1500.0, 5.1 * 27.4);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* ---- broken runs ---- */

typedef enum fault_kind { MEMORY = 0, CALLBACK, CANCELLED, FAULTS } fault_kind;

typedef struct trial {
    bool naive;
    fault_kind fault;
    long at; /* the call that breaks; 0: none */
    fail_alloc memory;
    size_t failures, charges;
    double theta[DIM], spent, cost, planned;
    uint64_t values;
} trial;

static size_t charges(const pn_ledger *ledger)
{
    size_t sum = 0;

    for (size_t i = 0; i < pn_ledger_entries(ledger); i++)
        sum += pn_ledger_entry(ledger, i).count;
    return sum;
}

static void walk_through(trial *run, const pn_plan *plan, box *of, pn_ledger *ledger, pn_rng *rng)
{
    pn_task *task = NULL;
    pn_run_options options = { .ledger = ledger, .rng = rng };
    pn_walk *walk = NULL;
    pn_trace_row row;
    pn_fit *fit = NULL;
    bool done = false;

    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    options.task = task;
    of->fail_at = run->fault == MEMORY ? 0 : run->at;
    of->cancel = run->fault == CANCELLED ? task : NULL;
    run->memory.fail_at = run->fault == MEMORY && run->at ? atomic_load(&run->memory.calls) + run->at : 0;
    while (pn_walk_new(&walk, plan, &options, NULL) != PN_OK && CHECK(++run->failures < 3))
        CHECK(charges(ledger) == 0);
    for (int tries = 0; !done && CHECK(tries < 40); tries++) {
        pn_status status = pn_walk_step(walk, &row, &done, NULL);

        run->failures += status != PN_OK;
        if (status == PN_ECANCELLED)
            pn_task_reset(task);
    }
    while (pn_walk_fit(walk, NULL, &fit, NULL) != PN_OK && CHECK(++run->failures < 3))
        continue;
    run->memory.fail_at = 0;
    memcpy(run->theta, fit->theta, sizeof run->theta);
    run->values = fit->gradients;
    run->cost = fit->rho;
    run->planned = plan->rho;
    run->charges = charges(ledger);
    run->spent = pn_ledger_spent(ledger);
    pn_fit_free(fit);
    pn_walk_free(walk);
    pn_task_free(task);
}

static pn_status scenario(void *self, pn_err *err)
{
    trial *run = self;
    box of = { 0 };
    pn_budget budget = { .epsilon = NAN, .rho = 0.5, .neighbours = PN_REPLACE_ONE, .teaching = true };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_ledger *ledger = NULL;
    pn_plan *plan = NULL;
    pn_rng *rng = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, err) == PN_OK && pn_rng_seeded(&rng, 3, err) == PN_OK);
    CHECK(make(&data, &objective, &of, err) == PN_OK);
    CHECK(make_plan(&plan, objective, run->naive, 0.5, 2, err) == PN_OK);
    walk_through(run, plan, &of, ledger, rng);
    pn_rng_free(rng);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_ledger_free(ledger);
    return PN_OK;
}

static void try_it(trial *run)
{
    pn_allocator allocator = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, &run->memory };
    pn_err err;

    pn_allocator_set(&allocator);
    CHECK(scenario(run, &err) == PN_OK);
    pn_allocator_set(NULL);
    CHECK(atomic_load(&run->memory.live) == 0);
}

static void test_broken_runs_go_on_where_they_were(bool naive)
{
    trial smooth = { .naive = naive };

    try_it(&smooth);
    CHECK(smooth.failures == 0 && smooth.charges == 2 && smooth.cost == smooth.planned);
    CHECK_CLOSE(smooth.spent, smooth.planned, 1e-12);
    for (int fault = MEMORY; fault < FAULTS; fault++) {
        size_t broken = 0;
        bool reached = true;
        long at = 1;

        for (; reached && at < 1000; at++) {
            trial run = { .naive = naive, .fault = (fault_kind)fault, .at = at };

            try_it(&run);
            CHECK(memcmp(run.theta, smooth.theta, sizeof run.theta) == 0);
            CHECK(run.charges == 2 && run.cost == smooth.cost && run.values == smooth.values);
            reached = run.failures > 0;
            broken += reached;
        }
        CHECK(at < 1000);
        /* 2 passes of 3 epochs of 3 + 3 x 2 records, or of 4 x 2 */
        CHECK(fault == MEMORY ? broken > 24 : broken == (naive ? 48 : 54));
    }
}

/* ---- the price of a step ---- */

/* With the noise of all other rounds the same, a run that is charged again would have less of the budget left. */
static void test_what_a_failed_step_has_paid_is_stated(void)
{
    box of = { .fail_at = 1 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_walk *walk = NULL;
    pn_fit *fit = NULL;
    pn_trace_row row;
    bool done;

    CHECK(make(&data, &objective, &of, NULL) == PN_OK && make_plan(&plan, objective, false, 0.5, 2, NULL) == PN_OK);
    CHECK(pn_walk_new(&walk, plan, &(pn_run_options){ 0 }, NULL) == PN_OK);
    CHECK(pn_walk_step(walk, &row, &done, NULL) == PN_ECALLBACK);
    CHECK(pn_walk_fit(walk, NULL, &fit, NULL) == PN_OK);
    CHECK_CLOSE(fit->charged_rho, plan->rho / 2.0, 1e-12); /* the first of two passes */
    CHECK(fit->rho == plan->rho);
    CHECK(fit->theta[0] == 0.0 && fit->gradients == 0);
    pn_fit_free(fit);
    pn_walk_free(walk);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* The rows that nest the options of prefix sums are those that are read. */
static void test_the_rows_of_prefix_are_those_of_prefix_sums(void)
{
    size_t count = pn_param_count(pn_prefix_params);

    CHECK(pn_param_count(zo_params) == ZO_PREFIX + count && pn_param_count(zo_naive_params) == ZO_NAIVE_COUNT);
    for (size_t i = 0; i < count; i++) {
        CHECK(strncmp(zo_params[ZO_PREFIX + i].name, "prefix.", 7) == 0);
        CHECK(strcmp(zo_params[ZO_PREFIX + i].name + 7, pn_prefix_params[i].name) == 0);
        CHECK(zo_params[ZO_PREFIX + i].kind == pn_prefix_params[i].kind);
    }
    CHECK(strcmp(zo_params[ZO_STRICT].name, "strict") == 0 && strcmp(zo_params[ZO_ORACLE].name, "oracle") == 0);
}

int main(void)
{
    test_the_points_are_those_worked_out_by_hand();
    test_differences_may_be_as_large_as_two_steps_allow();
    test_the_answer_is_any_completed_epoch();
    test_broken_runs_go_on_where_they_were(false);
    test_broken_runs_go_on_where_they_were(true);
    test_what_a_failed_step_has_paid_is_stated();
    test_the_rows_of_prefix_are_those_of_prefix_sums();
    return check_summary();
}
