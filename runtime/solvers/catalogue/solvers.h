/* solvers.h -- the table of solvers, and planning by name.
 * Depends on: solvers/engine/solver.h.  Used by: bindings, hosts, auto.c. */
#ifndef PN_SOLVERS_CATALOGUE_SOLVERS_H
#define PN_SOLVERS_CATALOGUE_SOLVERS_H

#include "solvers/engine/solver.h"
#include "penumbra/plan.h"

/** The table, ended by NULL: the solvers of this library, then what was added. */
const pn_solver_ops *const *pn_solver_table(void);
/** The row of a name, or NULL: its params say where each option goes in `own` of pn_plan_from_args (pn_param_find). */
const pn_solver_ops *pn_solver_find(const char *name);

/**
 * Add a row for a solver of another library; `solver` must outlive the process's use of the table.  Adding it again
 * changes nothing, also from several threads at once; a thread plans after its own call.
 * Errors: PN_EINVAL where another row has its name, and when PN_SOLVERS_ADDED rows were added already.
 */
pn_status pn_solver_add(const pn_solver_ops *solver, pn_err *err);
#define PN_SOLVERS_ADDED 8

/** pn_plan_new with its arguments, as pn_plan_by takes them. */
pn_status pn_plan_from_args(pn_plan **out, const char *solver, pn_objective *objective, pn_ledger *ledger,
                            pn_arg *common, pn_arg *own, pn_task *task, pn_err *err);

#endif
