/* reference.h -- entering classes, libraries and rows in the reference; nothing happens while it is not being made.
 * Depends on: pnl.h.  Used by: pnl.c, reference.c. */
#ifndef PNL_REFERENCE_H
#define PNL_REFERENCE_H

#include "bindings/core/pnl.h"

/** The row under "<place><separator><name>"; source and params may be NULL. */
void pnl_enter(lua_State *L, const char *place, const char *separator, const pnl_row *row, const char *source,
               const pn_param *params);
/** The class and all its rows. */
void pnl_enter_class(lua_State *L, const pnl_class *cls);
void pnl_enter_library(lua_State *L, const char *library, const char *doc);
/** It is made anew when it is next asked for. */
void pnl_forget_reference(lua_State *L);

#endif
