/* second_order_run.h -- the state of a run of second-order descent, and what its phases do.  Private to second_order.c
 * and second_order_phase.c.
 * Depends on: second_order.h, least_eigen.h, line_search.h.  Used by: second_order.c, second_order_phase.c. */
#ifndef PN_SOLVERS_SECOND_ORDER_RUN_H
#define PN_SOLVERS_SECOND_ORDER_RUN_H

#include "oracle/second_order/line_search.h"
#include "solvers/second_order/second_order.h"

/* What is released in a phase, and what for. */
typedef struct so_phase {
    size_t number; /* from 0 */
    so_noise noise;
    pn_model_release *release;
    size_t most; /* iterations that it can have, however it goes */
} so_phase;

typedef enum so_stage {
    SO_VALUE = 0,
    SO_OPEN,
    SO_GRADIENT,
    SO_HESSIAN,
    SO_EIGENPAIR,
    SO_SEARCH,
    SO_NEXT,
    SO_MOVE, /* of the update */
    SO_MADE
} so_stage;

typedef struct so_state {
    pn_state base; /* first */
    so_stage stage;
    pn_allowance allowance;
    bool valued;       /* f(w0) has been released */
    size_t iterations; /* T of a whole run, from the gap */
    so_phase phase;    /* the current one */
    size_t in_phase;   /* iterations of it that were begun */
    pn_line_run *search;
    pn_products *products;
    double *next, *gradient, *direction; /* [dim] */
    double *start;                       /* [dim] of Lanczos */
    double *packed;                      /* NULL for products */
    pn_line_search line;                 /* of this step's direction */
    bool started;                        /* `start` has been drawn */
    double norm, step;                   /* ||g~|| as rounded up; length along `direction` */
    pn_least least;
    const char *kind; /* of this step */
    double value;     /* f before the step; NaN where it may not be shown */
    bool certified;
    const char *ending; /* why the run ends with this step; NULL: it goes on */
    uint64_t records;   /* that this step has looked at so far */
    pn_oracle *ask;     /* of the query that is being made */
} so_state;

static inline const so_plan *so_plan_of(const so_state *self)
{
    return (const so_plan *)self->base.plan;
}

/** The mean loss at the start where the plan pays for it, then T.  A value that has been released is never drawn
 *  again. */
pn_status so_take_value(so_state *self, pn_err *err);
/** Noise, prices and releases of the first phase.  Errors: PN_EBUDGET where not even one iteration fits. */
pn_status so_first_phase(so_state *self, pn_err *err);
/** After an iteration: another, another phase, or the end. */
pn_status so_next(so_state *self, pn_err *err);
/** The run ends with this step: `moves` first, or as it stands. */
void so_finish(so_state *self, const char *why, bool moves);
/** Why a run ends whose point never passed: without privacy there is no budget, and T iterations are all. */
const char *so_out_of_iterations(const so_state *self);

#endif
