/* stopping.h -- how many times a base mechanism runs before the best of its outputs is told: laws of a secret number K
 * that does not depend on the records.  Private to privacy/ and to who draws K.
 * Depends on: core/status.h, random/rng.h.  Used by: event_selection.c, bindings (pn.tune). */
#ifndef PN_PRIVACY_STOPPING_H
#define PN_PRIVACY_STOPPING_H

#include <stdbool.h>

#include "core/status.h"
#include "random/rng.h"

typedef enum pn_stopping_kind {
    PN_STOP_GEOMETRIC,
    PN_STOP_LOGARITHMIC,
    PN_STOP_NEGATIVE_BINOMIAL,
    PN_STOP_POISSON,
    PN_STOP_KNOWN_TARGET
} pn_stopping_kind;

/** "geometric", "logarithmic", "negative_binomial", "poisson", "known_target"; ended by NULL. */
extern const char *const pn_stopping_names[];

/* The truncated negative binomial law of eta > -1 and 0 < gamma < 1: for k >= 1
 *     P(K = k) = (1 - gamma)^k / (gamma^-eta - 1) prod_{l < k} (l + eta)/(l + 1),    (1 - gamma)^k / (k ln(1/gamma))
 * at eta = 0; geometric is eta = 1, logarithmic eta = 0.  Poisson: K = 0 is possible.  Known target: until a run
 * reaches a public score, given up after each other one with probability gamma; K is then geometric at most. */
typedef struct pn_stopping {
    pn_stopping_kind kind;
    double eta, mean; /* E K; of a known target 1/gamma, the most that it can be */
    double gamma, x;  /* gamma = exp(-x); 0 for Poisson */
} pn_stopping;

/** eta counts for the negative binomial only.  Errors: PN_EINVAL for a mean or an eta out of range, in the words of
 *  `owner`. */
pn_status pn_stopping_make(pn_stopping *out, pn_stopping_kind kind, double mean, double eta, const char *owner,
                           pn_err *err);

/** P(K <= k). */
double pn_stopping_below(const pn_stopping *law, double k);
/** The least k with P(K <= k) >= p, p in [0, 1). */
double pn_stopping_quantile(const pn_stopping *law, double p);
/** The chance that K independent draws see one of the best `fraction` of all configurations. */
double pn_stopping_chance(const pn_stopping *law, double fraction);

/** One coin that comes up with probability gamma, to 2^-64 upward: K of a geometric law or a known target is how often
 *  it is tossed until it does. */
bool pn_stopping_toss(const pn_stopping *law, pn_rng *rng);

#endif
