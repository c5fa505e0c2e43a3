/* audit_check.h -- what the kinds of audit share.  Depends on: audit.h.  Used by: audit*.c. */
#ifndef PN_PRIVACY_AUDIT_CHECK_H
#define PN_PRIVACY_AUDIT_CHECK_H

#include "privacy/audit/audit.h"

/* So many right ones among so many guesses on m canaries. */
typedef struct pn_guesses {
    size_t correct, guesses, m;
} pn_guesses;

/** The p at which `hits` or more of `trials` have chance `failure`: a lower bound that fails with at most that
 *  chance. */
double pn_audit_lower(size_t hits, size_t trials, double failure);

/* Two independent counts of an event in `trials` runs each, and what two probabilities mean: worth(p, p', delta) >= 0
 * grows with p, the one that `hits` are of, and falls with p'. */
typedef struct pn_audit_counts {
    size_t hits, others, trials;
    double delta;
    double (*worth)(double p, double other, double delta);
    /* in (0, 1), and `apart`: chosen before the counts are known.  How the level is shared, 1/2 evenly */
    double weight;
    bool apart;  /* each bound by itself, in place of both together */
    double near; /* relative and absolute: how much of the answer may be lost, > 0 */
} pn_audit_counts;

/** A lower bound on worth(p, p') at the true chances that is too high with chance at most `failure`. */
double pn_audit_joint(const pn_audit_counts *counts, double failure);

/** The largest mu such that no mu-Gaussian-DP run guesses so well with chance `failure`; 0 when none. */
double pn_audit_run_mu(const pn_guesses *guesses, double failure);

/** The largest chance of guesses so good under that curve: 1 when nothing speaks against it. */
double pn_audit_run_chance(const pn_guesses *guesses, const pn_audit_curve *curve);

/** Errors: PN_EINVAL for delta, also 0 with gaussian, and confidence. */
pn_status pn_audit_check(const pn_audit_options *options, pn_err *err);

/** Errors: PN_EDOMAIN with the position (from 1) of the first NaN. */
pn_status pn_audit_check_scores(const double *scores, size_t n, pn_err *err);

#endif
