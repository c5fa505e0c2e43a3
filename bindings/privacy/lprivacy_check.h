/* lprivacy_check.h -- arguments that the privacy bindings share.  Depends on: pnl.h, privacy/event/event.h.
 * Used by: levent.c, laccountant.c, lledger.c, lcalibrate.c, lrelease.c, ltree.c. */
#ifndef PNL_LPRIVACY_CHECK_H
#define PNL_LPRIVACY_CHECK_H

#include "bindings/core/pnl.h"
#include "privacy/event/event.h"

/** A number in [0, 1), in (1, inf], or >= 0; raise with the method's name. */
double pnl_check_delta(lua_State *L, int index, const char *method);
double pnl_check_order(lua_State *L, int index, const char *method);
double pnl_check_epsilon(lua_State *L, int index, const char *method);

/** A count that may be left out: 1. */
size_t pnl_opt_count(lua_State *L, int index, const char *method);

/** As pnl_constructors for what takes `neighbours` besides. */
void pnl_private_constructors(lua_State *L, const char *library, const void *rows, lua_CFunction fn);

/** The event at `index`. */
pn_event *pnl_check_event(lua_State *L, int index);

/** Private numbers at `index`: a number, a table of numbers (copied; left on the stack) or a pn.vec (borrowed).  Raises
 *  "owner: the WHAT must be ..." with types only, never a value or a place. */
pn_vec pnl_check_query(lua_State *L, int index, const char *owner, const char *what, bool *scalar);

/** Push the event's text. */
void pnl_push_event_text(lua_State *L, const pn_event *event);

void pnl_open_calibrate(lua_State *L); /* calibrate */

#endif
