/* lreceipt.h -- receipts in Lua, whoever gave them.  Depends on: pnl.h.  Used by: lreceipt.c, lledger.c,
 * bindings/solvers/lfit_receipt.c, bindings/continual/ltree.c. */
#ifndef PNL_LRECEIPT_H
#define PNL_LRECEIPT_H

#include "bindings/core/pnl.h"

extern const pnl_class pnl_receipt_class;

/** Push an empty receipt: *slot, to be given its JSON, allocated, which it then owns. */
char **pnl_new_receipt(lua_State *L);
/** pn.receipt. */
void pnl_open_receipt(lua_State *L);
/** "5.4" */
#define PNL_LUA_VERSION LUA_VERSION_MAJOR "." LUA_VERSION_MINOR

#endif
