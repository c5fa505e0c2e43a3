/* party_checkpoint_test.c -- a party that was closed and opened again is the same party; what is not the same is
 * refused: a copy of its checkpoint, an earlier one, another ledger, other data.
 * Depends on: check.h, party_kit.h, POSIX. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "runtime/federated/party/party_kit.h"

static const pn_checkpoint_owner owner = { .name = "test", .what = "thing" };

enum { N = 20, C = 3, T = 8 };

static char directory[200], ledger_path[256], checkpoint[256], copy[256], message_text[PN_ERR_MAX];

static void shell(const char *format, const char *a, const char *b)
{
    char command[800];

    (void)snprintf(command, sizeof command, format, a, b);
    CHECK(system(command) == 0);
}

static double person_epsilon; /* of the parties that are opened; 0: none */

static pn_party *open_party(const records *r, const char *ledger, const char *from, pn_status want)
{
    const pn_budget budget = { .epsilon = NAN, .rho = 1e6 };
    pn_dataset *data = dataset_of(r, true);
    pn_party_options options = { .data = data, .checkpoint = from, .person_epsilon = person_epsilon };
    pn_party *party = NULL;
    pn_err err = { .message = "" };

    CHECK(pn_ledger_open(&options.ledger, ledger, NULL, &budget, NULL) == PN_OK);
    if (!CHECK(pn_party_new(&party, &options, &err) == want))
        (void)fprintf(stderr, "    %s\n", err.message);
    (void)snprintf(message_text, sizeof message_text, "%s", err.message);
    pn_ledger_free(options.ledger); /* the party keeps it */
    pn_dataset_free(data);
    return party;
}

static pn_terms real_terms(void)
{
    pn_terms terms = sketched(terms_of(N, C, T), PN_SKETCH_SPARSE, 6);

    terms.simulated = false;
    terms.stay = false;
    return terms;
}

/* Answers rounds first .. last, and fetches what they chose; the last feature in *reply. */
static void answer(pn_party *party, const pn_terms *terms, uint64_t first, uint64_t last, pn_message *reply)
{
    for (uint64_t t = first; t <= last; t++) {
        int64_t code;

        CHECK(ask(party, round_of(terms, t, NULL, NULL), reply) == PN_MESSAGE_CHOICE);
        code = reply->code;
        CHECK(ask_feature(party, terms, t, (uint32_t)llabs(code) - 1, reply) == PN_MESSAGE_FEATURE);
    }
}

static void a_party_goes_on_after_it_was_closed(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 }, again = { 0 }, hello = { 0 }, done;
    pn_party_report before, after;
    double model[C];

    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    answer(party, &terms, 1, 4, &reply);
    CHECK(pn_party_report_of(party, &before, NULL) == PN_OK);
    pn_party_hello(party, &hello);
    CHECK(hello.records == N && hello.columns == C && hello.feature_bound == 1.0 && hello.label_bound == 1.0);
    pn_party_free(party);

    party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_party_hello(party, &again);
    CHECK(memcmp(hello.session, again.session, PN_SESSION_BYTES) == 0);
    /* without the terms again: they are in the file */
    CHECK(ask_feature(party, &terms, 4, reply.column, &again) == PN_MESSAGE_FEATURE);
    CHECK(again.size == reply.size && memcmp(again.vector, reply.vector, reply.size * sizeof(double)) == 0);
    CHECK(ask_terms(party, &terms, &again) == PN_MESSAGE_READY);
    answer(party, &terms, 1, 4, &again);
    CHECK(pn_party_report_of(party, &after, NULL) == PN_OK);
    CHECK(after.phase == PN_PARTY_RUNNING && after.round == 4 && after.selections == 4);
    CHECK(after.features == before.features && after.rho == before.rho && after.rho > 0.0 && !after.simulated);
    CHECK(charged(party->accounts[0].ledger, ": selection") == 4);
    answer(party, &terms, 5, T, &again);
    done = round_of(&terms, 0, (double[]){ 0.0, -0.5, 0.0 }, NULL);
    done.kind = PN_MESSAGE_DONE;
    CHECK(ask(party, done, &again) == PN_MESSAGE_NONE);
    pn_party_free(party);

    party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_party_model(party, model);
    CHECK(pn_party_report_of(party, &after, NULL) == PN_OK);
    CHECK(after.phase == PN_PARTY_DONE && model[1] == -0.5 && model[0] == 0.0);
    CHECK(ask_terms(party, &terms, &again) == PN_MESSAGE_READY); /* a server that came back late */
    answer(party, &terms, 1, T, &again);
    CHECK(charged(party->accounts[0].ledger, ": selection") == T);
    pn_party_free(party);
    pn_message_clear(&reply);
    pn_message_clear(&again);
    pn_message_clear(&hello);
}

/* With the terms again and without. */
static void a_lower_cap_ends_a_run_that_went_on(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 };
    pn_party_report report;

    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    answer(party, &terms, 1, 2, &reply);
    CHECK(pn_party_report_of(party, &report, NULL) == PN_OK);
    CHECK(isfinite(report.person_epsilon) && report.person_epsilon > report.charged_epsilon);
    pn_party_free(party);
    person_epsilon = 0.99 * report.person_epsilon;
    party = open_party(r, ledger_path, checkpoint, PN_OK);
    person_epsilon = 0.0;
    CHECK(ask(party, round_of(&terms, 3, NULL, NULL), &reply) == PN_MESSAGE_REFUSED &&
          refused(&reply, "person_epsilon"));
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "person_epsilon"));
    CHECK(charged(party->accounts[0].ledger, ": selection") == 2);
    pn_party_free(party);
    party = open_party(r, ledger_path, checkpoint, PN_OK);
    answer(party, &terms, 3, 4, &reply);
    CHECK(charged(party->accounts[0].ledger, ": selection") == 4);
    pn_party_free(party);
    pn_message_clear(&reply);
}

static void copies_and_earlier_ones_are_refused(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 };

    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    answer(party, &terms, 1, 2, &reply);
    shell("cp %s %s", checkpoint, copy);
    answer(party, &terms, 3, 5, &reply);
    pn_party_free(party);
    CHECK(open_party(r, ledger_path, copy, PN_EPRIVACY) == NULL && strstr(message_text, "copy"));
    shell("cat %s > %s", copy, checkpoint);
    CHECK(open_party(r, ledger_path, checkpoint, PN_EPRIVACY) == NULL);
    /* where the file system keeps no mark, the ledger knows more than an earlier copy does */
    CHECK(strstr(message_text, "an earlier copy"));
    pn_message_clear(&reply);
}

/* A checkpoint from before `back` releases of one kind is put back where the file system keeps no mark. */
static void put_back(const records *r, uint64_t back, bool features, pn_status want)
{
    pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 };

    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    memset(party->state, PARTY_CHOSEN, C);
    CHECK(ask(party, round_of(&terms, 1, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
    shell("cp %s %s", checkpoint, copy);
    for (uint64_t i = 0; i < back; i++) {
        if (features)
            CHECK(ask_feature(party, &terms, 1, (uint32_t)i, &reply) == PN_MESSAGE_FEATURE);
        else
            CHECK(ask(party, round_of(&terms, 2 + i, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
    }
    pn_party_free(party);
    shell("cat %s > %s", copy, checkpoint);
    (void)removexattr(checkpoint, "user.penumbra.stream");
    party = open_party(r, ledger_path, checkpoint, want);
    CHECK(want == PN_OK ? party != NULL : party == NULL && strstr(message_text, "an earlier copy of the checkpoint"));
    pn_party_free(party);
    pn_message_clear(&reply);
    shell("rm -f %s/*%s", directory, "");
}

static void one_release_may_be_missing_and_two_may_not(const records *r)
{
    for (int features = 0; features < 2; features++) {
        put_back(r, 0, features, PN_OK);
        put_back(r, 1, features, PN_OK);
        put_back(r, 2, features, PN_EPRIVACY);
        put_back(r, 3, features, PN_EPRIVACY);
    }
}

/* One release back is what a crash leaves, too, where the file system keeps no mark: nothing is to be had from it. */
static void the_same_question_has_the_same_answer_whatever_was_put_back(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 }, again = { 0 };
    uint32_t column;

    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    CHECK(ask(party, round_of(&terms, 1, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
    column = (uint32_t)llabs(reply.code) - 1;
    shell("cp %s %s", checkpoint, copy);
    CHECK(ask_feature(party, &terms, 1, column, &reply) == PN_MESSAGE_FEATURE);
    pn_party_free(party);
    shell("cat %s > %s", copy, checkpoint);
    (void)removexattr(checkpoint, "user.penumbra.stream");
    party = open_party(r, ledger_path, checkpoint, PN_OK);
    CHECK(ask_feature(party, &terms, 1, column, &again) == PN_MESSAGE_FEATURE);
    CHECK(again.size == reply.size && memcmp(again.vector, reply.vector, reply.size * sizeof(double)) == 0);
    CHECK(charged(party->accounts[0].ledger, ": feature") == 1);
    pn_party_free(party);
    pn_message_clear(&reply);
    pn_message_clear(&again);
}

static void another_question_has_other_noise(const records *r)
{
    pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 }, request;
    party_reply made[3] = { { .digest = "one" }, { .digest = "one" }, { .digest = "two" } };
    party_scores scores;

    terms.mode = PN_FEDERATED_BALL;
    terms.epsilon0 = 100.0; /* the choice is the same */
    terms.sigma_score = 1.0;
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    request = round_of(&terms, 1, NULL, NULL);
    CHECK(party_scores_of(party, &request, &scores, NULL, NULL) == PN_OK);
    for (int i = 0; i < 3; i++)
        CHECK(party_choose(party, 1, &scores, &made[i], NULL, NULL) == PN_OK);
    CHECK(made[0].score == made[1].score && made[0].score != made[2].score);
    party_scores_clear(&scores);
    pn_message_clear(&request);
    pn_message_clear(&reply);
    pn_party_free(party);
}

static void another_ledger_is_refused(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 };
    char other[300];

    (void)snprintf(other, sizeof other, "%s/other", directory);
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    answer(party, &terms, 1, 2, &reply);
    pn_party_free(party);
    CHECK(open_party(r, other, checkpoint, PN_EPRIVACY) == NULL && strstr(message_text, "not the ledger of this run"));
    party = open_party(r, ledger_path, checkpoint, PN_OK);
    answer(party, &terms, 3, 3, &reply);
    pn_party_free(party);
    pn_message_clear(&reply);
}

static void other_data_get_no_noise_that_was_drawn(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    records changed = records_new(N, C, 0.5, false, 3), fewer = records_new(N - 1, C, 0.5, false, 3);
    pn_message reply = { 0 };
    uint32_t column;

    memcpy(changed.x, r->x, N * C * sizeof *r->x);
    memcpy(changed.y, r->y, N * sizeof *r->y);
    changed.y[4] += 0x1p-20;
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    answer(party, &terms, 1, 1, &reply);
    column = reply.column;
    pn_party_free(party);
    CHECK(open_party(&fewer, ledger_path, checkpoint, PN_EPRIVACY) == NULL && strstr(message_text, "20 records"));
    party = open_party(&changed, ledger_path, checkpoint, PN_OK);
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "its data"));
    CHECK(ask_feature(party, &terms, 1, column, &reply) == PN_MESSAGE_REFUSED);
    CHECK(ask(party, round_of(&terms, 2, NULL, NULL), &reply) == PN_MESSAGE_REFUSED);
    pn_party_free(party);
    records_free(&changed);
    records_free(&fewer);
    pn_message_clear(&reply);
}

static void a_file_of_something_else_is_refused(const records *r)
{
    static const char state[] = "this is a state of something else, and long enough to look like one";
    unsigned char id[PN_CHECKPOINT_ID] = { 1 };
    pn_checkpoint_file *file = NULL;
    bool published;

    CHECK(pn_checkpoint_make(&file, &owner, checkpoint, id, PN_CHECKPOINT_FOLLOWED, state, sizeof state, &published,
                             NULL) == PN_OK);
    CHECK(open_party(r, ledger_path, checkpoint, PN_EIO) == NULL); /* somebody has it open */
    CHECK(strncmp(message_text, "party: /", 8) == 0 && strstr(message_text, "a party that is alive keeps itself"));
    pn_checkpoint_close(file);
    CHECK(open_party(r, ledger_path, checkpoint, PN_EPARSE) == NULL &&
          strstr(message_text, "no checkpoint of a party"));
    shell("echo nothing > %s%s", checkpoint, "");
    CHECK(open_party(r, ledger_path, checkpoint, PN_EPARSE) == NULL);
}

/* The state in the file with `bytes` at a place of its terms, under right digests; what was there comes back. */
static void forge(size_t place, void *bytes, size_t count, const unsigned char run[PN_RUN_ID])
{
    unsigned char kept[sizeof(pn_terms)], *at;
    pn_checkpoint_file *file = NULL;
    void *state = NULL;
    size_t size = 0;

    CHECK(pn_checkpoint_open(&file, &owner, checkpoint, &state, &size, NULL) == PN_OK);
    at = memmem(state, size, run, PN_RUN_ID);
    if (CHECK(at != NULL)) {
        memcpy(kept, at + place, count);
        memcpy(at + place, bytes, count);
        memcpy(bytes, kept, count);
        CHECK(pn_checkpoint_commit(file, PN_CHECKPOINT_FOLLOWED, state, size, NULL) == PN_OK);
    }
    pn_checkpoint_close(file);
    pn_free(state);
}

/* A flag that is none, and terms other than those whose digest is beside them. */
static void terms_that_no_run_began_with_are_refused(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    unsigned char flag = 99;
    uint64_t iterations = T + 1;
    double radius = 0.5;
    const struct {
        size_t place, size;
        void *bytes;
    } cases[] = { { offsetof(pn_terms, stay), sizeof flag, &flag },
                  { offsetof(pn_terms, iterations), sizeof iterations, &iterations },
                  { offsetof(pn_terms, radius), sizeof radius, &radius } };
    pn_message reply = { 0 };

    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    answer(party, &terms, 1, 2, &reply);
    pn_party_free(party);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        forge(cases[k].place, cases[k].bytes, cases[k].size, terms.run);
        CHECK(open_party(r, ledger_path, checkpoint, PN_EPARSE) == NULL && strstr(message_text, "do not fit together"));
        forge(cases[k].place, cases[k].bytes, cases[k].size, terms.run);
    }
    party = open_party(r, ledger_path, checkpoint, PN_OK); /* the control */
    answer(party, &terms, 3, 3, &reply);
    pn_party_free(party);
    pn_message_clear(&reply);
}

static void a_child_process_is_refused(const records *r)
{
    const pn_terms terms = real_terms();
    pn_party *party = open_party(r, ledger_path, checkpoint, PN_OK);
    pn_message reply = { 0 };
    int ended = 0;
    pid_t child;

    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    child = fork();
    if (child == 0)
        _exit(ask(party, round_of(&terms, 1, NULL, NULL), &reply) == PN_MESSAGE_REFUSED ? 0 : 1);
    CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    pn_party_free(party);
    pn_message_clear(&reply);
}

int main(void)
{
    static void (*const tests[])(const records *) = {
        one_release_may_be_missing_and_two_may_not,
        the_same_question_has_the_same_answer_whatever_was_put_back,
        another_question_has_other_noise,
        a_party_goes_on_after_it_was_closed,
        a_lower_cap_ends_a_run_that_went_on,
        copies_and_earlier_ones_are_refused,
        another_ledger_is_refused,
        other_data_get_no_noise_that_was_drawn,
        a_file_of_something_else_is_refused,
        terms_that_no_run_began_with_are_refused,
        a_child_process_is_refused,
    };
    const char *base = getenv("TMPDIR");
    records r = records_new(N, C, 0.5, false, 9);

    (void)snprintf(directory, sizeof directory, "%s/penumbra-XXXXXX", base ? base : "/tmp");
    if (!CHECK(mkdtemp(directory) != NULL))
        return check_summary();
    (void)snprintf(ledger_path, sizeof ledger_path, "%s/ledger", directory);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s/party", directory);
    (void)snprintf(copy, sizeof copy, "%s/copy", directory);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        tests[i](&r);
        shell("rm -f %s/*%s", directory, "");
    }
    CHECK(rmdir(directory) == 0);
    records_free(&r);
    return check_summary();
}
