/* newton_descent.h -- the minimum over R^p of a smooth convex function plus l1 ||x||_1 by Newton steps: the common part
 * of solve.exact and of solvers that minimise inside. Depends on: objective.  Used by: exact.c.
 * Source: Lee, Sun, Saunders (2014), Proximal Newton-type methods; Yuan, Ho, Lin (2012), newGLMNET; Nocedal,
 * Wright (2006), chapter 7. */
#ifndef PN_MINIMISE_NEWTON_DESCENT_H
#define PN_MINIMISE_NEWTON_DESCENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"

typedef enum pn_verdict {
    PN_GO_ON = 0,
    PN_REACHED, /* what was looked for */
    PN_LEAVE    /* another method is to take it from here: x has left the set, say */
} pn_verdict;

typedef struct pn_newton_descent {
    const char *owner; /* what messages start with: "solve.exact" */
    const char *label; /* of progress */
    /* Of the smooth part at x[p]; one that is no number counts as overshot. */
    pn_status (*gradient)(void *self, const double *x, double *gradient, pn_err *err);
    /* Of a point that was reached, its gradient[p] and the l2 norm of the least subgradient of the whole;
     * *certificate is for progress. */
    pn_status (*judge)(void *self, const double *x, const double *gradient, double subgradient, pn_verdict *verdict,
                       double *certificate, pn_err *err);
    void *self;
    pn_objective *objective; /* the smooth part's Hessian is that of the objective, its regulariser's kinks left out */
    double l1, l2;           /* l2: what the regulariser's Hessian is a multiple of, where l1 > 0 */
    size_t most_steps;
    pn_task *task;
} pn_newton_descent;

/** Whether Newton steps are worth trying: a smooth convex loss with second derivatives, not clipped, and a smooth
 *  regulariser or one that is *l1 ||x||_1 + *l2/2 ||x||^2 (both set, 0 when smooth).  Errors: PN_ENOMEM. */
pn_status pn_newton_suits(const pn_objective *objective, bool *suits, double *l1, double *l2, pn_err *err);

/**
 * From x[p] until the judge's verdict, *verdict, is one, or nothing more is gained: then PN_GO_ON.  x[p] is where it
 * ended, *steps how many there were.  Errors: PN_ENOMEM; PN_ECANCELLED; what the objective,
 * the gradient and the judge fail with.
 */
pn_status pn_newton_descend(const pn_newton_descent *how, double *x, pn_verdict *verdict, size_t *steps, pn_err *err);

#endif
