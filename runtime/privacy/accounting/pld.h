/* pld.h -- composing privacy loss distributions with two certified sides.  Private to privacy/.
 * Depends on: pair.h, core.  Used by: accountant_pld.c, tests.
 *
 * A record's loss is put on atoms twice: once so that the law dominates the record, once so that the record dominates
 * the law.  Both are composed by their characteristic functions, whose errors are added to the first delta and
 * subtracted from the second. */
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

typedef struct pn_pld_bounds {
    double low, high;
    const char *wide; /* why they are more than 1 % of high, and 1e-4, apart; NULL when they are not */
} pn_pld_bounds;

/** Bounds on the smallest epsilon >= 0 with delta(epsilon) <= delta, for records[n] composed, 0 < delta < 1.  low holds
 *  at delta (1 + PN_PLD_SHARE) too: who asks with a little less than delta gets bounds for delta.
 *  high is +inf when no bound was found.
 *  step  distance of two losses that are told apart; 0: as the question needs.
 *  Errors: PN_ENOMEM; PN_EUNSUPPORTED when `step` asks for too many points. */
pn_status pn_pld_epsilon(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double delta, double step,
                         pn_err *err);

/** Bounds on delta at epsilon >= 0; in [0, 1].  Errors: as above. */
pn_status pn_pld_delta(pn_pld_bounds *out, const pn_pld_record *records, size_t n, double epsilon, double step,
                       pn_err *err);

#endif
