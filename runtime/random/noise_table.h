/* noise_table.h -- constants of the Gaussian and Laplace samplers, as integers from noise_table.py.
 * Depends on: libc.  Used by: noise*.c, noise_sampler.h, the written noise_table_*.c.  Spec: noise.md section 5. */
#ifndef PN_RANDOM_NOISE_TABLE_H
#define PN_RANDOM_NOISE_TABLE_H

#include <stdint.h>

#define PN_NOISE_BODY 256 /* bins of sigma/64 up to 4 sigma */
#define PN_NOISE_BINS 832 /* and up to 13 sigma */

typedef struct pn_wide { /* 128 bits */
    uint64_t high, low;
} pn_wide;

#ifdef __GNUC__
#pragma GCC visibility push(hidden) /* so that position-independent code reads them without a detour */
#endif
extern const uint8_t pn_noise_slots[8192];
extern const uint16_t pn_noise_low[PN_NOISE_BODY];
extern const uint32_t pn_noise_high[PN_NOISE_BODY];
extern const pn_wide pn_noise_peaks[PN_NOISE_BINS];
extern const pn_wide pn_noise_tail_ends[PN_NOISE_BINS - PN_NOISE_BODY];
extern const uint16_t pn_noise_laplace_low[256], pn_noise_laplace_high[256];
extern const uint8_t pn_noise_laplace_whole[2048];
extern const pn_wide pn_noise_laplace_powers[8];
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
