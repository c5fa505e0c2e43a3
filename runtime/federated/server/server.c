/* server.c -- the server's side of a federated run: how it begins, ends and looks.
 * Depends on: server_impl.h, transport.h.  Used by: federated_frank_wolfe.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "federated/server/server_impl.h"
#include "random/rng.h"

/* ---- memory ---- */

static void free_features(pn_server *self)
{
    for (size_t f = 0; f < self->feature_count; f++)
        pn_free(self->features[f].vector);
    pn_free(self->features);
}

static void free_round(pn_server *self)
{
    for (size_t k = 0; self->replies && k < self->parties; k++)
        pn_message_clear(&self->replies[k]);
    pn_free(self->next_x);
    pn_free(self->next_q);
    pn_free(self->requests);
    pn_free(self->replies);
    pn_free(self->moves);
    for (size_t k = 0; self->choices && k < self->parties; k++)
        pn_choices_free(self->choices[k]);
    pn_free(self->choices);
    pn_free(self->vertex);
    pn_free(self->room);
    pn_free(self->next);
    pn_free(self->index);
    pn_free(self->value);
}

static void release(pn_server *self)
{
    free_features(self);
    free_round(self);
    for (size_t k = 0; self->terms && k < self->parties; k++)
        pn_terms_drop(&self->terms[k]);
    pn_free(self->terms);
    pn_free(self->first);
    pn_free(self->x);
    pn_free(self->q);
    pn_free(self->cached);
    pn_free(self->counts);
    pn_free(self->requested);
    pn_checkpoint_close(self->checkpoint);
    pn_ledger_free(self->overall);
    pn_event_free(self->selection);
    pn_event_free(self->feature);
    pn_transport_free(self->transport);
    pn_free(self);
}

static pn_status allocate(pn_server *self, pn_err *err)
{
    size_t parties = self->parties, dim = self->dim;

    self->x = pn_calloc(dim, sizeof *self->x);
    self->q = pn_calloc(self->m, sizeof *self->q);
    self->cached = pn_calloc(dim, sizeof *self->cached);
    self->counts = pn_calloc(parties, sizeof *self->counts);
    self->requested = pn_calloc(dim, 1);
    self->next_x = pn_alloc(dim, sizeof *self->next_x);
    self->next_q = pn_alloc(self->m, sizeof *self->next_q);
    self->requests = pn_calloc(parties, sizeof *self->requests);
    self->replies = pn_calloc(parties, sizeof *self->replies);
    self->moves = pn_alloc(parties, sizeof *self->moves);
    self->choices = pn_calloc(parties, sizeof(pn_choices *));
    self->vertex = pn_alloc(dim, sizeof *self->vertex);
    self->next = pn_alloc(parties, sizeof *self->next);
    self->index = pn_alloc(dim, sizeof *self->index);
    self->value = pn_alloc(dim, sizeof *self->value);
    if (self->x && self->q && self->cached && self->counts && self->requested && self->next_x && self->next_q &&
        self->requests && self->replies && self->moves && self->choices && self->vertex && self->next && self->index &&
        self->value)
        return PN_OK;
    return pn_fail(err, PN_ENOMEM, "federated: out of memory for %zu parties with %zu columns", parties, dim);
}

static pn_status open_blocks(pn_server *self, pn_err *err)
{
    size_t most = 0;

    for (size_t k = 0; k < self->parties; k++) {
        const pn_terms *terms = &self->terms[k];
        size_t width, room;

        if (!terms->block)
            continue;
        PN_TRY(pn_block_open(&self->choices[k], &width, terms->block, terms->block_size, (size_t)terms->columns, err));
        room = pn_choices_room(self->choices[k]) + (size_t)terms->columns;
        most = room > most ? room : most;
    }
    if (most == 0)
        return PN_OK;
    return pn_new(&self->room, most, err, "federated: out of memory for a vertex of %zu numbers", most);
}

pn_status pn_server_room(pn_server *self, pn_err *err)
{
    size_t room = self->feature_room ? 2 * self->feature_room : 16;
    pn_server_feature *grown;

    if (self->feature_count < self->feature_room)
        return PN_OK;
    grown = pn_resize(self->features, room, sizeof *grown);
    PN_TRY(pn_made(grown, err, "federated: out of memory for %zu features", room));
    self->features = grown;
    self->feature_room = room;
    return PN_OK;
}

void pn_server_add_feature(pn_server *self, uint32_t party, uint32_t column, double *vector)
{
    self->features[self->feature_count++] = (pn_server_feature){ party, column, vector };
    self->cached[self->first[party] + column] = self->feature_count;
    self->requests_made += !self->requested[self->first[party] + column];
    self->requested[self->first[party] + column] = 1;
    self->counts[party]++;
}

/* ---- beginning and end ---- */

static pn_status copy_terms(pn_server *self, const pn_terms *terms, pn_err *err)
{
    self->terms = pn_calloc(self->parties, sizeof *self->terms);
    self->first = pn_alloc(self->parties + 1, sizeof *self->first);
    PN_TRY(pn_made(self->terms && self->first, err, "federated: out of memory for the terms of %zu parties",
                   self->parties));
    self->first[0] = 0;
    self->p = 1.0;
    for (size_t k = 0; k < self->parties; k++) {
        PN_TRY(pn_terms_check(&terms[k], err));
        if (terms[k].parties != self->parties || terms[k].party != k)
            return pn_fail(err, PN_EINVAL, "federated: the terms are for %u parties, the transport has %zu",
                           terms[k].parties, self->parties);
        if ((terms[k].block != NULL) != (terms[0].block != NULL))
            return pn_fail(err, PN_EINVAL,
                           "federated: either all parties or none must have sets of their own, and party %zu "
                           "differs from the first",
                           k + 1);
        PN_TRY(pn_terms_copy(&self->terms[k], &terms[k], err));
        self->first[k + 1] = self->first[k] + (size_t)terms[k].columns;
        self->p = fmin(self->p, (double)terms[k].sampled / (double)terms[k].columns);
    }
    self->dim = self->first[self->parties];
    self->m = terms[0].sketch.m;
    return PN_OK;
}

/* Who is there is who the terms were made for. */
static pn_status check_peers(const pn_server *self, pn_err *err)
{
    for (size_t k = 0; k < self->parties; k++) {
        const pn_peer *peer = &self->transport->peers[k];
        const pn_terms *terms = &self->terms[k];

        if (peer->columns != terms->columns || peer->records != terms->records)
            return pn_fail(err, PN_EINVAL,
                           "federated: %s has %llu records and %llu columns, the plan was made for %llu and %llu",
                           peer->name, (unsigned long long)peer->records, (unsigned long long)peer->columns,
                           (unsigned long long)terms->records, (unsigned long long)terms->columns);
    }
    return PN_OK;
}

static pn_status draw_run(pn_server *self, pn_err *err)
{
    pn_rng *rng = NULL;

    PN_TRY(pn_rng_secure(&rng, err));
    pn_rng_bytes(rng, self->terms[0].run, PN_RUN_ID);
    for (size_t k = 1; k < self->parties; k++)
        memcpy(self->terms[k].run, self->terms[0].run, PN_RUN_ID);
    pn_rng_free(rng);
    return PN_OK;
}

static pn_status begin(pn_server *self, const char *checkpoint, pn_err *err)
{
    bool there = false;
    pn_status status = checkpoint ? pn_server_resume(self, checkpoint, &there, err) : PN_OK;

    if (status != PN_OK || there)
        return status;
    status = draw_run(self, err);
    return status == PN_OK && checkpoint ? pn_server_record(self, checkpoint, err) : status;
}

static pn_status send_terms(pn_server *self, pn_task *task, pn_err *err)
{
    for (size_t k = 0; k < self->parties; k++)
        pn_server_request(self, k, PN_MESSAGE_TERMS, 0)->terms = self->terms[k];
    return pn_server_exchange(self, task, err);
}

/* Nothing is left to be asked. */
static bool is_done(const pn_server *self)
{
    return self->rounds >= self->terms[0].iterations;
}

static pn_status check_memory(const pn_server_options *options, pn_err *err)
{
    const pn_transport_ops *ops = options->transport->ops;

    if (!options->checkpoint || !ops->forgets)
        return PN_OK;
    return pn_fail(err, PN_EINVAL,
                   "federated.%s: takes no checkpoint: its parties end with their run and forget what they have "
                   "released, so that a run cannot go on with them; leave checkpoint out, or run parties as processes",
                   ops->name);
}

static pn_status open_run(pn_server *self, const pn_server_options *options, pn_task *task, pn_err *err)
{
    pn_status status = check_memory(options, err);

    if (status == PN_OK)
        status = copy_terms(self, options->terms, err);
    if (status == PN_OK)
        status = allocate(self, err);
    if (status == PN_OK)
        status = open_blocks(self, err);
    if (status == PN_OK)
        status = pn_transport_gather(self->transport, task, err);
    if (status == PN_OK)
        status = check_peers(self, err);
    if (status == PN_OK)
        status = begin(self, options->checkpoint, err);
    if (status == PN_OK)
        status = pn_server_account(self, err);
    if (status == PN_OK && !(is_done(self) && self->transport->recalled)) /* else nobody is waited for */
        status = send_terms(self, task, err);
    if (status != PN_OK || is_done(self))
        return status;
    status = pn_server_fetch_again(self, task, err);
    if (status == PN_OK)
        pn_server_combine(self, self->x, self->q);
    return status;
}

static void keep_accounts(pn_server *self, const pn_server_options *options)
{
    if (!options->overall)
        return;
    self->overall = pn_ledger_keep(options->overall);
    self->selection = pn_event_keep(options->selection);
    self->feature = pn_event_keep(options->feature);
}

pn_status pn_server_new(pn_server **out, const pn_server_options *options, pn_task *task, pn_err *err)
{
    pn_server *self;
    pn_status status = pn_new_zeroed(&self, 1, err, "federated: out of memory");

    if (status != PN_OK) {
        pn_transport_end(options->transport, NULL);
        return status;
    }
    self->transport = pn_transport_keep(options->transport);
    self->parties = options->transport->parties;
    keep_accounts(self, options);
    status = open_run(self, options, task, err);
    if (status != PN_OK) {
        pn_server_free(self);
        return status;
    }
    self->asked = self->rounds;
    *out = self;
    return PN_OK;
}

pn_status pn_server_left(const pn_server_options *options, size_t features, bool *resumed, pn_event **out, pn_err *err)
{
    pn_server *self;
    pn_status status;

    *resumed = false;
    *out = NULL;
    PN_TRY(pn_new_zeroed(&self, 1, err, "federated: out of memory"));
    self->parties = options->terms[0].parties;
    keep_accounts(self, options);
    status = copy_terms(self, options->terms, err);
    if (status == PN_OK)
        status = allocate(self, err);
    if (status == PN_OK) {
        pn_status found = pn_server_resume(self, options->checkpoint, resumed, err);

        if (found != PN_OK)
            *resumed = false;
        status = found == PN_ENOMEM ? found : PN_OK; /* the run itself says what else is wrong with it */
    }
    if (status == PN_OK && *resumed)
        status = pn_server_account(self, err);
    if (status == PN_OK && *resumed && self->overall)
        status = pn_server_unpaid(self, features, out, err);
    release(self);
    return status;
}

void pn_server_finish(pn_server *self)
{
    if (self->finished)
        return;
    for (size_t k = 0; k < self->parties; k++)
        pn_server_attach_model(self, k, pn_server_request(self, k, PN_MESSAGE_DONE, self->rounds));
    pn_transport_end(self->transport, self->requests);
    self->finished = true;
}

/* Parties wait for a server that has a checkpoint; others, and those of a run that broke, are told. */
static void say_goodbye(pn_server *self)
{
    bool silent = (self->checkpoint && !self->broken) || !self->terms;

    for (size_t k = 0; k < self->parties; k++) {
        pn_message *message = pn_server_request(self, k, silent ? PN_MESSAGE_NONE : PN_MESSAGE_REFUSED, self->rounds);

        message->status = self->broken ? PN_EPRIVACY : PN_ECANCELLED;
        (void)snprintf(message->reason, sizeof message->reason, "%s", self->broken ? self->farewell : "stopped");
    }
    pn_transport_end(self->transport, self->requests);
}

void pn_server_free(pn_server *self)
{
    if (!self)
        return;
    if (!self->finished && self->requests)
        say_goodbye(self);
    pn_transport_end(self->transport, NULL); /* where nothing could be said */
    release(self);
}

/* ---- looking ---- */

uint64_t pn_server_rounds(const pn_server *self)
{
    return self->rounds;
}

uint64_t pn_server_asked(const pn_server *self)
{
    return self->asked;
}

void pn_server_model(const pn_server *self, double *x)
{
    memcpy(x, self->x, self->dim * sizeof *x);
}

const double *pn_server_margin(const pn_server *self)
{
    return self->q;
}

size_t pn_server_features(const pn_server *self, size_t party)
{
    return self->counts[party];
}

size_t pn_server_all_features(const pn_server *self)
{
    return self->feature_count;
}

size_t pn_server_asked_features(const pn_server *self)
{
    return self->requests_made;
}
