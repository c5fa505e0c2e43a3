/* lsolve.h -- what lsolve.c, lplan.c, lwalk.c and lfit.c share: plans, walks and fits keep each other alive.
 * Depends on: pnl.h, solvers/solver.h. */
#ifndef PNL_LSOLVE_H
#define PNL_LSOLVE_H

#include "pnl.h"
#include "solvers/solver.h"

extern const pnl_class pnl_walk_class;

/* Where pnl_keep has put things in a plan's box. */
enum { PNL_PLAN_OBJECTIVE = 1, PNL_PLAN_OPTIONS, PNL_PLAN_LEDGER };

/* Options that belong to the run and not to the plan. */
extern const char *const pnl_run_option_names[]; /* ledger, rng, progress, on_step */

/** Push a plan for the objective at `objective_index` and the options at `options_index` (a table or nil). */
int pnl_push_plan(lua_State *L, const pn_solver_ops *solver, int objective_index, int options_index);
/** Run the plan at `plan_index` with the run options in the table at `options_index` (nil or absent is allowed) and push
 *  the fit. */
int pnl_plan_run(lua_State *L, int plan_index, int options_index);
/** Push a walk over the plan's steps. */
int pnl_plan_walk(lua_State *L, int plan_index, int options_index);
/** Raise unless the value at `options_index` is nil or a table that holds run options only. */
void pnl_check_run_names(lua_State *L, int options_index, const char *owner);
/** Read ledger and rng from the run options into `run`; the values stay on the stack, pinned. */
void pnl_run_options(lua_State *L, int options_index, const char *owner, pn_run_options *run);
/** Push a table for one trace row; theta (may be NULL) as a vec copy. */
void pnl_push_row(lua_State *L, const pn_trace_row *row, const double *theta, size_t p);
/** Push an empty fit box that keeps the plan alive. */
pn_fit **pnl_new_fit(lua_State *L, int plan_index);

#endif
