/* simd_body.h -- the kernels of one simd table, written once for every vector width.
 * Included by simd_base.c, simd_avx2.c and simd_avx512.c, which define first:
 *
 *   PN_V           a vector of PN_WIDTH doubles          PN_TABLE, PN_TABLE_NAME   what to define
 *   PN_ZERO() PN_SET1(x) PN_LOAD(p) PN_STORE(p, v)        unaligned
 *   PN_MASK PN_MASK_OF(k)                                 selects lanes 0..k-1, 0 < k < PN_WIDTH
 *   PN_LOAD_PART(p, m) PN_STORE_PART(p, m, v)             touch selected lanes only; the others load as 0
 *   PN_LOAD_SINGLE(p) PN_LOAD_SINGLE_PART(p, m)           the same from floats, as doubles
 *   PN_ADD PN_MUL PN_DIV PN_MAX PN_FMA(a, b, c) = a*b + c (fused where the processor can)
 *   what simd_arithmetic.h and simd_powers.h ask for
 *   PN_NEGABS(v) = -|v|    PN_IF_NEGATIVE(v, a, b)        lanes of a where the sign bit of v is set, else of b
 *   PN_SUM(v)              the sum of the lanes, in an order that depends on the table alone
 *   PN_EXP PN_LOG PN_LOG1P PN_EXPM1 PN_TANH PN_ERF PN_SIN PN_COS
 *
 * Depends on: simd.h, simd_arithmetic.h, simd_powers.h, simd_steps.h. */
#include <stdint.h>

#include "numeric/simd/simd.h"

#define PN_INLINE static inline __attribute__((always_inline))

/* ---- dense_times, dense_add_transposed ---- */

#define PN_X                 double
#define PN_LOAD_X(p)         PN_LOAD(p)
#define PN_LOAD_X_PART(p, m) PN_LOAD_PART(p, m)
#define PN_NAMED(name)       name
#include "numeric/simd/simd_dense.h"

#define PN_X                 float
#define PN_LOAD_X(p)         PN_LOAD_SINGLE(p)
#define PN_LOAD_X_PART(p, m) PN_LOAD_SINGLE_PART(p, m)
#define PN_NAMED(name)       name##_single
#include "numeric/simd/simd_dense.h"

/* ---- element-wise functions ---- */

/* The last, incomplete vector is loaded with zeros behind it and stored in part. */
#define PN_ELEMENTWISE(name, CALL)                                                                                     \
    static void name##_n(size_t n, const double *x, double *out)                                                       \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
                                                                                                                       \
        for (; i + PN_WIDTH <= n; i += PN_WIDTH)                                                                       \
            PN_STORE(out + i, CALL(PN_LOAD(x + i)));                                                                   \
        if (i < n) {                                                                                                   \
            PN_MASK mask = PN_MASK_OF(n - i);                                                                          \
            PN_STORE_PART(out + i, mask, CALL(PN_LOAD_PART(x + i, mask)));                                             \
        }                                                                                                              \
    }

/* With t = e^-|x| nothing overflows: 1/(1+t) for x >= 0 and t/(1+t) for x < 0. */
PN_INLINE PN_V decay_v(PN_V x)
{
    return PN_EXP(PN_NEGABS(x));
}

PN_INLINE PN_V sigmoid_of_v(PN_V x, PN_V t)
{
    PN_V one = PN_SET1(1.0);

    return PN_DIV(PN_IF_NEGATIVE(x, t, one), PN_ADD(one, t));
}

PN_INLINE PN_V sigmoid_v(PN_V x)
{
    return sigmoid_of_v(x, decay_v(x));
}

/* Below 2^-27 the cubic term of tanh x = x - x^3/3 + ... rounds away,
 * and SLEEF's last bit there is better not asked for. */
PN_INLINE PN_V tanh_v(PN_V x)
{
    return PN_IF_NEGATIVE(PN_ADD(PN_NEGABS(x), PN_SET1(0x1p-27)), PN_TANH(x), x);
}

/* Below 2^-28 the cubic term rounds away too, and SLEEF errs by more than a unit on subnormal numbers. */
PN_INLINE PN_V erf_v(PN_V x)
{
    PN_V line = PN_MUL(x, PN_SET1(1.12837916709551257390)); /* 2 / sqrt(pi) */

    return PN_IF_NEGATIVE(PN_ADD(PN_NEGABS(x), PN_SET1(0x1p-28)), PN_ERF(x), line);
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|) */
PN_INLINE PN_V softplus_of_v(PN_V x, PN_V t)
{
    return PN_ADD(PN_MAX(x, PN_ZERO()), PN_LOG1P(t));
}

PN_INLINE PN_V softplus_v(PN_V x)
{
    return softplus_of_v(x, decay_v(x));
}

/* SLEEF reduces all angles of a vector by the way that the largest of them needs: below 15 any way is the same for all.
 * Beyond that each goes alone, so that no entry depends on its neighbours: what one record does to the values of others
 * is paid for by nobody. */
#define PN_ANGLE 14.0

PN_INLINE int all_angles_near_v(PN_V x)
{
    PN_V far = PN_IF_NEGATIVE(PN_ADD(PN_NEGABS(x), PN_SET1(PN_ANGLE)), PN_SET1(1.0), PN_ZERO());

    return PN_SUM(PN_ADD(far, PN_MUL(x, PN_ZERO()))) == 0.0; /* not so when one is no number */
}

#define PN_PERIODIC(name, CALL)                                                                                        \
    PN_INLINE PN_V name##_v(PN_V x)                                                                                    \
    {                                                                                                                  \
        double lanes[PN_WIDTH], alone[PN_WIDTH];                                                                       \
                                                                                                                       \
        if (all_angles_near_v(x))                                                                                      \
            return CALL(x);                                                                                            \
        PN_STORE(lanes, x);                                                                                            \
        for (size_t k = 0; k < PN_WIDTH; k++) {                                                                        \
            PN_STORE(alone, CALL(PN_SET1(lanes[k])));                                                                  \
            lanes[k] = alone[0];                                                                                       \
        }                                                                                                              \
        return PN_LOAD(lanes);                                                                                         \
    }

PN_PERIODIC(sin, PN_SIN)
PN_PERIODIC(cos, PN_COS)

PN_ELEMENTWISE(exp, PN_EXP)
PN_ELEMENTWISE(log, PN_LOG)
PN_ELEMENTWISE(log1p, PN_LOG1P)
PN_ELEMENTWISE(expm1, PN_EXPM1)
PN_ELEMENTWISE(tanh, tanh_v)
PN_ELEMENTWISE(erf, erf_v)
PN_ELEMENTWISE(sin, sin_v)
PN_ELEMENTWISE(cos, cos_v)
PN_ELEMENTWISE(sigmoid, sigmoid_v)
PN_ELEMENTWISE(softplus, softplus_v)
PN_ELEMENTWISE(decay, decay_v)

#include "numeric/simd/simd_arithmetic.h"
#include "numeric/simd/simd_powers.h"
#include "numeric/simd/simd_steps.h"

const pn_simd PN_TABLE = {
    .name = PN_TABLE_NAME,
    .dense_times = dense_times,
    .dense_add_transposed = dense_add_transposed,
    .dense_times_single = dense_times_single,
    .dense_add_transposed_single = dense_add_transposed_single,
    .exp = exp_n,
    .log = log_n,
    .log1p = log1p_n,
    .expm1 = expm1_n,
    .tanh = tanh_n,
    .erf = erf_n,
    .sin = sin_n,
    .cos = cos_n,
    .sigmoid = sigmoid_n,
    .softplus = softplus_n,
    .decay = decay_n,
    .sigmoid_of = sigmoid_of_n,
    .softplus_of = softplus_of_n,
    .negate = negate_n,
    .abs = abs_n,
    .sign = sign_n,
    .sqrt = sqrt_n,
    .add = add_n,
    .subtract = subtract_n,
    .multiply = multiply_n,
    .divide = divide_n,
    .power = power_n,
    .min = min_n,
    .max = max_n,
    .lt = lt_n,
    .le = le_n,
    .where = where_n,
    .power_sums = power_sums_n,
    .powers = powers_n,
    .largest = largest_n,
    .above = above_n,
    .exceeding = exceeding_n,
    .sines = sines_n,
    .newton = newton_n,
    .chain = { PN_CHAIN_ROW(add), PN_CHAIN_ROW(subtract), PN_CHAIN_ROW(multiply) },
};
