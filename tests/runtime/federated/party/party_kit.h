/* party_kit.h -- records, a party over their columns, and a server of one party that does what a party's server does.
 * Depends on: check.h, federated/.  Used by: the tests of parties. */
#ifndef PN_TESTS_PARTY_KIT_H
#define PN_TESTS_PARTY_KIT_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/alloc.h"
#include "federated/party/party_impl.h"
#include "federated/wire/release.h"

typedef struct records {
    size_t n, p;
    double *x; /* [n][p] within +-1 */
    double *y; /* [n] within +-1 */
} records;

static inline records records_new(size_t n, size_t p, double density, bool binary, uint64_t seed)
{
    records r = { n, p, pn_calloc(n * p, sizeof(double)), pn_calloc(n, sizeof(double)) };
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK && r.x && r.y);
    for (size_t k = 0; k < n * p; k++)
        r.x[k] = pn_rng_uniform(rng) < density ? 2.0 * pn_rng_uniform(rng) - 1.0 : 0.0;
    for (size_t j = 0; j < n; j++) {
        r.y[j] = 2.0 * pn_rng_uniform(rng) - 1.0;
        if (binary)
            r.y[j] = r.y[j] > 0.0 ? 1.0 : -1.0;
    }
    pn_rng_free(rng);
    return r;
}

static inline void records_free(records *r)
{
    pn_free(r->x);
    pn_free(r->y);
}

/* Bounds 1 enforced on features and labels. */
static inline pn_dataset *dataset_of(const records *r, bool sparse)
{
    pn_dataset *raw = NULL, *rows = NULL, *out = NULL;
    pn_csr csr = { 0 };
    size_t nnz = 0;
    pn_err err = { 0 };

    if (sparse) {
        CHECK(pn_csr_init(&csr, r->n, r->p, r->n * r->p, &err) == PN_OK);
        for (size_t j = 0; j < r->n; j++) {
            for (size_t i = 0; i < r->p; i++) {
                if (r->x[j * r->p + i] != 0.0) {
                    csr.column[nnz] = (uint32_t)i;
                    csr.value[nnz++] = r->x[j * r->p + i];
                }
            }
            csr.start[j + 1] = nnz;
        }
        CHECK(pn_dataset_from_csr(&raw, &csr, r->y, "test", &err) == PN_OK);
        pn_csr_clear(&csr);
    } else {
        CHECK(pn_dataset_from_dense(&raw, r->x, r->n, r->p, r->y, "test", &err) == PN_OK);
    }
    CHECK(pn_dataset_clip_rows(&rows, raw, PN_LINF, 1.0, &err) == PN_OK);
    CHECK(pn_dataset_clip_labels(&out, rows, -1.0, 1.0, &err) == PN_OK);
    pn_dataset_free(raw);
    pn_dataset_free(rows);
    return out;
}

/* Of a run of one party: product, squared loss, identity, replace_one, private, simulated. */
static inline pn_terms terms_of(size_t n, size_t c, uint64_t iterations)
{
    pn_terms t = { .run = "0123456789abcde",
                   .is_private = true,
                   .simulated = true,
                   .records = n,
                   .parties = 1,
                   .iterations = iterations,
                   .feature_bound = 1.0,
                   .label_bound = 1.0,
                   .sketch = { PN_SKETCH_IDENTITY, n, n, 7 },
                   .columns = c,
                   .sampled = c,
                   .radius = 1.0,
                   .epsilon0 = 0.5,
                   .sigma_feature = 2.0,
                   .stay = true };

    return t;
}

static inline pn_terms sketched(pn_terms t, pn_sketch_kind kind, size_t m)
{
    t.sketch.kind = kind;
    t.sketch.m = m;
    return t;
}

static inline pn_ledger *ledger_of(double rho, pn_neighbours neighbours)
{
    pn_budget budget = { .epsilon = NAN, .rho = rho, .neighbours = neighbours, .teaching = true };
    pn_ledger *ledger = NULL;

    CHECK(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static inline pn_party *party_of(const pn_dataset *data, pn_ledger *ledger, uint64_t seed)
{
    pn_party_options options = { .data = data, .ledger = ledger, .nonprivate = !ledger };
    pn_party *party = NULL;
    pn_rng *rng = NULL;
    pn_err err = { 0 };

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    options.rng = rng;
    if (!CHECK(pn_party_new(&party, &options, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_rng_free(rng);
    return party;
}

/* ---- messages ---- */

static inline pn_message request_of(pn_message_kind kind, const pn_terms *terms, uint64_t round)
{
    pn_message request = { .kind = kind, .round = round, .party = terms->party, .score = NAN, .stay_score = NAN };

    memcpy(request.run, terms->run, PN_RUN_ID);
    if (kind == PN_MESSAGE_TERMS)
        CHECK(pn_terms_copy(&request.terms, terms, NULL) == PN_OK);
    return request;
}

/* x[c] dense, q[m] */
static inline pn_message round_of(const pn_terms *terms, uint64_t round, const double *x, const double *q)
{
    pn_message request = request_of(PN_MESSAGE_ROUND, terms, round);
    size_t count = 0;

    CHECK(pn_message_reserve(&request, terms->columns, terms->sketch.m, NULL) == PN_OK);
    for (uint32_t i = 0; i < terms->columns; i++) {
        if (x && x[i] != 0.0) {
            request.index[count] = i;
            request.value[count++] = x[i];
        }
    }
    request.count = count;
    for (size_t l = 0; l < terms->sketch.m; l++)
        request.vector[l] = q ? q[l] : 0.0;
    return request;
}

/* The reply's kind; the request is freed. */
static inline pn_message_kind ask(pn_party *party, pn_message request, pn_message *reply)
{
    pn_err err = { 0 };

    if (!CHECK(pn_party_answer(party, &request, reply, NULL, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_message_clear(&request);
    return reply->kind;
}

static inline pn_message_kind ask_terms(pn_party *party, const pn_terms *terms, pn_message *reply)
{
    return ask(party, request_of(PN_MESSAGE_TERMS, terms, 0), reply);
}

static inline pn_message_kind ask_feature(pn_party *party, const pn_terms *terms, uint64_t round, uint32_t column,
                                          pn_message *reply)
{
    pn_message request = request_of(PN_MESSAGE_FETCH, terms, round);

    request.column = column;
    return ask(party, request, reply);
}

static inline bool refused(const pn_message *reply, const char *part)
{
    bool right = reply->kind == PN_MESSAGE_REFUSED && strstr(reply->reason, part) != NULL;

    if (!right)
        (void)fprintf(stderr, "    got kind %d: %s\n", (int)reply->kind, reply->reason);
    return right;
}

/* ---- a server of one party ---- */

typedef struct host {
    pn_party *party;
    pn_terms terms;
    uint64_t rounds;
    double *x, *q, *features; /* [c], [m], [c][m] */
    bool *have;
    size_t uploads;
} host;

static inline host host_new(pn_party *party, const pn_terms *terms)
{
    host h = { .party = party, .terms = *terms };
    pn_message reply = { 0 };

    h.x = pn_calloc(terms->columns, sizeof(double));
    h.q = pn_calloc(terms->sketch.m, sizeof(double));
    h.features = pn_calloc(terms->columns * terms->sketch.m, sizeof(double));
    h.have = pn_calloc(terms->columns, sizeof(bool));
    if (!CHECK(ask_terms(party, terms, &reply) == PN_MESSAGE_READY))
        (void)fprintf(stderr, "    %s\n", reply.reason);
    pn_message_clear(&reply);
    return h;
}

static inline void host_free(host *h)
{
    pn_free(h->x);
    pn_free(h->q);
    pn_free(h->features);
    pn_free(h->have);
}

static inline void host_move(host *h, int64_t code)
{
    size_t m = h->terms.sketch.m, c = h->terms.columns;
    double gamma = 2.0 / ((double)h->terms.sampled / (double)c * (double)h->rounds + 2.0);

    if (code != 0) {
        for (size_t i = 0; i < c; i++)
            h->x[i] *= 1.0 - gamma;
        h->x[llabs(code) - 1] += gamma * (code > 0 ? h->terms.radius : -h->terms.radius);
    }
    memset(h->q, 0, m * sizeof *h->q);
    for (size_t i = 0; i < c; i++) {
        for (size_t l = 0; l < m && h->x[i] != 0.0; l++)
            h->q[l] += h->x[i] * h->features[i * m + l];
    }
}

/* One round; its choice is in *choice. */
static inline void host_step(host *h, pn_message *choice)
{
    size_t m = h->terms.sketch.m;
    pn_message reply = { 0 };
    uint32_t column;

    if (!CHECK(ask(h->party, round_of(&h->terms, h->rounds + 1, h->x, h->q), choice) == PN_MESSAGE_CHOICE)) {
        (void)fprintf(stderr, "    %s\n", choice->reason);
        return;
    }
    column = (uint32_t)(llabs(choice->code) - 1);
    if (choice->code != 0 && !h->have[column]) {
        CHECK(ask_feature(h->party, &h->terms, h->rounds + 1, column, &reply) == PN_MESSAGE_FEATURE);
        CHECK(reply.size == m && reply.column == column);
        memcpy(h->features + column * m, reply.vector, m * sizeof *h->features);
        h->have[column] = true;
        h->uploads++;
    }
    host_move(h, choice->code);
    h->rounds++;
    pn_message_clear(&reply);
}

/* Charges under labels that end so. */
static inline size_t charged(const pn_ledger *ledger, const char *end)
{
    size_t sum = 0;

    for (size_t i = 0; i < pn_ledger_entries(ledger); i++) {
        pn_charge one = pn_ledger_entry(ledger, i);
        size_t size = strlen(one.label), tail = strlen(end);

        sum += size >= tail && strcmp(one.label + size - tail, end) == 0 ? one.count : 0;
    }
    return sum;
}

#endif
