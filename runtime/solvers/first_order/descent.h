/* descent.h -- the plan that gradient_descent and sgd share: steps along a mean gradient with noise, then a proximal
 * step.
 * Depends on: first_order.h, gradient_noise.h, schedule.h.  Used by: descent.c, descent_response.c,
 * gradient_descent*.c, sgd*.c. */
#ifndef PN_SOLVERS_DESCENT_H
#define PN_SOLVERS_DESCENT_H

#include "oracle/gradient_noise.h"
#include "solvers/engine/first_order.h"
#include "solvers/engine/schedule.h"

#define PN_DESCENT_TAIL 8.0 /* by default, of smooth losses */

/* Which point is the answer, and their names. */
typedef enum pn_descent_output {
    PN_DESCENT_AUTO = 0,
    PN_DESCENT_LAST,
    PN_DESCENT_AVERAGE,
    PN_DESCENT_RANDOM,
    PN_DESCENT_BEST
} pn_descent_output;
extern const char *const pn_descent_outputs[];

typedef struct pn_descent {
    pn_plan base; /* first */
    pn_gradient_noise noise;
    pn_first_order problem;
    pn_schedule step;
    double momentum; /* beta: the next gradient is taken beta times the last step further on */
    pn_descent_output output;
    double tail; /* the average weighs point t of T like t^tail */
    /* the loss has kinks: the average is of the points at which gradients were taken, not of those after */
    bool subgradient;
} pn_descent;

/** The weights of the average, `usual` by default.  Errors: PN_EINVAL for `tail` where the answer is none. */
pn_status pn_descent_check(pn_descent *self, const pn_arg *tail, double usual, pn_err *err);
/** Errors: PN_EINVAL for momentum on a loss with kinks. */
pn_status pn_descent_need_smooth(const pn_descent *self, bool kinks, pn_err *err);
/** Lines. */
void pn_descent_explain_momentum(pn_descent *self, const pn_arg *given);
void pn_descent_explain_output(pn_descent *self);
/** pn_solver_ops.respond (descent_response.c). */
pn_status pn_descent_respond(const pn_plan *plan, double loss, double regular, pn_response *out, pn_err *err);

#endif
