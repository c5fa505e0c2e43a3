/* fft.h -- the discrete Fourier transform of complex doubles, by KISS FFT.
 * Depends on: core/status.h; KISS FFT and the C++ runtime inside.  Used by: privacy (accountants). */
#ifndef PN_NUMERIC_FFT_H
#define PN_NUMERIC_FFT_H

#include <stddef.h>

#include "core/status.h"

typedef struct pn_fft pn_fft;

/** A plan for n points, n >= 1.  Fast when n has no prime factor above 5.  Its tables come from the C++ heap, not from
 *  pn_alloc.  Errors: PN_ENOMEM. */
pn_status pn_fft_new(pn_fft **out, size_t n, pn_err *err);
void pn_fft_free(pn_fft *plan);

/** out[k] = sum_j in[j] exp(-2 pi i jk/n); real and imaginary parts alternate, 2n doubles each, `out` is not `in`.
 *  The error is taken to be at most 2^-49 log2(n) of the result in the Euclidean norm: more than twice what Higham
 *  (2002), Theorem 24.2, gives for radix 2 with twiddle factors right to the last digits.
 *  The library itself is not proven.
 *  Errors: PN_ENOMEM. */
pn_status pn_fft_run(const pn_fft *plan, const double *in, double *out, pn_err *err);

/** The smallest n' >= n of the form 2^a, 3 2^a or 5 2^a. */
size_t pn_fft_size(size_t n);

#endif
