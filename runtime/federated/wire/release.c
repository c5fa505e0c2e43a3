/* release.c -- what a party releases and what that costs.
 * Depends on: release.h, random/selection.h.  Used by: party*.c, server_account.c, federated_frank_wolfe_plan*.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mutant.h"
#include "federated/wire/release.h"
#include "random/selection.h"

#define UPWARD  (1.0 + 0x1p-48) /* more than the roundings of a formula */
#define ROUNDED (1.0 + 0x1p-20) /* of a score in units of Delta_t: dividing it, and ||x_k||_1 beyond r by rounding */

/* ---- accounts ---- */

const char *const pn_release_names[PN_RELEASE_KINDS] = { "selection", "feature", "score" };

void pn_release_label(char text[PN_RELEASE_LABEL], const unsigned char run[PN_RUN_ID], size_t party,
                      pn_release_kind kind)
{
    int at = snprintf(text, PN_RELEASE_LABEL, "federated ");

    for (size_t i = 0; i < PN_RUN_ID / 2; i++)
        at += snprintf(text + at, PN_RELEASE_LABEL - (size_t)at, "%02x", run[i]);
    if (party > 0)
        at += snprintf(text + at, PN_RELEASE_LABEL - (size_t)at, ", party %zu", party);
    (void)snprintf(text + at, PN_RELEASE_LABEL - (size_t)at, ": %s", pn_release_names[kind]);
}

uint64_t pn_release_charges(const pn_ledger *ledger, const char *label)
{
    size_t entries = pn_ledger_entries(ledger);
    uint64_t sum = 0;

    for (size_t i = 0; i < entries; i++) {
        pn_charge one = pn_ledger_entry(ledger, i);

        sum += strcmp(one.label, label) == 0 ? one.count : 0;
    }
    return sum;
}

/* ---- prices ---- */

double pn_release_contributions(pn_neighbours neighbours)
{
    return neighbours == PN_REPLACE_ONE ? 2.0 : 1.0;
}

double pn_release_entry_sensitivity(const pn_terms *terms, double margin)
{
    double label = PN_MUTANT("party_forgets_labels") ? 0.0 : terms->label_bound;
    double slope = terms->loss == PN_FEDERATED_LOGISTIC ? 1.0 : margin + label;
    double moved = PN_MUTANT("party_forgets_two") ? 1.0 : pn_release_contributions(terms->neighbours);

    return moved * terms->feature_bound * slope / (double)terms->records * UPWARD;
}

double pn_release_score_sensitivity(const pn_terms *terms, double margin)
{
    return terms->radius * pn_release_entry_sensitivity(terms, margin);
}

/* The article bounds what one record adds to an entry of the gradient by X (X r + Y), as if q were A x. */
static pn_status article_selection(pn_event **out, const pn_terms *terms, pn_err *err)
{
    double margin = terms->feature_bound * terms->radius;
    double sensitivity = pn_release_score_sensitivity(terms, margin) / terms->radius;

    return pn_event_report_noisy_max(out, terms->laplace_scale, sensitivity, terms->neighbours, err);
}

uint64_t pn_release_features(const pn_terms *terms, size_t width)
{
    return terms->iterations < terms->columns && terms->iterations * width < terms->columns ? terms->iterations * width
                                                                                            : terms->columns;
}

double pn_release_round_rho(const pn_terms *terms)
{
    double epsilon = pn_dyadic_value(pn_dyadic_floor(terms->epsilon0));

    return epsilon * epsilon / 8.0;
}

pn_status pn_release_selection(pn_event **out, const pn_terms *terms, pn_err *err)
{
    *out = NULL;
    if (terms->mode == PN_FEDERATED_PAPER)
        return article_selection(out, terms, err);
    if (terms->block) {
        pn_arg rho = { .given = true, .real = pn_release_round_rho(terms) };

        return pn_event_from_args(out, "zcdp", &rho, terms->neighbours, err);
    }
    return pn_event_exponential(out, pn_dyadic_value(pn_dyadic_floor(terms->epsilon0)), terms->neighbours, err);
}

double pn_release_feature_sensitivity(const pn_terms *terms, const pn_sketch *sketch)
{
    double exact = pn_release_contributions(terms->neighbours) * terms->feature_bound * pn_sketch_column_norm(sketch);
    double rounding = 2.0 * sqrt((double)terms->sketch.m) * pn_sketch_error(sketch, terms->feature_bound);

    return (exact + rounding) * (PN_MUTANT("party_feature_half") ? 0.5 : UPWARD);
}

pn_status pn_release_feature(pn_mechanism **out, const pn_terms *terms, double sensitivity, pn_err *err)
{
    /* A column is n entries, none of which adds more than the sensitivity. */
    pn_arg args[] = { { .given = true, .real = terms->sigma_feature },
                      { .given = true, .real = sensitivity },
                      { .given = true, .count = terms->sketch.m },
                      { .given = true, .real = sensitivity * (double)terms->records },
                      { .given = false },
                      { .given = true, .flag = true } /* strict: the bound is certified */ };

    return pn_mechanism_from_args(out, "gaussian", args, terms->neighbours, err);
}

pn_status pn_release_score(pn_mechanism **out, const pn_terms *terms, double weight, pn_err *err)
{
    bool pays = terms->stay && !PN_MUTANT("party_stay_unpaid");
    pn_arg args[] = { { .given = true, .real = terms->sigma_score },
                      { .given = true, .real = sqrt(1.0 + (pays ? weight * weight : 0.0)) * ROUNDED },
                      { .given = true, .count = terms->stay ? 2 : 1 },
                      { .given = false },
                      { .given = false },
                      { .given = false } };

    return pn_mechanism_from_args(out, "gaussian", args, terms->neighbours, err);
}

/* Keeps the event of a mechanism that was made for nothing else. */
static pn_status take_event(pn_event **out, pn_mechanism *mechanism)
{
    *out = pn_event_keep(mechanism->event);
    pn_mechanism_free(mechanism);
    return PN_OK;
}

pn_status pn_release_feature_event(pn_event **out, const pn_terms *terms, double sensitivity, pn_err *err)
{
    pn_mechanism *mechanism = NULL;

    PN_TRY(pn_release_feature(&mechanism, terms, sensitivity, err));
    return take_event(out, mechanism);
}

pn_status pn_release_score_event(pn_event **out, const pn_terms *terms, double weight, pn_err *err)
{
    pn_mechanism *mechanism = NULL;

    PN_TRY(pn_release_score(&mechanism, terms, weight, err));
    return take_event(out, mechanism);
}
