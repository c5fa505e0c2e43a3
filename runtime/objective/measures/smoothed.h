/* smoothed.h -- gradients of a smoothed loss from values alone: f_mu(x) = E f(x + mu v), v uniform in the unit ball,
 * has the gradient E[(d / (2 mu)) (f(x + mu u) - f(x - mu u)) u], u uniform on the unit sphere.
 *
 * Per record i: d directions u_ij (or one), coefficients c_ij = (l_i(x + mu u_ij) - l_i(x - mu u_ij)) / (2 mu) clipped
 * to [-L, L], and the term sum_j c_ij u_ij.  Differences of two points use the same directions for both, with the
 * coefficients' difference clipped to +-min(L dist / mu, 2 L).  What no clip can repair
 * (a value that is NaN or infinite) counts as coefficient 0.  So a record's norm is bounded whatever the loss does:
 * enforced, not hoped for.
 *
 * Directions are independent of the data, from a keyed address for every record of every call: public,
 * equal for neighbouring data.
 * Depends on: objective.h, random/address.h.  Used by: solvers/zeroth_order*.c, stationarity.c.
 * Source: Shamir (2017); Zhang, Tran, Cutkosky (2024), Section 4; zeroth-order.md sections 2, 3 and 6. */
#ifndef PN_OBJECTIVE_SMOOTHED_H
#define PN_OBJECTIVE_SMOOTHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"
#include "random/address.h"

typedef enum pn_directions {
    PN_DIRECTIONS_ORTHOGONAL = 0, /* the d rows of a Haar-random orthogonal matrix */
    PN_DIRECTIONS_IID,            /* d independent uniform unit vectors */
    PN_DIRECTIONS_ONE             /* one uniform unit vector, its coefficient times d */
} pn_directions;
extern const char *const pn_directions_names[]; /* "orthogonal", "iid", "one", NULL */

typedef struct pn_smoothing {
    pn_directions directions;
    double radius;    /* mu > 0 */
    double lipschitz; /* L > 0: enforced by clipping; INFINITY: not at all, for what is not private */
    /* consecutive records of a call that share their directions, 0 or 1: none do.
     * Sharing saves time and costs variance: see pn_smoothed_variance */
    size_t group;
    /* iid: directions are drawn again until the largest singular value of U is at most this, > 1; 0: not */
    double level;
    bool strict; /* a value that is no number ends the call with PN_EDOMAIN: for what is not private */
} pn_smoothing;

/** Bound on the l2 norm of what one record adds to the sum over a batch, as computed, rounding included: d L
 *  (iid, one), sqrt(d) L (orthogonal), sqrt(d) L level; of differences at ||x - y|| <= distance times
 *  min(distance / mu, 2). */
double pn_smoothed_norm(const pn_smoothing *how, size_t dim);
double pn_smoothed_difference_norm(const pn_smoothing *how, size_t dim, double distance);

/** Public bound on the l2 norm of computed - exact of the mean over `count` records, where exact is the mean of what
 *  each record adds, of norm <= `norm` (of the two above).  Not above for one coordinate either. */
double pn_smoothed_error(const pn_smoothing *how, size_t dim, size_t count, double norm);
/** Bound on || out - out' ||_2 of the two means as computed when one of `count` records is replaced: 2 norm / count and
 *  twice the error. */
double pn_smoothed_sensitivity(const pn_smoothing *how, size_t dim, size_t count, double norm);

/** Proved bound on E || mean over `count` records - E ||^2, records drawn independently, the same groups as a call of
 *  `count` makes; of differences at `distance`.  The loss is L-Lipschitz.
 *  Source: the spherical Poincare inequality. */
double pn_smoothed_variance(const pn_smoothing *how, size_t dim, size_t count);
double pn_smoothed_difference_variance(const pn_smoothing *how, size_t dim, size_t count, double distance);

/* Which records, and where the directions of a call come from. */
typedef struct pn_smoothed_call {
    const size_t *rows;
    size_t count;
    const pn_address_key *key;
    uint64_t call;
    uint64_t *evaluations, *bad;
} pn_smoothed_call;

/**
 * out[dim] = mean over the records rows[count] of their terms at theta[dim] (of differences: of theta minus `other`),
 * reduced in a fixed
 * order.  r is left out.
 *   key, call   where the directions of this call are: the same key, call,
 *               count and position in `rows` are the same directions.
 *   evaluations *evaluations (may be NULL) += loss values computed.
 *   bad         *bad (may be NULL) += coefficients that were not numbers: raw, never to be shown in a private run.
 * Losses with margins: in threads, 2 (4) loss values a direction and O(dim^2) for the directions of a record
 * (K margins: K times that for orthogonal ones).  Black boxes: on the caller's thread, one record after the other, all
 * its points in one call where the loss has a batch form.
 * Errors: PN_EDOMAIN for a theta that is not finite; PN_EINVAL for a row that does not exist, count 0, a radius or
 * lipschitz that is not in [2^-400, 2^400], a bad level; PN_EUNSUPPORTED for orthogonal and iid directions in more than
 * 8192 dimensions; what a black box's callback returns; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_smoothed_gradient(pn_objective *objective, const pn_smoothing *how, const pn_smoothed_call *call,
                               const double *theta, double *out, pn_task *task, pn_err *err);
/** `distance`: public bound on ||theta - other||, > 0. */
pn_status pn_smoothed_difference(pn_objective *objective, const pn_smoothing *how, const pn_smoothed_call *call,
                                 const double *theta, const double *other, double distance, double *out, pn_task *task,
                                 pn_err *err);

/** a_d: the smoothed loss has an a_d L / mu -Lipschitz gradient; 2 Gamma(d/2 + 1) / (sqrt(pi) Gamma((d + 1)/2)) <=
 *  sqrt(d). */
double pn_smoothed_curvature(size_t dim);

#endif
