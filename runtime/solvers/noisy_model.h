/* noisy_model.h -- the mean loss's gradient and Hessian plus Gaussian noise, on all records or on fresh batches: what private solvers of second
 * order release.  Sensitivities, events, draws and the plan's lines about them are here and in no solver.
 * Depends on: solver.h, objective/second_order.h, privacy/batch_release.h.  Used by: second_order*.c, trust_region*.c, newton*.c.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM; Ganesh, Haghifam, Steinke, Thakurta (2023). */
#ifndef PN_SOLVERS_NOISY_MODEL_H
#define PN_SOLVERS_NOISY_MODEL_H

#include "objective/second_order.h"
#include "solvers/solver.h"

/* Public: fixed before the data are looked at.  Noise multipliers z are in units of a query's sensitivity: sigma = z times it. */
typedef struct pn_model {
    pn_objective *objective;
    size_t dim, packed, n;
    size_t batch; /* records of every query's own batch; n: all */
    pn_neighbours neighbours;
    bool is_private;
    bool frobenius; /* Hessian noise isotropic in Frobenius norm: off-diagonal entries of variance 1/2 */
    bool generic;   /* the Hessian sensitivity of the article, 2 sqrt(d) B_H / batch, in place of the derived one */
    pn_hessian_bounds bounds;
    double lipschitz;            /* B_g: every record's gradient, certified or clipped */
    double gradient_sensitivity; /* D_g: l2, of the mean over the batch as computed, rounding included */
    double hessian_sensitivity;  /* D_H: of the packed vector (frobenius: in Frobenius norm), likewise */
} pn_model;

/**
 * Read the problem.  batch 0: all records.
 * Errors: of pn_objective_hessian_bounds; PN_EPRIVACY without a finite B_g or B_H where private; PN_EUNSUPPORTED for add_remove (n is public),
 * for a true batch under another relation than replace_one, for a regulariser without Hessian; PN_EINVAL for a batch beyond n; PN_EDIM for a
 * packed Hessian beyond 2^31 entries (says how much memory it would take).
 */
pn_status pn_model_read(pn_model *out, const char *owner, pn_objective *objective, const pn_request *request,
                        size_t batch, bool frobenius, bool generic, pn_err *err);

/** The event of one release at multiplier z: gaussian, within fixed_sampled for a true batch; rounding and draws included. */
pn_status pn_model_gradient_event(const pn_model *self, double z, pn_event **out, pn_err *err);
pn_status pn_model_hessian_event(const pn_model *self, double z, pn_event **out, pn_err *err);

/** With probability >= 1 - failure: ||gradient noise|| <= D_g z (sqrt(d) + sqrt(2 ln(1/failure))). */
double pn_model_gradient_noise(const pn_model *self, double z, double failure);
/** Likewise the operator norm of the Hessian's noise: D_H z (2 sqrt(d) + 2 sqrt(ln(1/failure))), with frobenius D_H z (sqrt(2 d) + sqrt(2 ln(
 *  2/failure))). */
double pn_model_hessian_noise(const pn_model *self, double z, double failure);
/** What a batch without replacement adds to the deviation from the gradient (Hessian) of all records, with probability >= 1 - failure; 0 for all
 *  records.  Source: Hoeffding (1963) and McDiarmid (1989) for samples without replacement; Tropp (2012) for matrices. */
double pn_model_gradient_sampling(const pn_model *self, double failure);
double pn_model_hessian_sampling(const pn_model *self, double failure);

/* ---- releases ---- */

typedef struct pn_model_release pn_model_release;

/** Ready to draw at these multipliers; 0: no noise (runs without privacy).  More than one may be open: a phase has its own.
 *  Errors: PN_ENOMEM; what mechanisms refuse. */
pn_status pn_model_open(pn_model_release **out, const pn_model *model, double gradient_z, double hessian_z,
                        pn_err *err);
void pn_model_close(pn_model_release *self);

/**
 * Charge, then release: gradient[dim] = gradient of the mean loss over its own batch + noise + gradient of r.  *value (may be NULL) raw: only to be
 * asked for where the run may show it, and NaN over a batch.  Counts context->releases; *gradients_used (may be NULL) += records seen.
 * Errors: PN_EBUDGET (nothing was drawn), as pn_noisy_gradient.
 */
pn_status pn_model_gradient(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                            double *value, double *gradient, uint64_t *records, pn_err *err);
/** packed = Hessian of the mean loss over its own batch + symmetric noise, through the lattice, + Hessian of r. */
pn_status pn_model_hessian(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                           double *packed, uint64_t *records, pn_err *err);
/** Both at once; one pass where both see all records.  Two charges, both before the first draw. */
pn_status pn_model_both(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                        double *value, double *gradient, double *packed, uint64_t *records, pn_err *err);

#endif
