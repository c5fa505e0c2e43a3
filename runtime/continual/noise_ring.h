/* noise_ring.h -- the noise w_t = K_t - round(sum_j c_j w_j) of factorizations with bands, from a ring of the
 * increments w_j that a row of C still looks back at.
 * Depends on: factored_prefix.h.  Used by: banded_prefix.c, matrix_prefix.c. */
#ifndef PN_CONTINUAL_NOISE_RING_H
#define PN_CONTINUAL_NOISE_RING_H

#include "continual/factored_prefix.h"

/** The sum of `size` products c_j w_j is off by at most so many times sum |c_j| max |w_j|. */
double pn_ring_error(size_t size);

/**
 * Leaf step->t in whole steps of `length`, and its noise: adds length (m_t + w_t) to step->prefix.
 *   ring  [size * step->stride]: w_j in row (j - 1) mod size, of the last `size` before t; w_t takes the oldest's row.
 *   c     [min(t - 1, size)]: the coefficient of each row.
 */
void pn_ring_push(const pn_prefix_step *step, double length, double *ring, size_t size, const double *c);

#endif
