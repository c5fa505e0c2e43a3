/* curvature.h -- what a run released of its objective's second derivatives, and how precise its last gradient was: how
 * far noise moved its answer follows from these, without another look at the records.
 * Depends on: core, objective.  Used by: run.c, newton.c, model, bindings. */
#ifndef PN_SOLVERS_CURVATURE_H
#define PN_SOLVERS_CURVATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "objective/passes/objective.h"

/* All arrays are in one block, which is owned. */
typedef struct pn_curvature {
    size_t p;
    double *packed;   /* [packed(p)] the Hessian of the mean loss near theta, as released; without r */
    double *diagonal; /* [p] of r's Hessian at theta: smooth regularisers go by coordinate */
    double *slope;    /* [p] r's gradient at theta */
    double *pull;     /* [p] what else the answer balances the gradient of f with: damping, towards the start */
    double deviation; /* of the matrix's noise on its diagonal */
    bool frobenius;   /* beside the diagonal 1/sqrt(2) of that; else as much */
    double gradient;  /* deviation of the noise on each coordinate of the gradient that theta follows from */
    double damping;   /* d: pull = d (theta - start) */
    double clip;      /* of the objective's gradients; 0: none */
} pn_curvature;

/** A copy of `like`, whose diagonal, slope and clip are the objective's at theta[p] (objective NULL: its own).
 *  Errors: PN_ENOMEM; what the regulariser fails with. */
pn_status pn_curvature_new(pn_curvature **out, const pn_curvature *like, const pn_objective *objective,
                           const double *theta, pn_err *err);
void pn_curvature_free(pn_curvature *self); /* NULL allowed */

#endif
