/* svrg_lazy.h -- inner steps of SVRG without noise, on sparse data: a step touches the coordinates that the batch has
 * entries in, and every other one makes up for the steps that it has missed when it is needed next.
 * Depends on: svrg.h.  Used by: svrg.c, svrg_plan.c. */
#ifndef PN_SOLVERS_SVRG_LAZY_H
#define PN_SOLVERS_SVRG_LAZY_H

#include "solvers/variance_reduced/svrg.h"

typedef struct svrg_lazy svrg_lazy;

/** NULL when the run of a plan can be lazy, else what forbids it, in a few words for people. */
const char *svrg_lazy_obstacle(const svrg_plan *plan);

/** For a plan without obstacle, which must outlive it.  Errors: PN_ENOMEM; those of the set's projection. */
pn_status svrg_lazy_new(svrg_lazy **out, const svrg_plan *plan, pn_err *err);
void svrg_lazy_free(svrg_lazy *self); /* NULL allowed */

/** An epoch of steps of size eta begins: v[p] is the gradient at its snapshot. */
void svrg_lazy_begin(svrg_lazy *self, const double *v, double eta);

/**
 * One inner step: x <- prox(x - eta (batch mean of differences + v)) where the batch has entries; the other coordinates
 * of x[p] stay behind until they are needed.  factors[n]: of the snapshot.  A failure has drawn nothing and moved no
 * coordinate beyond the last step.  O(entries of the batch), times the logarithm of the steps missed where a coordinate
 * changes sign or meets the set.
 * Errors: as pn_objective_record_difference.
 */
pn_status svrg_lazy_step(svrg_lazy *self, const pn_batch *batch, const double *factors, double *x, pn_err *err);

/** False once a coordinate has gone beyond `reach`, or is no number. */
bool svrg_lazy_within(const svrg_lazy *self, double reach);

/** All of x[p] as of the last step, and average[p] of the iterates of this epoch.  O(p). */
void svrg_lazy_finish(svrg_lazy *self, double *x, double *average);

#endif
