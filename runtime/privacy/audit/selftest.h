/* selftest.h -- do the accountants agree with each other, with themselves and with what is known exactly?
 * Depends on: accountant.h, event.h.  Used by: hosts, bindings, tests.  See accounting.md section 9, item 8. */
#ifndef PN_PRIVACY_SELFTEST_H
#define PN_PRIVACY_SELFTEST_H

#include <stdbool.h>

#include "privacy/accounting/accountant.h"
#include "privacy/event/event.h"

typedef struct pn_selftest_row {
    const char *claim;   /* "count k equals k times" */
    const char *subject; /* "laplace, rdp" */
    double got, want;    /* what was compared */
    bool passed;
} pn_selftest_row;

/** Borrowed for the call.  Something else than PN_OK ends the test with that status. */
typedef pn_status (*pn_selftest_fn)(void *self, const pn_selftest_row *row, pn_err *err);

/**
 * Check every event of a table under every accountant of another, and both against exact results;
 * one call of `report` each.
 *   events, accountants  NULL-terminated tables; NULL for pn_event_table() and pn_accountant_table().
 * An event without sample parameters in selftest.c fails, so that a new one is not forgotten.
 * Errors: PN_ENOMEM, and what `report` returns.  A claim that does not hold is a row, not an error.
 */
pn_status pn_selftest(const pn_event_ops *const *events, const pn_accountant_ops *const *accountants,
                      pn_selftest_fn report, void *self, pn_err *err);

#endif
