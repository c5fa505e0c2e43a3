/* lbfgs.h -- minima of smooth functions of a few numbers, by L-BFGS with a weak Wolfe line search.
 * The same numbers on every run, but for a task that stops it.
 * Depends on: core/.  Used by: continual/toeplitz_best.c.
 * Sources: Nocedal & Wright (2006), Algorithm 7.4; Lewis & Overton (2013) for the line search. */
#ifndef PN_NUMERIC_LBFGS_H
#define PN_NUMERIC_LBFGS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* What a search may still do, and whether its task has stopped it. */
typedef struct pn_lbfgs_work {
    double left;       /* multiplications */
    size_t unasked;    /* since the last look at the task */
    pn_status stopped; /* by the task: as pn_stop_asked */
    pn_err *err;
} pn_lbfgs_work;

/** Count `more` multiplications.  False: there are none left, or the task has ended; then give up the value. */
bool pn_lbfgs_worked(pn_lbfgs_work *work, size_t more);

typedef struct pn_lbfgs_problem {
    size_t n; /* >= 1 */
    /* The value at x[n] and its gradient[n]; INFINITY outside the domain, or where it was given up. */
    double (*value)(void *self, const double *x, double *gradient);
    void *self;
    pn_lbfgs_work *work; /* that value() counts in */
} pn_lbfgs_problem;

/** x[n]: the start, and then a point where no slope is above 1e-10 or no step gains 1e-14 any more, or the best after
 *  600 steps or all the work.  Memory of 53 vectors.  Errors: PN_ENOMEM; of the task, and x is then the best so far. */
pn_status pn_lbfgs(const pn_lbfgs_problem *problem, double *x, pn_err *err);

#endif
