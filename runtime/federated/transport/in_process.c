/* in_process.c -- the transport whose parties are in this process: the columns of one data set, split between them.
 * What is said goes through the bytes of wire.h all the same, so that sizes, limits and checks are those of a network.
 * Depends on: transport.h, party.h, wire.h.  Used by: bindings, tests. */
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "federated/transport/transport.h"
#include "federated/wire/wire.h"

typedef struct in_process {
    pn_transport base;   /* first */
    size_t *columns;     /* [parties]; NULL: as even as can be */
    pn_ledger **ledgers; /* [parties]; NULL: made for each run */
    pn_party **party;    /* [parties] of the last run; entries are NULL before */
    uint64_t stream;     /* of the run's generator, that of the first party of the last run */
} in_process;

static void forget_parties(in_process *self)
{
    for (size_t k = 0; self->party && k < self->base.parties; k++) {
        pn_party_free(self->party[k]);
        self->party[k] = NULL;
    }
}

static void in_process_destroy(pn_transport *transport)
{
    in_process *self = (in_process *)transport;

    forget_parties(self);
    for (size_t k = 0; self->ledgers && k < self->base.parties; k++)
        pn_ledger_free(self->ledgers[k]);
    pn_free(self->party);
    pn_free(self->ledgers);
    pn_free(self->columns);
    pn_transport_clear(&self->base);
    pn_free(self);
}

/* The next run may be of another objective: peers say what is known of it before. */
static void forget_split(in_process *self)
{
    for (size_t k = 0; k < self->base.parties; k++) {
        self->base.peers[k].columns = self->columns ? self->columns[k] : 0;
        self->base.peers[k].records = 0;
    }
}

/* ---- a run begins ---- */

static pn_status check_split(const in_process *self, size_t d, pn_err *err)
{
    size_t sum = 0;

    if (d < self->base.parties)
        return pn_fail(err, PN_EINVAL, "federated.in_process: %zu columns cannot be split over %zu parties", d,
                       self->base.parties);
    for (size_t k = 0; self->columns && k < self->base.parties; k++)
        sum += self->columns[k];
    if (self->columns && sum != d)
        return pn_fail(err, PN_EINVAL, "federated.in_process: the parties have %zu columns, the data has %zu", sum, d);
    return PN_OK;
}

/* Its own, or one that holds just what the run takes of a party.  The caller frees it. */
static pn_status ledger_of(const in_process *self, size_t k, const pn_transport_run *run, pn_ledger **out, pn_err *err)
{
    *out = NULL;
    if (!run->is_private)
        return PN_OK;
    if (!self->ledgers)
        return pn_ledger_new(out, &run->party, err);
    *out = pn_ledger_keep(self->ledgers[k]);
    return PN_OK;
}

static pn_status make_party(in_process *self, size_t k, size_t first, size_t columns, const pn_transport_run *run,
                            pn_err *err)
{
    pn_party_options options = { .name = self->base.peers[k].name,
                                 .data = pn_objective_data(run->objective),
                                 .first = first,
                                 .columns = columns,
                                 .overall = run->is_private ? run->overall : NULL,
                                 .nonprivate = !run->is_private };
    pn_rng *rng = NULL;
    pn_status status = ledger_of(self, k, run, &options.ledger, err);

    if (status == PN_OK && run->rng)
        status = pn_rng_split(&rng, run->rng, self->stream + (PN_MUTANT("parties_alike") ? 0 : k), err);
    options.rng = rng;
    if (status == PN_OK)
        status = pn_party_new(&self->party[k], &options, err);
    if (status == PN_OK) {
        pn_message hello = { 0 };

        pn_party_hello(self->party[k], &hello);
        pn_transport_meet(&self->base, k, &hello);
        pn_message_clear(&hello);
    }
    pn_ledger_free(options.ledger);
    pn_rng_free(rng);
    return status;
}

/* Splits do not depend on what was drawn: a generator that is used again must not give the noise of its last run
 * again. */
static void choose_stream(in_process *self, pn_rng *rng)
{
    bool untouched = rng && pn_rng_untouched(rng);
    uint64_t drawn = rng ? pn_rng_u64(rng) : 0;

    self->stream = untouched || PN_MUTANT("runs_alike") ? 0 : drawn;
}

static pn_status in_process_begin(pn_transport *transport, const pn_transport_run *run, pn_err *err)
{
    in_process *self = (in_process *)transport;
    size_t d = pn_objective_data(run->objective)->p, first = 0;
    pn_status status = check_split(self, d, err);

    forget_parties(self);
    choose_stream(self, run->rng);
    for (size_t k = 0; status == PN_OK && k < transport->parties; k++) {
        size_t columns = self->columns ? self->columns[k] : pn_terms_columns(d, transport->parties, k);

        status = make_party(self, k, first, columns, run, err);
        first += columns;
    }
    if (status != PN_OK) {
        forget_parties(self);
        forget_split(self);
    }
    return status;
}

/* ---- messages ---- */

/* What arrives when `message` is sent, and its traffic. */
static pn_status send(pn_transport *transport, size_t k, const pn_message *message, pn_message *arrived, bool up,
                      pn_err *err)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    pn_status status = pn_wire_write(message, &bytes, &size, err);

    if (status == PN_OK) {
        pn_transport_count(transport, k, message, size, up);
        status = pn_wire_read(arrived, bytes, size, NULL, err);
    }
    pn_free(bytes);
    return status;
}

static pn_status ask(in_process *self, size_t k, const pn_message *request, pn_message *reply, pn_task *task,
                     pn_err *err)
{
    pn_message heard = { 0 }, said = { 0 };
    pn_status status = send(&self->base, k, request, &heard, false, err);

    if (status == PN_OK)
        status = pn_party_answer(self->party[k], &heard, &said, task, err);
    if (status == PN_OK)
        status = send(&self->base, k, &said, reply, true, err);
    pn_message_clear(&heard);
    pn_message_clear(&said);
    return status;
}

/* One party after the other: each uses the task's threads. */
static pn_status in_process_exchange(pn_transport *transport, const pn_message *requests, pn_message *replies,
                                     pn_task *task, pn_err *err)
{
    in_process *self = (in_process *)transport;
    pn_status status = PN_OK;

    for (size_t k = 0; k < transport->parties && status == PN_OK; k++) {
        if (requests[k].kind != PN_MESSAGE_NONE)
            status = ask(self, k, &requests[k], &replies[k], task, err);
    }
    return status;
}

/* Nobody could do anything about a farewell that fails. */
static void in_process_end(pn_transport *transport, const pn_message *farewells)
{
    in_process *self = (in_process *)transport;

    for (size_t k = 0; k < transport->parties; k++) {
        pn_message heard = { 0 }, said = { 0 };

        if (farewells[k].kind != PN_MESSAGE_NONE && self->party[k] &&
            send(transport, k, &farewells[k], &heard, false, NULL) == PN_OK)
            (void)pn_party_answer(self->party[k], &heard, &said, NULL, NULL);
        pn_message_clear(&heard);
        pn_message_clear(&said);
    }
    forget_split(self);
}

static const pn_transport_ops in_process_ops = {
    .name = "in_process",
    .doc = "Parties in this process that share the columns of one data set: to learn, and to simulate.",
    .forgets = true,
    .charges = true,
    .destroy = in_process_destroy,
    .begin = in_process_begin,
    .exchange = in_process_exchange,
    .end = in_process_end,
};

/* ---- construction ---- */

static pn_status copy_columns(in_process *self, const size_t *columns, pn_err *err)
{
    if (!columns)
        return PN_OK;
    self->columns = pn_alloc(self->base.parties, sizeof *columns);
    PN_TRY(pn_made(self->columns, err, "federated.in_process: out of memory"));
    for (size_t k = 0; k < self->base.parties; k++) {
        if (columns[k] == 0)
            return pn_fail(err, PN_EINVAL, "federated.in_process: party %zu has no columns", k + 1);
        self->columns[k] = self->base.peers[k].columns = columns[k];
    }
    return PN_OK;
}

static pn_status keep_ledgers(in_process *self, pn_ledger *const *ledgers, pn_err *err)
{
    if (!ledgers)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&self->ledgers, self->base.parties, err, "federated.in_process: out of memory"));
    for (size_t k = 0; k < self->base.parties; k++)
        self->ledgers[k] = pn_ledger_keep(ledgers[k]);
    return PN_OK;
}

pn_status pn_transport_in_process(pn_transport **out, const pn_in_process_options *options, pn_err *err)
{
    in_process *self;
    pn_status status;

    PN_TRY(pn_new_zeroed(&self, 1, err, "federated.in_process: out of memory"));
    status = pn_transport_init(&self->base, &in_process_ops, options->parties, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    self->party = pn_calloc(options->parties, sizeof *self->party);
    status = self->party ? copy_columns(self, options->columns, err)
                         : pn_fail(err, PN_ENOMEM, "federated.in_process: out of memory");
    if (status == PN_OK)
        status = keep_ledgers(self, options->ledgers, err);
    if (status != PN_OK) {
        in_process_destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return PN_OK;
}

const pn_party *pn_in_process_party(const pn_transport *transport, size_t party)
{
    const in_process *self = (const in_process *)transport;

    return transport->ops == &in_process_ops && party < transport->parties ? self->party[party] : NULL;
}
