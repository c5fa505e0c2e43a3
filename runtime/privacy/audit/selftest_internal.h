/* selftest_internal.h -- what the parts of the self-test share.  Private to privacy/.  Depends on: selftest.h.
 * Used by: selftest.c, selftest_exact.c. */
#ifndef PN_PRIVACY_SELFTEST_INTERNAL_H
#define PN_PRIVACY_SELFTEST_INTERNAL_H

#include "privacy/audit/selftest.h"

typedef struct pn_selftest_run {
    const pn_accountant_ops *const *accountants;
    pn_selftest_fn report;
    void *self;
    pn_err *err;
    pn_status status; /* of the first failure; after it nothing is done */
} pn_selftest_run;

/** One row: got <= want (1 + slack), or |got - want| <= slack want. */
void pn_selftest_at_most(pn_selftest_run *run, const char *claim, const char *subject, double got, double want,
                         double slack);
void pn_selftest_equal(pn_selftest_run *run, const char *claim, const char *subject, double got, double want,
                       double slack);

/** Exact results: Gaussian, randomised response, sampling at rate 1, monotone parameters. */
void pn_selftest_exact(pn_selftest_run *run);

#endif
