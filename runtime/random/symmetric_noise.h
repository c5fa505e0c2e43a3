/* symmetric_noise.h -- a symmetric matrix of Gaussian numbers that is stored, or drawn again whenever it is needed.
 * Its columns (from the top to the diagonal) come in blocks, each from its own address of a keyed stream.  Doubles from
 * a transform: FOR SIMULATIONS ONLY, never a private release (mechanisms are).
 * Depends on: address.h, rng.h, numeric/symmetric.h.  Used by: solvers (products without a stored Hessian).
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM. */
#ifndef PN_RANDOM_SYMMETRIC_NOISE_H
#define PN_RANDOM_SYMMETRIC_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/task.h"
#include "random/address.h"

typedef struct pn_symmetric_noise {
    pn_address_key key; /* simulated keys only */
    uint64_t query;     /* never the same for two matrices of one key */
    size_t n;
    bool frobenius; /* off-diagonal entries of variance 1/2 instead of 1 */
} pn_symmetric_noise;

/** packed[n (n + 1)/2] = E.  Errors: PN_EPRIVACY for a key that is not simulated; PN_EDIM for an n that is 0 or has no
 *  packed matrix; PN_ENOMEM. */
pn_status pn_symmetric_noise_fill(const pn_symmetric_noise *self, double *packed, pn_err *err);
/** y[n] += scale E x, E drawn block by block and forgotten: n (n + 1)/2 draws, memory for a few blocks.  The same E as
 *  of fill, bit for bit, and the same y whatever the number of threads.  y is not x, and untouched on failure.
 *  Errors: as above; PN_ECANCELLED. */
pn_status pn_symmetric_noise_times(const pn_symmetric_noise *self, double scale, const double *x, double *y,
                                   pn_task *task, pn_err *err);

#endif
