/* party_person_test.c -- what a party states of its own releases wherever a run ends, what it works out of a person who
 * is at all parties, and its owner's cap on that.  Depends on: check.h, party_kit.h. */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "runtime/federated/party/party_kit.h"

enum { N = 60, C = 4, T = 10, PARTIES = 3 };

#define DELTA 1e-6 /* of a ledger in rho: its odometer's */

typedef struct setting {
    records r;
    pn_dataset *data;
    pn_ledger *ledger;
} setting;

static setting set_up(void)
{
    setting s = { .r = records_new(N, C, 1.0, false, 3), .ledger = ledger_of(1e6, PN_REPLACE_ONE) };

    s.data = dataset_of(&s.r, false);
    return s;
}

static void tear_down(setting *s)
{
    pn_ledger_free(s->ledger);
    pn_dataset_free(s->data);
    records_free(&s->r);
}

static pn_terms terms_of_three(bool ball)
{
    pn_terms terms = terms_of(N, C, T);

    terms.parties = PARTIES;
    terms.party = 1;
    if (ball) {
        terms.mode = PN_FEDERATED_BALL;
        terms.sigma_score = 4.0;
    }
    return terms;
}

static pn_status open_party(pn_party **out, const setting *s, double person_epsilon, pn_ledger *ledger, pn_err *err)
{
    pn_party_options options = {
        .data = s->data, .ledger = ledger, .nonprivate = true, .person_epsilon = person_epsilon
    };
    pn_rng *rng = NULL;
    pn_status status;

    CHECK(pn_rng_seeded(&rng, 2, NULL) == PN_OK);
    options.rng = rng;
    status = pn_party_new(out, &options, err);
    pn_rng_free(rng);
    return status;
}

/* Releases composed by hand: of the squared loss over the identity, where a column's sensitivity is 2 X = 2. */
static double price(const pn_terms *terms, size_t selections, size_t features)
{
    pn_event *each[3] = { NULL }, *many[3] = { NULL }, *all = NULL;
    const size_t counts[3] = { selections, features, selections };
    size_t kinds = terms->mode == PN_FEDERATED_BALL ? 3 : 2;
    double epsilon;

    CHECK(pn_event_exponential(&each[0], terms->epsilon0, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_event_gaussian(&each[1], terms->sigma_feature, 2.0, N, PN_REPLACE_ONE, NULL) == PN_OK);
    if (kinds == 3) /* the score and <ghat, x>, each of sensitivity 1 */
        CHECK(pn_event_gaussian(&each[2], terms->sigma_score, sqrt(2.0), 2, PN_REPLACE_ONE, NULL) == PN_OK);
    for (size_t i = 0; i < kinds; i++)
        CHECK(pn_event_repeated(&many[i], each[i], counts[i], NULL) == PN_OK);
    CHECK(pn_event_compose(&all, many, kinds, NULL) == PN_OK);
    epsilon = pn_event_epsilon(all, 1, DELTA, NULL);
    for (size_t i = 0; i < 3; i++) {
        pn_event_free(each[i]);
        pn_event_free(many[i]);
    }
    pn_event_free(all);
    return epsilon;
}

/* ---- what it states ---- */

static void states_all_that_its_terms_allow(bool ball)
{
    setting s = set_up();
    pn_terms terms = terms_of_three(ball);
    pn_party *party = NULL;
    pn_party_report report;
    pn_message choice = { 0 };
    host h;

    CHECK(open_party(&party, &s, 0.0, s.ledger, NULL) == PN_OK);
    CHECK(pn_party_report_of(party, &report, NULL) == PN_OK);
    CHECK(isnan(report.epsilon) && isnan(report.person_epsilon) && report.parties == 0);
    h = host_new(party, &terms);
    CHECK(pn_party_report_of(party, &report, NULL) == PN_OK);
    CHECK(report.epsilon == 0.0 && report.charged_epsilon == 0.0 && report.delta == DELTA && report.parties == PARTIES);
    host_step(&h, &choice);
    CHECK(pn_party_report_of(party, &report, NULL) == PN_OK);
    CHECK(report.selections == 1 && report.features <= 1);
    CHECK_CLOSE(report.epsilon / price(&terms, T, C), 1.0, 1e-6); /* however early it ends */
    if (ball) /* a score is charged by the weight of x, and priced at most */
        CHECK(report.charged_rho >= pn_ledger_spent(s.ledger));
    else
        CHECK_CLOSE(report.charged_rho, pn_ledger_spent(s.ledger), 1e-9);
    CHECK(report.charged_epsilon < 0.7 * report.epsilon && report.charged_rho < 0.3 * report.rho);
    /* others may have a new column in each of T rounds */
    CHECK_CLOSE(report.person_epsilon / price(&terms, PARTIES * T, (PARTIES - 1) * T + C), 1.0, 1e-6);
    pn_message_clear(&choice);
    host_free(&h);
    pn_party_free(party);
    tear_down(&s);
}

/* ---- the cap ---- */

static void takes(const setting *s, double cap, const pn_terms *terms)
{
    pn_message reply = { 0 };
    pn_party *party = NULL;
    pn_party_report report;

    CHECK(open_party(&party, s, cap, s->ledger, NULL) == PN_OK);
    CHECK(ask_terms(party, terms, &reply) == PN_MESSAGE_READY);
    CHECK(pn_party_report_of(party, &report, NULL) == PN_OK);
    CHECK(report.person_cap == cap && report.person_epsilon <= cap && report.phase == PN_PARTY_READY);
    pn_message_clear(&reply);
    pn_party_free(party);
}

static void refuses(const setting *s, double cap, const pn_terms *terms, pn_status status, const char *of_terms,
                    const char *of_owner)
{
    pn_message reply = { 0 };
    pn_party *party = NULL;
    pn_party_report report;

    CHECK(open_party(&party, s, cap, s->ledger, NULL) == PN_OK);
    CHECK(ask_terms(party, terms, &reply) == PN_MESSAGE_REFUSED && reply.status == status);
    CHECK(refused(&reply, of_terms) && refused(&reply, of_owner));
    CHECK(pn_party_report_of(party, &report, NULL) == PN_OK);
    CHECK(report.phase == PN_PARTY_NEW && pn_ledger_entries(s->ledger) == 0);
    CHECK(ask(party, round_of(terms, 1, NULL, NULL), &reply) == PN_MESSAGE_REFUSED && refused(&reply, "before terms"));
    CHECK(pn_ledger_entries(s->ledger) == 0);
    pn_message_clear(&reply);
    pn_party_free(party);
}

static void terms_beyond_the_cap_are_refused(void)
{
    setting s = set_up();
    pn_terms terms = terms_of_three(false), more = terms;
    double epsilon = price(&terms, PARTIES * T, (PARTIES - 1) * T + C), cap = epsilon * (1.0 + 1e-6);
    char both[2][64];

    takes(&s, cap, &terms);
    (void)snprintf(both[0], sizeof both[0], "let 3 parties spend epsilon %.4g", epsilon);
    both[0][strlen(both[0]) - 1] = '\0'; /* the last digit is as it is rounded */
    (void)snprintf(both[1], sizeof both[1], "its person_epsilon is %g", epsilon * 0.99);
    refuses(&s, epsilon * 0.99, &terms, PN_EBUDGET, both[0], both[1]);
    more.parties++;
    refuses(&s, cap, &more, PN_EBUDGET, "let 4 parties", "fewer rounds or more noise");
    more = terms;
    more.iterations++;
    refuses(&s, cap, &more, PN_EBUDGET, "let 3 parties", "raise person_epsilon");
    more = terms;
    more.sigma_feature *= 0.99;
    refuses(&s, cap, &more, PN_EBUDGET, "let 3 parties", "on one person");
    more = terms_of_three(true);
    refuses(&s, cap, &more, PN_EBUDGET, "let 3 parties", "at delta 1e-06");
    tear_down(&s);
}

static void terms_that_prove_nothing_are_refused_under_any_cap(void)
{
    setting s = set_up();
    pn_terms terms = terms_of_three(false);

    terms.is_private = terms.simulated = false;
    terms.epsilon0 = terms.sigma_feature = 0.0;
    refuses(&s, 1e9, &terms, PN_EPRIVACY, "prove no epsilon", "person_epsilon is 1e+09");
    terms = terms_of_three(false);
    terms.mode = PN_FEDERATED_PAPER;
    terms.epsilon0 = 0.0;
    terms.laplace_scale = 1.0;
    terms.stay = false;
    refuses(&s, 1e9, &terms, PN_EPRIVACY, "prove no epsilon", "a mode that is proven");
    tear_down(&s);
}

static void caps_that_make_no_sense_are_refused(void)
{
    const double wrong[] = { -1.0, NAN, -INFINITY };
    setting s = set_up();
    pn_party *party = NULL;
    pn_err err = { 0 };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(open_party(&party, &s, wrong[i], s.ledger, &err) == PN_EINVAL && party == NULL);
        CHECK(strstr(err.message, "person_epsilon must be positive"));
    }
    CHECK(open_party(&party, &s, 1.0, NULL, &err) == PN_EINVAL && strstr(err.message, "give a ledger"));
    tear_down(&s);
}

int main(void)
{
    states_all_that_its_terms_allow(false);
    states_all_that_its_terms_allow(true);
    terms_beyond_the_cap_are_refused();
    terms_that_prove_nothing_are_refused_under_any_cap();
    caps_that_make_no_sense_are_refused();
    return check_summary();
}
