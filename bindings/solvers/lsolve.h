/* lsolve.h -- what lsolve.c, lplan.c, lwalk.c and lfit*.c share: plans, walks and fits keep each other alive.
 * Depends on: pnl.h, solvers/engine/solver.h. */
#ifndef PNL_LSOLVE_H
#define PNL_LSOLVE_H

#include "bindings/core/pnl.h"
#include "model/model.h"
#include "solvers/engine/solver.h"

extern const pnl_class pnl_walk_class;

/* Where pnl_keep has put things in a plan's box. */
enum { PNL_PLAN_OBJECTIVE = 1, PNL_PLAN_OPTIONS, PNL_PLAN_LEDGER };

/* Options that belong to the run and not to the plan. */
extern const char *const pnl_run_option_names[]; /* ledger, rng, progress, on_step */

/** Push a plan for the objective at `objective_index` and the options at `options_index` (a table or nil); messages
 *  begin with `owner`, the function that was called. */
int pnl_push_plan(lua_State *L, const pn_solver_ops *solver, const char *owner, int objective_index, int options_index);
/* What a plan is made of. */
typedef struct pnl_plan_parts {
    const pn_solver_ops *solver;
    const char *owner;        /* the function that was called, with which messages begin */
    const char *const *names; /* options besides the common ones and the solver's */
    int objective, options;   /* where they stand; options: a table or nil */
    /* Of a solver of a user's: makes the function of the plan whose box is at `box`; NULL of others. */
    void *(*prepare)(lua_State *L, int box, const struct pnl_plan_parts *parts);
    int table, effective; /* of that: its definition, and the options with its own */
} pnl_plan_parts;
int pnl_push_plan_with(lua_State *L, const pnl_plan_parts *parts);
/** Run the plan at `plan_index` with the run options in the table at `options_index` (nil or absent is allowed) and
 *  push the fit; messages begin with `owner`, the function that was called. */
int pnl_plan_run(lua_State *L, const char *owner, int plan_index, int options_index);
/** Push a walk over the plan's steps. */
int pnl_plan_walk(lua_State *L, int plan_index, int options_index);
/** Raise unless the value at `options_index` is nil or a table that holds run options only. */
void pnl_check_run_names(lua_State *L, int options_index, const char *owner);
/** Read ledger and rng from the run options into `run`; the values stay on the stack, pinned. */
void pnl_run_options(lua_State *L, int options_index, const char *owner, pn_run_options *run);
/** Push a table for one trace row; theta (may be NULL) as a vec copy. */
void pnl_push_row(lua_State *L, const pn_trace_row *row, const double *theta, size_t p);
/** Push an empty fit box that keeps the plan, or saved plan, alive. */
pn_fit **pnl_new_fit(lua_State *L, int plan_index);

/* Of the fit at 1 (lfit.c). */
/** What is known of its run: from its plan, or from its file; borrowed from there. */
void pnl_fit_about(lua_State *L, pn_model_about *out);
/** Push the plan and return it; NULL, with nothing pushed, for a fit that was loaded. */
pn_plan *pnl_fit_plan(lua_State *L);
/** The objective at theta, or the one that was saved. */
double pnl_fit_evaluate(lua_State *L);

/* lfit_save.c */
extern const pnl_class pnl_saved_plan_class;
int pnl_fit_save(lua_State *L);
/** Push the fit of the model file at `path`. */
int pnl_load_model(lua_State *L, const char *path);

/* lfit_receipt.c */
int pnl_fit_receipt(lua_State *L);
/** Of the fit at 1, which has a plan: the JSON of its receipt, kept alive by what is pushed; NULL without privacy. */
const char *pnl_fit_push_receipt(lua_State *L);

/* lfit_predict.c, lfit_coefficients.c, lfit_card.c, lfit_export.c: methods of fits. */
int pnl_fit_predict(lua_State *L);
int pnl_fit_probabilities(lua_State *L);
int pnl_fit_coefficients(lua_State *L);
int pnl_fit_card(lua_State *L);
int pnl_fit_export(lua_State *L);

/* lfit_change.c */
int pnl_fit_in_terms_of(lua_State *L);

/* lselection.c */
/** Make `require "penumbra.selection"` find what pn.tune is made with. */
void pnl_open_selection(lua_State *L);
/* lscores.c */
void pnl_open_scores(lua_State *L);

/** Coordinates of the model that are not zero. */
size_t pnl_fit_nonzeros(const pn_fit *fit);
/* lfit_moments.c */
int pnl_fit_path(lua_State *L);
int pnl_fit_intervals(lua_State *L);
int pnl_fit_covariance(lua_State *L);
int pnl_fit_moments(lua_State *L);
int pnl_fit_curvature(lua_State *L);
/* lfit_print.c */
int pnl_fit_tostring(lua_State *L);
/* What is said of numbers in theta that its maker declared public. */
#define PNL_DECLARED "declared public by the caller, not covered by the guarantee"
/** What the guarantee is, in words. */
void pnl_fit_say_privacy(const pn_fit *fit, const pn_model_about *about, char *text, size_t size);

#endif
