/* factored_prefix.h -- what all factorizations A = R C of the prefix-sum matrix share as methods of prefix sums: the
 * law of their noise and its price.
 *
 * C is lower triangular with a diagonal of ones here (matrix_prefix.c scales leaves for others).  A leaf is rounded
 * once, m_t whole steps, and released is the sum of u_t = m_t + w_t, where w = C^-1 K on the lattice:
 *     w_t = K_t - G_t,  G_t = round(sum_{s < t} C_ts w_s),  K_t the addressed integer noise (level 0, index t).
 * Private: what was released, u, fixes w_s = u_s - m_s for any leaves m.  Given u_1 .. u_{t-1} the push is thus a
 * Gaussian mechanism for m_t - G_t(u - m), and neighbours, m' = m + D, move it by D_t - (G_t(w - D) - G_t(w)) = (C D)_t
 * up to the rounding of two G_t.  These are the shifts of round((C m)_t) + K_t of the spec, less a public number; but m
 * is not seen through a filter here, so its size does not enter the errors, and no copy of the leaves is kept: w = u -
 * m holds both histories.  See tree-mechanism.md 2.3, 3, 6.
 *
 * What rounding adds.  Leaf: 1 step (and A 2^-52, see pn_lattice_l2), which C turns into `gain` of them.  Each later
 * row: 1 step for the two G_t, and twice the error e of the floating-point sum inside, when it is at most e steps for
 * every w that noise can make (it is cut at 13 sigma).  The D in w - D adds an error in proportion to |D|,
 * so to gain instead.  All in all
 *     || shifts || <= (gain + relative sqrt(T)) || D ||,  || D || <= s / step + sqrt(d) (1 + A 2^-52),
 * plus sqrt(d (T - 1)) (1 + 2 e), which holds for leaves of any size A: what pn_factored_price writes into the method's
 * head.
 * Depends on: prefix_impl.h, toeplitz.h.  Used by: banded_prefix.c, blt_prefix.c, matrix_prefix.c, noise_ring.h,
 * tests. */
#ifndef PN_CONTINUAL_FACTORED_PREFIX_H
#define PN_CONTINUAL_FACTORED_PREFIX_H

#include <string.h>

#include "continual/prefix_impl.h"
#include "continual/toeplitz.h"

#define PN_FACTORED_LONGEST ((uint64_t)1 << 24) /* leaves: the variance of each is kept */

/* Comes first in the struct of such a method. */
typedef struct pn_factored_method {
    pn_prefix_method base;
    double *variances; /* [horizon] of N_1, N_2, ... over sigma^2 */
} pn_factored_method;

/* How far the sum inside G_t is from the exact one, at most: `steps` + `relative` (|D_1| + |D_2| + ...). */
typedef struct pn_factored_error {
    double steps, relative;
} pn_factored_error;

/** Refuse horizons above PN_FACTORED_LONGEST: before anything of that length is made.  Errors: PN_EUNSUPPORTED. */
pn_status pn_factored_check_horizon(const pn_prefix_ops *ops, const pn_prefix_options *options, pn_err *err);
/** Refuse such horizons, and make `size` bytes of method, zero but for the head's ops, horizon and dim, and variances,
 *  which are not set.  Errors: PN_EUNSUPPORTED; PN_ENOMEM. */
pn_status pn_factored_method_new(pn_factored_method **out, size_t size, const pn_prefix_ops *ops,
                                 const pn_prefix_options *options, pn_err *err);
void pn_factored_method_free(pn_factored_method *self); /* NULL allowed */

/** Set the price in the method's head from the sensitivity of C (toeplitz.h, participation.h). */
void pn_factored_price(pn_factored_method *self, const pn_prefix_options *options, double sensitivity,
                       pn_factored_error error);
/** Of Toeplitz C: turn the coefficients r in self->variances into variances. */
void pn_factored_add_up(pn_factored_method *self);

/** |w_t|, in steps, at most, when the absolute values in no row of C^-1 add up to more than `growth`. */
double pn_factored_reach(double growth);
/** Errors: PN_EINVAL when w could leave the numbers that pn_factored_increment is exact for: growth above 128.
 *  smaller: what of the caller's would mend it, "coefficients after the first". */
pn_status pn_factored_check_growth(double growth, const char *smaller, pn_err *err);

/* Rows of pn_prefix_ops. */
double pn_factored_variance(const pn_prefix_method *self, uint64_t t);
void pn_factored_variances(const pn_prefix_method *self, size_t count, double *out);

/* Adding 1.5 * 2^52 leaves the nearest whole number, ties to even, in the low bits; exact below 2^51, and no call. */
#define PN_FACTORED_SHIFT 0x1.8p52

/** w = K - round(mixed), |mixed| < 2^51; from a forged file mixed may be any number, so the bits wrap around. */
static inline int64_t pn_factored_increment(int64_t noise, double mixed)
{
    const double zero = PN_FACTORED_SHIFT;
    double shifted = mixed + zero;
    int64_t bits, origin;

    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&origin, &zero, sizeof origin);
    return pn_wrap_subtract(noise, pn_wrap_subtract(bits, origin));
}

/** The measurement of entry k, m + w, where m is not in step->whole. */
static inline double pn_factored_far(const pn_prefix_step *step, double length, size_t k, int64_t w)
{
    return pn_sums_double(pn_prefix_far(step, length, PN_LATTICE_FARTHEST, k) + w) * length;
}

/** The same way back: (double)w for |w| < 2^51. */
static inline double pn_factored_double(int64_t w)
{
    const double zero = PN_FACTORED_SHIFT;
    int64_t bits;
    double shifted;

    memcpy(&bits, &zero, sizeof bits);
    bits = pn_wrap_add(bits, w);
    memcpy(&shifted, &bits, sizeof shifted);
    return shifted - zero;
}

#endif
