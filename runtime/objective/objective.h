/* objective.h -- f(theta) = (1/n) sum_i l(<x_i, theta>, y_i) over a data set and a constraint set, with certified bounds.
 * Depends on: data, geometry, loss.h.  Used by: solvers, bindings. */
#ifndef PN_OBJECTIVE_OBJECTIVE_H
#define PN_OBJECTIVE_OBJECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/task.h"
#include "data/dataset.h"
#include "geometry/set.h"
#include "objective/loss.h"

typedef struct pn_objective pn_objective;

/* What holds for every admissible record and every theta in the set; derived from the enforced record bounds, the set and
 * the loss.  When `certified` is false nothing private may rest on it, and `missing` says what to do about it. */
typedef struct pn_bounds {
    bool certified;
    char missing[256];
    pn_interval margin; /* <x, theta> */
    pn_loss_range loss; /* over that margin and the labels */
    double slope;       /* max |dl/dz| */
    double
        lipschitz[PN_LP_COUNT]; /* of theta -> l with respect to l1, l2, linf: slope * record bound in the dual norm */
    double smoothness;          /* with respect to l2: max d2l/dz2 * (l2 record bound)^2 */
    double strong_convexity;    /* certified lower bound; 0 for a linear predictor without regulariser */
    double curvature;           /* worst-case Frank-Wolfe curvature over the set (frank-wolfe.md section 1) */
} pn_bounds;

/**
 * `data`, `loss` are kept (`data` must outlive the objective), `set` is kept by reference; set may be NULL (unconstrained).
 * Errors: PN_EDIM when the set's dimension is not the data's number of features (names both); PN_EINVAL when the loss needs
 * labels -1 and 1 and the data has others (names the loader option); PN_ENOMEM.
 */
pn_status pn_objective_new(pn_objective **out, const pn_dataset *data, pn_loss *loss, pn_set *set, pn_err *err);
void pn_objective_free(pn_objective *objective);

const pn_dataset *pn_objective_data(const pn_objective *objective);
pn_loss *pn_objective_loss(const pn_objective *objective);
pn_set *pn_objective_set(const pn_objective *objective); /* or NULL */
const pn_bounds *pn_objective_bounds(const pn_objective *objective);

/**
 * One fused, threaded pass: value (may be NULL) and gradient[p] (may be NULL) at theta[p].
 * The sum over records is taken in a fixed order, whatever the number of threads.  Each record's slope is clamped to the
 * certified range, so the certified sensitivity holds for the numbers that are really computed.
 * Errors: PN_EDOMAIN for a non-finite theta; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_evaluate(pn_objective *objective, const double *theta, double *value, double *gradient,
                                pn_task *task, pn_err *err);

/**
 * Prepare for `passes` gradients: for a quadratic loss form the Gram matrix X^T X / n once when that is cheaper than the
 * passes and p <= 2048, so that a gradient costs O(p^2); otherwise do nothing.  Idempotent.
 * Errors: PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_prepare(pn_objective *objective, size_t passes, pn_task *task, pn_err *err);

/**
 * Public bound on |computed - exact| of each gradient coordinate over the certified domain, whichever way
 * gradients are computed (pass or Gram matrix): depends on n, p and the certified bounds only.  "Exact" is the mean of the per-record
 * contributions slope_i x_ij as they are in floating point, of which a replaced record changes one (noise.md section 3).
 * +inf when the bounds are not certified.
 */
double pn_objective_gradient_error(const pn_objective *objective);

/**
 * The exact Frank-Wolfe curvature of the squared loss over a polytope, max ||X (a - b)||^2 / n over pairs of vertices.  It
 * depends on the data: not private.  At most 4096 vertices in dimension 2048.
 * Errors: PN_EUNSUPPORTED for other losses and sets; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_objective_exact_curvature(pn_objective *objective, double *curvature, pn_task *task, pn_err *err);

/** out[p] = Hessian(theta) v.  Errors as evaluate. */
pn_status pn_objective_hessian_times(pn_objective *objective, const double *theta, const double *v, double *out,
                                     pn_task *task, pn_err *err);

/** Fraction of records with sign(<x, theta>) = y, for labels -1 and 1.  Errors: PN_EUNSUPPORTED for other labels. */
pn_status pn_objective_accuracy(pn_objective *objective, const double *theta, double *accuracy, pn_task *task,
                                pn_err *err);

/** z[n] = X theta for any data set (p must fit). */
pn_status pn_predict(const pn_dataset *data, const double *theta, size_t p, double *z, pn_task *task, pn_err *err);

#endif
