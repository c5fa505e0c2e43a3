/* lazy_steps.h -- proximal steps of variance-reduced gradients without noise, on sparse data: a step touches the
 * coordinates that the batch has entries in, and every other one makes up for the steps that it has missed when it is
 * needed next.
 * Depends on: composite.h.  Used by: svrg.c, svrg_plan.c. */
#ifndef PN_MINIMISE_LAZY_STEPS_H
#define PN_MINIMISE_LAZY_STEPS_H

#include "minimise/composite.h"

typedef struct pn_lazy_steps pn_lazy_steps;

/* Borrowed: what it points to outlives the steps. */
typedef struct pn_lazy_options {
    const char *owner; /* what messages begin with */
    pn_objective *objective;
    const pn_composite *composite;
    size_t batch; /* records of a step */
    size_t most;  /* steps of an epoch, at most */
    double tail;  /* a: iterate t of an epoch weighs like t^a in its average */
} pn_lazy_options;

/** NULL when steps can be lazy, else what forbids it, in a few words for people. */
const char *pn_lazy_obstacle(const pn_lazy_options *how);

/** Where there is no obstacle.  Errors: PN_ENOMEM; those of the set's projection. */
pn_status pn_lazy_new(pn_lazy_steps **out, const pn_lazy_options *how, pn_err *err);
void pn_lazy_free(pn_lazy_steps *self); /* NULL allowed */

/** An epoch of steps of size eta begins: v[p] is the gradient at its snapshot. */
void pn_lazy_begin(pn_lazy_steps *self, const double *v, double eta);

/**
 * One inner step: x <- prox(x - eta (batch mean of differences + v)) where the batch has entries; the other coordinates
 * of x[p] stay behind until they are needed.  factors[n]: of the snapshot.  A failure has drawn nothing and moved no
 * coordinate beyond the last step.  O(entries of the batch), times the logarithm of the steps missed where a coordinate
 * changes sign or meets the set.
 * Errors: as pn_objective_record_difference.
 */
pn_status pn_lazy_step(pn_lazy_steps *self, const pn_batch *batch, const double *factors, double *x, pn_err *err);

/** False once a coordinate has gone beyond `reach`, or is no number. */
bool pn_lazy_within(const pn_lazy_steps *self, double reach);

/** All of x[p] as of the last step, and average[p] of the iterates of this epoch.  O(p). */
void pn_lazy_finish(pn_lazy_steps *self, double *x, double *average);

#endif
