/* server_crash_test.c -- a server with a ledger and a checkpoint dies: at each step of a round, and by kill -9 at any
 * moment.  The run ends with the model that it would have had, and the ledger with one charge for each release,
 * neither less nor more.
 * Depends on: server_kit.h, POSIX. */
#define _GNU_SOURCE
#define PN_MUTANTS
#include "continual/checkpoint_file.c"
#define cannot    ledger_cannot
#define give_up   ledger_give_up
#define take_back ledger_take_back
#include "privacy/ledger/ledger_file.c"
#include "privacy/ledger/ledger_head.c"
#undef cannot
#undef take_back
#undef give_up
#include "federated/server/server_account.c"
#include "federated/server/server_step.c"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/federated/server/server_kit.h"

enum { ROUNDS = 8, MANY = 1500 };

static char directory[200], ledger_path[256], checkpoint[256];

/* What a child tells when its run has come to its end. */
typedef struct told {
    double x[D];
    size_t features;
} told;

static bool enter(const char *base)
{
    (void)snprintf(directory, sizeof directory, "%s/penumbra-XXXXXX", base);
    if (!mkdtemp(directory))
        return false;
    (void)snprintf(ledger_path, sizeof ledger_path, "%s/ledger", directory);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s/server", directory);
    return true;
}

static void remove_files(void)
{
    char command[300];

    (void)snprintf(command, sizeof command, "rm -f %s/*", directory);
    CHECK(system(command) == 0);
}

/* Terms with noise; parties of arithmetic draw none.  With `stay` the scores of a round differ in price,
 * from x to x. */
static void terms_of(party_double *parties, pn_federated_mode mode, uint64_t rounds, pn_terms *terms)
{
    double_terms(parties, mode, 2, mode == PN_FEDERATED_BALL ? 1.0 : 0.5, true, double_identity(N), terms);
    for (size_t k = 0; k < K; k++) {
        terms[k].is_private = true;
        terms[k].iterations = rounds;
        terms[k].epsilon0 = 0.5;
        terms[k].sigma_feature = 4.0;
        terms[k].sigma_score = mode == PN_FEDERATED_BALL ? 2.0 : 0.0;
    }
}

static pn_status open_ledger(pn_ledger **out, const char *path, pn_err *err)
{
    const pn_budget budget = { .epsilon = NAN, .rho = 1e9, .neighbours = PN_REPLACE_ONE };

    return pn_ledger_open(out, path, NULL, &budget, err);
}

static pn_status serve(party_double *parties, const pn_terms *terms, pn_ledger *ledger, pn_server **out, pn_err *err)
{
    const pn_transport_run begin = { 0 };
    pn_server_options options = {
        .transport = &parties->base, .terms = terms, .overall = ledger, .checkpoint = checkpoint
    };
    pn_status status = pn_release_selection(&options.selection, &terms[0], err);

    if (status == PN_OK)
        status = pn_event_gaussian(&options.feature, 4.0, 2.0, N, PN_REPLACE_ONE, err);
    if (status == PN_OK)
        status = pn_transport_begin(&parties->base, &begin, err);
    if (status == PN_OK)
        status = pn_server_new(out, &options, NULL, err);
    pn_event_free(options.selection);
    pn_event_free(options.feature);
    return status;
}

/* A server from what there is to the end; dies at `point` in round `from`. */
static void run_server(int end, pn_federated_mode mode, uint64_t rounds, const char *point, uint64_t from)
{
    party_double parties;
    pn_terms terms[K];
    pn_ledger *ledger = NULL;
    pn_server *server = NULL;
    pn_server_round made;
    told what = { .features = 0 };
    pn_err err;

    double_open(&parties, K, A, Y, N, D);
    terms_of(&parties, mode, rounds, terms);
    if (open_ledger(&ledger, ledger_path, &err) != PN_OK || serve(&parties, terms, ledger, &server, &err) != PN_OK) {
        (void)fprintf(stderr, "    %s\n", err.message);
        _exit(3);
    }
    while (pn_server_rounds(server) < rounds) {
        if (point && pn_server_rounds(server) + 1 == from)
            (void)setenv("PENUMBRA_MUTANT", point, 1);
        if (pn_server_step(server, &made, NULL, &err) != PN_OK)
            _exit(4);
    }
    pn_server_model(server, what.x);
    what.features = pn_server_all_features(server);
    _exit(write(end, &what, sizeof what) == (ssize_t)sizeof what ? 0 : 9);
}

/* true: it ended by itself, and told. */
static bool child_run(pn_federated_mode mode, uint64_t rounds, const char *point, uint64_t from, long delay, told *out)
{
    int ends[2], ended = 0;
    bool heard;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        run_server(ends[1], mode, rounds, point, from);
    }
    (void)close(ends[1]);
    if (delay > 0) {
        const struct timespec wait = { 0, delay * 1000L };

        (void)nanosleep(&wait, NULL);
        (void)kill(child, SIGKILL);
    }
    heard = read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    (void)close(ends[0]);
    CHECK(waitpid(child, &ended, 0) == child);
    if (WIFSIGNALED(ended))
        CHECK(WTERMSIG(ended) == SIGKILL);
    else
        CHECK(WEXITSTATUS(ended) == 0 && heard);
    return WIFEXITED(ended);
}

/* One charge for each release: everything under one run's labels. */
static void check_ledger(pn_federated_mode mode, uint64_t rounds, size_t features)
{
    const size_t want[PN_RELEASE_KINDS] = { K * rounds, features, mode == PN_FEDERATED_BALL ? K * rounds : 0 };
    size_t count[PN_RELEASE_KINDS] = { 0 }, others = 0;
    pn_ledger *ledger = NULL;
    char run[20] = "";

    if (!CHECK(pn_ledger_open(&ledger, ledger_path, NULL, NULL, NULL) == PN_OK))
        return;
    for (size_t e = 0; e < pn_ledger_entries(ledger); e++) {
        pn_charge one = pn_ledger_entry(ledger, e);
        bool known = false;

        if (e == 0)
            (void)snprintf(run, sizeof run, "%.17s", one.label + strlen("federated "));
        others += strstr(one.label, run) == NULL;
        for (int kind = 0; kind < PN_RELEASE_KINDS; kind++) {
            bool is = strstr(one.label, pn_release_names[kind]) != NULL;

            count[kind] += is ? one.count : 0;
            known = known || is;
        }
        others += !known;
    }
    for (int kind = 0; kind < PN_RELEASE_KINDS; kind++) {
        if (!CHECK(count[kind] == want[kind]))
            (void)fprintf(stderr, "    %zu of kind %s, want %zu\n", count[kind], pn_release_names[kind], want[kind]);
    }
    CHECK(others == 0);
    pn_ledger_free(ledger);
}

static const char *const points[] = {
    "server_crash_before_charge", "server_crash_charged", "server_crash_answered", "server_crash_fetched",
    "server_crash_saved",         "stream_crash_before",  "stream_crash_in_state", "stream_crash_after_state",
    "stream_crash_in_first",      "stream_crash_first",   "stream_crash_prepared", "stream_crash_in_second",
    "stream_crash_second",        "stream_crash_after",   "crash_before_write",    "crash_in_write",
    "crash_before_sync",          "crash_before_head",    "crash_in_head",         "crash_before_head_sync",
    "crash_after_head",
};

static void every_step_of_a_round_can_be_the_last(pn_federated_mode mode)
{
    told want, got;

    remove_files();
    CHECK(child_run(mode, ROUNDS, NULL, 0, 0, &want));
    check_ledger(mode, ROUNDS, want.features);
    CHECK(want.features > 1);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        size_t died = 0;

        for (uint64_t from = 1; from <= (uint64_t)check_draws(4, 1); from += (uint64_t)check_times(2, 1)) {
            remove_files();
            /* charges one after the other: each child gets one further, or dies at the same again */
            for (int times = 0; times < 6; times++)
                died += !child_run(mode, ROUNDS, points[i], from, 0, &got);
            CHECK(child_run(mode, ROUNDS, NULL, 0, 0, &got));
            CHECK(memcmp(got.x, want.x, sizeof got.x) == 0 && got.features == want.features);
            check_ledger(mode, ROUNDS, want.features);
        }
        CHECK(died > 0);
    }
}

static void any_moment_can_be_the_last(pn_federated_mode mode, int kills, long most)
{
    told want, got;
    int died = 0;

    remove_files();
    CHECK(child_run(mode, MANY, NULL, 0, 0, &want));
    remove_files();
    for (int i = 0; i < kills; i++)
        died += !child_run(mode, MANY, NULL, 0, 1 + (long)randombytes_uniform((uint32_t)most), &got);
    CHECK(died > 0);
    CHECK(child_run(mode, MANY, NULL, 0, 0, &got));
    CHECK(memcmp(got.x, want.x, sizeof got.x) == 0 && got.features == want.features);
    check_ledger(mode, MANY, want.features);
    (void)printf("    %d of %d killed\n", died, kills);
}

/* The run's own ledger or none: what a file has not paid for it cannot be charged afterwards. */
static void another_ledger_is_refused(void)
{
    party_double parties;
    pn_terms terms[K];
    pn_ledger *ledger = NULL;
    pn_server *server = NULL;
    pn_server_round made;
    char other_path[300];
    pn_err err;

    remove_files();
    (void)snprintf(other_path, sizeof other_path, "%s-other", ledger_path);
    double_open(&parties, K, A, Y, N, D);
    terms_of(&parties, PN_FEDERATED_PRODUCT, ROUNDS, terms);
    CHECK(open_ledger(&ledger, ledger_path, &err) == PN_OK);
    CHECK(serve(&parties, terms, ledger, &server, &err) == PN_OK);
    CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK);
    pn_server_free(server);
    pn_ledger_free(ledger);
    CHECK(open_ledger(&ledger, other_path, &err) == PN_OK);
    CHECK(serve(&parties, terms, ledger, &server, &err) == PN_EPRIVACY);
    CHECK(strstr(err.message, "knows of 2 releases (selection) and the ledger has paid for 0") != NULL);
    CHECK(pn_ledger_entries(ledger) == 0);
    pn_ledger_free(ledger);
    double_close(&parties);
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    fill();
    if (!CHECK(enter(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : base ? base : "/tmp")))
        return check_summary();
    every_step_of_a_round_can_be_the_last(PN_FEDERATED_PRODUCT);
    every_step_of_a_round_can_be_the_last(PN_FEDERATED_BALL);
    any_moment_can_be_the_last(PN_FEDERATED_PRODUCT, (int)check_draws(40, 4), 30000);
    any_moment_can_be_the_last(PN_FEDERATED_BALL, (int)check_draws(40, 4), 30000);
    another_ledger_is_refused();
    remove_files();
    CHECK(rmdir(directory) == 0);
    return check_summary();
}
