/* noise_table.h -- constants of the Gaussian, Laplace and level samplers, as integers from noise_table.py.
 * Depends on: libc.  Used by: noise*.c, noise_sampler.h, score_levels.c, the written noise_table_*.c. */
#ifndef PN_RANDOM_NOISE_TABLE_H
#define PN_RANDOM_NOISE_TABLE_H

#include <stdint.h>

#define PN_NOISE_BODY 256 /* bins of sigma/64 up to 4 sigma */
#define PN_NOISE_BINS 832 /* and up to 13 sigma */

typedef struct pn_wide { /* 128 bits */
    uint64_t high, low;
} pn_wide;

#define PN_LEVEL_COUNT 67 /* exp(0) .. exp(-66) */
#define PN_LEVEL_WORDS 5

typedef struct pn_level_mass {
    pn_wide mass;                  /* E = ceil(2^96 exp(-d)) */
    uint64_t kept[PN_LEVEL_WORDS]; /* 2^96 exp(-d)/E, in digits of 64 bits; of d = 0, which keeps all, not used */
} pn_level_mass;

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
extern const pn_level_mass pn_noise_levels[PN_LEVEL_COUNT];
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
