/* loss.h -- losses of one record, by name or of a host's own function.  Depends on: options.h, task.h. */
#ifndef PENUMBRA_LOSS_H
#define PENUMBRA_LOSS_H

#include <stddef.h>

#include "penumbra/options.h"
#include "penumbra/status.h"
#include "penumbra/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_loss pn_loss;

/** A loss by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL for options;
 *  PN_ENOMEM. */
pn_status pn_loss_new(pn_loss **out, const char *name, const pn_options *options, pn_err *err);

void pn_loss_free(pn_loss *loss);

/** What it is called; as long as the loss lives. */
const char *pn_loss_name(const pn_loss *loss);

/* ---- black boxes: losses of which values alone are known ---- */

/* A record as a black box sees it. */
typedef struct pn_record {
    const double *x; /* [p] */
    size_t p;
    double y;
    size_t row;    /* from 0 */
    pn_task *task; /* what may stop a call that waits; NULL: nothing */
} pn_record;

/* values[count] = l(theta_k, record), theta_k = thetas[k * dim ...]: all points of a record in one call, on the
 * caller's thread.  Values that are not finite are passed on as they are; a status other than PN_OK ends the whole
 * computation with it. */
typedef pn_status (*pn_record_fn)(void *self, const double *thetas, size_t count, size_t dim, const pn_record *record,
                                  double *values, pn_err *err);

/**
 * dim: entries of theta; 0: those of a record.
 * lipschitz: the declared l2 Lipschitz constant in theta, > 0 or 0 for none; solvers enforce it by clipping
 * differences. release(self) is called when the loss is freed; may be NULL.
 */
pn_status pn_loss_black_box(pn_loss **out, pn_record_fn values, void (*release)(void *self), void *self, size_t dim,
                            double lipschitz, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
