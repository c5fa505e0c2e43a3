/* batch_release.h -- Gaussian noise on sums over batches that nobody knows: pay, draw a batch, release its noisy sum,
 * as often as was paid for.  The counterpart of pn_mechanism_release for queries on a random part of the records: the
 * object that draws the batch prices the release (sampler.h), so neither can be had without the other.
 * Depends on: sampler.h, ledger.h, mechanism.h, random/noise.h.  Used by: solvers of sampled gradients.
 * See accounting.md section 4, noise.md sections 3 and 8, variance-reduced.md section 3. */
#ifndef PN_PRIVACY_BATCH_RELEASE_H
#define PN_PRIVACY_BATCH_RELEASE_H

#include <stddef.h>

#include "core/status.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"

/* All public, fixed before the data are looked at.  Sums, not means: who divides, divides what was released. */
typedef struct pn_batch_release_options {
    const char *scheme; /* "full", "poisson", "fixed" or "shuffled": a row of sampler.c */
    size_t n, batch;    /* records; records in a batch, of poisson unused */
    double q;           /* of poisson: chance of each record; else unused */
    pn_neighbours neighbours;
    size_t dim;
    /* bound on the l2 norm of what one record adds to a sum, > 0: certified or clipped by the caller */
    double contribution;
    double error; /* bound on |computed - exact| of each entry of a sum, >= 0; of poisson for a batch of all n */
    double bound; /* on every |entry| of a sum; INFINITY for none */
    double sigma; /* of the noise on each entry of a sum */
    /* 0, or the l2 sensitivity, as computed, of a vector of all records that is added to each sum under the same noise;
     * its scheme is "fixed", its event fixed_sampled_and_whole */
    double whole;
    double whole_bound; /* on every |entry| of that vector; INFINITY for none */
} pn_batch_release_options;

typedef struct pn_batch_release pn_batch_release;

/** Errors: as pn_sampler_from_args and pn_sampler_gaussian; PN_EINVAL for numbers outside [2^-900,
 *  2^900]; PN_ENOMEM. */
pn_status pn_batch_release_new(pn_batch_release **out, const pn_batch_release_options *options, pn_err *err);
void pn_batch_release_free(pn_batch_release *self); /* NULL allowed; what was paid for and not drawn stays paid for */

/** What `per_event` releases cost (1, but for "shuffled": all batches of a pass); borrowed. */
pn_event *pn_batch_release_event(const pn_batch_release *self, size_t *per_event);

/** The same event (a new reference) and number without anything to draw with: for plans,
 *  which look for a sigma.  per_event may be
 *  NULL.  Errors: as pn_batch_release_new. */
pn_status pn_batch_release_price(pn_event **out, size_t *per_event, const pn_batch_release_options *options,
                                 pn_err *err);

/**
 * Charge `releases` further releases, before any of them is drawn.  How often to pay is the caller's choice: an early
 * end loses what is left.  Of "shuffled" a pass that is begun is charged whole, and the releases that this adds are
 * paid for.  `paid_elsewhere`: the caller has charged an event that covers the whole run (a plan priced as a whole);
 * nothing is charged here.
 * Errors: PN_EINVAL without a ledger; PN_EPRIVACY for a simulated rng on a ledger that is not teaching,
 * for a ledger of another
 *         relation, and in a forked child; PN_EBUDGET and all of pn_ledger_spend.  Nothing is paid for then.
 */
pn_status pn_batch_release_pay(pn_batch_release *self, pn_ledger *ledger, const char *label, const pn_rng *rng,
                               size_t releases, bool paid_elsewhere, pn_err *err);
/** Releases that are paid for and have not been made; how many were paid for in all. */
size_t pn_batch_release_left(const pn_batch_release *self);
size_t pn_batch_release_paid(const pn_batch_release *self);

/**
 * The records of the next batch, rows[*count] from 0, in increasing order; valid until the next draw.  Of the scheme
 * "full" *rows is NULL and *count is n: nothing is listed, in no time.  The same batch again until its sum
 * has been released: a step that failed in between may be tried again.  Secret: never to a script, unless simulated.
 * Errors: PN_EBUDGET when nothing is left; PN_EPRIVACY for a simulated rng where a real budget has paid,
 * and in a forked child;
 *         PN_ENOMEM.
 */
pn_status pn_batch_release_draw(pn_batch_release *self, pn_rng *rng, const size_t **rows, size_t *count, pn_err *err);

/** With options.whole: the vector that the next releases add, whole[dim]; rounded to the lattice here, by itself, so
 *  that the rounding of a sum does not depend on it.  Errors: PN_EINVAL without options.whole; PN_EDOMAIN for what is
 *  not finite or beyond the bound. */
pn_status pn_batch_release_set_whole(pn_batch_release *self, const double *whole, pn_err *err);

/**
 * out[dim] = sum[dim] (+ whole) + noise of scale * sigma; uses one release up.  `scale`, public and >= 0, multiplies
 * contribution, error, bound and sigma alike, so that the event does not change: for queries whose sensitivity shrinks
 * in a known way.  The products may be rounded: the event holds 2^-40 more than contribution and error.  Where scale or
 * scale * sigma is below 2^-900 (at 0 too) out = 0 and nothing is drawn, which is charged all the same.  With a whole
 * vector: 1.  sum and out may be the same array.
 * Errors: PN_EBUDGET when nothing is left or no batch was drawn; PN_EDOMAIN for a sum that is not finite or beyond the
 * bound (no
 *         value is named); PN_EINVAL for scale; PN_EPRIVACY as pn_batch_release_draw.  out is untouched on failure, and
 *             the batch
 *         remains.
 */
pn_status pn_batch_release_make(pn_batch_release *self, pn_rng *rng, double scale, const double *sum, double *out,
                                pn_err *err);

#endif
