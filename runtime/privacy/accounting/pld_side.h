/* pld_side.h -- one side of the certificate: a composition in parts, and the bound on delta that they give.
 * Private to privacy/.  Depends on: pld_part.h.  Used by: pld*.c. */
#ifndef PN_PRIVACY_PLD_SIDE_H
#define PN_PRIVACY_PLD_SIDE_H

#include "privacy/accounting/pld_part.h"

#define PN_SIDE_PARTS 16

typedef struct pn_side {
    pn_law *laws; /* [n], borrowed */
    size_t n;
    bool upper;
    double infinite; /* mass at +inf */
    pn_part parts[PN_SIDE_PARTS];
    size_t count;
    double guess;
} pn_side;

/** One part, all of the composition. */
void pn_side_init(pn_side *out, pn_law *laws, size_t n, bool upper);
void pn_side_clear(pn_side *side);

/** A bound on epsilon(delta), at least 0, and the Renyi order less 1 that gives it. */
double pn_side_epsilon(const pn_side *side, double delta, double *tilt);

/** One part, or (apart) several, with tilts for questions near epsilon; tilt: of the first part, 0 for the best. */
void pn_side_tilt(pn_side *side, double epsilon, double tilt, bool apart);

/** Periods for the parts that are there; or the parts, tilts and periods of another side. */
void pn_side_place(pn_side *side);
void pn_side_place_like(pn_side *side, const pn_side *other);

/** Would several parts do much better, at an epsilon whose delta is known?  wide: the bounds are far apart. */
bool pn_side_is_mixed(const pn_side *side, double epsilon, double delta, bool wide);

/** The certified bound on delta at epsilon: above it for an upper side, below it for a lower one.  *slope is the
 *  derivative of its logarithm, about. */
double pn_side_delta(const pn_side *side, double epsilon, double *slope);

#endif
