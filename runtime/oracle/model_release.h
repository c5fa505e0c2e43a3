/* model_release.h -- releases of what model_noise.h plans.
 * Depends on: model_noise.h, receipt.h.  Used by: second_order*.c, trust_region*.c, newton*.c. */
#ifndef PN_ORACLE_MODEL_RELEASE_H
#define PN_ORACLE_MODEL_RELEASE_H

#include "oracle/model_noise.h"
#include "oracle/receipt.h"

typedef struct pn_model_release pn_model_release;

/** Ready to draw at these multipliers; 0: no noise (runs without privacy, or what is never asked for).  model:
 *  borrowed, outlives it.  More than one may be open: a phase has its own.  Errors: PN_ENOMEM;
 *  what pn_batch_release_new refuses. */
pn_status pn_model_open(pn_model_release **out, const pn_model *model, double gradient_z, double hessian_z,
                        pn_err *err);
void pn_model_close(pn_model_release *self); /* NULL allowed */

/*
 * What the three below share.  gradient[dim] = gradient of the mean loss over a batch of its own + noise + gradient of
 * r; packed[packed] = Hessian likewise, symmetric noise through the lattice (r only unless the model is bare); the
 * batches are of model->batch records, all of them for n.  label: of the charge; NULL: the ledger says batch_release.
 * On all records: compute, charge, draw, so that what fails or is cancelled while computing has cost nothing.  On
 * batches: charge, draw the batch, compute, draw the noise; what fails in between has been paid for, and the next call
 * begins there and pays nothing.  *value (may be NULL): f there, raw: only to be asked for where the run may show it;
 * NaN over a batch.  *records (may be NULL) += records seen.  Counts context->releases, those with noise.  After a
 * failure gradient and packed hold nothing private.
 * Errors: PN_EBUDGET (nothing was charged or drawn); PN_EPRIVACY for a private model that was opened without noise; as
 * pn_objective_losses, pn_objective_quadratic, pn_batch_release_pay and pn_batch_release_make.
 */
pn_status pn_model_gradient(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                            double *value, double *gradient, uint64_t *records, pn_err *err);
pn_status pn_model_hessian(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                           double *packed, uint64_t *records, pn_err *err);
/** Both at once; one pass where both see all records, which are counted once.  Two charges, both before the first draw;
 *  refused where they do not fit together. */
pn_status pn_model_both(pn_model_release *self, pn_step_context *context, const char *label, const double *theta,
                        double *value, double *gradient, double *packed, uint64_t *records, pn_err *err);

#endif
