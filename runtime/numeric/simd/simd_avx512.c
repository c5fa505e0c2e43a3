/* simd_avx512.c -- the simd table for AVX-512 F, DQ and VL; empty on other machines.
 * Depends on: simd_body.h, SLEEF.  Used by: simd.c. */
#include "numeric/simd/simd_tables.h"

#if defined(__x86_64__)
#if !defined(__AVX512F__) || !defined(__AVX512DQ__)
#error "compile this file with -mavx512f -mavx512dq -mavx512vl -mfma"
#endif
#include <immintrin.h>
#include <sleef.h>

static inline size_t pack_above(double *p, __m512d v, __m512d bound)
{
    __mmask8 above = _mm512_cmp_pd_mask(v, bound, _CMP_GT_OQ);

    _mm512_storeu_pd(p, _mm512_maskz_compress_pd(above, v));
    return (size_t)__builtin_popcount(above);
}

static inline __m512d unpack_positive(const double **p, __m512d v)
{
    __mmask8 above = _mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_GT_OQ);
    __m512d packed = _mm512_loadu_pd(*p);

    *p += __builtin_popcount(above);
    return _mm512_maskz_expand_pd(above, packed);
}

#define PN_TABLE                  pn_simd_avx512
#define PN_TABLE_NAME             "avx512"
#define PN_WIDTH                  8
#define PN_V                      __m512d
#define PN_MASK                   __mmask8
#define PN_MASK_OF(k)             ((__mmask8)((1u << (k)) - 1u))
#define PN_ZERO()                 _mm512_setzero_pd()
#define PN_SET1(x)                _mm512_set1_pd(x)
#define PN_LOAD(p)                _mm512_loadu_pd(p)
#define PN_STORE(p, v)            _mm512_storeu_pd(p, v)
#define PN_LOAD_PART(p, mask)     _mm512_maskz_loadu_pd(mask, p)
#define PN_STORE_PART(p, mask, v) _mm512_mask_storeu_pd(p, mask, v)
#define PN_LOAD_SINGLE(p)         _mm512_cvtps_pd(_mm256_loadu_ps(p))
#define PN_LOAD_SINGLE_PART(p, m) _mm512_cvtps_pd(_mm256_maskz_loadu_ps(m, p))
#define PN_ADD(a, b)              _mm512_add_pd(a, b)
#define PN_SUB(a, b)              _mm512_sub_pd(a, b)
#define PN_MUL(a, b)              _mm512_mul_pd(a, b)
#define PN_DIV(a, b)              _mm512_div_pd(a, b)
#define PN_MAX(a, b)              _mm512_max_pd(a, b)
#define PN_FMA(a, b, c)           _mm512_fmadd_pd(a, b, c)
#define PN_NEGABS(v)              _mm512_or_pd(v, _mm512_set1_pd(-0.0))
#define PN_IF_NEGATIVE(v, a, b)   _mm512_mask_blend_pd(_mm512_movepi64_mask(_mm512_castpd_si512(v)), b, a)
#define PN_NEG(v)                 _mm512_xor_pd(v, _mm512_set1_pd(-0.0))
#define PN_ABS(v)                 _mm512_andnot_pd(_mm512_set1_pd(-0.0), v)
#define PN_SQRT(v)                _mm512_sqrt_pd(v)
#define PN_IF_LT(a, b, x, y)      _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), y, x)
#define PN_IF_LE(a, b, x, y)      _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ), y, x)
#define PN_IF_NE(a, b, x, y)      _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ), y, x)
#define PN_SUM(v)                 _mm512_reduce_add_pd(v)
#define PN_PACK(p, v, bound)      pack_above(p, v, bound)
#define PN_UNPACK(p, v)           unpack_positive(p, v)
#define PN_EXP(v)                 Sleef_expd8_u10avx512f(v)
#define PN_LOG(v)                 Sleef_logd8_u10avx512f(v)
#define PN_LOG1P(v)               Sleef_log1pd8_u10avx512f(v)
#define PN_EXPM1(v)               Sleef_expm1d8_u10avx512f(v)
#define PN_TANH(v)                Sleef_tanhd8_u10avx512f(v)
#define PN_ERF(v)                 Sleef_erfd8_u10avx512f(v)
#define PN_SIN(v)                 Sleef_sind8_u10avx512f(v)
#define PN_COS(v)                 Sleef_cosd8_u10avx512f(v)
#define PN_POW(a, b)              Sleef_powd8_u10avx512f(a, b)

#include "numeric/simd/simd_body.h"
#endif
