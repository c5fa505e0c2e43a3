/* sets.h -- the table of constraint sets.
 * Depends on: geometry/convex/set.h.  Used by: geometry, objective, solvers, bindings, hosts. */
#ifndef PN_GEOMETRY_SETS_SETS_H
#define PN_GEOMETRY_SETS_SETS_H

#include "geometry/convex/set.h"
#include "penumbra/set.h"

/** The table, ended by NULL. */
const pn_set_ops *const *pn_set_table(void);
/** The row of a name, or NULL: its params say where each option goes in the args of pn_set_from_args
 *  (pn_param_find). */
const pn_set_ops *pn_set_find(const char *name);

/** pn_set_new with its arguments, one for each row of its table. */
pn_status pn_set_from_args(pn_set **out, const char *name, pn_arg *args, pn_err *err);

/** {x : *lower <= <normal, x> <= *upper}, a halfspace, slab or hyperplane of the table, scaled and shifted as may be?
 *  normal[dim] borrowed, of length 1. */
bool pn_set_slab_bounds(const pn_set *set, const double **normal, double *lower, double *upper);

#endif
