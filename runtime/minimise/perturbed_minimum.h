/* perturbed_minimum.h -- argmin over C of n f(theta) + (weight/2) ||theta - center||^2 + <linear, theta> to a
 * certificate that cannot be missed: Newton steps where they pay, and behind them accelerated gradients with as many
 * steps as the worst case needs.
 * Depends on: objective, descent.h.  Used by: objective_perturbation.c, output_perturbation.c. */
#ifndef PN_MINIMISE_PERTURBED_MINIMUM_H
#define PN_MINIMISE_PERTURBED_MINIMUM_H

#include <stdint.h>

#include "core/status.h"
#include "core/task.h"
#include "objective/passes/objective.h"

typedef struct pn_perturbed_problem {
    const char *owner;       /* what messages start with: "solve.objective_perturbation" */
    const char *label;       /* of progress */
    pn_objective *objective; /* over its set, or R^p */
    const double *linear;    /* [p] */
    const double *center;    /* [p] */
    double weight;           /* of the quadratic term, >= 0 */
    double strong_convexity; /* of the whole, > 0 */
    double smoothness;       /* of the whole; finite */
    double tolerance; /* of the computed certificate: over a set the Frank-Wolfe gap, on R^p the gradient's l2 norm */
    /* over a set: instead of the gap, the norm that pn_descent.residual describes, of a step of 1/smoothness */
    bool residual;
    double most_steps; /* of accelerated gradients: the worst case from the center */
    bool quiet;        /* tell nobody of progress: of private data, whose minimum takes as long as it takes */
} pn_perturbed_problem;

/**
 * theta[p] within the tolerance.  *gradients grows by the per-record gradients that were evaluated.
 * Errors: PN_ENUMERIC when the certificate is missed, which worst-case rates exclude up to rounding; PN_ENOMEM;
 * PN_ECANCELLED; what the objective and the set fail with.
 */
pn_status pn_perturbed_minimum(const pn_perturbed_problem *problem, double *theta, uint64_t *gradients, pn_task *task,
                               pn_err *err);

#endif
