/* zeromq_hostile_test.c -- whoever talks to a server or a party without being what it should be: strangers, liars,
 * senders of rubbish.  The run goes on, or stops and says why; the others are served. */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "core/task.h"
#include "runtime/federated/transport/zeromq_kit.h"

#define M         5
#define ROUTE_MAX 255

static void check(pn_status got, const pn_err *err)
{
    if (!CHECK(got == PN_OK))
        (void)fprintf(stderr, "    %s\n", err->message);
}

/* The server gathers in a thread of its own while the test does other things. */
typedef struct gathering {
    kit_server *s;
    pthread_t thread;
    pn_status status;
    pn_err err;
    atomic_bool ended;
} gathering;

static void *gather_run(void *self)
{
    gathering *g = self;

    g->status = pn_transport_gather(g->s->transport, NULL, &g->err);
    atomic_store(&g->ended, true);
    return NULL;
}

static void gather_start(gathering *g, kit_server *s)
{
    g->s = s;
    atomic_init(&g->ended, false);
    CHECK(pthread_create(&g->thread, NULL, gather_run, g) == 0);
}

static void gather_join(gathering *g)
{
    CHECK(pthread_join(g->thread, NULL) == 0);
    check(g->status, &g->err);
}

static void say_goodbye(kit_server *s, kit_party *party)
{
    kit_request(s, PN_MESSAGE_DONE, 0, M);
    s->transport->ops->end(s->transport, s->requests);
    kit_party_join(party);
    check(party->status, &party->err);
}

/* ---- strangers ---- */

static void a_key_that_is_not_in_the_list_is_turned_away(void)
{
    kit_server s;
    kit_party stranger, party;
    gathering g;
    pn_err err;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    gather_start(&g, &s);
    kit_party_init(&stranger, &s, 0, M);
    (void)zmq_curve_keypair(stranger.options.keys.public_key, stranger.options.keys.secret_key);
    (void)kit_party_run(&stranger);
    CHECK(stranger.status == PN_EPRIVACY && strstr(stranger.err.message, "does not let this party in") != NULL);
    CHECK(strstr(stranger.err.message, stranger.options.keys.public_key) != NULL);
    CHECK(stranger.asked == 0);
    kit_party_init(&party, &s, 0, M);
    CHECK(kit_party_start(&party));
    gather_join(&g);
    CHECK(strstr(s.log, "refused 127.0.0.1 its key ") != NULL);
    CHECK(strstr(s.log, stranger.options.keys.public_key) != NULL);
    say_goodbye(&s, &party);
    kit_close(&s);
}

static void a_server_without_the_right_key_is_not_believed(void)
{
    kit_server s;
    kit_party party;
    gathering g;
    pn_err err;
    pn_curve_keys other;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    gather_start(&g, &s);
    kit_party_init(&party, &s, 0, M);
    (void)zmq_curve_keypair(other.public_key, other.secret_key);
    memcpy(party.options.server_key, other.public_key, PN_CURVE_TEXT);
    party.options.timeout = 5.0; /* within which libzmq tells of a handshake that failed */
    (void)kit_party_run(&party);
    CHECK(party.status == PN_EIO && party.asked == 0);
    if (!CHECK(strstr(party.err.message, "did not prove within 5 s that it is the server") != NULL))
        (void)fprintf(stderr, "    %s\n", party.err.message);
    kit_party_init(&party, &s, 0, M);
    CHECK(kit_party_start(&party));
    gather_join(&g);
    say_goodbye(&s, &party);
    kit_close(&s);
}

/* Bytes to the port, without a word of ZeroMQ. */
static int knock(const char *endpoint, const void *bytes, size_t size)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(strrchr(endpoint, ':') + 1)) };

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    CHECK(send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
    return fd;
}

static void other_protocols_at_the_port_disturb_nobody(void)
{
    static const char web[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    unsigned char rubbish[4096];
    kit_server s;
    kit_party party;
    kit_raw open;
    gathering g;
    pn_err err;
    int fds[2];
    uint32_t state = 12345;

    for (size_t i = 0; i < sizeof rubbish; i++)
        rubbish[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    gather_start(&g, &s);
    fds[0] = knock(pn_zeromq_endpoint(s.transport), web, sizeof web);
    fds[1] = knock(pn_zeromq_endpoint(s.transport), rubbish, sizeof rubbish);
    open.context = zmq_ctx_new(); /* ZeroMQ without keys */
    open.socket = zmq_socket(open.context, ZMQ_DEALER);
    (void)zmq_setsockopt(open.socket, ZMQ_LINGER, &(int){ 0 }, sizeof(int));
    (void)zmq_connect(open.socket, pn_zeromq_endpoint(s.transport));
    kit_raw_hello(&open, 0);
    kit_pause(200);
    CHECK(!atomic_load(&g.ended));
    kit_party_init(&party, &s, 0, M);
    CHECK(kit_party_start(&party));
    gather_join(&g);
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 1, M, NULL, &err), &err);
    CHECK(s.transport->peers[0].session[0] == 1);
    say_goodbye(&s, &party);
    kit_raw_close(&open);
    (void)close(fds[0]);
    (void)close(fds[1]);
    kit_close(&s);
}

/* ---- parties that send rubbish ---- */

static void send_rubbish(kit_raw *raw, int count)
{
    static const unsigned char cut[] = { 0x08, 0x02, 0x12, 0x10, 0x00, 0x11 };

    for (int i = 0; i < count; i++) {
        switch (i % 3) {
        case 0:
            kit_raw_bytes(raw, "rubbish", 7);
            break;
        case 1:
            kit_raw_bytes(raw, "", 0);
            break;
        default:
            kit_raw_bytes(raw, cut, sizeof cut);
        }
    }
}

/* One party that answers by rote and one in the test's hands. */
typedef struct couple {
    kit_server s;
    kit_party good;
    kit_raw raw;
} couple;

static void couple_open(couple *c)
{
    pn_err err;

    kit_prepare(&c->s, 2, 20.0);
    c->s.options.limits.vector = 16;
    check(kit_open(&c->s, &err), &err);
    kit_party_init(&c->good, &c->s, 0, M);
    CHECK(kit_party_start(&c->good));
    kit_raw_open(&c->raw, &c->s, 1);
    kit_raw_hello(&c->raw, 1);
    check(pn_transport_gather(c->s.transport, NULL, &err), &err);
}

static void couple_close(couple *c)
{
    say_goodbye(&c->s, &c->good);
    kit_raw_close(&c->raw);
    kit_close(&c->s);
}

static void queue_choice(couple *c, uint64_t round, uint32_t party)
{
    pn_message choice = { 0 };

    kit_request(&c->s, PN_MESSAGE_ROUND, round, M);
    CHECK(kit_reply(&c->s.requests[1], &choice, M) == PN_OK);
    choice.party = party;
    kit_raw_send(&c->raw, &choice);
    pn_message_clear(&choice);
}

static void rubbish_is_dropped_and_the_answer_taken(void)
{
    couple c;
    pn_err err;

    couple_open(&c);
    send_rubbish(&c.raw, PN_LINK_BAD - 2);
    (void)zmq_send(c.raw.socket, "two", 3, ZMQ_SNDMORE);
    (void)zmq_send(c.raw.socket, "frames", 6, 0);
    queue_choice(&c, 1, 1);
    check(kit_exchange(&c.s, PN_MESSAGE_ROUND, 1, M, NULL, &err), &err);
    CHECK(c.s.replies[0].code == 1 && c.s.replies[1].code == 2);
    CHECK(strstr(c.s.log, "dropped clinic-1 wire: 7 bytes that do not begin with a version") != NULL);
    CHECK(strstr(c.s.log, "dropped clinic-1 not a message of one frame") != NULL);
    send_rubbish(&c.raw, PN_LINK_BAD);
    CHECK(kit_exchange(&c.s, PN_MESSAGE_ROUND, 2, M, NULL, &err) == PN_EIO);
    CHECK(strstr(err.message, "clinic-1 sent a malformed message: wire:") != NULL);
    couple_close(&c);
}

static void old_and_foreign_replies_are_dropped(void)
{
    couple c;
    pn_err err;

    couple_open(&c);
    queue_choice(&c, 1, 1);
    check(kit_exchange(&c.s, PN_MESSAGE_ROUND, 1, M, NULL, &err), &err);
    queue_choice(&c, 1, 1); /* once more */
    queue_choice(&c, 2, 0); /* in the name of the other party */
    queue_choice(&c, 7, 1); /* of a round to come */
    queue_choice(&c, 2, 1);
    c.good.delay_ms = 300; /* so that its slot stays open for them */
    check(kit_exchange(&c.s, PN_MESSAGE_ROUND, 2, M, NULL, &err), &err);
    CHECK(c.s.replies[0].party == 0 && c.s.replies[0].code == 2);
    CHECK(c.s.replies[1].round == 2 && c.s.replies[1].code == 3);
    CHECK(strstr(c.s.log, "dropped clinic-1 \"choice\" of round 1 answers nothing that was asked") != NULL);
    CHECK(strstr(c.s.log, "dropped clinic-1 \"choice\" of round 7 answers nothing that was asked") != NULL);
    CHECK(strstr(c.s.log, "dropped clinic-0") == NULL);
    couple_close(&c);
}

static void too_large_a_message_costs_its_sender_the_connection(void)
{
    couple c;
    pn_err err;
    char *large = calloc(1, 1 << 20);

    couple_open(&c);
    kit_raw_bytes(&c.raw, large, 1 << 20);
    kit_raw_close(&c.raw);
    kit_raw_open(&c.raw, &c.s, 1);
    kit_raw_hello(&c.raw, 1);
    queue_choice(&c, 1, 1);
    check(kit_exchange(&c.s, PN_MESSAGE_ROUND, 1, M, NULL, &err), &err);
    CHECK(c.s.replies[1].code == 2);
    CHECK(strstr(c.s.log, "dropped") == NULL); /* it has never come up to here */
    free(large);
    couple_close(&c);
}

static void a_party_of_another_version_stops_the_run(void)
{
    couple c;
    pn_err err;

    couple_open(&c);
    kit_raw_bytes(&c.raw, "\x08\x01\xff", 3);
    CHECK(kit_exchange(&c.s, PN_MESSAGE_ROUND, 1, M, NULL, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "clinic-1: wire: a message of version 1, this program speaks version 2") != NULL);
    couple_close(&c);
}

/* ---- a server that sends rubbish ---- */

typedef struct false_server {
    void *context, *socket;
    const char *bytes;
    size_t size;
    size_t large; /* first a message of so many bytes, and then a new hello; 0: not */
} false_server;

static void say_to(false_server *f, zmq_msg_t *route, const void *bytes, size_t size)
{
    (void)zmq_send(f->socket, zmq_msg_data(route), zmq_msg_size(route), ZMQ_SNDMORE);
    (void)zmq_send(f->socket, bytes, size, 0);
}

static bool hear(false_server *f, zmq_msg_t *route, zmq_msg_t *body)
{
    return zmq_msg_recv(route, f->socket, 0) >= 0 && zmq_msg_recv(body, f->socket, 0) >= 0;
}

/* Answers a hello with the same bytes, again and again. */
static void *false_server_run(void *self)
{
    false_server *f = self;
    zmq_msg_t route, body;
    bool heard;

    (void)zmq_msg_init(&route);
    (void)zmq_msg_init(&body);
    heard = hear(f, &route, &body);
    if (heard && f->large) {
        char *large = calloc(1, f->large);
        unsigned char first[ROUTE_MAX];
        size_t size = zmq_msg_size(&route);

        memcpy(first, zmq_msg_data(&route), size);
        say_to(f, &route, large, f->large);
        while (heard && zmq_msg_size(&route) == size && memcmp(zmq_msg_data(&route), first, size) == 0)
            heard = hear(f, &route, &body);
        free(large);
    }
    for (int i = 0; heard && i < PN_LINK_BAD; i++)
        say_to(f, &route, f->bytes, f->size);
    (void)zmq_msg_close(&route);
    (void)zmq_msg_close(&body);
    return NULL;
}

static pn_status served_by(const char *bytes, size_t size, size_t large, pn_err *err)
{
    false_server f = { .bytes = bytes, .size = size, .large = large };
    kit_server s;
    kit_party party;
    pthread_t thread;
    size_t room = sizeof party.connect;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, err), err);
    kit_party_init(&party, &s, 0, M);
    party.options.limits.bytes = 4096;
    kit_close(&s);
    f.context = zmq_ctx_new();
    f.socket = zmq_socket(f.context, ZMQ_ROUTER);
    (void)zmq_setsockopt(f.socket, ZMQ_CURVE_SERVER, &(int){ 1 }, sizeof(int));
    (void)zmq_setsockopt(f.socket, ZMQ_CURVE_SECRETKEY, s.keys.secret_key, PN_CURVE_TEXT);
    (void)zmq_setsockopt(f.socket, ZMQ_LINGER, &(int){ 1000 }, sizeof(int));
    (void)zmq_setsockopt(f.socket, ZMQ_RCVTIMEO, &(int){ 20000 }, sizeof(int));
    CHECK(zmq_bind(f.socket, "tcp://127.0.0.1:*") == 0);
    CHECK(zmq_getsockopt(f.socket, ZMQ_LAST_ENDPOINT, party.connect, &room) == 0);
    CHECK(pthread_create(&thread, NULL, false_server_run, &f) == 0);
    (void)kit_party_run(&party);
    CHECK(pthread_join(thread, NULL) == 0);
    (void)zmq_close(f.socket);
    (void)zmq_ctx_term(f.context);
    *err = party.err;
    return party.status;
}

static void a_party_leaves_a_server_that_cannot_be_understood(void)
{
    pn_err err;

    CHECK(served_by("rubbish", 7, 0, &err) == PN_EIO);
    CHECK(strstr(err.message, "the server sent a malformed message: wire: 7 bytes") != NULL);
    CHECK(served_by("\x08\x09", 2, 0, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "the server: wire: a message of version 9") != NULL);
}

/* libzmq cuts the connection for it, and does not connect again. */
static void a_party_comes_back_after_too_large_a_message(void)
{
    pn_err err;

    CHECK(served_by("\x08\x09", 2, 1 << 20, &err) == PN_EUNSUPPORTED);
    CHECK(strstr(err.message, "a message of version 9") != NULL);
}

/* ---- wrong options ---- */

static void refused_server(void (*change)(kit_server *), pn_status want, const char *what)
{
    kit_server s;
    pn_err err = { .message = "" };

    kit_prepare(&s, 2, 20.0);
    change(&s);
    if (!CHECK(kit_open(&s, &err) == want && strstr(err.message, what) != NULL && s.transport == NULL))
        (void)fprintf(stderr, "    %s\n", err.message);
}

#define CHANGE(name, ...)                                                                                              \
    static void name(kit_server *s)                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
CHANGE(same_key, s->key_list[1] = s->key_list[0])
CHANGE(short_key, s->key_list[1] = "abc")
CHANGE(bad_key, s->key_list[0] = "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~")
CHANGE(own_key, memset(s->options.keys.secret_key, 0, PN_CURVE_TEXT))
CHANGE(no_party, s->options.parties = 0)
CHANGE(no_port, s->options.listen = "tcp://localhost")
CHANGE(high_port, s->options.listen = "tcp://127.0.0.1:65536")
CHANGE(other_way, s->options.listen = "ipc:///tmp/x:1")
CHANGE(no_place, s->options.listen = "tcp://192.0.2.1:5571")
CHANGE(nan_time, s->options.timeout = NAN)
CHANGE(no_name, s->name_list[1] = "")
CHANGE(odd_name, s->name_list[0] = "a\nb")

static void a_server_says_what_is_wrong_with_its_options(void)
{
    refused_server(same_key, PN_EINVAL, "clinic-0 and clinic-1 have the same key");
    refused_server(short_key, PN_EPARSE, "the key of clinic-1 must be 40 characters of Z85");
    refused_server(bad_key, PN_EPARSE, "the key of clinic-0 must be 40 characters of Z85");
    refused_server(own_key, PN_EINVAL, "the server's keys are no CURVE keys");
    refused_server(no_party, PN_EINVAL, "parties must be a whole number from 1 to 4096, got 0");
    refused_server(no_port, PN_EINVAL,
                   "listen must be \"tcp://HOST:PORT\" with a port up to 65535, got \"tcp://localhost\"");
    refused_server(high_port, PN_EINVAL, "a port up to 65535, got \"tcp://127.0.0.1:65536\"");
    refused_server(other_way, PN_EINVAL, "listen must be \"tcp://HOST:PORT\"");
    refused_server(no_place, PN_EIO, "cannot listen at tcp://192.0.2.1:5571: ");
    refused_server(nan_time, PN_EINVAL, "timeout must be a number of seconds from 0, got nan");
    refused_server(no_name, PN_EINVAL, "the name of party 2 must have 1 to 63 bytes");
    refused_server(odd_name, PN_EINVAL, "the name of party 1 must have 1 to 63 bytes");
}

static void two_servers_in_one_process_have_their_own_lists(void)
{
    kit_server a, b;
    kit_party party;
    gathering g;
    pn_err err;

    kit_prepare(&a, 1, 20.0);
    kit_prepare(&b, 1, 20.0);
    b.options.keys = a.keys = b.keys; /* even with the same server key */
    a.options.keys = a.keys;
    check(kit_open(&a, &err), &err);
    check(kit_open(&b, &err), &err);
    gather_start(&g, &b);
    kit_party_init(&party, &b, 0, M);
    party.options.keys = a.party[0];
    (void)kit_party_run(&party);
    CHECK(party.status == PN_EPRIVACY && strstr(party.err.message, "does not let this party in") != NULL);
    kit_party_init(&party, &b, 0, M);
    CHECK(kit_party_start(&party));
    gather_join(&g);
    say_goodbye(&b, &party);
    b.options.listen = pn_zeromq_endpoint(a.transport); /* taken */
    kit_close(&b);
    CHECK(kit_open(&b, &err) == PN_EIO && strstr(err.message, "Address already in use") != NULL);
    kit_close(&a);
}

int main(void)
{
    a_key_that_is_not_in_the_list_is_turned_away();
    a_server_without_the_right_key_is_not_believed();
    other_protocols_at_the_port_disturb_nobody();
    rubbish_is_dropped_and_the_answer_taken();
    old_and_foreign_replies_are_dropped();
    too_large_a_message_costs_its_sender_the_connection();
    a_party_of_another_version_stops_the_run();
    a_party_leaves_a_server_that_cannot_be_understood();
    a_party_comes_back_after_too_large_a_message();
    a_server_says_what_is_wrong_with_its_options();
    two_servers_in_one_process_have_their_own_lists();
    return check_summary();
}
