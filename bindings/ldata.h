/* ldata.h -- shared by the parts of the data binding.  Depends on: pnl.h, data/dataset.h.
 * Used by: ldata*.c. */
#ifndef PNL_LDATA_H
#define PNL_LDATA_H

#include "data/dataset.h"
#include "pnl.h"

/** The box at the top holds `slot`, just filled with `status`: raise, or tell the collector of its weight and return 1. */
int pnl_data_made(lua_State *L, pn_dataset *const *slot, pn_status status, const pn_err *err);

/** d:summary() */
int pnl_data_summary(lua_State *L);

#endif
