/* audit_check.h -- what the kinds of audit share.  Depends on: audit.h.  Used by: audit*.c. */
#ifndef PN_PRIVACY_AUDIT_CHECK_H
#define PN_PRIVACY_AUDIT_CHECK_H

#include "privacy/audit.h"

/* So many right ones among so many guesses on m canaries. */
typedef struct pn_guesses {
    size_t correct, guesses, m;
} pn_guesses;

/** The largest mu such that no mu-Gaussian-DP run guesses so well with chance `failure`; 0 when none. */
double pn_audit_run_mu(const pn_guesses *guesses, double failure);

/** Errors: PN_EINVAL for delta, also 0 with gaussian, and confidence. */
pn_status pn_audit_check(const pn_audit_options *options, pn_err *err);

/** Errors: PN_EDOMAIN with the position (from 1) of the first NaN. */
pn_status pn_audit_check_scores(const double *scores, size_t n, pn_err *err);

#endif
