/* sample.h -- which records are drawn, and random directions.
 * Coins and indices are exact integers: they carry a privacy proof.  Directions are doubles: they never do.
 * Depends on: rng.h.  Used by: privacy/mechanism/sampler.h, geometry (widths), solvers.  See noise.md section 8. */
#ifndef PN_RANDOM_SAMPLE_H
#define PN_RANDOM_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "random/rng.h"

/** The rate that the coins have: ceil(q 2^64) / 2^64, rounded upward to a double; account with it.  q in [0, 1]. */
double pn_poisson_rate(double q);

/** Each of 0..n-1 with probability pn_poisson_rate(q), independently, in increasing order.
 *  out[n]; returns how many.  q = 1 takes all and tosses no coin.  About 2 bytes of keystream a record. */
size_t pn_sample_poisson(pn_rng *rng, double q, size_t n, size_t *out);

/** `count` different indices below n, every subset equally likely, in increasing order.  out[count]; 1 <= count <= n.
 *  Errors: PN_EDIM for count > n or 0; PN_ENOMEM. */
pn_status pn_sample_without_replacement(pn_rng *rng, size_t n, size_t count, size_t *out, pn_err *err);

/** Entries of scratch that pn_sample_subset needs. */
size_t pn_sample_scratch(size_t n, size_t count);
/** The same subset into out[count], for many draws: scratch[pn_sample_scratch(n, count)] holds zeros, and does again
 *  afterwards.  1 <= count <= n. */
void pn_sample_subset(pn_rng *rng, size_t n, size_t count, size_t *scratch, size_t *out);

/** `count` independent uniform indices below n >= 1. */
void pn_sample_with_replacement(pn_rng *rng, size_t n, size_t count, size_t *out);

/** out[n]: uniform on the unit sphere; uniform in the unit ball.  Doubles: for zeroth-order directions, starts and
 *  widths, never as private noise.  n >= 1. */
void pn_sample_sphere(pn_rng *rng, size_t n, double *out);
void pn_sample_ball(pn_rng *rng, size_t n, double *out);

#endif
