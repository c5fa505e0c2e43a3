/* pld_law.h -- loss laws on a lattice.  Private to privacy/.  Depends on: pair.h, core.  Used by: pld*.c.
 *
 * Law number j has mass p[j] at the loss offset + (first + j) h. */
#ifndef PN_PRIVACY_PLD_LAW_H
#define PN_PRIVACY_PLD_LAW_H

#include <stdint.h>

#include "core/status.h"
#include "privacy/event/pair.h"

/* Masses of the cells (l_j, l_{j+1}] between n knots, of what is below the first knot (itself included) and above the
 * last. */
typedef struct pn_cells {
    double *p, *q; /* [n - 1] */
    size_t n;
    int64_t first; /* knot j is at offset + (first + j) h */
    double h, offset;
    double p_below, q_below, p_above, q_above;
    double p_infinite, q_infinite; /* of p_above the mass at +inf, of q_below that at -inf */
    double p_top;                  /* an atom that sits on the last knot; not in the cells */
} pn_cells;

typedef struct pn_law {
    double *p; /* [padded]: n masses and then zeros; NULL for no law, which is the one at 0 */
    double *tilted;
    size_t n, padded;
    int64_t first;
    double h, offset;
    double infinite; /* mass at +inf */
    double count;    /* times that it is composed, a whole number */
    double log_mgf;  /* ln of what `tilted` was divided by */
} pn_law;

#define PN_LAW_BLOCK 256

/** Knots every h over all but `tail` of both laws.  Errors: PN_ENOMEM; PN_EUNSUPPORTED for more than 2^22 knots. */
pn_status pn_cells_new(pn_cells *out, const pn_pair *pair, double h, double tail, pn_err *err);
void pn_cells_clear(pn_cells *cells);

/** The law that dominates the record (upper) or that the record dominates, of P against Q or (mirrored) Q against P. */
pn_status pn_law_new(pn_law *out, const pn_cells *cells, bool upper, bool mirrored, double count, pn_err *err);
void pn_law_clear(pn_law *law);

/** ln sum_j p[j] exp(s loss_j); +inf when it does not fit. */
double pn_law_log_mgf(const pn_law *law, double s);

/** tilted[j] = p[j] exp(s loss_j - log_mgf). */
void pn_law_tilt(pn_law *law, double s);

#endif
