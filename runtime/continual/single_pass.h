/* single_pass.h -- prefix sums over records that are used once: the object that hands out the records is the one that
 * prices the releases, so that a record in two leaves of a pass cannot be written down.
 *
 * A run is `epochs` streams of one design, one after the other, over consecutive disjoint slices of a permutation that
 * is drawn before the data are looked at.  A record is in one leaf of one stream of a pass: the whole pass costs one
 * stream's event (zeroth-order.md section 4; parallel composition: all other leaves are functions of released
 * points and unchanged records).  `passes` of them cost that many events, charged when a pass begins.
 * Depends on: prefix.h.  Used by: solvers/zeroth_order*.c. */
#ifndef PN_CONTINUAL_SINGLE_PASS_H
#define PN_CONTINUAL_SINGLE_PASS_H

#include "continual/prefix.h"

typedef struct pn_single_pass pn_single_pass;

typedef struct pn_single_pass_options {
    pn_prefix_design *design; /* of one stream: kept */
    size_t n;                 /* records */
    size_t passes;            /* >= 1 */
    size_t first, others;     /* records in the first leaf of a stream and in every other one, >= 1 */
    size_t leaves;            /* of a stream; at most the design's horizon */
    size_t epochs;            /* streams of one pass: epochs * (first + (leaves - 1) * others) <= n */
} pn_single_pass_options;

/** Errors: PN_EINVAL, with both numbers, when the records do not suffice; PN_ENOMEM. */
pn_status pn_single_pass_new(pn_single_pass **out, const pn_single_pass_options *options, pn_err *err);
void pn_single_pass_free(pn_single_pass *self); /* NULL allowed */

/**
 * The records of the next leaf, rows[*count] from 0; the same again until the leaf has been pushed.  Draws the
 * permutation at the beginning of a pass and pays for the pass (ledger; NULL without noise), and starts a stream at the
 * beginning of an epoch, each from a split of `rng`.
 * `paid_elsewhere` as pn_prefix_pay.
 * Errors: PN_EBUDGET after the last leaf of the last pass; as pn_prefix_pay; PN_ENOMEM.
 */
pn_status pn_single_pass_take(pn_single_pass *self, pn_ledger *ledger, const char *label, bool paid_elsewhere,
                              const pn_rng *rng, const size_t **rows, size_t *count, pn_err *err);
/** Push the leaf that was made of these records; out[dim] is the stream's prefix sum.  Errors: as pn_prefix_push;
 *  PN_EBUDGET unless records were taken for it. */
pn_status pn_single_pass_push(pn_single_pass *self, const double *leaf, double *out, pn_task *task, pn_err *err);
/** Leaves pushed in this epoch; epochs completed; passes paid for. */
size_t pn_single_pass_leaf(const pn_single_pass *self);
size_t pn_single_pass_epoch(const pn_single_pass *self);
size_t pn_single_pass_paid(const pn_single_pass *self);

#endif
