/* model_refusal_test.c -- budgets that just suffice or do not, what a model refuses,
 * and calls that are cancelled or run out of memory.
 * Depends on: model_small.h, fail_alloc.h. */
#include "runtime/oracle/model_small.h"

#include "fail_alloc.h"

/* A budget that is just the price of both admits both, on whichever orders of the filter. */
static void test_both_fit_where_their_price_does(world *of, size_t batch, double z)
{
    const double delta = 1e-6;
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_event *parts[2] = { NULL, NULL }, *whole = NULL, *spent = NULL;
    pn_budget budget = { .delta = delta, .rho = NAN, .teaching = true };
    pn_receipt receipt = { .rows = 0 };
    pn_step_context context = { .receipt = &receipt };
    pn_model_release *release = NULL;
    pn_model model;
    outcome out;
    size_t times;

    CHECK(pn_model_read(&model, "test", of->objective, &request, batch, false, false, NULL) == PN_OK);
    CHECK(pn_model_gradient_event(&model, z, &parts[0], NULL) == PN_OK);
    CHECK(pn_model_hessian_event(&model, z, &parts[1], NULL) == PN_OK);
    CHECK(pn_event_compose(&whole, parts, 2, NULL) == PN_OK);
    budget.epsilon = pn_event_epsilon(whole, 1, delta, NULL);
    CHECK(pn_ledger_new(&context.ledger, &budget, NULL) == PN_OK && pn_rng_seeded(&context.rng, 1, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, z, z, NULL) == PN_OK);
    CHECK(receipt.rows == 0);
    CHECK(pn_model_both(release, &context, "both", theta, NULL, out.gradient, out.packed, NULL, NULL) == PN_OK);
    CHECK(charges(context.ledger) == 2 && context.releases == 2);
    CHECK(pn_receipt_total(&receipt, &spent, &times, NULL) == PN_OK);
    CHECK_CLOSE(pn_event_epsilon(spent, times, delta, NULL), budget.epsilon, 1e-12);
    CHECK(pn_model_both(release, &context, "both", theta, NULL, out.gradient, out.packed, NULL, NULL) == PN_EBUDGET);
    CHECK(charges(context.ledger) == 2 && context.releases == 2);
    pn_model_close(release);
    pn_receipt_clear(&receipt);
    pn_event_free(spent);
    pn_event_free(whole);
    pn_event_free(parts[0]);
    pn_event_free(parts[1]);
    context_free(&context);
}

/* ---- refusals ---- */

/* Enough for one of the two: nothing is charged, drawn or shown, and one of them alone is still to be had. */
static void test_what_is_refused_draws_nothing(world *of, size_t batch)
{
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_step_context context = context_of(6, 0.6);
    pn_rng *fresh = NULL;
    pn_receipt receipt = { .rows = 0 };
    pn_model_release *release = NULL;
    pn_model model;
    outcome out = { NAN, { 1, 2, 3, 4 }, { 5, 6 } };
    uint64_t records = 0;

    CHECK(pn_model_read(&model, "test", of->objective, &request, batch, false, false, NULL) == PN_OK);
    context.receipt = &receipt;
    CHECK(pn_model_open(&release, &model, 1.0, 1.0, NULL) == PN_OK); /* rho = 1/2 each */
    CHECK(pn_model_both(release, &context, "both", theta, NULL, out.gradient, out.packed, &records, NULL) ==
          PN_EBUDGET);
    CHECK(charges(context.ledger) == 0 && context.releases == 0 && records == 0);
    CHECK(receipt.rows == 0);
    CHECK(l2_norm(out.gradient, DIM) == 0.0 && l2_norm(out.packed, PACKED) == 0.0);
    CHECK(pn_rng_seeded(&fresh, 6, NULL) == PN_OK && pn_rng_u64(fresh) == pn_rng_u64(context.rng));
    CHECK(pn_model_hessian(release, &context, "one", theta, out.packed, &records, NULL) == PN_OK);
    CHECK(records == (batch ? batch : N) && context.releases == 1);
    CHECK(pn_model_gradient(release, &context, "one", theta, NULL, out.gradient, NULL, NULL) == PN_EBUDGET);
    pn_model_close(release);
    pn_receipt_clear(&receipt);
    pn_rng_free(fresh);
    context_free(&context);
}

static void test_seeded_noise_takes_no_real_budget(world *of)
{
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_budget budget = { .epsilon = NAN, .rho = 10.0 };
    pn_step_context context = { 0 };
    pn_model_release *release = NULL;
    pn_model model;
    outcome out;

    CHECK(pn_ledger_new(&context.ledger, &budget, NULL) == PN_OK && pn_rng_seeded(&context.rng, 1, NULL) == PN_OK);
    CHECK(pn_model_read(&model, "test", of->objective, &request, 0, false, false, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, 1.0, 1.0, NULL) == PN_OK);
    CHECK(pn_model_both(release, &context, NULL, theta, NULL, out.gradient, out.packed, NULL, NULL) == PN_EPRIVACY);
    CHECK(charges(context.ledger) == 0);
    pn_model_close(release);
    CHECK(pn_model_open(&release, &model, 1.0, 0.0, NULL) == PN_OK);
    CHECK(pn_model_hessian(release, &context, NULL, theta, out.packed, NULL, NULL) == PN_EPRIVACY);
    pn_model_close(release);
    context_free(&context);
}

static void test_what_cannot_be_read_says_why(world *of)
{
    pn_request add = request_for(PN_ADD_REMOVE), zero = request_for(PN_ZERO_OUT), replace = request_for(PN_REPLACE_ONE);
    double x[2 * DIM] = { 1.0 }, y[2] = { 1.0, -1.0 };
    recipe how = { .loss = "hinge", .x = x, .y = y, .n = 2, .p = DIM };
    pn_model model;
    world made;
    pn_err err;

    CHECK(pn_model_read(&model, "solve.x", of->objective, &add, 0, false, false, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "add_remove") && strncmp(err.message, "solve.x: ", 9) == 0);
    CHECK(pn_model_read(&model, "solve.x", of->objective, &zero, 3, false, false, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "got \"zero_out\""));
    CHECK(pn_model_read(&model, "solve.x", of->objective, &replace, N + 1, false, false, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "24, got 25"));
    CHECK(world_make(&made, &how, NULL) == PN_OK);
    CHECK(pn_model_read(&model, "solve.x", made.objective, &replace, 0, false, false, &err) == PN_EUNSUPPORTED);
    CHECK(strncmp(err.message, "solve.x: ", 9) == 0 && strstr(err.message, "hinge"));
    world_free(&made);
}

/* ---- a call that does not end ---- */

/* All records: nothing was charged.  A batch: it was, and the next call gives what the cancelled one would have given,
 * and pays nothing. */
static void test_a_cancelled_call_loses_nothing(world *of, size_t batch)
{
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_step_context context = context_of(12, 1e3);
    pn_model_release *release = NULL;
    pn_receipt receipt = { .rows = 0 };
    pn_task *task = NULL;
    pn_model model;
    outcome want, out;

    (void)release_from(of, batch, false, 2.0, theta, 12, &want);
    CHECK(pn_model_read(&model, "test", of->objective, &request, batch, false, false, NULL) == PN_OK);
    CHECK(pn_model_open(&release, &model, 2.0, 2.0, NULL) == PN_OK);
    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    pn_task_cancel(task);
    context.task = task;
    context.receipt = &receipt;
    CHECK(pn_model_both(release, &context, "t", theta, NULL, out.gradient, out.packed, NULL, NULL) == PN_ECANCELLED);
    CHECK(charges(context.ledger) == (batch ? 2 : 0) && context.releases == 0);
    CHECK((receipt.rows > 0) == (batch > 0));
    context.task = NULL;
    CHECK(pn_model_both(release, &context, "t", theta, NULL, out.gradient, out.packed, NULL, NULL) == PN_OK);
    CHECK(charges(context.ledger) == 2 && context.releases == 2);
    CHECK(memcmp(out.gradient, want.gradient, sizeof out.gradient) == 0);
    CHECK(memcmp(out.packed, want.packed, sizeof out.packed) == 0);
    pn_model_close(release);
    pn_receipt_clear(&receipt);
    pn_task_free(task);
    context_free(&context);
}

typedef struct scenario {
    const recipe *how;
    size_t batch;
} scenario;

static pn_status one_run(void *self, pn_err *err)
{
    const scenario *of = self;
    pn_request request = request_for(PN_REPLACE_ONE);
    pn_budget budget = { .epsilon = NAN, .rho = 1e6, .teaching = true };
    pn_step_context context = { 0 };
    pn_model_release *release = NULL;
    pn_model model;
    outcome out;
    world made;
    pn_status status = world_make(&made, of->how, err);

    if (status == PN_OK)
        status = pn_ledger_new(&context.ledger, &budget, err);
    if (status == PN_OK)
        status = pn_rng_seeded(&context.rng, 3, err);
    if (status == PN_OK)
        status = pn_model_read(&model, "test", made.objective, &request, of->batch, true, false, err);
    if (status == PN_OK)
        status = pn_model_open(&release, &model, 1.0, 1.0, err);
    if (status == PN_OK)
        status = pn_model_both(release, &context, "t", theta, &out.value, out.gradient, out.packed, NULL, err);
    pn_model_close(release);
    context_free(&context);
    world_free(&made);
    return status;
}

int main(void)
{
    double x[N * DIM], y[N];
    recipe how = { .x = x, .y = y, .n = N, .p = DIM };
    world made;

    random_rows(1, N, DIM, x, y);
    CHECK(world_make(&made, &how, NULL) == PN_OK);
    for (double z = 0.3; z < 40.0; z *= 3.0) {
        test_both_fit_where_their_price_does(&made, 0, z);
        test_both_fit_where_their_price_does(&made, N / 4, z);
    }
    for (size_t batch = 0; batch <= N; batch += N / 2)
        test_what_is_refused_draws_nothing(&made, batch);
    test_seeded_noise_takes_no_real_budget(&made);
    test_what_cannot_be_read_says_why(&made);
    test_a_cancelled_call_loses_nothing(&made, 0);
    test_a_cancelled_call_loses_nothing(&made, N / 3);
    world_free(&made);
    how.nonconvex = 0.5;
    fail_alloc_sweep("all records", one_run, &(scenario){ &how, 0 });
    fail_alloc_sweep("a batch", one_run, &(scenario){ &how, N / 3 });
    return check_summary();
}
