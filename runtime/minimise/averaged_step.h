/* averaged_step.h -- a proximal step along a known direction, taken into an average of the iterates, in as few passes
 * over the coordinates as the operator allows.  Depends on: composite.h.  Used by: svrg.c, benchmarks. */
#ifndef PN_MINIMISE_AVERAGED_STEP_H
#define PN_MINIMISE_AVERAGED_STEP_H

#include "minimise/composite.h"

typedef struct pn_averaged_step {
    size_t p;
    const double *direction; /* [p] */
    double share;            /* of direction in the gradient */
    const double *v;         /* [p] the rest of it; NULL: 0 */
    const double *y;         /* [p] the snapshot */
    double eta, weight;      /* the step; of the new x in the average */
    double *x, *average;     /* [p] in/out */
    double *next;            /* [p] scratch */
} pn_averaged_step;

/**
 * x <- prox(x - eta (share direction + v + gradient of the smooth part)), average += weight (x - average), *apart = ||x
 * - y||_2.  One pass where the operator is none, l1, l2 squared or an elastic net; else two and its own.  A failure,
 * which only an operator can bring about, leaves x and average as they were.
 * Errors: as pn_composite_step and pn_composite_gradient.
 */
pn_status pn_averaged_step_make(const pn_averaged_step *self, const pn_composite *composite, double *apart,
                                pn_err *err);

#endif
