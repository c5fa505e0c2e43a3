/* server_state.c -- what a server needs to go on after a restart, in a checkpoint file: whose run it is, rounds, x, which features it was
 * given.  Features themselves are asked for again.
 *     "PNFS" version, digest of the terms, run id, rounds, features (party, column) ..., entries of x that are not 0 (place, value) ...
 * Numbers are as the machine has them: checkpoint_file.h refuses another machine's files.
 * Depends on: server_impl.h, continual/checkpoint_file.h, libsodium.  Used by: server.c. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "federated/server_impl.h"

#define STATE_MAGIC   0x53464e50u /* "PNFS" */
#define STATE_VERSION 1u

typedef struct state_head {
    uint32_t magic, version;
    unsigned char digest[PN_SERVER_DIGEST], run[PN_RUN_ID];
    uint64_t rounds, features, entries;
} state_head;

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

static pn_status pack(const pn_server *self, uint64_t rounds, const double *x, unsigned char **out, size_t *size,
                      pn_err *err)
{
    state_head head = { .magic = STATE_MAGIC, .version = STATE_VERSION, .rounds = rounds };
    unsigned char *at;

    head.features = self->feature_count;
    for (size_t i = 0; i < self->dim; i++)
        head.entries += x[i] != 0.0;
    digest_terms(self, head.digest);
    memcpy(head.run, self->terms[0].run, PN_RUN_ID);
    *size = sizeof head + self->feature_count * sizeof(state_feature) + (size_t)head.entries * sizeof(state_entry);
    at = *out = pn_alloc(*size, 1);
    if (!at)
        return pn_fail(err, PN_ENOMEM, "federated: out of memory for a checkpoint of %zu bytes", *size);
    at = put(at, &head, sizeof head);
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
        status = pn_checkpoint_make(&self->checkpoint, path, self->terms[0].run, PN_CHECKPOINT_FOLLOWED, state, size,
                                    &published, err);
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

static pn_status check_head(const pn_server *self, const state_head *head, size_t size, pn_err *err)
{
    unsigned char digest[PN_SERVER_DIGEST];
    uint64_t most = (size - sizeof *head) / sizeof(state_feature);

    if (head->magic != STATE_MAGIC || head->version != STATE_VERSION || head->features > most ||
        head->entries > self->dim ||
        size != sizeof *head + head->features * sizeof(state_feature) + head->entries * sizeof(state_entry))
        return malformed(self, err);
    digest_terms(self, digest);
    if (memcmp(digest, head->digest, sizeof digest) != 0)
        return pn_fail(
            err, PN_EINVAL,
            "federated: %s holds a run with other terms (parties, budget, rounds, radius, sketch ...); give the "
            "same ones, or another path",
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
    pn_status status;

    if (size < sizeof head)
        return malformed(self, err);
    memcpy(&head, state, sizeof head);
    status = check_head(self, &head, size, err);
    if (status == PN_OK)
        status = read_features(self, state + sizeof head, head.features, err);
    if (status == PN_OK)
        status = read_entries(self, state + sizeof head + head.features * sizeof(state_feature), head.entries, err);
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
    status = pn_checkpoint_open(&self->checkpoint, path, &state, &size, err);
    if (status == PN_OK)
        status = unpack(self, state, size, err);
    pn_free(state);
    return status;
}
