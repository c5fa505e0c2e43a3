/* party.c -- requests and their answers: what is served, what is refused, and when a reply is recorded.
 * An answer is charged, drawn, recorded (durably where there is a checkpoint), and only then handed out.
 * Depends on: party_impl.h, libsodium.  Used by: transports, bindings.  Source: Lou, Cheung (2018),
 * Algorithm 2, corrected. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "core/process.h"
#include "core/size.h"
#include "core/view.h"
#include "federated/party/party_impl.h"
#include "geometry/kernels/upper.h"

#define OUTSIDE (1.0 + 1e-9) /* x_k may be, by the rounding of who sent it */

/* ---- what is asked ---- */

static pn_status check_same_run(const pn_party *party, const pn_message *request, pn_err *err)
{
    if (party->phase == PN_PARTY_NEW)
        return pn_fail(err, PN_EINVAL, "party: %s before terms", pn_message_names[request->kind]);
    if (memcmp(request->run, party->terms.run, PN_RUN_ID) != 0 || request->party != party->terms.party)
        return pn_fail(err, PN_EINVAL, "party: %s for another run, or another party", pn_message_names[request->kind]);
    return PN_OK;
}

static pn_status check_run(const pn_party *party, const pn_message *request, pn_err *err)
{
    PN_TRY(check_same_run(party, request, err));
    if (party->phase != PN_PARTY_READY && party->phase != PN_PARTY_RUNNING)
        return pn_fail(err, PN_EINVAL, "party: %s after the end of the run; the same terms again go on with it",
                       pn_message_names[request->kind]);
    return PN_OK;
}

static pn_status check_model(const pn_party *party, const pn_message *request, pn_err *err)
{
    size_t columns = party->data.columns;

    if (request->count > columns || (request->count > 0 && (!request->index || !request->value)))
        return pn_fail(err, PN_EDIM, "party: x has %zu entries, this party has %zu columns", request->count, columns);
    for (size_t k = 0; k < request->count; k++) {
        if (request->index[k] >= columns || (k > 0 && request->index[k] <= request->index[k - 1]))
            return pn_fail(err, PN_EINVAL,
                           "party: index %zu of x must be above the one before it and within the %zu columns", k + 1,
                           columns);
    }
    if (pn_first_nonfinite(request->value, request->count) != request->count)
        return pn_fail(err, PN_EDOMAIN, "party: entry %zu of x is not finite",
                       pn_first_nonfinite(request->value, request->count) + 1);
    if (!(pn_norm_upper(PN_L1, request->value, request->count) <= party->terms.radius * OUTSIDE))
        return pn_fail(err, PN_EDOMAIN, "party: x has l1 norm %g, beyond the radius %g",
                       pn_norm_upper(PN_L1, request->value, request->count), party->terms.radius);
    return PN_OK;
}

static pn_status check_round(const pn_party *party, const pn_message *request, pn_err *err)
{
    size_t m = party->terms.sketch.m, bad;

    if (request->round > party->terms.iterations)
        return pn_fail(err, PN_EINVAL, "party: round %llu of %llu", (unsigned long long)request->round,
                       (unsigned long long)party->terms.iterations);
    if (request->round != party->rounds + 1)
        return pn_fail(err, PN_EINVAL, "party: round %llu was asked, and the next one is %zu",
                       (unsigned long long)request->round, party->rounds + 1);
    if (request->size != m || !request->vector)
        return pn_fail(err, PN_EDIM, "party: q has %zu entries, the sketch has %zu rows", request->size, m);
    bad = pn_first_nonfinite(request->vector, m);
    if (bad != m)
        return pn_fail(err, PN_EDOMAIN, "party: entry %zu of q is not finite", bad + 1);
    return check_model(party, request, err);
}

/* Of everything that an answer depends on. */
static void digest_of(unsigned char out[PN_DIGEST_BYTES], const pn_message *request)
{
    const uint64_t whole[] = { request->round, request->count, request->size };
    crypto_generichash_state hash;

    (void)crypto_generichash_init(&hash, NULL, 0, PN_DIGEST_BYTES);
    (void)crypto_generichash_update(&hash, (const unsigned char *)whole, sizeof whole);
    if (request->count > 0 && request->index && request->value) {
        (void)crypto_generichash_update(&hash, (const unsigned char *)request->index,
                                        request->count * sizeof *request->index);
        (void)crypto_generichash_update(&hash, (const unsigned char *)request->value,
                                        request->count * sizeof *request->value);
    }
    if (request->size > 0 && request->vector)
        (void)crypto_generichash_update(&hash, (const unsigned char *)request->vector,
                                        request->size * sizeof *request->vector);
    (void)crypto_generichash_final(&hash, out, PN_DIGEST_BYTES);
}

/* ---- answers ---- */

static void begin_reply(pn_message *reply, const pn_message *request, pn_message_kind kind)
{
    reply->kind = kind;
    memcpy(reply->run, request->run, PN_RUN_ID);
    reply->party = request->party;
    reply->round = request->round;
    reply->score = reply->stay_score = NAN;
}

static pn_status give_choice(pn_message *reply, const pn_message *request, const pn_party *party, pn_err *err)
{
    size_t number = (size_t)request->round - 1, each = party->each;
    const party_reply *stored = &party->replies[number];

    PN_TRY(pn_message_reserve_picks(reply, each, err));
    begin_reply(reply, request, PN_MESSAGE_CHOICE);
    reply->code = stored->code;
    reply->score = stored->score;
    reply->stay_score = stored->stay_score;
    if (each > 0)
        memcpy(reply->pick, party->picks + number * each, each * sizeof *reply->pick);
    return PN_OK;
}

static pn_status room_for_reply(pn_party *party, pn_err *err)
{
    size_t room = party->room ? 2 * party->room : 16;
    party_reply *more;
    uint32_t *picks;

    if (party->rounds < party->room)
        return PN_OK;
    more = pn_resize(party->replies, room, sizeof *more);
    PN_TRY(pn_made(more, err, "party: out of memory for %zu replies", room));
    party->replies = more;
    if (party->each > 0) {
        picks = room <= PN_SIZE_MAX / party->each ? pn_resize(party->picks, room * party->each, sizeof *picks) : NULL;
        PN_TRY(pn_made(picks, err, "party: out of memory for %zu replies of %zu choices", room, party->each));
        party->picks = picks;
    }
    party->room = room;
    return PN_OK;
}

/* What a failure to record takes back: nothing of the release has left. */
typedef struct before {
    pn_party_phase phase;
    size_t rounds;
    uint64_t count[PARTY_KINDS], known[2][PARTY_KINDS];
} before;

static before remember(const pn_party *party)
{
    before old = { .phase = party->phase, .rounds = party->rounds };

    memcpy(old.count, party->count, sizeof old.count);
    for (int a = 0; a < 2; a++)
        memcpy(old.known[a], party->accounts[a].known, sizeof old.known[a]);
    return old;
}

static void take_back(pn_party *party, const before *old)
{
    party->phase = old->phase;
    party->rounds = old->rounds;
    memcpy(party->count, old->count, sizeof old->count);
    for (int a = 0; a < 2; a++)
        memcpy(party->accounts[a].known, old->known[a], sizeof old->known[a]);
}

static size_t column_of(int64_t code)
{
    return (size_t)(code > 0 ? code : -code) - 1;
}

/* Columns that the choice moves are ones that may be asked for. */
static void mark_chosen(pn_party *party, const party_reply *stored, const double *vertex)
{
    if (stored->code)
        party->state[column_of(stored->code)] |= PARTY_CHOSEN;
    for (size_t i = 0; vertex && i < party->data.columns; i++)
        party->state[i] |= vertex[i] != 0.0 ? PARTY_CHOSEN : 0;
}

/* vertex  of a block [columns], else NULL.  was[columns]: room. */
static pn_status record_choice(pn_party *party, const party_reply *stored, const double *vertex, unsigned char *was,
                               pn_err *err)
{
    before old = remember(party);
    pn_status status;

    party->replies[party->rounds++] = *stored;
    party->phase = PN_PARTY_RUNNING;
    party->count[PARTY_SELECTION]++;
    party_accounts_settle(party, PARTY_SELECTION);
    if (party->terms.mode == PN_FEDERATED_BALL) {
        party->count[PARTY_SCORE]++;
        party_accounts_settle(party, PARTY_SCORE);
    }
    memcpy(was, party->state, party->data.columns);
    mark_chosen(party, stored, vertex);
    PN_CRASH("party_crash_drawn");
    status = party_checkpoint_write(party, err);
    PN_CRASH("party_crash_recorded");
    if (status == PN_OK)
        return PN_OK;
    take_back(party, &old);
    memcpy(party->state, was, party->data.columns);
    return status;
}

/* A round that has not been answered. */
static pn_status answer_anew(pn_party *party, const pn_message *request, party_reply *fresh, pn_task *task, pn_err *err)
{
    party_scores scores = { 0 };
    unsigned char *was = NULL;
    pn_status status = check_round(party, request, err);

    if (status == PN_OK)
        status = party_prepare(party, task, err);
    if (status == PN_OK)
        status = room_for_reply(party, err);
    if (status == PN_OK)
        status = pn_new(&was, party->data.columns, err, "party: out of memory for %zu columns", party->data.columns);
    if (status == PN_OK)
        status = party_scores_of(party, request, &scores, task, err);
    if (status == PN_OK)
        status = party_choose(party, request->round, &scores, fresh,
                              party->each ? party->picks + party->rounds * party->each : NULL, err);
    if (status == PN_OK)
        status = record_choice(party, fresh, scores.vertex, was, err);
    party_scores_clear(&scores);
    pn_free(was);
    return status;
}

static pn_status answer_round(pn_party *party, const pn_message *request, pn_message *reply, pn_task *task, pn_err *err)
{
    party_reply fresh;

    PN_TRY(check_run(party, request, err));
    digest_of(fresh.digest, request);
    if (request->round < 1 || request->round > party->rounds)
        PN_TRY(answer_anew(party, request, &fresh, task, err));
    else if (memcmp(party->replies[request->round - 1].digest, fresh.digest, PN_DIGEST_BYTES) != 0)
        return pn_fail(err, PN_EPRIVACY, "party: round %llu was answered for another x or q",
                       (unsigned long long)request->round);
    return give_choice(reply, request, party, err);
}

static pn_status record_feature(pn_party *party, uint32_t column, pn_err *err)
{
    before old = remember(party);
    pn_status status;

    if (party->state[column] & PARTY_RELEASED)
        return PN_OK;
    party->state[column] |= PARTY_RELEASED;
    party->count[PARTY_FEATURE]++;
    party_accounts_settle(party, PARTY_FEATURE);
    PN_CRASH("party_crash_drawn_feature");
    status = party_checkpoint_write(party, err);
    PN_CRASH("party_crash_recorded_feature");
    if (status == PN_OK)
        return PN_OK;
    take_back(party, &old);
    party->state[column] &= (unsigned char)~PARTY_RELEASED;
    return status;
}

static pn_status answer_fetch(pn_party *party, const pn_message *request, pn_message *reply, pn_task *task, pn_err *err)
{
    uint32_t column = request->column;
    pn_status status = check_run(party, request, err);

    if (status == PN_OK && (column >= party->data.columns || !(party->state[column] & PARTY_CHOSEN)))
        status = pn_fail(err, PN_EPRIVACY, "party: column %lu is not one that this party has chosen",
                         (unsigned long)column + 1);
    if (status == PN_OK)
        status = party_prepare(party, task, err);
    if (status == PN_OK)
        status = pn_message_reserve(reply, 0, party->terms.sketch.m, err);
    if (status == PN_OK)
        status = party_feature(party, column, (party->state[column] & PARTY_RELEASED) != 0, reply->vector, err);
    if (status == PN_OK)
        status = record_feature(party, column, err);
    if (status != PN_OK) {
        pn_message_clear(reply);
        return status;
    }
    begin_reply(reply, request, PN_MESSAGE_FEATURE);
    reply->column = column;
    return PN_OK;
}

static pn_status answer_terms(pn_party *party, const pn_message *request, pn_message *reply, pn_task *task, pn_err *err)
{
    pn_status status = party_begin(party, request, task, err);

    if (status == PN_OK)
        begin_reply(reply, request, PN_MESSAGE_READY);
    return status;
}

/* ---- the end of a run ---- */

static pn_status copy_last(pn_party *party, const pn_message *from, pn_err *err)
{
    pn_message copy = { 0 };

    PN_TRY(pn_message_reserve(&copy, from->count, 0, err));
    pn_message_clear(&party->last);
    party->last = *from;
    party->last.terms = (pn_terms){ .block = NULL };
    party->last.pick = NULL;
    party->last.picks = 0;
    party->last.index = copy.index;
    party->last.value = copy.value;
    party->last.vector = NULL;
    party->last.size = 0;
    for (size_t k = 0; k < from->count; k++) {
        copy.index[k] = from->index[k];
        copy.value[k] = from->value[k];
    }
    return PN_OK;
}

/* Nothing is answered.  Who says that it is over need not know of a run: the party may have refused it. */
static pn_status end_run(pn_party *party, const pn_message *request, pn_err *err)
{
    static const unsigned char nobody[PN_RUN_ID];
    bool done = request->kind == PN_MESSAGE_DONE;
    pn_status status = done ? check_same_run(party, request, err) : PN_OK;

    if (status == PN_OK && done)
        status = check_model(party, request, err);
    if (status == PN_OK && !done && party->phase != PN_PARTY_NEW &&
        memcmp(request->run, party->terms.run, PN_RUN_ID) != 0 && memcmp(request->run, nobody, PN_RUN_ID) != 0)
        return PN_OK; /* of a run that is not this one */
    if (status == PN_OK)
        status = copy_last(party, request, err);
    if (status != PN_OK)
        return status;
    if (done)
        memset(party->model, 0, party->data.columns * sizeof *party->model);
    for (size_t k = 0; done && k < request->count; k++)
        party->model[request->index[k]] = request->value[k];
    party->phase = done ? PN_PARTY_DONE : PN_PARTY_REFUSED;
    party_run_rest(&party->run); /* fits and transports that are kept would hold sketches of many megabytes */
    return party_checkpoint_write(party, err);
}

/* ---- the door ---- */

static pn_status serve(pn_party *party, const pn_message *request, pn_message *reply, pn_task *task, pn_err *err)
{
    if (party->owner != pn_process())
        return pn_fail(err, PN_EPRIVACY,
                       "party: the process that opened this party must use it; a forked child would draw the same "
                       "noise again");
    switch (request->kind) {
    case PN_MESSAGE_TERMS:
        return answer_terms(party, request, reply, task, err);
    case PN_MESSAGE_ROUND:
        return answer_round(party, request, reply, task, err);
    case PN_MESSAGE_FETCH:
        return answer_fetch(party, request, reply, task, err);
    case PN_MESSAGE_DONE:
    case PN_MESSAGE_REFUSED:
        return end_run(party, request, err);
    default:
        return pn_fail(err, PN_EINVAL, "party: a message of kind %d is not for a party", (int)request->kind);
    }
}

/* Of the machine or the user, not of the request. */
static bool is_failure(pn_status status)
{
    return status == PN_ENOMEM || status == PN_EIO || pn_is_stop(status) || status == PN_ECALLBACK;
}

pn_status pn_party_answer(pn_party *party, const pn_message *request, pn_message *reply, pn_task *task, pn_err *err)
{
    pn_err why = { 0 };
    pn_status status;

    pn_message_clear(reply);
    status = serve(party, request, reply, task, &why);
    if (status == PN_OK)
        return PN_OK;
    if (is_failure(status)) {
        pn_message_clear(reply);
        return pn_fail(err, status, "%s", why.message);
    }
    pn_message_refuse(reply, request, &why);
    return PN_OK;
}
