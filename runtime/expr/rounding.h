/* rounding.h -- how far a compiled expression, as computed in doubles,
 * may be from the expression over the real numbers.
 * Depends on: bound.h, program.h (whose accuracy it rests on).  Used by: objective.
 * Source: Higham (2002), Accuracy and Stability of Numerical Algorithms,
 * sections 2.2 and 3.3 (running error analysis). */
#ifndef PN_EXPR_ROUNDING_H
#define PN_EXPR_ROUNDING_H

#include "expr/bound.h"

/* It may look at so many boxes. */
#define PN_ROUNDING_BOXES 3000

/**
 * *out >= |computed - exact| at every point of the domains whose coordinates are doubles; +inf where none could be
 * certified: the expression or a part of it that counts is unbounded, undefined, or takes a branch that rounding may
 * turn.  A bound of at most `enough` is not improved on.  The graph is left as it is.  Deterministic.
 * Errors: PN_EINVAL as pn_bound_range; PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_rounding_of(double *out, const pn_graph *graph, pn_node root, const pn_domain *domains, double enough,
                         pn_task *task, pn_err *err);

#endif
