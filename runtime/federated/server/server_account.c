/* server_account.c -- the overall ledger of a server whose parties do not charge it: each release is charged once,
 * whatever the server has died of in between.
 *
 * A charge is made before its request is sent.  After a restart the checkpoint tells rounds and features that are done,
 * and the ledger's file how many releases of each kind the run has paid for (labels carry the run, release.h): what is
 * paid for and not done is the beginning of what comes next, which is asked for again in the same order with the same
 * x.  So release number i of a kind is paid for if the ledger holds more than i of that kind.
 * Depends on: server_impl.h, release.h.  Used by: server.c, server_step.c.  See accounting.md section 7. */
#include <math.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "federated/server/server_impl.h"
#include "federated/wire/release.h"
#include "geometry/kernels/upper.h"

static bool has_scores(const pn_server *self)
{
    return self->terms[0].mode == PN_FEDERATED_BALL;
}

/* ---- what has been paid ---- */

/* A ledger without a file begins anew with its process: what was done before is not its business. */
static pn_status read_paid(pn_server *self, pn_release_kind kind, uint64_t done, pn_err *err)
{
    char label[PN_RELEASE_LABEL];

    pn_release_label(label, self->terms[0].run, 0, kind);
    self->paid[kind] = pn_release_charges(self->overall, label);
    if (self->paid[kind] >= done)
        return PN_OK;
    if (pn_ledger_path(self->overall))
        return pn_fail(err, PN_EPRIVACY,
                       "federated: %s knows of %llu releases (%s) and the ledger has paid for %llu: it is not the "
                       "ledger that this run began with, or an earlier copy of it",
                       pn_checkpoint_path(self->checkpoint), (unsigned long long)done, pn_release_names[kind],
                       (unsigned long long)self->paid[kind]);
    self->paid[kind] = done;
    return PN_OK;
}

pn_status pn_server_account(pn_server *self, pn_err *err)
{
    uint64_t rounds = self->rounds * self->parties;
    const uint64_t done[PN_RELEASE_KINDS] = { rounds, self->feature_count, has_scores(self) ? rounds : 0 };
    pn_status status = PN_OK;

    for (int kind = 0; status == PN_OK && self->overall && kind < PN_RELEASE_KINDS; kind++)
        status = read_paid(self, (pn_release_kind)kind, done[kind], err);
    return status;
}

/* ---- charging ---- */

/* So many of a kind are paid for afterwards; all that is missing at once, or nothing. */
static pn_status pay(pn_server *self, pn_release_kind kind, pn_event *event, uint64_t wanted, pn_err *err)
{
    char label[PN_RELEASE_LABEL];
    pn_status status;

    if (wanted <= self->paid[kind])
        return PN_OK;
    PN_CRASH("server_crash_before_charge");
    pn_release_label(label, self->terms[0].run, 0, kind);
    status = pn_ledger_spend(self->overall, event, (size_t)(wanted - self->paid[kind]), label, err);
    PN_CRASH("server_crash_charged");
    if (status == PN_OK)
        self->paid[kind] = wanted;
    return status;
}

/* As the party itself does (party_scores.c): from the entries that it is sent. */
static double weight_of(const pn_terms *terms, const pn_message *round)
{
    return fmin(pn_norm_upper(PN_L1, round->value, round->count) / terms->radius * (1.0 + 0x1p-50), 1.0);
}

/* Of party's score in the round whose requests are ready. */
static pn_status score_event(pn_event **out, const pn_server *self, size_t party, pn_err *err)
{
    const pn_terms *terms = &self->terms[party];

    return pn_release_score_event(out, terms, weight_of(terms, &self->requests[party]), err);
}

pn_status pn_server_charge_round(pn_server *self, pn_err *err)
{
    uint64_t before = self->rounds * self->parties;
    pn_status status = PN_OK;

    if (!self->overall)
        return PN_OK;
    status = pay(self, PN_RELEASE_SELECTION, self->selection, before + self->parties, err);
    for (size_t k = 0; status == PN_OK && has_scores(self) && k < self->parties; k++) {
        pn_event *event = NULL;

        status = score_event(&event, self, k, err);
        if (status == PN_OK)
            status = pay(self, PN_RELEASE_SCORE, event, before + k + 1, err);
        pn_event_free(event);
    }
    return status;
}

pn_status pn_server_charge_feature(pn_server *self, size_t party, size_t column, pn_err *err)
{
    unsigned char *requested = &self->requested[self->first[party] + column];
    pn_status status = PN_OK;

    if (*requested)
        return PN_OK;
    if (self->overall)
        status = pay(self, PN_RELEASE_FEATURE, self->feature, self->requests_made + 1, err);
    if (status == PN_OK) {
        *requested = 1;
        self->requests_made++;
    }
    return status;
}

/* ---- what is still to be charged ---- */

pn_status pn_server_spread_score(pn_event **out, const pn_terms *terms, pn_err *err)
{
    return pn_release_score_event(out, terms, sqrt(1.0 / (double)terms->parties), err);
}

typedef struct parts {
    pn_event **event; /* [3 + parties] */
    size_t used;
} parts;

static pn_status add(parts *to, pn_event *event, uint64_t all, uint64_t paid, pn_err *err)
{
    pn_status status;

    if (!event || paid >= all)
        return PN_OK;
    status = pn_event_repeated(&to->event[to->used], event, (size_t)(all - paid), err);
    to->used += status == PN_OK;
    return status;
}

/* Of the next round those that are not paid, with the x that it is asked about; of later ones,
 * whose x is not known, the most. */
static pn_status add_scores(pn_server *self, parts *to, pn_err *err)
{
    uint64_t next = (self->rounds + 1) * self->parties, paid = self->paid[PN_RELEASE_SCORE];
    pn_event *spread = NULL;
    pn_status status = pn_server_spread_score(&spread, &self->terms[0], err);

    if (status == PN_OK)
        status = add(to, spread, self->terms[0].iterations * self->parties, paid > next ? paid : next, err);
    pn_event_free(spread);
    for (size_t k = 0; status == PN_OK && k < self->parties; k++) {
        if (self->rounds * self->parties + k < paid)
            continue;
        pn_server_attach_model(self, k, pn_server_request(self, k, PN_MESSAGE_ROUND, self->rounds + 1));
        status = score_event(&to->event[to->used], self, k, err);
        to->used += status == PN_OK;
    }
    return status;
}

pn_status pn_server_unpaid(pn_server *self, size_t features, pn_event **out, pn_err *err)
{
    parts to = { pn_calloc(3 + self->parties, sizeof *to.event), 0 };
    uint64_t rounds = self->terms[0].iterations;
    pn_status status = PN_OK;

    *out = NULL;
    PN_TRY(pn_made(to.event, err, "federated: out of memory for the price of a run"));
    if (self->rounds < rounds) {
        status = add(&to, self->selection, rounds * self->parties, self->paid[PN_RELEASE_SELECTION], err);
        if (status == PN_OK)
            status = add(&to, self->feature, features, self->paid[PN_RELEASE_FEATURE], err);
        if (status == PN_OK && has_scores(self))
            status = add_scores(self, &to, err);
    }
    if (status == PN_OK && to.used > 0)
        status = pn_event_compose(out, to.event, to.used, err);
    while (to.used > 0)
        pn_event_free(to.event[--to.used]);
    pn_free(to.event);
    return status;
}
