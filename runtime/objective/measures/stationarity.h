/* stationarity.h -- how stationary is a point of a nonsmooth, nonconvex objective: the Goldstein measure, estimated
 * without privacy.  The Goldstein measure at radius delta is the least norm in the convex hull of all (sub)gradients
 * within delta of theta.  The objective's constraint set plays no part: at a minimum on the set's boundary the measure
 * need not be small.
 * Depends on: objective.h, smoothed.h, random/.  Used by: bindings, tests.  Source: Goldstein (1977);
 * zeroth-order.md section 7. */
#ifndef PN_OBJECTIVE_STATIONARITY_H
#define PN_OBJECTIVE_STATIONARITY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"
#include "random/rng.h"

typedef struct pn_stationarity_options {
    double radius; /* delta > 0 */
    /* m points in the ball; 0: 10 d, at least 100, at most what 512 MiB hold.  More than 2 GiB are refused. */
    size_t samples;
    double confidence; /* of low and high, in (0, 1); 0: 0.95 */
    double smoothing; /* mu of the differences that take the place of gradients where there are none; 0: radius / 100 */
    size_t batch;     /* records a gradient is the mean of, drawn anew for each; 0: all */
} pn_stationarity_options;

/* All raw: they depend on the data. */
typedef struct pn_stationarity {
    double mean;      /* || mean of the gradients || */
    double low, high; /* of || gradient of f smoothed over the ball ||, of which mean is an estimate, at `confidence` */
    double hull;      /* least norm in the convex hull of the sampled gradients, to within gap; never above mean */
    double gap;       /* hull - gap is a lower bound of that least norm, not of the measure */
    double largest;   /* largest norm of a sampled gradient */
    /* low and high rest on a certified or declared Lipschitz constant; false: on the gradients that were seen,
     * which proves nothing */
    bool guaranteed;
    /* hull and mean are upper bounds of the measure at radius: gradients of all records of an f that does not jump.
     * Differences make that approximate; with batches hull may be far below the measure, as batches differ. */
    bool exact;
    bool differences;                     /* differences took the place of gradients */
    double radius, smoothing, confidence; /* as used; smoothing 0 without differences */
    size_t samples, batch;                /* as used; batch 0: all records */
} pn_stationarity;

/**
 * Draw m points uniformly from the ball of `radius` about theta[dim], take the gradient of f (r included) at each, and
 * measure.  Losses that have no gradient (black boxes) or are not known to be continuous: central differences of width
 * mu along the axes instead.
 *
 * [low, high]: the gradients X_i are independent with mean g = grad f_delta(theta) and lie within rho of some point:
 * rho is the smaller of the Lipschitz constant and radius times the smoothness, both certified anew over a ball that
 * holds the points.  With R = 2 rho and beta = 1 - confidence, the k = floor(m/2) numbers ||X_{2i-1} - X_{2i}||^2 / 2
 * in [0, R^2/2] have mean s^2 = E ||X - g||^2, so that by the lower tail of nonnegative numbers s <= c/2 +
 * sqrt(c^2/4 + their mean), c = R sqrt(ln(2/beta) / k), but for beta/2; and | ||mean X|| - ||g|| | <= R l/(3m) +
 * sqrt((R l/(3m))^2 + 2 s^2 l/m), l = ln(4/beta), but for beta/2.  A batch drawn anew for each point changes nothing in
 * this but rho.  Differences: rho = sqrt(d) L, and since grad f_delta is a L/delta -Lipschitz, a of
 * pn_smoothed_curvature, the mean of their X is within sqrt(d) a L mu / (2 delta) of g, which is added.  When no L is
 * known, the largest distance of an X from their mean takes rho's place.
 *
 * Cost: m passes over the records, 2 d m with differences; 8 m d bytes; up to some d steps of O(m d + d^2) for the
 * hull.  NOT private: nothing is charged, and every number is computed from the exact data.
 * Errors: PN_EINVAL for options, and a radius too small to tell theta from its neighbours; PN_EDOMAIN for a theta, or a
 * gradient, that is not finite; PN_EUNSUPPORTED for a clipped objective, whose gradients are not those of f;
 * what the objective returns; PN_ENOMEM;
 * PN_ECANCELLED.  *out is untouched on failure.
 * Source: Goldstein (1977); Pinelis (1994), Theorem 3.4; Maurer (2003) for the lower tail.
 */
pn_status pn_stationarity_measure(pn_stationarity *out, pn_objective *objective, const double *theta,
                                  const pn_stationarity_options *options, pn_rng *rng, pn_task *task, pn_err *err);

/** nearest[dim] (may be NULL) <- the point of least norm in the convex hull of points[m][dim], by Wolfe's method; *norm
 *  its norm, and *norm - *gap a lower bound of the least norm.  *gap <= tol times the largest norm of a point;
 *  tol in [1e-13, 1).
 *  Errors: PN_EINVAL for m or dim 0 or tol; PN_EDOMAIN for points that are not finite or too large; PN_ENOMEM;
 *  PN_ENUMERIC when it does not get so near; PN_ECANCELLED. */
pn_status pn_nearest_in_hull(const double *points, size_t m, size_t dim, double tol, double *nearest, double *norm,
                             double *gap, pn_task *task, pn_err *err);

#endif
