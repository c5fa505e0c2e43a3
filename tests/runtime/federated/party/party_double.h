/* party_double.h -- a transport whose parties are a few lines of plain arithmetic without noise, can be told to
 * misbehave, and outlive the server: what the server's tests put in the place of parties.
 * Depends on: transport.h, sketch.h, check.h. */
#ifndef PN_TESTS_PARTY_DOUBLE_H
#define PN_TESTS_PARTY_DOUBLE_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/alloc.h"
#include "federated/server/server.h"

typedef enum double_fault {
    FAULT_NONE = 0,
    FAULT_REFUSE, /* REFUSED */
    FAULT_BUDGET, /* REFUSED with PN_EBUDGET */
    FAULT_CODE,   /* a column that it has not */
    FAULT_BELOW,  /* the same on the other side */
    FAULT_ZERO,   /* stays where it may not */
    FAULT_SCORE,  /* a score too many or too few */
    FAULT_SHORT,  /* a feature of m - 1 numbers */
    FAULT_NAN,    /* a feature with NaN */
    FAULT_PARTY,  /* speaks for another */
    FAULT_ROUND,  /* answers an older round */
    FAULT_COLUMN, /* sends another column's feature */
    FAULT_LOST    /* the transport fails after the party has answered */
} double_fault;

enum { DOUBLE_MESSAGES = 64 };

typedef struct party_double {
    pn_transport base;   /* first */
    const double *A, *y; /* n x d by rows, [n]; A NULL: f = -x_1, whatever q */
    size_t n, d;
    pn_terms terms[16]; /* as they came */
    pn_sketch *sketch;
    /* Misbehave when a message of this kind comes for this round (0: any). */
    double_fault fault;
    pn_message_kind at;
    uint64_t when;
    uint32_t who;
    size_t said[16]; /* messages of each kind that came */
    unsigned char run[PN_RUN_ID];
    uint64_t asked_round;
    double asked_q, asked_x; /* sums of the last ROUND: another question under an old number is an error */
    bool asked_other;
    pn_message_kind farewell;
    char reason[PN_REASON_BYTES];
} party_double;

static void double_destroy(pn_transport *transport)
{
    pn_transport_clear(transport);
}

static size_t double_first(const party_double *self, size_t k)
{
    size_t first = 0;

    for (size_t l = 0; l < k; l++)
        first += (size_t)self->base.peers[l].columns;
    return first;
}

static double double_entry(const party_double *self, size_t k, size_t i, size_t j)
{
    return self->A[j * self->d + double_first(self, k) + i];
}

/* J a_i */
static void double_feature(party_double *self, size_t k, size_t i, double *out)
{
    double *column = malloc(self->n * sizeof *column);
    pn_err err;

    for (size_t j = 0; j < self->n; j++)
        column[j] = self->A ? double_entry(self, k, i, j) : 1.0;
    CHECK(pn_sketch_columns(self->sketch, column, 1, out, NULL, &err) == PN_OK);
    free(column);
}

/* (J a_i)^T q/n - a_i^T y/n */
static double double_gradient(party_double *self, size_t k, size_t i, const double *q)
{
    double sum = 0.0, *feature;

    if (!self->A)
        return double_first(self, k) + i == 0 ? -1.0 : 0.0;
    feature = malloc(self->terms[k].sketch.m * sizeof *feature);
    double_feature(self, k, i, feature);
    for (size_t l = 0; l < self->terms[k].sketch.m; l++)
        sum += feature[l] * q[l];
    for (size_t j = 0; j < self->n; j++)
        sum -= double_entry(self, k, i, j) * self->y[j];
    free(feature);
    return sum / (double)self->n;
}

static double double_stay(party_double *self, size_t k, const pn_message *round)
{
    double sum = 0.0;

    for (size_t e = 0; e < round->count; e++)
        sum += round->value[e] * double_gradient(self, k, round->index[e], round->vector);
    return sum;
}

/* The first of the best candidates; staying wins ties, too. */
static void double_choose(party_double *self, size_t k, const pn_message *round, pn_message *reply)
{
    const pn_terms *terms = &self->terms[k];
    uint32_t *sample = malloc((size_t)terms->sampled * sizeof *sample);
    double best = INFINITY, stay = terms->stay ? double_stay(self, k, round) : NAN;
    pn_err err;

    CHECK(pn_terms_sample(terms, round->round, sample, &err) == PN_OK);
    for (size_t s = 0; s < terms->sampled; s++) {
        double g = double_gradient(self, k, sample[s], round->vector), score = -terms->radius * fabs(g);

        if (score < best) {
            best = score;
            reply->code = g > 0.0 ? -(int64_t)sample[s] - 1 : (int64_t)sample[s] + 1;
        }
    }
    free(sample);
    if (terms->mode == PN_FEDERATED_PRODUCT && terms->stay && stay <= best)
        reply->code = 0;
    if (terms->mode == PN_FEDERATED_BALL) {
        reply->score = best;
        reply->stay_score = stay;
    }
}

/* The same number, the same question. */
static void double_remember(party_double *self, const pn_message *round)
{
    double x = 0.0, q = 0.0;

    for (size_t e = 0; e < round->count; e++)
        x += round->value[e] * (double)(round->index[e] + 3 * round->party + 1);
    for (size_t l = 0; l < round->size; l++)
        q += round->vector[l] * (double)(l + 1);
    if (round->party != 0)
        return;
    self->asked_other =
        self->asked_other || (self->asked_round == round->round && (self->asked_q != q || self->asked_x != x));
    self->asked_round = round->round;
    self->asked_q = q;
    self->asked_x = x;
}

static void double_misbehave(party_double *self, pn_message *reply)
{
    pn_err err;

    switch (self->fault) {
    case FAULT_REFUSE:
    case FAULT_BUDGET: {
        pn_message request = *reply;

        (void)pn_fail(&err, self->fault == FAULT_BUDGET ? PN_EBUDGET : PN_EINVAL, "I had rather not");
        request.index = NULL;
        pn_message_refuse(reply, &request, &err);
        break;
    }
    case FAULT_CODE:
        reply->code = (int64_t)self->terms[reply->party].columns + 1;
        break;
    case FAULT_BELOW:
        reply->code = -(int64_t)self->terms[reply->party].columns - 1;
        break;
    case FAULT_ZERO:
        reply->code = 0;
        break;
    case FAULT_SCORE:
        reply->score = isnan(reply->score) ? 1.0 : NAN;
        break;
    case FAULT_SHORT:
        reply->size--;
        break;
    case FAULT_NAN:
        reply->vector[0] = NAN;
        break;
    case FAULT_PARTY:
        reply->party++;
        break;
    case FAULT_ROUND:
        reply->round--;
        break;
    case FAULT_COLUMN:
        reply->column++;
        break;
    default:
        break;
    }
}

static pn_status double_answer(party_double *self, const pn_message *request, pn_message *reply)
{
    pn_err err;

    *reply = (pn_message){ .party = request->party, .round = request->round, .score = NAN, .stay_score = NAN };
    memcpy(reply->run, request->run, PN_RUN_ID);
    self->said[request->kind]++;
    switch (request->kind) {
    case PN_MESSAGE_TERMS:
        self->terms[request->party] = request->terms;
        memcpy(self->run, request->run, PN_RUN_ID);
        if (!self->sketch && pn_sketch_new(&self->sketch, &request->terms.sketch, NULL, &err) != PN_OK)
            return PN_ENOMEM;
        reply->kind = PN_MESSAGE_READY;
        break;
    case PN_MESSAGE_ROUND:
        CHECK(memcmp(self->run, request->run, PN_RUN_ID) == 0);
        double_remember(self, request);
        reply->kind = PN_MESSAGE_CHOICE;
        double_choose(self, request->party, request, reply);
        break;
    default:
        CHECK(request->kind == PN_MESSAGE_FETCH);
        reply->kind = PN_MESSAGE_FEATURE;
        reply->column = request->column;
        if (pn_message_reserve(reply, 0, self->terms[request->party].sketch.m, &err) != PN_OK)
            return PN_ENOMEM;
        double_feature(self, request->party, request->column, reply->vector);
        break;
    }
    return PN_OK;
}

static pn_status double_exchange(pn_transport *transport, const pn_message *requests, pn_message *replies,
                                 pn_task *task, pn_err *err)
{
    party_double *self = (party_double *)transport;

    (void)task;
    for (size_t k = 0; k < transport->parties; k++) {
        bool now = self->fault != FAULT_NONE && requests[k].kind == self->at && k == self->who &&
                   (self->when == 0 || self->when == requests[k].round);

        if (requests[k].kind == PN_MESSAGE_NONE)
            continue;
        pn_transport_count(transport, k, &requests[k], 0, false);
        if (double_answer(self, &requests[k], &replies[k]) != PN_OK)
            return pn_fail(err, PN_ENOMEM, "double: out of memory");
        if (now && self->fault == FAULT_LOST)
            return pn_fail(err, PN_EIO, "double: the line is dead");
        if (now)
            double_misbehave(self, &replies[k]);
        pn_transport_count(transport, k, &replies[k], 0, true);
    }
    return PN_OK;
}

static pn_status double_gather(pn_transport *transport, pn_task *task, pn_err *err)
{
    (void)transport, (void)task, (void)err;
    return PN_OK;
}

static void double_end(pn_transport *transport, const pn_message *farewells)
{
    party_double *self = (party_double *)transport;

    self->farewell = farewells[0].kind;
    (void)snprintf(self->reason, sizeof self->reason, "%s", farewells[0].reason);
}

static const pn_transport_ops double_ops = { .name = "double",
                                             .doc = "parties of a test",
                                             .destroy = double_destroy,
                                             .gather = double_gather,
                                             .exchange = double_exchange,
                                             .end = double_end };

/* K parties over the columns of A [n x d]; `columns` as even as can be. */
static inline pn_status double_try_open(party_double *self, size_t parties, const double *A, const double *y, size_t n,
                                        size_t d, pn_err *err)
{
    memset(self, 0, sizeof *self);
    PN_TRY(pn_transport_init(&self->base, &double_ops, parties, err));
    self->A = A;
    self->y = y;
    self->n = n;
    self->d = d;
    for (size_t k = 0; k < parties; k++) {
        pn_message hello = { .records = n,
                             .columns = pn_terms_columns(d, parties, k),
                             .feature_bound = 1.0,
                             .label_bound = 1.0,
                             .name = "party A" };

        hello.name[6] = (char)('A' + (int)k);
        pn_transport_meet(&self->base, k, &hello);
    }
    return PN_OK;
}

static inline void double_open(party_double *self, size_t parties, const double *A, const double *y, size_t n, size_t d)
{
    CHECK(double_try_open(self, parties, A, y, n, d, NULL) == PN_OK);
}

static inline void double_close(party_double *self)
{
    CHECK(self->base.references == 1);
    pn_sketch_free(self->sketch);
    pn_transport_free(&self->base);
}

/* Terms without noise; tau 0: all columns.  terms[parties]. */
static inline void double_terms(const party_double *self, pn_federated_mode mode, size_t tau, double radius, bool stay,
                                pn_sketch_shape sketch, pn_terms *terms)
{
    for (size_t k = 0; k < self->base.parties; k++) {
        uint64_t columns = self->base.peers[k].columns;

        terms[k] = (pn_terms){ .mode = mode,
                               .loss = PN_FEDERATED_SQUARED,
                               .neighbours = PN_REPLACE_ONE,
                               .records = self->n,
                               .parties = (uint32_t)self->base.parties,
                               .iterations = 100000,
                               .feature_bound = 1.0,
                               .label_bound = 1.0,
                               .sketch = sketch,
                               .party = (uint32_t)k,
                               .columns = columns,
                               .sampled = tau ? tau : columns,
                               .radius = radius,
                               .stay = stay };
    }
}

static inline pn_sketch_shape double_identity(size_t n)
{
    return (pn_sketch_shape){ PN_SKETCH_IDENTITY, n, n, 7 };
}

/* A server of a run that has begun. */
static inline pn_status double_serve(party_double *self, const pn_terms *terms, const char *checkpoint, pn_server **out,
                                     pn_err *err)
{
    const pn_transport_run run = { 0 };
    const pn_server_options options = { .transport = &self->base, .terms = terms, .checkpoint = checkpoint };
    pn_status status = pn_transport_begin(&self->base, &run, err);

    return status == PN_OK ? pn_server_new(out, &options, NULL, err) : status;
}

#endif
