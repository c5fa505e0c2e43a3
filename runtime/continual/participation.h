/* participation.h -- how far a record that is in several leaves can move C r, for any lower-triangular C.  Numbers
 * only: no data, no noise.  (Of Toeplitz C with falling coefficients: pn_toeplitz_sensitivity.)
 * Depends on: core/.  Used by: matrix_prefix.c, tests.  Source: Choquette-Choo et al. (2023). */
#ifndef PN_CONTINUAL_PARTICIPATION_H
#define PN_CONTINUAL_PARTICIPATION_H

#include <stddef.h>

#include "core/status.h"
#include "core/view.h"

typedef struct pn_participation {
    double certified; /* no record moves C r by more, in l2 */
    double attained;  /* some record moves it by so much, up to rounding: the two agree where the bound is exact */
} pn_participation;

/**
 * Of records in at most q leaves, any two at least b apart, each moved by at most 1 in l2.
 *   c      T x T, T >= 1, lower triangular, finite, entries up to 2^64; c[t][i] = 0 for t - i >= bands >= 1.
 *   q, b   >= 1.
 * Exact for q <= 2, for bands <= 2 b, and for falling Toeplitz coefficients >= 0; otherwise an upper bound.
 * O(T bands (bands + q)) time, O(T (bands + q)) memory.
 * Errors: PN_ENOMEM; of pn_stop_asked.
 */
pn_status pn_participation_sensitivity(pn_participation *out, pn_mat c, size_t bands, size_t q, size_t b, pn_err *err);

#endif
