/* formula_regulariser.h -- how a row of the table that is a formula becomes a regulariser.
 * Depends on: regulariser.h.  Used by: regulariser.c, separable_regularisers.c. */
#ifndef PN_OBJECTIVE_FORMULA_REGULARISER_H
#define PN_OBJECTIVE_FORMULA_REGULARISER_H

#include "objective/regularisers/regulariser.h"

/** row->formula is set, args are checked.  Errors: as pn_regulariser_from_graph. */
pn_status pn_formula_regulariser_new(pn_regulariser **out, const pn_regulariser_ops *row, const pn_arg *args,
                                     pn_err *err);

/** Parameter `i` of the row, a number, of a regulariser made by the function above. */
double pn_formula_regulariser_number(const pn_regulariser *regulariser, size_t i);

#endif
