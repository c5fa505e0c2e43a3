/* audit.h -- how private a mechanism can at most be, from what it did: lower bounds on epsilon with a stated
 * confidence.  Pure statistics on scores: the caller runs the mechanism and turns each output into one number
 * (larger: more like the first data set, or more like "included").  Nothing is assumed of the mechanism but that its
 * runs are independent; a faulty auditor (bad data sets, bad scores) makes a bound weak, never false.
 * Depends on: core, numeric.  Used by: bindings, tests. */
#ifndef PN_PRIVACY_AUDIT_H
#define PN_PRIVACY_AUDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* A trade-off curve as a claim: (epsilon[i], delta[i])-DP for every i at once.  Every symmetric one is the limit of
 * such, and points of a privacy profile that are certified from above claim no more than what is true. */
typedef struct pn_audit_curve {
    const double *epsilon, *delta; /* [n], epsilon >= 0 and delta in [0, 1] */
    size_t n;
} pn_audit_curve;

typedef struct pn_audit_options {
    double delta;                /* in [0, 1) */
    double confidence;           /* in (0, 1) */
    bool gaussian;               /* assume that the mechanism is mu-Gaussian-DP for some mu, and bound mu */
    const pn_audit_curve *curve; /* of one run: a claim to test; NULL: none */
} pn_audit_options;

typedef struct pn_audit_result {
    double epsilon;   /* lower bound at delta; 0 when nothing is shown */
    double threshold; /* the cut that was used, chosen on the first half of the scores */
    double mu;        /* lower bound on the Gaussian-DP parameter; NaN when not asked for */
    double confidence;
    /* Two samples: the event is score >= threshold (below: score < threshold); it happened hits[i] times in the second
     * half under data set i, and more often under `likely`.  One run: hits[0] guesses of hits[1] were right. */
    bool below;
    int likely;
    size_t hits[2];
    size_t trials;  /* runs per data set that were tested: the second half; one run: the number of canaries */
    double p_value; /* of the claimed curve: how likely guesses so good are at most; NaN when there is none */
} pn_audit_result;

/** Clopper-Pearson bound on a probability after `hits` of `trials`: lower (upper) with the given one-sided
 *  confidence. */
double pn_binomial_lower(size_t hits, size_t trials, double confidence);
double pn_binomial_upper(size_t hits, size_t trials, double confidence);

/**
 * Two-sample audit.  scores under the two data sets, n each (n >= 100); the cut and the direction are chosen on the
 * first half and tested on the second, where both counts together (audit_joint.c) are exact at level 1 - confidence, so
 * that the statement holds with `confidence`: if the mechanism were (epsilon', delta)-DP for an epsilon' below
 * result.epsilon, scores like these had probability at most 1 - confidence.  With `gaussian` the same counts bound mu
 * >= quantile(p) - quantile(p'), and epsilon is that of mu-Gaussian-DP at delta: sharper for small delta, and true only
 * for mechanisms that are Gaussian-DP.
 * Errors: PN_EDIM, PN_EINVAL (delta outside [0,1), or 0 with gaussian; confidence outside (0,1)), PN_EDOMAIN for a NaN
 *         score, PN_ENOMEM.
 * Source: Jagielski, Ullman, Oprea (2020); Nasr et al. (2023), section 4, for mu.
 */
pn_status pn_audit_two_sample(pn_audit_result *out, const double *first, const double *second, size_t n,
                              const pn_audit_options *options, pn_err *err);

/**
 * One-run audit with m independent canaries, each included by a fair coin.
 *   scores[m], included[m] (0 or 1)   guesses: the `positive` highest scores "included", the `negative` lowest "not";
 *       0 and 0
 *   choose m/2 each.  Fix them before looking at `included`.  Neighbours: add_remove of one canary.
 * With `gaussian` the counts bound mu, and epsilon is that of mu-Gaussian-DP at delta: far sharper when delta is small.
 * With `curve` result.p_value is a bound on the chance of as many right guesses of any mechanism with at least that
 * trade-off curve: where it is at most 1 - confidence the claim is refuted,
 * and a true claim is with at most that chance.
 * Errors: as above; PN_EDIM when m < 1 or positive + negative > m.
 * Source: after Steinke, Nasr, Jagielski (2023), with pn_audit_guess_tail in place of their Theorem 5.2;
 * Mahloujifar, Melis,
 *         Chaudhuri (2025) for mu.
 */
pn_status pn_audit_one_run(pn_audit_result *out, const double *scores, const unsigned char *included, size_t m,
                           size_t positive, size_t negative, const pn_audit_options *options, pn_err *err);

/**
 * The largest chance that an (epsilon, delta)-DP run with m canaries gives `correct` or more right ones among `guesses`
 * guesses: b + m delta b (1 - b)/(correct pmf(correct)), at most 1, with b = P(W >= correct), pmf that of W ~
 * Binomial(guesses, 1/(1 + exp(-epsilon))).  It is attained; the proof stands in audit_one_run.c.
 */
double pn_audit_guess_tail(size_t correct, size_t guesses, size_t m, double epsilon, double delta);

/* ---- scores, learned on the first half: trials 0 to n/2 - 1 of each data set ---- */

/** Categories 0 <= first[i], second[i] < kinds -> ln((count under first + 1/2)/(count under second + 1/2)).
 *  PN_ENOMEM. */
pn_status pn_audit_score_categories(const size_t *first, const size_t *second, size_t n, size_t kinds,
                                    double *first_scores, double *second_scores, pn_err *err);

/** Vectors, row i of [n][dim] -> inner product with the difference of the two mean vectors.  PN_ENOMEM. */
pn_status pn_audit_score_vectors(const double *first, const double *second, size_t n, size_t dim, double *first_scores,
                                 double *second_scores, pn_err *err);

#endif
