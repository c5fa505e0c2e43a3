/* stationarity.h -- how stationary is a point of a nonsmooth, nonconvex objective: the Goldstein measure, estimated without privacy.
 * The Goldstein measure at radius delta is the least norm in the convex hull of all (sub)gradients within delta of theta.
 * Depends on: objective.h, smoothed.h, random/.  Used by: bindings, tests.  Source: Goldstein (1977); zeroth-order.md section 7. */
#ifndef PN_OBJECTIVE_STATIONARITY_H
#define PN_OBJECTIVE_STATIONARITY_H

#include "core/status.h"
#include "core/task.h"
#include "objective/objective.h"
#include "random/rng.h"

typedef struct pn_stationarity_options {
    double radius;     /* delta > 0 */
    size_t samples;    /* m points in the ball; 0: 10 d, at least 100 */
    double confidence; /* of low and high, in (0, 1); 0: 0.95 */
    double smoothing; /* mu of the differences that take the place of gradients where there are none; 0: radius / 100 */
    size_t batch;     /* records a gradient is the mean of; 0: all */
} pn_stationarity_options;

/* All raw: they depend on the data. */
typedef struct pn_stationarity {
    double mean;      /* || mean of the gradients || */
    double low, high; /* of || gradient of f smoothed over the ball ||, of which mean is an estimate, at `confidence` */
    double
        hull; /* least norm in the convex hull of the sampled gradients: with exact gradients an upper bound of the measure */
    double gap;     /* hull - gap is a lower bound of that least norm */
    bool exact;     /* gradients, not differences */
    double largest; /* largest norm of a sampled gradient */
    size_t samples;
    double confidence;
} pn_stationarity;

/** Errors: PN_EINVAL for options; PN_EDOMAIN; what the objective returns; PN_ENOMEM; PN_ECANCELLED. */
pn_status pn_stationarity_measure(pn_stationarity *out, pn_objective *objective, const double *theta,
                                  const pn_stationarity_options *options, pn_rng *rng, pn_task *task, pn_err *err);

/** The point of least norm in the convex hull of points[m][dim] (may be NULL: norm only) by Wolfe's method; *norm, *gap as above.
 *  Errors: PN_ENOMEM; PN_ENUMERIC when it does not reach `tol` (gap <= tol * max(1, largest norm)); PN_ECANCELLED. */
pn_status pn_nearest_in_hull(const double *points, size_t m, size_t dim, double tol, double *nearest, double *norm,
                             double *gap, pn_task *task, pn_err *err);

#endif
