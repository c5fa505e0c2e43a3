/* federated_bench.c -- what a step of a federated run costs over sockets: 16 parties in threads on the loopback, with
 * CURVE, that answer at once by rote; a step sends a round (q of 256 numbers) and a fetch, and gets a choice and a
 * feature (256 numbers) of each.  Its peer, in turn in the same run, sends the same bytes through bare libzmq sockets
 * with CURVE: what is above it is what the server adds.  Depends on: federated/.  Run with `make bench`. */
#include <stdio.h>

#include "bench/bench.h"
#include "runtime/federated/transport/zeromq_kit.h"

#define PARTIES 16
#define M       256
#define STEPS   20 /* in one measurement */
#define RUNS    41
#define LIMIT   1.5 /* of the same bytes through bare sockets */

/* ---- this transport ---- */

typedef struct run {
    kit_server server;
    kit_party parties[PARTIES];
    uint64_t round;
    bool failed;
} run;

static void steps(void *self)
{
    run *r = self;
    pn_err err;

    for (int i = 0; i < STEPS && !r->failed; i++) {
        r->round++;
        r->failed = kit_exchange(&r->server, PN_MESSAGE_ROUND, r->round, M, NULL, &err) != PN_OK ||
                    kit_exchange(&r->server, PN_MESSAGE_FETCH, r->round, M, NULL, &err) != PN_OK;
        if (r->failed)
            (void)fprintf(stderr, "%s\n", err.message);
    }
}

static bool start(run *r)
{
    pn_err err;

    kit_prepare(&r->server, PARTIES, 60.0);
    if (kit_open(&r->server, &err) != PN_OK)
        return false;
    for (size_t k = 0; k < PARTIES; k++) {
        kit_party_init(&r->parties[k], &r->server, k, M);
        if (!kit_party_start(&r->parties[k]))
            return false;
    }
    return pn_transport_gather(r->server.transport, NULL, &err) == PN_OK;
}

static void stop(run *r)
{
    kit_request(&r->server, PN_MESSAGE_DONE, 0, M);
    r->server.transport->ops->end(r->server.transport, r->server.requests);
    for (size_t k = 0; k < PARTIES; k++)
        kit_party_join(&r->parties[k]);
}

/* ---- bare sockets ---- */

#define SMALL 48           /* bytes of a choice or a fetch, about */
#define LARGE (8 * M + 64) /* of a round or a feature */

typedef struct bare_party {
    char endpoint[64];
    pn_curve_keys own;
    const char *server;
    pthread_t thread;
} bare_party;

typedef struct bare {
    void *context, *socket;
    pn_curve_keys keys;
    char routes[PARTIES][8];
    size_t route_size[PARTIES];
    bare_party parties[PARTIES];
} bare;

/* A large message is answered by a small one and the other way round; an empty one ends it. */
static void *bare_party_run(void *self)
{
    bare_party *p = self;
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_DEALER);
    char bytes[LARGE] = "";
    int size = 1;

    (void)zmq_setsockopt(socket, ZMQ_LINGER, &(int){ 0 }, sizeof(int));
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, p->server, PN_CURVE_TEXT);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, p->own.public_key, PN_CURVE_TEXT);
    (void)zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, p->own.secret_key, PN_CURVE_TEXT);
    (void)zmq_connect(socket, p->endpoint);
    (void)zmq_send(socket, "hello", 5, 0);
    while (size > 0) {
        size = zmq_recv(socket, bytes, sizeof bytes, 0);
        if (size > 0)
            (void)zmq_send(socket, bytes, size == LARGE ? SMALL : LARGE, 0);
    }
    (void)zmq_close(socket);
    (void)zmq_ctx_term(context);
    return NULL;
}

static void bare_exchange(bare *b, size_t size)
{
    static char bytes[LARGE];
    char route[8];

    for (size_t k = 0; k < PARTIES; k++) {
        (void)zmq_send(b->socket, b->routes[k], b->route_size[k], ZMQ_SNDMORE);
        (void)zmq_send(b->socket, bytes, size, 0);
    }
    for (size_t k = 0; k < PARTIES && size > 0; k++) {
        (void)zmq_recv(b->socket, route, sizeof route, 0);
        (void)zmq_recv(b->socket, bytes, sizeof bytes, 0);
    }
}

static void bare_steps(void *self)
{
    for (int i = 0; i < STEPS; i++) {
        bare_exchange(self, LARGE);
        bare_exchange(self, SMALL);
    }
}

static bool bare_start(bare *b)
{
    char endpoint[64];
    size_t room = sizeof endpoint;

    (void)zmq_curve_keypair(b->keys.public_key, b->keys.secret_key);
    b->context = zmq_ctx_new();
    b->socket = zmq_socket(b->context, ZMQ_ROUTER);
    (void)zmq_setsockopt(b->socket, ZMQ_CURVE_SERVER, &(int){ 1 }, sizeof(int));
    (void)zmq_setsockopt(b->socket, ZMQ_CURVE_SECRETKEY, b->keys.secret_key, PN_CURVE_TEXT);
    (void)zmq_setsockopt(b->socket, ZMQ_LINGER, &(int){ 1000 }, sizeof(int));
    if (zmq_bind(b->socket, "tcp://127.0.0.1:*") != 0 ||
        zmq_getsockopt(b->socket, ZMQ_LAST_ENDPOINT, endpoint, &room) != 0)
        return false;
    for (size_t k = 0; k < PARTIES; k++) {
        bare_party *p = &b->parties[k];

        memcpy(p->endpoint, endpoint, sizeof endpoint);
        p->server = b->keys.public_key;
        (void)zmq_curve_keypair(p->own.public_key, p->own.secret_key);
        if (pthread_create(&p->thread, NULL, bare_party_run, p) != 0)
            return false;
    }
    for (size_t k = 0; k < PARTIES; k++) {
        char hello[8];

        b->route_size[k] = (size_t)zmq_recv(b->socket, b->routes[k], sizeof b->routes[k], 0);
        (void)zmq_recv(b->socket, hello, sizeof hello, 0);
    }
    return true;
}

static void bare_stop(bare *b)
{
    bare_exchange(b, 0);
    for (size_t k = 0; k < PARTIES; k++)
        (void)pthread_join(b->parties[k].thread, NULL);
    (void)zmq_close(b->socket);
    (void)zmq_ctx_term(b->context);
}

int main(void)
{
    static run r;
    static bare b;
    double ours, theirs, ratio;
    int over;

    if (!start(&r) || !bare_start(&b)) {
        (void)fprintf(stderr, "federated_bench: cannot open sockets on the loopback\n");
        return 1;
    }
    bench_pair(steps, &r, bare_steps, &b, RUNS, &ours, &theirs, &ratio);
    ours /= STEPS;
    theirs /= STEPS;
    over = bench_print("a step of 16 parties, m = 256 / bare sockets", ours, theirs, ratio, LIMIT);
    stop(&r);
    bare_stop(&b);
    kit_close(&r.server);
    return r.failed || over;
}
