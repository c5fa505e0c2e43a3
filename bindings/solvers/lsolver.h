/* lsolver.h -- solvers of a user's own, in Lua: pn.solver{...}.
 * Depends on: lask.h, lcallback.h, solvers/engine/solver.h.  Used by: lsolver.c, lsolver_run.c, lsolve.c. */
#ifndef PNL_LSOLVER_H
#define PNL_LSOLVER_H

#include "bindings/core/lcallback.h"
#include "bindings/solvers/lask.h"
#include "bindings/solvers/lsolve.h"

/* A definition, in a box of its own that its plans keep. */
typedef struct pnl_scripted {
    pn_solver_ops ops; /* first: of this solver alone */
    char name[32];
    char doc[256];
    char source[256];
    size_t iterations; /* by default; 0: none */
    bool counts;       /* or its function `iterations` says */
    bool within;       /* one of its functions runs */
} pnl_scripted;

typedef struct pnl_scripted_plan {
    pn_plan base; /* first */
    pnl_callback *back;
    double time, noise; /* pn_first_order_time */
    bool pld;           /* priced by its loss distribution, charged as a whole */
} pnl_scripted_plan;

/* What the function of a plan is called for. */
typedef enum pnl_job_kind {
    PNL_JOB_COUNT = 0, /* how many steps the plan has */
    PNL_JOB_PLAN,
    PNL_JOB_BEGIN,
    PNL_JOB_STEP,
    PNL_JOB_RESTORE
} pnl_job_kind;

typedef struct pnl_scripted_state {
    pn_state base; /* first */
    pnl_ask *ask;  /* one reference */
} pnl_scripted_state;

typedef struct pnl_job {
    pnl_job_kind kind;
    pnl_scripted_plan *plan;
    pnl_scripted_state *state;
    pn_oracle *oracle;
    pnl_ask *ask; /* of a plan: one reference */
    pn_trace_row *row;
} pnl_job;

/* lsolver_run.c */
/** Push the function of a plan: upvalues are the definition's table, the objective and the options, which are at these
 *  indices. */
void pnl_push_scripted_function(lua_State *L, int definition, int objective, int options);
/** Fill in the functions of a run. */
void pnl_scripted_ops(pn_solver_ops *ops);
/** Do a job under a protected call.  Errors: PN_ECALLBACK, what a question failed with, PN_ECANCELLED. */
pn_status pnl_scripted_call(const pnl_scripted_plan *plan, pnl_job *job, pn_err *err);

/* lsolver.c */
extern const pnl_class pnl_solver_class;
bool pnl_is_scripted(const pn_solver_ops *solver);
/** Copies what the table at `from` has into that on top of the stack. */
void pnl_add_all(lua_State *L, int from);
/** The plan's settings: its steps, and options that are numbers. */
void pnl_set_settings(lua_State *L, pn_plan *plan, int table, int effective);
/** As pnl_push_plan. */
int pnl_push_scripted_plan(lua_State *L, const pn_solver_ops *solver, const char *owner, int objective_index,
                           int options_index);
void pnl_open_solver(lua_State *L);

/* lshipped.c */
/** Make `require "penumbra.shipped"` find what entries of pn.solve in the Lua half are made with. */
void pnl_open_shipped(lua_State *L);

#endif
