/* pair.h -- privacy loss random variables by their tails.
 * A pair (P, Q) of laws dominates a mechanism when no two neighbouring data sets are easier to tell apart than P from Q.  Its
 * privacy loss is L = ln(dP/dQ); all that accounting needs are the masses of {L <= l} under both.
 * Depends on: libc.  Used by: event.h, the PLD accountant.  Spec: accounting.md section 5. */
#ifndef PN_PRIVACY_PAIR_H
#define PN_PRIVACY_PAIR_H

/* Masses of {L <= l} and {L > l}; the smaller of each two has full relative accuracy. */
typedef struct pn_tails {
    double p_below, q_below, p_above, q_above;
} pn_tails;

typedef struct pn_pair pn_pair;
struct pn_pair {
    void (*tails)(const pn_pair *self, double loss, pn_tails *out);
    double low, high;     /* all mass is in [low, high]; infinite where it is not bounded */
    double p_infinite;    /* mass of L = +inf under P */
    double parameters[4]; /* what `tails` needs */
};

#endif
