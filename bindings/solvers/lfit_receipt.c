/* lfit_receipt.c -- fit:receipt().  Depends on: lsolve.h, lreceipt.h, receipt/receipt.h.  Used by: lfit.c. */
#include "bindings/privacy/lreceipt.h"
#include "bindings/solvers/lsolve.h"
#include "receipt/receipt.h"

int pnl_fit_receipt(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const pn_plan *plan;
    char **slot;
    pn_err err;

    lua_settop(L, 1);
    plan = pnl_fit_plan(L);
    slot = pnl_new_receipt(L);
    if (!plan)
        return pnl_error(L, "fit:receipt: the file that this fit was loaded from has none");
    pnl_status(L, pn_fit_receipt(slot, fit, plan, PNL_LUA_VERSION, &err), &err);
    return 1;
}
