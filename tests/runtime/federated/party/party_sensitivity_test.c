/* party_sensitivity_test.c -- one record is another: given the same messages no candidate's score moves by more than
 * the sensitivity that the selection is drawn with, in the numbers as they are computed, and no upload by more than it
 * is charged for.  Records are exchanged at random and by the worst that there is, for which the bounds are nearly
 * attained: they cannot be smaller.
 * Depends on: check.h, party_kit.h. */
#include "runtime/federated/party/party_kit.h"

enum { N = 60, C = 5 };

typedef struct side {
    records r;
    pn_dataset *data;
    pn_ledger *ledger;
    pn_party *party;
    party_scores scores;
} side;

static side side_of(records r, const pn_terms *terms, bool sparse)
{
    side s = { .r = r, .data = dataset_of(&r, sparse), .ledger = ledger_of(1e9, terms->neighbours) };
    pn_message reply = { 0 };

    s.party = party_of(s.data, s.ledger, 5);
    if (!CHECK(ask_terms(s.party, terms, &reply) == PN_MESSAGE_READY))
        (void)fprintf(stderr, "    %s\n", reply.reason);
    pn_message_clear(&reply);
    return s;
}

static void side_clear(side *s)
{
    party_scores_clear(&s->scores);
    pn_party_free(s->party);
    pn_ledger_free(s->ledger);
    pn_dataset_free(s->data);
    records_free(&s->r);
}

/* Record j of r is another: features and label of random size, extreme, or null. */
static void exchange(records *r, size_t j, int how, pn_neighbours neighbours, bool binary, pn_rng *rng)
{
    for (size_t i = 0; i < C; i++) {
        double *x = &r->x[j * C + i];

        if (neighbours == PN_ZERO_OUT)
            *x = 0.0;
        else if (how == 0)
            *x = 2.0 * pn_rng_uniform(rng) - 1.0;
        else
            *x = -*x; /* of an extreme record: from 1 to -1 */
    }
    if (neighbours == PN_ZERO_OUT)
        r->y[j] = binary ? r->y[j] : 0.0;
    else if (how == 0)
        r->y[j] = binary ? (pn_rng_below(rng, 2) ? 1.0 : -1.0) : 2.0 * pn_rng_uniform(rng) - 1.0;
}

static void make_extreme(records *r, size_t j, double label)
{
    for (size_t i = 0; i < C; i++)
        r->x[j * C + i] = 1.0;
    r->y[j] = label;
}

/* A broadcast: what an honest server could have, or any. */
static void make_broadcast(double *x, double *q, const pn_terms *terms, int how, pn_rng *rng)
{
    double norm = 0.0, size = how == 2 ? 1e6 : how == 1 ? 3.0 : 0.3;

    for (size_t i = 0; i < C; i++) {
        x[i] = pn_rng_below(rng, 2) ? 2.0 * pn_rng_uniform(rng) - 1.0 : 0.0;
        norm += fabs(x[i]);
    }
    for (size_t i = 0; i < C && norm > 0.0; i++)
        x[i] *= terms->radius / norm;
    for (size_t l = 0; l < terms->sketch.m; l++)
        q[l] = size * (2.0 * pn_rng_uniform(rng) - 1.0);
}

/* The largest moves as shares of what is charged. */
typedef struct moves {
    double score, feature;
} moves;

static void compare_scores(side *a, side *b, const pn_terms *terms, const double *x, const double *q, moves *most)
{
    pn_message request = round_of(terms, 1, x, q);
    double unit;

    CHECK(party_scores_of(a->party, &request, &a->scores, NULL, NULL) == PN_OK);
    CHECK(party_scores_of(b->party, &request, &b->scores, NULL, NULL) == PN_OK);
    unit = a->scores.unit;
    CHECK(a->scores.sensitivity == b->scores.sensitivity && unit == b->scores.unit); /* public */
    CHECK(a->scores.error == b->scores.error && a->scores.bound == b->scores.bound);
    CHECK(unit <= a->scores.sensitivity * (1.0 + 1e-6));
    for (size_t i = 0; i < a->scores.candidates; i++) {
        double move = fabs(a->scores.score[i] - b->scores.score[i]);

        CHECK(fabs(a->scores.score[i]) <= a->scores.bound + a->scores.error);
        if (move > unit)
            CHECK(move <= unit);
        most->score = fmax(most->score, move / unit);
    }
    CHECK(fabs(a->scores.stay - b->scores.stay) <= a->scores.weight * a->scores.sensitivity + 2.0 * a->scores.error);
    pn_message_clear(&request);
    party_scores_clear(&a->scores);
    party_scores_clear(&b->scores);
}

static void compare_features(const side *a, const side *b, moves *most)
{
    size_t m = a->party->terms.sketch.m;

    CHECK(a->party->run.feature_sensitivity == b->party->run.feature_sensitivity);
    for (size_t i = 0; i < C && a->party->run.sketched; i++) {
        long double sum = 0.0L;

        for (size_t l = 0; l < m; l++) {
            long double d =
                (long double)a->party->run.sketched[i * m + l] - (long double)b->party->run.sketched[i * m + l];

            sum += d * d;
        }
        CHECK((double)sqrtl(sum) <= a->party->run.feature_sensitivity);
        most->feature = fmax(most->feature, (double)sqrtl(sum) / a->party->run.feature_sensitivity);
    }
}

/* `how`: 0 random, else the worst: an extreme record where the public margin is largest. */
static void fuzz_once(pn_terms terms, bool sparse, int how, pn_rng *rng, moves *most)
{
    bool binary = terms.loss == PN_FEDERATED_LOGISTIC;
    uint64_t seed = pn_rng_u64(rng);
    records one = records_new(N, C, sparse ? 0.3 : 1.0, binary, seed);
    records two;
    double x[C], *q = pn_calloc(terms.sketch.m, sizeof *q), *z = pn_calloc(N, sizeof *z);
    size_t j = (size_t)pn_rng_below(rng, N);
    side a, b;

    make_broadcast(x, q, &terms, (int)pn_rng_below(rng, 3), rng);
    if (how) {
        pn_sketch *sketch = NULL;

        CHECK(pn_sketch_new(&sketch, &terms.sketch, NULL, NULL) == PN_OK);
        CHECK(pn_sketch_transpose(sketch, q, z, NULL, NULL) == PN_OK);
        for (size_t k = 0; k < N; k++)
            j = fabs(z[k]) > fabs(z[j]) ? k : j;
        make_extreme(&one, j, z[j] > 0.0 ? -1.0 : 1.0);
        pn_sketch_free(sketch);
    }
    two = (records){ N, C, pn_calloc(N * C, sizeof(double)), pn_calloc(N, sizeof(double)) };
    memcpy(two.x, one.x, N * C * sizeof *two.x);
    memcpy(two.y, one.y, N * sizeof *two.y);
    exchange(&two, j, how, terms.neighbours, binary, rng);
    a = side_of(one, &terms, sparse);
    b = side_of(two, &terms, sparse);
    compare_scores(&a, &b, &terms, x, q, most);
    compare_features(&a, &b, most);
    side_clear(&a);
    side_clear(&b);
    pn_free(q);
    pn_free(z);
}

static void no_record_moves_anything_by_more_than_is_charged(void)
{
    static const size_t rows[] = { N, 16, 24 };
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 99, NULL) == PN_OK);
    for (int way = 0; way < 2 * 2 * 3 * 2 * 2; way++) {
        pn_terms terms = sketched(terms_of(N, C, 5), (pn_sketch_kind)(way / 4 % 3), rows[way / 4 % 3]);
        moves most = { 0.0, 0.0 };
        bool logistic = way % 2, clipped = way / 2 % 2, sparse = way / 12 % 2, null = way / 24 % 2;

        terms.loss = logistic ? PN_FEDERATED_LOGISTIC : PN_FEDERATED_SQUARED;
        terms.clip = clipped ? 0.7 : 0.0;
        terms.neighbours = null ? PN_ZERO_OUT : PN_REPLACE_ONE;
        terms.radius = 0.8;
        terms.sampled = 4;
        for (int i = 0; i < 24; i++)
            fuzz_once(terms, sparse, i % 2, rng, &most);
        CHECK(most.score <= 1.0 && most.feature <= 1.0);
        /* the worst record is found; the slope of a clipped logistic loss is at most sigmoid(0.7) = 0.668,
         * and counted as 1 */
        CHECK(most.score > (logistic && clipped ? 0.66 : 0.95));
        if (terms.sketch.kind != PN_SKETCH_IDENTITY)
            CHECK(most.feature > (terms.sketch.kind == PN_SKETCH_SPARSE ? 0.99 : 0.7));
    }
    pn_rng_free(rng);
}

/* Computed scores against long double, for a q of any size: the error that selections round with. */
static void scores_are_as_near_to_exact_ones_as_is_said(void)
{
    pn_rng *rng = NULL;
    double worst = 0.0;

    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    for (int round = 0; round < 40; round++) {
        pn_terms terms = terms_of(N, C, 5);
        records r = records_new(N, C, 1.0, false, 100 + (uint64_t)round);
        side s = side_of(r, &terms, round % 2);
        double x[C], q[N];
        pn_message request;

        make_broadcast(x, q, &terms, round % 3, rng);
        request = round_of(&terms, 1, x, q);
        CHECK(party_scores_of(s.party, &request, &s.scores, NULL, NULL) == PN_OK);
        for (size_t i = 0; i < C; i++) {
            long double sum = 0.0L;
            double off;

            for (size_t j = 0; j < N; j++)
                sum += (long double)r.x[j * C + i] * ((long double)q[j] - (long double)r.y[j]);
            off = (double)fabsl((long double)s.scores.score[2 * i + 1] -
                                (long double)terms.radius * sum / (long double)N);
            CHECK(off <= s.scores.error);
            worst = fmax(worst, off / s.scores.error);
        }
        pn_message_clear(&request);
        side_clear(&s);
    }
    CHECK(worst > 1e-5); /* a bound, but no fantasy */
    pn_rng_free(rng);
}

/* The numbers of the specification for J of 64 rows and n = 2000: a record moves an upload by 2 max_j ||J e_j||,
 * about 2 1.28. */
static void an_upload_moves_by_twice_the_longest_column_of_the_sketch(void)
{
    pn_terms terms = sketched(terms_of(2000, 1, 1), PN_SKETCH_GAUSSIAN, 64);
    records r = records_new(2000, 1, 1.0, false, 1);
    side s = side_of(r, &terms, false);

    CHECK_CLOSE(s.party->run.feature_sensitivity, 2.0 * 1.28, 2.0 * 0.08);
    CHECK_CLOSE(s.party->run.feature_sensitivity, 2.0 * pn_sketch_column_norm(s.party->run.sketch), 1e-9);
    side_clear(&s);
}

int main(void)
{
    no_record_moves_anything_by_more_than_is_charged();
    scores_are_as_near_to_exact_ones_as_is_said();
    an_upload_moves_by_twice_the_longest_column_of_the_sketch();
    return check_summary();
}
