/* party_release.c -- what leaves a party: charged, then drawn from the stream at its address.
 *
 * A charge carries the run in its label, so that ledgers tell how many they hold.  After a crash between a charge and
 * the record of its release the ledger holds one more than is known: that one was never handed out, and pays for the
 * next release of its kind, if it is of the same event.
 * This is why releases do not go through pn_mechanism_release, which charges whenever it draws.
 * Depends on: party_impl.h, random/noise.h, libsodium.  Used by: party.c, party_terms.c.  See noise.md,
 * accounting.md section 7. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "federated/party/party_impl.h"
#include "federated/wire/release.h"
#include "privacy/mechanism/selections.h"
#include "random/noise.h"

/* ---- accounts ---- */

static void label_of(const pn_party *party, party_kind kind, char text[PN_RELEASE_LABEL])
{
    pn_release_label(text, party->terms.run, (size_t)party->terms.party + 1, (pn_release_kind)kind);
}

/* Scores may differ in price from round to round, so that an old charge may not do for a new one: there may be more of
 * them. */
static pn_status check_account(const party_account *account, party_kind kind, pn_err *err)
{
    uint64_t known = account->known[kind], there = account->there[kind];

    if (there < known)
        return pn_fail(
            err, PN_EPRIVACY,
            "party: the checkpoint knows of %llu releases (%s) that were paid for and the ledger of %llu: it is not "
            "the ledger of this run, or an earlier copy of it",
            (unsigned long long)known, pn_release_names[kind], (unsigned long long)there);
    if (there > known + 1 && kind != PARTY_SCORE)
        return pn_fail(err, PN_EPRIVACY,
                       "party: the ledger has paid for %llu releases (%s) and the checkpoint knows of %llu: an earlier "
                       "copy of the checkpoint was put back, and would draw noise twice",
                       (unsigned long long)there, pn_release_names[kind], (unsigned long long)known);
    return PN_OK;
}

pn_status party_accounts_open(pn_party *party, bool resumed, pn_err *err)
{
    char label[PN_RELEASE_LABEL];

    for (int a = 0; a < 2; a++) {
        party_account *account = &party->accounts[a];

        for (int kind = 0; kind < PARTY_KINDS && account->ledger; kind++) {
            uint64_t *known = &account->known[kind], *there = &account->there[kind];

            label_of(party, (party_kind)kind, label);
            *there = pn_release_charges(account->ledger, label);
            if (!resumed || (a == 1 && *there < *known)) /* the overall one may begin anew with its process */
                *known = *there;
            if (check_account(account, (party_kind)kind, err) != PN_OK)
                return PN_EPRIVACY;
        }
    }
    return PN_OK;
}

void party_accounts_settle(pn_party *party, party_kind kind)
{
    for (int a = 0; a < 2; a++)
        party->accounts[a].known[kind] = party->accounts[a].there[kind];
}

/* Was the last charge under the label for the same event, and for nothing that is known? */
static bool is_paid(const party_account *account, party_kind kind, const char *label, const pn_event *event)
{
    if (account->there[kind] <= account->known[kind])
        return false;
    for (size_t i = pn_ledger_entries(account->ledger); i-- > 0;) {
        pn_charge one = pn_ledger_entry(account->ledger, i);

        if (strcmp(one.label, label) == 0)
            return pn_event_same(one.event, event);
    }
    return false;
}

static pn_status pay(party_account *account, party_kind kind, const char *label, pn_event *event, pn_err *err)
{
    pn_status status;

    if (!account->ledger || is_paid(account, kind, label, event))
        return PN_OK;
    status = pn_ledger_spend(account->ledger, event, 1, label, err);
    account->there[kind] += status == PN_OK;
    return status;
}

/* Both ledgers, before anything is drawn; neither when the overall one has no room. */
static pn_status charge(pn_party *party, party_kind kind, pn_event *event, pn_err *err)
{
    party_account *own = &party->accounts[0], *overall = &party->accounts[1];
    char label[PN_RELEASE_LABEL];
    pn_status status = PN_OK;

    if (PN_MUTANT("party_forgets_charge") && party->rounds % 2 == 1)
        return PN_OK;
    label_of(party, kind, label);
    if (overall->ledger && !is_paid(overall, kind, label, event))
        status = pn_ledger_covers(overall->ledger, event, 1, err);
    if (status == PN_OK)
        status = pay(own, kind, label, event, err);
    PN_CRASH("party_crash_charged");
    return status == PN_OK ? pay(overall, kind, label, event, err) : status;
}

/* ---- addresses ---- */

typedef enum address_kind { AT_SELECTION = 1, AT_SCORE, AT_FEATURE, AT_PAPER } address_kind;

/* Part of every address is what is asked, of which data: whatever copy of a checkpoint went unnoticed, and however old
 * it is, its party gives the same answer to the same question, and has other noise for another one.  Keyed, so that
 * nobody can look for two questions that share it.  A seeded party has none,
 * since the same seed gives the same run, whose id is another.
 * question  [PN_DIGEST_BYTES] NULL: a feature, which is asked for in one way. */
static uint64_t question_of(const pn_party *party, const unsigned char *question)
{
    crypto_generichash_state hash;
    uint64_t out = 0;
    unsigned char whole[PN_DIGEST_BYTES];

    if (party->key.simulated)
        return 0;
    (void)crypto_generichash_init(&hash, party->key.bytes, sizeof party->key.bytes, sizeof whole);
    (void)crypto_generichash_update(&hash, party->terms_digest, sizeof party->terms_digest);
    (void)crypto_generichash_update(&hash, party->run_digest, sizeof party->run_digest);
    if (question)
        (void)crypto_generichash_update(&hash, question, PN_DIGEST_BYTES);
    (void)crypto_generichash_final(&hash, whole, sizeof whole);
    memcpy(&out, whole, sizeof out);
    return out;
}

static void go_to(pn_party *party, address_kind kind, uint64_t number, const unsigned char *question, size_t words)
{
    const uint64_t address[PN_ADDRESS_WORDS] = { party->epoch, (uint64_t)kind, number, question_of(party, question) };

    pn_rng_address(party->rng, &party->key, address, words);
}

/* ---- choices ---- */

static size_t best_of(const double *score, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        best = score[i] > score[best] ? i : best;
    return best;
}

/* What candidate `index` is to the server: its code. */
static int64_t code_of(const party_scores *scores, size_t index)
{
    size_t sides = scores->sides;
    int64_t column = index < sides * scores->sampled ? (int64_t)scores->columns[index / sides] + 1 : 0;

    return index % sides == 0 ? column : -column;
}

/* The article to the letter: Laplace noise on each entry, the largest magnitude, away from its sign. */
static pn_status choose_paper(pn_party *party, uint64_t round, const party_scores *scores, party_reply *reply,
                              pn_err *err)
{
    double *noisy;
    size_t best = 0;
    pn_status status = PN_OK;

    PN_TRY(pn_new(&noisy, scores->sampled, err, "party: out of memory for %zu numbers", scores->sampled));
    for (size_t k = 0; k < scores->sampled; k++)
        noisy[k] = scores->gradient[scores->columns[k]] / (double)party->terms.records;
    if (party->terms.is_private)
        status = charge(party, PARTY_SELECTION, party->run.price[PARTY_SELECTION], err);
    if (status == PN_OK && party->terms.is_private) {
        go_to(party, AT_PAPER, round, reply->digest, scores->sampled);
        pn_lattice_laplace(party->rng, party->terms.laplace_scale, noisy, scores->sampled, noisy);
    }
    for (size_t k = 1; k < scores->sampled; k++)
        best = fabs(noisy[k]) > fabs(noisy[best]) ? k : best;
    if (status == PN_OK)
        reply->code = code_of(scores, 2 * best + (noisy[best] > 0.0));
    pn_free(noisy);
    return status;
}

static void choose_exactly(const pn_party *party, const party_scores *scores, party_reply *reply)
{
    size_t best = best_of(scores->score, scores->candidates);

    reply->code = code_of(scores, best);
    if (party->terms.mode == PN_FEDERATED_BALL) {
        reply->score = -scores->score[best];
        reply->stay_score = party->terms.stay ? scores->stay : NAN;
    }
}

/* Draw what has been paid for, in units of what a record moves it by.  Inputs are finite. */
static pn_status draw_score(pn_party *party, pn_mechanism *mechanism, uint64_t round, const party_scores *scores,
                            size_t chosen, party_reply *reply, pn_err *err)
{
    double exact[2] = { -scores->score[chosen] / scores->unit, scores->stay / scores->unit }, noisy[2] = { NAN, NAN };
    pn_release release = { .values = noisy };
    pn_status status;

    go_to(party, AT_SCORE, round, reply->digest, mechanism->dim);
    status = mechanism->ops->draw(mechanism, exact, mechanism->dim, party->rng, &release, err);
    reply->score = noisy[0];
    reply->stay_score = noisy[1];
    return status;
}

/* Charge both, then draw both. */
static pn_status release_choice(pn_party *party, uint64_t round, const party_scores *scores, pn_mechanism *selection,
                                pn_mechanism *score, party_reply *reply, pn_err *err)
{
    pn_release release = { 0 };
    pn_status status = selection->ops->prepare(selection, scores->candidates, err);

    if (status == PN_OK)
        status = charge(party, PARTY_SELECTION, selection->event, err);
    if (status == PN_OK && score)
        status = charge(party, PARTY_SCORE, score->event, err);
    status = PN_MUTANT("party_charges_after") ? PN_OK : status;
    PN_CRASH("party_crash_paid");
    if (status != PN_OK)
        return status;
    go_to(party, AT_SELECTION, PN_MUTANT("party_reuses_noise") ? (round + 1) / 2 : round, reply->digest,
          scores->candidates);
    PN_TRY(selection->ops->draw(selection, scores->score, scores->candidates, party->rng, &release, err));
    reply->code = code_of(scores, release.index);
    return score ? draw_score(party, score, round, scores, release.index, reply, err) : PN_OK;
}

static pn_status choose_privately(pn_party *party, uint64_t round, const party_scores *scores, party_reply *reply,
                                  pn_err *err)
{
    const pn_terms *terms = &party->terms;
    pn_selection_options options = { .law = PN_SELECT_EXPONENTIAL,
                                     .epsilon = terms->epsilon0,
                                     .sensitivity = scores->sensitivity * (PN_MUTANT("party_half_scale") ? 0.5 : 1.0),
                                     .score_error = scores->error,
                                     .score_bound = scores->bound,
                                     .neighbours = terms->neighbours };
    pn_mechanism *selection = NULL, *score = NULL;
    pn_status status = pn_mechanism_selection(&selection, &options, err);

    if (status == PN_OK && terms->mode == PN_FEDERATED_BALL)
        status = pn_release_score(&score, terms, scores->weight, err);
    if (status == PN_OK)
        status = release_choice(party, round, scores, selection, score, reply, err);
    pn_mechanism_free(selection);
    pn_mechanism_free(score);
    return status;
}

/* ---- vertices of blocks ---- */

typedef struct picking {
    pn_selections *selections; /* NULL: the largest score, the first of several */
    pn_rng *rng;
    uint32_t *picks;
} picking;

static pn_status pick(void *self, const double *scores, size_t count, size_t *chosen, pn_err *err)
{
    picking *by = self;

    if (by->selections)
        PN_TRY(pn_selections_pick(by->selections, by->rng, scores, count, chosen, err));
    else
        *chosen = best_of(scores, count);
    *by->picks++ = (uint32_t)*chosen;
    return PN_OK;
}

/* At the scale at which all choices of the round cost what is charged for them, whatever q makes of their sensitivity.
 * A block of one point says nothing of records. */
static pn_status open_selections(pn_selections **out, const pn_party *party, const party_scores *scores, pn_err *err)
{
    const pn_choices *choices = party->run.choices;
    double unit = scores->sensitivity * (PN_MUTANT("party_half_scale") ? 0.5 : 1.0) * (1.0 + 0x1p-48);
    pn_selections_options options = { .count = choices->picks,
                                      .most = choices->most,
                                      .sum = unit * choices->sums[PN_L1],
                                      .root = unit * sqrt(choices->squares[PN_L1]),
                                      .score_error = scores->error,
                                      .score_bound = scores->bound,
                                      .neighbours = party->terms.neighbours };

    *out = NULL;
    if (!party->terms.is_private || !(options.root > 0.0))
        return PN_OK;
    PN_TRY(pn_selections_scale(&options.scale, &options, pn_release_round_rho(&party->terms), err));
    if (!(options.scale > 0.0))
        return pn_fail(err, PN_EINVAL, "party: no noise makes %zu choices cost rho %g in a round", options.count,
                       pn_release_round_rho(&party->terms));
    return pn_selections_new(out, &options, err);
}

/* All choices of the round are charged before the first is drawn. */
static pn_status choose_vertex(pn_party *party, uint64_t round, party_scores *scores, const party_reply *reply,
                               uint32_t *picks, pn_err *err)
{
    const pn_choices *choices = party->run.choices;
    picking by = { .rng = party->rng, .picks = picks };
    pn_status status = open_selections(&by.selections, party, scores, err);

    if (status == PN_OK && party->terms.is_private)
        status = charge(party, PARTY_SELECTION, party->run.price[PARTY_SELECTION], err);
    status = PN_MUTANT("party_charges_after") && by.selections ? PN_OK : status;
    PN_CRASH("party_crash_paid");
    if (status == PN_OK && by.selections) {
        pn_selections_paid(by.selections);
        go_to(party, AT_SELECTION, PN_MUTANT("party_reuses_noise") ? (round + 1) / 2 : round, reply->digest,
              choices->picks);
    }
    if (status == PN_OK)
        status =
            pn_choices_make(choices, scores->score, pick, &by, scores->vertex + scores->sampled, scores->vertex, err);
    pn_selections_free(by.selections);
    return status;
}

pn_status party_choose(pn_party *party, uint64_t round, party_scores *scores, party_reply *reply, uint32_t *picks,
                       pn_err *err)
{
    reply->code = 0;
    reply->score = reply->stay_score = NAN;
    if (party->terms.block)
        return choose_vertex(party, round, scores, reply, picks, err);
    if (party->terms.mode == PN_FEDERATED_PAPER)
        return choose_paper(party, round, scores, reply, err);
    if (party->terms.is_private)
        return choose_privately(party, round, scores, reply, err);
    choose_exactly(party, scores, reply);
    return PN_OK;
}

/* ---- features ---- */

static void exact_feature(const pn_party *party, uint32_t i, double *out)
{
    const party_data *data = &party->data;
    size_t m = party->terms.sketch.m;

    if (party->run.sketched) {
        memcpy(out, party->run.sketched + (size_t)i * m, m * sizeof *out);
    } else if (data->is_sparse) {
        memset(out, 0, m * sizeof *out);
        for (size_t k = data->sparse.start[i]; k < data->sparse.start[i + 1]; k++)
            out[data->sparse.column[k]] = data->sparse.value[k];
    } else {
        memcpy(out, data->dense + (size_t)i * m, m * sizeof *out);
    }
}

pn_status party_feature(pn_party *party, uint32_t i, bool paid, double *out, pn_err *err)
{
    const pn_terms *terms = &party->terms;
    size_t m = terms->sketch.m;
    pn_mechanism *mechanism = NULL;
    pn_release release = { .values = out };
    uint64_t number = PN_MUTANT("party_alike_features") ? i / 2 : i;
    pn_status status;

    if (!terms->is_private) {
        exact_feature(party, i, out);
        return PN_OK;
    }
    status = pn_release_feature(&mechanism, terms, party->run.feature_sensitivity, err);
    if (status == PN_OK && !paid)
        status = charge(party, PARTY_FEATURE, mechanism->event, err);
    PN_CRASH("party_crash_paid_feature");
    if (status == PN_OK) {
        exact_feature(party, i, out);
        number += paid && PN_MUTANT("party_feature_again") ? party->data.columns : 0;
        go_to(party, AT_FEATURE, number, NULL, m);
        status = mechanism->ops->draw(mechanism, out, m, party->rng, &release, err);
    }
    pn_mechanism_free(mechanism);
    return status;
}
