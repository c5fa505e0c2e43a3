/* simd_avx2.c -- the simd table for AVX2 with FMA; empty on other machines.
 * Depends on: simd_body.h, SLEEF.  Used by: simd.c. */
#include "numeric/simd/simd_tables.h"

#if defined(__x86_64__)
#if !defined(__AVX2__) || !defined(__FMA__)
#error "compile this file with -mavx2 -mfma"
#endif
#include <immintrin.h>
#include <sleef.h>

/* mask_lanes + 4 - k selects the first k lanes */
static const int64_t mask_lanes[8] = { -1, -1, -1, -1, 0, 0, 0, 0 };

static inline double sum_lanes(__m256d v)
{
    __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));

    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

/* Most vectors have none above: then nothing is stored. */
static inline size_t pack_above(double *p, __m256d v, __m256d bound)
{
    unsigned above = (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(v, bound, _CMP_GT_OQ));
    double lane[4];
    size_t count = 0;

    if (above == 0)
        return 0;
    _mm256_storeu_pd(lane, v);
    for (size_t k = 0; k < 4; k++) {
        p[count] = lane[k];
        count += above >> k & 1;
    }
    return count;
}

/* The mask for as many floats. */
static inline __m128i half_mask(__m256i mask)
{
    __m128 low = _mm_castsi128_ps(_mm256_castsi256_si128(mask));
    __m128 high = _mm_castsi128_ps(_mm256_extracti128_si256(mask, 1));

    return _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
}

#define PN_TABLE                  pn_simd_avx2
#define PN_TABLE_NAME             "avx2"
#define PN_WIDTH                  4
#define PN_V                      __m256d
#define PN_MASK                   __m256i
#define PN_MASK_OF(k)             _mm256_loadu_si256((const __m256i *)(mask_lanes + 4 - (k)))
#define PN_ZERO()                 _mm256_setzero_pd()
#define PN_SET1(x)                _mm256_set1_pd(x)
#define PN_LOAD(p)                _mm256_loadu_pd(p)
#define PN_STORE(p, v)            _mm256_storeu_pd(p, v)
#define PN_LOAD_PART(p, mask)     _mm256_maskload_pd(p, mask)
#define PN_STORE_PART(p, mask, v) _mm256_maskstore_pd(p, mask, v)
#define PN_LOAD_SINGLE(p)         _mm256_cvtps_pd(_mm_loadu_ps(p))
#define PN_LOAD_SINGLE_PART(p, m) _mm256_cvtps_pd(_mm_maskload_ps(p, half_mask(m)))
#define PN_ADD(a, b)              _mm256_add_pd(a, b)
#define PN_SUB(a, b)              _mm256_sub_pd(a, b)
#define PN_MUL(a, b)              _mm256_mul_pd(a, b)
#define PN_DIV(a, b)              _mm256_div_pd(a, b)
#define PN_MAX(a, b)              _mm256_max_pd(a, b)
#define PN_FMA(a, b, c)           _mm256_fmadd_pd(a, b, c)
#define PN_NEGABS(v)              _mm256_or_pd(v, _mm256_set1_pd(-0.0))
#define PN_IF_NEGATIVE(v, a, b)   _mm256_blendv_pd(b, a, v)
#define PN_NEG(v)                 _mm256_xor_pd(v, _mm256_set1_pd(-0.0))
#define PN_ABS(v)                 _mm256_andnot_pd(_mm256_set1_pd(-0.0), v)
#define PN_SQRT(v)                _mm256_sqrt_pd(v)
#define PN_IF_LT(a, b, x, y)      _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_LT_OQ))
#define PN_IF_LE(a, b, x, y)      _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_LE_OQ))
#define PN_IF_NE(a, b, x, y)      _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_NEQ_UQ))
#define PN_SUM(v)                 sum_lanes(v)
#define PN_PACK(p, v, bound)      pack_above(p, v, bound)
#define PN_EXP(v)                 Sleef_expd4_u10avx2(v)
#define PN_LOG(v)                 Sleef_logd4_u10avx2(v)
#define PN_LOG1P(v)               Sleef_log1pd4_u10avx2(v)
#define PN_EXPM1(v)               Sleef_expm1d4_u10avx2(v)
#define PN_TANH(v)                Sleef_tanhd4_u10avx2(v)
#define PN_ERF(v)                 Sleef_erfd4_u10avx2(v)
#define PN_SIN(v)                 Sleef_sind4_u10avx2(v)
#define PN_COS(v)                 Sleef_cosd4_u10avx2(v)
#define PN_POW(a, b)              Sleef_powd4_u10avx2(a, b)

#include "numeric/simd/simd_body.h"
#endif
