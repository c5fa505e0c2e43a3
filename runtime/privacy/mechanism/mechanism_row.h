/* mechanism_row.h -- what the rows of the mechanism table share.  Private to privacy/.
 * Depends on: mechanism.h.  Used by: mechanism.c, selection_mechanism.c, additive_mechanism.c, sparse_vector.c,
 * perturbation.c, batch_release.c. */
#ifndef PN_PRIVACY_MECHANISM_ROW_H
#define PN_PRIVACY_MECHANISM_ROW_H

#include <math.h>

#include "privacy/mechanism/mechanism.h"

/* One row, one line. */
#define PN_MECHANISMS(X)                                                                                               \
    X(exponential)                                                                                                     \
    X(permute_and_flip)                                                                                                \
    X(report_noisy_max)                                                                                                \
    X(gaussian)                                                                                                        \
    X(analytic_gaussian)                                                                                               \
    X(laplace)                                                                                                         \
    X(sparse_vector)
#define PN_DECLARE(name) extern const pn_mechanism_ops pn_mechanism_##name;
PN_MECHANISMS(PN_DECLARE)
#undef PN_DECLARE

/** Finite and within the domain, or to be clamped to it?  PN_EDOMAIN,
 *  with a message that has no value and no position. */
pn_status pn_mechanism_admits(const pn_mechanism *mechanism, const double *input, size_t n, pn_err *err);

/** x within the domain, to which what is beyond is clamped; a NaN is its least value. */
static inline double pn_mechanism_clamp(const pn_mechanism *mechanism, double x)
{
    return fmin(fmax(x, -mechanism->domain), mechanism->domain);
}
/** Where what a row was given is a promise that is kept or refused.
 *    reach  the largest |input| that the lattice carries; INFINITY where the lattice follows the bound.
 *  Errors: PN_EINVAL for strict without the bound that is promised, and for a bound beyond the reach: what is within
 *  the bound would be cut. */
pn_status pn_mechanism_set_domain(pn_mechanism *mechanism, const pn_arg *bound, const char *name, const pn_arg *strict,
                                  double reach, pn_err *err);

/** May the stream be used on this ledger?  PN_EINVAL without one; PN_EPRIVACY for a simulated stream and a real
 *  budget. */
pn_status pn_mechanism_source(const pn_mechanism *mechanism, const pn_ledger *ledger, const pn_rng *rng, pn_err *err);

/** The stream may be used on this ledger, and the event is charged: the next thing to do is to draw.  Everything that
 *  can fail for another reason has been done before. */
pn_status pn_mechanism_pay(const pn_mechanism *mechanism, pn_ledger *ledger, const char *label, const pn_rng *rng,
                           pn_err *err);

/** "replace_one: hides ..." */
const char *pn_mechanism_protects(pn_neighbours neighbours);

/* The last parameter of a row that has a bound. */
#define PN_STRICT_PARAM                                                                                                \
    {                                                                                                                  \
        "strict", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,                                                             \
            "refuse what is beyond the bound instead, before the charge: for the owner of the data, since a refusal "  \
            "tells that it happened and costs nothing"                                                                 \
    }

#endif
