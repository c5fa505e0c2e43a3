/* simd_body.h -- the kernels of one simd table, written once for every vector width.
 * Included by simd_base.c, simd_avx2.c and simd_avx512.c, which define first:
 *
 *   PN_V           a vector of PN_WIDTH doubles          PN_TABLE, PN_TABLE_NAME   what to define
 *   PN_ZERO() PN_SET1(x) PN_LOAD(p) PN_STORE(p, v)        unaligned
 *   PN_MASK PN_MASK_OF(k)                                 selects lanes 0..k-1, 0 < k < PN_WIDTH
 *   PN_LOAD_PART(p, m) PN_STORE_PART(p, m, v)             touch selected lanes only; the others load as 0
 *   PN_ADD PN_MUL PN_DIV PN_MAX PN_FMA(a, b, c) = a*b + c (fused where the processor can)
 *   PN_NEGABS(v) = -|v|    PN_IF_NEGATIVE(v, a, b)        lanes of a where the sign bit of v is set, else of b
 *   PN_SUM(v)              the sum of the lanes, in an order that depends on the table alone
 *   PN_EXP PN_LOG PN_LOG1P PN_EXPM1 PN_TANH PN_ERF PN_SIN PN_COS
 *
 * Depends on: simd.h. */
#include <stdint.h>

#include "numeric/simd.h"

#define PN_INLINE static inline __attribute__((always_inline))

/* ---- dense_times: ROWS rows at once share each load of w ---- */

/* Every row has one accumulator and the same order of operations whatever ROWS is, so that its result does not depend
 * on where a caller cuts the matrix into blocks. */
#define PN_DOT_STEP(r) sum##r = PN_FMA(PN_LOAD(X + (r)*cols + j), wj, sum##r);
#define PN_DOT_PART(r) sum##r = PN_FMA(PN_LOAD_PART(X + (r)*cols + j, mask), wj, sum##r);

#define PN_DOT_LOOP(EACH)                                                                                              \
    do {                                                                                                               \
        size_t j = 0;                                                                                                  \
        for (; j + PN_WIDTH <= cols; j += PN_WIDTH) {                                                                  \
            PN_V wj = PN_LOAD(w + j);                                                                                  \
            EACH(PN_DOT_STEP)                                                                                          \
        }                                                                                                              \
        if (j < cols) {                                                                                                \
            PN_MASK mask = PN_MASK_OF(cols - j);                                                                       \
            PN_V wj = PN_LOAD_PART(w + j, mask);                                                                       \
            EACH(PN_DOT_PART)                                                                                          \
        }                                                                                                              \
    } while (0)

#define PN_FOUR(DO) DO(0) DO(1) DO(2) DO(3)
#define PN_ONE(DO)  DO(0)

PN_INLINE void four_dots(const double *X, size_t cols, const double *w, double *z)
{
    PN_V sum0 = PN_ZERO(), sum1 = PN_ZERO(), sum2 = PN_ZERO(), sum3 = PN_ZERO();

    PN_DOT_LOOP(PN_FOUR);
    z[0] = PN_SUM(sum0);
    z[1] = PN_SUM(sum1);
    z[2] = PN_SUM(sum2);
    z[3] = PN_SUM(sum3);
}

PN_INLINE void one_dot(const double *X, size_t cols, const double *w, double *z)
{
    PN_V sum0 = PN_ZERO();

    PN_DOT_LOOP(PN_ONE);
    z[0] = PN_SUM(sum0);
}

static void dense_times(const double *X, size_t rows, size_t cols, const double *w, double *z)
{
    size_t r = 0;

    for (; r + 4 <= rows; r += 4)
        four_dots(X + r * cols, cols, w, z + r);
    for (; r < rows; r++)
        one_dot(X + r * cols, cols, w, z + r);
}

/* ---- dense_add_transposed: a tile of g stays in registers while all rows pass ---- */

/* Ask for the row that comes `rows` later, which is the block that a caller walking down a matrix wants next: its first
 * kernel then finds it on the way.  An address past the end of the matrix is harmless to a prefetch. */
PN_INLINE void prefetch_ahead(const double *row, size_t distance, size_t cols)
{
    uintptr_t at = (uintptr_t)row + distance * sizeof(double);

    for (size_t byte = 0; byte < cols * sizeof(double); byte += 64)
        __builtin_prefetch((const void *)(at + byte), 0, 2);
}

#define PN_TILE_VECTORS 8

/* `full` vectors and, when part is not 0, one more of `part` lanes; full + (part > 0) = count is a constant after
 * inlining, so the loops over v unroll and acc[] lives in registers. */
PN_INLINE void add_tile(const int count, const double *X, size_t rows, size_t cols, const double *a, double *g,
                        size_t part, size_t ahead)
{
    PN_V acc[PN_TILE_VECTORS];
    PN_MASK mask = PN_MASK_OF(part ? part : 1);
    const int full = count - 1;

#pragma GCC unroll 8
    for (int v = 0; v < full; v++)
        acc[v] = PN_LOAD(g + v * PN_WIDTH);
    acc[full] = part ? PN_LOAD_PART(g + full * PN_WIDTH, mask) : PN_LOAD(g + full * PN_WIDTH);
    for (size_t r = 0; r < rows; r++, X += cols) {
        PN_V ar = PN_SET1(a[r]);

        if (ahead)
            prefetch_ahead(X, ahead, cols);
#pragma GCC unroll 8
        for (int v = 0; v < full; v++)
            acc[v] = PN_FMA(ar, PN_LOAD(X + v * PN_WIDTH), acc[v]);
        acc[full] =
            PN_FMA(ar, part ? PN_LOAD_PART(X + full * PN_WIDTH, mask) : PN_LOAD(X + full * PN_WIDTH), acc[full]);
    }
#pragma GCC unroll 8
    for (int v = 0; v < full; v++)
        PN_STORE(g + v * PN_WIDTH, acc[v]);
    if (part)
        PN_STORE_PART(g + full * PN_WIDTH, mask, acc[full]);
    else
        PN_STORE(g + full * PN_WIDTH, acc[full]);
}

static void dense_add_transposed(const double *X, size_t rows, size_t cols, const double *a, double *g)
{
    const size_t tile = PN_TILE_VECTORS * PN_WIDTH;
    /* Only blocks that are small enough to live in the second cache are somebody's walk down a matrix. */
    size_t ahead = rows * cols <= PN_PREFETCH_DOUBLES ? rows * cols : 0;
    size_t j = 0;

    for (; j + tile <= cols; j += tile) {
        add_tile(PN_TILE_VECTORS, X + j, rows, cols, a, g + j, 0, j == 0 ? ahead : 0);
        ahead = 0;
    }
    if (j < cols) {
        size_t left = cols - j, part = left % PN_WIDTH;

        switch ((left + PN_WIDTH - 1) / PN_WIDTH) {
#define PN_TILE(count)                                                                                                 \
    case count:                                                                                                        \
        if (part)                                                                                                      \
            add_tile(count, X + j, rows, cols, a, g + j, part, ahead);                                                 \
        else                                                                                                           \
            add_tile(count, X + j, rows, cols, a, g + j, 0, ahead);                                                    \
        break;
            PN_TILE(1)
            PN_TILE(2)
            PN_TILE(3)
            PN_TILE(4)
            PN_TILE(5)
            PN_TILE(6)
            PN_TILE(7)
            PN_TILE(8)
#undef PN_TILE
        }
    }
}

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
PN_INLINE PN_V sigmoid_v(PN_V x)
{
    PN_V one = PN_SET1(1.0), t = PN_EXP(PN_NEGABS(x));

    return PN_DIV(PN_IF_NEGATIVE(x, t, one), PN_ADD(one, t));
}

/* Below 2^-27 the cubic term of tanh x = x - x^3/3 + ... rounds away, and SLEEF's last bit there is better not asked for. */
PN_INLINE PN_V tanh_v(PN_V x)
{
    return PN_IF_NEGATIVE(PN_ADD(PN_NEGABS(x), PN_SET1(0x1p-27)), PN_TANH(x), x);
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|) */
PN_INLINE PN_V softplus_v(PN_V x)
{
    return PN_ADD(PN_MAX(x, PN_ZERO()), PN_LOG1P(PN_EXP(PN_NEGABS(x))));
}

PN_ELEMENTWISE(exp, PN_EXP)
PN_ELEMENTWISE(log, PN_LOG)
PN_ELEMENTWISE(log1p, PN_LOG1P)
PN_ELEMENTWISE(expm1, PN_EXPM1)
PN_ELEMENTWISE(tanh, tanh_v)
PN_ELEMENTWISE(erf, PN_ERF)
PN_ELEMENTWISE(sin, PN_SIN)
PN_ELEMENTWISE(cos, PN_COS)
PN_ELEMENTWISE(sigmoid, sigmoid_v)
PN_ELEMENTWISE(softplus, softplus_v)

const pn_simd PN_TABLE = {
    .name = PN_TABLE_NAME,
    .dense_times = dense_times,
    .dense_add_transposed = dense_add_transposed,
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
};
