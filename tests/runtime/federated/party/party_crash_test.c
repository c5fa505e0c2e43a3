/* party_crash_test.c -- a party dies: at each step between a request and its reply, and by kill -9 at any moment.
 * Whatever it said before it says again, bit by bit; its ledger ends with one charge for each release,
 * neither less nor more.
 * Depends on: check.h, party_kit.h, POSIX. */
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
#define digest_of request_digest_of
#define room_for  reply_room_for
#define check_use check_party_use
#include "federated/party/party.c"
#include "federated/party/party_release.c"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/federated/party/party_kit.h"

enum { N = 12, C = 3 };

static char directory[200], ledger_path[256], checkpoint[256];

/* What a child tells: the code of a round, or two numbers of a column's feature. */
typedef struct told {
    uint64_t round; /* 0: of a feature */
    int64_t code;   /* or the column */
    double first, last;
} told;

static bool enter(const char *base)
{
    (void)snprintf(directory, sizeof directory, "%s/penumbra-XXXXXX", base);
    if (!mkdtemp(directory))
        return false;
    (void)snprintf(ledger_path, sizeof ledger_path, "%s/ledger", directory);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s/party", directory);
    return true;
}

static void remove_files(void)
{
    char command[300];

    (void)snprintf(command, sizeof command, "rm -f %s/*", directory);
    CHECK(system(command) == 0);
}

static void leave(void)
{
    remove_files();
    CHECK(rmdir(directory) == 0);
}

static const pn_budget budget = { .epsilon = NAN, .rho = 1e9 };

static pn_terms real_terms(uint64_t iterations, pn_federated_mode mode)
{
    pn_terms terms = terms_of(N, C, iterations);

    terms.simulated = false;
    terms.mode = mode;
    terms.sigma_score = mode == PN_FEDERATED_BALL ? 1.0 : 0.0;
    terms.stay = mode == PN_FEDERATED_PRODUCT;
    return terms;
}

static void tell(int end, told what)
{
    if (write(end, &what, sizeof what) != (ssize_t)sizeof what)
        _exit(9);
}

static pn_message asked(pn_party *party, pn_message request)
{
    pn_message reply = { 0 };

    if (pn_party_answer(party, &request, &reply, NULL, NULL) != PN_OK || reply.kind == PN_MESSAGE_REFUSED)
        _exit(4);
    pn_message_clear(&request);
    return reply;
}

static void tell_feature(int end, pn_party *party, const pn_terms *terms, uint64_t round, int64_t code)
{
    pn_message fetch = request_of(PN_MESSAGE_FETCH, terms, round), reply;

    fetch.column = (uint32_t)(llabs(code) - 1);
    reply = asked(party, fetch);
    tell(end, (told){ 0, (int64_t)fetch.column, reply.vector[0], reply.vector[N - 1] });
    pn_message_clear(&reply);
}

/* Opens what there is, and asks everything from the first round on; dies at `point` in round `from`. */
static void run_party(int end, const pn_terms *terms, const char *point, uint64_t from)
{
    records r = records_new(N, C, 1.0, false, 8);
    pn_dataset *data = dataset_of(&r, false);
    pn_party_options options = { .data = data, .checkpoint = checkpoint };
    pn_party *party = NULL;
    pn_err err;

    if (pn_ledger_open(&options.ledger, ledger_path, NULL, &budget, &err) != PN_OK)
        _exit(2);
    if (pn_party_new(&party, &options, &err) != PN_OK) {
        (void)fprintf(stderr, "    %s\n", err.message);
        _exit(3);
    }
    (void)asked(party, request_of(PN_MESSAGE_TERMS, terms, 0));
    for (uint64_t t = 1; t <= terms->iterations; t++) {
        double x[C] = { 0.3, 0.0, -0.1 * (double)(t % 5) }, q[N];
        pn_message reply;

        for (size_t l = 0; l < N; l++)
            q[l] = 0.1 * (double)((t * 7 + l * 3) % 11) - 0.5;
        if (point && t == from)
            (void)setenv("PENUMBRA_MUTANT", point, 1);
        reply = asked(party, round_of(terms, t, x, q));
        tell(end, (told){ t, reply.code, reply.score, 0.0 });
        if (reply.code != 0)
            tell_feature(end, party, terms, t, reply.code);
        pn_message_clear(&reply);
    }
    _exit(0);
}

/* ---- what was said ---- */

enum { MOST = 4000 };
static told rounds_told[MOST + 1], features_told[C];
static bool round_known[MOST + 1], feature_known[C];

static void hear(told what)
{
    told *old = what.round ? &rounds_told[what.round] : &features_told[what.code];
    bool *known = what.round ? &round_known[what.round] : &feature_known[what.code];

    if (*known && memcmp(old, &what, sizeof what) != 0)
        CHECK(memcmp(old, &what, sizeof what) == 0);
    *old = what;
    *known = true;
}

/* When a child is killed: `delay` microseconds after its start, or after its first word,
 * however long that takes here; 0: never. */
typedef struct moment {
    long delay;
    bool after_a_word;
} moment;

static const moment never = { 0, false };

static void kill_at(moment when, pid_t child, int end)
{
    const struct timespec wait = { 0, when.delay * 1000L };
    told first;

    if (when.delay <= 0)
        return;
    if (when.after_a_word && read(end, &first, sizeof first) == (ssize_t)sizeof first)
        hear(first);
    (void)nanosleep(&wait, NULL);
    (void)kill(child, SIGKILL);
}

/* true: it ended by itself. */
static bool child_run(const pn_terms *terms, const char *point, uint64_t from, moment when)
{
    int ends[2], ended = 0;
    told next;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        run_party(ends[1], terms, point, from);
    }
    (void)close(ends[1]);
    kill_at(when, child, ends[0]);
    while (read(ends[0], &next, sizeof next) == (ssize_t)sizeof next)
        hear(next);
    (void)close(ends[0]);
    CHECK(waitpid(child, &ended, 0) == child);
    if (WIFSIGNALED(ended))
        CHECK(WTERMSIG(ended) == SIGKILL);
    else
        CHECK(WEXITSTATUS(ended) == 0);
    return WIFEXITED(ended);
}

static void begin(void)
{
    remove_files();
    memset(round_known, 0, sizeof round_known);
    memset(feature_known, 0, sizeof feature_known);
}

/* After a run to its end: one charge for each release.  How many of them were features. */
static size_t check_ledger(const pn_terms *terms)
{
    pn_ledger *ledger = NULL;
    size_t features = 0;

    CHECK(pn_ledger_open(&ledger, ledger_path, NULL, NULL, NULL) == PN_OK);
    for (size_t i = 0; i < C; i++)
        features += feature_known[i];
    CHECK(charged(ledger, ": selection") == terms->iterations);
    CHECK(charged(ledger, ": score") == (terms->mode == PN_FEDERATED_BALL ? terms->iterations : 0));
    CHECK(charged(ledger, ": feature") == features);
    pn_ledger_free(ledger);
    return features;
}

static const char *const points[] = {
    "party_crash_charged",
    "party_crash_paid",
    "party_crash_drawn",
    "party_crash_recorded",
    "party_crash_paid_feature",
    "party_crash_drawn_feature",
    "party_crash_recorded_feature",
    "stream_crash_before",
    "stream_crash_in_state",
    "stream_crash_after_state",
    "stream_crash_in_first",
    "stream_crash_first",
    "stream_crash_prepared",
    "stream_crash_in_second",
    "stream_crash_second",
    "stream_crash_after",
    "crash_before_write",
    "crash_in_write",
    "crash_before_sync",
    "crash_before_head",
    "crash_in_head",
    "crash_before_head_sync",
    "crash_after_head",
};

/* The noise is real: six rounds choose to stay in all of them, and no feature, once in 1e5 times.
 * The 23 runs or more together do not. */
static void every_step_of_an_answer_can_be_the_last(pn_federated_mode mode)
{
    const pn_terms terms = real_terms(6, mode);
    size_t features = 0;

    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        size_t died = 0;

        for (uint64_t from = 1; from <= (uint64_t)check_draws(4, 1); from += (uint64_t)check_times(2, 1)) {
            begin();
            for (int twice = 0; twice < 2; twice++)
                died += !child_run(&terms, points[i], from, never);
            CHECK(child_run(&terms, NULL, 0, never));
            features += check_ledger(&terms);
        }
        CHECK(died > 0); /* features: only where a column is new */
    }
    CHECK(features > 0);
}

static void any_moment_can_be_the_last(int kills, long most)
{
    const pn_terms terms = real_terms(MOST, PN_FEDERATED_PRODUCT);
    uint64_t said = 0;

    begin();
    for (int i = 0; i < kills; i++) {
        const moment when = { 1 + (long)randombytes_uniform((uint32_t)most), i % 3 == 0 };

        (void)child_run(&terms, NULL, 0, when);
    }
    for (uint64_t t = 1; t <= MOST; t++)
        said += round_known[t];
    CHECK(said > 0);
    CHECK(child_run(&terms, NULL, 0, never));
    CHECK(check_ledger(&terms) > 0);
    (void)printf("    %d kills, %llu rounds before the last\n", kills, (unsigned long long)said);
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    if (!CHECK(enter(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : base ? base : "/tmp")))
        return check_summary();
    every_step_of_an_answer_can_be_the_last(PN_FEDERATED_PRODUCT);
    every_step_of_an_answer_can_be_the_last(PN_FEDERATED_BALL);
    any_moment_can_be_the_last((int)check_draws(60, 6), 30000);
    leave();
    return check_summary();
}
