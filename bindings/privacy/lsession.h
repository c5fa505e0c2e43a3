/* lsession.h -- what the state's scripts have spent on each data set.  In a curated state nothing is counted: the
 * curator's ledger is the record, and the functions below do nothing.
 * Depends on: pnl.h, privacy/ledger/session.h, data/dataset.h.  Used by: lsession*.c, lwalk.c, lask*.c, lquery.c,
 * lfit_print.c. */
#ifndef PNL_LSESSION_H
#define PNL_LSESSION_H

#include "bindings/core/pnl.h"
#include "data/dataset.h"
#include "privacy/ledger/session.h"
#include "privacy/text/ledger_text.h"

/** The account of the records of `data`, which lives as long as the state; NULL where nothing is counted: records of
 *  nobody (data.synthetic) or of others, and curated states.  Raises when memory is short. */
pn_bill *pnl_bill(lua_State *L, const pn_dataset *data);
/** The same, without making one. */
pn_bill *pnl_bill_known(lua_State *L, const pn_dataset *data);
/** The ledger for a release on the account's records (NULL: no account) where `given` (NULL: none) was asked for: that,
 *  or the budget of the data set, or NULL.  Raises for a ledger outside that budget. */
pn_ledger *pnl_bill_ledger(lua_State *L, const pn_bill *account, pn_ledger *given, const char *owner);
/** The message of a charge that was refused, which begins with `owner`, the function that was called; it says so where
 *  the data set's own budget refused. */
pn_status pnl_bill_refused(const pn_bill *account, const pn_ledger *ledger, const char *owner, pn_status status,
                           pn_err *err);

/** The session of the state; NULL where nothing was counted yet. */
pn_session *pnl_session(lua_State *L);
/** Push a pn.ledger for a ledger that the session keeps. */
void pnl_push_budget_of(lua_State *L, const pn_bill *account);

/** In a process that was forked, at its beginning: what the parent spent is the parent's. */
void pnl_session_restart(lua_State *L);
/** There: what was spent since the last time, as text for the parent, nothing for nothing; the caller clears it. */
pn_status pnl_session_spent(lua_State *L, pn_text *out, pn_err *err);
/** In the parent: count that.  Raises when memory is short. */
void pnl_session_absorb(lua_State *L, const char *text);

/* lsession_print.c */
int pnl_session_table(lua_State *L);
/** Add "\n  so far   ..." of a private fit on `data`; nothing where nothing is known. */
void pnl_add_so_far(lua_State *L, luaL_Buffer *text, const pn_dataset *data, pn_neighbours relation);

#endif
