/* server_failure_test.c -- the server when things go wrong: failures in the middle of a round, a ledger that is spent,
 * restarts, parties that refuse or lie, and parties that are not those of the plan.
 * Depends on: server_kit.h, continual/checkpoint_file.h. */
#include <stdio.h>
#include <unistd.h>

#include "continual/checkpoint_file.h"
#include "runtime/federated/server/server_kit.h"

static const pn_checkpoint_owner owner = { .name = "test", .what = "thing" };

/* ---- failures in the middle, and the overall ledger ---- */

static pn_ledger *teaching(double rho)
{
    const pn_budget budget = { .epsilon = NAN, .rho = rho, .neighbours = PN_REPLACE_ONE, .teaching = true };
    pn_ledger *ledger = NULL;
    pn_err err;

    CHECK(pn_ledger_new(&ledger, &budget, &err) == PN_OK);
    return ledger;
}

static size_t charged(const pn_ledger *ledger, const char *label)
{
    size_t count = 0;

    for (size_t e = 0; e < pn_ledger_entries(ledger); e++) {
        pn_charge entry = pn_ledger_entry(ledger, e);

        count += strstr(entry.label, label) ? entry.count : 0;
    }
    return count;
}

static pn_status serve_charging(party_double *parties, const pn_terms *terms, pn_ledger *ledger, pn_server **out,
                                pn_err *err)
{
    const pn_transport_run begin = { 0 };
    pn_server_options options = { .transport = &parties->base, .terms = terms, .overall = ledger };
    pn_status status;

    CHECK(pn_event_exponential(&options.selection, 0.5, PN_REPLACE_ONE, err) == PN_OK);
    CHECK(pn_event_gaussian(&options.feature, 4.0, 2.0, N, PN_REPLACE_ONE, err) == PN_OK);
    CHECK(pn_transport_begin(&parties->base, &begin, err) == PN_OK);
    status = pn_server_new(out, &options, NULL, err);
    pn_event_free(options.selection);
    pn_event_free(options.feature);
    return status;
}

/* Lost after round `when`'s CHOICE or FEATURE: the step fails, nothing has moved; the next try asks the same,
 * pays nothing. */
static void goes_on_after_a_failure(pn_message_kind at, uint64_t when)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_ledger *ledger = teaching(1e6);
    pn_err err;
    double before[D], x[D], want[D];

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 0.5, true, double_identity(N), terms);
    CHECK(serve_charging(&parties, terms, ledger, &server, &err) == PN_OK);
    for (uint64_t t = 1; t <= 20; t++) {
        parties.fault = t == when ? FAULT_LOST : FAULT_NONE;
        parties.at = at;
        parties.who = 1;
        pn_server_model(server, before);
        if (parties.fault == FAULT_LOST) {
            CHECK(pn_server_step(server, &made, NULL, &err) == PN_EIO);
            pn_server_model(server, x);
            CHECK(memcmp(before, x, sizeof x) == 0 && pn_server_rounds(server) == t - 1);
            CHECK(pn_server_asked(server) == t);
            parties.fault = FAULT_NONE;
        }
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
        CHECK(pn_server_asked(server) == t && pn_server_rounds(server) == t);
        CHECK(charged(ledger, ": selection") == K * t);
        CHECK(charged(ledger, ": feature") == pn_server_all_features(server));
    }
    CHECK(!parties.asked_other);
    pn_server_model(server, x);
    frank_wolfe(K, 0.5, 20, want);
    for (size_t i = 0; i < D; i++)
        CHECK_CLOSE(x[i], want[i], 1e-12);
    pn_server_free(server);
    pn_ledger_free(ledger);
    double_close(&parties);
}

/* 10 rounds cost at least 20 times 0.03125: a ledger of less ends the run, before the request, and without a move. */
static void a_spent_ledger_ends_the_run(void)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_ledger *ledger = teaching(1.0);
    pn_status status = PN_OK;
    pn_err err;
    size_t asked;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 0.5, true, double_identity(N), terms);
    CHECK(serve_charging(&parties, terms, ledger, &server, &err) == PN_OK);
    for (size_t t = 0; t < 20 && status == PN_OK; t++) {
        asked = parties.said[PN_MESSAGE_ROUND] + parties.said[PN_MESSAGE_FETCH];
        status = pn_server_step(server, &made, NULL, &err);
    }
    CHECK(status == PN_EBUDGET);
    CHECK(parties.said[PN_MESSAGE_ROUND] <= K * (pn_server_rounds(server) + 1));
    CHECK(charged(ledger, ": selection") >= parties.said[PN_MESSAGE_ROUND]);
    CHECK(charged(ledger, ": feature") >= parties.said[PN_MESSAGE_FETCH]);
    (void)asked;
    pn_server_free(server);
    pn_ledger_free(ledger);
    double_close(&parties);
}

/* ---- restarts ---- */

static void restarts_at_every_round(pn_federated_mode mode, pn_sketch_kind kind, size_t m)
{
    char path[64];
    party_double parties, other;
    pn_terms terms[K];
    double x[D], want[D];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;
    bool stay = mode == PN_FEDERATED_PRODUCT;

    (void)snprintf(path, sizeof path, "/tmp/penumbra-server-%ld", (long)getpid());
    double_open(&other, K, A, Y, N, D);
    double_terms(&other, mode, stay ? 2 : 0, 0.5, stay, (pn_sketch_shape){ kind, m, N, 3 }, terms);
    run(&other, terms, 30, want);
    double_open(&parties, K, A, Y, N, D);
    for (size_t t = 0; t < 30; t++) {
        CHECK(double_serve(&parties, terms, path, &server, &err) == PN_OK);
        CHECK(pn_server_rounds(server) == t);
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK && made.round == t + 1);
        /* a second step that is lost after the parties have answered */
        parties.fault = FAULT_LOST;
        parties.at = PN_MESSAGE_ROUND;
        parties.who = K - 1;
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_EIO);
        parties.fault = FAULT_NONE;
        pn_server_free(server);
        CHECK(parties.farewell == PN_MESSAGE_NONE);
    }
    CHECK(double_serve(&parties, terms, path, &server, &err) == PN_OK);
    pn_server_model(server, x);
    CHECK(memcmp(x, want, sizeof x) == 0);
    CHECK(!parties.asked_other);
    CHECK(pn_server_all_features(server) <= D);
    pn_server_finish(server);
    pn_server_free(server);
    terms[1].iterations++;
    CHECK(double_serve(&parties, terms, path, &server, &err) == PN_EINVAL && strstr(err.message, "other terms"));
    (void)unlink(path);
    double_close(&parties);
    double_close(&other);
}

/* All rounds are done, and the server died before it said so: nothing is asked, x is as it was. */
static void ends_after_a_restart(void)
{
    char path[64];
    party_double parties;
    pn_terms terms[K];
    double x[D], want[D];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;

    (void)snprintf(path, sizeof path, "/tmp/penumbra-server-end-%ld", (long)getpid());
    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 0.5, true, double_identity(N), terms);
    terms[0].iterations = terms[1].iterations = 3;
    CHECK(double_serve(&parties, terms, path, &server, &err) == PN_OK);
    for (int t = 0; t < 3; t++)
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
    pn_server_model(server, want);
    pn_server_free(server);
    parties.said[PN_MESSAGE_ROUND] = parties.said[PN_MESSAGE_FETCH] = 0;
    CHECK(double_serve(&parties, terms, path, &server, &err) == PN_OK);
    pn_server_model(server, x);
    CHECK(memcmp(x, want, sizeof x) == 0 && pn_server_rounds(server) == 3);
    CHECK(pn_server_step(server, &made, NULL, &err) == PN_EINVAL && strstr(err.message, "all 3 rounds"));
    CHECK(parties.said[PN_MESSAGE_ROUND] == 0 && parties.said[PN_MESSAGE_FETCH] == 0);
    pn_server_finish(server);
    pn_server_free(server);
    CHECK(parties.farewell == PN_MESSAGE_DONE);
    (void)unlink(path);
    double_close(&parties);
}

static void refuses_a_file_of_something_else(void)
{
    char path[64];
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_checkpoint_file *file = NULL;
    const unsigned char id[PN_CHECKPOINT_ID] = { 1 };
    bool published;
    pn_err err;

    (void)snprintf(path, sizeof path, "/tmp/penumbra-server-other-%ld", (long)getpid());
    (void)unlink(path);
    CHECK(pn_checkpoint_make(&file, &owner, path, id, PN_CHECKPOINT_PARKED,
                             "what is this? a state of something else altogether, "
                             "longer than the head of a server's state is ......",
                             100, &published, &err) == PN_OK);
    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 0.5, true, double_identity(N), terms);
    CHECK(double_serve(&parties, terms, path, &server, &err) == PN_EIO); /* somebody has it open */
    CHECK(strncmp(err.message, "federated: /tmp", 15) == 0 && strstr(err.message, "a federated run that is alive"));
    pn_checkpoint_close(file);
    CHECK(double_serve(&parties, terms, path, &server, &err) == PN_EPARSE);
    CHECK(!parties.base.running);
    double_close(&parties);
    (void)unlink(path);
}

/* ---- parties that refuse or lie ---- */

static void ends_with(double_fault fault, pn_message_kind at, pn_federated_mode mode, bool stay, pn_status want,
                      const char *words)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_status status;
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, mode, 0, 0.5, stay, double_identity(N), terms);
    parties.fault = fault;
    parties.at = at;
    parties.who = 1;
    status = double_serve(&parties, terms, NULL, &server, &err);
    for (size_t t = 0; t < 20 && status == PN_OK; t++)
        status = pn_server_step(server, &made, NULL, &err);
    CHECK(status == want);
    if (!CHECK(strstr(err.message, words) != NULL))
        (void)fprintf(stderr, "    message: %s\n", err.message);
    pn_server_free(server);
    CHECK(parties.farewell == PN_MESSAGE_REFUSED && !parties.base.running);
    if (!strstr(words, " to \"")) /* the others are told why; what is no answer at all may have got lost on the way */
        CHECK(strstr(parties.reason, words) != NULL);
    double_close(&parties);
}

/* The double takes the largest entry of the gradient, whose sign is that of -Y. */
static void a_code_that_is_negative_ends_a_run_over_a_simplex(void)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err = { .message = "" };

    for (int turned = 0; turned < 2; turned++) {
        double_open(&parties, K, A, Y, N, D);
        double_terms(&parties, PN_FEDERATED_BALL, 0, 0.5, false, double_identity(N), terms);
        for (size_t k = 0; k < K; k++)
            terms[k].positive = true;
        for (size_t j = 0; turned && j < N; j++)
            Y[j] = -Y[j];
        CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
        CHECK(pn_server_step(server, &made, NULL, &err) == (turned ? PN_EIO : PN_OK));
        CHECK(!turned || strstr(err.message, "with a column that it does not have") != NULL);
        pn_server_free(server);
        double_close(&parties);
    }
    for (size_t j = 0; j < N; j++)
        Y[j] = -Y[j];
}

static void stops_for_parties_that_will_not_or_lie(void)
{
    const pn_federated_mode product = PN_FEDERATED_PRODUCT, ball = PN_FEDERATED_BALL;

    ends_with(FAULT_REFUSE, PN_MESSAGE_TERMS, product, true, PN_EPRIVACY, "party B refused: I had rather not");
    ends_with(FAULT_BUDGET, PN_MESSAGE_TERMS, product, true, PN_EBUDGET, "I had rather not");
    ends_with(FAULT_REFUSE, PN_MESSAGE_ROUND, product, true, PN_EPRIVACY, "I had rather not");
    ends_with(FAULT_BUDGET, PN_MESSAGE_ROUND, product, true, PN_EBUDGET, "I had rather not");
    ends_with(FAULT_REFUSE, PN_MESSAGE_FETCH, product, true, PN_EPRIVACY, "I had rather not");
    ends_with(FAULT_CODE, PN_MESSAGE_ROUND, product, true, PN_EIO, "party B answered with a column that");
    ends_with(FAULT_BELOW, PN_MESSAGE_ROUND, ball, false, PN_EIO, "party B answered with a column that");
    ends_with(FAULT_ZERO, PN_MESSAGE_ROUND, product, false, PN_EIO, "that it stays");
    ends_with(FAULT_ZERO, PN_MESSAGE_ROUND, ball, false, PN_EIO, "that it stays");
    ends_with(FAULT_SCORE, PN_MESSAGE_ROUND, product, true, PN_EIO, "scores");
    ends_with(FAULT_SCORE, PN_MESSAGE_ROUND, ball, false, PN_EIO, "scores");
    ends_with(FAULT_SHORT, PN_MESSAGE_FETCH, product, true, PN_EIO, "another length");
    ends_with(FAULT_NAN, PN_MESSAGE_FETCH, product, true, PN_EIO, "no numbers");
    ends_with(FAULT_PARTY, PN_MESSAGE_ROUND, product, true, PN_EIO, "answered \"choice\" to \"round\"");
    ends_with(FAULT_ROUND, PN_MESSAGE_ROUND, product, true, PN_EIO, "answered \"choice\" to \"round\"");
    ends_with(FAULT_COLUMN, PN_MESSAGE_FETCH, product, true, PN_EIO, "answered \"feature\" to \"fetch\"");
}

static void starts_with(void (*spoil)(party_double *, pn_terms *), const char *words)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 0.5, true, double_identity(N), terms);
    spoil(&parties, terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_EINVAL);
    if (!CHECK(strstr(err.message, words) != NULL))
        (void)fprintf(stderr, "    message: %s\n", err.message);
    CHECK(server == NULL && !parties.base.running);
    double_close(&parties);
}

static void other_records(party_double *parties, pn_terms *terms)
{
    (void)terms;
    parties->base.peers[1].records++;
}

static void other_order(party_double *parties, pn_terms *terms)
{
    (void)terms;
    parties->base.peers[0].alignment[3] = 1;
    parties->base.peers[1].alignment[3] = 2;
}

static void one_order(party_double *parties, pn_terms *terms)
{
    (void)terms;
    parties->base.peers[0].alignment[3] = 1;
}

static void other_columns(party_double *parties, pn_terms *terms)
{
    (void)terms;
    parties->base.peers[1].columns++;
}

static void other_terms(party_double *parties, pn_terms *terms)
{
    (void)parties;
    terms[1].radius = -1.0;
}

static void other_parties(party_double *parties, pn_terms *terms)
{
    (void)parties;
    terms[0].parties = terms[1].parties = 3;
}

static void one_run_at_a_time(void)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL, *second = NULL;
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 0.5, true, double_identity(N), terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    CHECK(double_serve(&parties, terms, NULL, &second, &err) == PN_EINVAL &&
          strstr(err.message, "carries another run"));
    pn_server_free(server);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    pn_server_free(server);
    double_close(&parties);
}

int main(void)
{
    fill();
    for (uint64_t when = 1; when <= 5; when++)
        goes_on_after_a_failure(PN_MESSAGE_ROUND, when);
    goes_on_after_a_failure(PN_MESSAGE_FETCH, 1);
    a_spent_ledger_ends_the_run();
    restarts_at_every_round(PN_FEDERATED_PRODUCT, PN_SKETCH_IDENTITY, N);
    restarts_at_every_round(PN_FEDERATED_BALL, PN_SKETCH_GAUSSIAN, 16);
    ends_after_a_restart();
    refuses_a_file_of_something_else();
    stops_for_parties_that_will_not_or_lie();
    a_code_that_is_negative_ends_a_run_over_a_simplex();
    starts_with(other_records, "parties must hold the same records");
    starts_with(other_order, "the digests of their record ids differ");
    starts_with(one_order, "some parties state the order of their records (alignment) and these do not: ");
    starts_with(other_columns, "the plan was made for");
    starts_with(other_terms, "radius");
    starts_with(other_parties, "the terms are for 3 parties");
    one_run_at_a_time();
    return check_summary();
}
