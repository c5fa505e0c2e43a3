/* audit.h -- how private a mechanism can at most be, from what it did: lower bounds on epsilon with a stated confidence.
 * Pure statistics on scores: the caller runs the mechanism and turns each output into one number (larger: more like the
 * first data set, or more like "included").
 * Depends on: core, numeric.  Used by: bindings, tests. */
#ifndef PN_PRIVACY_AUDIT_H
#define PN_PRIVACY_AUDIT_H

#include <stddef.h>

#include "core/status.h"

/* Counts of an event: it happened hits[i] of trials[i] times, i = 0 under D, 1 under its neighbour. */
typedef struct pn_audit_result {
    double epsilon;   /* lower bound at delta; 0 when nothing is shown */
    double threshold; /* the cut that was used, chosen on the first half of the scores */
    double mu;        /* lower bound on the Gaussian-DP parameter by the same counts, NaN when not asked for */
    double confidence;
    size_t trials;
} pn_audit_result;

/** Clopper-Pearson bound on a probability after `hits` of `trials`: lower (upper) with the given one-sided confidence. */
double pn_binomial_lower(size_t hits, size_t trials, double confidence);
double pn_binomial_upper(size_t hits, size_t trials, double confidence);

/**
 * Two-sample audit.  scores under the two data sets, n each (n >= 100); the cut and the direction are chosen on the first half and
 * tested on the second, with both Clopper-Pearson bounds at (1 + confidence)/2, so that the statement holds with
 * `confidence`: if the mechanism were (epsilon', delta)-DP for an epsilon' below result.epsilon, scores like these had
 * probability at most 1 - confidence.
 * Errors: PN_EDIM, PN_EINVAL (delta outside [0,1), confidence outside (0,1)), PN_EDOMAIN for a NaN score, PN_ENOMEM.
 */
pn_status pn_audit_two_sample(pn_audit_result *out, const double *first, const double *second, size_t n, double delta,
                              double confidence, pn_err *err);

/**
 * One-run audit with m independent canaries, each included by a fair coin.
 *   scores[m], included[m] (0 or 1)   guesses: the `positive` highest scores "included", the `negative` lowest "not"; 0 and 0
 *   choose m/2 each.  Neighbours: add_remove of one canary.
 * Source: Steinke, Nasr, Jagielski (2023), Theorem 5.2 and Algorithm 1.
 */
pn_status pn_audit_one_run(pn_audit_result *out, const double *scores, const unsigned char *included, size_t m,
                           size_t positive, size_t negative, double delta, double confidence, pn_err *err);

#endif
