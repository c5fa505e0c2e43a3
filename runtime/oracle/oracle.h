/* oracle.h -- the one place where a run looks at records.  A solver's `query` asks; the oracle charges the ledger,
 * draws, and keeps each answer until the step is done, so that a step which failed after a release and is tried again
 * gets the same answer and pays nothing.
 *
 * In a run without privacy every question is answered exactly, planned or not.  In a private run it is answered only as
 * the plan has it: of a planned kind, as often in a step as planned.  The order is always: what can fail without a
 * release, the charge, the draw.  While an answer is being computed nothing else may be asked: a user's function that
 * the pass calls would write over it.
 * Depends on: question.h.  Used by: run.c, the `query` of solvers. */
#ifndef PN_ORACLE_ORACLE_H
#define PN_ORACLE_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oracle/plan.h"
#include "oracle/question.h"
#include "oracle/receipt.h"
#include "random/block_sampling.h"

typedef struct pn_oracle pn_oracle;

/* ---- for the engine ---- */

/** Ready to answer what `plan` has planned.  plan, ledger, rng and task: borrowed; ledger and rng NULL where the run
 *  has none.  Errors: PN_ENOMEM; what the mechanisms refuse. */
pn_status pn_oracle_open(pn_oracle **out, const pn_plan *plan, pn_ledger *ledger, pn_rng *rng, pn_task *task,
                         pn_err *err);
void pn_oracle_close(pn_oracle *self); /* NULL allowed */
/** A step begins, or is tried again: its questions are counted from here. */
void pn_oracle_begin(pn_oracle *self);
/** The step is done: forget its answers. */
void pn_oracle_next(pn_oracle *self);
/** Per-record evaluations so far; where the number of a batch is a secret, its expectation. */
uint64_t pn_oracle_records(const pn_oracle *self);
/** What the run is charged to; NULL without privacy. */
pn_ledger *pn_oracle_ledger(const pn_oracle *self);
/** Whether that is a ledger of lessons, which takes simulated noise. */
bool pn_oracle_is_lesson(const pn_oracle *self);
/** The receipt: what has been charged, *count times *event (a new reference), NULL for nothing.  Errors: PN_ENOMEM. */
pn_status pn_oracle_charged(const pn_oracle *self, pn_event **event, size_t *count, pn_err *err);

/** Gradients are those of batches, not of all records. */
bool pn_oracle_takes_batches(const pn_oracle *self);

/* One answer. */
typedef struct pn_answer {
    bool wants_value;      /* set by the caller */
    const double *numbers; /* [dim of the question], until the step is done */
    size_t chosen;         /* of a choice, from 0 */
    double value;          /* the mean loss at x where it was wanted and may be shown; else NaN */
} pn_answer;

/** Ask question number `which` of the plan, as often in a step as its `each` says.  Errors: as those below. */
pn_status pn_oracle_ask(pn_oracle *self, size_t which, const pn_asked *asked, pn_answer *out, pn_err *err);

/* ---- for solvers: what may be asked ----
 * x[dim]: any point that rests on public and released numbers.  *value (NULL: not wanted) = f there, NaN where the run
 * may not show it; in a run without privacy a value that is no number is PN_EDOMAIN.
 * Errors of all: PN_EPRIVACY for what is not planned, PN_EBUDGET (nothing was charged or drawn), what the objective and
 * its regulariser fail with. */

/** gradient[dim] of f, its regulariser included.  Of a plan with batches, also without privacy, the mean loss's part is
 *  that of the next batch, and *value is NaN; likewise below. */
pn_status pn_ask_gradient(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err);
/** gradient[dim] of the mean loss, for solvers that take the regulariser in their own way; *value is f's all the
 *  same. */
pn_status pn_ask_losses(pn_oracle *ask, const double *x, double *value, double *gradient, pn_err *err);
/** v[dim]: the mean loss's gradient at y, which the next `steps` differences are taken from; they are paid for with it.
 *  Of a plan whose differences have the noise of v in theirs, v is 0: it is in each of them. */
pn_status pn_ask_snapshot(pn_oracle *ask, const double *y, size_t steps, double *value, double *v, pn_err *err);
/** sum[dim], over the next batch, of the gradients at x less those at y, each clipped to l2 norm tau > 0. */
pn_status pn_ask_difference(pn_oracle *ask, const double *x, const double *y, double tau, double *sum, pn_err *err);
/** The records of the next batch, and the factors of all of them at the snapshot: without privacy only. */
pn_status pn_ask_rows(pn_oracle *ask, pn_batch *batch, const double **factors, pn_err *err);
/** The same from `source`, a caller's samples, where it has any: then *value = f(x), exactly. */
pn_status pn_ask_source(pn_oracle *ask, const pn_gradient_oracle *source, const double *x, double *value,
                        double *gradient, pn_err *err);
/** *chosen: the vertex v of the set, from 0, with the least <v, gradient of f at x>, by private choice. */
pn_status pn_ask_vertex(pn_oracle *ask, const double *x, double *value, size_t *chosen, pn_err *err);
/** vertex[dim]: likewise, of a set whose vertices are made of several choices. */
pn_status pn_ask_choices(pn_oracle *ask, const double *x, double *value, double *vertex, pn_err *err);
/** Of a plan that keeps the gradient (pn_question_vertex_along), whose first question is either: *codes, a number for
 *  each entry of the vertex, borrowed until the next question.  x has to be what steps 2/(t+1) made of the vertices so
 *  far; of it only *value is computed. */
pn_status pn_ask_coordinates(pn_oracle *ask, const double *x, double *value, const double **codes, pn_err *err);
/** *value = f(x), exactly: of a run without privacy only. */
pn_status pn_ask_value(pn_oracle *ask, const double *x, double *value, pn_err *err);

/* ---- estimates from values ---- */

/** gradient[dim] at w, of the smoothed loss, by the stream of the plan's records; `before`[dim] is where the one before
 *  was taken.  *value as above. */
pn_status pn_ask_smoothed(pn_oracle *ask, const double *w, const double *before, double *gradient, pn_err *err);
/** Chance that does not change with the noise: a number in [0, 1) for where gradients are taken, one below `count` for
 *  which of them is the answer. */
double pn_ask_place(pn_oracle *ask);
size_t pn_ask_pick(pn_oracle *ask, size_t count);
/** The blocks of a sampling, indices[blocks] of which *count are drawn. */
pn_status pn_ask_blocks(pn_oracle *ask, const pn_block_sampling *sampling, size_t *indices, size_t *count, pn_err *err);

/* ---- points that a solver computes from the records, in its query ---- */

/** Whether numbers of the records may be shown: without privacy, and under seeded noise. */
bool pn_ask_shows(const pn_oracle *ask);
/** For passes of the query's own: threads, and who stops them. */
pn_task *pn_ask_task(const pn_oracle *ask);
/** For instruments: model_release.h, line_search.h, least_eigen.h, of plans whose prices follow what was released.
 *  What they charge is on the receipt. */
pn_step_context *pn_ask_context(pn_oracle *ask);
/** It has evaluated so many per-record gradients. */
void pn_ask_count(pn_oracle *ask, uint64_t records);
/** Charge the run and draw the linear term b[dim] of its objective: once, a second call leaves b as it is. */
pn_status pn_ask_linear(pn_oracle *ask, double *b, pn_err *err);
/** out[dim] = x[dim] with the noise of the plan's point or minimum. */
pn_status pn_ask_masked(pn_oracle *ask, const double *x, double *out, pn_err *err);
/** Charge what the plan's point costs, though nothing is released: once.  For a failure that tells of the records. */
pn_status pn_ask_forfeit(pn_oracle *ask, pn_err *err);

/** A number below `count`, and n standard normals: chance that says nothing about the records. */
size_t pn_ask_below(pn_oracle *ask, size_t count);
void pn_ask_normals(pn_oracle *ask, size_t n, double *normals);

#endif
