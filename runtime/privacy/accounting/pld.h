/* pld.h -- composing privacy loss distributions with two certified sides.  Private to privacy/.
 * Depends on: pair.h, core.  Used by: accountant_pld.c, tests.  Spec: accounting.md section 5.
 *
 * A record's loss is put on a lattice twice: once so that the lattice law dominates the record, once so that the record
 * dominates the lattice law.  Both are composed through their Fourier coefficients, and every error of that (cut tails,
 * dropped frequencies, rounding) is added to the first delta and subtracted from the second. */
#ifndef PN_PRIVACY_PLD_H
#define PN_PRIVACY_PLD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/event/pair.h"

#define PN_PLD_SHARE 0x1p-29

typedef struct pn_pld_record {
    pn_pair dominating, attained; /* for the upper and for the lower bound */
    bool same;                    /* the two are one */
    bool two_directions;          /* P against Q and Q against P differ: both count */
    size_t count;
} pn_pld_record;

typedef struct pn_pld_options {
    double step;  /* lattice spacing h; 0: chosen, and halved until the bounds meet */
    double order; /* a Renyi order near the best one and the epsilon that it gives, to choose the step by; 0 for none */
    double guess;
    bool by_transform; /* never take the short way for band-limited laws (for tests) */
} pn_pld_options;

typedef struct pn_pld_bounds {
    double low, high;
} pn_pld_bounds;

/** Bounds on the smallest epsilon >= 0 with delta(epsilon) <= delta, for records[n] composed, 0 < delta < 1.  low holds
 *  at delta (1 + PN_PLD_SHARE) too: who asks with a little less than delta gets bounds for delta.
 *  high is +inf when no bound was
 *  found.  Errors: PN_ENOMEM; PN_EUNSUPPORTED when options->step asks for too many points. */
pn_status pn_pld_epsilon(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double delta,
                         const pn_pld_options *options, pn_err *err);

/** Bounds on delta at epsilon >= 0; in [0, 1].  Errors: PN_ENOMEM. */
pn_status pn_pld_delta(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double epsilon,
                       const pn_pld_options *options, pn_err *err);

#endif
