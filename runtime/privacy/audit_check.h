/* audit_check.h -- what the kinds of audit share.  Depends on: audit.h.  Used by: audit*.c. */
#ifndef PN_PRIVACY_AUDIT_CHECK_H
#define PN_PRIVACY_AUDIT_CHECK_H

#include "privacy/audit.h"

/** Errors: PN_EINVAL for delta and confidence. */
pn_status pn_audit_check(const pn_audit_options *options, pn_err *err);

/** Errors: PN_EDOMAIN with the position (from 1) of the first NaN. */
pn_status pn_audit_check_scores(const double *scores, size_t n, pn_err *err);

#endif
