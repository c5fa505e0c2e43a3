/* transport.c -- the doors that every transport stands behind: counting of references and of traffic, and the check
 * that a reply answers its request.  Depends on: transport.h, server.h (recall).  Used by: server.c,
 * transports, bindings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "federated/transport/agreement.h"
#include "federated/transport/transport.h"

pn_status pn_transport_init(pn_transport *transport, const pn_transport_ops *ops, size_t parties, pn_err *err)
{
    if (parties == 0 || parties > PN_PARTIES_MAX)
        return pn_fail(err, PN_EINVAL, "federated.%s: parties must be a whole number from 1 to %d, got %zu", ops->name,
                       PN_PARTIES_MAX, parties);
    memset(transport, 0, sizeof *transport);
    PN_TRY(pn_new_zeroed(&transport->peers, parties, err, "federated.%s: out of memory for %zu parties", ops->name,
                         parties));
    transport->ops = ops;
    transport->parties = parties;
    transport->references = 1;
    for (size_t k = 0; k < parties; k++)
        (void)snprintf(transport->peers[k].name, sizeof transport->peers[k].name, "party %zu", k + 1);
    return PN_OK;
}

void pn_transport_clear(pn_transport *transport)
{
    pn_free(transport->peers);
    pn_free(transport->checkpoint);
    transport->peers = NULL;
    transport->checkpoint = NULL;
    transport->parties = 0;
}

pn_transport *pn_transport_keep(pn_transport *transport)
{
    transport->references++;
    return transport;
}

void pn_transport_free(pn_transport *transport)
{
    if (transport && --transport->references == 0)
        transport->ops->destroy(transport);
}

void pn_transport_count(pn_transport *transport, size_t party, const pn_message *message, size_t bytes, bool up)
{
    pn_peer *peer = &transport->peers[party];

    if (up) {
        peer->bytes_up += bytes;
        peer->scalars_up += pn_message_scalars(message);
        peer->messages_up++;
    } else {
        peer->bytes_down += bytes;
        peer->scalars_down += pn_message_scalars(message);
        peer->messages_down++;
    }
}

void pn_transport_meet(pn_transport *transport, size_t party, const pn_message *hello)
{
    pn_peer *peer = &transport->peers[party];

    memcpy(peer->name, hello->name, sizeof peer->name);
    peer->name[sizeof peer->name - 1] = '\0';
    peer->records = hello->records;
    peer->columns = hello->columns;
    memcpy(peer->alignment, hello->alignment, sizeof peer->alignment);
    memcpy(peer->session, hello->session, sizeof peer->session);
    peer->feature_bound = hello->feature_bound;
    peer->label_bound = hello->label_bound;
}

/* What parties say, or a file that remembers them, may be any number; all columns together are one dimension. */
static pn_status check_sizes(const pn_transport *transport, pn_err *err)
{
    size_t columns = 0;
    pn_status status = PN_OK;

    for (size_t k = 0; status == PN_OK && k < transport->parties; k++) {
        status = pn_size_check("federated", "a party's records", transport->peers[k].records, err);
        if (status == PN_OK)
            status = pn_size_sum(&columns, "federated", "the columns of the parties", columns,
                                 transport->peers[k].columns, err);
    }
    return status;
}

/* The head follows from the peers. */
static pn_status settle(pn_transport *transport, pn_err *err)
{
    pn_status status = pn_transport_agree(transport, err);

    if (status == PN_OK)
        status = check_sizes(transport, err);
    if (status != PN_OK)
        return status;
    transport->records = transport->peers[0].records;
    transport->feature_bound = transport->label_bound = 0.0;
    for (size_t k = 0; k < transport->parties; k++) {
        const pn_peer *peer = &transport->peers[k];

        transport->feature_bound = fmax(transport->feature_bound, peer->feature_bound);
        transport->label_bound = fmax(transport->label_bound, peer->label_bound);
    }
    return PN_OK;
}

pn_status pn_transport_gather(pn_transport *transport, pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    if (transport->gathered || !transport->ops->gather)
        return PN_OK;
    if (transport->checkpoint)
        PN_TRY(transport->recall(transport, &transport->recalled, err));
    status = transport->recalled ? PN_OK : transport->ops->gather(transport, task, err);
    if (status == PN_OK)
        status = settle(transport, err);
    transport->gathered = status == PN_OK;
    return status;
}

pn_status pn_transport_begin(pn_transport *transport, const pn_transport_run *run, pn_err *err)
{
    pn_status status = PN_OK;

    if (transport->running)
        return pn_fail(err, PN_EINVAL, "federated.%s: this transport carries another run; it carries one at a time",
                       transport->ops->name);
    for (size_t k = 0; k < transport->parties; k++) {
        pn_peer *peer = &transport->peers[k];

        peer->bytes_up = peer->bytes_down = peer->scalars_up = peer->scalars_down = 0;
        peer->messages_up = peer->messages_down = 0;
    }
    if (transport->ops->begin)
        status = transport->ops->begin(transport, run, err);
    transport->running = status == PN_OK;
    return status;
}

void pn_transport_end(pn_transport *transport, const pn_message *farewells)
{
    if (transport->running && farewells)
        transport->ops->end(transport, farewells);
    transport->running = false;
    if (transport->recalled) /* whoever takes part in another run has to come */
        transport->gathered = transport->recalled = false;
}

static void clear_all(pn_message *messages, size_t count)
{
    for (size_t k = 0; k < count; k++)
        pn_message_clear(&messages[k]);
}

/* Transports check this, too; a reply to another question must not reach the server whatever one of them forgets. */
static pn_status check_replies(const pn_transport *transport, const pn_message *requests, const pn_message *replies,
                               pn_err *err)
{
    for (size_t k = 0; k < transport->parties; k++) {
        if (!pn_message_answers(&requests[k], &replies[k]))
            return pn_fail(err, PN_EIO, "federated.%s: %s answered \"%s\" to \"%s\" of round %llu",
                           transport->ops->name, transport->peers[k].name, pn_message_names[replies[k].kind],
                           pn_message_names[requests[k].kind], (unsigned long long)requests[k].round);
    }
    return PN_OK;
}

pn_status pn_transport_exchange(pn_transport *transport, const pn_message *requests, pn_message *replies, pn_task *task,
                                pn_err *err)
{
    pn_status status;

    clear_all(replies, transport->parties);
    for (size_t k = 0; k < transport->parties; k++) {
        if (requests[k].kind != PN_MESSAGE_NONE && requests[k].party != k)
            return pn_fail(err, PN_EINVAL, "federated.%s: a request to party %u was given for party %zu",
                           transport->ops->name, requests[k].party, k);
    }
    status = transport->ops->exchange(transport, requests, replies, task, err);
    if (status == PN_OK)
        status = check_replies(transport, requests, replies, err);
    if (status != PN_OK)
        clear_all(replies, transport->parties);
    return status;
}

pn_status pn_transport_shape(const pn_transport *transport, pn_dataset **out, pn_err *err)
{
    double label = transport->label_bound;
    pn_record_bounds bounds = { .norm = { NAN, NAN, NAN }, .label_low = -label, .label_high = label };
    uint64_t columns = 0;

    if (!transport->gathered)
        return pn_fail(err, PN_EINVAL, "federated.%s: the parties are unknown until they have joined",
                       transport->ops->name);
    for (size_t k = 0; k < transport->parties; k++)
        columns += transport->peers[k].columns;
    bounds.norm[PN_LINF] = transport->feature_bound;
    return pn_dataset_absent(out, (size_t)transport->records, (size_t)columns, &bounds, "parties", err);
}
