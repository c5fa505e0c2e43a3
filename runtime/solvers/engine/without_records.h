/* without_records.h -- runs whose answer no record has a part in: sensitivity 0, no release, no noise, price 0.
 * Depends on: solver.h.  Used by: solver.c, run.c, plan_print.c, model.c. */
#ifndef PN_SOLVERS_WITHOUT_RECORDS_H
#define PN_SOLVERS_WITHOUT_RECORDS_H

#include "solvers/engine/solver.h"

/* What such a plan has beside the others'.  Its own request says PN_NONPRIVATE, since nothing is released, and its own
 * objective is a stand-in that holds no record: that no bit of the answer depends on the records needs no further
 * proof. */
struct pn_without_records {
    pn_request asked;
    pn_objective *objective; /* kept: the one that was asked for */
    pn_objective *stand_in;  /* owned */
    pn_dataset *data;        /* owned: as many records, all zero */
};

/** Why no record has a part in what `solver` would release of the objective, as a clause; NULL when one may have. */
const char *pn_without_records_why(const pn_solver_ops *solver, const pn_objective *objective);

/** The plan for what is left of the objective, its regulariser over its set.
 *  Arguments and errors as a solver's `plan`. */
pn_status pn_without_records_plan(pn_plan **out, const pn_solver_ops *solver, pn_objective *objective,
                                  const pn_request *request, const pn_arg *common, const pn_arg *own, const char *why,
                                  pn_err *err);
void pn_without_records_free(pn_without_records *self);

#endif
