/* second_order.h -- what second-order methods ask of an objective: gradient and packed Hessian of the mean loss in one
 * pass, its change along a line, and what a record can move of each.  The regulariser is public and never part of
 * these.
 * Depends on: objective.h.  Used by: solvers of second order, bindings.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM, with constants derived anew. */
#ifndef PN_OBJECTIVE_SECOND_ORDER_H
#define PN_OBJECTIVE_SECOND_ORDER_H

#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"

/* A symmetric matrix of order d is packed by columns of its upper triangle: entry (i, j), i <= j, from 0, stands at j
 * (j + 1)/2 + i (LAPACK's 'U'; numeric/symmetric.h). */

/* How far a record's Hessian moves the sum of Hessians over records, in Frobenius norm (of the packed vector: no more),
 * when its value is replaced or zeroed.  All for every admissible record and every theta in the set,
 * rounding of a record's own part included. */
typedef struct pn_hessian_bounds {
    double record; /* B_H: operator norm of one record's Hessian */
    /* losses of one margin, a = l''(z) in [low, high], |x| <= R: R^2 max(high - low, sqrt(2) max(-low, high)), low <= 0
     * <= high; hence sqrt(2) B_H where convex, 2 B_H at most.  Several margins: sqrt(2) `zero` where convex, else 2
     * `zero` */
    double replace;
    /* one record's own Frobenius norm: R^2 times that of the Hessian in the margins, softmax's is at most 1/2 */
    double zero;
    /* 2 sqrt(d) B_H: what replace would be if nothing were known but B_H; for comparisons with articles */
    double generic;
    double lipschitz; /* M: of theta -> Hessian of the MEAN LOSS, operator norm over l2; +inf where unknown */
} pn_hessian_bounds;

/**
 * Errors: PN_EUNSUPPORTED for a loss without second derivatives everywhere (black boxes, kinks, slopes that jump; the
 * message names what to use instead), for a clipped objective unless its loss is convex and of one margin; PN_EPRIVACY
 * where nothing bounds the records or the curvature, with what to do about it.
 */
pn_status pn_objective_hessian_bounds(const pn_objective *objective, pn_hessian_bounds *out, pn_err *err);

/**
 * One fused, threaded pass over all records or a batch (NULL: all, divided by n): *value (may be NULL), gradient[dim]
 * (may be NULL) and packed[dim (dim + 1)/2] (may be NULL), mean loss, its gradient and its Hessian at theta[dim],
 * without r.  Slopes and second derivatives are clamped to their certified ranges, so the sensitivities above hold for
 * the numbers that are computed.  The sum over records is taken in a fixed order, whatever the number of threads; of a
 * batch no bit depends on records outside of it.  Value and gradient are those of pn_objective_losses, bit for bit.
 * Costs about one dsyrk of the records beside a gradient.  Of a quadratic loss whose Gram matrix is there
 * (pn_objective_prepare) nothing is formed.  packed must not overlap theta or gradient; after a failure it holds
 * nothing of use.  Losses of either sign of l''; with clip the Hessian is that of the convex function whose gradients
 * the clipped ones are, 0 where the clip
 * acts.  Memory: up to 15 more packed matrices, of 32 MB together.  Errors: as pn_objective_evaluate and
 * pn_objective_hessian_bounds (except PN_EPRIVACY); PN_EDIM where the packed matrix would take more than 2^31 doubles;
 * PN_ENOMEM.
 */
pn_status pn_objective_quadratic(pn_objective *objective, const pn_batch *batch, const double *theta, double *value,
                                 double *gradient, double *packed, pn_task *task, pn_err *err);

/** out[count * count] = rows and columns `columns`[count], which rise, of the Hessian of the mean loss (without r) at
 *  theta, for losses of one margin: with sparse records as cheap as the entries that these have there.  For minimisers
 *  without privacy, which know where theta is not
 *  0.  Errors: as pn_objective_quadratic; PN_EUNSUPPORTED for several margins and for clipped objectives;
 *  PN_EDIM for columns. */
pn_status pn_objective_hessian_columns(pn_objective *objective, const double *theta, const size_t *columns,
                                       size_t count, double *out, pn_task *task, pn_err *err);

/**
 * The same pass with weights in place of second derivatives, so that a quadratic with them stays about above f on the
 * way down: for steps from where l'' says too little.  One margin: packed[p (p + 1)/2] = X^T W X/n, each record's
 * weight between l'' and the certified bound B on it (majorant.c).  Several: packed of order p as well, B X^T X/n,
 * which stands in each margin's block, since a record's Hessian is at most B I in its margins.  A record's part is at
 * most B R^2 in Frobenius norm, and two of them differ by sqrt(2) B R^2 at most.
 */
pn_status pn_objective_majorant(pn_objective *objective, const double *theta, double *value, double *gradient,
                                double *packed, pn_task *task, pn_err *err);

/** Public bound on the Frobenius norm of computed - exact of the SUM of Hessians over at most `count` records, of which
 *  each has Frobenius norm at most 1: multiply by pn_hessian_bounds.zero.  "Exact" is the sum of the parts of records
 *  as they are in floating point, which the bounds above are of.  Counted are the rounding of products, of their sum
 *  and of the division by n or a batch's denominator: for the mean, divide by that.  Depends on count, n,
 *  dim and the storage only. */
double pn_objective_hessian_error(const pn_objective *objective, size_t count);

/**
 * out[k] = (1/denominator) sum over the batch of clip(l_i(theta) - l_i(theta + t_k u), +- most t_k), for steps t[count]
 * > 0 and a direction u[dim]: what a line search needs of all its steps, in one pass and of margins only.  most: bound
 * on a record's change per unit of t, > 0; INFINITY: nothing is clipped.  A record whose difference is not a number
 * counts as -most t_k (a step that is not taken), or with most = INFINITY fails the call.  r is not included.  *clipped
 * (may be NULL) counts (record, k) pairs that the clip moved by more than rounding: raw; with most >= ||u|| times a
 * certified bound on gradients there are none.
 * Errors: PN_EDOMAIN for theta or u that is not finite; PN_EINVAL for steps, most or a batch; PN_EUNSUPPORTED for black
 * boxes; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_line(pn_objective *objective, const pn_batch *batch, const double *theta, const double *u,
                            const double *t, size_t count, double most, double *out, size_t *clipped, pn_task *task,
                            pn_err *err);

/** Public bound on |computed - exact| of out[k] * denominator / (most t_k) over at most `records` records; "exact" is
 *  the sum of their clipped differences as they are in floating point, each of at most most t_k in real arithmetic.
 *  The division is counted.  Depends on `records` only. */
double pn_objective_line_error(const pn_objective *objective, size_t records);

/** packed[dim (dim + 1)/2] += Hessian of r at theta; NULL regulariser: nothing.
 *  A coordinate or group at its kink adds 0.
 *  Errors: PN_EDOMAIN for theta; PN_EUNSUPPORTED where r has none; PN_ENOMEM.
 *  PN_ENOMEM of a regulariser may leave a part added. */
pn_status pn_objective_add_regular_hessian(const pn_objective *objective, const double *theta, double *packed,
                                           pn_err *err);

/* ---- how far a point is from being second-order stationary: raw, for experiments ---- */

typedef struct pn_second_order_gap {
    double value;         /* f(theta), r included */
    double gradient_norm; /* || gradient of f ||_2 */
    double eigenvalue;    /* least eigenvalue of f's Hessian */
    /* the least eigenvalue is in [eigenvalue - error, eigenvalue]: by rounding where it was found in full; by steps but
     * for 1e-9 in probability over their start, which is the same for all data */
    double error;
    size_t steps; /* Lanczos steps; 0: in full */
} pn_second_order_gap;

/** direction[dim] (may be NULL): the unit eigenvector.  Up to 2048 coordinates of a loss of one margin by the packed
 *  Hessian, beyond by products with it (a pass each, as many as 512 MB of vectors allow, to 1e-9 of its norm; `error`
 *  says how near they came).  NOT private: nothing is charged.  Errors: as pn_objective_quadratic; PN_EUNSUPPORTED for
 *  clipped objectives; PN_ENUMERIC.  *out and direction are untouched on failure. */
pn_status pn_second_order_gap_measure(pn_second_order_gap *out, pn_objective *objective, const double *theta,
                                      double *direction, pn_task *task, pn_err *err);

#endif
