/* server_talk.c -- requests, and what becomes of a run when a party refuses or answers what no party may.
 * Depends on: server_impl.h.  Used by: server.c, server_step.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "federated/server/server_impl.h"

/* Nothing goes on after this: the others are told why. */
static pn_status give_up(pn_server *self, pn_status status, pn_err *err)
{
    self->broken = true;
    (void)snprintf(self->farewell, sizeof self->farewell, "%.*s", PN_REASON_BYTES - 1, err ? err->message : "stopped");
    return status;
}

static pn_status refused(pn_server *self, size_t party, pn_err *err)
{
    const pn_message *reply = &self->replies[party];
    pn_status status = reply->status == PN_EBUDGET ? PN_EBUDGET : PN_EPRIVACY;
    pn_err own;

    (void)pn_fail(&own, status, "federated: %s refused: %.*s", self->transport->peers[party].name, PN_REASON_BYTES,
                  reply->reason);
    if (err)
        *err = own;
    return give_up(self, status, &own);
}

/* A party's answer is public: what is wrong with it may be said. */
pn_status pn_server_lied(pn_server *self, size_t party, const char *what, pn_err *err)
{
    pn_err own;

    (void)pn_fail(&own, PN_EIO, "federated: %s answered %s in round %llu; the run cannot go on with it",
                  self->transport->peers[party].name, what, (unsigned long long)self->rounds + 1);
    if (err)
        *err = own;
    return give_up(self, PN_EIO, &own);
}

pn_message *pn_server_request(pn_server *self, size_t party, pn_message_kind kind, uint64_t round)
{
    pn_message *message = &self->requests[party];

    *message = (pn_message){ .kind = kind, .party = (uint32_t)party, .round = round };
    message->score = message->stay_score = NAN;
    if (kind != PN_MESSAGE_NONE)
        memcpy(message->run, self->terms[0].run, PN_RUN_ID);
    return message;
}

pn_status pn_server_exchange(pn_server *self, pn_task *task, pn_err *err)
{
    pn_status status = pn_transport_exchange(self->transport, self->requests, self->replies, task, err);

    for (size_t k = 0; status == PN_OK && k < self->parties; k++) {
        if (self->replies[k].kind == PN_MESSAGE_REFUSED)
            status = refused(self, k, err);
    }
    return status;
}

/* x_k without its zeros, in the part of index and value that belongs to party k. */
void pn_server_attach_model(pn_server *self, size_t party, pn_message *message)
{
    size_t first = self->first[party], columns = (size_t)self->terms[party].columns, count = 0;

    for (size_t i = 0; i < columns; i++) {
        if (self->x[first + i] != 0.0) {
            self->index[first + count] = (uint32_t)i;
            self->value[first + count++] = self->x[first + i];
        }
    }
    message->count = count;
    message->index = count ? self->index + first : NULL;
    message->value = count ? self->value + first : NULL;
}
