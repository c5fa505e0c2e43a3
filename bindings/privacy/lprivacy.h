/* lprivacy.h -- how the parts of the privacy binding open.  Each adds its sub-table to the pn table on the stack top
 * and leaves the stack as it was.  Depends on: pnl.h.  Used by: lprivacy.c, which calls them in order. */
#ifndef PNL_LPRIVACY_H
#define PNL_LPRIVACY_H

#include "bindings/core/pnl.h"

void pnl_open_event(lua_State *L);      /* event */
void pnl_open_accountant(lua_State *L); /* accountant */
void pnl_open_ledger(lua_State *L);     /* ledger */
void pnl_open_session(lua_State *L);    /* budget, session */
void pnl_open_mechanism(lua_State *L);  /* mechanism */
void pnl_open_sampler(lua_State *L);    /* sampler */
void pnl_open_audit(lua_State *L);      /* audit */

/* The two methods of pn.mechanism that pay (lrelease.c). */
int pnl_mechanism_release(lua_State *L);
int pnl_mechanism_open(lua_State *L);

#endif
