/* perturbation.h -- objective perturbation with a masked minimiser, as the two draws that are paid for together: the
 * linear term b, which never leaves, and the noise on what the solver found.  The counterpart of pn_mechanism_release
 * for a release whose computation stands between its draws.
 *
 * Why two.  The minimiser for a continuous b is private by itself (perturbed_objective.h), but no computer has it: b is
 * drawn on a lattice and the solver stops early.  Published in thought,
 * it leaves an offset of norm at most a on either data set,
 *     a = offset + sqrt(dim) step_b / (2 Lam),   step_b = sigma 2^-40,
 * since the minimiser moves by at most ||change of b||/Lam; noise sigma_out hides it as a query of sensitivity 2a
 * (Iyengar et al. 2019).
 * Depends on: mechanism.h, event.h, ledger.h, random/.  Used by: solvers.  See perturbation.md section 3,
 * noise.md section 3. */
#ifndef PN_PRIVACY_PERTURBATION_H
#define PN_PRIVACY_PERTURBATION_H

#include <stddef.h>

#include "core/status.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"

/* All public, fixed before the data are looked at. */
typedef struct pn_perturbation_options {
    size_t dim;
    double sigma;            /* of each entry of b */
    double sensitivity;      /* of the sum of gradients: 2L, under zero_out L */
    double jacobian;         /* ln(1 + beta/Lam) */
    double strong_convexity; /* Lam > 0 */
    double offset;    /* bound on the l2 distance from what is handed in to the minimiser for the b as drawn, > 0 */
    double sigma_out; /* of the noise on each entry of the answer; 0: none, no guarantee, simulated runs only */
    double bound;     /* on every |entry| of what is handed in, > 0 */
    pn_neighbours neighbours;
    double delta; /* 0: events that add up with others; else one, the (epsilon, delta) of their loss distribution */
} pn_perturbation_options;

/** The l2 sensitivity that the second release is charged, the rounding to its lattice included. */
double pn_perturbation_masked(const pn_perturbation_options *options);

/** What both draws cost: compose(objective_perturbation, gaussian); the first alone without noise on the answer.  With
 *  options->delta that at its price by accountant "pld", as one event approximate.
 *  Errors: PN_EINVAL for numbers outside [2^-900, 2^900]; PN_EUNSUPPORTED under add_remove; PN_ENOMEM. */
pn_status pn_perturbation_event(pn_event **out, const pn_perturbation_options *options, pn_err *err);

/* One release that has been paid for and not yet made. */
typedef struct pn_perturbation pn_perturbation;

/**
 * Check, charge the event once, then draw b.
 *   linear[dim]  receives b: as private as the data.  Nothing that depends on it may leave but through
 *                pn_perturbation_release.
 *   label        what the report says.     rng  kept until the release.
 * Errors: as pn_mechanism_release, all before the charge and the first draw; PN_EINVAL, PN_ENOMEM; PN_EPRIVACY without
 * noise on the answer unless the stream is seeded and the ledger a teaching one.
 * Privacy: pn_perturbation_event.
 */
pn_status pn_perturbation_open(pn_perturbation **out, const pn_perturbation_options *options, pn_ledger *ledger,
                               const char *label, pn_rng *rng, double *linear, pn_err *err);

/** out[dim] = point[dim] + noise; `point` is within `offset` of the minimiser.  Once: afterwards `release` is used up.
 *  Errors: PN_EBUDGET the second time; PN_EPRIVACY in a forked child; PN_EDOMAIN for what is not finite or beyond the
 *  bound.  Untouched on failure. */
pn_status pn_perturbation_release(pn_perturbation *release, const double *point, double *out, pn_err *err);

/** NULL allowed.  What was paid for and not released stays paid for. */
void pn_perturbation_free(pn_perturbation *release);

#endif
