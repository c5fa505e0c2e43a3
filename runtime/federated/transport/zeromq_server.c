/* zeromq_server.c -- the server's end of the transport over ZeroMQ: listening, gathering, exchanges, farewells.
 * Depends on: zeromq_server.h, libzmq, POSIX.  Used by: bindings.
 *
 * There is no thread but libzmq's own: messages, and the gate that lets parties in, are looked after while the server
 * gathers or exchanges.  In between libzmq keeps connections alive.  Waiting is zmq_poll, a tenth of a second at a
 * time, so that a cancel is seen; a slow party costs no more than that.  After a fork the context is the parent's: a
 * child gets PN_EUNSUPPORTED, and freeing there closes nothing. */
#define _GNU_SOURCE

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zmq.h>

#include "core/alloc.h"
#include "federated/transport/agreement.h"
#include "federated/transport/zeromq_server.h"
#include "federated/wire/wire_check.h"

#define TIMEOUT     60.0
#define QUEUE       8    /* messages that may wait for one party, each way */
#define REPLY_EXTRA 4096 /* bytes of a reply beside its vector */
#define NAMES_ROOM  400
#define DOMAIN      "penumbra"
#define FAREWELL    0.5 /* seconds for parties that are just coming back */
#define RETURN      6.0 /* for those that this server has not met: libzmq tries again after 5 at the latest */

static pn_status check_process(const pn_zeromq *z, pn_err *err)
{
    if (z->process == (long)getpid())
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED,
                   "federated.zeromq: the process that made this transport must use it; a "
                   "forked child may not");
}

/* One tick, and whether somebody wants to stop. */
static pn_status wait_a_tick(pn_zeromq *z, const char *what, size_t done, pn_task *task, pn_err *err)
{
    pn_status status = pn_talk_wait(z, PN_LINK_TICK, err);

    return status == PN_OK && task ? pn_task_report(task, what, (double)done, (double)z->base.parties, err) : status;
}

/* ---- gathering ---- */

static void list_absent(const pn_zeromq *z, char *text, size_t room)
{
    size_t at = 0;

    text[0] = '\0';
    for (size_t k = 0; k < z->base.parties && at < room - 1; k++) {
        if (!z->members[k].joined)
            at += (size_t)snprintf(text + at, room - at, "%s%s", at ? ", " : "", z->base.peers[k].name);
    }
}

static size_t count_joined(const pn_zeromq *z)
{
    size_t joined = 0;

    for (size_t k = 0; k < z->base.parties; k++)
        joined += z->members[k].joined;
    return joined;
}

static pn_status wait_for_all(pn_zeromq *z, pn_task *task, pn_err *err)
{
    double since = pn_link_now();
    size_t joined = count_joined(z);
    char text[NAMES_ROOM];

    while (joined < z->base.parties) {
        pn_status status = wait_a_tick(z, "waiting for parties to join", joined, task, err);
        size_t now = count_joined(z);

        if (status != PN_OK)
            return status;
        if (now > joined)
            since = pn_link_now();
        joined = now;
        if (joined < z->base.parties && pn_link_now() - since > z->timeout) {
            list_absent(z, text, sizeof text);
            return pn_fail(err, PN_EIO, "federated.zeromq: no party joined for %g s; still missing: %s", z->timeout,
                           text);
        }
    }
    return PN_OK;
}

static void end(pn_transport *self, const pn_message *farewells);

/* A run with these parties cannot be: they hear why, and may end. */
static void send_away(pn_zeromq *z, const pn_err *err)
{
    for (size_t k = 0; k < z->base.parties; k++) {
        pn_message_refuse(&z->refusals[k], NULL, err);
        z->refusals[k].party = (uint32_t)k;
    }
    end(&z->base, z->refusals);
    for (size_t k = 0; k < z->base.parties; k++)
        z->members[k].joined = false;
    z->sent_away = true;
}

/* A party that waits says hello every second: those of parties that were sent away would count for those that come
 * now. */
static void begin_anew(pn_zeromq *z)
{
    if (z->sent_away)
        pn_talk_forget(z);
    z->sent_away = false;
}

static pn_status gather(pn_transport *self, pn_task *task, pn_err *err)
{
    pn_zeromq *z = (pn_zeromq *)self;
    pn_err why = { .status = PN_OK };
    pn_status status;

    PN_TRY(check_process(z, err));
    begin_anew(z);
    PN_TRY(wait_for_all(z, task, err));
    status = pn_transport_agree(self, &why);
    if (status != PN_OK) {
        send_away(z, &why);
        return pn_fail(err, status, "%s", why.message);
    }
    z->known = true;
    return PN_OK;
}

/* ---- exchanges ---- */

static pn_status begin(pn_transport *self, const pn_transport_run *run, pn_err *err)
{
    pn_zeromq *z = (pn_zeromq *)self;

    (void)run;
    for (size_t k = 0; k < z->base.parties; k++)
        z->members[k].bound = false; /* a party may have been started anew since the last run */
    return check_process(z, err);
}

static pn_status check_silence(const pn_zeromq *z, double since, pn_err *err)
{
    for (size_t k = 0; k < z->base.parties; k++) {
        const pn_member *member = &z->members[k];
        const pn_message *request = &z->requests[k];

        if (!member->bytes || pn_link_now() - fmax(since, member->heard) <= z->timeout)
            continue;
        pn_talk_tell(z, "lost", z->base.peers[k].name, "silent for too long");
        return pn_fail(
            err, PN_EIO, "federated.zeromq: %s has been silent for more than %g s; it was sent \"%s\" of round %llu",
            z->base.peers[k].name, z->timeout, pn_message_names[request->kind], (unsigned long long)request->round);
    }
    return PN_OK;
}

static void settle_all(pn_zeromq *z)
{
    for (size_t k = 0; k < z->base.parties; k++)
        pn_talk_settle(z, k);
    z->requests = NULL;
    z->replies = NULL;
}

static pn_status ask_all(pn_zeromq *z, pn_err *err)
{
    for (size_t k = 0; k < z->base.parties; k++) {
        PN_TRY(z->requests[k].kind == PN_MESSAGE_NONE ? PN_OK : pn_talk_ask(z, k, err));
    }
    return PN_OK;
}

static pn_status exchange(pn_transport *self, const pn_message *requests, pn_message *replies, pn_task *task,
                          pn_err *err)
{
    pn_zeromq *z = (pn_zeromq *)self;
    double since = pn_link_now();
    pn_status status;

    PN_TRY(check_process(z, err));
    z->requests = requests;
    z->replies = replies;
    status = ask_all(z, err);
    while (status == PN_OK && z->waiting > 0) {
        status = wait_a_tick(z, "waiting for parties", z->base.parties - z->waiting, task, err);
        if (status == PN_OK)
            status = check_silence(z, since, err);
    }
    settle_all(z);
    return status;
}

/* Whom the word did not leave for gets a moment to come back. */
static size_t unsent(const pn_zeromq *z)
{
    size_t count = 0;

    for (size_t k = 0; k < z->base.parties; k++)
        count += z->members[k].bytes && z->members[k].sends == 0;
    return count;
}

static void end(pn_transport *self, const pn_message *farewells)
{
    pn_zeromq *z = (pn_zeromq *)self;
    double since = pn_link_now(), moment = self->recalled ? RETURN : FAREWELL;

    if (check_process(z, NULL) != PN_OK)
        return;
    z->requests = farewells;
    z->replies = NULL;
    for (size_t k = 0; k < z->base.parties; k++) {
        if (farewells[k].kind != PN_MESSAGE_NONE)
            (void)pn_talk_ask(z, k, NULL);
        z->members[k].bound = false;
    }
    while (unsent(z) > 0 && pn_link_now() - since < moment) {
        if (pn_talk_wait(z, PN_LINK_TICK, NULL) != PN_OK)
            break;
    }
    settle_all(z);
}

/* ---- opening and closing ---- */

static void destroy(pn_transport *self)
{
    pn_zeromq *z = (pn_zeromq *)self;

    if (check_process(z, NULL) == PN_OK) {
        pn_gate_close(z->gate);
        pn_link_close(z->socket, PN_LINK_LINGER);
        pn_link_end(z->context);
    }
    pn_free(z->members);
    pn_free(z->refusals);
    pn_free(z->endpoint);
    pn_transport_clear(&z->base);
    pn_free(z);
}

static const pn_transport_ops zeromq_ops = {
    .name = "zeromq",
    .doc = "One process per party, on any host, over ZeroMQ: server and parties know each other by CURVE keys, and all "
           "is encrypted.",
    .destroy = destroy,
    .gather = gather,
    .begin = begin,
    .exchange = exchange,
    .end = end,
};

static pn_status take_names(pn_zeromq *z, const char *const *names, pn_err *err)
{
    for (size_t k = 0; names && k < z->base.parties; k++) {
        size_t length = names[k] ? strlen(names[k]) : 0;

        if (length == 0 || length >= PN_NAME_BYTES || !pn_wire_printable(names[k], length + 1))
            return pn_fail(err, PN_EINVAL,
                           "federated.zeromq: the name of party %zu must have 1 to %d bytes of printable text", k + 1,
                           PN_NAME_BYTES - 1);
        memcpy(z->base.peers[k].name, names[k], length + 1);
    }
    return PN_OK;
}

/* What parties send is no longer than a feature. */
static size_t reply_bytes(const pn_wire_limits *limits)
{
    size_t most = limits->vector < SIZE_MAX / 16 ? 8 * limits->vector + REPLY_EXTRA : SIZE_MAX;

    return most < limits->bytes ? most : limits->bytes;
}

static pn_status set_router(const pn_zeromq *z, const pn_zeromq_server_options *options, pn_err *err)
{
    int on = 1, ipv6 = strchr(options->listen, '[') != NULL;

    if (zmq_setsockopt(z->socket, ZMQ_ROUTER_MANDATORY, &on, sizeof on) != 0 ||
        zmq_setsockopt(z->socket, ZMQ_IPV6, &ipv6, sizeof ipv6) != 0 ||
        zmq_setsockopt(z->socket, ZMQ_ZAP_DOMAIN, DOMAIN, sizeof DOMAIN - 1) != 0)
        return pn_link_fail(err, "an option of a socket");
    if (zmq_setsockopt(z->socket, ZMQ_CURVE_SERVER, &on, sizeof on) != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "federated.zeromq: this libzmq was built without CURVE");
    if (zmq_setsockopt(z->socket, ZMQ_CURVE_SECRETKEY, options->keys.secret_key, PN_CURVE_TEXT) != 0)
        return pn_fail(err, PN_EINVAL, "federated.zeromq: the server's keys are no CURVE keys");
    return PN_OK;
}

static pn_status listen_at(pn_zeromq *z, const char *listen, pn_err *err)
{
    char place[256];
    size_t room = sizeof place;

    if (zmq_bind(z->socket, listen) != 0)
        return pn_fail(err, errno == ENOMEM ? PN_ENOMEM : PN_EIO, "federated.zeromq: cannot listen at %.200s: %s",
                       listen, zmq_strerror(errno));
    if (zmq_getsockopt(z->socket, ZMQ_LAST_ENDPOINT, place, &room) != 0)
        return pn_link_fail(err, "where it listens");
    z->endpoint = pn_strdup(place);
    return z->endpoint ? PN_OK : pn_fail(err, PN_ENOMEM, "federated.zeromq: out of memory for an address");
}

static pn_status open_sockets(pn_zeromq *z, const pn_zeromq_server_options *options, pn_err *err)
{
    pn_status status;

    z->members = pn_calloc(z->base.parties, sizeof *z->members);
    z->refusals = pn_calloc(z->base.parties, sizeof *z->refusals);
    PN_TRY(pn_made(z->members && z->refusals, err, "federated.zeromq: out of memory for %zu parties", z->base.parties));
    PN_TRY(pn_link_begin(&z->context, err));
    /* The gate first: nobody may come in before it is there. */
    PN_TRY(pn_gate_open(&z->gate, z->context, z->base.parties, options->public_keys, z->base.peers, err));
    PN_TRY(pn_link_socket(&z->socket, z->context, ZMQ_ROUTER, reply_bytes(&z->limits), QUEUE, err));
    status = set_router(z, options, err);
    return status == PN_OK ? listen_at(z, options->listen, err) : status;
}

pn_status pn_transport_zeromq(pn_transport **out, const pn_zeromq_server_options *options, pn_err *err)
{
    pn_status status = pn_link_check_endpoint(options->listen, "listen", err);
    pn_zeromq *z;

    *out = NULL;
    if (status != PN_OK)
        return status;
    if (!(options->timeout >= 0.0) || isinf(options->timeout))
        return pn_fail(err, PN_EINVAL, "federated.zeromq: timeout must be a number of seconds from 0, got %g",
                       options->timeout);
    PN_TRY(pn_new_zeroed(&z, 1, err, "federated.zeromq: out of memory for a server"));
    status = pn_transport_init(&z->base, &zeromq_ops, options->parties, err);
    if (status != PN_OK) {
        pn_free(z);
        return status;
    }
    z->process = (long)getpid();
    z->limits = pn_wire_limits_of(&options->limits);
    z->timeout = options->timeout > 0.0 ? options->timeout : TIMEOUT;
    z->log = options->log;
    z->log_self = options->log_self;
    status = take_names(z, options->names, err);
    if (status == PN_OK)
        status = open_sockets(z, options, err);
    if (status == PN_OK)
        *out = &z->base;
    else
        pn_transport_free(&z->base);
    return status;
}

const char *pn_zeromq_endpoint(const pn_transport *transport)
{
    return ((const pn_zeromq *)transport)->endpoint;
}
