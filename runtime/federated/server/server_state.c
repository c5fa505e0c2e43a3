/* server_state.c -- what a server needs to go on after a restart, in a checkpoint file: whose run it is, rounds,
 * x, which features it was
 * given.  Features themselves are asked for again.  Who the parties are is there for when a run is done and they are
 * gone.
 *     "PNFS" version, digest of the terms, run id, rounds, of how many, parties ...,
 *         features (party, column) ..., entries of x that are not 0
 *     (place, value) ...
 * Numbers are as the machine has them: checkpoint_file.h refuses another machine's files.
 * Depends on: server_impl.h, continual/checkpoint_file.h, libsodium.  Used by: server.c. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/size.h"
#include "federated/server/server_impl.h"

#define STATE_MAGIC   0x53464e50u /* "PNFS" */
#define STATE_VERSION 2u

static const pn_checkpoint_owner owner = { .name = "federated", .what = "federated run" };

typedef struct state_head {
    uint32_t magic, version;
    unsigned char digest[PN_SERVER_DIGEST], run[PN_RUN_ID];
    uint64_t rounds, iterations, parties, features, entries;
} state_head;

/* What a party said of itself. */
typedef struct state_peer {
    char name[PN_NAME_BYTES];
    uint64_t records, columns;
    unsigned char alignment[PN_DIGEST_BYTES];
    double feature_bound, label_bound;
} state_peer;

typedef struct state_feature {
    uint32_t party, column;
} state_feature;

typedef struct state_entry {
    uint64_t place;
    double value;
} state_entry;

/* ---- the terms as bytes: every field but the run's id ---- */

#define FEED(state, field) crypto_generichash_update(state, (const unsigned char *)&(field), sizeof(field))

static void feed_terms(crypto_generichash_state *state, const pn_terms *terms)
{
    const uint64_t counts[] = { (uint64_t)terms->mode,
                                (uint64_t)terms->loss,
                                (uint64_t)terms->neighbours,
                                terms->is_private,
                                terms->simulated,
                                terms->records,
                                terms->parties,
                                terms->iterations,
                                (uint64_t)terms->sketch.kind,
                                (uint64_t)terms->sketch.m,
                                (uint64_t)terms->sketch.n,
                                terms->sketch.seed,
                                terms->party,
                                terms->columns,
                                terms->sampled,
                                terms->stay };
    const double numbers[] = { terms->feature_bound, terms->label_bound,   terms->radius,      terms->epsilon0,
                               terms->laplace_scale, terms->sigma_feature, terms->sigma_score, terms->clip };

    FEED(state, counts);
    FEED(state, numbers);
    if (terms->positive)
        FEED(state, terms->positive);
    if (!terms->block)
        return;
    FEED(state, terms->features);
    crypto_generichash_update(state, (const unsigned char *)terms->block, terms->block_size * sizeof *terms->block);
}

static void digest_terms(const pn_server *self, unsigned char digest[PN_SERVER_DIGEST])
{
    crypto_generichash_state state;

    crypto_generichash_init(&state, NULL, 0, PN_SERVER_DIGEST);
    for (size_t k = 0; k < self->parties; k++)
        feed_terms(&state, &self->terms[k]);
    crypto_generichash_final(&state, digest, PN_SERVER_DIGEST);
}

/* ---- writing ---- */

static unsigned char *put(unsigned char *at, const void *what, size_t bytes)
{
    memcpy(at, what, bytes);
    return at + bytes;
}

static size_t state_bytes(const state_head *head)
{
    return sizeof *head + (size_t)head->parties * sizeof(state_peer) + (size_t)head->features * sizeof(state_feature) +
           (size_t)head->entries * sizeof(state_entry);
}

static state_peer peer_state(const pn_peer *peer)
{
    state_peer out;

    memset(&out, 0, sizeof out);
    memcpy(out.name, peer->name, sizeof out.name);
    out.records = peer->records;
    out.columns = peer->columns;
    memcpy(out.alignment, peer->alignment, sizeof out.alignment);
    out.feature_bound = peer->feature_bound;
    out.label_bound = peer->label_bound;
    return out;
}

static pn_status pack(const pn_server *self, uint64_t rounds, const double *x, unsigned char **out, size_t *size,
                      pn_err *err)
{
    state_head head = { .magic = STATE_MAGIC, .version = STATE_VERSION, .rounds = rounds };
    unsigned char *at;

    head.iterations = self->terms[0].iterations;
    head.parties = self->parties;
    head.features = self->feature_count;
    for (size_t i = 0; i < self->dim; i++)
        head.entries += x[i] != 0.0;
    digest_terms(self, head.digest);
    memcpy(head.run, self->terms[0].run, PN_RUN_ID);
    *size = state_bytes(&head);
    at = *out = pn_alloc(*size, 1);
    PN_TRY(pn_made(at, err, "federated: out of memory for a checkpoint of %zu bytes", *size));
    at = put(at, &head, sizeof head);
    for (size_t k = 0; k < self->parties; k++) {
        const state_peer peer = peer_state(&self->transport->peers[k]);

        at = put(at, &peer, sizeof peer);
    }
    for (size_t f = 0; f < self->feature_count; f++) {
        const state_feature feature = { self->features[f].party, self->features[f].column };

        at = put(at, &feature, sizeof feature);
    }
    for (size_t i = 0; i < self->dim; i++) {
        const state_entry entry = { i, x[i] };

        if (x[i] != 0.0)
            at = put(at, &entry, sizeof entry);
    }
    return PN_OK;
}

pn_status pn_server_record(pn_server *self, const char *path, pn_err *err)
{
    unsigned char *state = NULL;
    size_t size = 0;
    bool published;
    pn_status status = pack(self, 0, self->x, &state, &size, err);

    if (status == PN_OK)
        status = pn_checkpoint_make(&self->checkpoint, &owner, path, self->terms[0].run, PN_CHECKPOINT_FOLLOWED, state,
                                    size, &published, err);
    pn_free(state);
    return status;
}

pn_status pn_server_save(pn_server *self, uint64_t rounds, const double *x, pn_err *err)
{
    unsigned char *state = NULL;
    size_t size = 0;
    pn_status status;

    if (!self->checkpoint)
        return PN_OK;
    status = pack(self, rounds, x, &state, &size, err);
    if (status == PN_OK)
        status = pn_checkpoint_commit(self->checkpoint, PN_CHECKPOINT_FOLLOWED, state, size, err);
    pn_free(state);
    return status;
}

/* ---- reading: what the digests vouch for may still be of another run ---- */

static pn_status malformed(const pn_server *self, pn_err *err)
{
    return pn_fail(err, PN_EPARSE, "federated: %s is no checkpoint of a federated run",
                   pn_checkpoint_path(self->checkpoint));
}

/* The numbers of things are small before their bytes are counted. */
static bool read_head(state_head *head, const unsigned char *state, size_t size)
{
    if (size < sizeof *head)
        return false;
    memcpy(head, state, sizeof *head);
    return head->magic == STATE_MAGIC && head->version == STATE_VERSION && head->parties <= size &&
           head->features <= size && head->entries <= size && size == state_bytes(head) &&
           head->rounds <= head->iterations && head->iterations <= PN_SIZE_MAX; /* times parties: no more than 2^60 */
}

static pn_status check_head(const pn_server *self, const state_head *head, pn_err *err)
{
    unsigned char digest[PN_SERVER_DIGEST];

    digest_terms(self, digest);
    if (memcmp(digest, head->digest, sizeof digest) != 0)
        return pn_fail(
            err, PN_EINVAL,
            "federated: %s holds a run with other terms (parties, budget, rounds, radius, sketch ...); give the same "
            "ones, or another path",
            pn_checkpoint_path(self->checkpoint));
    return PN_OK;
}

static pn_status read_features(pn_server *self, const unsigned char *at, uint64_t count, pn_err *err)
{
    for (uint64_t f = 0; f < count; f++, at += sizeof(state_feature)) {
        pn_status status = pn_server_room(self, err);
        state_feature feature;

        if (status != PN_OK)
            return status;
        memcpy(&feature, at, sizeof feature);
        if (feature.party >= self->parties || feature.column >= self->terms[feature.party].columns ||
            self->cached[self->first[feature.party] + feature.column])
            return malformed(self, err);
        pn_server_add_feature(self, feature.party, feature.column, NULL);
    }
    return PN_OK;
}

static pn_status read_entries(pn_server *self, const unsigned char *at, uint64_t count, pn_err *err)
{
    for (uint64_t e = 0; e < count; e++, at += sizeof(state_entry)) {
        state_entry entry;

        memcpy(&entry, at, sizeof entry);
        if (entry.place >= self->dim || !isfinite(entry.value) || !self->cached[entry.place])
            return malformed(self, err);
        self->x[entry.place] = entry.value;
    }
    return PN_OK;
}

static pn_status unpack(pn_server *self, const unsigned char *state, size_t size, pn_err *err)
{
    state_head head;
    const unsigned char *at = state + sizeof head;
    pn_status status;

    if (!read_head(&head, state, size))
        return malformed(self, err);
    status = check_head(self, &head, err);
    if (status == PN_OK && head.parties != self->parties)
        return malformed(self, err);
    at += self->parties * sizeof(state_peer);
    if (status == PN_OK)
        status = read_features(self, at, head.features, err);
    if (status == PN_OK)
        status = read_entries(self, at + head.features * sizeof(state_feature), head.entries, err);
    if (status != PN_OK)
        return status;
    for (size_t k = 0; k < self->parties; k++)
        memcpy(self->terms[k].run, head.run, PN_RUN_ID);
    self->rounds = head.rounds;
    return PN_OK;
}

pn_status pn_server_resume(pn_server *self, const char *path, bool *there, pn_err *err)
{
    void *state = NULL;
    size_t size = 0;
    pn_status status;

    *there = access(path, F_OK) == 0;
    if (!*there)
        return PN_OK;
    status = pn_checkpoint_open(&self->checkpoint, &owner, path, &state, &size, err);
    if (status == PN_OK)
        status = unpack(self, state, size, err);
    pn_free(state);
    return status;
}

/* ---- runs that are done ---- */

/* Columns of x are those of the parties in their order: of the same names. */
static bool same_names(const pn_transport *transport, const unsigned char *at)
{
    bool same = true;

    for (size_t k = 0; k < transport->parties; k++, at += sizeof(state_peer)) {
        state_peer peer;

        memcpy(&peer, at, sizeof peer);
        same = same && strncmp(peer.name, transport->peers[k].name, sizeof peer.name) == 0;
    }
    return same;
}

static void recall_peers(pn_transport *transport, const unsigned char *at)
{
    for (size_t k = 0; k < transport->parties; k++, at += sizeof(state_peer)) {
        pn_message hello = { 0 };
        state_peer peer;

        memcpy(&peer, at, sizeof peer);
        memcpy(hello.name, peer.name, sizeof hello.name);
        hello.records = peer.records;
        hello.columns = peer.columns;
        memcpy(hello.alignment, peer.alignment, sizeof hello.alignment);
        hello.feature_bound = peer.feature_bound;
        hello.label_bound = peer.label_bound;
        pn_transport_meet(transport, k, &hello);
    }
}

static pn_status recall(pn_transport *transport, bool *done, pn_err *err)
{
    pn_checkpoint_file *file = NULL;
    void *state = NULL;
    size_t size = 0;
    state_head head;
    pn_status status;

    *done = false;
    if (access(transport->checkpoint, F_OK) != 0)
        return PN_OK;
    status = pn_checkpoint_open(&file, &owner, transport->checkpoint, &state, &size, err);
    if (status == PN_OK)
        *done = read_head(&head, state, size) && head.parties == transport->parties && head.rounds >= head.iterations &&
                same_names(transport, (const unsigned char *)state + sizeof head);
    if (*done)
        recall_peers(transport, (const unsigned char *)state + sizeof head);
    pn_checkpoint_close(file);
    pn_free(state);
    return status == PN_ENOMEM ? status : PN_OK; /* the run itself says what else is wrong with it */
}

pn_status pn_server_keep_at(pn_transport *transport, const char *path, pn_err *err)
{
    char *copy = pn_strdup(path);

    PN_TRY(pn_made(copy, err, "federated.%s: out of memory", transport->ops->name));
    pn_free(transport->checkpoint);
    transport->checkpoint = copy;
    transport->recall = recall;
    return PN_OK;
}
