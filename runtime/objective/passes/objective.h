/* objective.h -- f(theta) = (1/n) sum_i l(<x_i, theta>, y_i) + r(theta) over a data set and a constraint set,
 * with certified
 * bounds.  A loss of K margins takes theta as K rows of p numbers, one after the other.
 * Depends on: data, geometry, loss.h, regulariser.h.  Used by: solvers, bindings. */
#ifndef PN_OBJECTIVE_OBJECTIVE_H
#define PN_OBJECTIVE_OBJECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ranks.h"
#include "core/status.h"
#include "core/task.h"
#include "data/dataset.h"
#include "geometry/convex/set.h"
#include "objective/losses/loss.h"
#include "objective/regularisers/regulariser.h"
#include "penumbra/objective.h"

/* What a record's part in a gradient is known by. */
typedef enum pn_bound_source {
    PN_BOUND_NONE = 0,  /* nothing private may rest on it; `missing` says what to do about it */
    PN_BOUND_CERTIFIED, /* derived from the enforced record bounds, the set and the loss's expression */
    PN_BOUND_CLIPPED,   /* enforced: each record's gradient is scaled down to l2 norm `clip` */
    PN_BOUND_DECLARED   /* of a black box: enforced by solvers on differences of its values */
} pn_bound_source;

extern const char *const pn_bound_source_names[]; /* "none", "certified", "clipped", "declared" */

/* What holds for every admissible record and every theta in the set.  +inf where it does not hold, with the reason in
 * the `missing` of the part that lacks it. */
typedef struct pn_bounds {
    pn_bound_source source;
    bool certified;      /* source is not NONE, and gradients exist: a private gradient may rest on lipschitz[] */
    char missing[256];   /* why source is NONE */
    pn_interval margin;  /* every <x, theta_k> */
    pn_loss_bounds loss; /* over that margin and the labels */
    pn_regulariser_bounds reg;
    double slope; /* max |dl/dz| */
    /* for l1, l2, linf: bounds the dual norm of what a record adds to a gradient (without r), slope * record bound in
     * the dual norm.  It is a Lipschitz constant of theta -> l when loss.continuous; a loss that jumps may still be
     * trained by its gradients, but its values may move further than this says: what rests on values needs loss.value,
     * and what rests on differences of values needs loss.continuous. */
    double lipschitz[PN_LP_COUNT];
    double lipschitz_set; /* in the set's own norm: max |<gradient of l, v>| over v in the set */
    double smoothness;    /* Lipschitz constant of the gradient of f in l2 */
    /* of every record's gradient, r left out; clipping, a projection, keeps it.
     * +inf where the loss is not smooth or nothing bounds the records */
    double loss_smoothness;
    /* lower bound on the eigenvalues of f's Hessian; negative: f may be that far from convex */
    double strong_convexity;
    double curvature;         /* worst-case Frank-Wolfe curvature of f over the set (Jaggi 2013) */
    double hessian_lipschitz; /* of theta -> Hessian of f, operator norm over l2; +inf with clip */
    bool convex; /* f is, and with clip the clipped gradients of one margin are those of a convex function, too */
} pn_bounds;

/** Its parts, and what is certified of it: borrowed, as long as the objective lives. */
const pn_dataset *pn_objective_data(const pn_objective *objective);
pn_loss *pn_objective_loss(const pn_objective *objective);
pn_set *pn_objective_set(const pn_objective *objective);                 /* or NULL */
pn_set *pn_objective_constraint(const pn_objective *objective);          /* or NULL, also where the set is R^p */
pn_interval pn_objective_labels(const pn_objective *objective);          /* certified; the line where nothing is */
pn_regulariser *pn_objective_regulariser(const pn_objective *objective); /* or NULL */
double pn_objective_clip(const pn_objective *objective);                 /* 0: none */
pn_ranks *pn_objective_ranks(const pn_objective *objective);             /* or NULL */
/** Which records [*begin, *end) of `data` a rank has to hold (pn_dataset_hold) for its share of the passes of a loss of
 *  one margin: those of pn_ranks_hold, and more of sparse features that are many beside the entries, which passes cut
 *  into fewer chunks.  Of losses of K margins sparse passes have up to K times fewer, and may refuse. */
void pn_objective_hold(const pn_dataset *data, const pn_ranks *ranks, size_t *begin, size_t *end);
const pn_bounds *pn_objective_bounds(const pn_objective *objective);
/** The largest l2 norm that a record's gradient, unclipped, can have at theta = 0; +inf where that is unknown.
 *  Errors: PN_ENOMEM. */
pn_status pn_objective_gradient_at_zero(double *out, const pn_objective *objective, pn_err *err);

/**
 * *reach >= the most that the mean loss, r left out, can fall below its value at the set's centre, whatever the records
 * are: l at margin 0 less the least l over margins of at most bounds.margin, of the worst admissible label, and no more
 * than the range of the loss, which it is for losses with further parameters.  Where the centre is not 0 the slope
 * times the largest margin that it gives is added.
 * Unit of the loss; >= 0; +inf where nothing is certified: black boxes, labels or margins without a bound.  Public.
 * The first call may take some milliseconds, those after it none.
 * Errors: PN_ENOMEM.
 */
pn_status pn_objective_reach(pn_objective *objective, double *reach, pn_err *err);

/** *value (NULL: not asked for) = r at theta[dim], *slope = the l2 norm, rounded up, of the gradient that r's
 *  `evaluate` gives there; 0 without r.  Errors: PN_ENOMEM; what r fails with. */
pn_status pn_objective_regular_slope(const pn_objective *objective, const double *theta, double *value, double *slope,
                                     pn_err *err);

/* Which records, and what their sum is divided by (a public number: the batch size or its expectation). */
typedef struct pn_batch {
    const size_t *rows; /* [count] from 0, each < n */
    size_t count;
    double denominator; /* > 0 */
} pn_batch;

/** pn_objective_evaluate without r, over a batch (NULL: all records, divided by n): sum over the batch / denominator.
 *  With a batch as pn_objective_batch_differences in cost and in what is checked of theta.
 *  Errors: also PN_EINVAL for a row that does not exist or a denominator that is not positive. */
pn_status pn_objective_losses(pn_objective *objective, const pn_batch *batch, const double *theta, double *value,
                              double *gradient, pn_task *task, pn_err *err);

/** factors[margins][n]: each record's dl/dz at theta, clamped and clipped as in a gradient; values[n] its loss.  Either
 *  may be NULL.  Record i's gradient is factor_k x_i in row k of theta.  Errors as above. */
pn_status pn_objective_factors(pn_objective *objective, const double *theta, double *values, double *factors,
                               pn_task *task, pn_err *err);

/** At most the l2 norm of record i's gradient of those factors, as clip= takes it.
 *  +inf where nothing bounds the record. */
double pn_objective_gradient_norm(const pn_objective *objective, const double *factors, size_t i);

/** One pass for all: factors[margins][n] as above, *value (may be NULL) and gradient[dim] of the mean loss, without r.
 *  Errors as above. */
pn_status pn_objective_snapshot(pn_objective *objective, const double *theta, double *factors, double *value,
                                double *gradient, pn_task *task, pn_err *err);

/* ---- small batches, of which solvers ask for millions ---- */

/**
 * out[dim] = (1/denominator) sum over the batch of C_tau((w_i(theta) - factors_i) x_i), w_i(theta) record i's factors
 * at theta and factors[margins][n] those of a snapshot at another point.  C_tau scales a record's difference down to l2
 * norm tau, in real arithmetic, the rounding of products included; INFINITY: not at all.  What tau scales obeys the
 * rules of clip (see pn_objective_evaluate); below 2^-960, also 0, every difference is 0.  A record's norm is taken to
 * be its own with clip, else the bound that the data set enforces: then tau acts on every record as on the longest one
 * that is allowed.  A sum in a fixed order, whatever the number of threads,
 * of which no bit depends on records outside of the batch; its rounding:
 * pn_objective_batch_error.  Work that is worth no second thread (below about 200,000 multiply-adds) allocates nothing,
 * for losses of up to 256 margins.
 * theta: not checked by itself, which would cost as much as a record.  An entry that is not finite is found by the
 * margins that it makes: with dense data always, with sparse data where a record of the batch has an entry in its
 * column.
 * Errors: PN_EDOMAIN for a theta that is found so; PN_EINVAL for a row that does not exist, a denominator that is not
 * positive or a tau that is negative or NaN; PN_EPRIVACY for a finite tau where records have no known norm;
 * PN_EUNSUPPORTED for a black box; PN_ENOMEM; PN_ECANCELLED.  Source: Wang, Ye, Xu (2017), with the clip added.
 */
pn_status pn_objective_batch_differences(pn_objective *objective, const pn_batch *batch, const double *theta,
                                         const double *factors, double tau, double *out, pn_task *task, pn_err *err);

/**
 * *difference = w_i(theta) - factors_i of record i = `row`, for losses of one margin: its part in a gradient changes by
 * that times x_i, of which the caller adds the stored entries itself (data/rows.h; csr.column).  Nothing is scaled: not
 * for privacy.  O(stored entries); theta is checked as above.
 * Errors: PN_EDOMAIN; PN_EINVAL for a row that does not exist; PN_EUNSUPPORTED for other losses.
 */
pn_status pn_objective_record_difference(const pn_objective *objective, size_t row, const double *theta,
                                         const double *factors, double *difference, pn_err *err);

/**
 * Public bound on |computed - exact| of each coordinate of the sum over a batch of at most `count` records, each of
 * whose contributions has l2 norm (or just entries) of at most `contribution`: certified,
 * clipped or scaled by tau.  "Exact" is as for
 * pn_objective_gradient_error.  For a gradient or differences that were divided by a denominator: this / denominator
 * (+ 2^-1074, should that be below 2^-1022); the rounding of the division is counted.  Depends on count, dim,
 * margins and the storage only.
 */
double pn_objective_batch_error(const pn_objective *objective, size_t count, double contribution);

/**
 * Central differences of the mean loss (without r) along `count` directions at once, in one pass over the data:
 * out[k] = (f(theta + radius u_k) - f(theta - radius u_k)) / (2 radius), u_k = directions[k * dim ...].
 * Works for black boxes.  Errors as above; PN_EINVAL for a radius that is not positive.
 */
pn_status pn_objective_differences(pn_objective *objective, const pn_batch *batch, const double *theta,
                                   const double *directions, size_t count, double radius, double *out, pn_task *task,
                                   pn_err *err);

/** out[dim] = Hessian of f (r included) at theta, times v; over a batch without r when `batch` is not NULL.  Errors as
 *  evaluate; PN_EUNSUPPORTED for black boxes, for clipped objectives (what is clipped has no such Hessian) and where r
 *  has none. */
pn_status pn_objective_hessian_times(pn_objective *objective, const pn_batch *batch, const double *theta,
                                     const double *v, double *out, pn_task *task, pn_err *err);

/** out[p * p] = Hessian of the mean loss (without r) at theta, both triangles, for losses of one margin: what
 *  pn_objective_quadratic (second_order.h) gives packed.  O(n p^2).  Errors: as that;
 *  PN_EUNSUPPORTED for more than 4096 features. */
pn_status pn_objective_hessian(pn_objective *objective, const double *theta, double *out, pn_task *task, pn_err *err);

/** The failure PN_EDOMAIN of a call that met a value that is no number,
 *  with what is known of where the loss is undefined. */
pn_status pn_objective_undefined(const pn_objective *objective, const char *owner, pn_err *err);

/**
 * Prepare for `passes` gradients: for a quadratic loss form the Gram matrix X^T X / n once when that is cheaper than
 * the passes and p <= 2048, so that a gradient costs O(p^2); otherwise do nothing.  Idempotent.
 * Errors: PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_prepare(pn_objective *objective, size_t passes, pn_task *task, pn_err *err);

/**
 * Public bound on |computed - exact| of each coordinate of the mean loss's gradient over the certified domain,
 * whichever way gradients are computed (pass or Gram matrix): depends on n, p and the certified bounds only.  "Exact"
 * is the mean of the per-record contributions slope_i x_ij as they are in floating point, of which a replaced record
 * changes one.  Counted are the rounding of products, of their sum and of the division by n.
 * +inf when the bounds are not certified.
 */
double pn_objective_gradient_error(const pn_objective *objective);

/**
 * The exact Frank-Wolfe curvature of the squared loss over a polytope, max ||X (a - b)||^2 / n over pairs of vertices.
 * It depends on the data: not private.  At most 4096 vertices in dimension 2048.
 * Errors: PN_EUNSUPPORTED for other losses and sets; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_exact_curvature(pn_objective *objective, double *curvature, pn_task *task, pn_err *err);

#endif
