/* raised_quadratic.h -- a quadratic known by a noisy matrix whose eigenvalues are raised above the noise: its damping,
 * and its least point, over R^d in closed form or over a set by accelerated projected gradients.  All that it sees is
 * public, or has been released.
 * Depends on: geometry, core.  Used by: newton*.c.
 * Source: Nocedal, Wright (2006), section 3.4 for raised eigenvalues; Lee, Sun, Saunders (2014), steps over a set;
 * Stein (1981) for the estimate of what noise costs. */
#ifndef PN_MINIMISE_RAISED_QUADRATIC_H
#define PN_MINIMISE_RAISED_QUADRATIC_H

#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "geometry/convex/set.h"

typedef struct pn_raised {
    const char *owner; /* what messages start with */
    size_t dim;
    double *found;   /* [dim] eigenvalues, rising */
    double *values;  /* [dim] raised to the least one */
    double *vectors; /* [dim * dim], one in each row */
    double *part;    /* [dim] */
} pn_raised;

pn_status pn_raised_init(pn_raised *self, const char *owner, size_t dim, pn_err *err);
void pn_raised_clear(pn_raised *self); /* of zeros allowed */
/** A = the packed matrix with eigenvalues below `least` > 0 raised to it.  Errors: those of pn_eigen_symmetric. */
pn_status pn_raised_set(pn_raised *self, const double *packed, double least, pn_err *err);
/** y[dim] = A x. */
void pn_raised_times(pn_raised *self, const double *x, double *y);
/** The same with eigenvalues as they were found, but for half of the least one: what x is predicted to change of the
 *  gradient. */
void pn_raised_predict(pn_raised *self, const double *x, double *y);
/** The d >= 0 with which steps of the quadratic + d ||v - w0||^2/2 are expected to come to the least value, b[dim]
 *  being the gradient at w0 with noise of that variance on each coordinate;
 *  +inf where w0 itself is expected to be no worse. */
double pn_raised_damping(pn_raised *self, const double *b, double variance);
/**
 * next[dim] = argmin of <g, v - w> + <v - w, A (v - w)>/2 over the set (NULL: R^dim).
 * Errors: of the set's projection; PN_EUNSUPPORTED for a set without one; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_raised_minimise(pn_raised *self, const pn_set *set, const double *w, const double *g, double *next,
                             pn_task *task, pn_err *err);

#endif
