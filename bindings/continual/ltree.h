/* ltree.h -- what the files of pn.tree share.  Depends on: pnl.h, continual/prefix.h.  Used by: ltree*.c. */
#ifndef PNL_LTREE_H
#define PNL_LTREE_H

#include "bindings/core/pnl.h"

#include "continual/prefix.h"

typedef struct pnl_tree {
    pn_prefix *stream; /* NULL: closed */
    pn_ledger *ledger; /* to pay from; NULL: a budget of exactly what the stream costs */
} pnl_tree;

/** As pnl_status, under the name that users know. */
void pnl_tree_status(lua_State *L, pn_status status, const pn_err *err);
/** The string at `index`; raises. */
const char *pnl_tree_path(lua_State *L, int index, const char *owner);

#endif
