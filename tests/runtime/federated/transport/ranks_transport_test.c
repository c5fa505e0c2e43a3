/* ranks_transport_test.c -- what the server's side over ranks makes of parties that repeat themselves, say nothing or
 * say nonsense; and of memory that runs out.  Whole runs: tests/bindings/federated/mpi_spec.lua.
 * Depends on: federated/transport/ranks_transport.h, fail_alloc.h, fake_ranks.h. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "core/alloc.h"
#include "fail_alloc.h"
#include "fake_ranks.h"
#include "federated/transport/ranks_transport.h"
#include "federated/wire/wire.h"

typedef enum manner { HONEST, REPEATS, SILENT, NONSENSE } conduct;

typedef struct scene {
    conduct manner; /* of rank 2 */
    pn_status gathered, exchanged;
    pn_err err;
    pn_message replies[2];
    pn_peer peers[2];
} scene;

static void say(pn_ranks *ranks, const pn_message *message)
{
    unsigned char *bytes = NULL;
    size_t size = 0;

    if (pn_wire_write(message, &bytes, &size, NULL) != PN_OK || pn_ranks_send(ranks, 0, bytes, size, NULL) != PN_OK)
        abort();
    pn_free(bytes);
}

static pn_message hello(size_t rank)
{
    pn_message out = {
        .kind = PN_MESSAGE_HELLO, .records = 50, .columns = 2 + rank, .feature_bound = 1.0, .label_bound = 1.0
    };

    (void)snprintf(out.name, sizeof out.name, "clinic %zu", rank);
    out.session[0] = 1;
    out.score = out.stay_score = NAN;
    return out;
}

static pn_message choice(size_t rank, uint64_t round)
{
    pn_message out = { .kind = PN_MESSAGE_CHOICE, .party = (uint32_t)(rank - 1), .round = round, .code = 1 };

    memset(out.run, 7, sizeof out.run);
    out.score = out.stay_score = NAN;
    return out;
}

/* A party: HELLO, wait for the request, answer it. */
static void be_party(pn_ranks *ranks, const scene *at)
{
    size_t me = pn_ranks_rank(ranks), bytes = 0;
    conduct manner = me == 2 ? at->manner : HONEST;
    pn_message message = hello(me);
    unsigned char request[4096];

    say(ranks, &message);
    while (bytes == 0)
        (void)pn_ranks_probe(ranks, 0, 1.0, &bytes, NULL);
    if (bytes > sizeof request || pn_ranks_receive(ranks, 0, request, bytes, NULL) != PN_OK)
        abort();
    if (manner == REPEATS) { /* it has joined again, and what it answered before was not read */
        say(ranks, &message);
        message = choice(me, 2);
        say(ranks, &message);
    }
    message = choice(me, 3);
    if (manner == NONSENSE)
        (void)pn_ranks_send(ranks, 0, "nonsense", 8, NULL);
    else if (manner != SILENT)
        say(ranks, &message);
}

static pn_message request_of(size_t k)
{
    pn_message out = choice(k + 1, 3);
    static double q[4] = { 0.5, 0.25, 0.0, 1.0 };

    out.kind = PN_MESSAGE_ROUND;
    out.code = 0;
    out.size = 4;
    out.vector = q;
    return out;
}

/* The server waits for as long as may be for those who speak, who are threads that others may keep from the
 * processors. */
static void be_server(pn_ranks *ranks, scene *at)
{
    pn_message requests[2] = { request_of(0), request_of(1) };
    pn_transport *transport = NULL;
    double patience = at->manner == SILENT ? 2.0 : 30.0;

    if (pn_transport_ranks(&transport, ranks, patience, &at->err) != PN_OK)
        abort();
    at->gathered = pn_transport_gather(transport, NULL, &at->err);
    if (at->gathered == PN_OK)
        at->exchanged = pn_transport_exchange(transport, requests, at->replies, NULL, &at->err);
    memcpy(at->peers, transport->peers, sizeof at->peers);
    pn_transport_free(transport);
}

static void play(pn_ranks *ranks, void *argument)
{
    if (pn_ranks_rank(ranks) == 0)
        be_server(ranks, argument);
    else
        be_party(ranks, argument);
}

static scene run(conduct manner)
{
    scene at = { .manner = manner };
    fake_world world;

    fake_run(&world, 3, play, &at);
    if (!CHECK(at.gathered == PN_OK))
        (void)fprintf(stderr, "    %s\n", at.err.message);
    return at;
}

static void clear(scene *at)
{
    for (size_t k = 0; k < 2; k++)
        pn_message_clear(&at->replies[k]);
}

static void replies_come_from_who_was_asked(void)
{
    scene at = run(HONEST);

    if (!CHECK(at.exchanged == PN_OK))
        (void)fprintf(stderr, "    %s\n", at.err.message);
    for (size_t k = 0; k < 2; k++) {
        char name[32];

        (void)snprintf(name, sizeof name, "clinic %zu", k + 1);
        CHECK(strcmp(at.peers[k].name, name) == 0 && at.peers[k].columns == 3 + k);
        CHECK(at.replies[k].kind == PN_MESSAGE_CHOICE && at.replies[k].party == k && at.replies[k].round == 3);
        CHECK(at.peers[k].messages_up == 1 && at.peers[k].messages_down == 1);
        CHECK(at.peers[k].bytes_up > 0 && at.peers[k].bytes_down > at.peers[k].bytes_up);
    }
    clear(&at);
}

static void what_answers_nothing_is_passed_over(void)
{
    scene at = run(REPEATS);

    CHECK(at.exchanged == PN_OK);
    CHECK(at.replies[1].kind == PN_MESSAGE_CHOICE && at.replies[1].round == 3);
    clear(&at);
}

static void a_silent_party_is_named(void)
{
    scene at = run(SILENT);

    CHECK(at.exchanged == PN_EIO);
    CHECK(strcmp(at.err.message, "federated.mpi: clinic 2 (rank 2) has not answered for 2 s") == 0);
    clear(&at);
}

static void nonsense_is_refused(void)
{
    scene at = run(NONSENSE);

    CHECK(at.exchanged == PN_EPARSE || at.exchanged == PN_EUNSUPPORTED);
    CHECK(at.replies[1].kind == PN_MESSAGE_NONE);
    clear(&at);
}

/* ---- memory ---- */

/* What a party has said when the server comes to read it: no thread is needed. */
typedef struct letter {
    unsigned char *bytes;
    size_t size;
} letter;

static letter write_letter(pn_message message)
{
    letter out = { NULL, 0 };

    CHECK(pn_wire_write(&message, &out.bytes, &out.size, NULL) == PN_OK);
    return out;
}

static pn_status ask_one(pn_ranks *ranks, pn_err *err)
{
    pn_message request = request_of(0), reply = { 0 };
    pn_transport *transport = NULL;
    pn_status status = pn_transport_ranks(&transport, ranks, 1.0, err);

    if (status == PN_OK)
        status = pn_transport_gather(transport, NULL, err);
    if (status == PN_OK)
        status = pn_transport_exchange(transport, &request, &reply, NULL, err);
    CHECK(reply.kind == (status == PN_OK ? PN_MESSAGE_CHOICE : PN_MESSAGE_NONE));
    pn_message_clear(&reply);
    pn_transport_free(transport);
    return status;
}

static pn_status serve_one(void *self, pn_err *err)
{
    const letter *said = self;
    fake_world world;
    fake_rank server = { &world, 0 }, party = { &world, 1 };
    pn_ranks *ranks = NULL;
    pn_status status;

    fake_open(&world, 2);
    for (int i = 0; i < 2; i++)
        CHECK(fake_send(&party, 0, said[i].bytes, said[i].size) == 0);
    status = pn_ranks_new(&ranks, &fake_ops, &server, err);
    if (status == PN_OK)
        status = ask_one(ranks, err);
    pn_ranks_free(ranks);
    fake_close(&world);
    return status;
}

static void memory_may_run_out(void)
{
    letter said[2] = { write_letter(hello(1)), write_letter(choice(1, 3)) };

    fail_alloc_sweep("server over ranks", serve_one, said);
    pn_free(said[0].bytes);
    pn_free(said[1].bytes);
}

int main(void)
{
    (void)alarm(100); /* ranks that wait for each other for ever */
    replies_come_from_who_was_asked();
    what_answers_nothing_is_passed_over();
    a_silent_party_is_named();
    nonsense_is_refused();
    memory_may_run_out();
    return check_summary();
}
