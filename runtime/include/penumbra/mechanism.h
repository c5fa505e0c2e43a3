/* mechanism.h -- private releases: the one door through which noise leaves.  Charge, then draw, then publish.
 * Depends on: event.h, ledger.h, options.h, rng.h. */
#ifndef PENUMBRA_MECHANISM_H
#define PENUMBRA_MECHANISM_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/event.h"
#include "penumbra/ledger.h"
#include "penumbra/options.h"
#include "penumbra/rng.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_mechanism pn_mechanism;

/* Names: exponential, permute_and_flip, report_noisy_max; gaussian, analytic_gaussian, laplace; sparse_vector.
 *
 * A bound that the user states (`bound`, `score_bound`) is the domain: what lies beyond is clamped to it, and a NaN
 * counts as -bound.  Clamping to public limits moves no two values further apart, so the sensitivity holds as it was.
 * With `strict` what lies beyond is refused instead, because a value outside a promise means that the promised
 * sensitivity is in doubt too.  The refusal happens before the charge and says neither the value nor its position;
 * but that it happens at all depends on the data and costs nothing, so whoever chooses the bound could read a sum
 * off it: it is for the owner of the data, who knows that it never happens. */

/** A mechanism by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL for options;
 *  PN_ENOMEM. */
pn_status pn_mechanism_new(pn_mechanism **out, const char *name, const pn_options *options, pn_err *err);

void pn_mechanism_free(pn_mechanism *mechanism);

/** What one release costs; borrowed. */
pn_event *pn_mechanism_event(const pn_mechanism *mechanism);
/** Of the noise on each value: sigma or b, public; 0 where values are not released. */
double pn_mechanism_scale(const pn_mechanism *mechanism);
/** Some lines for people: what it adds to what, what one release costs and hides.  Truncates. */
void pn_mechanism_describe(const pn_mechanism *mechanism, char *text, size_t size);

/* What came out; untouched on failure. */
typedef struct pn_release {
    size_t index;   /* selection: the chosen one, from 0 */
    double *values; /* additive noise: values[n], the caller's buffer; may be the input */
    bool *above;    /* sparse vector: above[n], the caller's buffer; `count` of them were answered before it halted */
    size_t count;
    bool simulated; /* true when the noise was seeded: no privacy */
} pn_release;

/**
 * Charge, then draw, then publish.
 *   ledger  required.   label  what the report says; NULL: the mechanism's name.
 *   input[n]  the query's exact values (private).
 * Errors:  PN_EINVAL without a ledger or the buffer that the output needs; PN_EPRIVACY for a simulated rng on a
 *          ledger that is not teaching; PN_EDIM for n = 0 or another n than the event is for; PN_EDOMAIN where
 *          nothing clamps, for NaN, infinity or a value beyond the domain (the message has no value); PN_ENOMEM;
 *          PN_EBUDGET.  All before the charge and the first draw, so a failed release costs nothing, gives nothing
 *                       and leaves the stream where it was.
 * Privacy: one mechanism->event. */
pn_status pn_mechanism_release(pn_mechanism *mechanism, pn_ledger *ledger, const char *label, pn_rng *rng,
                               const double *input, size_t n, pn_release *out, pn_err *err);

/* ---- sparse vector: an adaptive stream of queries against a threshold ---- */

/* One run of above-threshold: charged once when opened, then it answers until it has said "above" `answers` times. */
typedef struct pn_sparse_run pn_sparse_run;

/** Charge `mechanism` (a row "sparse_vector") to the ledger and draw the threshold's noise.  The run copies what it
 *  needs of the mechanism and borrows the rng.  Errors: PN_EUNSUPPORTED for another mechanism; as
 *  pn_mechanism_release.
 *  Privacy: mechanism->event pays for all answers of the run. */
pn_status pn_sparse_run_new(pn_sparse_run **out, pn_mechanism *mechanism, pn_ledger *ledger, const char *label,
                            pn_rng *rng, pn_err *err);

/** Is value + noise at or above the noisy threshold?  Nothing but this boolean ever leaves: not the noisy value, not
 *  the noisy threshold, not by how much.  Errors: PN_EDOMAIN as for a release (nothing is drawn); PN_EBUDGET once
 *  it has halted. */
pn_status pn_sparse_run_above(pn_sparse_run *run, double value, bool *above, pn_err *err);

/** Positive answers left; 0 when it has halted.  Depends on the answers only. */
size_t pn_sparse_run_left(const pn_sparse_run *run);

void pn_sparse_run_free(pn_sparse_run *run);

#ifdef __cplusplus
}
#endif

#endif
