/* message.c -- messages: memory, refusals, what answers what, and how many numbers one holds.
 * Depends on: message.h, core.  Used by: parties, server, transports. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "federated/wire/message.h"

const char *const pn_message_names[] = { "none",  "hello",   "terms", "ready",   "round", "choice",
                                         "fetch", "feature", "done",  "refused", NULL };

void pn_message_clear(pn_message *message)
{
    pn_free(message->index);
    pn_free(message->value);
    pn_free(message->vector);
    pn_free(message->pick);
    pn_terms_drop(&message->terms);
    memset(message, 0, sizeof *message);
}

pn_status pn_message_reserve(pn_message *message, size_t count, size_t size, pn_err *err)
{
    uint32_t *index = count ? pn_alloc(count, sizeof *index) : NULL;
    double *value = count ? pn_alloc(count, sizeof *value) : NULL;
    double *vector = size ? pn_alloc(size, sizeof *vector) : NULL;

    if ((count && (!index || !value)) || (size && !vector)) {
        pn_free(index);
        pn_free(value);
        pn_free(vector);
        return pn_fail(err, PN_ENOMEM, "federated: out of memory for a message of %zu and %zu numbers", count, size);
    }
    pn_free(message->index);
    pn_free(message->value);
    pn_free(message->vector);
    message->count = count;
    message->index = index;
    message->value = value;
    message->size = size;
    message->vector = vector;
    return PN_OK;
}

pn_status pn_message_reserve_picks(pn_message *message, size_t picks, pn_err *err)
{
    uint32_t *pick = picks ? pn_alloc(picks, sizeof *pick) : NULL;

    PN_TRY(pn_made(pick || picks == 0, err, "federated: out of memory for a vertex of %zu choices", picks));
    pn_free(message->pick);
    message->picks = picks;
    message->pick = pick;
    return PN_OK;
}

void pn_message_refuse(pn_message *message, const pn_message *request, const pn_err *err)
{
    pn_message answer = { .kind = PN_MESSAGE_REFUSED, .score = NAN, .stay_score = NAN };

    if (request) {
        memcpy(answer.run, request->run, PN_RUN_ID);
        answer.party = request->party;
        answer.round = request->round;
    }
    answer.status = err ? err->status : PN_EINVAL;
    (void)snprintf(answer.reason, sizeof answer.reason, "%.*s", PN_REASON_BYTES - 1, err ? err->message : "refused");
    pn_message_clear(message);
    *message = answer;
}

static pn_message_kind answer_to(pn_message_kind request)
{
    switch (request) {
    case PN_MESSAGE_TERMS:
        return PN_MESSAGE_READY;
    case PN_MESSAGE_ROUND:
        return PN_MESSAGE_CHOICE;
    case PN_MESSAGE_FETCH:
        return PN_MESSAGE_FEATURE;
    default:
        return PN_MESSAGE_NONE;
    }
}

bool pn_message_answers(const pn_message *request, const pn_message *reply)
{
    pn_message_kind wanted = answer_to(request->kind);

    if (wanted == PN_MESSAGE_NONE)
        return reply->kind == PN_MESSAGE_NONE;
    if (reply->party != request->party || reply->round != request->round ||
        memcmp(reply->run, request->run, PN_RUN_ID) != 0)
        return false;
    if (reply->kind == PN_MESSAGE_REFUSED)
        return true;
    return reply->kind == wanted && (wanted != PN_MESSAGE_FEATURE || reply->column == request->column);
}

size_t pn_message_scalars(const pn_message *message)
{
    switch (message->kind) {
    case PN_MESSAGE_ROUND:
    case PN_MESSAGE_DONE:
        return 2 * message->count + message->size;
    case PN_MESSAGE_CHOICE:
        return (message->picks > 0 ? message->picks : 1) + (size_t)!isnan(message->score) +
               (size_t)!isnan(message->stay_score);
    case PN_MESSAGE_FETCH:
        return 1;
    case PN_MESSAGE_FEATURE:
        return message->size;
    default:
        return 0;
    }
}
