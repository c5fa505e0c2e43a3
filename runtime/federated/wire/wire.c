/* wire.c -- messages into bytes and back, by the Protocol Buffers of penumbra.proto.  Depends on: wire.h,
 * wire_check.h, libprotobuf-c.
 * Used by: transports.
 *
 * A reader meets bytes of somebody else.  The version is looked at before anything else.  The decoder takes its memory
 * from a purse that holds a small multiple of the message's length: bytes that would unfold into more are refused.
 * What it returns is encoded as long as the bytes were, or the bytes held something that does not belong there: unknown
 * fields, fields given twice, loose encodings.  Then the rules of wire_check.c are gone through. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/purse.h"
#include "federated/wire/block.h"
#include "federated/wire/penumbra.pb-c.h"
#include "federated/wire/wire.h"
#include "federated/wire/wire_check.h"

#define INDEX_FACTOR 4     /* an index takes a byte at least, and four when decoded; numbers take what they took */
#define PURSE_FLOOR  16384 /* structs, and the decoder's notes on their fields */

/* ---- writing: structs of the generated code that borrow everything from the message ---- */

typedef struct parcel {
    Penumbra__Envelope envelope;
    Penumbra__Hello hello;
    Penumbra__Terms terms;
    Penumbra__Ready ready;
    Penumbra__Round round;
    Penumbra__Choice choice;
    Penumbra__Fetch fetch;
    Penumbra__Feature feature;
    Penumbra__Done done;
    Penumbra__Refused refused;
    char reason[PN_REASON_BYTES];
} parcel;

static ProtobufCBinaryData borrow(const unsigned char *bytes, size_t size)
{
    return (ProtobufCBinaryData){ .len = size, .data = (uint8_t *)(uintptr_t)bytes };
}

static void pack_hello(parcel *p, const pn_message *m)
{
    p->hello = (Penumbra__Hello)PENUMBRA__HELLO__INIT;
    p->hello.name = (char *)(uintptr_t)m->name;
    p->hello.records = m->records;
    p->hello.columns = m->columns;
    p->hello.alignment = borrow(m->alignment, sizeof m->alignment);
    p->hello.session = borrow(m->session, sizeof m->session);
    p->hello.feature_bound = m->feature_bound;
    p->hello.label_bound = m->label_bound;
    p->envelope.hello = &p->hello;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_HELLO;
}

static void pack_terms(parcel *p, const pn_message *m)
{
    const pn_terms *t = &m->terms;

    p->terms = (Penumbra__Terms)PENUMBRA__TERMS__INIT;
    p->terms.mode = (Penumbra__Mode)t->mode;
    p->terms.loss = (Penumbra__Loss)t->loss;
    p->terms.neighbours = (Penumbra__Neighbours)t->neighbours;
    p->terms.is_private = t->is_private;
    p->terms.simulated = t->simulated;
    p->terms.records = t->records;
    p->terms.parties = t->parties;
    p->terms.iterations = t->iterations;
    p->terms.feature_bound = t->feature_bound;
    p->terms.label_bound = t->label_bound;
    p->terms.sketch_kind = (Penumbra__SketchKind)t->sketch.kind;
    p->terms.sketch_rows = t->sketch.m;
    p->terms.sketch_columns = t->sketch.n;
    p->terms.sketch_seed = t->sketch.seed;
    p->terms.columns = t->columns;
    p->terms.sampled = t->sampled;
    p->terms.radius = t->radius;
    p->terms.epsilon0 = t->epsilon0;
    p->terms.laplace_scale = t->laplace_scale;
    p->terms.sigma_feature = t->sigma_feature;
    p->terms.sigma_score = t->sigma_score;
    p->terms.clip = t->clip;
    p->terms.stay = t->stay;
    p->terms.positive = t->positive;
    p->terms.n_block = t->block_size;
    p->terms.block = t->block;
    p->terms.has_features = t->block != NULL;
    p->terms.features = t->features;
    p->envelope.terms = &p->terms;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_TERMS;
}

static void pack_ready(parcel *p, const pn_message *m)
{
    (void)m;
    p->ready = (Penumbra__Ready)PENUMBRA__READY__INIT;
    p->envelope.ready = &p->ready;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_READY;
}

static void pack_round(parcel *p, const pn_message *m)
{
    p->round = (Penumbra__Round)PENUMBRA__ROUND__INIT;
    p->round.n_index = p->round.n_value = m->count;
    p->round.index = m->index;
    p->round.value = m->value;
    p->round.n_q = m->size;
    p->round.q = m->vector;
    p->envelope.round_request = &p->round;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_ROUND_REQUEST;
}

static void pack_choice(parcel *p, const pn_message *m)
{
    p->choice = (Penumbra__Choice)PENUMBRA__CHOICE__INIT;
    p->choice.code = m->code;
    p->choice.has_score = !isnan(m->score);
    p->choice.score = m->score;
    p->choice.has_stay_score = !isnan(m->stay_score);
    p->choice.stay_score = m->stay_score;
    p->choice.n_pick = m->picks;
    p->choice.pick = m->pick;
    p->envelope.choice = &p->choice;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_CHOICE;
}

static void pack_fetch(parcel *p, const pn_message *m)
{
    p->fetch = (Penumbra__Fetch)PENUMBRA__FETCH__INIT;
    p->fetch.column = m->column;
    p->envelope.fetch = &p->fetch;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_FETCH;
}

static void pack_feature(parcel *p, const pn_message *m)
{
    p->feature = (Penumbra__Feature)PENUMBRA__FEATURE__INIT;
    p->feature.column = m->column;
    p->feature.n_vector = m->size;
    p->feature.vector = m->vector;
    p->envelope.feature = &p->feature;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_FEATURE;
}

static void pack_done(parcel *p, const pn_message *m)
{
    p->done = (Penumbra__Done)PENUMBRA__DONE__INIT;
    p->done.n_index = p->done.n_value = m->count;
    p->done.index = m->index;
    p->done.value = m->value;
    p->envelope.done = &p->done;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_DONE;
}

/* A reason may quote a path or a user's own words; the run must not end in silence because of a line break in it. */
static void pack_refused(parcel *p, const pn_message *m)
{
    memcpy(p->reason, m->reason, sizeof p->reason);
    p->reason[sizeof p->reason - 1] = '\0';
    pn_wire_clean(p->reason);
    p->refused = (Penumbra__Refused)PENUMBRA__REFUSED__INIT;
    p->refused.status = (Penumbra__Refused__Status)m->status;
    p->refused.reason = p->reason;
    p->envelope.refused = &p->refused;
    p->envelope.body_case = PENUMBRA__ENVELOPE__BODY_REFUSED;
}

static void pack(parcel *p, const pn_message *m)
{
    static void (*const packers[])(parcel *, const pn_message *) = {
        [PN_MESSAGE_HELLO] = pack_hello,     [PN_MESSAGE_TERMS] = pack_terms,   [PN_MESSAGE_READY] = pack_ready,
        [PN_MESSAGE_ROUND] = pack_round,     [PN_MESSAGE_CHOICE] = pack_choice, [PN_MESSAGE_FETCH] = pack_fetch,
        [PN_MESSAGE_FEATURE] = pack_feature, [PN_MESSAGE_DONE] = pack_done,     [PN_MESSAGE_REFUSED] = pack_refused,
    };

    p->envelope = (Penumbra__Envelope)PENUMBRA__ENVELOPE__INIT;
    p->envelope.version = PN_WIRE_VERSION;
    if (m->kind != PN_MESSAGE_HELLO) {
        p->envelope.has_run = p->envelope.has_party = true;
        p->envelope.run = borrow(m->run, sizeof m->run);
        p->envelope.party = m->party;
    }
    p->envelope.has_round = m->round != 0;
    p->envelope.round = m->round;
    packers[m->kind](p, m);
}

pn_status pn_wire_write(const pn_message *message, unsigned char **bytes, size_t *size, pn_err *err)
{
    const pn_wire_limits limits = pn_wire_limits_of(NULL);
    pn_status status = pn_wire_check(message, &limits, PN_EINVAL, err);
    parcel p;

    *bytes = NULL;
    *size = 0;
    if (status != PN_OK)
        return status;
    pack(&p, message);
    *size = penumbra__envelope__get_packed_size(&p.envelope);
    if (*size > limits.bytes)
        return pn_fail(err, PN_EINVAL, "wire: %s takes %zu bytes, at most %zu are accepted",
                       pn_message_names[message->kind], *size, limits.bytes);
    PN_TRY(pn_new(bytes, *size, err, "wire: out of memory for a message of %zu bytes", *size));
    (void)penumbra__envelope__pack(&p.envelope, *bytes);
    return PN_OK;
}

/* ---- reading: copy what the generated code found, each kind what it has ---- */

typedef struct reading {
    pn_message *out;
    const pn_wire_limits *limits;
    pn_err *err;
} reading;

static pn_status read_bytes(const reading *r, const char *what, unsigned char *out, size_t size,
                            const ProtobufCBinaryData *data)
{
    if (data->len != size)
        return pn_fail(r->err, PN_EPARSE, "wire: %s must have %zu bytes, got %zu", what, size, data->len);
    memcpy(out, data->data, size);
    return PN_OK;
}

static pn_status read_text(const reading *r, const char *what, char *out, size_t room, const char *text)
{
    size_t length = strlen(text);

    if (length >= room)
        return pn_fail(r->err, PN_EPARSE, "wire: %s must have at most %zu bytes, got %zu", what, room - 1, length);
    memcpy(out, text, length + 1);
    return PN_OK;
}

/* Sizes are looked at before room is made for them. */
static pn_status read_numbers(const reading *r, size_t count, const uint32_t *index, size_t values, const double *value,
                              size_t size, const double *vector)
{
    pn_message *m = r->out;

    if (count != values)
        return pn_fail(r->err, PN_EPARSE, "wire: x has %zu indices and %zu values", count, values);
    if (count > r->limits->block)
        return pn_fail(r->err, PN_EPARSE, "wire: x has %zu entries, at most %zu are accepted", count, r->limits->block);
    if (size > r->limits->vector)
        return pn_fail(r->err, PN_EPARSE, "wire: a vector of %zu numbers, at most %zu are accepted", size,
                       r->limits->vector);
    PN_TRY(pn_message_reserve(m, count, size, r->err));
    m->count = count;
    m->size = size;
    if (count > 0) {
        memcpy(m->index, index, count * sizeof *index);
        memcpy(m->value, value, count * sizeof *value);
    }
    if (size > 0)
        memcpy(m->vector, vector, size * sizeof *vector);
    return PN_OK;
}

static pn_status read_hello(const reading *r, const Penumbra__Hello *hello)
{
    pn_message *m = r->out;
    pn_status status = read_text(r, "name", m->name, sizeof m->name, hello->name);

    m->kind = PN_MESSAGE_HELLO;
    m->records = hello->records;
    m->columns = hello->columns;
    m->feature_bound = hello->feature_bound;
    m->label_bound = hello->label_bound;
    if (status == PN_OK)
        status = read_bytes(r, "alignment", m->alignment, sizeof m->alignment, &hello->alignment);
    if (status == PN_OK)
        status = read_bytes(r, "session", m->session, sizeof m->session, &hello->session);
    return status;
}

static pn_status read_block(const reading *r, const Penumbra__Terms *terms)
{
    pn_terms *t = &r->out->terms;

    if (terms->n_block > PN_BLOCK_NUMBERS_MAX)
        return pn_fail(r->err, PN_EPARSE, "wire: terms: a set of %zu numbers, at most %zu are accepted", terms->n_block,
                       PN_BLOCK_NUMBERS_MAX);
    if (terms->has_features != (terms->n_block > 0))
        return pn_fail(r->err, PN_EPARSE, "wire: terms: features and block come together");
    if (terms->n_block == 0)
        return PN_OK;
    PN_TRY(pn_new(&t->block, terms->n_block, r->err, "wire: out of memory for a set of %zu numbers", terms->n_block));
    memcpy(t->block, terms->block, terms->n_block * sizeof *t->block);
    t->block_size = terms->n_block;
    t->features = terms->features;
    return PN_OK;
}

static pn_status read_terms(const reading *r, const Penumbra__Terms *terms)
{
    pn_message *m = r->out;
    pn_terms *t = &m->terms;

    m->kind = PN_MESSAGE_TERMS;
    memcpy(t->run, m->run, sizeof t->run);
    t->party = m->party;
    t->mode = (pn_federated_mode)terms->mode;
    t->loss = (pn_federated_loss)terms->loss;
    t->neighbours = (pn_neighbours)terms->neighbours;
    t->is_private = terms->is_private;
    t->simulated = terms->simulated;
    t->records = terms->records;
    t->parties = terms->parties;
    t->iterations = terms->iterations;
    t->feature_bound = terms->feature_bound;
    t->label_bound = terms->label_bound;
    t->sketch.kind = (pn_sketch_kind)terms->sketch_kind;
    t->sketch.m = (size_t)terms->sketch_rows;
    t->sketch.n = (size_t)terms->sketch_columns;
    t->sketch.seed = terms->sketch_seed;
    t->columns = terms->columns;
    t->sampled = terms->sampled;
    t->radius = terms->radius;
    t->epsilon0 = terms->epsilon0;
    t->laplace_scale = terms->laplace_scale;
    t->sigma_feature = terms->sigma_feature;
    t->sigma_score = terms->sigma_score;
    t->clip = terms->clip;
    t->stay = terms->stay;
    t->positive = terms->positive;
    if (t->sketch.m != terms->sketch_rows || t->sketch.n != terms->sketch_columns)
        return pn_fail(r->err, PN_EPARSE, "wire: terms: a sketch of more rows or columns than this machine counts");
    return read_block(r, terms);
}

static pn_status read_choice(const reading *r, const Penumbra__Choice *choice)
{
    pn_message *m = r->out;

    m->kind = PN_MESSAGE_CHOICE;
    m->code = choice->code;
    m->score = choice->has_score ? choice->score : NAN;
    m->stay_score = choice->has_stay_score ? choice->stay_score : NAN;
    /* Absent is how "none" is said; a NaN that is sent is a number gone wrong. */
    if ((choice->has_score && isnan(m->score)) || (choice->has_stay_score && isnan(m->stay_score)))
        return pn_fail(r->err, PN_EPARSE, "wire: choice: a score is NaN");
    if (choice->n_pick > r->limits->block)
        return pn_fail(r->err, PN_EPARSE, "wire: choice: a vertex of %zu choices, at most %zu are accepted",
                       choice->n_pick, r->limits->block);
    PN_TRY(pn_message_reserve_picks(m, choice->n_pick, r->err));
    if (choice->n_pick > 0)
        memcpy(m->pick, choice->pick, choice->n_pick * sizeof *m->pick);
    return PN_OK;
}

static pn_status read_refused(const reading *r, const Penumbra__Refused *refused)
{
    r->out->kind = PN_MESSAGE_REFUSED;
    r->out->status = (pn_status)(int)refused->status;
    if (!pn_wire_printable(refused->reason, strlen(refused->reason) + 1))
        return pn_fail(r->err, PN_EPARSE, "wire: refused: reason must be printable text");
    return read_text(r, "reason", r->out->reason, sizeof r->out->reason, refused->reason);
}

static pn_status read_body(const reading *r, const Penumbra__Envelope *e)
{
    pn_message *m = r->out;

    switch (e->body_case) {
    case PENUMBRA__ENVELOPE__BODY_HELLO:
        return read_hello(r, e->hello);
    case PENUMBRA__ENVELOPE__BODY_TERMS:
        return read_terms(r, e->terms);
    case PENUMBRA__ENVELOPE__BODY_READY:
        m->kind = PN_MESSAGE_READY;
        return PN_OK;
    case PENUMBRA__ENVELOPE__BODY_ROUND_REQUEST:
        m->kind = PN_MESSAGE_ROUND;
        return read_numbers(r, e->round_request->n_index, e->round_request->index, e->round_request->n_value,
                            e->round_request->value, e->round_request->n_q, e->round_request->q);
    case PENUMBRA__ENVELOPE__BODY_CHOICE:
        return read_choice(r, e->choice);
    case PENUMBRA__ENVELOPE__BODY_FETCH:
        m->kind = PN_MESSAGE_FETCH;
        m->column = e->fetch->column;
        return PN_OK;
    case PENUMBRA__ENVELOPE__BODY_FEATURE:
        m->kind = PN_MESSAGE_FEATURE;
        m->column = e->feature->column;
        return read_numbers(r, 0, NULL, 0, NULL, e->feature->n_vector, e->feature->vector);
    case PENUMBRA__ENVELOPE__BODY_DONE:
        m->kind = PN_MESSAGE_DONE;
        return read_numbers(r, e->done->n_index, e->done->index, e->done->n_value, e->done->value, 0, NULL);
    case PENUMBRA__ENVELOPE__BODY_REFUSED:
        return read_refused(r, e->refused);
    default:
        return pn_fail(r->err, PN_EPARSE, "wire: a message without a body");
    }
}

static pn_status read_envelope(const reading *r, const Penumbra__Envelope *e)
{
    bool hello = e->body_case == PENUMBRA__ENVELOPE__BODY_HELLO;

    if (hello && (e->has_run || e->has_party || e->has_round))
        return pn_fail(r->err, PN_EPARSE, "wire: hello: has no run, party or round");
    if (!hello && (!e->has_run || !e->has_party))
        return pn_fail(r->err, PN_EPARSE, "wire: run or party is missing");
    if (e->has_round && e->round == 0)
        return pn_fail(r->err, PN_EPARSE, "wire: rounds begin at 1, got 0");
    r->out->party = e->party;
    r->out->round = e->round;
    if (!hello && read_bytes(r, "run", r->out->run, sizeof r->out->run, &e->run) != PN_OK)
        return PN_EPARSE;
    return read_body(r, e);
}

/* The field `version` must come first: what another version has behind it is not known here. */
static pn_status check_version(const unsigned char *bytes, size_t size, pn_err *err)
{
    uint64_t version = 0;
    size_t at = 1;

    if (size < 2 || bytes[0] != 0x08)
        return pn_fail(err, PN_EPARSE, "wire: %zu bytes that do not begin with a version", size);
    for (unsigned shift = 0; at < size && at <= 5; shift += 7) {
        version |= (uint64_t)(bytes[at] & 0x7f) << shift;
        if (bytes[at++] < 0x80) {
            if (version == PN_WIRE_VERSION)
                return PN_OK;
            return pn_fail(err, PN_EUNSUPPORTED, "wire: a message of version %llu, this program speaks version %d",
                           (unsigned long long)version, PN_WIRE_VERSION);
        }
    }
    return pn_fail(err, PN_EPARSE, "wire: %zu bytes that do not begin with a version", size);
}

/* Nothing but known fields, each once, encoded as every writer does: the same fields take as many bytes again. */
static bool is_plain(const Penumbra__Envelope *e, size_t size)
{
    /* All bodies begin with it, and share one pointer. */
    const ProtobufCMessage *body = e->body_case == PENUMBRA__ENVELOPE__BODY__NOT_SET ? NULL : &e->ready->base;

    return e->base.n_unknown_fields == 0 && (!body || body->n_unknown_fields == 0) &&
           penumbra__envelope__get_packed_size(e) == size;
}

static pn_status no_envelope(const pn_purse *money, size_t size, pn_err *err)
{
    if (money->refused)
        return pn_fail(err, PN_ENOMEM, "wire: out of memory for reading a message of %zu bytes", size);
    if (money->empty)
        return pn_fail(err, PN_EPARSE, "wire: %zu bytes that unfold into more than a message does", size);
    return pn_fail(err, PN_EPARSE, "wire: %zu bytes that are cut, damaged or without a field that their kind has",
                   size);
}

pn_status pn_wire_read(pn_message *out, const unsigned char *bytes, size_t size, const pn_wire_limits *limits,
                       pn_err *err)
{
    const pn_wire_limits accepted = pn_wire_limits_of(limits);
    const reading r = { out, &accepted, err };
    pn_purse money = { .left = size <= accepted.bytes ? INDEX_FACTOR * size + PURSE_FLOOR : 0 };
    ProtobufCAllocator allocator = { pn_purse_alloc, pn_purse_free, &money };
    Penumbra__Envelope *envelope;
    pn_status status;

    pn_message_clear(out);
    if (size > accepted.bytes)
        return pn_fail(err, PN_EPARSE, "wire: a message of %zu bytes, at most %zu are accepted", size, accepted.bytes);
    status = check_version(bytes, size, err);
    if (status != PN_OK)
        return status;
    envelope = penumbra__envelope__unpack(&allocator, size, bytes);
    if (!envelope)
        return no_envelope(&money, size, err);
    if (!is_plain(envelope, size))
        status = pn_fail(err, PN_EPARSE, "wire: %zu bytes with fields twice, unknown or loosely encoded", size);
    if (status == PN_OK)
        status = read_envelope(&r, envelope);
    penumbra__envelope__free_unpacked(envelope, &allocator);
    if (status == PN_OK)
        status = pn_wire_check(out, &accepted, PN_EPARSE, err);
    if (status != PN_OK)
        pn_message_clear(out);
    return status;
}
