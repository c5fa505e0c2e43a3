/* pld_single.h -- one record by itself needs no composition.  Private to privacy/.  Depends on: pld.h.
 * Used by: pld.c. */
#ifndef PN_PRIVACY_PLD_SINGLE_H
#define PN_PRIVACY_PLD_SINGLE_H

#include "privacy/accounting/pld.h"

/** Bounds on the delta of one record at epsilon >= 0. */
pn_pld_bounds pn_pld_single_delta(const pn_pld_record *record, double epsilon);

/** Bounds on its epsilon at delta in (0, 1). */
pn_pld_bounds pn_pld_single_epsilon(const pn_pld_record *record, double delta);

#endif
