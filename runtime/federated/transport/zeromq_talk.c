/* zeromq_talk.c -- what comes from a party and what goes to it.  Depends on: zeromq_server.h, libzmq.
 * Used by: zeromq_server.c.
 *
 * Whose message it is, is known from the connection (User-Id of the gate), never from its text.  What happens to one:
 *   hello                        where the party is now; the request that it owes is repeated, at once to a new
 *                                connection, to the same one only after a pause that doubles: a party that computes for
 *                                long, or has a slow line, is not sent the request ever again
 *   the answer that it owes      taken
 *   another one that reads well  a reply of before, or to a request that was repeated: dropped, it proves nothing
 *   one that does not read well  dropped; the 16th since the last good one stops the run,
 *       as the party would only repeat it
 *   another version              stops the run: that party will never be understood */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "core/alloc.h"
#include "federated/transport/zeromq_server.h"

#define AT_ONCE     64  /* messages, before clock and cancel are looked at again */
#define PAUSE       1.0 /* seconds before a request is repeated to the same connection; doubles */
#define PAUSE_MAX   32.0
#define REPEATS_MAX 64
#define DROPS_TOLD  20

void pn_talk_tell(const pn_zeromq *z, const char *what, const char *who, const char *why)
{
    const pn_zeromq_event event = { what, who, why };

    if (z->log)
        z->log(z->log_self, &event);
}

/* ---- to a party ---- */

static void send_request(pn_zeromq *z, size_t k)
{
    pn_member *member = &z->members[k];

    if (member->route_size == 0)
        return;
    member->sent = pn_link_now();
    if (zmq_send(z->socket, member->route, member->route_size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0 &&
        zmq_send(z->socket, member->bytes, member->size, ZMQ_DONTWAIT) >= 0) {
        member->sends++;
        pn_transport_count(&z->base, k, &z->requests[k], member->size, false);
    } else if (errno == EHOSTUNREACH) {
        member->route_size = 0;
        pn_talk_tell(z, "lost", z->base.peers[k].name, "its connection is gone; waiting for it to come back");
    }
}

pn_status pn_talk_ask(pn_zeromq *z, size_t k, pn_err *err)
{
    pn_member *member = &z->members[k];

    PN_TRY(pn_wire_write(&z->requests[k], &member->bytes, &member->size, err));
    member->sends = member->dropped = 0;
    z->waiting++;
    send_request(z, k);
    return PN_OK;
}

void pn_talk_settle(pn_zeromq *z, size_t k)
{
    pn_member *member = &z->members[k];

    if (!member->bytes)
        return;
    pn_free(member->bytes);
    member->bytes = NULL;
    z->waiting--;
}

static bool may_repeat(const pn_member *member)
{
    double pause = PAUSE;

    for (unsigned i = 1; i < member->sends && pause < PAUSE_MAX; i++)
        pause *= 2.0;
    return member->sends == 0 || pn_link_now() - member->sent >= pause;
}

/* ---- from a party ---- */

static bool takes_route(pn_member *member, const unsigned char *route, size_t size)
{
    bool is_new = member->route_size != size || memcmp(member->route, route, size) != 0;

    memcpy(member->route, route, size);
    member->route_size = size;
    return is_new;
}

/* Plans rest on the data that parties had when they were gathered, and privacy on what a party remembers. */
static pn_status check_return(const pn_member *member, const pn_peer *peer, const pn_message *hello, pn_err *err)
{
    if (hello->records != peer->records || hello->columns != peer->columns)
        return pn_fail(err, PN_EINVAL,
                       "federated.zeromq: %s came back with %llu records and %llu columns, had %llu and %llu before",
                       peer->name, (unsigned long long)hello->records, (unsigned long long)hello->columns,
                       (unsigned long long)peer->records, (unsigned long long)peer->columns);
    if (memcmp(hello->alignment, peer->alignment, PN_DIGEST_BYTES) != 0)
        return pn_fail(err, PN_EINVAL, "federated.zeromq: %s came back with other records, or in another order",
                       peer->name);
    if (hello->feature_bound > peer->feature_bound || hello->label_bound > peer->label_bound)
        return pn_fail(
            err, PN_EINVAL,
            "federated.zeromq: %s came back with bounds %g and %g on features and labels, had %g and %g before",
            peer->name, hello->feature_bound, hello->label_bound, peer->feature_bound, peer->label_bound);
    if (member->bound && memcmp(hello->session, peer->session, PN_SESSION_BYTES) != 0)
        return pn_fail(
            err, PN_EPRIVACY,
            "federated.zeromq: %s came back without its memory of what it has released, and would draw new noise on "
            "the same values; start it with its checkpoint, or the run anew",
            peer->name);
    return PN_OK;
}

/* After the gathering only the session may be another one, and that only between runs. */
static pn_status take_shape(pn_zeromq *z, size_t k, pn_message *hello, pn_err *err)
{
    pn_peer *peer = &z->base.peers[k];
    bool judged = z->replies || !z->requests;
    pn_status status = PN_OK;

    if (!z->known) {
        memcpy(hello->name, peer->name, sizeof hello->name); /* the server's own name for who has this key */
        pn_transport_meet(&z->base, k, hello);
        return PN_OK;
    }
    if (judged)
        status = check_return(&z->members[k], peer, hello, err);
    if (status != PN_OK)
        return status;
    if (!z->members[k].bound)
        memcpy(peer->session, hello->session, PN_SESSION_BYTES);
    return PN_OK;
}

static pn_status take_hello(pn_zeromq *z, size_t k, pn_message *hello, bool is_new, pn_err *err)
{
    pn_member *member = &z->members[k];
    const char *name = z->base.peers[k].name;

    PN_TRY(take_shape(z, k, hello, err));
    if (is_new)
        pn_talk_tell(z, member->joined ? "back" : "joined", name, NULL);
    member->joined = true;
    member->heard = pn_link_now();
    if (!member->bytes || !(is_new || may_repeat(member)))
        return PN_OK;
    if (z->replies && member->sends > REPEATS_MAX)
        return pn_fail(err, PN_EIO, "federated.zeromq: %s does not answer repeated requests", name);
    send_request(z, k);
    return PN_OK;
}

/* A few lines of the log for each party in an exchange, however much it sends. */
static void drop(pn_zeromq *z, size_t k, const char *why)
{
    if (z->members[k].dropped++ < DROPS_TOLD)
        pn_talk_tell(z, "dropped", z->base.peers[k].name, why);
}

static void take_reply(pn_zeromq *z, size_t k, pn_message *message, size_t size)
{
    pn_member *member = &z->members[k];

    pn_transport_count(&z->base, k, message, size, true);
    if (message->kind == PN_MESSAGE_READY)
        member->bound = true;
    z->replies[k] = *message;
    memset(message, 0, sizeof *message); /* it owns nothing any more */
    pn_talk_settle(z, k);
}

static pn_status take_message(pn_zeromq *z, size_t k, const unsigned char *route, size_t route_size,
                              pn_message *message, size_t size, pn_err *err)
{
    pn_member *member = &z->members[k];
    bool owed = z->replies && member->bytes && pn_message_answers(&z->requests[k], message);
    char why[96];

    member->bad = 0;
    if (owed || message->kind == PN_MESSAGE_HELLO) {
        bool is_new = takes_route(member, route, route_size);

        if (!owed)
            return take_hello(z, k, message, is_new, err);
        take_reply(z, k, message, size);
        return PN_OK;
    }
    (void)snprintf(why, sizeof why, "\"%s\" of round %llu answers nothing that was asked",
                   pn_message_names[message->kind], (unsigned long long)message->round);
    drop(z, k, why);
    return PN_OK;
}

static pn_status take_garbage(pn_zeromq *z, size_t k, pn_status status, pn_err *failure, pn_err *err)
{
    const char *name = z->base.peers[k].name;

    if (status == PN_ENOMEM || status == PN_EUNSUPPORTED)
        return pn_fail(err, status, "federated.zeromq: %s: %s", name, failure->message);
    drop(z, k, failure->message);
    if (++z->members[k].bad >= PN_LINK_BAD)
        return pn_fail(err, PN_EIO, "federated.zeromq: %s sent a malformed message: %s", name, failure->message);
    return PN_OK;
}

/* The party whose key the connection has; parties of them when there is none, which the gate does not let happen. */
static size_t sender(const pn_zeromq *z, zmq_msg_t *frame)
{
    const char *user = zmq_msg_gets(frame, "User-Id");
    char *end = NULL;
    unsigned long k = user && *user ? strtoul(user, &end, 10) : z->base.parties;

    return end && *end == '\0' && k < z->base.parties ? (size_t)k : z->base.parties;
}

static pn_status take_frames(pn_zeromq *z, zmq_msg_t *route, zmq_msg_t *body, pn_err *err)
{
    size_t k = sender(z, body), size = zmq_msg_size(body);
    pn_message message = { 0 };
    pn_err failure = { .message = "" };
    pn_status status;

    if (pn_link_skip(z->socket, zmq_msg_more(body) != 0) > 0 || k == z->base.parties ||
        zmq_msg_size(route) > PN_ROUTE_MAX) {
        if (k < z->base.parties)
            drop(z, k, "not a message of one frame");
        return PN_OK;
    }
    status = pn_wire_read(&message, zmq_msg_data(body), size, &z->limits, &failure);
    if (status == PN_OK)
        status = take_message(z, k, zmq_msg_data(route), zmq_msg_size(route), &message, size, err);
    else
        status = take_garbage(z, k, status, &failure, err);
    pn_message_clear(&message);
    return status;
}

/* One message, if there is one. */
static pn_status receive(pn_zeromq *z, bool *some, pn_err *err)
{
    zmq_msg_t route, body;
    pn_status status = PN_OK;

    (void)zmq_msg_init(&route);
    (void)zmq_msg_init(&body);
    *some = zmq_msg_recv(&route, z->socket, ZMQ_DONTWAIT) >= 0;
    if (*some && zmq_msg_more(&route) && zmq_msg_recv(&body, z->socket, ZMQ_DONTWAIT) >= 0)
        status = take_frames(z, &route, &body, err);
    (void)zmq_msg_close(&body);
    (void)zmq_msg_close(&route);
    return status;
}

void pn_talk_forget(pn_zeromq *z)
{
    bool some = true;

    for (size_t i = 0; some && i < AT_ONCE * z->base.parties; i++) {
        zmq_msg_t frame;

        (void)zmq_msg_init(&frame);
        some = zmq_msg_recv(&frame, z->socket, ZMQ_DONTWAIT) >= 0;
        if (some)
            (void)pn_link_skip(z->socket, zmq_msg_more(&frame) != 0);
        (void)zmq_msg_close(&frame);
    }
}

pn_status pn_talk_wait(pn_zeromq *z, long milliseconds, pn_err *err)
{
    zmq_pollitem_t items[] = { { .socket = z->socket, .events = ZMQ_POLLIN },
                               { .socket = pn_gate_socket(z->gate), .events = ZMQ_POLLIN } };
    bool some = true;
    pn_status status = PN_OK;

    if (zmq_poll(items, 2, milliseconds) < 0)
        return errno == EINTR ? PN_OK : pn_link_fail(err, "waiting");
    if (items[1].revents)
        pn_gate_answer(z->gate, z->log, z->log_self);
    for (int i = 0; items[0].revents && some && status == PN_OK && i < AT_ONCE; i++)
        status = receive(z, &some, err);
    return status;
}
