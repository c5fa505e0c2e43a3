/* pld_problem.h -- a question about composed records, and the laws that it is answered with.  Private to privacy/.
 * Depends on: pld.h, pld_side.h.  Used by: pld.c. */
#ifndef PN_PRIVACY_PLD_PROBLEM_H
#define PN_PRIVACY_PLD_PROBLEM_H

#include "privacy/accounting/pld.h"
#include "privacy/accounting/pld_side.h"

typedef struct pn_problem {
    const pn_pld_record *records;
    size_t n;
    double step, delta, epsilon; /* the question: delta, or epsilon when delta is 0 */
    pn_cells *cells;             /* of one side */
    pn_law *laws[2];             /* upper, lower */
    double shift, factor;
    bool apart, drowned;           /* taken apart; rounding is what keeps the bounds apart */
    pn_pld_bounds answer, largest; /* largest: what the largest losses say by themselves */
} pn_problem;

/** Errors: PN_ENOMEM. */
pn_status pn_problem_init(pn_problem *self, pn_err *err);
void pn_problem_clear(pn_problem *self);

/** The upper and the lower side, with knots, parts, tilts and periods, of P against Q or (mirrored) Q against P.  at: a
 *  guess at epsilon, or 0.  *needless: this direction costs less than self->answer; then nothing is made.
 *  Errors: PN_ENOMEM. */
pn_status pn_problem_make_sides(pn_problem *self, pn_side sides[2], bool mirrored, double at, bool *needless,
                                pn_err *err);

#endif
