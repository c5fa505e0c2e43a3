/* simd_tables.h -- the tables that exist in this build.  Private to simd*.c.  Depends on: simd.h. */
#ifndef PN_NUMERIC_SIMD_TABLES_H
#define PN_NUMERIC_SIMD_TABLES_H

#include "numeric/simd/simd.h"

/* A block of at most this many bytes is prefetched one block ahead by dense_add_transposed. */
#define PN_PREFETCH_BYTES ((size_t)256 << 10)
/* How far ahead dense_times fetches: the two kernels of a fused pass then keep the memory busy by turns. */
#define PN_TIMES_AHEAD ((size_t)16 << 10)

extern const pn_simd pn_simd_base;
#if defined(__x86_64__)
extern const pn_simd pn_simd_avx2, pn_simd_avx512;
#endif

#endif
