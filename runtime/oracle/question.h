/* question.h -- a question about the records, as a plan has it: what one answer may show of a record, what that costs,
 * and how it is answered.  All of it is public and fixed before anything is drawn.
 *
 * A new kind is one file that fills a pn_question_ops and one line in question.c's table.  Whoever asks, a solver of
 * this library or of a user's, does so through oracle.h, which charges, draws and remembers.
 * Depends on: gradient_noise.h, privacy/mechanism.  Used by: oracle.c, plans of solvers. */
#ifndef PN_ORACLE_QUESTION_H
#define PN_ORACLE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"
#include "oracle/gradient_noise.h"
#include "privacy/event/event.h"
#include "privacy/mechanism/batch_release.h"
#include "privacy/mechanism/mechanism.h"

/* What a question is asked with: released or public numbers, borrowed for the call. */
typedef struct pn_asked {
    const double *x; /* [dim of the objective] the point; of several points [count][dim] */
    const double *v; /* [dim] the second point or the direction; NULL where the kind takes none */
} pn_asked;

/* What comes back. */
typedef enum pn_answer_kind {
    PN_ANSWER_NUMBERS = 0, /* [dim], with Gaussian noise */
    PN_ANSWER_CHOICE       /* an index from 0, by private choice among `dim` scores */
} pn_answer_kind;

struct pn_question_ops {
    const char *name;
    const char *doc;
    const char *source;
    pn_answer_kind answer;
    bool two;     /* it takes asked.v */
    bool batches; /* it may be asked of a batch */
    /* Fill in dim and what bounds an answer's dependence on a record (`noise` or `selection`, and `batches`), from
     * certified bounds alone.  Errors: PN_EPRIVACY where nothing bounds it, PN_EUNSUPPORTED. */
    pn_status (*certify)(pn_question *self, pn_err *err);
    /* out[dim]: the exact answer, or the scores (the largest wins): the mean over all records, or with a batch the sum
     * over it divided by its denominator.  *value (may be NULL) = the mean loss at x.  room[self->room]: scratch. */
    pn_status (*compute)(const pn_question *self, const pn_asked *asked, const pn_batch *batch, double *room,
                         double *value, double *out, pn_task *task, pn_err *err);
    /* What `noise` is multiplied with: for questions whose sensitivity follows public arguments; NULL: 1. */
    double (*scale)(const pn_question *self, const pn_asked *asked);
};

struct pn_question {
    const pn_question_ops *ops;
    pn_objective *objective; /* of the plan, which outlives the question */
    pn_neighbours neighbours;
    size_t points; /* in asked.x */
    size_t each;   /* how often one step may ask it */
    double share;  /* precision relative to other questions of a plan: its noise multiplier is z/share */

    size_t dim;                       /* numbers of an answer, or scores */
    size_t room;                      /* doubles of scratch that computing one takes */
    pn_gradient_noise noise;          /* of numbers about all records */
    pn_batch_release_options batches; /* of numbers about batches, or whose noise is scaled; scheme NULL: neither */
    double divisor;                   /* what a released sum is divided by */
    pn_selection_options selection;   /* of choices */

    pn_event *event;  /* owned: of per_event answers; NULL before it has a price */
    size_t per_event; /* answers that one event pays for */
};

/** Free what it owns; safe on a zeroed one. */
void pn_question_clear(pn_question *self);

/** The event of what is certified and has its noise (sigma, or epsilon of a choice).  Errors: what the mechanism
 *  refuses. */
pn_status pn_question_price(pn_question *self, pn_err *err);

/** What draws the answers of one whose batches.scheme is NULL.  Errors: what the mechanism refuses. */
pn_status pn_question_mechanism(pn_mechanism **out, const pn_question *self, pn_err *err);

extern const pn_question_ops pn_question_gradient, pn_question_vertex;

#endif
