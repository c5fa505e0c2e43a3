/* zeromq_party.c -- a party's end: says hello, answers what it is asked, until the run is over.
 * Depends on: zeromq_link.h, libzmq.
 * Used by: zeromq_serve.c.
 *
 * libzmq connects, and connects again with growing pauses; its monitor tells when there is a connection on which both
 * sides have proven their
 * keys.  Then hello is said, and again every second while nothing is heard: the server answers it with the request that
 * is outstanding.  Without a connection nothing is sent: a reply that cannot leave is asked for again,
 * and given again for nothing.
 *
 * ZMQ_IMMEDIATE stays off: with it libzmq throws away what has arrived and was not read yet when a connection ends,
 * such as the last word of a server that closes.  After a breach of protocol (a broken handshake, too large a message)
 * libzmq gives up, which nothing tells but that it does not try again; the socket is then made anew. */
#define _GNU_SOURCE

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <zmq.h>

#include "core/alloc.h"
#include "federated/transport/zeromq_link.h"
#include "federated/wire/wire_check.h"

#define TIMEOUT     600.0
#define QUEUE       64
#define HELLO_EVERY 1.0 /* seconds */
#define GIVEN_UP    2.0 /* seconds after a connection ended in which libzmq would have begun to try again */
#define HANDSHAKE_FAILED                                                                                               \
    (ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL)
#define TRIES_AGAIN (ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CONNECT_RETRIED)
#define EVENTS      (ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | HANDSHAKE_FAILED | TRIES_AGAIN)

typedef struct client {
    const pn_link_party *party;
    const pn_zeromq_party_options *options;
    pn_wire_limits limits;
    double timeout;
    void *context, *socket, *monitor;
    bool up, was_up;    /* keys are proven; have been, at some time */
    bool turned_away;   /* the server does not know this party's key */
    bool doubted;       /* whoever answers there has not proven to be the server */
    double ended;       /* when the last connection ended, until libzmq tries again; else infinite */
    unsigned sockets;   /* made so far */
    double heard, said; /* when: of the last good message, of the last hello */
    unsigned bad;       /* messages that could not be read, in a row */
} client;

static void tell(const client *c, const char *what, const char *why)
{
    const pn_zeromq_event event = { what, c->options->connect, why };

    if (c->options->log)
        c->options->log(c->options->log_self, &event);
}

/* ---- the socket ---- */

static void close_sockets(client *c)
{
    if (c->socket)
        (void)zmq_socket_monitor(c->socket, NULL, 0);
    pn_link_close(c->monitor, 0);
    pn_link_close(c->socket, PN_LINK_LINGER);
    c->socket = c->monitor = NULL;
    c->up = false;
}

static pn_status set_dealer(const client *c, pn_err *err)
{
    const pn_zeromq_party_options *o = c->options;
    int ipv6 = strchr(o->connect, '[') != NULL;

    if (zmq_setsockopt(c->socket, ZMQ_IPV6, &ipv6, sizeof ipv6) != 0)
        return pn_link_fail(err, "an option of a socket");
    if (!zmq_has("curve"))
        return pn_fail(err, PN_EUNSUPPORTED, "federated.zeromq: this libzmq was built without CURVE");
    if (zmq_setsockopt(c->socket, ZMQ_CURVE_SERVERKEY, o->server_key, PN_CURVE_TEXT) != 0)
        return pn_fail(err, PN_EINVAL, "federated.zeromq: the server's key must be 40 characters of Z85");
    if (zmq_setsockopt(c->socket, ZMQ_CURVE_PUBLICKEY, o->keys.public_key, PN_CURVE_TEXT) != 0 ||
        zmq_setsockopt(c->socket, ZMQ_CURVE_SECRETKEY, o->keys.secret_key, PN_CURVE_TEXT) != 0)
        return pn_fail(err, PN_EINVAL, "federated.zeromq: the party's keys are no CURVE keys");
    return PN_OK;
}

static pn_status open_sockets(client *c, pn_err *err)
{
    char name[40];

    c->ended = INFINITY;
    /* The name of an earlier one is given back only when libzmq comes to it. */
    (void)snprintf(name, sizeof name, "inproc://monitor-%u", c->sockets++);
    PN_TRY(pn_link_socket(&c->socket, c->context, ZMQ_DEALER, c->limits.bytes, QUEUE, err));
    PN_TRY(set_dealer(c, err));
    if (zmq_socket_monitor(c->socket, name, EVENTS) != 0)
        return pn_link_fail(err, "watching the connection");
    c->monitor = zmq_socket(c->context, ZMQ_PAIR);
    if (!c->monitor || zmq_connect(c->monitor, name) != 0)
        return pn_link_fail(err, "watching the connection");
    if (zmq_connect(c->socket, c->options->connect) != 0)
        return pn_fail(err, errno == ENOMEM ? PN_ENOMEM : PN_EINVAL, "federated.zeromq: cannot connect to %.200s: %s",
                       c->options->connect, zmq_strerror(errno));
    return PN_OK;
}

static void take_event(client *c, unsigned event)
{
    if (event & TRIES_AGAIN) {
        c->ended = INFINITY;
        return;
    }
    if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
        tell(c, c->was_up ? "back" : "joined", NULL);
        c->up = c->was_up = true;
        c->doubted = false;
        c->ended = INFINITY;
        c->said = -INFINITY;
        return;
    }
    if (c->up)
        tell(c, "lost", "the connection is gone; trying again");
    c->up = false;
    c->turned_away = c->turned_away || event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    c->doubted = c->doubted || (event & HANDSHAKE_FAILED) != 0;
    c->ended = pn_link_now();
}

static void read_events(client *c)
{
    zmq_msg_t frame;
    bool some = true;

    while (some) {
        uint16_t event = 0;

        (void)zmq_msg_init(&frame);
        some = zmq_msg_recv(&frame, c->monitor, ZMQ_DONTWAIT) >= 0;
        if (some && zmq_msg_size(&frame) >= sizeof event)
            memcpy(&event, zmq_msg_data(&frame), sizeof event);
        if (some)
            (void)pn_link_skip(c->monitor, zmq_msg_more(&frame) != 0);
        (void)zmq_msg_close(&frame);
        if (event != 0)
            take_event(c, event);
    }
}

/* ---- messages ---- */

/* *left: whether it did; without a connection it would wait for one. */
static pn_status say(client *c, const pn_message *message, bool *left, pn_err *err)
{
    unsigned char *bytes;
    size_t size;

    PN_TRY(pn_wire_write(message, &bytes, &size, err));
    *left = c->up && zmq_send(c->socket, bytes, size, ZMQ_DONTWAIT) >= 0;
    pn_free(bytes);
    return PN_OK;
}

static pn_status say_hello(client *c, pn_err *err)
{
    pn_message hello = { 0 };
    bool left = false;
    pn_status status;

    c->party->hello(c->party->self, &hello);
    status = say(c, &hello, &left, err);
    pn_message_clear(&hello);
    if (left)
        c->said = pn_link_now(); /* else at the next tick */
    return status;
}

/* Bytes of the right server that are no message.  One that speaks another version will never be understood. */
static pn_status take_garbage(client *c, pn_status status, const pn_err *failure, pn_err *err)
{
    if (status == PN_ENOMEM || status == PN_EUNSUPPORTED)
        return pn_fail(err, status, "federated.zeromq: the server: %s", failure->message);
    tell(c, "dropped", failure->message);
    if (++c->bad >= PN_LINK_BAD)
        return pn_fail(err, PN_EIO, "federated.zeromq: the server sent a malformed message: %s", failure->message);
    return PN_OK;
}

static pn_status take_request(client *c, const pn_message *request, pn_link_next *next, pn_task *task, pn_err *err)
{
    pn_message reply = { 0 };
    bool left;
    pn_status status;

    c->bad = 0;
    status = c->party->answer(c->party->self, request, &reply, next, task, err);
    if (status == PN_OK && reply.kind != PN_MESSAGE_NONE)
        status = say(c, &reply, &left, err);
    pn_message_clear(&reply);
    c->heard = c->said = pn_link_now(); /* the time that the answer took is nobody's silence */
    return status;
}

static pn_status receive(client *c, bool *some, pn_link_next *next, pn_task *task, pn_err *err)
{
    pn_message request = { 0 };
    pn_err failure = { .message = "" };
    zmq_msg_t frame;
    pn_status status = PN_OK;

    (void)zmq_msg_init(&frame);
    *some = zmq_msg_recv(&frame, c->socket, ZMQ_DONTWAIT) >= 0;
    if (*some && pn_link_skip(c->socket, zmq_msg_more(&frame) != 0) > 0) {
        tell(c, "dropped", "not a message of one frame");
    } else if (*some) {
        status = pn_wire_read(&request, zmq_msg_data(&frame), zmq_msg_size(&frame), &c->limits, &failure);
        if (status == PN_OK)
            status = take_request(c, &request, next, task, err);
        else
            status = take_garbage(c, status, &failure, err);
    }
    (void)zmq_msg_close(&frame);
    pn_message_clear(&request);
    return status;
}

/* ---- waiting ---- */

static pn_status give_up(const client *c, pn_err *err)
{
    const char *place = c->options->connect;

    if (c->up)
        return pn_fail(err, PN_EIO,
                       "federated.zeromq: the server at %.200s is connected, but silent for more than %g s", place,
                       c->timeout);
    if (c->was_up)
        return pn_fail(err, PN_EIO, "federated.zeromq: the server at %.200s has been gone for more than %g s", place,
                       c->timeout);
    if (c->doubted)
        return pn_fail(
            err, PN_EIO,
            "federated.zeromq: the process at %.200s did not prove within %g s that it is the server; check the "
            "server's public key",
            place, c->timeout);
    return pn_fail(err, PN_EIO, "federated.zeromq: there has been no answer at %.200s for more than %g s", place,
                   c->timeout);
}

/* Everything that is due by the clock. */
static pn_status keep_time(client *c, pn_task *task, pn_err *err)
{
    double now = pn_link_now();
    pn_status status = pn_task_report(task, c->up ? "waiting for the server" : "connecting", 0.0, 0.0, err);

    if (status != PN_OK)
        return status;
    if (c->turned_away)
        return pn_fail(err, PN_EPRIVACY, /* trying again will not help */
                       "federated.zeromq: the server at %.200s does not let this party in: its list has no key %s",
                       c->options->connect, c->options->keys.public_key);
    if (now - c->heard > c->timeout)
        return give_up(c, err);
    if (c->up && now - c->said >= HELLO_EVERY)
        return say_hello(c, err);
    if (now - c->ended >= GIVEN_UP) {
        close_sockets(c);
        return open_sockets(c, err);
    }
    return status;
}

static pn_status loop(client *c, pn_task *task, pn_err *err)
{
    pn_link_next next = PN_LINK_GOES_ON;
    pn_status status = open_sockets(c, err);

    while (status == PN_OK && next == PN_LINK_GOES_ON) {
        zmq_pollitem_t items[] = { { .socket = c->socket, .events = ZMQ_POLLIN },
                                   { .socket = c->monitor, .events = ZMQ_POLLIN } };
        bool some = true;

        if (zmq_poll(items, 2, PN_LINK_TICK) < 0 && errno != EINTR)
            return pn_link_fail(err, "waiting");
        if (items[1].revents)
            read_events(c);
        while (status == PN_OK && next == PN_LINK_GOES_ON && some)
            status = receive(c, &some, &next, task, err);
        if (status == PN_OK && next == PN_LINK_GOES_ON)
            status = keep_time(c, task, err);
    }
    return status;
}

pn_status pn_link_serve(const pn_link_party *party, const pn_zeromq_party_options *options, pn_task *task, pn_err *err)
{
    client c = { .party = party, .options = options };
    pn_status status;

    PN_TRY(pn_link_check_endpoint(options->connect, "connect", err));
    if (!(options->timeout >= 0.0) || isinf(options->timeout))
        return pn_fail(err, PN_EINVAL, "federated.zeromq: timeout must be a number of seconds from 0, got %g",
                       options->timeout);
    c.limits = pn_wire_limits_of(&options->limits);
    c.timeout = options->timeout > 0.0 ? options->timeout : TIMEOUT;
    c.heard = pn_link_now();
    PN_TRY(pn_link_begin(&c.context, err));
    status = loop(&c, task, err);
    close_sockets(&c);
    pn_link_end(c.context);
    return status;
}
