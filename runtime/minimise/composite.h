/* composite.h -- the public part of a composite objective F + r + indicator of the set, as first-order methods take it:
 * a proximal step for what has kinks, a gradient for what is smooth.  Nothing here depends on records.
 * Depends on: objective, geometry/prox/prox.h.  Used by: first_order.h, solvers.
 * See variance-reduced.md section 8. */
#ifndef PN_MINIMISE_COMPOSITE_H
#define PN_MINIMISE_COMPOSITE_H

#include <stdbool.h>

#include "core/param.h"
#include "geometry/prox/prox.h"
#include "objective/passes/objective.h"

typedef struct pn_composite {
    pn_prox *prox; /* of everything that is taken by a proximal step, the set included; NULL: none */
    /* the objective's regulariser when it has no proximal operator: by its gradient; NULL: none */
    const pn_regulariser *smooth;
    pn_prox *extra;          /* the user's own operator, a part of prox; NULL: none */
    const pn_set *set;       /* the objective's; NULL: none */
    double smoothness;       /* of the part taken by its gradient; 0 for none */
    double strong_convexity; /* certified of r (whichever way it is taken), >= 0 */
} pn_composite;

/* The option that solvers with a proximal step share: a further data-free term given by its operator. */
#define PN_PROX_PARAM                                                                                                  \
    {                                                                                                                  \
        "prox", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, pn_prox_class,                                                    \
            "proximal operator (pn.prox) of a further term without data, besides the objective's regulariser and set"  \
    }
extern const char *const pn_prox_class[];

/**
 * From the objective's regulariser and set and the option `prox` (may be NULL or not given).
 * Clear it also after a failure.
 * Errors: PN_EDIM for an operator of another dimension; PN_EUNSUPPORTED for a regulariser with kinks and no proximal
 * operator, and for a set without projection; PN_ENOMEM.
 */
pn_status pn_composite_open(pn_composite *out, const char *owner, const pn_objective *objective, const pn_arg *prox,
                            pn_err *err);
void pn_composite_clear(pn_composite *composite);

/** x[p] <- prox_{eta (r + extra + indicator)}(x).  A failure leaves x as it was. */
pn_status pn_composite_step(const pn_composite *composite, double *x, size_t p, double eta, pn_err *err);
/** gradient[p] += gradient of the smooth part at x. */
pn_status pn_composite_gradient(const pn_composite *composite, const double *x, size_t p, double *gradient,
                                pn_err *err);
/** For a plan: one line that says what is taken how. */
void pn_composite_describe(const pn_composite *composite, char *text, size_t size);

#endif
