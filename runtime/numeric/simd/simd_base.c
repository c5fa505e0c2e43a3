/* simd_base.c -- the simd table that every machine can run: SSE2 on x86-64, NEON on arm64,
 * one double at a time elsewhere.
 * Depends on: simd_body.h, SLEEF (libm elsewhere).  Used by: simd.c. */
#include "numeric/simd/simd_tables.h"

#define PN_TABLE      pn_simd_base
#define PN_TABLE_NAME "base"

#if defined(__x86_64__)
#include <emmintrin.h>
#include <sleef.h>

#define PN_WIDTH                  2
#define PN_V                      __m128d
#define PN_ZERO()                 _mm_setzero_pd()
#define PN_SET1(x)                _mm_set1_pd(x)
#define PN_LOAD(p)                _mm_loadu_pd(p)
#define PN_STORE(p, v)            _mm_storeu_pd(p, v)
#define PN_LOAD_PART(p, mask)     ((void)(mask), _mm_load_sd(p))
#define PN_STORE_PART(p, mask, v) ((void)(mask), _mm_store_sd(p, v))
#define PN_LOAD_SINGLE(p)         _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p))))
#define PN_LOAD_SINGLE_PART(p, m) ((void)(m), _mm_cvtps_pd(_mm_load_ss(p)))
#define PN_ADD(a, b)              _mm_add_pd(a, b)
#define PN_SUB(a, b)              _mm_sub_pd(a, b)
#define PN_MUL(a, b)              _mm_mul_pd(a, b)
#define PN_DIV(a, b)              _mm_div_pd(a, b)
#define PN_MAX(a, b)              _mm_max_pd(a, b)
#define PN_FMA(a, b, c)           _mm_add_pd(_mm_mul_pd(a, b), c)
#define PN_NEGABS(v)              _mm_or_pd(v, _mm_set1_pd(-0.0))
#define PN_IF_NEGATIVE(v, a, b)   if_negative(v, a, b)
#define PN_NEG(v)                 _mm_xor_pd(v, _mm_set1_pd(-0.0))
#define PN_ABS(v)                 _mm_andnot_pd(_mm_set1_pd(-0.0), v)
#define PN_SQRT(v)                _mm_sqrt_pd(v)
#define PN_IF_LT(a, b, x, y)      blend(_mm_cmplt_pd(a, b), x, y)
#define PN_IF_LE(a, b, x, y)      blend(_mm_cmple_pd(a, b), x, y)
#define PN_IF_NE(a, b, x, y)      blend(_mm_cmpneq_pd(a, b), x, y)
#define PN_SUM(v)                 _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)))
#define PN_PACK(p, v, bound)      pack_above(p, v, bound)
#define PN_SLEEF(name)            Sleef_##name##d2_u10sse2

static inline __m128d blend(__m128d mask, __m128d x, __m128d y)
{
    return _mm_or_pd(_mm_and_pd(mask, x), _mm_andnot_pd(mask, y));
}

static inline __m128d if_negative(__m128d v, __m128d a, __m128d b)
{
    return blend(_mm_cmplt_pd(v, _mm_setzero_pd()), a, b); /* -0 counts as 0: every use is continuous there */
}

/* Most vectors have none above: then nothing is stored. */
static inline size_t pack_above(double *p, __m128d v, __m128d bound)
{
    unsigned above = (unsigned)_mm_movemask_pd(_mm_cmpgt_pd(v, bound));

    if (above == 0)
        return 0;
    _mm_storeu_pd(p, above == 2 ? _mm_unpackhi_pd(v, v) : v);
    return above == 3 ? 2 : 1;
}

#elif defined(__aarch64__)
#include <arm_neon.h>
#include <sleef.h>

#define PN_WIDTH                  2
#define PN_V                      float64x2_t
#define PN_ZERO()                 vdupq_n_f64(0.0)
#define PN_SET1(x)                vdupq_n_f64(x)
#define PN_LOAD(p)                vld1q_f64(p)
#define PN_STORE(p, v)            vst1q_f64(p, v)
#define PN_LOAD_PART(p, mask)     ((void)(mask), vcombine_f64(vld1_f64(p), vdup_n_f64(0.0)))
#define PN_STORE_PART(p, mask, v) ((void)(mask), vst1_f64(p, vget_low_f64(v)))
#define PN_LOAD_SINGLE(p)         vcvt_f64_f32(vld1_f32(p))
#define PN_LOAD_SINGLE_PART(p, m) ((void)(m), vcvt_f64_f32(vld1_lane_f32(p, vdup_n_f32(0.0f), 0)))
#define PN_ADD(a, b)              vaddq_f64(a, b)
#define PN_SUB(a, b)              vsubq_f64(a, b)
#define PN_MUL(a, b)              vmulq_f64(a, b)
#define PN_DIV(a, b)              vdivq_f64(a, b)
#define PN_MAX(a, b)              vmaxq_f64(a, b)
#define PN_FMA(a, b, c)           vfmaq_f64(c, a, b)
#define PN_NEGABS(v)              vnegq_f64(vabsq_f64(v))
#define PN_IF_NEGATIVE(v, a, b)   vbslq_f64(vcltzq_f64(v), a, b)
#define PN_NEG(v)                 vnegq_f64(v)
#define PN_ABS(v)                 vabsq_f64(v)
#define PN_SQRT(v)                vsqrtq_f64(v)
#define PN_IF_LT(a, b, x, y)      vbslq_f64(vcltq_f64(a, b), x, y)
#define PN_IF_LE(a, b, x, y)      vbslq_f64(vcleq_f64(a, b), x, y)
#define PN_IF_NE(a, b, x, y)      vbslq_f64(vceqq_f64(a, b), y, x)
#define PN_SUM(v)                 vaddvq_f64(v)
#define PN_SLEEF(name)            Sleef_##name##d2_u10advsimd

#else
#include <math.h>

#define PN_WIDTH                  1
#define PN_V                      double
#define PN_ZERO()                 0.0
#define PN_SET1(x)                (x)
#define PN_LOAD(p)                (*(p))
#define PN_STORE(p, v)            (void)(*(p) = (v))
#define PN_LOAD_PART(p, mask)     ((void)(mask), 0.0)
#define PN_STORE_PART(p, mask, v) ((void)(mask), (void)(v))
#define PN_LOAD_SINGLE(p)         ((double)*(p))
#define PN_LOAD_SINGLE_PART(p, m) ((void)(m), 0.0)
#define PN_ADD(a, b)              ((a) + (b))
#define PN_SUB(a, b)              ((a) - (b))
#define PN_MUL(a, b)              ((a) * (b))
#define PN_DIV(a, b)              ((a) / (b))
#define PN_MAX(a, b)              ((a) > (b) ? (a) : (b))
#define PN_FMA(a, b, c)           ((a) * (b) + (c))
#define PN_NEGABS(v)              (-fabs(v))
#define PN_IF_NEGATIVE(v, a, b)   ((v) < 0.0 ? (a) : (b))
#define PN_NEG(v)                 (-(v))
#define PN_ABS(v)                 fabs(v)
#define PN_SQRT(v)                sqrt(v)
#define PN_IF_LT(a, b, x, y)      ((a) < (b) ? (x) : (y))
#define PN_IF_LE(a, b, x, y)      ((a) <= (b) ? (x) : (y))
#define PN_IF_NE(a, b, x, y)      ((a) != (b) ? (x) : (y))
#define PN_SUM(v)                 (v)
#define PN_SLEEF(name)            name
#endif

/* Two lanes: a part is always the first lane. */
#define PN_MASK       int
#define PN_MASK_OF(k) ((void)(k), 0)

#define PN_EXP(v)    PN_SLEEF(exp)(v)
#define PN_LOG(v)    PN_SLEEF(log)(v)
#define PN_LOG1P(v)  PN_SLEEF(log1p)(v)
#define PN_EXPM1(v)  PN_SLEEF(expm1)(v)
#define PN_TANH(v)   PN_SLEEF(tanh)(v)
#define PN_ERF(v)    PN_SLEEF(erf)(v)
#define PN_SIN(v)    PN_SLEEF(sin)(v)
#define PN_COS(v)    PN_SLEEF(cos)(v)
#define PN_POW(a, b) PN_SLEEF(pow)(a, b)

#include "numeric/simd/simd_body.h"
