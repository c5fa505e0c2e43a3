/* federated.h -- a party and a server of a federated run as writers of a checkpoint and a ledger: each goes on by two
 * rounds with what is there.  What they hand out is known to all processes of the campaign, so that one which says
 * something else than it did before is found, as is a ledger that has not one charge for each release.
 * Depends on: the kits of the tests of parties and servers, Lua, POSIX.  Used by: crash_test.c. */
#ifndef PN_TESTS_CRASH_FEDERATED_H
#define PN_TESTS_CRASH_FEDERATED_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lauxlib.h>

#include "core/alloc.h"
#include "federated/wire/release.h"
#include "runtime/federated/party/party_kit.h"
#include "runtime/federated/server/server_kit.h"

#define BOOKS          "books" /* the ledger */
#define NOTES          "notes" /* the checkpoint */
#define ROUNDS_OF_STEP 2

enum { PARTY_RECORDS = 12, PARTY_COLUMNS = 3, MOST_ROUNDS = 30 };

/* What was handed out: of a round, or of a feature. */
typedef struct said {
    bool known;
    int64_t code;
    double numbers[D];
} said;

static said *all_said; /* [MOST_ROUNDS + 1], then of features; shared with the processes that are forked */

/* A run, and the first failure in it. */
typedef struct federated_run {
    lua_State *L; /* tell() is its first argument; none: a look at what there is */
    pn_ledger *ledger;
    pn_party *party;
    pn_terms terms[K];
    party_double parties; /* of the server */
    pn_server *server;
    uint64_t features;
    char why[PN_ERR_MAX];
} federated_run;

static bool federated_fails(federated_run *self, const char *why)
{
    if (!self->why[0])
        (void)snprintf(self->why, sizeof self->why, "%s", why);
    return false;
}

/* What is said is said again. */
static bool federated_says(federated_run *self, said *place, const said *now)
{
    said what;

    memset(&what, 0, sizeof what);
    what.known = true;
    what.code = now->code;
    memcpy(what.numbers, now->numbers, sizeof what.numbers);
    if (place->known && memcmp(place, &what, sizeof what) != 0)
        return federated_fails(self, "it says something else than it did before");
    memcpy(place, &what, sizeof what);
    return true;
}

static void federated_tell(const federated_run *self)
{
    lua_pushvalue(self->L, 1);
    lua_call(self->L, 0, 0);
}

static bool federated_opens(federated_run *self)
{
    const pn_budget budget = { .epsilon = NAN, .rho = 1e9, .neighbours = PN_REPLACE_ONE };
    pn_err err;

    return pn_ledger_open(&self->ledger, BOOKS, NULL, &budget, &err) == PN_OK || federated_fails(self, err.message);
}

/* One charge for each release. */
static bool federated_paid(federated_run *self, pn_release_kind kind, uint64_t releases)
{
    uint64_t there = 0;
    char text[120];

    for (size_t e = 0; e < pn_ledger_entries(self->ledger); e++) {
        pn_charge one = pn_ledger_entry(self->ledger, e);

        there += strstr(one.label, pn_release_names[kind]) ? one.count : 0;
    }
    if (there == releases)
        return true;
    (void)snprintf(text, sizeof text, "%llu charges for %llu releases (%s)", (unsigned long long)there,
                   (unsigned long long)releases, pn_release_names[kind]);
    return federated_fails(self, text);
}

/* ---- a party ---- */

/* Asked again where it failed, which is allowed: what it then says holds, too. */
static bool party_answers(federated_run *self, pn_message request, pn_message *reply)
{
    pn_err err;
    bool fine = pn_party_answer(self->party, &request, reply, NULL, &err) == PN_OK;

    if (!fine) {
        (void)federated_fails(self, err.message);
        fine = pn_party_answer(self->party, &request, reply, NULL, NULL) == PN_OK;
    }
    if (fine && reply->kind == PN_MESSAGE_REFUSED)
        fine = federated_fails(self, reply->reason);
    pn_message_clear(&request);
    return fine;
}

static bool party_uploads(federated_run *self, uint64_t round, int64_t code)
{
    pn_message fetch = request_of(PN_MESSAGE_FETCH, self->terms, round), reply = { 0 };
    said *place = &all_said[MOST_ROUNDS + llabs(code)], now = { .code = llabs(code) };
    bool fine;

    fetch.column = (uint32_t)(llabs(code) - 1);
    self->features += !place->known;
    fine = party_answers(self, fetch, &reply);
    if (fine)
        memcpy(now.numbers, reply.vector, sizeof now.numbers);
    pn_message_clear(&reply);
    return fine && federated_says(self, place, &now);
}

static bool party_plays(federated_run *self, uint64_t round)
{
    double x[PARTY_COLUMNS] = { 0.3, 0.0, -0.1 * (double)(round % 5) }, q[PARTY_RECORDS];
    pn_message reply = { 0 };
    said now = { .known = true };
    bool fine;

    for (size_t l = 0; l < PARTY_RECORDS; l++)
        q[l] = 0.1 * (double)((round * 7 + l * 3) % 11) - 0.5;
    fine = party_answers(self, round_of(self->terms, round, x, q), &reply);
    now.code = reply.code;
    now.numbers[0] = reply.score;
    pn_message_clear(&reply);
    return fine && federated_says(self, &all_said[round], &now) && party_uploads(self, round, now.code);
}

static bool party_opens(federated_run *self, const pn_dataset *data)
{
    pn_party_options options = { .data = data, .ledger = self->ledger, .checkpoint = NOTES };
    pn_err err;

    self->terms[0] = terms_of(PARTY_RECORDS, PARTY_COLUMNS, MOST_ROUNDS);
    self->terms[0].simulated = self->terms[0].stay = false;
    self->terms[0].mode = PN_FEDERATED_BALL;
    self->terms[0].sigma_score = 1.0;
    return pn_party_new(&self->party, &options, &err) == PN_OK || federated_fails(self, err.message);
}

/* Everything from the first round on. */
static bool party_goes_on(federated_run *self, uint64_t had)
{
    pn_message reply = { 0 };
    bool fine = party_answers(self, request_of(PN_MESSAGE_TERMS, self->terms, 0), &reply);
    uint64_t features = 0;

    pn_message_clear(&reply);
    for (uint64_t round = 1; fine && round <= had + ROUNDS_OF_STEP; round++) {
        fine = party_plays(self, round);
        if (fine && round > had)
            federated_tell(self);
    }
    for (size_t i = 1; i <= PARTY_COLUMNS; i++)
        features += all_said[MOST_ROUNDS + i].known;
    return fine && !self->why[0] && federated_paid(self, PN_RELEASE_SELECTION, had + ROUNDS_OF_STEP) &&
           federated_paid(self, PN_RELEASE_SCORE, had + ROUNDS_OF_STEP) &&
           federated_paid(self, PN_RELEASE_FEATURE, features);
}

static uint64_t party_life(federated_run *self)
{
    records r = records_new(PARTY_RECORDS, PARTY_COLUMNS, 1.0, false, 8);
    pn_dataset *data = dataset_of(&r, false);
    pn_party_report report = { .round = 0 };

    if (federated_opens(self) && party_opens(self, data)) {
        if (pn_party_report_of(self->party, &report, NULL) == PN_OK && !lua_isnoneornil(self->L, 1))
            (void)party_goes_on(self, report.round);
    }
    pn_party_free(self->party);
    pn_ledger_free(self->ledger);
    pn_dataset_free(data);
    records_free(&r);
    return report.round;
}

/* ---- a server ---- */

static bool server_opens(federated_run *self)
{
    const pn_transport_run begin = { 0 };
    pn_server_options options = {
        .transport = &self->parties.base, .terms = self->terms, .overall = self->ledger, .checkpoint = NOTES
    };
    pn_err err;
    pn_status status;

    double_terms(&self->parties, PN_FEDERATED_BALL, 2, 1.0, true, double_identity(N), self->terms);
    for (size_t k = 0; k < K; k++) {
        self->terms[k].is_private = true;
        self->terms[k].iterations = MOST_ROUNDS;
        self->terms[k].epsilon0 = 0.5;
        self->terms[k].sigma_feature = 4.0;
        self->terms[k].sigma_score = 2.0;
    }
    status = pn_release_selection(&options.selection, &self->terms[0], &err);
    if (status == PN_OK)
        status = pn_event_gaussian(&options.feature, 4.0, 2.0, N, PN_REPLACE_ONE, &err);
    if (status == PN_OK)
        status = pn_transport_begin(&self->parties.base, &begin, &err);
    if (status == PN_OK)
        status = pn_server_new(&self->server, &options, NULL, &err);
    pn_event_free(options.selection);
    pn_event_free(options.feature);
    return status == PN_OK || federated_fails(self, err.message);
}

/* As a party: called again where it failed. */
static bool server_plays(federated_run *self, uint64_t round)
{
    pn_server_round made;
    pn_err err;
    said now = { .code = (int64_t)round };
    bool fine = pn_server_step(self->server, &made, NULL, &err) == PN_OK;

    if (!fine) {
        (void)federated_fails(self, err.message);
        fine = pn_server_step(self->server, &made, NULL, NULL) == PN_OK;
    }
    pn_server_model(self->server, now.numbers);
    return fine && federated_says(self, &all_said[round], &now);
}

static bool server_goes_on(federated_run *self, uint64_t had)
{
    bool fine = true;

    for (uint64_t round = had + 1; fine && round <= had + ROUNDS_OF_STEP; round++) {
        fine = server_plays(self, round);
        if (fine)
            federated_tell(self);
    }
    return fine && !self->why[0] && federated_paid(self, PN_RELEASE_SELECTION, K * (had + ROUNDS_OF_STEP)) &&
           federated_paid(self, PN_RELEASE_SCORE, K * (had + ROUNDS_OF_STEP)) &&
           federated_paid(self, PN_RELEASE_FEATURE, pn_server_all_features(self->server));
}

static uint64_t server_life(federated_run *self)
{
    uint64_t had = 0;

    fill();
    double_open(&self->parties, K, A, Y, N, D);
    if (federated_opens(self) && server_opens(self)) {
        had = pn_server_rounds(self->server);
        if (!lua_isnoneornil(self->L, 1))
            (void)server_goes_on(self, had);
    }
    pn_server_free(self->server);
    pn_ledger_free(self->ledger);
    double_close(&self->parties);
    return had;
}

/* ---- for writers.lua ---- */

static int federated_call(lua_State *L, uint64_t (*life)(federated_run *self))
{
    static federated_run self; /* large */
    uint64_t had;

    memset(&self, 0, sizeof self);
    self.L = L;
    had = life(&self);
    if (self.why[0])
        return luaL_error(L, "%s", self.why);
    lua_pushinteger(L, (lua_Integer)had);
    return 1;
}

/* party(tell): two rounds more, tell() after each; party() -> how many there are */
static int federated_party(lua_State *L)
{
    return federated_call(L, party_life);
}

/* server(tell), server(): likewise */
static int federated_server(lua_State *L)
{
    return federated_call(L, server_life);
}

/* forget(): nothing has been said.  First before any process that has to know is forked. */
static int federated_forget(lua_State *L)
{
    const size_t size = (MOST_ROUNDS + 1 + PARTY_COLUMNS) * sizeof *all_said;

    if (!all_said) {
        all_said = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (all_said == MAP_FAILED)
            return luaL_error(L, "forget: no memory that processes share");
    }
    memset(all_said, 0, size);
    return 0;
}

#endif
