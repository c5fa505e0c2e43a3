/* party_terms.c -- a run begins: are the terms ones that this party can keep, does its ledger cover them;
 * then J A and A^T y, once.
 * Depends on: party_impl.h, libsodium.  Used by: party.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/size.h"
#include "federated/party/party_impl.h"

/* ---- what the terms are ---- */

static void feed(crypto_generichash_state *hash, const void *data, size_t size)
{
    (void)crypto_generichash_update(hash, data, size);
}

/* Field by field: what lies between them is nobody's. */
static void digest_terms(unsigned char out[PN_DIGEST_BYTES], const pn_terms *t)
{
    const uint64_t whole[] = { (uint64_t)t->mode,
                               (uint64_t)t->loss,
                               (uint64_t)t->neighbours,
                               t->is_private,
                               t->simulated,
                               t->records,
                               t->parties,
                               t->iterations,
                               (uint64_t)t->sketch.kind,
                               t->sketch.m,
                               t->sketch.n,
                               t->sketch.seed,
                               t->party,
                               t->columns,
                               t->sampled,
                               t->stay };
    const double real[] = { t->feature_bound, t->label_bound,   t->radius,      t->epsilon0,
                            t->laplace_scale, t->sigma_feature, t->sigma_score, t->clip };
    crypto_generichash_state hash;

    (void)crypto_generichash_init(&hash, NULL, 0, PN_DIGEST_BYTES);
    feed(&hash, t->run, sizeof t->run);
    feed(&hash, whole, sizeof whole);
    feed(&hash, real, sizeof real);
    if (t->positive)
        feed(&hash, &t->positive, sizeof t->positive);
    if (t->block) {
        feed(&hash, &t->features, sizeof t->features);
        feed(&hash, t->block, t->block_size * sizeof *t->block);
    }
    (void)crypto_generichash_final(&hash, out, PN_DIGEST_BYTES);
}

/* ---- whether they can be kept ---- */

static pn_status check_sizes(const pn_party *party, const pn_terms *t, pn_err *err)
{
    if (t->records != party->data.n || t->sketch.n != party->data.n)
        return pn_fail(err, PN_EDIM, "party: the terms are for %llu records, this party has %zu",
                       (unsigned long long)t->records, party->data.n);
    if (t->columns != party->data.columns)
        return pn_fail(err, PN_EDIM, "party: the terms give it %llu columns, it has %zu",
                       (unsigned long long)t->columns, party->data.columns);
    if (t->sketch.m > pn_sketch_rows_most(party->data.n))
        return pn_fail(err, PN_EINVAL, "party: a sketch of %zu rows for %zu records; take at most %zu", t->sketch.m,
                       party->data.n, pn_sketch_rows_most(party->data.n));
    return PN_OK;
}

static pn_status check_bound(const char *what, double stated, double enforced, pn_err *err)
{
    if (!(enforced > 0.0))
        return pn_fail(err, PN_EPRIVACY, "party: its data enforce no bound on %ss, and the terms are private", what);
    if (!(stated >= enforced))
        return pn_fail(err, PN_EPRIVACY, "party: the terms say that every |%s| is at most %g, it enforces %g", what,
                       stated, enforced);
    return PN_OK;
}

static pn_status check_privacy(const pn_party *party, const pn_terms *t, pn_err *err)
{
    const pn_ledger *ledger = party->accounts[0].ledger;
    pn_status status;

    if (!t->is_private)
        return party->nonprivate ? PN_OK
                                 : pn_fail(err, PN_EPRIVACY,
                                           "party: the terms are without noise, and this party accepts private ones "
                                           "only; nonprivate = true accepts them");
    if (!ledger)
        return pn_fail(err, PN_EPRIVACY, "party: it has no ledger, and the terms are private");
    if (t->simulated != party->key.simulated)
        return pn_fail(err, PN_EPRIVACY, "party: the terms are for %s noise and this party's is %s",
                       t->simulated ? "simulated (seeded)" : "real", party->key.simulated ? "seeded" : "real");
    if (t->simulated && !pn_ledger_budget(ledger)->teaching)
        return pn_fail(err, PN_EPRIVACY,
                       "party: the noise is simulated (no privacy) and its ledger is a real budget; use one with "
                       "teaching = true");
    if (t->mode == PN_FEDERATED_PAPER && !t->simulated)
        return pn_fail(
            err, PN_EPRIVACY,
            "party: nothing is proven of mode \"paper\", so it takes seeded noise only: rng=pn.rng.seeded(1)");
    status = check_bound("feature", t->feature_bound, party->feature_bound, err);
    return status == PN_OK ? check_bound("label", t->label_bound, party->label_bound, err) : status;
}

static pn_status check_terms(const pn_party *party, const pn_message *request, pn_err *err)
{
    const pn_terms *t = &request->terms;
    pn_status status = pn_terms_check(t, err);

    if (status == PN_OK && (memcmp(t->run, request->run, PN_RUN_ID) != 0 || t->party != request->party))
        status = pn_fail(err, PN_EINVAL, "party: the message and the terms in it are of different runs or parties");
    if (status == PN_OK)
        status = check_sizes(party, t, err);
    if (status == PN_OK && t->loss == PN_FEDERATED_LOGISTIC && !party->labels_binary)
        status = pn_fail(err, PN_EDOMAIN, "party: the logistic loss needs labels -1 and 1, and its labels are others");
    return status == PN_OK ? check_privacy(party, t, err) : status;
}

/* Whether the ledgers allow them is looked at when the run goes on. */
bool party_terms_fit(const pn_party *party)
{
    unsigned char digest[PN_DIGEST_BYTES];

    if (pn_terms_check(&party->terms, NULL) != PN_OK || check_sizes(party, &party->terms, NULL) != PN_OK)
        return false;
    digest_terms(digest, &party->terms);
    return memcmp(digest, party->terms_digest, sizeof digest) == 0 && party->rounds <= party->terms.iterations;
}

/* ---- what is made of them ---- */

static pn_status multiply(pn_party *party, pn_task *task, pn_err *err)
{
    party_run *run = &party->run;
    const party_data *data = &party->data;
    size_t c = data->columns, m = party->terms.sketch.m, numbers;

    PN_TRY(pn_new(&run->products, c, err, "party: out of memory for %zu columns", c));
    for (size_t i = 0; i < c; i++)
        run->products[i] = party_column_dot(data, i, data->y);
    if (party->terms.sketch.kind == PN_SKETCH_IDENTITY)
        return PN_OK;
    run->sketched = pn_size_multiply(&numbers, c, m) ? pn_alloc_large(numbers, sizeof *run->sketched) : NULL;
    PN_TRY(pn_made(run->sketched, err, "party: out of memory for %zu columns of a sketch with %zu rows", c, m));
    return data->is_sparse ? pn_sketch_sparse_columns(run->sketch, &data->sparse, run->sketched, task, err)
                           : pn_sketch_columns(run->sketch, data->dense, c, run->sketched, task, err);
}

static void feed_columns(crypto_generichash_state *hash, const party_data *data)
{
    size_t c = data->columns;

    if (!data->is_sparse) {
        feed(hash, data->dense, c * data->n * sizeof(double));
        return;
    }
    feed(hash, data->sparse.start, (c + 1) * sizeof *data->sparse.start);
    feed(hash, data->sparse.column, data->sparse.start[c] * sizeof *data->sparse.column);
    feed(hash, data->sparse.value, data->sparse.start[c] * sizeof *data->sparse.value);
}

/* Keyed, because it is of records.  Noise at an address belongs to these numbers to the last bit: neither other data
 * nor another processor's rounding may get it.  By records scores come from columns and labels themselves,
 * which sketch and products do not determine. */
static void digest_run(pn_party *party)
{
    const party_data *data = &party->data;
    size_t c = data->columns, m = party->terms.sketch.m;
    crypto_generichash_state hash;

    (void)crypto_generichash_init(&hash, party->key.bytes, sizeof party->key.bytes, PN_DIGEST_BYTES);
    feed(&hash, party->run.products, c * sizeof(double));
    feed(&hash, data->y, data->n * sizeof(double));
    if (party->run.sketched)
        feed(&hash, party->run.sketched, c * m * sizeof(double));
    if (!party->run.sketched || party_by_records(&party->terms))
        feed_columns(&hash, data);
    (void)crypto_generichash_final(&hash, party->run.digest, PN_DIGEST_BYTES);
}

/* The set is the server's; what its choices cost is found from it here.  Others count on that no party uploads more
 * than the terms say. */
static pn_status open_block(pn_party *party, pn_err *err)
{
    const pn_terms *t = &party->terms;
    party_run *run = &party->run;

    run->width = 1;
    if (!t->block)
        return PN_OK;
    PN_TRY(pn_block_open(&run->choices, &run->width, t->block, t->block_size, (size_t)t->columns, err));
    if (pn_release_features(t, run->width) > t->features)
        return pn_fail(err, PN_EPRIVACY,
                       "party: the terms let no party upload more than %llu columns, and its own set may take %llu",
                       (unsigned long long)t->features, (unsigned long long)pn_release_features(t, run->width));
    return PN_OK;
}

void party_run_rest(party_run *run)
{
    pn_sketch_free(run->sketch);
    pn_free(run->sketched);
    run->sketch = NULL;
    run->sketched = NULL;
}

void party_run_clear(party_run *run)
{
    party_run_rest(run);
    pn_free(run->products);
    pn_loss_free(run->loss);
    pn_choices_free(run->choices);
    for (int kind = 0; kind < PARTY_KINDS; kind++)
        pn_event_free(run->price[kind]);
    memset(run, 0, sizeof *run);
}

static pn_status make_run(pn_party *party, pn_task *task, pn_err *err)
{
    pn_status status = open_block(party, err);

    if (status == PN_OK)
        status = pn_sketch_new(&party->run.sketch, &party->terms.sketch, task, err);
    if (status == PN_OK && party->terms.loss == PN_FEDERATED_LOGISTIC)
        status = pn_loss_from_args(&party->run.loss, pn_federated_loss_names[PN_FEDERATED_LOGISTIC], NULL, err);
    if (status == PN_OK)
        status = multiply(party, task, err);
    if (status == PN_OK)
        status = party_price(&party->run, &party->terms, err);
    if (status == PN_OK)
        digest_run(party);
    return status;
}

/* The ledger covers what is still to be paid of the whole run. */
static pn_status cover(const pn_party *party, const party_account *account, bool reserve, pn_err *err)
{
    uint64_t counts[PARTY_KINDS];
    pn_event *event = NULL;
    pn_status status;

    if (!account->ledger)
        return PN_OK;
    party_most(party, counts);
    for (int kind = 0; kind < PARTY_KINDS; kind++) {
        uint64_t paid = party->count[kind] + (account->there[kind] > account->known[kind]);

        counts[kind] = counts[kind] > paid ? counts[kind] - paid : 0;
    }
    status = party_price_all(&event, &party->run, counts, err);
    if (status == PN_OK && event)
        status = reserve ? pn_ledger_reserve(account->ledger, event, 1, err)
                         : pn_ledger_covers(account->ledger, event, 1, err);
    pn_event_free(event);
    return status;
}

/* Terms beyond the owner's cap for a person, before anything is charged. */
static pn_status check_person(const pn_party *party, pn_err *err)
{
    const pn_terms *t = &party->terms;
    double epsilon = NAN;
    pn_status status;

    if (!(party->person_epsilon > 0.0))
        return PN_OK;
    if (!t->is_private || t->mode == PN_FEDERATED_PAPER)
        return pn_fail(err, PN_EPRIVACY,
                       "party: the terms prove no epsilon for a person, and its person_epsilon is %g; the server must "
                       "plan with noise and a mode that is proven, or the party opened without person_epsilon",
                       party->person_epsilon);
    status = party_person_epsilon(&epsilon, party, err);
    if (status == PN_OK && !(epsilon <= party->person_epsilon))
        return pn_fail(err, PN_EBUDGET,
                       "party: the terms let %lu parties spend epsilon %.6g at delta %g on one person, and its "
                       "person_epsilon is %g; the server must plan fewer rounds or more noise, or the party raise "
                       "person_epsilon",
                       (unsigned long)t->parties, epsilon, party_delta(party), party->person_epsilon);
    return status;
}

pn_status party_prepare(pn_party *party, pn_task *task, pn_err *err)
{
    static const unsigned char none[PN_DIGEST_BYTES];
    pn_status status = PN_OK;

    if (party->run.sketch)
        return PN_OK;
    party_run_clear(&party->run);
    status = make_run(party, task, err);
    if (status == PN_OK && party->phase != PN_PARTY_NEW &&
        party->each != (party->run.choices ? party->run.choices->picks : 0))
        status = pn_fail(err, PN_EPARSE,
                         "party: its checkpoint has %zu choices for each round, and its terms ask for others; it is "
                         "no checkpoint of this run",
                         party->each);
    if (status == PN_OK && memcmp(party->run_digest, none, sizeof none) != 0 &&
        memcmp(party->run_digest, party->run.digest, sizeof none) != 0)
        status = pn_fail(err, PN_EPRIVACY,
                         "party: its data, or what this machine computes of them, are not those that this run began "
                         "with: their noise must not be drawn again for others");
    if (status == PN_OK)
        status = check_person(party, err);
    if (status == PN_OK && party->terms.is_private)
        status = cover(party, &party->accounts[0], true, err);
    if (status == PN_OK && party->terms.is_private)
        status = cover(party, &party->accounts[1], false, err);
    if (status != PN_OK)
        party_run_clear(&party->run);
    return status;
}

/* ---- beginning ---- */

/* Forget the run before: addresses hold the epoch, so nothing of it can be drawn again. */
static void forget(pn_party *party)
{
    party_run_clear(&party->run);
    pn_terms_drop(&party->terms);
    memset(party->terms_digest, 0, sizeof party->terms_digest);
    memset(party->run_digest, 0, sizeof party->run_digest);
    memset(party->state, 0, party->data.columns);
    memset(party->model, 0, party->data.columns * sizeof *party->model);
    memset(party->count, 0, sizeof party->count);
    party->rounds = party->room = party->each = 0; /* replies of another length may follow */
    party->phase = PN_PARTY_NEW;
    pn_message_clear(&party->last);
}

static pn_status begin_new(pn_party *party, const pn_message *request, pn_task *task, pn_err *err)
{
    pn_status status;

    forget(party);
    party->epoch++;
    status = pn_terms_copy(&party->terms, &request->terms, err);
    digest_terms(party->terms_digest, &party->terms);
    if (status == PN_OK)
        status = party_accounts_open(party, false, err);
    if (status == PN_OK)
        status = party_prepare(party, task, err);
    if (status == PN_OK) {
        memcpy(party->run_digest, party->run.digest, sizeof party->run_digest);
        party->each = party->run.choices ? party->run.choices->picks : 0;
        party->phase = PN_PARTY_READY;
        status = party_checkpoint_write(party, err);
    }
    if (status != PN_OK)
        forget(party);
    return status;
}

static pn_status go_on(pn_party *party, const pn_message *request, pn_task *task, pn_err *err)
{
    unsigned char digest[PN_DIGEST_BYTES];

    digest_terms(digest, &request->terms);
    if (memcmp(digest, party->terms_digest, sizeof digest) != 0)
        return pn_fail(err, PN_EPRIVACY, "party: the terms differ from those that this run began with");
    PN_TRY(party_prepare(party, task, err));
    party->phase = party->rounds > 0 ? PN_PARTY_RUNNING : PN_PARTY_READY;
    return PN_OK;
}

pn_status party_begin(pn_party *party, const pn_message *request, pn_task *task, pn_err *err)
{
    PN_TRY(check_terms(party, request, err));
    if (party->phase != PN_PARTY_NEW && memcmp(party->terms.run, request->run, PN_RUN_ID) == 0)
        return go_on(party, request, task, err);
    if (party->phase == PN_PARTY_RUNNING)
        return pn_fail(err, PN_EINVAL,
                       "party: it is in the middle of another run, which has released something; a party opened "
                       "without this checkpoint can take part in a new one");
    return begin_new(party, request, task, err);
}
