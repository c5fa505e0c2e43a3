/* noise.h -- noise that survives the computer: exact integers on a fine lattice, added to integers.
 * A release turns each value into a whole number of steps, adds a discrete Gaussian or Laplace integer, and multiplies
 * once by the public step; what a double can or cannot represent then says nothing about the data (Mironov 2012).
 *
 * Not constant time: time depends on rejected words, which are independent of the accepted values but for the 2 % of
 * draws that need a closer look.  Draw whole vectors; whoever can time single draws is outside the guarantee.
 * Depends on: rng.h.  Used by: privacy/, continual/.  See noise.md sections 3 to 6. */
#ifndef PN_RANDOM_NOISE_H
#define PN_RANDOM_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "random/rng.h"

#define PN_LATTICE_BITS 40 /* S = 2^40 steps in one standard deviation, or one Laplace scale */

/* How far the sampled law is from the rounded continuous one, per scalar draw.  N Gaussian draws add 2 N eta to
 * epsilon and, for the cut, a little to delta (privacy/event/event.h, pn_slack);
 * N Laplace draws add 2 N of their own eta. */
#define PN_GAUSSIAN_ETA  0x1p-76
#define PN_GAUSSIAN_TAIL 0x1p-125
#define PN_GAUSSIAN_CUT  13.0 /* standard deviations */
/* Of Laplace, 2^-90 for the comparisons, and for curves of the continuous law 2 ln cosh(2^-41) < 2^-82: event_pure.c,
 * steps. */
#define PN_LAPLACE_ETA 0x1p-82

/** out[n]: independent K with P(K = k) proportional to exp(-k^2 / 2^81), cut at |k| <= 13 * 2^40.  The same seed gives
 *  the same integers on every platform and however a vector is cut into calls.
 *  Source: rejection by a table of exact weights, of the library. */
void pn_noise_gaussian(pn_rng *rng, size_t n, int64_t *out);

/** As pn_noise_gaussian, but without its two small errors: the exact law by Canonne, Kamath, Steinke (2020), Algorithm
 *  3, some thirty times slower.  From +-2^62 on (exp(-2^43): never seen) it is drawn again. */
void pn_noise_gaussian_exact(pn_rng *rng, size_t n, int64_t *out);

__extension__ typedef __int128 pn_steps; /* a whole number of steps */

/** out[n]: independent K with P(K = k) proportional to exp(-|k| / (w 2^40)), 1 <= w < 2^20; capped at |k| = 2^62. */
void pn_noise_laplace(pn_rng *rng, uint32_t w, size_t n, int64_t *out);

/** k of pn_noise_laplace without the cap: a number at it goes on like one that is not negative, since |K| has no
 *  memory.  Values that are carried further than the cap need it: with capped noise an outcome there could be out of
 *  reach for one of two neighbours. */
pn_steps pn_noise_laplace_uncapped(pn_rng *rng, uint32_t w, int64_t k);

/** One K with P(K = k) proportional to exp(-k^2 den / (2 num)), exactly; sigma^2 = num/den, 1 <= num, den < 2^31.  The
 *  reference of the tests.  Source: Canonne, Kamath, Steinke (2020), Algorithm 3. */
int64_t pn_discrete_gaussian(pn_rng *rng, uint32_t num, uint32_t den);

/* ---- the lattice ---- */

/* Where releases cut their values, in steps: 2^85 scales of the noise.  Two of them and noise fit pn_steps.
 *
 * Why cut at all, and why not refuse: a lattice of 128 bits ends somewhere, and whether a value lies beyond its end
 * depends on the records.  A refusal would tell that, for nothing; a cut to a public number moves no two values apart,
 * so that the price stands.  A cut is wrong without a word, so the range is one that no use meets: from 2^53 scales on
 * the last bit of a double is larger than the noise, and the range is 2^32 times that.  What does not depend on the
 * records is refused instead: a bound, or a threshold, beyond pn_lattice_reach.  What is printed of a mechanism and of
 * a stream names the range, before anything is paid. */
#define PN_LATTICE_FARTHEST 0x1p125

/** scale * 2^-40; scale in [2^-900, 2^900]. */
double pn_lattice_step(double scale);

/** The largest |value| that noise of this scale carries: PN_LATTICE_FARTHEST steps. */
double pn_lattice_reach(double scale);

/**
 * Sensitivity of the rounded query, rounded upward: what the accountant is charged.
 *   sensitivity  of the exact query, > 0, l2 (respectively l1).      scale  sigma (respectively b).
 *   n            number of values.                                   bound  public bound on every |value|;
 *                INFINITY for none:
 *                                                                    from 2^62 steps on rounding is exact,
 *                                                                        and errs less.
 *   roundings    1 when the values come as doubles, 4 when they come from integer sums, which are converted,
 *                multiplied and divided on the way.
 */
double pn_lattice_l2(double sensitivity, double scale, size_t n, double bound, int roundings);
double pn_lattice_l1(double sensitivity, double scale, size_t n, double bound, int roundings);

/** round(clamp(x / step, +-limit)), ties to even; limit <= 2^62.  x is not NaN. */
int64_t pn_lattice_round(double x, double step, double limit);

/** The same with a limit up to PN_LATTICE_FARTHEST: pn_lattice_round's number below 2^62,
 *  and from there on within 1 of x / step itself. */
pn_steps pn_lattice_round_far(double x, double step, double limit);

/**
 * out[j] = (round(x[j] / step) + K_j) step; K_j of pn_noise_gaussian, of its exact form, of pn_noise_laplace.  x[n],
 * out[n] may be the same array; x holds no NaN (the caller has looked).
 * Privacy: one gaussian (laplace) event with sensitivity pn_lattice_l2 (pn_lattice_l1) and n draws; already charged.
 */
void pn_lattice_gaussian(pn_rng *rng, double sigma, const double *x, size_t n, double *out);
void pn_lattice_gaussian_exact(pn_rng *rng, double sigma, const double *x, size_t n, double *out);
void pn_lattice_laplace(pn_rng *rng, double scale, const double *x, size_t n, double *out);

/**
 * out[j] = (round(x[j] / step) + whole[j] + K_j) step: two queries under one noise, each rounded by itself, so that
 * neither moves the rounding of the other.  whole[n]: pn_lattice_round_far(., step, PN_LATTICE_FARTHEST).
 * Privacy: the sensitivities of both, each with its own rounding.
 */
void pn_lattice_gaussian_sum(pn_rng *rng, double sigma, const double *x, const pn_steps *whole, size_t n, double *out);

#endif
