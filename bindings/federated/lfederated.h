/* lfederated.h -- what the files of the federated binding share.
 * Depends on: pnl.h, runtime/federated.  Used by: lfederated*.c, other transports' bindings. */
#ifndef PNL_LFEDERATED_H
#define PNL_LFEDERATED_H

#include "bindings/core/pnl.h"
#include "federated/transport/transport.h"
#include "federated/transport/zeromq.h"

/** Push an empty box of pn.transport; fill the slot. */
pn_transport **pnl_new_transport(lua_State *L);

/* A Lua function that is told of joining, losing and refusing peers; a userdata of Lua's,
 * so that it goes with the box that keeps it. */
typedef struct pnl_event_log {
    lua_State *main;
} pnl_event_log;

/** The function in option `log` of the table at `options`, or NULL; pushes what keeps it alive (or nil): pnl_keep
 *  it. */
pnl_event_log *pnl_new_event_log(lua_State *L, int options, const char *owner);
/** A pn_zeromq_log: self is the pnl_event_log (NULL: nothing).  Outside a long call,
 *  and for a log that is gone, nothing happens. */
void pnl_log_event(void *self, const pn_zeromq_event *event);

/** Option `name` of the table at `options` as a string without zero bytes, left on the stack;
 *  NULL when it is absent. */
const char *pnl_text_option(lua_State *L, int options, const char *owner, const char *name);
/** The same, and an error when it is absent; `is` says what it is, for the message: "the file of the party's secret
 *  key". */
const char *pnl_required_text(lua_State *L, int options, const char *owner, const char *name, const char *is);

/* Each adds its rows to the library on the stack top. */
void pnl_open_transports(lua_State *L);    /* in_process, server */
void pnl_open_party(lua_State *L);         /* party */
void pnl_open_federated_mpi(lua_State *L); /* mpi; in lranks.c */
void pnl_open_alignment(lua_State *L);     /* align */

#endif
