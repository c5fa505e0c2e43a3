/* sets.h -- the table of constraint sets.
 * Depends on: geometry/convex/set.h.  Used by: geometry, objective, solvers, bindings, hosts. */
#ifndef PN_GEOMETRY_SETS_SETS_H
#define PN_GEOMETRY_SETS_SETS_H

#include "geometry/convex/set.h"

/** The table, ended by NULL. */
const pn_set_ops *const *pn_set_table(void);
/** The row of a name, or NULL: its params say where each option goes in the args of pn_set_new (pn_param_find). */
const pn_set_ops *pn_set_find(const char *name);

/** A set by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); what create returns. */
pn_status pn_set_new(pn_set **out, const char *name, pn_arg *args, pn_err *err);

#endif
