/* least_squares.h -- a least squares problem known by its second moments, exact or released with noise, and everything
 * that follows from them: models with a ridge, of some of the columns, their error, and how far noise moved them.  All
 * of it is post-processing: it sees no records.
 *
 * The moments are the mean of v v^T, v = (x/row, tau (y - middle)/label), where the last feature, if it is the constant
 * 1, has become kappa.  On the diagonal their noise has standard deviation s = `deviation`, beside it s/sqrt(2).
 * Depends on: core, numeric.  Used by: solvers/least_squares, solvers/engine (fits), model, bindings.
 * Source: Wang (2018), AdaSSP, for the ridge that follows the noise; the rest as derived in least_squares*.c. */
#ifndef PN_MINIMISE_LEAST_SQUARES_H
#define PN_MINIMISE_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

typedef struct pn_least_squares {
    size_t p, n; /* p: entries of theta, the constant's included; n: records */
    bool constant;
    double row, label, middle, tau, kappa;
    double deviation; /* s; 0 without noise */
    double damping;  /* least eigenvalue that the ridge leaves, in norms of the noise; 0: by the estimate of the rule */
    double *moments; /* [packed(p + 1)] owned */
} pn_least_squares;

/** A copy of `like` whose moments are those at `moments`.  Errors: PN_ENOMEM. */
pn_status pn_least_squares_new(pn_least_squares **out, const pn_least_squares *like, const double *moments,
                               pn_err *err);
void pn_least_squares_free(pn_least_squares *self); /* NULL allowed */

#define PN_LS_FLOOR 0.25 /* between 0.1 and 0.5 nothing changes on real data */

/* Which model is asked for. */
typedef struct pn_submodel {
    const size_t *columns; /* [count] features from 0, rising, without the constant, which is always there; NULL: all */
    size_t count;
    double ridge; /* lambda of lambda/2 ||theta||^2 beside the mean of (z - y)^2/2, the constant left out; NaN: rule */
} pn_submodel;

/* What it is. */
typedef struct pn_submodel_fit {
    double ridge;              /* as it was taken, on the scale of the objective */
    double eigenvalue, noise;  /* the least of the released matrix of its features, and about the norm of its noise */
    double mse, mse_deviation; /* of the records as released: the mean of (y - z)^2, and the deviation of its noise */
} pn_submodel_fit;

/**
 * theta[p], zeros for columns that are left out, minimises the quadratic of the moments with that ridge.
 * The rule: of ridges that leave the least eigenvalue PN_LS_FLOOR x s sqrt(2 d), d features, that for which Stein's
 * estimate of the error is least; with a damping > 0 the least ridge that leaves it damping x s sqrt(2 d), which is
 * about the norm of the noise.  Without noise directions that records do not have are left out.
 * Errors: PN_EINVAL for columns, a ridge that is negative or leaves an eigenvalue that is not positive; PN_ENOMEM;
 * PN_ENUMERIC.
 */
pn_status pn_least_squares_solve(const pn_least_squares *self, const pn_submodel *which, double *theta,
                                 pn_submodel_fit *about, pn_err *err);

/**
 * matrix[p * p], packed by columns of the upper triangle, and linear[p]: the mean of (z - y)^2/2 is theta^T A theta/2 -
 * <linear, theta> + a constant, with the ridge that the rule takes where `strong` is already added to its eigenvalues
 * by others (a regulariser), on the scale of the objective.  *ridge as above.
 * Errors: as above.
 */
pn_status pn_least_squares_quadratic(const pn_least_squares *self, double strong, double *matrix, double *linear,
                                     double *ridge, pn_err *err);

/* Of what a covariance is. */
typedef enum pn_spread {
    PN_SPREAD_PRIVACY = 0, /* noise alone: about the answer without it */
    PN_SPREAD_TOTAL        /* and the draw of the records: about the population's */
} pn_spread;

/** covariance[p * p] of the model's theta, both triangles, zeros where it has no column: first order in the noise, bias
 *  of a ridge and of clipping left out.  Errors: as above; PN_EINVAL for fewer records than columns. */
pn_status pn_least_squares_covariance(const pn_least_squares *self, const pn_submodel *which, pn_spread of,
                                      double *covariance, pn_err *err);

#endif
