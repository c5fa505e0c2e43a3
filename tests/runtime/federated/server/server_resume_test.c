/* server_resume_test.c -- federated_frank_wolfe from a checkpoint: a ledger that holds just the plan's budget pays for
 * the rest of a run that it began to pay for; a run that is done waits for nobody;
 * parties that forget take no checkpoint.
 * Depends on: in_process_kit.h, fail_alloc.h, party_double.h. */
#include <stdio.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "runtime/federated/party/party_double.h"
#include "runtime/federated/transport/in_process_kit.h"

enum { K = 3, ROUNDS = 20, BREAKS = 8 };

static double A[N * D], Y[N];
static char state[64], ledger_path[80], key_path[96], head_path[96];

static void begin(void)
{
    unsigned seed = 3;

    for (size_t i = 0; i < N * D; i++)
        A[i] = unit(&seed) < 0.5 ? -1.0 : 1.0;
    for (size_t j = 0; j < N; j++)
        Y[j] = 0.6 * A[j * D] - 0.3 * A[j * D + 4] + 0.1 * (unit(&seed) - 0.5);
    (void)snprintf(state, sizeof state, "%s/penumbra-resume-%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                   (long)getpid());
    (void)snprintf(ledger_path, sizeof ledger_path, "%s.ledger", state);
    (void)snprintf(key_path, sizeof key_path, "%s.key", ledger_path);
    (void)snprintf(head_path, sizeof head_path, "%s.head", ledger_path);
}

static void remove_files(void)
{
    (void)unlink(state);
    (void)unlink(ledger_path);
    (void)unlink(key_path);
    (void)unlink(head_path);
}

static void open_parties(party_double *parties, bool with_checkpoint)
{
    double_open(parties, K, A, Y, N, D);
    if (with_checkpoint)
        CHECK(pn_server_keep_at(&parties->base, state, NULL) == PN_OK);
}

/* The manner's budget, neither less nor more. */
static pn_ledger *open_ledger(const manner *how, const char *path)
{
    const pn_budget budget = { .epsilon = how->rho > 0.0 ? NAN : how->epsilon,
                               .delta = how->delta,
                               .rho = how->rho > 0.0 ? how->rho : NAN,
                               .neighbours = PN_REPLACE_ONE };
    pn_ledger *out = NULL;
    pn_err err;

    (void)went_well(path ? pn_ledger_open(&out, path, NULL, &budget, &err) : pn_ledger_new(&out, &budget, &err), &err);
    return out;
}

static pn_status plan_and_run(pn_fit **out, const problem *at, party_double *parties, const manner *how, pn_err *err)
{
    pn_plan *plan = NULL;
    pn_status status = make_plan(&plan, at, &parties->base, how, err);

    *out = NULL;
    if (status == PN_OK)
        status = run(out, plan, how, err);
    pn_plan_free(plan);
    return status;
}

static size_t charged(const pn_ledger *ledger, const char *kind)
{
    size_t count = 0;

    for (size_t e = 0; e < pn_ledger_entries(ledger); e++) {
        pn_charge one = pn_ledger_entry(ledger, e);

        count += strstr(one.label, kind) ? one.count : 0;
    }
    return count;
}

/* The model without a break, with a ledger in memory. */
static void run_through(const problem *at, const manner *how, double *x, size_t *features)
{
    party_double parties;
    manner whole = *how;
    pn_fit *fit = NULL;
    pn_err err;

    open_parties(&parties, false);
    whole.ledger = open_ledger(how, NULL);
    if (went_well(plan_and_run(&fit, at, &parties, &whole, &err), &err))
        memcpy(x, fit->theta, D * sizeof *x);
    *features = charged(whole.ledger, ": feature");
    CHECK(charged(whole.ledger, ": selection") == K * ROUNDS && *features > 0);
    pn_fit_free(fit);
    pn_ledger_free(whole.ledger);
    double_close(&parties);
}

/* Breaks in round BREAKS, after parties have answered `what`. */
static void break_in(const problem *at, party_double *parties, manner *how, pn_message_kind what)
{
    pn_fit *fit = NULL;
    pn_err err;

    parties->fault = FAULT_LOST;
    parties->at = what;
    parties->when = what == PN_MESSAGE_ROUND ? BREAKS : 0;
    parties->who = K - 1;
    how->ledger = open_ledger(how, ledger_path);
    CHECK(plan_and_run(&fit, at, parties, how, &err) == PN_EIO && strstr(err.message, "the line is dead"));
    parties->fault = FAULT_NONE;
    pn_ledger_free(how->ledger);
}

static void just_the_budget_is_enough(const problem *at, manner how, pn_message_kind what)
{
    party_double parties;
    pn_fit *fit = NULL;
    double want[D];
    size_t features;
    pn_err err;

    remove_files();
    run_through(at, &how, want, &features);
    open_parties(&parties, true);
    break_in(at, &parties, &how, what);
    how.ledger = open_ledger(&how, ledger_path);
    CHECK(pn_ledger_spent(how.ledger) > 0.0);
    if (went_well(plan_and_run(&fit, at, &parties, &how, &err), &err)) {
        CHECK(fit->steps == ROUNDS && !fit->stopped);
        CHECK(memcmp(fit->theta, want, sizeof want) == 0);
    }
    CHECK(charged(how.ledger, ": selection") == K * ROUNDS && charged(how.ledger, ": feature") == features);
    CHECK(charged(how.ledger, ": score") == (how.mode == PN_FEDERATED_BALL ? K * ROUNDS : 0));
    CHECK(!parties.asked_other);
    pn_fit_free(fit);

    /* a run that begins needs all of the budget, as before */
    (void)unlink(state);
    CHECK(plan_and_run(&fit, at, &parties, &how, &err) == PN_EBUDGET && !fit);
    pn_ledger_free(how.ledger);
    double_close(&parties);
    remove_files();
}

/* ---- done, and nobody is there ---- */

static pn_status nobody_comes(pn_transport *transport, pn_task *task, pn_err *err)
{
    (void)transport, (void)task;
    return pn_fail(err, PN_EIO, "double: nobody came");
}

static const pn_transport_ops lonely_ops = { .name = "double",
                                             .doc = "parties that do not come of themselves",
                                             .destroy = double_destroy,
                                             .gather = nobody_comes,
                                             .exchange = double_exchange,
                                             .end = double_end };

static void a_run_that_is_done_waits_for_nobody(const problem *at)
{
    manner how = { .epsilon = 3.0, .delta = 1e-5, .iterations = ROUNDS };
    party_double parties, later;
    pn_fit *fit = NULL;
    double want[D];
    size_t features;
    pn_err err;

    remove_files();
    run_through(at, &how, want, &features);
    open_parties(&parties, true);
    break_in(at, &parties, &how, PN_MESSAGE_ROUND);
    how.ledger = open_ledger(&how, ledger_path);
    parties.base.ops = &lonely_ops;
    parties.base.gathered = false;
    CHECK(plan_and_run(&fit, at, &parties, &how, &err) == PN_EIO && strstr(err.message, "nobody came"));
    parties.base.ops = &double_ops;
    CHECK(plan_and_run(&fit, at, &parties, &how, &err) == PN_OK);
    pn_fit_free(fit);

    open_parties(&later, true);
    later.base.ops = &lonely_ops;
    for (size_t k = 0; k < K; k++)
        later.base.peers[k].records = later.base.peers[k].columns = 0;
    for (int again = 0; again < 2; again++) {
        CHECK(pn_transport_gather(&later.base, NULL, &err) == PN_OK && later.base.recalled);
        CHECK(later.base.records == N && later.base.feature_bound == 1.0 && later.base.peers[2].columns == 2);
        later.farewell = PN_MESSAGE_NONE;
        if (went_well(plan_and_run(&fit, at, &later, &how, &err), &err)) {
            CHECK(memcmp(fit->theta, want, sizeof want) == 0 && fit->steps == ROUNDS);
            CHECK(later.farewell == PN_MESSAGE_DONE);
        }
        pn_fit_free(fit);
        CHECK(!later.base.recalled && !later.base.gathered);
        CHECK(later.said[PN_MESSAGE_TERMS] + later.said[PN_MESSAGE_ROUND] + later.said[PN_MESSAGE_FETCH] == 0);
    }
    CHECK(charged(how.ledger, ": selection") == K * ROUNDS && charged(how.ledger, ": feature") == features);

    /* parties of other names have other columns, as far as anybody knows */
    memcpy(later.base.peers[0].name, "somebody", sizeof "somebody");
    CHECK(pn_transport_gather(&later.base, NULL, &err) == PN_EIO && !later.base.recalled);
    pn_ledger_free(how.ledger);
    double_close(&parties);
    double_close(&later);
    remove_files();
}

/* ---- parties that forget ---- */

static void parties_in_this_process_take_no_checkpoint(const problem *at)
{
    const manner how = { .rho = 0.5, .iterations = ROUNDS };
    pn_transport *transport = transport_of(K, NULL, NULL);
    pn_plan *plan = NULL;
    pn_fit *fit = NULL;
    pn_err err;

    CHECK(pn_server_keep_at(transport, state, NULL) == PN_OK);
    if (went_well(make_plan(&plan, at, transport, &how, &err), &err)) {
        CHECK(run(&fit, plan, &how, &err) == PN_EINVAL);
        CHECK(strstr(err.message, "federated.in_process: takes no checkpoint") != NULL);
    }
    CHECK(access(state, F_OK) != 0 && !transport->running);
    pn_fit_free(fit);
    pn_plan_free(plan);
    pn_transport_free(transport);
}

/* ---- memory ---- */

enum { SHORT = 2 }; /* rounds */

/* Plans and runs until it is done, through a line that dies in the last round; where memory runs out, once more with
 * some.  The budget is enough for one run. */
static pn_status run_to_end(const problem *at, party_double *parties, const manner *how, pn_err *err)
{
    pn_status fell = PN_OK, status;
    pn_fit *fit = NULL;

    parties->fault = FAULT_LOST;
    parties->at = PN_MESSAGE_ROUND;
    parties->when = SHORT;
    while ((status = plan_and_run(&fit, at, parties, how, err)) != PN_OK) {
        if (status == PN_EIO && parties->fault == FAULT_LOST)
            parties->fault = FAULT_NONE;
        else if (CHECK(status == PN_ENOMEM && fell == PN_OK))
            fell = status;
        else
            break;
    }
    CHECK(status != PN_OK || fit->steps == SHORT);
    CHECK(charged(how->ledger, ": selection") == K * SHORT && !parties->asked_other);
    pn_fit_free(fit);
    return status == PN_OK ? fell : status;
}

/* A run that is done is known to be done, or it is said that there was no memory to look. */
static pn_status recall(void *none, pn_err *err)
{
    party_double later;
    pn_status status = double_try_open(&later, K, A, Y, N, D, err);

    (void)none;
    if (status != PN_OK)
        return status;
    later.base.ops = &lonely_ops;
    status = pn_server_keep_at(&later.base, state, err);
    if (status == PN_OK)
        status = pn_transport_gather(&later.base, NULL, err);
    CHECK(status != PN_OK || later.base.recalled);
    pn_transport_end(&later.base, NULL);
    double_close(&later);
    return status;
}

static pn_status broken_run(void *self, pn_err *err)
{
    manner how = { .epsilon = 3.0, .delta = 1e-5, .iterations = SHORT, .mode = PN_FEDERATED_BALL };
    const pn_budget budget = { .epsilon = how.epsilon, .delta = how.delta, .rho = NAN, .neighbours = PN_REPLACE_ONE };
    party_double parties;
    pn_status status;

    remove_files();
    PN_TRY(double_try_open(&parties, K, A, Y, N, D, err));
    status = pn_server_keep_at(&parties.base, state, err);
    if (status == PN_OK)
        status = pn_ledger_new(&how.ledger, &budget, err);
    if (status == PN_OK)
        status = run_to_end(self, &parties, &how, err);
    pn_ledger_free(how.ledger);
    double_close(&parties);
    return status == PN_OK ? recall(NULL, err) : status;
}

int main(void)
{
    problem at;
    pn_err err;

    begin();
    if (!CHECK(open_problem(&at, N, D, "squared", &err) == PN_OK))
        return check_summary();
    for (int fetch = 0; fetch < 2; fetch++) {
        const pn_message_kind what = fetch ? PN_MESSAGE_FETCH : PN_MESSAGE_ROUND;

        just_the_budget_is_enough(&at, (manner){ .epsilon = 3.0, .delta = 1e-5, .iterations = ROUNDS }, what);
        just_the_budget_is_enough(&at, (manner){ .rho = 0.5, .iterations = ROUNDS, .sampled = 1 }, what);
    }
    just_the_budget_is_enough(
        &at, (manner){ .epsilon = 3.0, .delta = 1e-5, .iterations = ROUNDS, .mode = PN_FEDERATED_BALL },
        PN_MESSAGE_ROUND);
    just_the_budget_is_enough(
        &at, (manner){ .rho = 0.5, .iterations = ROUNDS, .sampled = 1, .mode = PN_FEDERATED_BALL, .stay = true },
        PN_MESSAGE_ROUND);
    a_run_that_is_done_waits_for_nobody(&at);
    parties_in_this_process_take_no_checkpoint(&at);
    fail_alloc_sweep("broken run", broken_run, &at);
    CHECK(broken_run(&at, NULL) == PN_OK); /* the look at a run that is done makes calls that the run has made, too */
    fail_alloc_sweep("recall", recall, NULL);
    remove_files();
    close_problem(&at);
    return check_summary();
}
