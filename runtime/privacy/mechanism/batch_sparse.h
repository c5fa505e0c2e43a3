/* batch_sparse.h -- the sparse vector technique on a batch that nobody knows (or on all records): pay, draw a batch,
 * ask an adaptive stream of queries of that one batch.  The object that draws the batch prices the run,
 * as in batch_release.h.
 * Depends on: sampler.h, mechanism.h, ledger.h.  Used by: solvers (private line search).
 * Source: Dwork, Roth (2014), section 3.6; Balle, Barthe, Gaboardi (2018) for the amplification. */
#ifndef PN_PRIVACY_BATCH_SPARSE_H
#define PN_PRIVACY_BATCH_SPARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"

typedef struct pn_batch_sparse_options {
    size_t n, batch;          /* batch == n: all records, no amplification */
    pn_neighbours neighbours; /* a true batch: replace_one only */
    double epsilon;           /* of one run on the batch that is drawn */
    double sensitivity; /* of every query, when a record of the batch changes; rounding is added by the mechanism */
    double error;       /* bound on |computed - exact| of every query, >= 0: twice it is added to the sensitivity */
    double bound;       /* public, on every |query| as computed; INFINITY for none */
} pn_batch_sparse_options;

typedef struct pn_batch_sparse pn_batch_sparse;

/** One run's event: sparse_vector{epsilon, answers = 1}, within fixed_sampled where batch < n.  Errors: as
 *  pn_sampler_from_args and the mechanism. */
pn_status pn_batch_sparse_price(pn_event **out, const pn_batch_sparse_options *options, pn_err *err);

/** Charge the run, draw the batch and the threshold's noise (threshold 0).  rng and ledger are borrowed until it is
 *  freed.  Errors: as pn_sparse_run_new and pn_sampler_draw; nothing is drawn and nothing returned when the charge is
 *  refused. */
pn_status pn_batch_sparse_open(pn_batch_sparse **out, const pn_batch_sparse_options *options, pn_ledger *ledger,
                               const char *label, pn_rng *rng, pn_err *err);
/** The records, increasing; NULL and n for all.  Secret. */
const size_t *pn_batch_sparse_rows(const pn_batch_sparse *self, size_t *count);
/** Is value + noise >= noisy 0?  One positive answer ends the run.  Errors: as pn_sparse_run_above. */
pn_status pn_batch_sparse_above(pn_batch_sparse *self, double value, bool *above, pn_err *err);
void pn_batch_sparse_free(pn_batch_sparse *self);

#endif
