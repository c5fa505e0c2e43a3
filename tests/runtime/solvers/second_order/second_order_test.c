/* second_order_test.c -- runs of second-order descent that are broken at every place: what was released is not drawn
 * again, what was paid for is in the statement, and the run ends where a smooth one does.  The law of the value at the
 * start; certificates against the truth.
 * Depends on: solvers/second_order/second_order_phase.c, check.h, fail_alloc.h. */
#include "numeric/blas.h"
#include "solvers/catalogue/solvers.h"
#include "solvers/second_order/second_order_phase.c"

#include "check.h"
#include "fail_alloc.h"

enum { DIM = 3, OWN = 64, MOST_ROWS = 64 };

typedef struct run_kind {
    const char *name, *eigen;
    bool line_search, filter;
    size_t batch, phases, iterations;
    double value_share, rho;
} run_kind;

static const run_kind kinds[] = {
    { .name = "short steps", .iterations = 8, .rho = 20.0 },
    { .name = "line search", .line_search = true, .iterations = 8, .rho = 20.0 },
    { .name = "batches", .line_search = true, .batch = 60, .iterations = 8, .rho = 40.0 },
    { .name = "phases, value", .line_search = true, .phases = 2, .iterations = 9, .value_share = 0.05, .rho = 0.5 },
    { .name = "filter", .filter = true, .iterations = 6, .rho = 0.01 },
    { .name = "Lanczos", .eigen = "lanczos", .iterations = 6, .rho = 20.0 },
    { .name = "products", .eigen = "matrix_free", .iterations = 6, .rho = 20.0 },
    { .name = "products of batches", .eigen = "matrix_free", .batch = 60, .iterations = 6, .rho = 40.0 },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- the pieces ---- */

/* Logistic loss with a regulariser of negative curvature: from (2, 2, -2) some steps along it, and then down. */
static pn_status make(pn_dataset **data, pn_objective **objective, size_t n, pn_err *err)
{
    pn_synthetic_options how = { .n = n, .p = DIM, .sparsity = 2, .signal = 3.0, .seed = 2 };
    pn_objective_parts parts = { .clip = 0.0 };
    pn_arg none[4] = { { 0 } }, weight[4] = { { .given = true, .real = 0.5 } };
    pn_dataset *raw = NULL;
    pn_status status = pn_dataset_synthetic_logistic(&raw, &how, NULL, err);

    if (status == PN_OK)
        status = pn_dataset_clip_rows(data, raw, PN_L2, 1.0, err);
    pn_dataset_free(raw);
    parts.data = *data;
    if (status == PN_OK)
        status = pn_loss_from_args(&parts.loss, "logistic", none, err);
    if (status == PN_OK)
        status = pn_regulariser_from_args(&parts.reg, "nonconvex", weight, err);
    if (status == PN_OK)
        status = pn_objective_new(objective, &parts, err);
    pn_loss_free(parts.loss);
    pn_regulariser_free(parts.reg);
    return status;
}

static void give(pn_arg *own, int option, double real)
{
    own[option] = (pn_arg){ .given = true, .real = real };
}

static pn_status make_plan(pn_plan **out, const run_kind *kind, pn_objective *objective, pn_err *err)
{
    static double start[DIM] = { 2.0, 2.0, -2.0 };
    pn_arg common[PN_OPT_COUNT] = { { 0 } }, own[OWN] = { { 0 } };

    common[PN_OPT_RHO] = (pn_arg){ .given = true, .real = kind->rho };
    common[PN_OPT_ITERATIONS] = (pn_arg){ .given = true, .count = kind->iterations };
    common[PN_OPT_START] = (pn_arg){ .given = true, .vector = { start, DIM } };
    give(own, SO_TOLERANCE_GRADIENT, 0.3);
    give(own, SO_TOLERANCE_HESSIAN, 0.05);
    if (kind->value_share > 0.0)
        give(own, SO_VALUE_SHARE, kind->value_share);
    else
        give(own, SO_GAP, 1.0);
    own[SO_LINE_SEARCH] = (pn_arg){ .given = true, .flag = kind->line_search };
    own[SO_USE_FILTER] = (pn_arg){ .given = true, .flag = kind->filter };
    if (kind->batch)
        own[SO_BATCH] = (pn_arg){ .given = true, .count = kind->batch };
    if (kind->phases)
        own[SO_PHASES] = (pn_arg){ .given = true, .count = kind->phases };
    if (kind->eigen)
        own[SO_EIGEN] = (pn_arg){ .given = true, .text = kind->eigen };
    return pn_plan_from_args(out, "second_order", objective, NULL, common, own, NULL, err);
}

static pn_ledger *teaching(double rho)
{
    pn_budget budget = { .epsilon = NAN, .rho = rho, .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

/* ---- broken runs ---- */

typedef struct trial {
    const run_kind *kind;
    fail_alloc memory;
    bool cancels; /* the allocation cancels the run in place of failing */
    long at;      /* which one, from 1, counted from the start of the run; 0: none */
    pn_task *task;
    long calls; /* of the allocator, in the run */
    size_t failures, rows;
    pn_trace_row trace[MOST_ROWS];
    double theta[DIM], spent;
    const char *status;
} trial;

/* What a walk that is given up here states is what the ledger was charged. */
static void check_statement(const trial *run, pn_walk *walk, const pn_ledger *ledger)
{
    pn_fit *fit = NULL;

    if (!CHECK(pn_walk_fit(walk, NULL, &fit, NULL) == PN_OK))
        return;
    if (isfinite(fit->charged_rho)) /* products are not worth anything, and say so */
        CHECK_CLOSE(fit->charged_rho, pn_ledger_spent(ledger), 1e-9 * run->kind->rho);
    pn_fit_free(fit);
}

static void step_through(trial *run, pn_walk *walk, const pn_ledger *ledger)
{
    bool done = false;

    while (!done && CHECK(run->rows < MOST_ROWS && run->failures < 4)) {
        pn_trace_row row;
        pn_status status = pn_walk_step(walk, &row, &done, NULL);

        if (status == PN_OK) {
            run->trace[run->rows++] = row;
            continue;
        }
        CHECK(status == PN_ENOMEM || (run->cancels && status == PN_ECANCELLED));
        run->failures++;
        pn_task_reset(run->task);
        run->memory.fail_at = 0;
        check_statement(run, walk, ledger);
    }
}

static pn_status scenario(trial *run, pn_err *err)
{
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_rng *rng = NULL;
    pn_walk *walk = NULL;
    pn_fit *fit = NULL;
    pn_ledger *ledger = teaching(run->kind->rho);
    pn_run_options options = { .ledger = ledger };

    CHECK(pn_task_new(&run->task, 1, err) == PN_OK && pn_rng_seeded(&rng, 3, err) == PN_OK);
    if (CHECK(make(&data, &objective, 200, err) == PN_OK) &&
        CHECK(make_plan(&plan, run->kind, objective, err) == PN_OK)) {
        options.rng = rng;
        options.task = run->task;
        CHECK(pn_walk_new(&walk, plan, &options, err) == PN_OK);
        run->calls = -atomic_load(&run->memory.calls);
        run->memory.fail_at = run->at > 0 ? run->at - run->calls : 0;
        step_through(run, walk, ledger);
        run->memory.fail_at = 0;
        run->calls += atomic_load(&run->memory.calls);
        CHECK(pn_walk_fit(walk, NULL, &fit, err) == PN_OK);
        memcpy(run->theta, fit->theta, sizeof run->theta);
        run->spent = pn_ledger_spent(ledger);
        run->status = fit->certificate.status;
        check_statement(run, walk, ledger);
        pn_fit_free(fit);
    }
    pn_walk_free(walk);
    pn_rng_free(rng);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
    pn_ledger_free(ledger);
    pn_task_free(run->task);
    return PN_OK;
}

static void *allocate(void *self, size_t bytes)
{
    trial *run = self;
    void *block;

    if (!run->cancels)
        return fail_alloc_allocate(&run->memory, bytes);
    if (fail_alloc_refuses(&run->memory))
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

static void check_same(const trial *run, const trial *smooth)
{
    CHECK(run->rows == smooth->rows && run->status == smooth->status);
    for (size_t k = 0; k < run->rows && k < smooth->rows; k++)
        CHECK(run->trace[k].kind == smooth->trace[k].kind &&
              run->trace[k].gradient_norm == smooth->trace[k].gradient_norm &&
              run->trace[k].step_size == smooth->trace[k].step_size);
    CHECK(memcmp(run->theta, smooth->theta, sizeof run->theta) == 0);
    CHECK(run->spent == smooth->spent);
}

static void test_broken_runs(const run_kind *kind, bool cancels)
{
    trial smooth = { .kind = kind };
    long stride = (cancels ? 3 : 1) * check_times(5, 1);
    size_t broken = 0;

    try_it(&smooth);
    CHECK(smooth.failures == 0 && smooth.rows >= 3);
    for (long at = 1; at <= smooth.calls; at += stride) {
        trial run = { .kind = kind, .cancels = cancels, .at = at };

        try_it(&run);
        check_same(&run, &smooth);
        broken += run.failures;
    }
    CHECK(broken >= smooth.rows / (size_t)stride);
}

/* The kinds of all runs together are all that there are. */
static void test_all_branches_are_broken(void)
{
    size_t gradient = 0, curvature = 0, done = 0, budget = 0;

    for (int k = 0; k < KINDS; k++) {
        trial smooth = { .kind = &kinds[k] };

        try_it(&smooth);
        for (size_t i = 0; i < smooth.rows; i++) {
            gradient += strcmp(smooth.trace[i].kind, "gradient") == 0;
            curvature += strcmp(smooth.trace[i].kind, "curvature") == 0;
            done += strcmp(smooth.trace[i].kind, "done") == 0;
        }
        budget += strcmp(smooth.status, "budget") == 0;
    }
    CHECK(gradient > 5 && curvature > 5 && done > 1 && budget > 1);
}

/* ---- the value at the start ---- */

/* second-order.md section 11, item 12: over 10^5 draws f(w0) + z + shift < f(w0) + shift - sigma has frequency .1587,
 * and some lie below f(w0), at most zeta of them.  At 5.6 standard deviations: false alarm below 1e-7. */
static void test_the_value_has_noise_of_both_signs(void)
{
    enum { DRAWS = 100000 };
    const run_kind kind = { .iterations = 1000, .value_share = 0.05, .rho = 0.1 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    const so_plan *own;
    so_state state = { .stage = SO_VALUE };
    pn_ledger *ledger = teaching(1e5);
    pn_rng *rng = NULL;
    size_t low = 0, high = 0, below = 0;
    double exact = NAN, sigma, shift;

    CHECK(make(&data, &objective, 50, NULL) == PN_OK && make_plan(&plan, &kind, objective, NULL) == PN_OK);
    own = (const so_plan *)plan;
    state.base.plan = plan;
    state.base.theta = own->base.start;
    sigma = own->value.z * own->value.sensitivity;
    shift = sigma * sqrt(2.0 * log(1.0 / own->of.failure));
    CHECK(own->value.cost > 0.0 && pn_rng_seeded(&rng, 21, NULL) == PN_OK);
    CHECK_CLOSE(own->value.cost, 1.0 / (2.0 * own->value.z * own->value.z), 1e-8); /* rho of a Gaussian release */
    CHECK_CLOSE(own->value.sensitivity, sqrt(12.0) / 50.0, 1e-6);                  /* the loss at w0 has range ||w0|| */
    CHECK(pn_objective_losses(objective, NULL, own->base.start, &exact, NULL, NULL, NULL) == PN_OK);
    CHECK(pn_oracle_open(&state.ask, plan, ledger, rng, NULL, NULL) == PN_OK);
    for (int i = 0; i < DRAWS; i++) {
        double value = NAN;

        pn_oracle_begin(state.ask);
        if (!CHECK(pn_ask_start_value(state.ask, &own->value, own->base.start, &value, NULL) == PN_OK))
            break;
        pn_oracle_next(state.ask);
        low += value < exact - sigma;
        high += value > exact + sigma;
        below += value + shift < exact;
    }
    CHECK_CLOSE((double)low / DRAWS, 0.158655, 5.6 * 0.001156);
    CHECK_CLOSE((double)high / DRAWS, 0.158655, 5.6 * 0.001156);
    CHECK_CLOSE((double)below / DRAWS, 0.015941, 5.6 * 0.000397); /* Phi(-sqrt(2 ln 10)) */
    CHECK(below > 0 && (double)below / DRAWS <= 0.1);
    pn_oracle_close(state.ask);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* T comes from the released value and r(w0) together, and the first phase gets what the value has left. */
static void test_iterations_follow_the_released_value(void)
{
    const run_kind kind = { .iterations = 1000000, .value_share = 0.1, .rho = 1e6 };
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    pn_ledger *ledger = teaching(1e6);
    so_state state = { .stage = SO_VALUE };
    pn_rng *rng = NULL;
    const so_plan *own;
    double value = NAN, expected;

    CHECK(make(&data, &objective, 50, NULL) == PN_OK && make_plan(&plan, &kind, objective, NULL) == PN_OK);
    own = (const so_plan *)plan;
    state.base.plan = plan;
    state.base.theta = own->base.start;
    state.allowance = own->allowance;
    CHECK(pn_rng_seeded(&rng, 21, NULL) == PN_OK);
    CHECK(pn_oracle_open(&state.ask, plan, ledger, rng, NULL, NULL) == PN_OK && so_take_value(&state, NULL) == PN_OK);
    CHECK(pn_objective_evaluate(objective, own->base.start, &value, NULL, NULL, NULL) == PN_OK);
    expected = (value - own->floor) / own->of.decrease; /* noise of about 1e-4 */
    CHECK_CLOSE((double)state.iterations, expected, 2.0 + 0.002 * expected);
    CHECK(state.stage == SO_OPEN && state.valued);
    CHECK(so_first_phase(&state, NULL) == PN_OK && state.stage == SO_GRADIENT);
    CHECK(state.phase.noise.iterations == state.iterations);
    CHECK_CLOSE((double)state.iterations * state.phase.noise.whole, 0.9e6, 0.9e6 * 1e-4);
    CHECK_CLOSE(pn_ledger_spent(ledger), own->value.cost, 1e-6);
    pn_model_close(state.phase.release);
    pn_oracle_close(state.ask);
    pn_rng_free(rng);
    pn_ledger_free(ledger);
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

/* ---- certificates ---- */

/* The largest count that a fair run of `runs` exceeds with probability at most 1e-6: of violations with chance zeta
 * each. */
static size_t most_violations(size_t runs, double zeta)
{
    double term = pow(1.0 - zeta, (double)runs), sum = term;
    size_t k = 0;

    while (1.0 - sum > 1e-6 && k < runs) {
        term *= (double)(runs - k) / (double)(k + 1) * zeta / (1.0 - zeta);
        sum += term;
        k++;
    }
    return k;
}

static bool holds(pn_objective *objective, const pn_fit *fit)
{
    double gradient[DIM], packed[DIM * (DIM + 1) / 2] = { 0 }, x[DIM], start[DIM] = { 1.0, 0.5, 0.25 };
    pn_smallest_options options = { .tolerance = 1e-9, .failure = 1e-3 };
    pn_smallest least = { 0 };

    CHECK(pn_objective_evaluate(objective, fit->theta, NULL, gradient, NULL, NULL) == PN_OK);
    CHECK(pn_objective_quadratic(objective, NULL, fit->theta, NULL, NULL, packed, NULL, NULL) == PN_OK);
    CHECK(pn_objective_add_regular_hessian(objective, fit->theta, packed, NULL) == PN_OK);
    CHECK(pn_smallest_eigen(&least, x, packed, DIM, &options, start, NULL, NULL) == PN_OK);
    return pn_lp_norm(PN_L2, DIM, gradient) <= fit->certificate.gradient_norm &&
           least.value >= fit->certificate.eigenvalue;
}

/* zeta/parts of each of T releases: noise of gradient and Hessian, their batches, Lanczos. */
static void check_errors(const pn_plan *plan, const pn_certificate *of)
{
    const so_plan *own = (const so_plan *)plan;
    const pn_model *model = &own->model;
    size_t parts = 2u + (model->batch < model->n ? 2u : 0u) + (own->eigen == PN_EIGEN_LANCZOS ? 1u : 0u);
    double each = 0.1 / (double)(parts * own->first.iterations);
    double steps =
        own->eigen == PN_EIGEN_LANCZOS ? 0.1 * own->of.eps_h : 0.0; /* at most: they may see more than they need */
    double known = pn_model_hessian_noise(model, own->first.z, each) + pn_model_hessian_sampling(model, each);

    CHECK_CLOSE(of->gradient_error,
                pn_model_gradient_noise(model, own->first.z, each) + pn_model_gradient_sampling(model, each), 1e-12);
    CHECK(of->hessian_error >= known - 1e-12 && of->hessian_error <= known + steps + 1e-12);
}

static void test_certificates_hold(const run_kind *kind)
{
    const size_t runs = (size_t)check_times(40, 200);
    pn_dataset *data = NULL;
    pn_objective *objective = NULL;
    pn_plan *plan = NULL;
    size_t broken = 0, certified = 0;

    CHECK(make(&data, &objective, 400, NULL) == PN_OK && make_plan(&plan, kind, objective, NULL) == PN_OK);
    for (uint64_t seed = 1; seed <= runs; seed++) {
        pn_rng *rng = NULL;
        pn_fit *fit = NULL;

        CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
        if (CHECK(pn_plan_run(&fit, plan, &(pn_run_options){ .rng = rng }, NULL) == PN_OK)) {
            bool end = strcmp(fit->certificate.status, "certified") == 0;

            CHECK(end == isfinite(fit->certificate.gradient_norm) && end == isfinite(fit->certificate.eigenvalue));
            CHECK(fit->certificate.failure == 0.1);
            if (end && !kind->phases)
                check_errors(plan, &fit->certificate);
            certified += end;
            broken += end && !holds(objective, fit);
        }
        pn_fit_free(fit);
        pn_rng_free(rng);
    }
    CHECK(certified > runs / 4);
    CHECK(broken <= most_violations(runs, 0.1)); /* of zeta = .1 */
    pn_plan_free(plan);
    pn_objective_free(objective);
    pn_dataset_free(data);
}

int main(void)
{
    const run_kind honest[] = { { .iterations = 60, .rho = 2.0 },
                                { .iterations = 60, .rho = 10.0, .batch = 200, .line_search = true },
                                { .iterations = 30, .rho = 2.0, .phases = 2, .line_search = true, .filter = true },
                                { .iterations = 60, .rho = 2.0, .eigen = "lanczos" } };

    for (int k = 0; k < KINDS; k++) {
        test_broken_runs(&kinds[k], false);
        test_broken_runs(&kinds[k], true);
    }
    test_all_branches_are_broken();
    test_the_value_has_noise_of_both_signs();
    test_iterations_follow_the_released_value();
    for (size_t k = 0; k < sizeof honest / sizeof honest[0]; k++)
        test_certificates_hold(&honest[k]);
    return check_summary();
}
