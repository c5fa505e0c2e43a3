/* pair.h -- privacy loss random variables by their tails.
 * A pair (P, Q) of laws dominates a mechanism when no two neighbouring data sets are easier to tell apart than P from
 * Q.  Its privacy loss is L = ln(dP/dQ); all that accounting needs are the masses of {L <= l} under both.
 * Depends on: libc.  Used by: event.h, the PLD accountant.  See accounting.md section 5. */
#ifndef PN_PRIVACY_PAIR_H
#define PN_PRIVACY_PAIR_H

#include <stdbool.h>

/* Masses of {L <= l} and {L > l}; the smaller of each two has full relative accuracy.  {L > l} holds L = +inf. */
typedef struct pn_tails {
    double p_below, q_below, p_above, q_above;
} pn_tails;

typedef struct pn_pair pn_pair;
struct pn_pair {
    void (*tails)(const pn_pair *self, double loss, pn_tails *out);
    double low, high;     /* all mass is in [low, high]; infinite where it is not bounded */
    double p_infinite;    /* mass of L = +inf under P */
    double q_infinite;    /* mass of L = -inf under Q */
    double parameters[4]; /* what `tails` needs, and ... */
    const void *law;      /* ... the outcomes that it looks up; borrowed, NULL for none */
    double p_high;        /* mass of the atom L = high under P, 0 for none; then there may be one at `low` too */
    bool atoms_only;      /* no mass but at `low` and `high` */
};

/* Each fills *out; parameters are finite and positive, rates in (0, 1). */

/** Gaussian noise, sensitivity/sigma = mu: L ~ N(mu^2/2, mu^2). */
void pn_pair_gaussian(pn_pair *out, double mu);
/** Laplace noise, sensitivity/scale = e. */
void pn_pair_laplace(pn_pair *out, double e);
/** Randomised response: dominates every e-DP mechanism. */
void pn_pair_pure(pn_pair *out, double e);
/** Dominates every mechanism of bounded range e: the upper envelope over t in [0, e] of the pairs with losses t and t -
 *  e.  P(L > l) = (1 - exp((l-e)/2)) / (1 - exp(-e)), hockey stick (1 - sqrt(x exp(-e)))^2 / (1 - exp(-e)). */
void pn_pair_bounded_range(pn_pair *out, double e);
/** 4a: Poisson sampling at rate q of a Gaussian with sigma / (one record's contribution) = z, add_remove or zero_out.
 *  out[0] is the direction of removing a record, out[1] that of adding one: P and Q exchanged. */
void pn_pair_poisson(pn_pair out[2], double q, double z);
/** 4b: q = batch/n without replacement, replace_one; z = sigma / (replace-one sensitivity of the batch query). */
void pn_pair_fixed(pn_pair *out, double q, double z);
/** 4c: Poisson sampling, replace_one; z = sigma / (norm bound of one record). */
void pn_pair_poisson_replace(pn_pair *out, double q, double z);

#endif
