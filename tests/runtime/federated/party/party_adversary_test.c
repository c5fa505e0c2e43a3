/* party_adversary_test.c -- a server that says what it likes: terms that cost more than there is, or are counted
 * otherwise, are refused; whatever x and q it sends, whether there is an answer, and at what price,
 * does not depend on the records.
 * Depends on: check.h, party_kit.h. */
#include "runtime/federated/party/party_kit.h"

enum { N = 20, C = 3 };

typedef struct victim {
    records r;
    pn_dataset *data;
    pn_ledger *ledger;
    pn_party *party;
} victim;

/* Records at the corner where scores are as large as they can be, or at the other one. */
static victim victim_of(double corner, double rho)
{
    victim v = { .r = records_new(N, C, 1.0, false, 3) };

    for (size_t k = 0; corner != 0.0 && k < N * C; k++)
        v.r.x[k] = corner;
    for (size_t j = 0; corner != 0.0 && j < N; j++)
        v.r.y[j] = corner > 0.0 ? -1.0 : 1.0;
    v.data = dataset_of(&v.r, false);
    v.ledger = ledger_of(rho, PN_REPLACE_ONE);
    v.party = party_of(v.data, v.ledger, 9);
    return v;
}

static void victim_clear(victim *v)
{
    pn_party_free(v->party);
    pn_ledger_free(v->ledger);
    pn_dataset_free(v->data);
    records_free(&v->r);
}

static void refuses(pn_terms terms, const char *part)
{
    victim v = victim_of(0.0, 1.0);
    pn_message reply = { 0 };

    (void)ask_terms(v.party, &terms, &reply);
    CHECK(refused(&reply, part));
    CHECK(pn_ledger_spent(v.ledger) == 0.0);
    CHECK(ask(v.party, round_of(&terms, 1, NULL, NULL), &reply) == PN_MESSAGE_REFUSED);
    pn_message_clear(&reply);
    victim_clear(&v);
}

static void terms_that_cannot_be_paid_are_refused(void)
{
    const pn_terms good = terms_of(N, C, 1);
    pn_terms terms = good;

    terms.neighbours = PN_ZERO_OUT;
    refuses(terms, "neighbours");
    terms = good;
    terms.sigma_feature = 0x1p-1000;
    refuses(terms, "noise");
    terms.sigma_feature = 1e-160;
    refuses(terms, "accounted");
    terms.sigma_feature = 1e-3;
    refuses(terms, "Requested");
    terms = good;
    terms.epsilon0 = 1e100;
    refuses(terms, "Requested");
    terms.epsilon0 = 1e-300;
    refuses(terms, "epsilon");
    terms = good;
    terms.iterations = UINT64_C(1) << 40;
    refuses(terms, "Requested");
    terms = good;
    terms.mode = PN_FEDERATED_BALL;
    terms.sigma_score = 1e-200;
    refuses(terms, "accounted");
    terms = good;
    terms.feature_bound = 0.999;
    refuses(terms, "feature");
    terms = good;
    terms.label_bound = 0.999;
    refuses(terms, "label");
    terms = good;
    terms.feature_bound = 0x1p400; /* which its own noise does not hide */
    refuses(terms, "accounted");
}

/* Kind of the answer, of that to a fetch of what it chose, and what both cost. */
typedef struct outcome {
    pn_message_kind choice, feature;
    double spent;
} outcome;

static outcome outcome_of(double corner, const pn_terms *terms, const double *x, const double *q)
{
    victim v = victim_of(corner, 1e9);
    pn_message reply = { 0 };
    outcome out = { 0 };

    CHECK(ask_terms(v.party, terms, &reply) == PN_MESSAGE_READY);
    out.choice = ask(v.party, round_of(terms, 1, x, q), &reply);
    for (uint32_t i = 0; out.choice == PN_MESSAGE_CHOICE && i < C; i++) {
        v.party->state[i] |= PARTY_CHOSEN; /* whatever was chosen */
        out.feature = ask_feature(v.party, terms, 1, i, &reply);
        CHECK(out.feature == PN_MESSAGE_FEATURE);
    }
    out.spent = pn_ledger_spent(v.ledger);
    pn_message_clear(&reply);
    victim_clear(&v);
    return out;
}

static void compare(const pn_terms *terms, double size)
{
    double x[C] = { 0.5, 0.0, -0.5 }, *q = pn_calloc(terms->sketch.m, sizeof *q);
    outcome up, down;

    for (size_t i = 0; i < C; i++)
        x[i] *= terms->radius < 1.0 ? 0.0 : 1.0;
    for (size_t l = 0; l < terms->sketch.m; l++)
        q[l] = size;
    up = outcome_of(1.0, terms, x, q);
    down = outcome_of(-1.0, terms, x, q);
    CHECK(up.choice == down.choice && up.feature == down.feature && up.spent == down.spent);
    CHECK(up.choice == (fabs(size) > 1e100 ? PN_MESSAGE_REFUSED : PN_MESSAGE_CHOICE));
    pn_free(q);
}

static void whether_there_is_an_answer_depends_on_the_question_only(void)
{
    static const double sizes[] = { 0.0, 0x1p-1074, -1.0, 1e99, -1e100, 1.1e100, -1e308 };
    static const double radii[] = { 1.0, 0x1p-400, 0x1p400 };

    for (int way = 0; way < 3 * 2 * 2; way++) {
        pn_terms terms = sketched(terms_of(N, C, 1), (pn_sketch_kind)(way % 3), way % 3 ? 16 : N);

        terms.mode = way / 3 % 2 ? PN_FEDERATED_BALL : PN_FEDERATED_PRODUCT;
        terms.sigma_score = terms.mode == PN_FEDERATED_BALL ? 1.0 : 0.0;
        terms.clip = way / 6 % 2 ? 0x1p-400 : 0.0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            terms.radius = radii[(i + (size_t)way) % 3];
            compare(&terms, sizes[i]);
        }
    }
}

int main(void)
{
    terms_that_cannot_be_paid_are_refused();
    whether_there_is_an_answer_depends_on_the_question_only();
    return check_summary();
}
