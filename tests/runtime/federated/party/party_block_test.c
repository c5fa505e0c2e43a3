/* party_block_test.c -- parties with sets of their own: their choices have the law that is charged for, what they do
 * not charge for does not move them, and terms that they cannot keep are refused.
 * The law: chi^2 with 5 degrees of freedom is beyond 38 with probability 3.8e-7, and with 3 beyond 32.1 with 5.0e-7 (by
 * the series of the incomplete gamma function).  There is one check of each.
 * Depends on: check.h, party_kit.h, geometry. */
#define _GNU_SOURCE
#include <math.h>
#include <unistd.h>

#include "geometry/algebra/set_algebra.h"
#include "geometry/sets/sets.h"
#include "privacy/accounting/accountant.h"
#include "runtime/federated/party/party_kit.h"

enum { N = 30, C = 4, T = 6, DRAWS = 20000 };

/* An interval, a square, an l1 ball, a simplex, ...: of C coordinates together. */
static pn_set *body(const char *name, size_t dim, double radius, size_t k)
{
    const pn_param *params = pn_set_find(name)->params;
    pn_arg args[8] = { { 0 } };
    pn_set *set = NULL;

    args[pn_param_find(params, "dim")] = (pn_arg){ .given = true, .count = dim };
    args[pn_param_find(params, "radius")] = (pn_arg){ .given = true, .real = radius };
    if (k > 0)
        args[pn_param_find(params, "k")] = (pn_arg){ .given = true, .count = k };
    CHECK(pn_set_from_args(&set, name, args, NULL) == PN_OK);
    return set;
}

static pn_set *product(pn_set *a, pn_set *b)
{
    pn_set *out = NULL;

    CHECK(pn_set_product(&out, a, b, NULL) == PN_OK);
    pn_set_free(a);
    pn_set_free(b);
    return out;
}

/* Of a party over `set`, which is freed; to be dropped by pn_terms_drop. */
static pn_terms terms_over(pn_set *set, size_t n, uint64_t iterations)
{
    pn_terms terms = terms_of(n, set->dim, iterations);

    terms.stay = false;
    terms.features = set->dim;
    terms.radius = set->ops->radius(set, PN_L1);
    CHECK(pn_block_write(&terms.block, &terms.block_size, set, NULL) == PN_OK);
    pn_set_free(set);
    return terms;
}

typedef struct setting {
    records r;
    pn_dataset *data;
    pn_ledger *ledger;
    pn_party *party;
    pn_terms terms;
} setting;

static setting set_up(pn_set *set, uint64_t iterations)
{
    setting s = { .r = records_new(N, set->dim, 1.0, false, 21), .terms = terms_over(set, N, iterations) };

    s.data = dataset_of(&s.r, false);
    s.ledger = ledger_of(1e18, PN_REPLACE_ONE);
    s.party = party_of(s.data, s.ledger, 77);
    return s;
}

static void tear_down(setting *s)
{
    pn_party_free(s->party);
    pn_ledger_free(s->ledger);
    pn_dataset_free(s->data);
    records_free(&s->r);
    pn_terms_drop(&s->terms);
}

static void begin(setting *s)
{
    pn_message reply = { 0 };

    if (!CHECK(ask_terms(s->party, &s->terms, &reply) == PN_MESSAGE_READY))
        (void)fprintf(stderr, "    %s\n", reply.reason);
    pn_message_clear(&reply);
}

/* ---- the law ---- */

/* Delta and the gradient at q, by the book: ghat_i = (sum_j a_ji q_j - a_ji y_j)/n, |a|, |y| <= 1. */
static double by_hand(const records *r, const double *q, double *gradient)
{
    double most = 0.0;

    for (size_t j = 0; j < r->n; j++)
        most = fmax(most, fabs(q[j]));
    for (size_t i = 0; i < r->p; i++) {
        gradient[i] = 0.0;
        for (size_t j = 0; j < r->n; j++)
            gradient[i] += r->x[j * r->p + i] * (q[j] - r->y[j]) / (double)r->n;
    }
    return 2.0 * (most + 1.0) / (double)r->n;
}

/* chi^2 of vertices[count] of `width` picks each, whose chances are proportional to exp(-<v, ghat>/b),
 * b = Delta sqrt(squares/(2 rho)), rho = epsilon0^2/8. */
static double chi_squared(setting *s, double squares, const double (*vertex)[C], const uint32_t (*picks)[3],
                          size_t count, size_t width)
{
    double q[N], gradient[C], p[6], sum = 0.0, chi = 0.0, seen[6] = { 0.0 }, b;
    pn_message reply = { 0 };

    for (size_t j = 0; j < N; j++)
        q[j] = 0.3 * s->r.x[j * s->r.p] - 0.2 * s->r.y[j];
    b = by_hand(&s->r, q, gradient) * sqrt(squares / (2.0 * s->terms.epsilon0 * s->terms.epsilon0 / 8.0));
    for (size_t v = 0; v < count; v++) {
        double score = 0.0;

        for (size_t i = 0; i < s->r.p; i++)
            score -= vertex[v][i] * gradient[i];
        sum += p[v] = exp(score / b);
    }
    for (uint64_t t = 1; t <= DRAWS; t++) {
        CHECK(ask(s->party, round_of(&s->terms, t, NULL, q), &reply) == PN_MESSAGE_CHOICE && reply.picks == width);
        for (size_t v = 0; v < count; v++)
            seen[v] += memcmp(reply.pick, picks[v], width * sizeof(uint32_t)) == 0;
    }
    for (size_t v = 0; v < count; v++) {
        double expected = DRAWS * p[v] / sum;

        CHECK(expected > 100.0 && expected < 0.7 * DRAWS); /* no vertex is hidden, none decides alone */
        chi += pow(seen[v] - expected, 2) / expected;
    }
    pn_message_clear(&reply);
    return chi;
}

/* An interval and a simplex: choices that do not follow from one another. */
static void vertices_have_the_law_that_is_charged(void)
{
    double vertex[6][C];
    uint32_t picks[6][3];
    setting s = set_up(product(body("linf_ball", 1, 0.5, 0), body("simplex", 3, 0.8, 0)), DRAWS);
    double chi;

    s.terms.epsilon0 = 3.0;
    begin(&s);
    for (size_t v = 0; v < 6; v++) {
        memset(vertex[v], 0, sizeof vertex[v]);
        vertex[v][0] = v / 3 == 0 ? 0.5 : -0.5; /* the upper end first */
        vertex[v][1 + v % 3] = 0.8;
        picks[v][0] = (uint32_t)(v / 3);
        picks[v][1] = (uint32_t)(v % 3);
    }
    chi = chi_squared(&s, 0.25 + 0.64, (const double(*)[C])vertex, (const uint32_t(*)[3])picks, 6, 2);
    if (!CHECK(chi <= 38.0))
        (void)fprintf(stderr, "    chi^2 = %g\n", chi);
    CHECK(charged(s.ledger, ": selection") == DRAWS);
    CHECK_CLOSE(pn_ledger_spent(s.ledger) / DRAWS, 9.0 / 8.0, 1e-6);
    tear_down(&s);
}

/* Chances of one list are those of one choice. */
static void a_list_has_the_law_of_one_choice(void)
{
    const double vertex[4][C] = { { 1.5, 0.0 }, { -1.5, 0.0 }, { 0.0, 1.5 }, { 0.0, -1.5 } };
    const uint32_t picks[4][3] = { { 0 }, { 1 }, { 2 }, { 3 } };
    setting s = set_up(body("l1_ball", 2, 1.5, 0), DRAWS);
    double chi;

    s.terms.epsilon0 = 2.0;
    begin(&s);
    chi = chi_squared(&s, 2.25, vertex, picks, 4, 1);
    if (!CHECK(chi <= 32.1))
        (void)fprintf(stderr, "    chi^2 = %g\n", chi);
    tear_down(&s);
}

/* ---- what a record does ---- */

/* No entry of the direction moves by more than is said, and one moves by nearly that. */
static void records_move_entries_within_the_sensitivity(double clip, bool logistic)
{
    double tightest = 0.0;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 9, NULL) == PN_OK);
    for (int i = 0; i < 200; i++) {
        records one = records_new(N, C, 1.0, logistic, 100 + (uint64_t)i), two = records_new(N, C, 1.0, logistic, 9);
        double q[N];
        party_scores a, b;
        pn_party *parties[2];
        pn_terms terms = terms_over(body("linf_ball", C, 0.5, 0), N, T);

        terms.clip = clip;
        terms.loss = logistic ? PN_FEDERATED_LOGISTIC : PN_FEDERATED_SQUARED;
        memcpy(two.x, one.x, N * C * sizeof *two.x);
        memcpy(two.y, one.y, N * sizeof *two.y);
        for (size_t k = 0; k < C; k++) {
            one.x[k] = i % 2 ? 1.0 : 2.0 * pn_rng_uniform(rng) - 1.0;
            two.x[k] = i % 2 ? -1.0 : 2.0 * pn_rng_uniform(rng) - 1.0;
        }
        one.y[0] = two.y[0] = -1.0;
        for (size_t j = 0; j < N; j++)
            q[j] = j == 0 ? 3.0 : 6.0 * pn_rng_uniform(rng) - 3.0;
        for (int side = 0; side < 2; side++) {
            pn_dataset *data = dataset_of(side ? &two : &one, i % 3 == 0);
            pn_ledger *ledger = ledger_of(1e9, PN_REPLACE_ONE);
            pn_message reply = { 0 }, request = round_of(&terms, 1, NULL, q);

            parties[side] = party_of(data, ledger, 5);
            CHECK(ask_terms(parties[side], &terms, &reply) == PN_MESSAGE_READY);
            CHECK(party_scores_of(parties[side], &request, side ? &b : &a, NULL, NULL) == PN_OK);
            pn_message_clear(&request);
            pn_message_clear(&reply);
            pn_ledger_free(ledger);
            pn_dataset_free(data);
        }
        CHECK(a.sensitivity == b.sensitivity && a.error == b.error && a.bound == b.bound); /* public */
        for (size_t k = 0; k < C; k++) {
            double moved = fabs(a.score[k] - b.score[k]);

            CHECK(moved <= a.sensitivity * (1.0 + 1e-12));
            CHECK(0.5 * fabs(a.score[k]) <= a.bound);
            tightest = fmax(tightest, moved / a.sensitivity);
        }
        party_scores_clear(&a);
        party_scores_clear(&b);
        pn_party_free(parties[0]);
        pn_party_free(parties[1]);
        records_free(&one);
        records_free(&two);
        pn_terms_drop(&terms);
    }
    CHECK(tightest > (logistic ? 0.9 : 0.999));
    pn_rng_free(rng);
}

/* ---- questions and answers ---- */

static void the_same_question_has_the_same_answer(void)
{
    double q[N], other[N];
    setting s = set_up(product(body("hypersimplex", 3, 0.5, 2), body("linf_ball", 1, 1.0, 0)), T);
    pn_message reply = { 0 }, again = { 0 };
    size_t asked = 0;

    memset(q, 0, sizeof q);
    memset(other, 0, sizeof other);
    other[3] = 0.25;
    begin(&s);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, q), &reply) == PN_MESSAGE_CHOICE && reply.picks == 3);
    CHECK(reply.code == 0 && reply.pick[0] < 3 && reply.pick[1] < 2 && reply.pick[2] < 2);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, q), &again) == PN_MESSAGE_CHOICE && again.picks == 3);
    CHECK(memcmp(reply.pick, again.pick, 3 * sizeof *reply.pick) == 0);
    CHECK(charged(s.ledger, ": selection") == 1);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, other), &again) == PN_MESSAGE_REFUSED &&
          refused(&again, "another x or q"));
    /* Two of three coordinates of the hypersimplex, and the interval. */
    for (uint32_t i = 0; i < C; i++) {
        bool out = ask_feature(s.party, &s.terms, 1, i, &again) == PN_MESSAGE_REFUSED;

        asked += !out;
        CHECK(i < 3 || !out);
        CHECK(!out || refused(&again, "is not one that this party has chosen"));
    }
    CHECK(asked == 3);
    CHECK(ask(s.party, round_of(&s.terms, 2, NULL, other), &again) == PN_MESSAGE_CHOICE);
    CHECK(charged(s.ledger, ": selection") == 2 && charged(s.ledger, ": feature") == 3);
    pn_message_clear(&reply);
    pn_message_clear(&again);
    tear_down(&s);
}

/* A round that the ledger refuses gives nothing. */
static void nothing_leaves_unpaid(void)
{
    setting s = set_up(body("linf_ball", C, 0.5, 0), T);
    pn_message reply = { 0 };

    begin(&s);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
    pn_ledger_close(s.ledger);
    CHECK(ask(s.party, round_of(&s.terms, 2, NULL, NULL), &reply) == PN_MESSAGE_REFUSED && !reply.pick);
    CHECK(s.party->rounds == 1);
    pn_message_clear(&reply);
    tear_down(&s);
}

/* Without noise the best vertex; of one point the point, whatever is charged. */
static void exact_choices_and_single_points(void)
{
    double point[] = { 0.5, 0.0, -1.0, 2.0 }, q[N];
    pn_arg args[1] = { { .given = true, .matrix = { .data = point, .rows = 1, .cols = C } } };
    pn_set *single = NULL;
    setting s = set_up(body("linf_ball", C, 0.5, 0), T);
    pn_message reply = { 0 };
    double gradient[C];

    pn_party_free(s.party);
    s.party = party_of(s.data, NULL, 1);
    s.terms.is_private = s.terms.simulated = false;
    s.terms.epsilon0 = s.terms.sigma_feature = 0.0;
    begin(&s);
    for (size_t j = 0; j < N; j++)
        q[j] = s.r.x[j * C] - 0.5 * s.r.x[j * C + 3];
    (void)by_hand(&s.r, q, gradient);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, q), &reply) == PN_MESSAGE_CHOICE && reply.picks == C);
    for (size_t i = 0; i < C; i++)
        CHECK(reply.pick[i] == (gradient[i] > 0.0));
    tear_down(&s);

    CHECK(pn_set_from_args(&single, "polytope", args, NULL) == PN_OK);
    s = set_up(single, T);
    begin(&s);
    CHECK(ask(s.party, round_of(&s.terms, 1, NULL, q), &reply) == PN_MESSAGE_CHOICE);
    CHECK(reply.picks == 1 && reply.pick[0] == 0 && charged(s.ledger, ": selection") == 1);
    CHECK(ask_feature(s.party, &s.terms, 1, 1, &reply) == PN_MESSAGE_REFUSED); /* its entry is 0 */
    pn_message_clear(&reply);
    tear_down(&s);
}

/* ---- terms ---- */

static void refuses(setting *s, pn_terms terms, const char *words)
{
    pn_message reply = { 0 };

    CHECK(ask_terms(s->party, &terms, &reply) == PN_MESSAGE_REFUSED && refused(&reply, words));
    pn_message_clear(&reply);
}

static void terms_that_cannot_be_kept_are_refused(void)
{
    setting s = set_up(product(body("l1_ball", 3, 1.0, 0), body("linf_ball", 1, 1.0, 0)), 1);
    pn_terms terms = s.terms;
    double was = s.terms.block[2];

    terms.stay = true;
    refuses(&s, terms, "parties with sets of their own move in mode product, look at all columns, and never stay");
    terms = s.terms;
    terms.sampled = 2;
    refuses(&s, terms, "look at all columns");
    terms = s.terms;
    terms.mode = PN_FEDERATED_BALL;
    terms.sigma_score = 1.0;
    refuses(&s, terms, "move in mode product");
    terms = s.terms;
    terms.positive = true;
    refuses(&s, terms, "over a simplex mode must be ball");
    terms = s.terms;
    terms.features = 1; /* one round moves a column of the ball and the interval */
    refuses(&s, terms, "no party upload more than 1 columns, and its own set may take 2");
    terms.features = 0;
    refuses(&s, terms, "features must be from 1");
    terms = s.terms;
    terms.block = NULL;
    terms.block_size = 0;
    refuses(&s, terms, "features are limited for blocks only");
    s.terms.block[2] = 2.0; /* the ball's dimension */
    refuses(&s, s.terms, "block: a set of 3 coordinates for a party with 4 columns");
    s.terms.block[2] = 4.0;
    refuses(&s, s.terms, "block:");
    s.terms.block[2] = was;
    s.terms.features = 2;
    begin(&s);
    CHECK(pn_ledger_spent(s.ledger) == 0.0);
    tear_down(&s);
}

/* Over the one simplex of mode ball codes are positive; its candidates are half of those of the ball. */
static void vertices_of_a_simplex_are_positive(void)
{
    records r = records_new(N, C, 1.0, false, 21);
    pn_dataset *data = dataset_of(&r, false);
    pn_ledger *ledger = ledger_of(1e9, PN_REPLACE_ONE);
    pn_party *party = party_of(data, ledger, 7);
    pn_terms terms = terms_of(N, C, 200);
    size_t seen[C + 1] = { 0 };
    pn_message reply = { 0 };

    terms.mode = PN_FEDERATED_BALL;
    terms.sigma_score = 2.0;
    terms.stay = false;
    terms.positive = true;
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    for (uint64_t t = 1; t <= 200; t++) {
        CHECK(ask(party, round_of(&terms, t, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
        if (CHECK(reply.code >= 1 && reply.code <= C && isfinite(reply.score)))
            seen[reply.code]++;
    }
    for (size_t i = 1; i <= C; i++)
        CHECK(seen[i] > 0); /* |ghat| is below 0.2, so each has a chance of more than 0.1: 0.9^200 is 7e-10 */
    pn_message_clear(&reply);
    pn_party_free(party);
    pn_ledger_free(ledger);
    pn_dataset_free(data);
    records_free(&r);
}

/* What parties may upload is what a person is charged at the others, too: K selections a round, and features. */
static void the_price_of_a_person_counts_the_features_of_all(void)
{
    setting s = set_up(body("linf_ball", C, 0.5, 0), T);
    pn_party_report report;
    pn_event *event = NULL;

    s.terms.parties = 3;
    s.terms.features = 5;
    begin(&s);
    CHECK(pn_party_report_of(s.party, &report, NULL) == PN_OK);
    CHECK(party_price_all(&event, &s.party->run, (const uint64_t[]){ 3 * T, C + 2 * 5, 0 }, NULL) == PN_OK);
    CHECK(report.person_epsilon == pn_event_epsilon(event, 1, 1e-6, NULL) && isfinite(report.person_epsilon));
    CHECK_CLOSE(event->ops->zcdp(event), 3.0 * T * 0.25 / 8.0 + 14.0 * 4.0 / (2.0 * 4.0), 1e-6);
    pn_event_free(event);
    tear_down(&s);
}

/* ---- after a restart ---- */

static pn_party *open_party(const records *r, const char *ledger, const char *checkpoint)
{
    const pn_budget budget = { .epsilon = NAN, .rho = 1e6 };
    pn_dataset *data = dataset_of(r, true);
    pn_party_options options = { .data = data, .checkpoint = checkpoint };
    pn_party *party = NULL;
    pn_err err = { .message = "" };

    CHECK(pn_ledger_open(&options.ledger, ledger, NULL, &budget, NULL) == PN_OK);
    if (!CHECK(pn_party_new(&party, &options, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    pn_ledger_free(options.ledger);
    pn_dataset_free(data);
    return party;
}

/* Choices, columns that may be asked for and the set itself are in the checkpoint. */
static void a_party_goes_on_after_it_was_closed(void)
{
    char directory[] = "/tmp/penumbra-block-XXXXXX", ledger[64], checkpoint[64];
    records r = records_new(N, C, 1.0, false, 2);
    pn_terms terms = terms_over(product(body("hypersimplex", 3, 0.5, 2), body("linf_ball", 1, 1.0, 0)), N, T);
    uint32_t made[4][3];
    pn_message reply = { 0 }, feature = { 0 };
    pn_party *party;

    if (!CHECK(mkdtemp(directory) != NULL))
        return;
    (void)snprintf(ledger, sizeof ledger, "%s/ledger", directory);
    (void)snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", directory);
    terms.simulated = false;
    party = open_party(&r, ledger, checkpoint);
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    for (uint64_t t = 1; t <= 4; t++) {
        CHECK(ask(party, round_of(&terms, t, NULL, NULL), &reply) == PN_MESSAGE_CHOICE && reply.picks == 3);
        memcpy(made[t - 1], reply.pick, sizeof made[t - 1]);
    }
    CHECK(ask_feature(party, &terms, 4, 3, &feature) == PN_MESSAGE_FEATURE);
    pn_party_free(party);

    party = open_party(&r, ledger, checkpoint);
    CHECK(ask(party, round_of(&terms, 2, NULL, NULL), &reply) == PN_MESSAGE_CHOICE); /* without the terms again */
    CHECK(reply.picks == 3 && memcmp(reply.pick, made[1], sizeof made[1]) == 0);
    CHECK(ask_feature(party, &terms, 4, 3, &reply) == PN_MESSAGE_FEATURE);
    CHECK(memcmp(reply.vector, feature.vector, N * sizeof(double)) == 0);
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    CHECK(ask(party, round_of(&terms, 5, NULL, NULL), &reply) == PN_MESSAGE_CHOICE && reply.picks == 3);
    CHECK(charged(party->accounts[0].ledger, ": selection") == 5);
    terms.block[terms.block_size - 1] *= 0.5; /* another set */
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_REFUSED &&
          refused(&reply, "the terms differ from those that this run began"));
    pn_party_free(party);
    (void)unlink(ledger);
    (void)unlink(checkpoint);
    (void)snprintf(ledger, sizeof ledger, "rm -rf %s", directory);
    CHECK(system(ledger) == 0);
    pn_message_clear(&reply);
    pn_message_clear(&feature);
    pn_terms_drop(&terms);
    records_free(&r);
}

int main(void)
{
    vertices_have_the_law_that_is_charged();
    a_list_has_the_law_of_one_choice();
    records_move_entries_within_the_sensitivity(0.0, false);
    records_move_entries_within_the_sensitivity(0.5, false);
    records_move_entries_within_the_sensitivity(0.0, true);
    the_same_question_has_the_same_answer();
    nothing_leaves_unpaid();
    exact_choices_and_single_points();
    terms_that_cannot_be_kept_are_refused();
    vertices_of_a_simplex_are_positive();
    the_price_of_a_person_counts_the_features_of_all();
    a_party_goes_on_after_it_was_closed();
    return check_summary();
}
