/* zeromq_kit.h -- a server with its keys, parties that answer by rote in threads of their own,
 * and clients that speak raw bytes.
 * Used by: zeromq_test.c, zeromq_hostile_test.c, federated_bench.c. */
#ifndef PN_TESTS_ZEROMQ_KIT_H
#define PN_TESTS_ZEROMQ_KIT_H

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <zmq.h>

#include "core/alloc.h"
#include "federated/transport/zeromq_server.h"

#define KIT_PARTIES 16
#define KIT_RECORDS 100

/* ---- a server ---- */

typedef struct kit_server {
    pn_curve_keys keys, party[KIT_PARTIES];
    char names[KIT_PARTIES][PN_NAME_BYTES];
    const char *name_list[KIT_PARTIES], *key_list[KIT_PARTIES];
    pn_zeromq_server_options options;
    pn_transport *transport;
    char log[8192];
    pn_message requests[KIT_PARTIES], replies[KIT_PARTIES];
} kit_server;

static inline void kit_log(void *self, const pn_zeromq_event *event)
{
    kit_server *s = self;
    size_t at = strlen(s->log);

    (void)snprintf(s->log + at, sizeof s->log - at, "%s %s %s\n", event->what, event->who,
                   event->why ? event->why : "-");
}

/* Keys for `parties`, and a server that may be opened. */
static inline void kit_prepare(kit_server *s, size_t parties, double timeout)
{
    memset(s, 0, sizeof *s);
    (void)zmq_curve_keypair(s->keys.public_key, s->keys.secret_key);
    for (size_t k = 0; k < parties; k++) {
        (void)zmq_curve_keypair(s->party[k].public_key, s->party[k].secret_key);
        (void)snprintf(s->names[k], sizeof s->names[k], "clinic-%zu", k);
        s->name_list[k] = s->names[k];
        s->key_list[k] = s->party[k].public_key;
    }
    s->options = (pn_zeromq_server_options){ .listen = "tcp://127.0.0.1:0",
                                             .keys = s->keys,
                                             .parties = parties,
                                             .names = s->name_list,
                                             .public_keys = s->key_list,
                                             .timeout = timeout,
                                             .log = kit_log,
                                             .log_self = s };
}

static inline pn_status kit_open(kit_server *s, pn_err *err)
{
    return pn_transport_zeromq(&s->transport, &s->options, err);
}

/* From here on it waits for so long: a short time out says something only of who is there already,
 * however slow it was to come. */
static inline void kit_patience(kit_server *s, double seconds)
{
    ((pn_zeromq *)s->transport)->timeout = seconds;
}

static inline void kit_close(kit_server *s)
{
    for (size_t k = 0; k < s->options.parties; k++) {
        pn_message_clear(&s->requests[k]);
        pn_message_clear(&s->replies[k]);
    }
    pn_transport_free(s->transport);
    s->transport = NULL;
}

/* The same request to all: TERMS, ROUND (m numbers, column 0 of x), FETCH (column), DONE. */
static inline void kit_request(kit_server *s, pn_message_kind kind, uint64_t round, size_t m)
{
    bool block = kind == PN_MESSAGE_ROUND || kind == PN_MESSAGE_DONE;

    for (size_t k = 0; k < s->options.parties; k++) {
        pn_message *r = &s->requests[k];

        pn_message_clear(r);
        (void)pn_message_reserve(r, block ? 1 : 0, kind == PN_MESSAGE_ROUND ? m : 0, NULL);
        r->kind = kind;
        memset(r->run, 0x5a, sizeof r->run);
        r->party = (uint32_t)k;
        r->round = kind == PN_MESSAGE_TERMS || kind == PN_MESSAGE_DONE ? 0 : round;
        r->column = kind == PN_MESSAGE_FETCH ? (uint32_t)(round + k) : 0;
        for (size_t i = 0; block && i < 1; i++) {
            r->index[i] = 0;
            r->value[i] = (double)k + 0.5;
        }
        for (size_t i = 0; i < r->size; i++)
            r->vector[i] = (double)i / 7.0;
        if (kind == PN_MESSAGE_TERMS) {
            memcpy(r->terms.run, r->run, sizeof r->run);
            r->terms.party = r->party;
            r->terms.parties = (uint32_t)s->options.parties;
            r->terms.sketch.m = m;
        }
    }
}

static inline pn_status kit_exchange(kit_server *s, pn_message_kind kind, uint64_t round, size_t m, pn_task *task,
                                     pn_err *err)
{
    kit_request(s, kind, round, m);
    return pn_transport_exchange(s->transport, s->requests, s->replies, task, err);
}

/* ---- parties that answer by rote ---- */

static inline void kit_say_hello(pn_message *hello, size_t k)
{
    memset(hello, 0, sizeof *hello);
    hello->kind = PN_MESSAGE_HELLO;
    (void)snprintf(hello->name, sizeof hello->name, "by itself %zu", k);
    hello->records = KIT_RECORDS;
    hello->columns = 3 + k;
    hello->feature_bound = 1.0 + (double)k;
    hello->label_bound = 1.0;
    hello->score = hello->stay_score = NAN;
    memset(hello->session, (int)k + 1, sizeof hello->session);
}

/* ROUND t: the column t + k.  FETCH i: m numbers from i on. */
static inline pn_status kit_reply(const pn_message *request, pn_message *reply, size_t m)
{
    size_t size = request->kind == PN_MESSAGE_FETCH ? m : 0;
    pn_status status = PN_OK;

    pn_message_clear(reply);
    if (size > 0)
        status = pn_message_reserve(reply, 0, size, NULL);
    memcpy(reply->run, request->run, sizeof reply->run);
    reply->party = request->party;
    reply->round = request->round;
    reply->score = reply->stay_score = NAN;
    reply->kind = request->kind == PN_MESSAGE_TERMS   ? PN_MESSAGE_READY
                  : request->kind == PN_MESSAGE_ROUND ? PN_MESSAGE_CHOICE
                                                      : PN_MESSAGE_FEATURE;
    reply->code = request->kind == PN_MESSAGE_ROUND ? (int64_t)(request->round + request->party) : 0;
    reply->column = request->kind == PN_MESSAGE_FETCH ? request->column : 0;
    for (size_t i = 0; i < size; i++)
        reply->vector[i] = (double)(request->column + i);
    return status;
}

typedef struct kit_party {
    size_t k, m;
    pn_message hello;
    pn_zeromq_party_options options;
    char connect[64];
    pn_task *task;
    atomic_long delay_ms;
    atomic_bool held; /* a round is not answered before this is over */
    unsigned asked;   /* requests that were answered */
    pn_message_kind last;
    char reason[PN_REASON_BYTES];
    pthread_t thread;
    pn_status status;
    pn_err err;
} kit_party;

static inline void kit_pause(long milliseconds)
{
    const struct timespec pause = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

    (void)nanosleep(&pause, NULL);
}

static inline void kit_party_hello(void *self, pn_message *hello)
{
    *hello = ((kit_party *)self)->hello;
}

static inline pn_status kit_party_answer(void *self, const pn_message *request, pn_message *reply, pn_link_next *next,
                                         pn_task *task, pn_err *err)
{
    kit_party *party = self;

    (void)task;
    (void)err;
    party->last = request->kind;
    if (request->kind == PN_MESSAGE_DONE || request->kind == PN_MESSAGE_REFUSED) {
        memcpy(party->reason, request->reason, sizeof party->reason);
        *next = PN_LINK_OVER;
        return PN_OK;
    }
    if (request->kind == PN_MESSAGE_ROUND && party->delay_ms)
        kit_pause(party->delay_ms);
    while (request->kind == PN_MESSAGE_ROUND && atomic_load(&party->held))
        kit_pause(10);
    party->asked++;
    return kit_reply(request, reply, party->m);
}

static inline void *kit_party_run(void *self)
{
    kit_party *party = self;
    const pn_link_party link = { party, kit_party_hello, kit_party_answer };

    party->status = pn_link_serve(&link, &party->options, party->task, &party->err);
    return NULL;
}

/* Party k of the server, not started yet. */
static inline void kit_party_init(kit_party *party, const kit_server *s, size_t k, size_t m)
{
    memset(party, 0, sizeof *party);
    party->k = k;
    party->m = m;
    kit_say_hello(&party->hello, k);
    (void)snprintf(party->connect, sizeof party->connect, "%s", pn_zeromq_endpoint(s->transport));
    party->options = (pn_zeromq_party_options){ .connect = party->connect, .keys = s->party[k], .timeout = 30.0 };
    memcpy(party->options.server_key, s->keys.public_key, PN_CURVE_TEXT);
}

static inline bool kit_party_start(kit_party *party)
{
    return pthread_create(&party->thread, NULL, kit_party_run, party) == 0;
}

static inline void kit_party_join(kit_party *party)
{
    (void)pthread_join(party->thread, NULL);
}

/* ---- clients that know a key and nothing else ---- */

typedef struct kit_raw {
    void *context, *socket;
    atomic_bool stop; /* wait no longer */
} kit_raw;

static inline void kit_raw_open(kit_raw *raw, const kit_server *s, size_t k)
{
    int linger = 1000, wait = 50;

    atomic_init(&raw->stop, false);
    raw->context = zmq_ctx_new();
    raw->socket = zmq_socket(raw->context, ZMQ_DEALER);
    (void)zmq_setsockopt(raw->socket, ZMQ_LINGER, &linger, sizeof linger);
    (void)zmq_setsockopt(raw->socket, ZMQ_RCVTIMEO, &wait, sizeof wait);
    (void)zmq_setsockopt(raw->socket, ZMQ_CURVE_SERVERKEY, s->keys.public_key, PN_CURVE_TEXT);
    (void)zmq_setsockopt(raw->socket, ZMQ_CURVE_PUBLICKEY, s->party[k].public_key, PN_CURVE_TEXT);
    (void)zmq_setsockopt(raw->socket, ZMQ_CURVE_SECRETKEY, s->party[k].secret_key, PN_CURVE_TEXT);
    (void)zmq_connect(raw->socket, pn_zeromq_endpoint(s->transport));
}

static inline void kit_raw_close(kit_raw *raw)
{
    (void)zmq_close(raw->socket);
    (void)zmq_ctx_term(raw->context);
}

static inline void kit_raw_bytes(kit_raw *raw, const void *bytes, size_t size)
{
    (void)zmq_send(raw->socket, bytes, size, 0);
}

static inline void kit_raw_send(kit_raw *raw, const pn_message *message)
{
    unsigned char *bytes;
    size_t size;

    if (pn_wire_write(message, &bytes, &size, NULL) != PN_OK)
        return;
    kit_raw_bytes(raw, bytes, size);
    pn_free(bytes);
}

static inline void kit_raw_hello(kit_raw *raw, size_t k)
{
    pn_message hello;

    kit_say_hello(&hello, k);
    kit_raw_send(raw, &hello);
}

/* The next message of the server; false after twenty seconds without one. */
static inline bool kit_raw_receive(kit_raw *raw, pn_message *out)
{
    zmq_msg_t frame;
    bool got = false;

    (void)zmq_msg_init(&frame);
    for (int i = 0; i < 400 && !got && !atomic_load(&raw->stop); i++)
        got = zmq_msg_recv(&frame, raw->socket, 0) >= 0;
    got = got && pn_wire_read(out, zmq_msg_data(&frame), zmq_msg_size(&frame), NULL, NULL) == PN_OK;
    (void)zmq_msg_close(&frame);
    return got;
}

/* Receive a request of this kind (others are skipped) and answer it. */
static inline bool kit_raw_answer(kit_raw *raw, pn_message_kind kind, size_t m)
{
    pn_message request = { 0 }, reply = { 0 };
    bool got;

    do
        got = kit_raw_receive(raw, &request);
    while (got && request.kind != kind);
    if (got && kit_reply(&request, &reply, m) == PN_OK)
        kit_raw_send(raw, &reply);
    pn_message_clear(&request);
    pn_message_clear(&reply);
    return got;
}

#endif
