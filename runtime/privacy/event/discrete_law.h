/* discrete_law.h -- privacy losses of finitely many outcomes: their Renyi divergences and loss pairs.
 * Private to privacy/.  Depends on: pair.h, core/.  Used by: event_loss.c, tests.
 *
 * Two laws P and Q on the same outcomes, as the losses l = ln(p/q) with their masses.  What only P can give has the
 * loss +inf, what only Q can give the loss -inf. */
#ifndef PN_PRIVACY_DISCRETE_LAW_H
#define PN_PRIVACY_DISCRETE_LAW_H

#include <stddef.h>

#include "core/status.h"
#include "privacy/event/pair.h"

#define PN_OUTCOMES_MAX 65536

typedef struct pn_outcome {
    double loss, p, q; /* finite; p > 0, q = p exp(-loss) as far as it is a double */
} pn_outcome;

typedef struct pn_discrete_law {
    size_t n;             /* different finite losses, at least 1 */
    pn_outcome *outcomes; /* [n], losses increasing */
    pn_tails *tails;      /* [n + 1]: of the first k outcomes and of the rest */
    double p_infinite, q_infinite;
    bool both; /* both orders of the neighbours have to be looked at; otherwise P against Q stands for both */
} pn_discrete_law;

/** p[n], q[n]: the probabilities of the same outcomes under two neighbours.  Sums within 1e-9 of 1; what is missing is
 *  an outcome that the other neighbour never gives.  Errors: PN_EINVAL, PN_EDIM; PN_ENOMEM. */
pn_status pn_discrete_from_laws(pn_discrete_law *out, const double *p, const double *q, size_t n, pn_err *err);
/** probabilities[n] of losses[n] under P, and delta of +inf; what is missing to 1, at most 1e-9, is added to delta.
 *  Errors: as above, also where no law Q has such losses. */
pn_status pn_discrete_from_losses(pn_discrete_law *out, const double *losses, const double *probabilities, size_t n,
                                  double delta, pn_err *err);
void pn_discrete_clear(pn_discrete_law *law);

/** The Renyi divergence of order alpha in (1, inf], the larger of both orders of the neighbours where both count;
 *  rounded upward; +inf where a loss is. */
double pn_discrete_rdp(const pn_discrete_law *law, double alpha);
/** rho with pn_discrete_rdp <= rho alpha at every order: range^2/8, and never more than the largest loss. */
double pn_discrete_zcdp(const pn_discrete_law *law);

/** As pn_event_ops.pairs; `law` is borrowed. */
size_t pn_discrete_pairs(const pn_discrete_law *law, bool attained, pn_pair pairs[2]);

#endif
