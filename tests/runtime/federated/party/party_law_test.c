/* party_law_test.c -- that choices have the law of the exponential mechanism, and features the noise that is charged
 * for.  chi^2 with 4 degrees of freedom is beyond 33.4 with probability 1e-6 (closed form exp(-x/2)(1 + x/2));
 * two such checks have 5e-7 each at
 * 34.9.  The sum of N squares is within 6.2 sqrt(2 N) of N but with probability 3e-9
 * (N = 40000, its skewness included), and off by 28 of these for a sigma that is 1.1 times too large or small.
 * Depends on: check.h, party_kit.h. */
#include "runtime/federated/party/party_kit.h"

enum { N = 30, C = 2, DRAWS = 40000 };

/* P(i) proportional to exp(epsilon s_i / (2 Delta)). */
static void expect(const party_scores *scores, double epsilon, double *p)
{
    double sum = 0.0;

    for (size_t i = 0; i < scores->candidates; i++)
        sum += p[i] = exp(epsilon * scores->score[i] / (2.0 * scores->sensitivity));
    for (size_t i = 0; i < scores->candidates; i++)
        p[i] /= sum;
}

/* One party, one question, DRAWS rounds: the noise of each is at its own address. */
static void choices_have_the_law_of_the_exponential_mechanism(double clip)
{
    static double seen[2 * C + 1];
    records r = records_new(N, C, 1.0, false, 21);
    pn_dataset *data = dataset_of(&r, false);
    pn_ledger *ledger = ledger_of(1e18, PN_REPLACE_ONE);
    pn_party *party = party_of(data, ledger, 77);
    pn_terms terms = terms_of(N, C, DRAWS);
    double x[C] = { 0.6, -0.3 }, q[N], p[2 * C + 1], chi = 0.0;
    pn_message reply = { 0 }, request;
    party_scores scores;

    memset(seen, 0, sizeof seen);
    for (size_t j = 0; j < N; j++)
        q[j] = 0.6 * r.x[j * C] - 0.3 * r.x[j * C + 1] + (j % 3 == 0 ? 0.4 : -0.2);
    terms.epsilon0 = 2.0; /* the chances differ, and none is small */
    terms.clip = clip;
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    request = round_of(&terms, 1, x, q);
    CHECK(party_scores_of(party, &request, &scores, NULL, NULL) == PN_OK);
    pn_message_clear(&request);
    expect(&scores, terms.epsilon0, p);
    for (uint64_t t = 1; t <= DRAWS; t++) {
        CHECK(ask(party, round_of(&terms, t, x, q), &reply) == PN_MESSAGE_CHOICE);
        seen[reply.code == 0 ? 2 * C : 2 * (size_t)(llabs(reply.code) - 1) + (reply.code < 0)] += 1.0;
    }
    for (size_t i = 0; i <= 2 * C; i++) {
        CHECK(p[i] > 1e-3 && p[i] < 0.9);
        chi += pow(seen[i] - DRAWS * p[i], 2) / (DRAWS * p[i]);
    }
    if (!CHECK(chi <= 34.9))
        (void)fprintf(stderr, "    chi^2 = %g\n", chi);
    CHECK(charged(ledger, ": selection") == DRAWS);
    party_scores_clear(&scores);
    pn_message_clear(&reply);
    pn_party_free(party);
    pn_ledger_free(ledger);
    pn_dataset_free(data);
    records_free(&r);
}

static void features_have_the_noise_that_is_charged(void)
{
    records r = records_new(DRAWS, 1, 1.0, false, 4);
    pn_dataset *data = dataset_of(&r, false);
    pn_ledger *ledger = ledger_of(1e6, PN_REPLACE_ONE);
    pn_party *party = party_of(data, ledger, 78);
    pn_terms terms = terms_of(DRAWS, 1, 2);
    pn_message reply = { 0 };
    double sum = 0.0, mean = 0.0;

    terms.stay = false;
    terms.sigma_feature = 1.7;
    CHECK(ask_terms(party, &terms, &reply) == PN_MESSAGE_READY);
    CHECK(ask(party, round_of(&terms, 1, NULL, NULL), &reply) == PN_MESSAGE_CHOICE);
    CHECK(ask_feature(party, &terms, 1, 0, &reply) == PN_MESSAGE_FEATURE && reply.size == DRAWS);
    for (size_t j = 0; j < DRAWS; j++) {
        double noise = (reply.vector[j] - r.x[j]) / 1.7;

        sum += noise * noise;
        mean += noise;
    }
    CHECK(fabs(sum - DRAWS) <= 6.2 * sqrt(2.0 * DRAWS));
    CHECK(fabs(mean) <= 6.2 * sqrt(DRAWS));
    CHECK_CLOSE(pn_ledger_spent(ledger), 0.25 / 8.0 + 4.0 / (2.0 * 1.7 * 1.7), 1e-6);
    pn_message_clear(&reply);
    pn_party_free(party);
    pn_ledger_free(ledger);
    pn_dataset_free(data);
    records_free(&r);
}

int main(void)
{
    choices_have_the_law_of_the_exponential_mechanism(0.0);
    choices_have_the_law_of_the_exponential_mechanism(0.5);
    features_have_the_noise_that_is_charged();
    return check_summary();
}
