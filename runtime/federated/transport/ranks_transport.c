/* ranks_transport.c -- federated runs over ranks: messages of wire.h between rank 0 and the others.
 * Depends on: ranks_transport.h, wire.h.  Used by: bindings. */
#include <string.h>

#include "core/alloc.h"
#include "federated/transport/ranks_transport.h"
#include "federated/wire/wire.h"

#define TICK           0.1 /* seconds between two looks at the task */
#define SERVER_TIMEOUT 60.0
#define PARTY_TIMEOUT  600.0
#define BYTES_MOST     ((size_t)1 << 28)

typedef struct over_ranks {
    pn_transport base; /* first */
    pn_ranks *ranks;
    double timeout;
} over_ranks;

/* ---- one message ---- */

/* *size: its bytes, for the accounts. */
static pn_status send_message(const pn_ranks *ranks, size_t to, const pn_message *message, size_t *size, pn_err *err)
{
    unsigned char *bytes = NULL;
    pn_status status = pn_wire_write(message, &bytes, size, err);

    if (status == PN_OK)
        status = pn_ranks_send(ranks, to, bytes, *size, err);
    pn_free(bytes);
    return status;
}

/* `who` is silent for `timeout` seconds: PN_EIO. */
static pn_status wait_for(const pn_ranks *ranks, size_t from, const char *who, double timeout, size_t *size,
                          pn_task *task, pn_err *err)
{
    double waited = 0.0;

    for (;;) {
        pn_status status = pn_ranks_probe(ranks, from, TICK, size, err);

        if (status == PN_OK && *size == 0)
            status = pn_task_report(task, "waiting for messages", 0.0, 0.0, err);
        if (status != PN_OK || *size > 0)
            return status;
        waited += TICK;
        if (waited >= timeout)
            return pn_fail(err, PN_EIO, "federated.mpi: %s (rank %zu) has not answered for %g s", who, from, timeout);
    }
}

static pn_status receive_message(const pn_ranks *ranks, size_t from, const char *who, double timeout, pn_message *out,
                                 size_t *size, pn_task *task, pn_err *err)
{
    unsigned char *bytes = NULL;
    pn_status status;

    PN_TRY(wait_for(ranks, from, who, timeout, size, task, err));
    if (*size > BYTES_MOST)
        return pn_fail(err, PN_EPARSE, "federated.mpi: a message of %s has %zu bytes; at most %zu are accepted", who,
                       *size, BYTES_MOST);
    PN_TRY(pn_new(&bytes, *size, err, "federated.mpi: out of memory for a message of %zu bytes", *size));
    status = pn_ranks_receive(ranks, from, bytes, *size, err);
    if (status == PN_OK)
        status = pn_wire_read(out, bytes, *size, NULL, err);
    pn_free(bytes);
    return status;
}

/* ---- the server's side ---- */

static void ranks_destroy(pn_transport *transport)
{
    over_ranks *self = (over_ranks *)transport;

    pn_ranks_free(self->ranks);
    pn_transport_clear(&self->base);
    pn_free(self);
}

static pn_status hear(over_ranks *self, size_t k, pn_message *out, size_t *size, pn_task *task, pn_err *err)
{
    return receive_message(self->ranks, k + 1, self->base.peers[k].name, self->timeout, out, size, task, err);
}

static pn_status ranks_gather(pn_transport *transport, pn_task *task, pn_err *err)
{
    over_ranks *self = (over_ranks *)transport;
    pn_message hello = { 0 };
    pn_status status = PN_OK;

    for (size_t k = 0; k < transport->parties && status == PN_OK; k++) {
        size_t size;

        do { /* what is left of another run is passed over */
            status = hear(self, k, &hello, &size, task, err);
        } while (status == PN_OK && hello.kind != PN_MESSAGE_HELLO);
        if (status == PN_OK)
            pn_transport_meet(transport, k, &hello);
    }
    pn_message_clear(&hello);
    return status;
}

/* A reply to this request: not a party's word that it is there again,
 * nor what was left unread of a call that failed. */
static bool answers(const pn_message *reply, const pn_message *request)
{
    return reply->kind != PN_MESSAGE_HELLO && memcmp(reply->run, request->run, PN_RUN_ID) == 0 &&
           reply->round == request->round;
}

static pn_status ranks_exchange(pn_transport *transport, const pn_message *requests, pn_message *replies, pn_task *task,
                                pn_err *err)
{
    over_ranks *self = (over_ranks *)transport;
    pn_status status = PN_OK;
    size_t size;

    for (size_t k = 0; k < transport->parties && status == PN_OK; k++) {
        if (requests[k].kind == PN_MESSAGE_NONE)
            continue;
        status = send_message(self->ranks, k + 1, &requests[k], &size, err);
        if (status == PN_OK)
            pn_transport_count(transport, k, &requests[k], size, false);
    }
    for (size_t k = 0; k < transport->parties && status == PN_OK; k++) {
        if (requests[k].kind == PN_MESSAGE_NONE)
            continue;
        do {
            status = hear(self, k, &replies[k], &size, task, err);
        } while (status == PN_OK && !answers(&replies[k], &requests[k]));
        if (status == PN_OK)
            pn_transport_count(transport, k, &replies[k], size, true);
    }
    return status;
}

/* Nobody could do anything about a farewell that fails. */
static void ranks_end(pn_transport *transport, const pn_message *farewells)
{
    over_ranks *self = (over_ranks *)transport;
    size_t size;

    for (size_t k = 0; k < transport->parties; k++) {
        if (farewells[k].kind != PN_MESSAGE_NONE &&
            send_message(self->ranks, k + 1, &farewells[k], &size, NULL) == PN_OK)
            pn_transport_count(transport, k, &farewells[k], size, false);
    }
}

static const pn_transport_ops ranks_ops = {
    .name = "mpi",
    .doc = "Rank 0 is the server, the other ranks of mpirun are the parties: to simulate at scale.",
    .destroy = ranks_destroy,
    .gather = ranks_gather,
    .exchange = ranks_exchange,
    .end = ranks_end,
};

pn_status pn_transport_ranks(pn_transport **out, pn_ranks *ranks, double timeout, pn_err *err)
{
    over_ranks *self;
    pn_status status;

    if (pn_ranks_rank(ranks) != 0)
        return pn_fail(err, PN_EINVAL, "federated.mpi: the server is rank 0; rank %zu is a party: let it serve",
                       pn_ranks_rank(ranks));
    if (pn_ranks_size(ranks) < 2)
        return pn_fail(err, PN_EINVAL,
                       "federated.mpi: there is one rank only; start K + 1 for K parties, as `mpirun -n 5`");
    PN_TRY(pn_new_zeroed(&self, 1, err, "federated.mpi: out of memory"));
    status = pn_transport_init(&self->base, &ranks_ops, pn_ranks_size(ranks) - 1, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    self->ranks = pn_ranks_keep(ranks);
    self->timeout = timeout > 0.0 ? timeout : SERVER_TIMEOUT;
    *out = &self->base;
    return PN_OK;
}

/* ---- a party's side ---- */

/* One request and its reply; *over: the run is. */
static pn_status serve_one(pn_party *party, const pn_ranks *ranks, double timeout, bool *over, pn_task *task,
                           pn_err *err)
{
    pn_message request = { 0 }, reply = { 0 };
    size_t size;
    pn_status status = receive_message(ranks, 0, "the server", timeout, &request, &size, task, err);

    if (status == PN_OK)
        status = pn_party_answer(party, &request, &reply, task, err);
    if (status == PN_OK && (request.kind == PN_MESSAGE_DONE || request.kind == PN_MESSAGE_REFUSED)) {
        pn_party_phase phase = pn_party_phase_of(party);

        *over = phase == PN_PARTY_DONE || phase == PN_PARTY_REFUSED;
    } else if (status == PN_OK && reply.kind != PN_MESSAGE_NONE) {
        status = send_message(ranks, 0, &reply, &size, err);
    }
    pn_message_clear(&request);
    pn_message_clear(&reply);
    return status;
}

pn_status pn_party_serve_ranks(pn_party *party, pn_ranks *ranks, double timeout, pn_task *task, pn_err *err)
{
    pn_message hello = { 0 };
    bool over = false;
    size_t size;
    pn_status status;

    if (pn_ranks_rank(ranks) == 0)
        return pn_fail(err, PN_EINVAL, "federated.mpi: rank 0 is the server; parties are the other ranks");
    pn_party_hello(party, &hello);
    status = send_message(ranks, 0, &hello, &size, err);
    pn_message_clear(&hello);
    while (status == PN_OK && !over)
        status = serve_one(party, ranks, timeout > 0.0 ? timeout : PARTY_TIMEOUT, &over, task, err);
    return status;
}
