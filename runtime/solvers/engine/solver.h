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
#include "minimise/least_squares.h"
#include "objective/passes/objective.h"
#include "oracle/oracle.h"
#include "oracle/plan.h"
#include "oracle/receipt.h"
#include "privacy/accounting/accountant.h"
#include "privacy/ledger/ledger.h"
#include "privacy/mechanism/mechanism.h"
#include "solvers/engine/curvature.h"
#include "penumbra/objective.h"
#include "penumbra/plan.h"

typedef struct pn_state pn_state;

/* ---- plans ---- */

/** Does `ledger` cover what a run would charge, all of the plan or what is left of a run that goes on?  `reserve`: fix
 *  its orders for that (pn_ledger_reserve).  Errors: as pn_ledger_covers, and as the solver's `left`. */
pn_status pn_plan_covered(const pn_plan *plan, pn_ledger *ledger, bool reserve, pn_err *err);
/** The objective that was asked for: plan->objective, but for plans without records. */
pn_objective *pn_plan_objective(const pn_plan *plan);

/* ---- one step ---- */

#define PN_REMARK 120

struct pn_state {
    const pn_plan *plan; /* kept */
    size_t dim;          /* of the objective */
    /* [dim] the answer if the run ended now, paid; it begins as plan->start, or 0, and may be pointed at another array
     * of the state; NULL where the solver has `current` */
    double *theta;
    size_t step; /* steps done */
    uint64_t gradients;
    bool more;              /* set by an update: the step goes on with another query and update */
    bool finished;          /* set by a solver that ends early */
    const char *stopped;    /* static: why it did, for the fit; NULL: "converged" */
    char remark[PN_REMARK]; /* what else the fit says of its steps; "": nothing */
    double *block;          /* owned: theta, and the arrays of `rooms` */
};

/* How a solver says which arrays its state has: asked twice, to count and to hand out. */
typedef struct pn_room {
    double *block; /* NULL while counting */
    size_t used;
} pn_room;
/** *slot = `count` zeros, aligned to 64 bytes; NULL for count 0. */
void pn_room_take(pn_room *room, double **slot, size_t count);
/** The same for each of slots[number]; PN_ROOM_TAKE names them: (room, count, &self->x, &self->y). */
void pn_room_take_each(pn_room *room, size_t count, double **const *slots, size_t number);
#define PN_ROOM_SLOTS(...) ((double **const[]){ __VA_ARGS__ })
#define PN_ROOM_TAKE(room, count, ...)                                                                                 \
    pn_room_take_each(room, count, PN_ROOM_SLOTS(__VA_ARGS__), sizeof PN_ROOM_SLOTS(__VA_ARGS__) / sizeof(double **))

/* How the answer of a plan follows its noise where the objective is quadratic, along an eigenvector of its Hessian. */
typedef struct pn_response {
    double variance; /* of the answer, by the noise */
    /* of the distance from the start to the minimum, without noise; below 1 in size where steps are not too long */
    double left;
    const double *start; /* [p] borrowed from the plan */
} pn_response;

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
    /* NULL, or the names of those that shape nothing but noise and its price, NULL-ended: refused with privacy=false */
    const char *const *noise_params;
    pn_solver_reveals reveals;
    bool is_private;   /* has a private form */
    bool clips_values; /* it bounds what a record does by itself: no certified gradient is asked for */
    bool remote;       /* it reads no record of the objective: these may be with others (pn_dataset, `absent`) */
    bool by_questions; /* each question of its plan is certified by itself: no gradient has to be */
    bool passes;       /* every step takes a gradient of all records: where a Gram matrix makes that cheaper, form it */

    /* Its plan: the engine makes plan_size bytes of zeros that begin with a pn_plan, begun, for `fill`, and destroys
     * them after its failure.  common: the values of the common table; own: of its own. */
    size_t plan_size;
    pn_status (*fill)(pn_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err);
    /* Of a row without a run, in place of fill: the plan of another solver, which checks what is asked; else NULL. */
    pn_status (*pick)(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err);
    /* NULL, or: lines on choices that were not made, with their noise.  They take longer than the plan, so they wait
     * until it is shown: for plans that called pn_plan_later. */
    void (*what_if)(const pn_plan *plan, pn_plan_lines *out);
    /* Frees the solver's own parts and the block; not what pn_plan owns.  NULL: it has none. */
    void (*destroy_plan)(pn_plan *plan);

    /* A run.  The engine allocates the state and its arrays, zeroed, and frees them.  A step is `query`, which asks the
     * oracle and is the only one that sees records, ledger or chance, and then `update`, which moves by the answers and
     * sees none of them.  Either may fail and is then called again: a query gets the same answers and pays nothing, and
     * an update changes nothing before all that can fail is done.  A step may be several rounds of both: `more`. */
    size_t state;                                                     /* bytes, pn_state first */
    void (*rooms)(pn_state *state, pn_room *room);                    /* NULL, or: its arrays */
    pn_status (*begin)(pn_state *state, pn_oracle *ask, pn_err *err); /* its first point; may draw chance */
    pn_status (*query)(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err);
    pn_status (*update)(pn_state *state, pn_trace_row *row, pn_err *err);
    void (*end)(pn_state *state); /* NULL, or: free what the state holds besides its arrays */

    /* NULL, or: the answer if the run ended now, of those that do not keep it in state->theta.  That begins as
     * plan->start where there is one, else as 0. */
    void (*current)(const pn_state *state, double *theta /* [p] */);
    /* Of a run that goes on where it was, because a checkpoint says so: what it may still charge to the
     * context's ledger, *out NULL for nothing.  *resumed false: it begins, and may charge all of the plan.
     * NULL: every run begins. */
    pn_status (*left)(const pn_plan *plan, const pn_step_context *context, bool *resumed, pn_event **out, pn_err *err);
    /* Which releases a run makes depends on what it has released: it proves the plan's (epsilon, delta) however it
     * ends, and charges a ledger, which is a filter, for no more than what ran. */
    bool adaptive;
    void (*certify)(const pn_state *state, pn_certificate *out); /* NULL: no certificate */
    /* NULL, or: the released moments that the answer follows from, borrowed; NULL before they are released. */
    const pn_least_squares *(*moments)(const pn_state *state);
    /* NULL, or: *out, borrowed, of the point that the run ended at; its regulariser's part is filled in by the engine.
     * False while nothing was released that says it. */
    bool (*curvature)(const pn_state *state, pn_curvature *out);
    /* NULL, or: of a private plan that ran to its end, for curvatures of the mean loss and of r along an eigenvector.
     * Errors: PN_EUNSUPPORTED for plans whose answer follows no such law, with the reason. */
    pn_status (*respond)(const pn_plan *plan, double loss, double regular, pn_response *out, pn_err *err);
};

extern const pn_param pn_solver_common[];

/**
 * Plan a run of one solver; pn_plan_from_args (solvers/catalogue/solvers.h) takes its name.  common[PN_OPT_COUNT] and
 * own[] as the tables say (pn_solver_common, and the solver's params), unchecked; written to as by pn_args_check.
 *   owner   the function that was called, with which messages begin: "solve.sgd.plan"; NULL: "solve." and the name.
 *   ledger  budget to be charged, or NULL: then the plan's own (epsilon, delta) or rho is the budget.
 *   task    threads for what takes long, a width by Monte Carlo say, which it can stop; NULL: one thread.
 * Errors: PN_ECANCELLED; PN_EINVAL for options that contradict each other or make no sense; PN_EPRIVACY when the
 * objective's bounds are not certified; PN_EBUDGET when the ledger does not cover the plan; PN_EUNSUPPORTED for a set,
 * loss or relation that the solver cannot use; what the solver's own plan returns.
 */
pn_status pn_plan_by(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective, const char *owner,
                     pn_ledger *ledger, pn_arg *common, pn_arg *own, pn_task *task, pn_err *err);

/** From now on messages about the plan and its runs begin with `owner`; NULL: with "solve." and the solver's name. */
void pn_plan_called(pn_plan *plan, const char *owner);

/** The solver's own plan, by its `fill`.  Errors: its; PN_ENOMEM. */
pn_status pn_plan_make(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective, const pn_request *request,
                       const pn_arg *common, const pn_arg *own, pn_err *err);

/** For plans: *start[p], owned: the point that is given, else (NULL, too) the centre of the set, else 0.
 *  Errors: PN_ENOMEM. */
pn_status pn_plan_start(double **start, const pn_objective *objective, const pn_arg *given, pn_err *err);

/** For plans.  Errors: PN_EINVAL without a set; PN_EUNSUPPORTED for one that is not bounded. */
pn_status pn_plan_need_bounded_set(const pn_plan *plan, pn_err *err);

/** For plans, "bound" and "monte_carlo": what PN_WIDTH_PARAM chooses among. */
extern const char *const pn_plan_widths[];
#define PN_WIDTH_PARAM(where)                                                                                          \
    {                                                                                                                  \
        "width", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_plan_widths,                                                  \
            "the Gaussian width in the risk bound" where                                                               \
            ": its formula, else an upper bound without draws; monte_carlo: "                                          \
            "the mean of draws, about two seconds of them, with a certified interval whose upper end counts"           \
    }

/**
 * For plans: the width of a bounded set by its formula, else, `how` being the option's, from above without draws, or by
 * draws to 1% of sqrt(G^2 + r^2) at confidence 0.99, r the smaller of its l2 radius and half its diameter, in about two
 * seconds.  Bounds take its upper end.  *out holds nothing of use after a failure.
 */
pn_status pn_plan_width(pn_width *out, const pn_set *set, const pn_arg *how, pn_task *task, pn_err *err);
/** The same without draws. */
pn_status pn_plan_width_at_most(pn_width *out, const pn_set *set, pn_err *err);
/** Its line, `name`, of the set that is called `of`. */
void pn_plan_explain_width(pn_plan *plan, const char *name, const char *of, const pn_width *width);

/** All lines in their order; those of what_if are made by this call. */
void pn_plan_explain(const pn_plan *plan, pn_plan_lines *out);

/* ---- the run ---- */

/** The state of a run before its first step.  Errors: PN_ENOMEM; what the solver's `begin` fails with. */
pn_status pn_state_new(pn_state **out, const pn_plan *plan, pn_oracle *ask, pn_err *err);
/** theta[dim]: the answer if the run ended now. */
void pn_state_answer(const pn_state *state, double *theta);
void pn_state_free(pn_state *state); /* NULL allowed */

#define PN_TRACE_ROWS 1000000

struct pn_fit {
    double *theta; /* [p] */
    size_t p;
    pn_trace_row *trace; /* [rows]: one a step, of runs longer than PN_TRACE_ROWS every k-th and the last */
    size_t rows, steps;  /* steps: that were made */
    uint64_t gradients;
    double seconds;
    const char *stopped; /* NULL, or why it ended early: "interrupted", "limit" (of time), "converged", ... static */
    char remark[PN_REMARK];
    bool is_private, simulated, proven;
    double epsilon, delta,
        rho; /* what holds of the run: the plan's, wherever and why it ended; epsilon and rho are 0 when
                                   nothing was released; NaN when non-private */
    double charged_epsilon,
        /* the price of what was released, as ledgers were charged: the same, or less where a run ended early; then it
         * is no guarantee, since where it ended may depend on what was released */
        charged_rho;
    pn_event *charged; /* kept: what was released is charged_times this; NULL: nothing, and of a fit that was loaded */
    size_t charged_times;
    pn_neighbours neighbours;
    pn_certificate certificate; /* status NULL: none */
    pn_least_squares *moments;  /* owned: what it follows from; NULL of all but sufficient_statistics */
    pn_curvature *curvature;    /* owned; NULL of runs that released none */
};

#endif
