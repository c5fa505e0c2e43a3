/* lquery.h -- shared by the parts of the query binding.  Depends on: pnl.h, lsession.h, objective/passes/query.h.
 * Used by: lquery*.c, ldescribe.c, llevels.c. */
#ifndef PNL_LQUERY_H
#define PNL_LQUERY_H

#include "bindings/core/pnl.h"
#include "bindings/privacy/lsession.h"
#include "objective/passes/query.h"

/** Make of whatever way the call was written the one that tables of options are read in: a table at 1, alone, with
 *  numbers for columns.  f(d, columns, {...}) becomes {data = d, [key] = columns, ...}; names become the numbers of
 *  their columns; one column, and a number for low or high, a list of one.  The caller's table stays as it is.
 *  key: "columns", or "column" of a query about one. */
void pnl_query_names(lua_State *L, const char *owner, const char *key);

/** What the ledger's report says: the option `label` of the table at 1, which stays on the stack, or the owner. */
const char *pnl_query_label(lua_State *L, const char *owner);
/** The ledger that pays: the option, which stands at `at`, or the budget of the data set.  Raises where there is
 *  none. */
pn_ledger *pnl_query_ledger(lua_State *L, int at, const pn_bill *account, bool simulated, const char *owner);
/** Adds pn.query.levels to the table on the top (bindings/recipe/llevels.c). */
void pnl_open_levels(lua_State *L);

/** Push the table that d:describe gives.  The event's box is on the top, and goes into it. */
void pnl_push_description(lua_State *L, const pn_query *query, const pn_budget *budget, const pn_query_answer *answer,
                          pn_vec shares);

#endif
