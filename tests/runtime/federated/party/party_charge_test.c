/* party_charge_test.c -- what is not paid for does not leave a party: whichever charge of a release fails, of whichever
 * ledger, there is no answer and no noise is drawn; and noise that was drawn for some data is for no other.
 * Every check is exact: budgets end between two prices, and keys are given.
 * Depends on: check.h, party_kit.h. */
#include "random/stream.h"
#include "runtime/federated/party/party_kit.h"

enum { N = 4, C = 2, T = 3 };

typedef struct setting {
    records r;
    pn_dataset *data;
    pn_ledger *ledgers[2]; /* its own, the overall one */
    pn_party *party;
    pn_terms terms;
} setting;

/* A budget of 10 in each ledger is more than a run costs. */
static setting set_up(pn_terms terms)
{
    setting s = { .r = records_new(N, C, 1.0, false, 1), .terms = terms };
    pn_party_options options = { .nonprivate = false };
    pn_message reply = { 0 };
    pn_rng *rng = NULL;

    s.data = dataset_of(&s.r, false);
    for (int a = 0; a < 2; a++)
        s.ledgers[a] = ledger_of(10.0, PN_REPLACE_ONE);
    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
    options = (pn_party_options){ .data = s.data, .ledger = s.ledgers[0], .overall = s.ledgers[1], .rng = rng };
    CHECK(pn_party_new(&s.party, &options, NULL) == PN_OK);
    if (!CHECK(ask_terms(s.party, &s.terms, &reply) == PN_MESSAGE_READY))
        (void)fprintf(stderr, "    %s\n", reply.reason);
    pn_message_clear(&reply);
    pn_rng_free(rng);
    return s;
}

static void tear_down(setting *s)
{
    pn_party_free(s->party);
    pn_ledger_free(s->ledgers[0]);
    pn_ledger_free(s->ledgers[1]);
    pn_dataset_free(s->data);
    records_free(&s->r);
}

/* Somebody else spends until `left` of rho remains. */
static void leave(pn_ledger *ledger, double left)
{
    double spend = 10.0 - pn_ledger_spent(ledger) - left;
    pn_event *event = NULL;

    CHECK(pn_event_gaussian(&event, 1.0, sqrt(2.0 * spend), 0, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_ledger_spend(ledger, event, 1, "else", NULL) == PN_OK);
    pn_event_free(event);
}

static pn_terms ball(void)
{
    pn_terms terms = terms_of(N, C, T);

    terms.mode = PN_FEDERATED_BALL;
    terms.epsilon0 = 0.1;
    terms.sigma_score = 1.0; /* a score is some hundred selections */
    return terms;
}

static double price(const setting *s, party_kind kind)
{
    return s->party->run.price[kind]->ops->zcdp(s->party->run.price[kind]);
}

/* Room for the selection, none for the score beside it. */
static void a_score_that_is_not_paid_for_does_not_leave(void)
{
    for (int which = 0; which < 2; which++) {
        setting s = set_up(ball());
        party_reply fresh = { .digest = "one" };
        pn_message reply = { 0 }, request = round_of(&s.terms, 1, NULL, NULL);
        unsigned char drawn[sizeof s.party->rng->key];
        party_scores scores;

        leave(s.ledgers[which], price(&s, PARTY_SELECTION) + 0.5 * price(&s, PARTY_SCORE));
        CHECK(party_scores_of(s.party, &request, &scores, NULL, NULL) == PN_OK);
        memcpy(drawn, s.party->rng->key, sizeof drawn);
        CHECK(party_choose(s.party, 1, &scores, &fresh, NULL, NULL) == PN_EBUDGET);
        CHECK(fresh.code == 0 && isnan(fresh.score) && isnan(fresh.stay_score));
        CHECK(memcmp(drawn, s.party->rng->key, sizeof drawn) == 0); /* nor drawn */
        CHECK(charged(s.ledgers[0], ": score") == 0 && charged(s.ledgers[1], ": score") == 0);
        CHECK(ask(s.party, round_of(&s.terms, 1, NULL, NULL), &reply) == PN_MESSAGE_REFUSED);
        CHECK(refused(&reply, "Remaining") && reply.code == 0);
        CHECK(s.party->rounds == 0 && s.party->count[PARTY_SCORE] == 0 && s.party->count[PARTY_SELECTION] == 0);
        party_scores_clear(&scores);
        pn_message_clear(&request);
        pn_message_clear(&reply);
        tear_down(&s);
    }
}

static void a_feature_that_is_not_paid_for_does_not_leave(void)
{
    for (int which = 0; which < 2; which++) {
        setting s = set_up(terms_of(N, C, T));
        pn_message reply = { 0 };
        double out[N] = { 0.0 };

        leave(s.ledgers[which], 0.5 * price(&s, PARTY_FEATURE));
        s.party->state[0] |= PARTY_CHOSEN;
        CHECK(ask_feature(s.party, &s.terms, 0, 0, &reply) == PN_MESSAGE_REFUSED && refused(&reply, "Remaining"));
        CHECK(party_feature(s.party, 0, false, out, NULL) == PN_EBUDGET);
        for (int l = 0; l < N; l++)
            CHECK(out[l] == 0.0);
        CHECK(charged(s.ledgers[0], ": feature") == 0 && charged(s.ledgers[1], ": feature") == 0);
        CHECK(!(s.party->state[0] & PARTY_RELEASED));
        pn_message_clear(&reply);
        tear_down(&s);
    }
}

static void a_choice_that_is_not_paid_for_does_not_leave(void)
{
    for (int way = 0; way < 6; way++) {
        pn_terms terms = way / 2 == 1 ? ball() : terms_of(N, C, T);
        pn_message reply = { 0 };
        setting s;

        if (way / 2 == 2) {
            terms.mode = PN_FEDERATED_PAPER;
            terms.epsilon0 = 0.0;
            terms.laplace_scale = 10.0;
            terms.stay = false;
        }
        s = set_up(terms);
        leave(s.ledgers[way % 2], 0.5 * price(&s, PARTY_SELECTION));
        CHECK(ask(s.party, round_of(&s.terms, 1, NULL, NULL), &reply) == PN_MESSAGE_REFUSED);
        CHECK(refused(&reply, "Remaining") && reply.code == 0);
        CHECK(charged(s.ledgers[0], ": selection") == 0 && charged(s.ledgers[1], ": selection") == 0);
        pn_message_clear(&reply);
        tear_down(&s);
    }
}

/* ---- noise and data ---- */

/* One question to a party with a given key: of column 0, which is the same in all data here, the noise;
 * and that of the scores. */
typedef struct shown {
    double feature[N], choice;
} shown;

static shown noise_of(records r, pn_terms terms)
{
    pn_dataset *data = dataset_of(&r, false);
    pn_ledger *ledger = ledger_of(1e6, PN_REPLACE_ONE);
    pn_party *party = party_of(data, ledger, 1);
    pn_message reply = { 0 }, request;
    party_reply made = { .digest = "one" };
    party_scores scores;
    shown out = { .choice = NAN };

    terms.simulated = false;
    party->key = (pn_address_key){ .bytes = "a key that is the same each time" };
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    request = round_of(&terms, 1, NULL, (double[N]){ 1.0, -1.0, 0.5, 0.25 });
    CHECK(party_scores_of(party, &request, &scores, NULL, NULL) == PN_OK);
    CHECK(party_choose(party, 1, &scores, &made, NULL, NULL) == PN_OK);
    out.choice =
        made.score + scores.score[made.code > 0 ? 2 * (made.code - 1) + 1 : 2 * (-made.code - 1)] / scores.unit;
    CHECK(party_feature(party, 0, false, out.feature, NULL) == PN_OK);
    for (int l = 0; l < N; l++)
        out.feature[l] -= r.x[l * C];
    party_scores_clear(&scores);
    pn_message_clear(&request);
    pn_message_clear(&reply);
    pn_party_free(party);
    pn_ledger_free(ledger);
    pn_dataset_free(data);
    return out;
}

/* No number of one is near one of the other: noise that is the same agrees to 2^-40 of its scale. */
static bool apart(const shown *a, const shown *b)
{
    bool all = !(fabs(a->choice - b->choice) < 1e-6);

    for (int l = 0; l < N; l++)
        all = all && fabs(a->feature[l] - b->feature[l]) > 1e-6;
    return all;
}

/* A server that knew the same noise of two data sets would subtract it.  The key is fixed,
 * so that this has one outcome. */
static void other_data_have_other_noise_to_the_same_question(void)
{
    pn_terms squared = ball(), logistic = ball();
    double x[N * C] = { 0.5, 0.25, 0.5, -0.5, 1.0, 0.125, 0.25, 1.0 };
    double moved[N * C] = { 0.5, 0.25, 0.5, -0.5, 1.0, 0.125, 0.25, 1.0 };
    double y[N] = { 1.0, 1.0, -1.0, 1.0 }, turned[N] = { -1.0, -1.0, 1.0, 1.0 };
    const records one = { N, C, x, y }, column = { N, C, moved, y }, labels = { N, C, x, turned };
    shown a, b;

    moved[5] += 0x1p-30; /* of the column that is not asked for */
    x[1] = x[3] = x[5] = moved[1] = moved[3] = 0.0;
    squared.epsilon0 = logistic.epsilon0 = 40.0; /* the choice is the same */
    logistic.loss = PN_FEDERATED_LOGISTIC;
    a = noise_of(one, squared);
    b = noise_of(one, squared);
    CHECK(memcmp(&a, &b, sizeof a) == 0); /* the same party, the same question */
    b = noise_of(column, squared);
    CHECK(apart(&a, &b));
    squared.run[0]++; /* an earlier checkpoint that was put back begins another run under the same number */
    b = noise_of(one, squared);
    CHECK(apart(&a, &b));
    /* products with the columns are the same, and slopes are not */
    a = noise_of(one, logistic);
    b = noise_of(labels, logistic);
    CHECK(apart(&a, &b));
}

int main(void)
{
    a_score_that_is_not_paid_for_does_not_leave();
    a_feature_that_is_not_paid_for_does_not_leave();
    a_choice_that_is_not_paid_for_does_not_leave();
    other_data_have_other_noise_to_the_same_question();
    return check_summary();
}
