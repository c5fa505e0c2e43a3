/* svrg_run_test.c -- runs of svrg and svrg_pp that are broken at every place: an allocation that fails, a prox that
 * fails, a cancel.  An epoch that is tried again goes on where it was: every point that the prox has seen, and so every
 * noisy release, is that of a smooth run, at the same price.  And the same for any number of threads.
 * Depends on: solvers/, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/variance_reduced/svrg.h"

enum { KEPT = 5, EPOCHS = 2, INNER = 2, OWN = 16, SEEN = 256, WIDE = 3200 };

typedef struct run_kind {
    const char *solver, *form, *accountant;
    bool rho, wide;
    pn_neighbours neighbours;
} run_kind;

/* Wide sums of batches take memory, so that a step can also fail between its draw and its release. */
static size_t dim_of(const run_kind *kind)
{
    return kind->wide ? WIDE : KEPT;
}

static size_t batch_of(const run_kind *kind)
{
    return kind->wide ? 66 : 7;
}

static const run_kind kinds[] = {
    { "svrg", "anchored", NULL, true, false, PN_REPLACE_ONE },
    { "svrg", "anchored", "rdp", false, false, PN_REPLACE_ONE },
    { "svrg", "anchored", "pld", false, false, PN_REPLACE_ONE },
    { "svrg", "printed", "rdp", false, false, PN_REPLACE_ONE },
    { "svrg", "anchored", "rdp", false, false, PN_ZERO_OUT },
    { "svrg_pp", "anchored", "rdp", false, true, PN_REPLACE_ONE },
    { "svrg_pp", "printed", NULL, true, false, PN_REPLACE_ONE },
};

typedef enum fault_kind { NONE = 0, MEMORY, CANCELLED_MEMORY, PROX, CANCELLED_PROX } fault_kind;

typedef struct trial {
    const run_kind *kind;
    fault_kind fault;
    long at;           /* the call that breaks, from 1 */
    fail_alloc memory; /* first: the allocator's self */
    long calls;        /* of the prox */
    size_t failures;
    pn_task *task;
    size_t seen;
    double points[SEEN][KEPT]; /* what the prox was given */
    double theta[KEPT];
    double cost; /* epsilon or rho of the fit */
    size_t charges;
} trial;

/* ---- the pieces ---- */

/* Halves what it is given, and remembers it. */
static pn_status watched_prox(void *self, const double *v, size_t n, double step, double *x, pn_err *err)
{
    trial *run = self;

    (void)step;
    run->calls++;
    if (run->calls == run->at && run->fault == PROX) {
        run->failures++;
        return pn_fail(err, PN_ECALLBACK, "troubled");
    }
    if (run->calls == run->at && run->fault == CANCELLED_PROX)
        pn_task_cancel(run->task);
    if (CHECK(run->seen < SEEN))
        memcpy(run->points[run->seen++], v, sizeof run->points[0]);
    for (size_t j = 0; j < n; j++)
        x[j] = 0.5 * v[j];
    return PN_OK;
}

static pn_status make(pn_dataset **data, pn_objective **objective, const run_kind *kind, size_t n, pn_err *err)
{
    pn_synthetic_options how = { .n = n, .p = dim_of(kind), .sparsity = 2, .signal = 3.0, .seed = 5 };
    pn_objective_parts parts = { .clip = 0.0 };
    pn_arg none[4] = { { 0 } };
    pn_dataset *raw = NULL;
    pn_status status = pn_dataset_synthetic_logistic(&raw, &how, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(data, raw, PN_L2, 1.0, err);
    pn_dataset_free(raw);
    parts.data = *data;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, "logistic", none, err);
    if (status == PN_OK)
        status = pn_objective_new(objective, &parts, err);
    pn_loss_free(parts.loss);
    return status;
}

static pn_status plan_of(pn_plan **out, trial *run, pn_objective *objective, pn_prox *prox, pn_err *err)
{
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN] = { { 0 } };
    const run_kind *kind = run->kind;

    if (kind->rho) {
        common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = 0.5 };
    } else {
        common[PN_OPT_EPSILON] = (pn_arg){ .given = true, .real = 1.0 };
        common[PN_OPT_DELTA] = (pn_arg){ .given = true, .real = 1e-4 };
    }
    common[PN_OPT_NEIGHBOURS] = (pn_arg){ .given = true, .text = pn_neighbours_names[kind->neighbours] };
    own[SVRG_EPOCHS] = (pn_arg){ .given = true, .count = EPOCHS };
    own[SVRG_INNER] = (pn_arg){ .given = true, .count = INNER };
    own[SVRG_BATCH] = (pn_arg){ .given = true, .count = batch_of(kind) };
    own[SVRG_STEP] = (pn_arg){ .given = true, .real = 1.0 };
    own[SVRG_FORM] = (pn_arg){ .given = true, .text = kind->form };
    if (kind->accountant)
        own[SVRG_ACCOUNTANT] = (pn_arg){ .given = true, .text = kind->accountant };
    if (prox)
        own[SVRG_PROX] = (pn_arg){ .given = true, .object = prox };
    return pn_plan_from_args(out, kind->solver, objective, NULL, common, own, NULL, err);
}

static pn_ledger *teaching(const run_kind *kind)
{
    pn_budget budget = { .epsilon = kind->rho ? NAN : 1.0,
                         .delta = kind->rho ? 0.0 : 1e-4,
                         .rho = kind->rho ? 0.5 : NAN,
                         .neighbours = kind->neighbours,
                         .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static size_t charges(const pn_ledger *ledger)
{
    size_t sum = 0;

    for (size_t i = 0; i < pn_ledger_entries(ledger); i++)
        sum += pn_ledger_entry(ledger, i).count;
    return sum;
}

/* Releases of a whole run, as they are charged. */
static size_t due(const run_kind *kind)
{
    size_t steps = EPOCHS * INNER, anchors = strcmp(kind->form, "anchored") == 0 ? EPOCHS : 0;

    if (kind->accountant && strcmp(kind->accountant, "pld") == 0)
        return 1;
    if (strcmp(kind->solver, "svrg_pp") == 0)
        steps = INNER * (2 + 4);
    return anchors + steps;
}

/* ---- walks ---- */

/* Take the next step, and take it again after a failure. */
static void step_through(trial *run, pn_walk *walk)
{
    bool done = false;
    pn_trace_row row;

    for (int tries = 0; !done && CHECK(tries < EPOCHS + 4); tries++) {
        pn_status status = pn_walk_step(walk, &row, &done, NULL);

        if (status == PN_ECANCELLED)
            pn_task_reset(run->task);
        run->failures += status != PN_OK && run->fault != PROX;
    }
    CHECK(walk != NULL && done);
}

static void walk_through(trial *run, pn_plan *plan, pn_ledger *ledger, pn_rng *rng)
{
    pn_run_options options = { .ledger = ledger, .rng = rng, .task = run->task };
    pn_walk *walk = NULL;
    pn_fit *fit = NULL;

    run->memory.fail_at = run->at > 0 && run->fault <= CANCELLED_MEMORY ? atomic_load(&run->memory.calls) + run->at : 0;
    while (pn_walk_new(&walk, plan, &options, NULL) != PN_OK && CHECK(++run->failures < 3)) {
        CHECK(charges(ledger) == 0);
        pn_task_reset(run->task);
    }
    step_through(run, walk);
    while (pn_walk_fit(walk, NULL, &fit, NULL) != PN_OK && CHECK(++run->failures < 3))
        continue;
    run->memory.fail_at = 0;
    memcpy(run->theta, fit->theta, sizeof run->theta);
    run->cost = run->kind->rho ? fit->rho : fit->epsilon;
    run->charges = charges(ledger);
    CHECK(run->cost <= (run->kind->rho ? 0.5 : 1.0) && run->cost == (run->kind->rho ? plan->rho : plan->epsilon));
    pn_fit_free(fit);
    pn_walk_free(walk);
}

static pn_status scenario(void *self, pn_err *err)
{
    trial *run = self;
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_prox *prox = NULL;
    pn_rng *rng = NULL;
    pn_custom_prox parts = { .dim = dim_of(run->kind), .self = run, .apply = watched_prox };
    pn_ledger *ledger = teaching(run->kind);

    CHECK(pn_task_new(&run->task, 1, err) == PN_OK && pn_rng_seeded(&rng, 3, err) == PN_OK);
    CHECK(pn_prox_custom(&prox, &parts, err) == PN_OK &&
          make(&data, &objective, run->kind, 4 + batch_of(run->kind), err) == PN_OK);
    CHECK(plan_of(&plan, run, objective, prox, err) == PN_OK);
    walk_through(run, plan, ledger, rng);
    pn_rng_free(rng);
    pn_plan_free(plan);
    pn_prox_free(prox);
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_ledger_free(ledger);
    pn_task_free(run->task);
    return PN_OK;
}

/* An allocation that cancels the run in place of failing. */
static void *allocate(void *self, size_t bytes)
{
    trial *run = self;
    bool now = run->fault == CANCELLED_MEMORY && fail_alloc_refuses(&run->memory);
    void *block;

    if (run->fault != CANCELLED_MEMORY)
        return fail_alloc_allocate(&run->memory, bytes);
    if (now)
        pn_task_cancel(run->task);
    block = malloc(bytes);
    if (block)
        atomic_fetch_add(&run->memory.live, 1);
    return block;
}

static void *resize(void *self, void *block, size_t bytes)
{
    return fail_alloc_resize(&((trial *)self)->memory, block, bytes);
}

static void release(void *self, void *block)
{
    fail_alloc_release(&((trial *)self)->memory, block);
}

static void try_it(trial *run)
{
    pn_allocator allocator = { allocate, resize, release, run };
    pn_err err;

    pn_allocator_set(&allocator);
    CHECK(scenario(run, &err) == PN_OK);
    pn_allocator_set(NULL);
    CHECK(atomic_load(&run->memory.live) == 0);
}

/* ---- what must hold ---- */

/* The same points: an epoch that was broken off between a release and its step shows the release once more,
 * and no other. */
static void check_same(const trial *run, const trial *smooth)
{
    size_t at = 0;

    for (size_t i = 0; i < run->seen; i++) {
        if (at < smooth->seen && memcmp(run->points[i], smooth->points[at], sizeof run->points[i]) == 0)
            at++;
        else
            CHECK(i > 0 && memcmp(run->points[i], run->points[i - 1], sizeof run->points[i]) == 0);
    }
    CHECK(at == smooth->seen);
    CHECK(memcmp(run->theta, smooth->theta, sizeof run->theta) == 0);
    CHECK(run->charges == due(run->kind) && run->cost == smooth->cost);
}

static void test_broken_runs(const run_kind *kind)
{
    trial smooth = { .kind = kind };

    try_it(&smooth);
    CHECK(smooth.failures == 0 && smooth.charges == due(kind));
    for (int fault = MEMORY; fault <= CANCELLED_PROX; fault++) {
        size_t broken = 0;
        long at = 1;

        for (bool reached = true; reached && at < 500; at += at < 20 ? 1 : check_times(5, 1)) {
            trial run = { .kind = kind, .fault = (fault_kind)fault, .at = at };

            try_it(&run);
            check_same(&run, &smooth);
            reached = run.failures > 0;
            broken += reached;
        }
        CHECK(at < 500);
        if (check_thorough() || fault < PROX)
            CHECK(broken >= (fault >= PROX ? smooth.seen - EPOCHS : EPOCHS));
    }
}

static void run_with(pn_plan *plan, unsigned threads, double *theta)
{
    pn_task *task = NULL;
    pn_rng *rng = NULL;
    pn_fit *fit = NULL;

    CHECK(pn_task_new(&task, threads, NULL) == PN_OK && pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    CHECK(pn_plan_run(&fit, plan, &(pn_run_options){ .rng = rng, .task = task }, NULL) == PN_OK);
    memcpy(theta, fit->theta, KEPT * sizeof *theta);
    pn_fit_free(fit);
    pn_rng_free(rng);
    pn_task_free(task);
}

static void test_any_number_of_threads_gives_the_same(const run_kind *kind)
{
    trial run = { .kind = kind };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    double one[KEPT], other[KEPT];

    CHECK(make(&data, &objective, kind, kind->wide ? 300 : 4000, NULL) == PN_OK &&
          plan_of(&plan, &run, objective, NULL, NULL) == PN_OK);
    run_with(plan, 1, one);
    for (unsigned threads = 2; threads <= 5; threads++) {
        run_with(plan, threads, other);
        CHECK(memcmp(other, one, sizeof one) == 0);
    }
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

int main(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        test_broken_runs(&kinds[i]);
        test_any_number_of_threads_gives_the_same(&kinds[i]);
    }
    return check_summary();
}
