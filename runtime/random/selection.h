/* selection.h -- exact private selection over integer scores: no logarithm of a double decides a private choice.
 * Not constant time: how long a draw takes depends on the scores, which are secret, and on the noise.  Who can time
 * single draws learns something about both; that is outside the guarantee.
 * Depends on: rng.h.  Used by: privacy/ (the selection mechanisms).  See noise.md sections 6 and 7. */
#ifndef PN_RANDOM_SELECTION_H
#define PN_RANDOM_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random/rng.h"

__extension__ typedef unsigned __int128 pn_u128;

/* epsilon as mantissa * 2^-exponent, so that every exponent of a coin is an exact rational. */
typedef struct pn_dyadic {
    uint32_t mantissa; /* < 2^20 */
    unsigned exponent; /* <= 60 */
} pn_dyadic;

/** The largest representable value <= x (20 significant bits); x in [2^-40, 2^10].  {0,0} below 2^-40 and for NaN; at
 *  most 2^20 - 1. */
pn_dyadic pn_dyadic_floor(double x);
double pn_dyadic_value(pn_dyadic x);

/** epsilon / (2 shift), in lowest powers of two, so that most denominators fit one word. */
typedef struct pn_rate {
    uint64_t num; /* < 2^20 */
    pn_u128 den;  /* < 2^116 */
} pn_rate;

pn_rate pn_rate_of(pn_dyadic epsilon, uint64_t shift);

/** Uniform in [0, n), n >= 1. */
pn_u128 pn_below_wide(pn_rng *rng, pn_u128 n);

/** true with probability exp(-num/den) exactly (for a uniform stream); den >= 1 and den < 2^120. */
bool pn_bernoulli_exp(pn_rng *rng, pn_u128 num, pn_u128 den);

/** K with P(K = k) proportional to exp(-|k| num/den) exactly; num >= 1, 1 <= den < 2^120.  Beyond +-2^62 it is cut to
 *  that.  Source: Canonne, Kamath, Steinke (2020), Algorithm 2, but the sign is drawn first (negative numbers have
 *  exp(-num/den) times the chance of the others, and -1 - K among them has the law of K among the others). */
int64_t pn_discrete_laplace(pn_rng *rng, uint64_t num, pn_u128 den);

/* Laws.  Candidate i has integer score scores[i] (larger is better, |score| <= 2^52), which one record moves by at most
 * `shift` units.  With g_i = epsilon (max score - score_i) / (2 shift):
 *   exponential       P(i) proportional to exp(-g_i); epsilon-DP and epsilon-bounded-range
 *   laplace           report noisy max with discrete Laplace noise of rate epsilon/(2 shift) per unit; ties go to the
 *                     lowest index; epsilon-DP
 * and in score_levels.h, as the exponential one of many candidates is:
 *   permute_and_flip  visit in random order, accept with exp(-g_i) (= report noisy max with exponential noise);
 *                     epsilon-DP
 * count >= 1; 1 <= shift <= 2^54; epsilon {0,0} chooses uniformly.  O(count) time (on average for the exponential law)
 * and no memory. */
size_t pn_select_exponential(pn_rng *rng, const int64_t *scores, size_t count, pn_dyadic epsilon, uint64_t shift);
size_t pn_select_laplace(pn_rng *rng, const int64_t *scores, size_t count, pn_dyadic epsilon, uint64_t shift);

#endif
