/* plan.h -- everything that a run will ask of the records, what it costs and why; nothing is spent.
 * Depends on: core, objective, privacy.  Used by: every file of oracle/, solvers/ and federated/solver. */
#ifndef PN_ORACLE_PLAN_H
#define PN_ORACLE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"
#include "oracle/basis.h"
#include "privacy/accounting/accountant.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "privacy/mechanism/batch_release.h"
#include "penumbra/plan.h"

typedef struct pn_without_records pn_without_records;
typedef struct pn_solver_ops pn_solver_ops;
typedef struct pn_question pn_question;
typedef struct pn_question_ops pn_question_ops;

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

/* A release that is no question of the plan, for its receipt. */
typedef struct pn_plan_rest {
    const char *of;                   /* static: what is released */
    pn_basis basis;                   /* why its sensitivity is what it is */
    pn_batch_release_options release; /* scheme NULL: no numbers, and `event` is what it costs */
    pn_event *event;                  /* owned, or NULL */
    size_t times;                     /* in a whole run; 0: that follows what is released */
} pn_plan_rest;

#define PN_PLAN_RESTS         8
#define PN_PLAN_SETTINGS      26
#define PN_PLAN_WARNINGS      5
#define PN_PLAN_WARNING_BYTES 400
#define PN_PLAN_QUESTIONS     16

typedef enum pn_privacy_kind { PN_NONPRIVATE = 0, PN_EPSILON_DELTA, PN_RHO } pn_privacy_kind;

/* What the caller asked for, common to all solvers. */
typedef struct pn_request {
    const pn_solver_ops *solver; /* that was asked */
    const char *owner;           /* as pn_plan_by has it; NULL once the plan is made */
    pn_privacy_kind kind;
    double epsilon, delta, rho;
    pn_neighbours neighbours;
    /* or NULL; borrowed: with a ledger and no epsilon or rho, the plan is made for all that remains */
    pn_ledger *ledger;
    pn_task *task;        /* while the plan is made: widths may take long; NULL after */
    bool without_records; /* PN_NONPRIVATE because no record has a part in the answer (without_records.h) */
} pn_request;

/* Options that every solver takes (indices into `common`, pn_solver_common). */
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

struct pn_plan {
    const pn_solver_ops *solver;
    const char *name;        /* its name: of charges */
    char owner[48];          /* the function that was called, with which messages begin: "solve.sgd" */
    pn_objective *objective; /* kept: must outlive the plan */
    pn_request request;
    double *start; /* owned: [p] where a run begins, of solvers that read it by pn_plan_start; else NULL */
    size_t iterations;
    /* owned; NULL unless the sensitivity is 0: a private run that releases nothing about the records.  request and
     * objective are then those of its stand-in */
    pn_without_records *without_records;
    pn_question *questions; /* owned: all that a private run asks of the records (question.h) */
    size_t question_count;
    pn_plan_rest rests[PN_PLAN_RESTS]; /* owned: what it releases beside them */
    size_t rest_count;
    pn_event *event; /* of one charge; owned; NULL when non-private */
    /* how often a whole run takes it; 0: once a step.  A solver whose steps differ has the whole run as one composed
     * event here, and says in `spent` what a part of it costs */
    size_t charges;
    double epsilon, delta; /* certified for the whole run; NaN when non-private */
    double rho;            /* likewise; +inf when the event has none */
    double order;          /* Renyi order behind epsilon */
    bool whole;            /* event is the whole run's, charged before the first draw; its parts are not */
    bool by_step;          /* a file is charged for each answer by itself, too: the run may end anywhere */
    bool draws;            /* a non-private run that needs a stream, for noise that a user asks for */
    bool samples;          /* a non-private run that needs a stream, for its batches */
    bool proven;           /* false: a paper calibration whose (epsilon, delta) claim is not proven; printed as such */
    bool hopeless;        /* the noise is expected to leave the model no better than a constant: warnings[0] says why */
    bool simulation_only; /* no budget can pay for what it gives, whatever the event says: simulated runs only */
    double bound;         /* on the expected excess risk, by the theorem; NaN when none */
    double predicted;     /* excess risk to be expected, from public numbers alone and without guarantee; 0: unknown */
    double gradients; /* per-record gradient evaluations that the run will count, of solvers by values evaluations of
                              the loss; 0: unknown */
    double seconds;   /* of one core, that a run would take, estimated from public sizes; 0: unknown */
    double sigma;     /* noise on each coordinate of the mean gradient in a step; 0: none, or not one number */
    const char *accountant; /* static: who priced it when that is no sum of charges ("pld"); NULL otherwise */
    pn_plan_lines lines;    /* pn_plan_explain has them all */
    size_t later;           /* before which of them those of solver->what_if stand; 0: it has none */
    pn_plan_setting settings[PN_PLAN_SETTINGS];
    size_t setting_count;
    char warnings[PN_PLAN_WARNINGS][PN_PLAN_WARNING_BYTES]; /* empty strings where there is none */
};

/** Whether what pays is a ledger of lessons, which takes simulated noise and what no real budget pays for. */
bool pn_request_is_lesson(const pn_request *request);
/** PN_EUNSUPPORTED for add_remove, of what divides by n. */
pn_status pn_request_need_n(const pn_request *request, const char *owner, pn_err *err);
/* Of the option `accountant`: "auto", "rdp", "pld", NULL. */
extern const char *const pn_accountant_names[];
/** Whether a run is priced by its loss distribution, and charged at once; by_default: with "auto". */
bool pn_accountant_is_pld(const pn_arg *accountant, bool by_default);
/** PN_EUNSUPPORTED for rho, of what is priced by its loss distribution. */
pn_status pn_request_need_epsilon(const pn_request *request, const char *owner, pn_err *err);
/** PN_EUNSUPPORTED for a pure epsilon, of what draws Gaussian noise. */
pn_status pn_request_need_delta(const pn_request *request, const char *owner, pn_err *err);

/** Add a line; `formula` as printf. */
void pn_plan_add(pn_plan *plan, const char *name, double value, const char *formula, ...) PN_PRINTF(4, 5);
void pn_plan_add_text(pn_plan *plan, const char *name, const char *text, const char *formula, ...) PN_PRINTF(4, 5);
/** The bound on the excess risk and its line, with `formula`, as printf: true; or the line that says why there is
 *  none. */
bool pn_plan_bounds(pn_plan *plan, double bound, const char *none, const char *formula, ...) PN_PRINTF(4, 5);
/** Here stand the lines of what_if. */
void pn_plan_later(pn_plan *plan);
/** For what_if: a line with its value, or with `text` where that is not "". */
void pn_lines_add(pn_plan_lines *lines, const char *name, double value, const char *text, const char *formula, ...)
    PN_PRINTF(5, 6);
void pn_plan_warn(pn_plan *plan, const char *format, ...) PN_PRINTF(2, 3);
/** Likewise, before all others: the plan is hopeless, and why. */
void pn_plan_warn_hopeless(pn_plan *plan, const char *format, ...) PN_PRINTF(2, 3);
/** Say what an option that shapes the run is in this plan: "batch", "step".  What `tune` varies. */
void pn_plan_set(pn_plan *plan, const char *name, double value, bool whole);
/** A run of the plan will ask a question of that kind, once a step until it says otherwise: *out, zeroed but for that,
 *  stays where it is until the next one.  Errors: PN_ENOMEM. */
pn_status pn_plan_ask(pn_question **out, pn_plan *plan, const pn_question_ops *ops, pn_err *err);
/** That question by itself, beside the plan: for what other choices would take.  Clear it. */
void pn_plan_question(pn_question *out, const pn_plan *plan, const pn_question_ops *ops);
/** Say what else the plan releases; `rest` is copied, its event taken over.  Beyond PN_PLAN_RESTS it is left out. */
void pn_plan_rests_on(pn_plan *plan, const pn_plan_rest *rest);
/** How often a whole run takes plan->event. */
size_t pn_plan_charges(const pn_plan *plan);

#endif
