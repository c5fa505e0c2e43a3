/* lledger.h -- what the files of the ledger's binding share.  Depends on: pnl.h, privacy/ledger.h.  Used by: lledger*.c. */
#ifndef PNL_LLEDGER_H
#define PNL_LLEDGER_H

#include "pnl.h"
#include "privacy/ledger.h"

/** "renyi", "gaussian", NULL. */
extern const char *const pnl_filter_names[];

/* Lua functions (lledger_report.c). */
int pnl_ledger_report(lua_State *L);
int pnl_ledger_odometer(lua_State *L);
int pnl_ledger_tostring(lua_State *L);

#endif
