/* scores.h -- what a model says of each record beside what the record's label is, as a data set of one or two columns:
 * asked by noisy counts and means (objective/passes/query.h), it tells how good the model is.
 * Depends on: model.h, data/dataset.h.  Used by: bindings (pn.evaluate).
 *
 * A record's numbers depend on that record and on the model alone, and the model is public or was paid for; so what one
 * record moves in a count or mean of them is what it moves in any column within the same range.  The data set shares
 * the origin of the records: what is asked of it is spent on them. */
#ifndef PN_MODEL_SCORES_H
#define PN_MODEL_SCORES_H

#include "data/dataset.h"
#include "model/model.h"

typedef enum pn_scores_kind {
    PN_SCORES_BINS,      /* cell 0 .. 2 bins - 1: the bin of the probability of class 1, + bins where the label is 1 */
    PN_SCORES_RIGHT,     /* 1 where the predicted class is the label, else 0 */
    PN_SCORES_CONFUSION, /* cell (label - 1) k + predicted - 1, of k classes */
    PN_SCORES_ERROR      /* u = min(error^2/range^2, 1), and u^2 */
} pn_scores_kind;
/** "bins", "right", "confusion", "error"; ended by NULL. */
extern const char *const pn_scores_names[];

typedef struct pn_scores {
    pn_scores_kind kind;
    size_t bins;  /* of PN_SCORES_BINS, 2 .. 2^20 */
    double range; /* of PN_SCORES_ERROR, > 0, in the labels' unit of the data set */
} pn_scores;

/**
 * The data set, n x 1 or n x 2, labels 0, without bounds.
 *   theta  [dim] of the model.  data  with the features of the model; with its recipe, if it has one.
 * Errors: PN_EDIM for other features; PN_EINVAL for another recipe, bins or range; PN_EUNSUPPORTED where the model's
 *         margins do not say what is asked, or records are elsewhere; PN_ENOMEM; PN_ECANCELLED, PN_ELIMIT.
 */
pn_status pn_model_scores(pn_dataset **out, const pn_model_about *about, const double *theta, size_t dim,
                          const pn_dataset *data, const pn_scores *ask, pn_task *task, pn_err *err);

#endif
