/* hopeless.h -- whether the noise of a plan is expected to leave the model no better than a constant prediction.
 * Depends on: solver.h.  Used by: solver.c. */
#ifndef PN_SOLVERS_HOPELESS_H
#define PN_SOLVERS_HOPELESS_H

#include "solvers/engine/solver.h"

/** Say so in the first warning of a private plan, from public numbers alone; `given`: the option start.  Plans that
 *  begin elsewhere than at 0, and losses without gradients or with further parameters, are not judged.
 *  Errors: PN_ENOMEM. */
pn_status pn_plan_judge_hope(pn_plan *plan, const pn_arg *given, pn_err *err);

#endif
