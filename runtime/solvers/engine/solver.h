/* solver.h -- plan, step, run: the interface of every algorithm and the table of known ones.
 * A new solver is one file that fills a pn_solver_ops and one line in solvers.c's table.  A solver is a state machine;
 * the only loop that calls `step` is pn_plan_run (run.c): progress, cancellation, callbacks and the trace live there.
 * Depends on: all rooms above solvers.  Used by: bindings, hosts. */
#ifndef PN_SOLVERS_SOLVER_H
#define PN_SOLVERS_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/param.h"
#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"
#include "privacy/accounting/accountant.h"
#include "privacy/ledger/ledger.h"
#include "privacy/mechanism/mechanism.h"
#include "penumbra/objective.h"
#include "penumbra/plan.h"

typedef struct pn_state pn_state;
typedef struct pn_without_records pn_without_records;
typedef struct pn_solver_ops pn_solver_ops;

/* ---- the plan: everything computed, nothing spent ---- */

/* A line of the explanation: "noise scale beta   0.0134   Delta sqrt(T/(2 rho))". */
typedef struct pn_plan_line {
    const char *name; /* static */
    double value;
    char text[48]; /* shown instead of the value when not empty */
    char formula[224];
} pn_plan_line;

#define PN_PLAN_LINES 40

typedef struct pn_plan_lines {
    pn_plan_line line[PN_PLAN_LINES];
    size_t count;
} pn_plan_lines;

/* A number that an option of the same name sets, as the plan has it, given or chosen. */
typedef struct pn_plan_setting {
    const char *name; /* static */
    double value;
    bool whole; /* a count */
} pn_plan_setting;

#define PN_PLAN_SETTINGS 6
#define PN_PLAN_WARNINGS 3

typedef enum pn_privacy_kind { PN_NONPRIVATE = 0, PN_EPSILON_DELTA, PN_RHO } pn_privacy_kind;

/* What the caller asked for, common to all solvers. */
typedef struct pn_request {
    const pn_solver_ops *solver; /* that was asked */
    pn_privacy_kind kind;
    double epsilon, delta, rho;
    pn_neighbours neighbours;
    /* or NULL; borrowed: with a ledger and no epsilon or rho, the plan is made for all that remains */
    pn_ledger *ledger;
    pn_task *task;        /* while the plan is made: widths may take long; NULL after */
    bool without_records; /* PN_NONPRIVATE because no record has a part in the answer (without_records.h) */
} pn_request;

struct pn_plan {
    const pn_solver_ops *solver;
    pn_objective *objective; /* kept: must outlive the plan */
    pn_request request;
    size_t iterations;
    /* owned; NULL unless the sensitivity is 0: a private run that releases nothing about the records.  request and
     * objective are then those of its stand-in */
    pn_without_records *without_records;
    pn_event *event; /* of one charge; owned; NULL when non-private */
    /* how often a whole run takes it; 0: once a step.  A solver whose steps differ has the whole run as one composed
     * event here, and says in `spent` what a part of it costs */
    size_t charges;
    double epsilon, delta; /* certified for the whole run; NaN when non-private */
    double rho;            /* likewise; +inf when the event has none */
    double order;          /* Renyi order behind epsilon */
    bool draws;            /* a non-private run that needs a stream, for noise that a user asks for */
    bool samples;          /* a non-private run that needs a stream, for its batches */
    bool proven;           /* false: a paper calibration whose (epsilon, delta) claim is not proven; printed as such */
    bool worthless;        /* no budget can pay for what it gives, whatever the event says: simulated runs only */
    double bound;          /* on the expected excess risk, by the theorem; NaN when none */
    double predicted;      /* excess risk to be expected, from public numbers alone and without guarantee; 0: unknown */
    double gradients; /* per-record gradient evaluations that the run will count, of solvers by values evaluations of
                              the loss; 0: unknown */
    double sigma;     /* noise on each coordinate of the mean gradient in a step; 0: none, or not one number */
    const char *accountant; /* static: who priced it when that is no sum of charges ("pld"); NULL otherwise */
    pn_plan_lines lines;    /* pn_plan_explain has them all */
    size_t later;           /* before which of them those of solver->what_if stand; 0: it has none */
    pn_plan_setting settings[PN_PLAN_SETTINGS];
    size_t setting_count;
    char warnings[PN_PLAN_WARNINGS][256]; /* empty strings where there is none */
};

/** What every plan begins with: whose it is, for what, proven until something says otherwise, and no bound yet. */
void pn_plan_begin(pn_plan *plan, pn_objective *objective, const pn_request *request);
/** Add a line; `formula` as printf. */
void pn_plan_add(pn_plan *plan, const char *name, double value, const char *formula, ...) PN_PRINTF(4, 5);
void pn_plan_add_text(pn_plan *plan, const char *name, const char *text, const char *formula, ...) PN_PRINTF(4, 5);
/** Here stand the lines of what_if. */
void pn_plan_later(pn_plan *plan);
/** For what_if: a line with its value, or with `text` where that is not "". */
void pn_lines_add(pn_plan_lines *lines, const char *name, double value, const char *text, const char *formula, ...)
    PN_PRINTF(5, 6);
void pn_plan_warn(pn_plan *plan, const char *format, ...) PN_PRINTF(2, 3);
/** Say what an option that shapes the run is in this plan: "batch", "step".  What `tune` varies. */
void pn_plan_set(pn_plan *plan, const char *name, double value, bool whole);
/** Does `ledger` cover what a run would charge, all of the plan or what is left of a run that goes on?  `reserve`: fix
 *  its orders for that (pn_ledger_reserve).  Errors: as pn_ledger_covers, and as the solver's `left`. */
pn_status pn_plan_covered(const pn_plan *plan, pn_ledger *ledger, bool reserve, pn_err *err);
/** The objective that was asked for: plan->objective, but for plans without records. */
pn_objective *pn_plan_objective(const pn_plan *plan);
/** How often a whole run takes plan->event. */
size_t pn_plan_charges(const pn_plan *plan);

/* ---- one step ---- */

typedef struct pn_step_context {
    pn_ledger *ledger; /* NULL when non-private */
    pn_rng *rng;       /* NULL when non-private */
    pn_task *task;
    size_t releases; /* counted by the solver: one more than steps when a step failed after its release */
} pn_step_context;

struct pn_state {
    const pn_plan *plan; /* kept */
    size_t step;         /* steps done */
    uint64_t gradients;
    bool finished;       /* set by a solver that ends early */
    const char *stopped; /* static: why it did, for the fit; NULL: "converged" */
};

/* ---- the interface ---- */

/* What a run tells those who see all that it says: its plan, its model, whether it ended well.  A curator's scripts may
 * use a solver when its row says PN_REVEALS_PAID, and none whose row says nothing. */
typedef enum pn_solver_reveals {
    PN_REVEALS_UNJUDGED = 0, /* nobody has said */
    PN_REVEALS_PAID,         /* what its plan pays for */
    PN_REVEALS_FAILURE,      /* and whether it fails, which depends on the records */
    PN_REVEALS_PROCESSES     /* and what it sends to other processes */
} pn_solver_reveals;

struct pn_solver_ops {
    const char *name;
    const char *doc;
    const char *source;     /* paper, algorithm, theorem */
    const pn_param *params; /* its own options; the common ones are pn_solver_common */
    pn_solver_reveals reveals;
    bool is_private;   /* has a private form */
    bool clips_values; /* it bounds what a record does by itself: no certified gradient is asked for */
    bool remote;       /* it reads no record of the objective: these may be with others (pn_dataset, `absent`) */
    bool picks;        /* its plans are those of another solver, which checks what is asked: a row without a run */
    /* it picks records in every step, also in batches of all: they have to be here (pn_dataset, `partial`) */
    bool by_records;

    /* args: first the common table's values, then its own.  Fills out->...
     * (allocated by the solver, pn_plan embedded first) */
    pn_status (*plan)(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err);
    /* NULL, or: lines on choices that were not made, with their noise.  They take longer than the plan, so they wait
     * until it is shown: for plans that called pn_plan_later. */
    void (*what_if)(const pn_plan *plan, pn_plan_lines *out);
    void (*destroy_plan)(pn_plan *plan); /* frees the solver's own parts and the block; not what pn_plan owns */

    pn_status (*start)(pn_state **out, const pn_plan *plan, pn_step_context *context, pn_err *err);
    pn_status (*step)(pn_state *state, pn_step_context *context, pn_trace_row *row, pn_err *err);
    void (*current)(const pn_state *state, double *theta /* [p] */); /* the answer if the run ended now; paid */
    void (*destroy)(pn_state *state);
    /* What has been charged so far, as one event; *out is NULL when nothing has.  NULL: plan->event once a release. */
    pn_status (*spent)(const pn_state *state, pn_event **out, pn_err *err);
    /* Of a run that goes on where it was, because a checkpoint says so: what it may still charge to `ledger`,
     * *out NULL for
     * nothing.  *resumed false: it begins, and may charge all of the plan.  NULL: every run begins. */
    pn_status (*left)(const pn_plan *plan, pn_ledger *ledger, bool *resumed, pn_event **out, pn_err *err);
    /* Which releases a run makes depends on what it has released: it proves the plan's (epsilon, delta) however it
     * ends, and charges a ledger, which is a filter, for no more than what ran (`spent`). */
    bool adaptive;
    void (*certify)(const pn_state *state, pn_certificate *out); /* NULL: no certificate */
};

/* Options that every solver takes (indices into `common`). */
enum {
    PN_OPT_EPSILON = 0,
    PN_OPT_DELTA,
    PN_OPT_RHO,
    PN_OPT_PRIVACY,
    PN_OPT_NEIGHBOURS,
    PN_OPT_CALIBRATION,
    PN_OPT_ITERATIONS,
    PN_OPT_START,
    PN_OPT_COUNT
};
extern const pn_param pn_solver_common[];

/**
 * Plan a run of one solver; pn_plan_from_args (solvers/catalogue/solvers.h) takes its name.  common[PN_OPT_COUNT] and
 * own[] as the tables say (pn_solver_common, and the solver's params), unchecked; written to as by pn_args_check.
 *   ledger  budget to be charged, or NULL: then the plan's own (epsilon, delta) or rho is the budget.
 *   task    threads for what takes long, a width by Monte Carlo say, which it can stop; NULL: one thread.
 * Errors: PN_ECANCELLED; PN_EINVAL for options that contradict each other or make no sense; PN_EPRIVACY when the
 * objective's bounds are not certified; PN_EBUDGET when the ledger does not cover the plan; PN_EUNSUPPORTED for a set,
 * loss or relation that the solver cannot use; what the solver's own plan returns.
 */
pn_status pn_plan_by(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective, pn_ledger *ledger,
                     pn_arg *common, pn_arg *own, pn_task *task, pn_err *err);

/**
 * For plans: the width of a bounded set to 1% of sqrt(G^2 + r^2), r the smaller of its l2 radius and half its diameter,
 * at confidence 0.99.  Bounds take its upper end.  *out is untouched on failure.
 */
pn_status pn_plan_width(pn_width *out, const pn_set *set, pn_task *task, pn_err *err);

/** All lines in their order; those of what_if are made by this call. */
void pn_plan_explain(const pn_plan *plan, pn_plan_lines *out);

/* ---- the run ---- */

#define PN_TRACE_ROWS 1000000

struct pn_fit {
    double *theta; /* [p] */
    size_t p;
    pn_trace_row *trace; /* [rows]: one a step, of runs longer than PN_TRACE_ROWS every k-th and the last */
    size_t rows, steps;  /* steps: that were made */
    uint64_t gradients;
    double seconds;
    const char *stopped; /* NULL, or why it ended early: "interrupted", "limit" (of time), "converged", ... static */
    bool is_private, simulated, proven;
    double epsilon, delta,
        rho; /* what holds of the run: the plan's, wherever and why it ended; epsilon and rho are 0 when
                                   nothing was released; NaN when non-private */
    double charged_epsilon,
        /* the price of what was released, as ledgers were charged: the same, or less where a run ended early; then it
         * is no guarantee, since where it ended may depend on what was released */
        charged_rho;
    pn_neighbours neighbours;
    pn_certificate certificate; /* status NULL: none */
};

#endif
