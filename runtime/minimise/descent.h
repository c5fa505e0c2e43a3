/* descent.h -- the minimum of a smooth convex function over a set or all of R^p, or of its sum with one that has a
 * proximal map, to a certificate, by accelerated projected or proximal gradients: the common part of solve.exact and of
 * solvers that minimise inside.
 * Depends on: geometry, core.  Used by: exact.c, perturbed_minimum.c.
 * Source: Beck, Teboulle (2009), FISTA; O'Donoghue, Candes (2015), gradient restart; Nesterov (2004), section 2.2 for
 * the constant momentum; Jaggi (2013), the duality gap. */
#ifndef PN_MINIMISE_DESCENT_H
#define PN_MINIMISE_DESCENT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "geometry/convex/set.h"
#include "geometry/prox/prox.h"

typedef struct pn_descent {
    const char *owner; /* what messages start with: "solve.exact" */
    const char *label; /* of progress */
    /* The gradient at x[p]; refuses one that is no number. */
    pn_status (*gradient)(void *self, const double *x, double *gradient, pn_err *err);
    void *self;
    const pn_set *set; /* NULL: R^p.  Without a projection: plain Frank-Wolfe */
    /* Of a convex h that is added to the function of `gradient`, the set's indicator included: steps take it in place
     * of the projection, and the certificate is that of `residual`.  NULL: the set alone. */
    const pn_prox *prox;
    size_t p;
    /* Known bounds on the Hessian's eigenvalues, 0 < strong_convexity <= smoothness: steps of 1/smoothness and constant
     * momentum, whose error falls by 1 - sqrt(strong_convexity/smoothness) a step.
     * smoothness 0: backtracking and restarts. */
    double strong_convexity, smoothness;
    double tolerance; /* of the Frank-Wolfe gap <g, x> + max <-g, s>; on R^p of ||g||_2 */
    /* Over a set with a projection: the tolerance is of ||g(x) + M (z - x)||_2 instead, where x = P(z), or prox(z), was
     * the last step, of size 1/M.  M (z - x) is a subgradient of the indicator, or of h, at x, so with m the strong
     * convexity x is within the norm/m of the minimum and within the norm^2/(2 m) of its value, whatever M is. */
    bool residual;
    size_t most_steps;
    bool smooth; /* for the message when no step decreases f */
    pn_task *task;
    bool quiet; /* tell nobody of progress, whose course depends on the data; a cancel is looked for all the same */
} pn_descent;

/** PN_ECANCELLED after a cancel; says nothing to the listener.  NULL allowed. */
pn_status pn_look_for_cancel(const pn_task *task, const char *owner, pn_err *err);

/**
 * Descend from x[p] (in the set) until the certificate is met; *reached says whether it was within most_steps,
 * *certificate its last value.  x[p] is where it ended.
 * Errors: PN_ENUMERIC when no step size decreases f; PN_ENOMEM; PN_ECANCELLED; what the gradient and the set fail with.
 */
pn_status pn_descend(const pn_descent *how, double *x, double *certificate, bool *reached, pn_err *err);

#endif
