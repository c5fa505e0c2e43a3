/* mutants_federated_test.c -- audits of what leaves the parties of a federated run: none refutes what ledgers are
 * charged for, and each fault that is planted in a party (core/mutant.h) is caught.  A claim is read from the ledger,
 * never from the plan.  Every audit states a bound with confidence 1 - 1e-8 on the two data sets that its release tells
 * apart best, or nearly; honest parties meet 12 of them, so that a false alarm has a chance of at most 1.2e-7.  Seeds
 * are fixed.  The audit's data have 4 records; the first one is private,
 * and on the other side its features have the other sign.
 * Depends on: check.h, tests/runtime/federated/party/party_kit.h, and the objects with faults,
 * which the Makefile links. */
#define _GNU_SOURCE
#include "federated/server/server.h"
#include "geometry/sets/sets.h"
#include "privacy/accounting/accountant.h"
#include "privacy/audit/audit.h"
#include "runtime/federated/party/party_kit.h"

enum { N = 4 };

static const pn_audit_options options = { .delta = 0.1, .confidence = 1.0 - 1e-8, .gaussian = true };
static const pn_audit_options pure = { .delta = 0.0, .confidence = 1.0 - 1e-8 };

/* ---- one side ---- */

typedef struct side {
    records r;
    pn_dataset *data;
    pn_ledger *ledger;
    pn_party *party;
    pn_terms terms;
} side;

/* Columns of `others`, the label -1; x[0][i] = sign of side for the columns that are `private`. */
static records data_of(int which, size_t columns, double others, bool every)
{
    records r = { N, columns, pn_calloc(N * columns, sizeof(double)), pn_calloc(N, sizeof(double)) };

    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < columns; i++)
            r.x[j * columns + i] = j > 0 ? others : every || i % 2 == 0 ? (which ? -1.0 : 1.0) : 0.0;
        r.y[j] = -1.0;
    }
    return r;
}

static side side_of(records r, pn_terms terms, uint64_t seed)
{
    side s = { .r = r, .data = dataset_of(&r, false), .ledger = ledger_of(1e18, PN_REPLACE_ONE), .terms = terms };
    pn_message reply = { 0 };

    s.party = party_of(s.data, s.ledger, seed);
    if (!CHECK(ask_terms(s.party, &terms, &reply) == PN_MESSAGE_READY))
        (void)fprintf(stderr, "    %s\n", reply.reason);
    pn_message_clear(&reply);
    return s;
}

static void side_clear(side *s)
{
    pn_party_free(s->party);
    pn_ledger_free(s->ledger);
    pn_dataset_free(s->data);
    records_free(&s->r);
}

static pn_charge charge_of(const pn_ledger *ledger, const char *end)
{
    for (size_t i = 0; i < pn_ledger_entries(ledger); i++) {
        pn_charge one = pn_ledger_entry(ledger, i);
        size_t size = strlen(one.label), tail = strlen(end);

        if (size >= tail && strcmp(one.label + size - tail, end) == 0)
            return one;
    }
    return (pn_charge){ 0 };
}

/* mu of what was charged in one of `trials` trials, all for the same event. */
static double charged_mu(const side *s, const char *end, size_t trials)
{
    pn_charge one = charge_of(s->ledger, end);

    return one.event ? sqrt(2.0 * one.event->ops->zcdp(one.event) * (double)charged(s->ledger, end) / (double)trials)
                     : 0.0;
}

static double charged_epsilon(const side *s, const char *end, size_t trials)
{
    pn_charge one = charge_of(s->ledger, end);

    return one.event ? pn_event_epsilon(one.event, charged(s->ledger, end) / trials, 0.0, NULL) : 0.0;
}

/* ---- audits: true when they refute ---- */

typedef struct outputs {
    size_t n;
    double *score[2];
} outputs;

static outputs outputs_new(size_t n)
{
    return (outputs){ n, { pn_calloc(n, sizeof(double)), pn_calloc(n, sizeof(double)) } };
}

static bool refuted(outputs *o, double epsilon, double mu)
{
    pn_audit_result result = { 0 };

    CHECK(pn_audit_two_sample(&result, o->score[0], o->score[1], o->n, isnan(mu) ? &pure : &options, NULL) == PN_OK);
    pn_free(o->score[0]);
    pn_free(o->score[1]);
    return isnan(mu) ? result.epsilon > epsilon : result.mu > mu;
}

static pn_message choice(side *s, uint64_t round, const double *x, const double *q)
{
    pn_message reply = { 0 };

    if (!CHECK(ask(s->party, round_of(&s->terms, round, x, q), &reply) == PN_MESSAGE_CHOICE))
        (void)fprintf(stderr, "    %s\n", reply.reason);
    return reply;
}

/* One question again and again: which side of the only column is chosen. */
static bool selections(size_t trials, double margin, double clip, double others)
{
    const double q[N] = { margin, margin, margin, margin };
    outputs o = outputs_new(trials);
    double claim = 0.0;

    for (int which = 0; which < 2; which++) {
        pn_terms terms = terms_of(N, 1, trials);
        side s;

        terms.epsilon0 = 1.0;
        terms.clip = clip;
        s = side_of(data_of(which, 1, others, true), terms, 31 + (uint64_t)which);
        for (size_t t = 0; t < trials; t++)
            o.score[which][t] = choice(&s, t + 1, NULL, q).code == 1;
        claim = charged_epsilon(&s, ": selection", trials);
        side_clear(&s);
    }
    return refuted(&o, claim, NAN);
}

/* Of these two half are worth 0.73 epsilon0, and twice that when noise is half of what it should be: then p = 0.81 and
 * q = 0.19.  The half of the trials that judges bounds ln(p / q) from below by 1.23 on average, with a standard
 * deviation of sqrt(4.5 / 4000) = 0.034: above 1 in all but 1e-10 of seeds. */
static bool law(void)
{
    return selections(8000, 0.0, 0.0, 1.0);
}

static bool labels(void)
{
    return selections(8000, 1.0, 0.0, 1.0);
}

static bool margins(void)
{
    return selections(4000, 20.0, 0.0, 0.0);
}

static bool clipped(void)
{
    return selections(4000, 20.0, 0.5, 0.0);
}

/* A party whose set is the interval from -1 to 1. */
static pn_terms terms_of_interval(size_t rounds)
{
    pn_terms terms = terms_of(N, 1, rounds);
    pn_arg ball[3] = { { .given = true, .count = 1 }, { .given = true, .real = 1.0 }, { 0 } };
    pn_set *set = NULL;

    terms.epsilon0 = 1.0;
    terms.stay = false;
    terms.features = 1;
    CHECK(pn_set_from_args(&set, "linf_ball", ball, NULL) == PN_OK);
    CHECK(pn_block_write(&terms.block, &terms.block_size, set, NULL) == PN_OK);
    pn_set_free(set);
    return terms;
}

/* Which end of it is chosen: what costs rho is one choice, of bounded range sqrt(8 rho).  Of that these two are worth
 * half, and twice as much when noise is half of what it should be. */
static bool vertices(void)
{
    const size_t trials = 8000;
    const double q[N] = { 0.0 };
    outputs o = outputs_new(trials);
    double rho = 0.0;

    for (int which = 0; which < 2; which++) {
        pn_terms terms = terms_of_interval(trials);
        side s = side_of(data_of(which, 1, 1.0, true), terms, 31 + (uint64_t)which);

        for (size_t t = 0; t < trials; t++) {
            pn_message reply = choice(&s, t + 1, NULL, q);

            o.score[which][t] = reply.picks == 1 && reply.pick[0] == 0;
            pn_message_clear(&reply);
        }
        rho = 0.5 * pow(charged_mu(&s, ": selection", trials), 2);
        side_clear(&s);
        pn_terms_drop(&terms);
    }
    return refuted(&o, sqrt(8.0 * rho), NAN);
}

/* Two questions.  What the private record says does not enter the first; what the third has puts both on one scale, and
 * the second moves the answer to the second question, so that on one side the two are the same question. */
static bool reused(void)
{
    const size_t trials = 8000;
    const double first[N] = { -1.0, 9.0, 10.0, -1.0 }, second[N] = { 9.0, -1.0, 10.0, -1.0 };
    outputs o = outputs_new(trials);
    double claim = 0.0;

    for (int which = 0; which < 2; which++) {
        records r = data_of(which, 1, 0.0, true);
        pn_terms terms = terms_of(N, 1, 2 * trials);
        side s;

        r.x[1] = 1.0;
        terms.epsilon0 = 1.0;
        s = side_of(r, terms, 41 + (uint64_t)which);
        for (size_t t = 0; t < trials; t++)
            o.score[which][t] = choice(&s, 2 * t + 1, NULL, first).code != choice(&s, 2 * t + 2, NULL, second).code;
        claim = charged_epsilon(&s, ": selection", trials);
        side_clear(&s);
    }
    return refuted(&o, claim, NAN);
}

static double uploaded(side *s, size_t column)
{
    pn_message reply = { 0 };
    double out;

    s->party->state[column] |= PARTY_CHOSEN; /* by thousands of rounds */
    CHECK(ask_feature(s->party, &s->terms, 1, (uint32_t)column, &reply) == PN_MESSAGE_FEATURE);
    out = reply.vector[0];
    pn_message_clear(&reply);
    return out;
}

typedef double feature_statistic(side *s, size_t trial);

static bool features(size_t trials, size_t columns, bool every, feature_statistic *of)
{
    outputs o = outputs_new(trials);
    double claim = 0.0;

    for (int which = 0; which < 2; which++) {
        side s = side_of(data_of(which, columns, 0.0, every), terms_of(N, columns, columns), 51 + (uint64_t)which);

        for (size_t t = 0; t < trials; t++)
            o.score[which][t] = of(&s, t);
        claim = charged_mu(&s, ": feature", trials);
        side_clear(&s);
    }
    return refuted(&o, NAN, claim);
}

static double twice(side *s, size_t trial)
{
    return uploaded(s, trial) + uploaded(s, trial);
}

static double apart(side *s, size_t trial)
{
    return uploaded(s, 2 * trial) - uploaded(s, 2 * trial + 1);
}

static bool single_features(void)
{
    return features(8000, 8000, true, uploaded);
}

static bool repeated_features(void)
{
    return features(8000, 8000, true, twice);
}

static bool beside_features(void)
{
    return features(1000, 2000, false, apart);
}

/* The choice is known, so that only scores tell. */
static bool scores(void)
{
    const size_t trials = 8000;
    const double x[1] = { 1.0 }, q[N] = { 0.0 };
    outputs o = outputs_new(trials);
    double claim = 0.0;

    for (int which = 0; which < 2; which++) {
        pn_terms terms = terms_of(N, 1, trials);
        side s;

        terms.mode = PN_FEDERATED_BALL;
        terms.epsilon0 = 60.0;
        terms.sigma_score = 1.0;
        s = side_of(data_of(which, 1, 1.0, true), terms, 61 + (uint64_t)which);
        for (size_t t = 0; t < trials; t++) {
            pn_message reply = choice(&s, t + 1, x, q);

            CHECK(reply.code == -1);
            o.score[which][t] = reply.stay_score - reply.score;
        }
        claim = charged_mu(&s, ": score", trials);
        side_clear(&s);
    }
    return refuted(&o, NAN, claim);
}

/* ---- without statistics ---- */

/* What the ledger refuses does not leave. */
static bool refusals(void)
{
    side s = side_of(data_of(0, 1, 1.0, true), terms_of(N, 1, 4), 1);
    pn_message reply = { 0 };
    bool left;

    pn_message_clear(&reply);
    reply = choice(&s, 1, NULL, NULL);
    pn_ledger_close(s.ledger);
    left = ask(s.party, round_of(&s.terms, 2, NULL, NULL), &reply) != PN_MESSAGE_REFUSED;
    left = left || ask_feature(s.party, &s.terms, 1, 0, &reply) != PN_MESSAGE_REFUSED;
    pn_message_clear(&reply);
    side_clear(&s);
    return left;
}

static bool refused_vertices(void)
{
    pn_terms terms = terms_of_interval(4);
    side s = side_of(data_of(0, 1, 1.0, true), terms, 1);
    pn_message reply = choice(&s, 1, NULL, NULL);
    bool left;

    pn_ledger_close(s.ledger);
    left = ask(s.party, round_of(&s.terms, 2, NULL, NULL), &reply) != PN_MESSAGE_REFUSED;
    pn_message_clear(&reply);
    side_clear(&s);
    pn_terms_drop(&terms);
    return left;
}

static bool counts(void)
{
    side s = side_of(data_of(0, 1, 1.0, true), terms_of(N, 1, 4), 1);
    bool wrong;

    for (uint64_t t = 1; t <= 4; t++)
        (void)choice(&s, t, NULL, NULL);
    wrong = charged(s.ledger, ": selection") != 4;
    side_clear(&s);
    return wrong;
}

/* ---- a run of server and two parties ---- */

/* The labels are such that the first party goes up and the second down: q is the difference of their features,
 * with both noises. */
static double difference(int which, pn_rng *rng, double *claim)
{
    records r = data_of(which, 2, 1.0, false);
    pn_terms terms[2];
    pn_budget budget = { .epsilon = NAN, .rho = 1e9, .teaching = true };
    pn_transport *transport = NULL;
    pn_server *server = NULL;
    pn_server_round made;
    pn_ledger *overall = ledger_of(1e9, PN_REPLACE_ONE);
    pn_objective *objective = NULL;
    pn_loss *loss = NULL;
    pn_dataset *data;
    pn_err err = { 0 };
    double out = 0.0;

    for (size_t j = 1; j < N; j++)
        r.x[2 * j] = -1.0;
    data = dataset_of(&r, false);
    for (uint32_t k = 0; k < 2; k++) {
        terms[k] = terms_of(N, 1, 1);
        terms[k].parties = 2;
        terms[k].party = k;
        terms[k].epsilon0 = 60.0;
    }
    CHECK(pn_loss_from_args(&loss, "squared", NULL, &err) == PN_OK);
    CHECK(pn_objective_new(&objective, &(pn_objective_parts){ .data = data, .loss = loss }, &err) == PN_OK);
    CHECK(pn_transport_in_process(&transport, &(pn_in_process_options){ .parties = 2 }, &err) == PN_OK);
    CHECK(pn_transport_begin(
              transport,
              &(pn_transport_run){
                  .objective = objective, .rng = rng, .overall = overall, .is_private = true, .party = budget },
              &err) == PN_OK);
    if (CHECK(pn_server_new(&server, &(pn_server_options){ .transport = transport, .terms = terms }, NULL, &err) ==
              PN_OK) &&
        CHECK(pn_server_step(server, &made, NULL, &err) == PN_OK)) {
        double x[2];

        pn_server_model(server, x);
        CHECK(x[0] == 1.0 && x[1] == -1.0);
        out = pn_server_margin(server)[0];
        pn_server_finish(server);
    } else {
        (void)fprintf(stderr, "    %s\n", err.message);
    }
    *claim = sqrt(2.0 * charge_of(overall, ": feature").event->ops->zcdp(charge_of(overall, ": feature").event) *
                  (double)charged(overall, ": feature"));
    pn_server_free(server);
    pn_transport_free(transport);
    pn_objective_free(objective);
    pn_loss_free(loss);
    pn_ledger_free(overall);
    pn_dataset_free(data);
    records_free(&r);
    return out;
}

/* `again`: minus what a second run with the same generator gives, of the same records on both sides.  Noise that
 * cancels leaves two points, which 200 trials tell apart by mu = 2.5 for certain; 2 is charged. */
static bool runs(bool again)
{
    outputs o = outputs_new(200);
    double claim = 0.0, more = 0.0;

    for (int which = 0; which < 2; which++) {
        for (size_t t = 0; t < o.n; t++) {
            pn_rng *rng = NULL;

            CHECK(pn_rng_seeded(&rng, 1 + 2 * t + (uint64_t)which, NULL) == PN_OK);
            o.score[which][t] = difference(which, rng, &claim);
            if (again)
                o.score[which][t] -= difference(1, rng, &more);
            pn_rng_free(rng);
        }
    }
    return refuted(&o, NAN, hypot(claim, more));
}

static bool parties(void)
{
    return runs(false);
}

static bool later_runs(void)
{
    return runs(true);
}

/* ---- all of them: in the fast tier each fault, and the first audit of honest parties ---- */

static const struct {
    const char *fault;
    bool (*audit)(void);
} faults[] = {
    { "party_forgets_two", law },
    { "party_half_scale", law },
    { "party_half_scale", vertices },
    { "party_forgets_two", vertices },
    { "sensitivity_half", vertices },
    { "party_forgets_labels", labels },
    { "party_forgets_q", margins },
    { "party_clips_nothing", clipped },
    { "party_reuses_noise", reused },
    { "party_feature_half", single_features },
    { "party_feature_again", repeated_features },
    { "party_alike_features", beside_features },
    { "party_stay_unpaid", scores },
    { "party_charges_after", refusals },
    { "party_charges_after", refused_vertices },
    { "party_forgets_charge", counts },
    { "parties_alike", parties },
    { "runs_alike", later_runs },
};

int main(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool caught;

        if (i == 0 || (check_thorough() && faults[i].audit != faults[i - 1].audit)) {
            CHECK(unsetenv("PENUMBRA_MUTANT") == 0);
            if (!CHECK(!faults[i].audit()))
                (void)fprintf(stderr, "    refuted without a fault: the audit of %s\n", faults[i].fault);
        }
        CHECK(setenv("PENUMBRA_MUTANT", faults[i].fault, 1) == 0);
        caught = faults[i].audit();
        if (!CHECK(caught))
            (void)fprintf(stderr, "    not caught: %s\n", faults[i].fault);
    }
    return check_summary();
}
