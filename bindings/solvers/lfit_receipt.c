/* lfit_receipt.c -- fit:receipt().  Depends on: lsolve.h, lreceipt.h, receipt/receipt.h.  Used by: lfit.c. */
#include <string.h>

#include "bindings/privacy/lreceipt.h"
#include "bindings/solvers/lsolve.h"
#include "core/alloc.h"
#include "receipt/receipt.h"

static void copy_text(lua_State *L, char **slot, const char *text)
{
    size_t size = strlen(text) + 1;

    *slot = pn_alloc(size, 1);
    if (!*slot)
        pnl_no_memory(L, "fit:receipt: out of memory");
    memcpy(*slot, text, size);
}

int pnl_fit_receipt(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    pn_model_about about;
    const pn_plan *plan;
    char **slot;
    pn_err err;

    lua_settop(L, 1);
    plan = pnl_fit_plan(L);
    slot = pnl_new_receipt(L);
    if (plan) {
        pnl_status(L, pn_fit_receipt(slot, fit, plan, PNL_LUA_VERSION, &err), &err);
        return 1;
    }
    pnl_fit_about(L, &about);
    if (!about.receipt)
        return pnl_error(L, "fit:receipt: the file that this fit was loaded from has none: it is of a run without "
                            "privacy, JSON, or older than receipts");
    copy_text(L, slot, about.receipt);
    return 1;
}

const char *pnl_fit_push_receipt(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const pn_plan *plan = pnl_fit_plan(L);
    char **slot = pnl_new_receipt(L);
    pn_err err;

    if (!plan || !fit->is_private)
        return NULL;
    pnl_status(L, pn_fit_receipt(slot, fit, plan, PNL_LUA_VERSION, &err), &err);
    return *slot;
}
