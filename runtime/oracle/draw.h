/* draw.h -- a question of a plan, opened: what computes its answers, charges them and draws their noise.
 * Depends on: question.h, privacy/mechanism, continual/prefix.h.  Used by: oracle.c. */
#ifndef PN_ORACLE_DRAW_H
#define PN_ORACLE_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "continual/prefix.h"
#include "oracle/question.h"
#include "privacy/mechanism/sampler.h"

/* One answer of the step at hand, or room for one. */
typedef struct pn_given {
    double *inputs; /* what it was asked with, then the answer: one block */
    double *answer; /* [dim] */
    size_t chosen;  /* of a choice; of a watch whether it was above */
    double tau;     /* as asked */
    double value;   /* the mean loss at x; NaN where it was not computed */
    bool there;
} pn_given;

/* Where a run's answers are charged and drawn; all but the label NULL where the run has none. */
typedef struct pn_draw_on {
    const char *label;
    pn_ledger *ledger;
    pn_rng *rng;
    pn_task *task;
    size_t steps; /* of the run */
    bool whole;   /* the run has been charged as a whole: nothing is charged here */
    bool ahead;   /* a ledger in a file may be charged for some steps at once */
} pn_draw_on;

typedef struct pn_draw {
    const pn_question *question;
    pn_mechanism *mechanism;           /* of answers about all records */
    pn_batch_release *release;         /* of batches and scaled noise */
    pn_sampler *sampler;               /* of batches without noise */
    pn_prefix *stream;                 /* of running sums ... */
    size_t *order;                     /* [n] ... in whose order the records are used; NULL: all in every leaf */
    pn_sparse_run *watch;              /* open since it was first asked */
    pn_selections *selections;         /* of a vertex that is made of several choices */
    pn_perturbation *masked;           /* of a minimum: paid for, not made yet */
    struct pn_smoothed_draw *smoothed; /* of estimates from values */
    struct pn_vertex_path *along;      /* of vertices at the iterates that they make */
    double *room;                      /* the question's scratch */
    const struct pn_draw *differs;     /* of a gradient: the plan's difference, which wants the records' factors, too */
    size_t charged;                    /* events */
    size_t records;                    /* that the last answer looked at; of a secret number its expectation */
} pn_draw;

/** Errors: PN_ENOMEM; what the mechanisms refuse. */
pn_status pn_draw_open(pn_draw *self, const pn_question *question, pn_rng *rng, pn_err *err);
void pn_draw_close(pn_draw *self); /* zeroed is allowed */

/** Of a minimum: charge it, once, and draw the linear term b[dim], which is as private as the records. */
pn_status pn_draw_linear(pn_draw *self, const pn_draw_on *on, double *b, pn_err *err);
/** Pay for so many answers about batches beforehand; nothing to do for other questions.  Errors: as
 *  pn_batch_release_pay. */
pn_status pn_draw_pay(pn_draw *self, const pn_draw_on *on, size_t answers, pn_err *err);
/** Compute, charge and draw the answer to what is in to->inputs and `asked`; *value (may be NULL) = the mean loss at x.
 *  What fails before the charge has cost nothing; what fails after it is paid for, and the next call goes on there.
 *  Errors: of the objective, the ledger and the mechanisms. */
pn_status pn_draw_answer(pn_draw *self, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                         pn_err *err);
/* ---- vertex_path.c ---- */

typedef struct pn_vertex_path pn_vertex_path;
/** Of a vertex question with `along`.  Errors: PN_ENOMEM. */
pn_status pn_vertex_path_open(pn_vertex_path **out, const pn_question *question, pn_err *err);
void pn_vertex_path_close(pn_vertex_path *self); /* NULL allowed */
pn_status pn_vertex_path_answer(pn_draw *draw, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                                pn_err *err);

/* ---- question_smoothed.c ---- */

typedef struct pn_smoothed_draw pn_smoothed_draw;
pn_status pn_smoothed_open(pn_smoothed_draw **out, const pn_question *question, pn_rng *rng, pn_err *err);
void pn_smoothed_close(pn_smoothed_draw *self); /* NULL allowed */
pn_status pn_smoothed_answer(pn_draw *draw, const pn_draw_on *on, const pn_asked *asked, double *value, pn_given *to,
                             pn_err *err);
/** Chance of its own, which says nothing about the records: a number in [0, 1); one below `count`. */
double pn_smoothed_place(pn_smoothed_draw *self);
size_t pn_smoothed_pick(pn_smoothed_draw *self, size_t count);

#endif
