/* formula_loss.h -- how a row of the table that is a formula becomes a loss.  Depends on: loss.h.  Used by: loss.c. */
#ifndef PN_OBJECTIVE_FORMULA_LOSS_H
#define PN_OBJECTIVE_FORMULA_LOSS_H

#include "objective/losses/loss.h"

/** row->formula is set, args are checked.  Errors: as pn_loss_from_graph. */
pn_status pn_formula_loss_new(pn_loss **out, const pn_loss_ops *row, const pn_arg *args, pn_err *err);

#endif
