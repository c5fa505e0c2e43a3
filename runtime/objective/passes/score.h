/* score.h -- one number with noise that says how good a model is on the records of an objective.
 * Depends on: objective.h, privacy/event/event.h, random/rng.h.  Used by: bindings (pn.tune).
 *
 * A record adds one number in [0, range]: 1 for a label that is named rightly (accuracy), the logistic loss of its
 * margin, cut at range (log_loss), or the square of its error, cut at range^2 (rmse, whose root is taken after the
 * noise).  Replacing a record, or making it null, moves the sum by at most that range, and so the mean by range/n.
 * Numbers are rounded to whole 2^-24 of the range and added up exactly, so nothing else moves. */
#ifndef PN_OBJECTIVE_SCORE_H
#define PN_OBJECTIVE_SCORE_H

#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"
#include "privacy/event/event.h"
#include "random/rng.h"

typedef enum pn_score_kind { PN_SCORE_ACCURACY = 0, PN_SCORE_LOG_LOSS, PN_SCORE_RMSE } pn_score_kind;

/** "accuracy", "log_loss", "rmse"; ended by NULL. */
extern const char *const pn_score_names[];

typedef struct pn_score {
    pn_score_kind kind;
    double range; /* of a record's loss, or of its error; accuracy has 1 */
    double mu;    /* sensitivity over sigma, > 0: what the release costs, rounding included */
    pn_neighbours neighbours;
} pn_score;

/** Whether the score can be asked of the objective; looks at no record.  Errors: PN_EINVAL for range and mu;
 *  PN_EUNSUPPORTED for a loss or labels that it does not fit; PN_EPRIVACY for add_remove, under which n is secret. */
pn_status pn_score_check(const pn_objective *objective, const pn_score *score, pn_err *err);

/** Standard deviation of the noise on the mean that is released, before a root is taken. */
double pn_score_deviation(const pn_objective *objective, const pn_score *score);

/** The score of theta[dim], noise included; of a theta that is not finite, or gives margins that are not, each record
 *  counts as wrong, or with its whole range.  Errors: as pn_score_check; PN_ENOMEM; PN_ECANCELLED, PN_ELIMIT.
 *  Privacy: one Gaussian event of sensitivity/sigma <= mu, one draw; the caller has charged it already. */
pn_status pn_score_release(pn_objective *objective, const double *theta, const pn_score *score, pn_rng *rng,
                           double *value, pn_task *task, pn_err *err);

#endif
