/* synthetic.h -- what the generators of data with a known truth share.  Depends on: core/task.h, random/rng.h.
 * Used by: synthetic*.c. */
#ifndef PN_DATA_SYNTHETIC_H
#define PN_DATA_SYNTHETIC_H

#include "core/task.h"
#include "random/rng.h"

/** x[n * p]: 1 or -1, fair; progress counts records of p entries.  Errors: PN_ECANCELLED, PN_ELIMIT. */
pn_status pn_synthetic_signs(pn_rng *rng, double *x, size_t n, size_t p, const char *owner, pn_task *task, pn_err *err);

#endif
