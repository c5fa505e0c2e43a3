/* pld_law.h -- loss laws of finitely many atoms, above and below a record's.  Private to privacy/.
 * Depends on: pair.h, core.  Used by: pld*.c. */
#ifndef PN_PRIVACY_PLD_LAW_H
#define PN_PRIVACY_PLD_LAW_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/event/pair.h"

/* Masses of the cells (loss_j, loss_{j+1}] between n knots, of what is below the first knot (itself included) and above
 * the last. */
typedef struct pn_cells {
    double *loss, *p, *q; /* [room]: n knots, n - 1 masses */
    size_t n, room;
    double p_below, q_below, p_above, q_above;
    double p_infinite, q_infinite; /* of p_above the mass at +inf, of q_below that at -inf */
} pn_cells;

/* A question that knots are placed for: cells whose losses are at most `reach` are split until no one adds more than
 * the tolerance to `weight` times E exp(tilt L) / exp(log_scale); `weight_beyond` counts for losses beyond `from`. */
typedef struct pn_cells_part {
    double tilt, log_scale, from, reach, weight, weight_beyond;
} pn_cells_part;

typedef struct pn_cells_plan {
    double tail;                /* what may be beyond the knots, of either law and at either end */
    bool mirrored;              /* the law that is asked about is that of Q against P */
    const pn_cells_part *parts; /* [count]; none: a rough law with knots in geometric progression */
    size_t count;
    double tolerance;
    size_t most; /* give up beyond that many knots */
} pn_cells_plan;

/** With more than plan->most knots *out is empty (n = 0).  Errors: PN_ENOMEM. */
pn_status pn_cells_new(pn_cells *out, const pn_pair *pair, const pn_cells_plan *plan, pn_err *err);
void pn_cells_clear(pn_cells *cells);

typedef struct pn_law {
    double *loss, *p, *log_p, *tilted; /* [n], increasing losses; one block */
    size_t n;
    double infinite; /* mass at +inf */
    double count;    /* times that it is composed, a whole number */
} pn_law;

/** The law that dominates the record (upper) or that the record dominates, of P against Q or (mirrored) Q against P. */
pn_status pn_law_new(pn_law *out, const pn_cells *cells, bool upper, bool mirrored, double count, pn_err *err);
void pn_law_clear(pn_law *law);

/** How many atoms have a loss of at most `loss`. */
size_t pn_law_until(const pn_law *law, double loss);

/** ln sum_j p[j] exp(s loss_j), from <= j < to; -inf for none, +inf when it does not fit.  Spoils `tilted`. */
double pn_law_log_mgf(const pn_law *law, double s, size_t from, size_t to);

/** tilted[j] = p[j] exp(s loss_j - log_scale), j < to. */
void pn_law_tilt(pn_law *law, double s, double log_scale, size_t to);

#endif
