/* fit_privacy.h -- what a run has cost so far, and what its result states of it.
 * Depends on: solver.h.  Used by: run.c. */
#ifndef PN_SOLVERS_FIT_PRIVACY_H
#define PN_SOLVERS_FIT_PRIVACY_H

#include "solvers/engine/solver.h"

/* The price of what has been charged, in the plan's own measure. */
typedef struct pn_spent {
    double rho, epsilon; /* NaN for the one that the request does not ask for */
    pn_event *event;     /* a reference; NULL for nothing */
    size_t times;
} pn_spent;

/** Of a private run.  Errors: as pn_oracle_charged. */
pn_status pn_spent_of(pn_spent *out, const pn_plan *plan, const pn_oracle *ask, pn_err *err);

/** Fills the fields of *fit that say what holds of it, its other ones filled before.  Errors: as pn_oracle_charged. */
pn_status pn_fit_state_privacy(pn_fit *fit, const pn_plan *plan, const pn_oracle *ask, const pn_state *state,
                               bool simulated, pn_err *err);

#endif
