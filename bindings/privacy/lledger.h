/* lledger.h -- what the files of the ledger's binding share.  Depends on: pnl.h, privacy/ledger/ledger.h.
 * Used by: lledger*.c. */
#ifndef PNL_LLEDGER_H
#define PNL_LLEDGER_H

#include "bindings/core/pnl.h"
#include "privacy/ledger/ledger.h"

/** "renyi", "gaussian", NULL. */
extern const char *const pnl_filter_names[];

/* Lua functions (lledger_report.c). */
int pnl_ledger_report(lua_State *L);
int pnl_ledger_odometer(lua_State *L);
/** Push "epsilon=1, delta=1e-06, replace_one". */
void pnl_push_budget(lua_State *L, const pn_budget *budget);
/** "", or what to say of a budget that takes seeded noise. */
const char *pnl_budget_warning(const pn_budget *budget);

/* lledger_print.c */
int pnl_ledger_tostring(lua_State *L);

#endif
