/* simd.h -- the inner loops of the runtime, in the fastest form that this processor has.  The table is chosen at run
 * time (x86-64: AVX-512, AVX2+FMA, baseline; arm64: NEON); results may differ in the last bits between tables, never
 * between thread counts.  Vector functions come from SLEEF.  Depends on: core/, SLEEF.  Used by: numeric,
 * data, objective. */
#ifndef PN_NUMERIC_SIMD_H
#define PN_NUMERIC_SIMD_H

#include <stddef.h>
#include <stdint.h>

/* out[i] = a[i * a_step] op b[i * b_step], i < n; a step is 1, or 0 for a number.  out may be a or b. */
typedef void (*pn_binary_fn)(size_t n, const double *a, size_t a_step, const double *b, size_t b_step, double *out);

/* As pn_binary_fn, of operands a, b, c. */
typedef void (*pn_chain_fn)(size_t n, const double *const *operands, const size_t *steps, double *out);

/* u = ((|x| or x) - base + add) / size where that is positive, else 0; and u to a power >= 0. */
typedef struct pn_powers {
    int magnitude; /* of |x| */
    double base, add, size, exponent;
} pn_powers;

typedef struct pn_simd {
    const char *name; /* "avx512", "avx2", "base" */

    /* z[r] = <row r of X, w>, X row-major rows x cols. */
    void (*dense_times)(const double *X, size_t rows, size_t cols, const double *w, double *z);
    /* g[j] += sum_r a[r] X[r][j].  Each g[j] takes a sum of at most `rows` products in row order. */
    void (*dense_add_transposed)(const double *X, size_t rows, size_t cols, const double *a, double *g);
    /* The same for a matrix of floats: entries become doubles, which is exact, before they are multiplied. */
    void (*dense_times_single)(const float *X, size_t rows, size_t cols, const double *w, double *z);
    void (*dense_add_transposed_single)(const float *X, size_t rows, size_t cols, const double *a, double *g);

    /* Element-wise, in and out may be the same array; <= 1.0 ulp unless said, but infinite within 2e-6 of DBL_MAX,
     * relatively; log1p is infinite from 1e307. */
    void (*exp)(size_t n, const double *x, double *out);
    void (*log)(size_t n, const double *x, double *out);
    void (*log1p)(size_t n, const double *x, double *out);
    void (*expm1)(size_t n, const double *x, double *out);
    void (*tanh)(size_t n, const double *x, double *out);
    void (*erf)(size_t n, const double *x, double *out);
    void (*sin)(size_t n, const double *x, double *out);
    void (*cos)(size_t n, const double *x, double *out);
    /* 1/(1+e^-x), <= 3 ulp; ln(1+e^x), <= 4 ulp; neither overflows, both exact at their limits. */
    void (*sigmoid)(size_t n, const double *x, double *out);
    void (*softplus)(size_t n, const double *x, double *out);
    /* The same in two halves, bit for bit: decay = e^-|x|, and then the rest from x and that. */
    void (*decay)(size_t n, const double *x, double *out);
    pn_binary_fn sigmoid_of, softplus_of;

    /* Exact or correctly rounded, with the same bits in every table.  sign is -1 or 1, else x: 0, -0 and NaN. */
    void (*negate)(size_t n, const double *x, double *out);
    void (*abs)(size_t n, const double *x, double *out);
    void (*sign)(size_t n, const double *x, double *out);
    void (*sqrt)(size_t n, const double *x, double *out);
    pn_binary_fn add, subtract, multiply, divide;
    /* <= 1 ulp with C's special cases, infinite too near DBL_MAX as well; x^2 is the product x*x. */
    pn_binary_fn power;
    pn_binary_fn min, max; /* NaN when either is NaN; the second of equals */
    pn_binary_fn lt, le;   /* 1 or 0 */
    /* a where the condition is not 0 (NaN counts as not 0), else b; out may be any of the three. */
    void (*where)(size_t n, const double *condition, const double *a, size_t a_step, const double *b, size_t b_step,
                  double *out);
    /* sums[0..2] += the sums of u^exponent, u^(exponent + 1), u^(exponent + 2) over u > 0. */
    void (*power_sums)(size_t n, const double *x, const pn_powers *of, double *sums);
    /* out[i] = factor u^exponent, 0 for u = 0 (exponent > 0), with the sign of x[i] when `magnitude`; sums[0..1] as
     * above.  Powers here are e^(exponent ln u): within exponent |ln u| units.  x finite; out may be x. */
    void (*powers)(size_t n, const double *x, const pn_powers *of, double factor, double *out, double *sums);
    /* max x[n], or max |x[n]| with `magnitude`; n >= 1, x finite. */
    double (*largest)(size_t n, const double *x, int magnitude);
    /* kept[n] <- those x - top, or |x| - top, that are above bound, in order; their number.  kept may be
     * x. */
    size_t (*above)(size_t n, const double *x, int magnitude, double top, double bound, double *kept);
    /* out = x - top - tau, or |x| - top - tau with the sign of x, where that is positive, else 0; out may be x. */
    void (*exceeding)(size_t n, const double *x, int magnitude, double top, double tau, double *out);
    /* out = up - down with the sign of x, up = e^(|x|/radius - top), down = e^(-|x|/radius - top), which is 2 sinh(x /
     * radius) e^-top; sums[0] += the sum of up, sums[1] += that of down.  across is e^(-2 top), or 0 where that is not
     * known to all digits, which takes a second exponential.  out may be x. */
    void (*sines)(size_t n, const double *x, double radius, double top, double across, double *out, double *sums);
    /* x <- x - (slope - u) / curvature, at least low and at most high; beyond <- by how much more than `arrived` times
     * the new |x| that moved x, and 1 where x is low, high or no number. */
    void (*newton)(size_t n, double low, double high, double arrived, const double *u, const double *slope,
                   const double *curvature, double *x, double *beyond);
    /* Two operations, each rounded: t = a + b, a - b, a * b (row), then t + c, t - c, c - t, t * c (column). */
    pn_chain_fn chain[3][4];
} pn_simd;

/** The best table for this processor; never NULL.  PN_SIMD=base|avx2|avx512 in the environment lowers the choice. */
const pn_simd *pn_simd_best(void);

/** Table number `index` among those this processor can run, best first; NULL past the last.  For tests. */
const pn_simd *pn_simd_at(size_t index);

#endif
