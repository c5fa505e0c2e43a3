/* server_test.c -- the server against parties of plain arithmetic: the same x as Frank-Wolfe on the product set and on the ball, what
 * "stay" is for, q = J A x, what is said and how often, failures in the middle, restarts, and parties that refuse or lie.
 * Depends on: party_double.h.  The numbers are those of distributed-frank-wolfe.md section 4. */
#include <stdio.h>
#include <unistd.h>

#include "continual/checkpoint_file.h"
#include "party_double.h"

enum { N = 60, D = 6, K = 2 };

static double A[N * D], Y[N];

static double unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

static void fill(void)
{
    static const double truth[D] = { 0.7, 0.0, -0.2, 0.4, 0.0, 0.0 };
    unsigned state = 5;

    for (size_t j = 0; j < N; j++) {
        Y[j] = 0.1 * (unit(&state) - 0.5);
        for (size_t i = 0; i < D; i++) {
            A[j * D + i] = unit(&state) < 0.5 ? -1.0 : 1.0;
            Y[j] += truth[i] * A[j * D + i];
        }
        Y[j] = fmax(-1.0, fmin(1.0, Y[j]));
    }
}

static double loss_at(const double *x, double *gradient)
{
    double value = 0.0;

    for (size_t i = 0; gradient && i < D; i++)
        gradient[i] = 0.0;
    for (size_t j = 0; j < N; j++) {
        double residual = -Y[j];

        for (size_t i = 0; i < D; i++)
            residual += A[j * D + i] * x[i];
        value += residual * residual / (2.0 * N);
        for (size_t i = 0; gradient && i < D; i++)
            gradient[i] += A[j * D + i] * residual / N;
    }
    return value;
}

/* Frank-Wolfe over a product of `blocks` l1 balls, by the book: an independent program. */
static void frank_wolfe(size_t blocks, double radius, size_t rounds, double *x)
{
    size_t c = D / blocks;

    for (size_t i = 0; i < D; i++)
        x[i] = 0.0;
    for (size_t t = 0; t < rounds; t++) {
        double gamma = 2.0 / ((double)t + 2.0), gradient[D];

        (void)loss_at(x, gradient);
        for (size_t k = 0; k < blocks; k++) {
            size_t best = k * c;

            for (size_t i = k * c; i < (k + 1) * c; i++)
                best = fabs(gradient[i]) > fabs(gradient[best]) ? i : best;
            for (size_t i = k * c; i < (k + 1) * c; i++)
                x[i] *= 1.0 - gamma;
            x[best] -= gradient[best] > 0.0 ? gamma * radius : -gamma * radius;
        }
    }
}

/* A run of `rounds` over all of A; every x_k stays in its ball. */
static void run(party_double *parties, const pn_terms *terms, size_t rounds, double *x)
{
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;
    bool inside = true;

    if (!CHECK(double_serve(parties, terms, NULL, &server, &err) == PN_OK))
        return;
    for (size_t t = 0; t < rounds; t++) {
        if (!CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK))
            break;
        pn_server_model(server, x);
        for (size_t k = 0; k < parties->base.parties; k++) {
            double length = 0.0;

            for (size_t i = 0; i < terms[k].columns; i++)
                length += fabs(x[double_first(parties, k) + i]);
            inside = inside && length <= terms[k].radius * (1.0 + 1e-12);
        }
    }
    CHECK(inside);
    CHECK(pn_server_rounds(server) == rounds);
    pn_server_finish(server);
    pn_server_free(server);
    CHECK(parties->farewell == PN_MESSAGE_DONE);
}

/* ---- what x becomes ---- */

static void is_product_frank_wolfe(void)
{
    party_double parties;
    pn_terms terms[K];
    double x[D], want[D];

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 3, 0.5, false, double_identity(N), terms);
    run(&parties, terms, 300, x);
    frank_wolfe(K, 0.5, 300, want);
    for (size_t i = 0; i < D; i++)
        CHECK_CLOSE(x[i], want[i], 1e-12);
    double_close(&parties);
}

static void is_frank_wolfe_on_the_ball(void)
{
    party_double parties;
    pn_terms terms[K];
    double x[D], want[D];

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_BALL, 0, 1.0, false, double_identity(N), terms);
    run(&parties, terms, 300, x);
    frank_wolfe(1, 1.0, 300, want);
    for (size_t i = 0; i < D; i++)
        CHECK_CLOSE(x[i], want[i], 1e-12);
    double_close(&parties);
}

static double loss_of(pn_federated_mode mode, size_t tau, double radius, bool stay, size_t rounds)
{
    party_double parties;
    pn_terms terms[K];
    double x[D] = { 0 };

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, mode, tau, radius, stay, double_identity(N), terms);
    run(&parties, terms, rounds, x);
    double_close(&parties);
    return loss_at(x, NULL);
}

/* A block that is sampled and not whole needs the candidate that leaves it alone. */
static void stay_makes_sampling_right(void)
{
    double x[D], best, on_ball;

    frank_wolfe(K, 0.5, 400000, x);
    best = loss_at(x, NULL);
    CHECK_CLOSE(loss_of(PN_FEDERATED_PRODUCT, 1, 0.5, true, 4000), best, 1e-5);
    CHECK(loss_of(PN_FEDERATED_PRODUCT, 1, 0.5, false, 4000) > best + 1e-2);
    frank_wolfe(1, 1.0, 400000, x);
    on_ball = loss_at(x, NULL);
    CHECK_CLOSE(loss_of(PN_FEDERATED_BALL, 2, 1.0, true, 4000), on_ball, 1e-4);
}

/* d = 2, tau = 1, f = -x_1 on the unit l1 ball. */
static double counterexample(bool stay, double *second)
{
    party_double parties;
    pn_terms terms;
    double x[2] = { 0 };

    double_open(&parties, 1, NULL, NULL, 1, 2);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 1, 1.0, stay, double_identity(1), &terms);
    run(&parties, &terms, 20000, x);
    double_close(&parties);
    *second = x[1];
    return x[0];
}

/* Without: x_1 is a mean of coins with weights ~ t^3, standard deviation 0.0047 after 20000 rounds; 0.03 is more than 6 of them. */
static void counterexample_of_sampling(void)
{
    double second;

    CHECK_CLOSE(counterexample(false, &second), 0.5, 0.03);
    CHECK_CLOSE(fabs(second), 0.5, 0.03);
    CHECK(counterexample(true, &second) > 0.999999);
}

/* ---- q ---- */

static void check_margin(party_double *parties, const pn_server *server, size_t m)
{
    double x[D], want[N] = { 0 }, feature[N];

    pn_server_model(server, x);
    for (size_t k = 0; k < K; k++) {
        for (size_t i = 0; i < D / K; i++) {
            double_feature(parties, k, i, feature);
            for (size_t l = 0; l < m; l++)
                want[l] += x[k * (D / K) + i] * feature[l];
        }
    }
    for (size_t l = 0; l < m; l++)
        CHECK_CLOSE(pn_server_margin(server)[l], want[l], 1e-12);
}

static void margin_is_sketch_of_model(pn_sketch_kind kind, size_t m)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 2, 0.5, true, (pn_sketch_shape){ kind, m, N, 3 }, terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    for (size_t t = 0; t < 50; t++) {
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
        CHECK(made.round == t + 1);
        CHECK_CLOSE(made.step_size, 2.0 / (2.0 / 3.0 * (double)t + 2.0), 1e-15);
        check_margin(&parties, server, m);
    }
    pn_server_free(server);
    CHECK(parties.farewell == PN_MESSAGE_REFUSED && strcmp(parties.reason, "stopped") == 0);
    double_close(&parties);
}

/* ---- what is said ---- */

static void uplink(size_t n, uint64_t *scalars)
{
    static double longer[2 * N * D], labels[2 * N];
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;
    enum { T = 40, M = 16 };

    for (size_t j = 0; j < n; j++) {
        memcpy(longer + j * D, A + (j % N) * D, D * sizeof *longer);
        labels[j] = Y[j % N];
    }
    double_open(&parties, K, longer, labels, n, D);
    /* one sampled column and no "stay": each of the columns is chosen at some time */
    double_terms(&parties, PN_FEDERATED_PRODUCT, 1, 0.5, false, (pn_sketch_shape){ PN_SKETCH_GAUSSIAN, M, n, 3 },
                 terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    for (size_t t = 0; t < T; t++)
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
    *scalars = parties.base.peers[0].scalars_up + parties.base.peers[1].scalars_up;
    CHECK(*scalars == K * T + M * pn_server_all_features(server));
    CHECK(pn_server_all_features(server) == D);
    CHECK(pn_server_features(server, 0) + pn_server_features(server, 1) == pn_server_all_features(server));
    CHECK(parties.said[PN_MESSAGE_FETCH] == pn_server_all_features(server));
    CHECK(parties.said[PN_MESSAGE_ROUND] == K * T && parties.said[PN_MESSAGE_TERMS] == K);
    pn_server_free(server);
    double_close(&parties);
}

static void uplink_does_not_know_n(void)
{
    uint64_t once, twice;

    uplink(N, &once);
    uplink(2 * N, &twice);
    CHECK(once == twice);
}

static void ball_fetches_of_the_best_only(void)
{
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_server_round made;
    pn_err err;
    size_t features = 0;

    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_BALL, 0, 1.0, false, double_identity(N), terms);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    for (size_t t = 0; t < 20; t++) {
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
        CHECK(made.moved == 1 && made.best >= 1 && made.best <= K && made.features <= 1);
        features += made.features;
    }
    CHECK(features == pn_server_all_features(server) && parties.said[PN_MESSAGE_FETCH] == features);
    /* a code and a score of each party in each round */
    CHECK(parties.base.peers[0].scalars_up + parties.base.peers[1].scalars_up == 20 * K * 2 + N * features);
    pn_server_free(server);
    double_close(&parties);
}

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

        count += strcmp(entry.label, label) == 0 ? entry.count : 0;
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

/* Lost after round `when`'s CHOICE or FEATURE: the step fails, nothing has moved; the next try asks the same, pays nothing. */
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
        CHECK(charged(ledger, "federated: selection") == K * t);
        CHECK(charged(ledger, "federated: feature") == pn_server_all_features(server));
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
    CHECK(charged(ledger, "federated: selection") >= parties.said[PN_MESSAGE_ROUND]);
    CHECK(charged(ledger, "federated: feature") >= parties.said[PN_MESSAGE_FETCH]);
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
    CHECK(parties.said[PN_MESSAGE_ROUND] == 0 && parties.said[PN_MESSAGE_FETCH] == 0);
    pn_server_finish(server);
    pn_server_free(server);
    CHECK(parties.farewell == PN_MESSAGE_DONE);
    (void)unlink(path);
    double_close(&parties);
}

static void refuses_a_file_of_something_else(void)
{
    static const char path[] = "/tmp/penumbra-server-other";
    party_double parties;
    pn_terms terms[K];
    pn_server *server = NULL;
    pn_checkpoint_file *file = NULL;
    const unsigned char id[PN_CHECKPOINT_ID] = { 1 };
    bool published;
    pn_err err;

    (void)unlink(path);
    CHECK(pn_checkpoint_make(&file, path, id, PN_CHECKPOINT_PARKED,
                             "what is this? a state of something else altogether, "
                             "longer than the head of a server's state is ......",
                             100, &published, &err) == PN_OK);
    pn_checkpoint_close(file);
    double_open(&parties, K, A, Y, N, D);
    double_terms(&parties, PN_FEDERATED_PRODUCT, 0, 0.5, true, double_identity(N), terms);
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
    CHECK(double_serve(&parties, terms, NULL, &second, &err) == PN_EINVAL && strstr(err.message, "a run is going on"));
    pn_server_free(server);
    CHECK(double_serve(&parties, terms, NULL, &server, &err) == PN_OK);
    pn_server_free(server);
    double_close(&parties);
}

static void shape_of_the_parties(void)
{
    party_double parties;
    pn_dataset *data = NULL;
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    CHECK(pn_transport_shape(&parties.base, &data, &err) == PN_EINVAL);
    CHECK(pn_transport_gather(&parties.base, NULL, &err) == PN_OK);
    CHECK(pn_transport_shape(&parties.base, &data, &err) == PN_OK);
    CHECK(data->absent && data->n == N && data->p == D);
    CHECK_CLOSE(data->bounds.norm[PN_LINF], 1.0, 0.0);
    CHECK_CLOSE(data->bounds.label_high, 1.0, 0.0);
    pn_dataset_free(data);
    double_close(&parties);
}

int main(void)
{
    fill();
    is_product_frank_wolfe();
    is_frank_wolfe_on_the_ball();
    stay_makes_sampling_right();
    counterexample_of_sampling();
    margin_is_sketch_of_model(PN_SKETCH_IDENTITY, N);
    margin_is_sketch_of_model(PN_SKETCH_GAUSSIAN, 16);
    margin_is_sketch_of_model(PN_SKETCH_SPARSE, 16);
    uplink_does_not_know_n();
    ball_fetches_of_the_best_only();
    for (uint64_t when = 1; when <= 5; when++)
        goes_on_after_a_failure(PN_MESSAGE_ROUND, when);
    goes_on_after_a_failure(PN_MESSAGE_FETCH, 1);
    a_spent_ledger_ends_the_run();
    restarts_at_every_round(PN_FEDERATED_PRODUCT, PN_SKETCH_IDENTITY, N);
    restarts_at_every_round(PN_FEDERATED_BALL, PN_SKETCH_GAUSSIAN, 16);
    ends_after_a_restart();
    refuses_a_file_of_something_else();
    stops_for_parties_that_will_not_or_lie();
    starts_with(other_records, "parties must hold the same records");
    starts_with(other_order, "the digests of their record ids differ");
    starts_with(other_columns, "the plan was made for");
    starts_with(other_terms, "radius");
    starts_with(other_parties, "the terms are for 3 parties");
    one_run_at_a_time();
    shape_of_the_parties();
    return check_summary();
}
