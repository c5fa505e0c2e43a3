/* objective.h -- f(theta) = (1/n) sum_i l(<x_i, theta>, y_i) + r(theta) over a data set and a constraint set, with
 * certified bounds.  A loss of K margins takes theta as K rows of p numbers, one after the other, and
 * then one number for each further parameter of the loss.
 * Depends on: dataset.h, loss.h, ranks.h, regulariser.h, set.h. */
#ifndef PENUMBRA_OBJECTIVE_H
#define PENUMBRA_OBJECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/dataset.h"
#include "penumbra/loss.h"
#include "penumbra/ranks.h"
#include "penumbra/regulariser.h"
#include "penumbra/set.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_objective pn_objective;

typedef struct pn_objective_parts {
    /* must outlive the objective; absent: the objective has bounds, and everything else refuses */
    const pn_dataset *data;
    pn_loss *loss;       /* kept */
    pn_set *set;         /* kept by reference; NULL: unconstrained */
    pn_regulariser *reg; /* kept; NULL: none */
    double clip;         /* > 0: scale each record's gradient to at most this l2 norm; 0: rely on certified bounds */
    /* kept; NULL: none.  Each rank has the same objective over the whole data set, calls the same with the same
     * numbers, and does a share of each pass; results have the bits of one process on the same kind of processor.
     * Work that is not worth it (Gram matrices, batches of a chunk) every rank does by itself */
    pn_ranks *ranks;
} pn_objective_parts;

/**
 * Errors: PN_EINVAL without data or loss; PN_EDIM when the set's dimension is not that of theta (names both), or the
 * regulariser does not fit it; PN_EINVAL when the data has labels that the loss does not take (names the loader
 * option), or clip is neither 0 nor in [2^-400, 2^400]; PN_EUNSUPPORTED for a black box with clip; PN_ENOMEM.
 */
pn_status pn_objective_new(pn_objective **out, const pn_objective_parts *parts, pn_err *err);
void pn_objective_free(pn_objective *objective);

/** Length of theta: margins * p and one for each further parameter; p for a black box. */
size_t pn_objective_dim(const pn_objective *objective);

/* ---- what is certified, for every admissible record and every theta in the set; +inf: nothing ---- */

/** Whether a private gradient may rest on these bounds.  *missing (may be NULL): why not, and what to do about it;
 *  "" when all is well. */
bool pn_objective_is_certified(const pn_objective *objective, const char **missing);
/** Bounds the dual norm of what a record adds to a gradient. */
double pn_objective_lipschitz(const pn_objective *objective, pn_lp norm);
/** The Lipschitz constant of the gradient of f in l2. */
double pn_objective_smoothness(const pn_objective *objective);
/** A lower bound on the eigenvalues of f's Hessian; negative: f may be that far from convex. */
double pn_objective_strong_convexity(const pn_objective *objective);
bool pn_objective_is_convex(const pn_objective *objective);

/* ---- numbers of the records: not private ---- */

/**
 * One fused, threaded pass: value (may be NULL) and gradient[dim] (may be NULL) of f at theta[dim], r included; at
 * kinks of r the subgradient of smallest norm.
 * The sum over records is taken in a fixed order, whatever the number of threads.  Each record's slope is clamped to
 * the certified range, one that is no number counts as 0 brought into it, so the certified sensitivity holds for the
 * numbers that are really computed; with `clip` its gradient is scaled
 * down, and then the result is not the gradient of f.  There a slope that is no number counts as 0 and an infinite
 * one as 2^500, and one below 2^-1000 in size, or what scaling makes so small, as 0.
 * Errors: PN_EDOMAIN for a non-finite theta; PN_EUNSUPPORTED for the gradient of a black box; what a black box's
 * callback returns; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_evaluate(pn_objective *objective, const double *theta, double *value, double *gradient,
                                pn_task *task, pn_err *err);

/** Fraction of records with sign(<x, theta>) = y for labels -1 and 1; with the largest of the margins in class y for
 *  softmax.
 *  Errors: PN_EUNSUPPORTED for other labels, and for a loss of several inputs that says nothing of classes. */
pn_status pn_objective_accuracy(pn_objective *objective, const double *theta, double *accuracy, pn_task *task,
                                pn_err *err);

/** z[n] = X theta for any data set (p must fit). */
pn_status pn_dataset_predict(const pn_dataset *data, const double *theta, size_t p, double *z, pn_task *task,
                             pn_err *err);

/**
 * The non-private minimum, for excess risk: until gap, a bound on value - minimum, is at most tol, or PN_ENUMERIC
 * after `max_iterations`. Newton steps for smooth convex losses, with l1's kinks too, as long as they stay in the
 * set; else accelerated projected or proximal gradients.  theta[p], value and gap are raw.  Of an objective that is
 * not certified convex it is a stationary point, and the gap is what is certified of it, which may be far above tol.
 * Errors: PN_EUNSUPPORTED when neither a bounded set nor certified strong convexity bounds the gap, nor the dual one
 * of l1 without a set (of a smooth convex loss that is bounded below), for kinks without a proximal map or
 * over a set without a projection, for clipped objectives; PN_EINVAL for tol; what the objective, the set and the
 * operator fail with.
 */
pn_status pn_objective_minimise(pn_objective *objective, double tol, size_t max_iterations, double *theta,
                                double *value, double *gap, pn_task *task, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
