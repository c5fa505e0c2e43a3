/* schedule.h -- the size of each step of a run: by a law, or number by number as a caller gives them when the plan is
 * made.  Privacy does not depend on it; what theory promises of a law does, and says nothing of a caller's numbers.
 * Depends on: solver.h.  Used by: plans and runs of the solvers that take `step`. */
#ifndef PN_SOLVERS_SCHEDULE_H
#define PN_SOLVERS_SCHEDULE_H

#include "solvers/engine/solver.h"

typedef enum pn_step_law {
    PN_STEP_CONSTANT = 0, /* eta */
    PN_STEP_SQRT,         /* eta / sqrt(t) */
    PN_STEP_INVERSE,      /* eta / t */
    PN_STEP_HARMONIC      /* 2 / (eta (t + 1)) */
} pn_step_law;

typedef struct pn_schedule {
    pn_step_law law;
    double eta;   /* with `each`: the largest of them */
    double *each; /* [steps of the plan] owned; a caller's sizes, in place of the law; NULL: none */
} pn_schedule;

/* Why a plan with `each` has no bound. */
#define PN_SCHEDULE_NO_BOUND "the theory is about its own steps, not about a schedule that is given"

/** `step`, for the tables of solvers; a plan reads it by pn_schedule_read. */
#define PN_STEP_PARAM(doc)                                                                                             \
    {                                                                                                                  \
        "step", PN_SCHEDULE, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, doc                                                  \
    }

/** The one number that other choices of a plan may rest on: as given, or the largest that pn_schedule_read has read; 0
 *  without. */
double pn_step_number(const pn_schedule *self, const pn_arg *step);

/**
 * With a list or a function: fill in `each`, law and eta for plan->iterations steps, unless these are 0, which is not
 * known yet, or it has been done; else leave *out as it is.  Clear it also after a failure.
 *   row   of `step`: its range is that of every number.
 * Errors: PN_EDIM for a list of another length; PN_EINVAL for a number out of range, with its step; PN_ENOMEM; what
 *         the function fails with.
 */
pn_status pn_schedule_read(pn_schedule *out, const pn_plan *plan, const pn_param *row, const pn_arg *step, pn_err *err);
void pn_schedule_clear(pn_schedule *self);

/** The size of step t = 1, 2, ... */
double pn_schedule_at(const pn_schedule *self, size_t t);

/** The line `name` of a plan: its one number with `formula`, as printf, or those that are given from the first to the
 *  last. */
void pn_schedule_explain(const pn_schedule *self, pn_plan *plan, const char *name, double number, const char *formula,
                         ...) PN_PRINTF(5, 6);

#endif
