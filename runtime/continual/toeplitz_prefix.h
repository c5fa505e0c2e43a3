/* toeplitz_prefix.h -- what all Toeplitz factorizations share as methods of prefix sums: the law of their noise and its
 * price.
 *
 * A leaf is rounded once, m_t whole steps, and released is the sum of u_t = m_t + w_t, where w = C^-1 K on the lattice:
 *     w_t = K_t - G_t,  G_t = round(sum_{j >= 1} c_j w_{t-j}),  K_t the addressed integer noise (level 0, index t).
 * Private: what was released, u, fixes w_s = u_s - m_s for any leaves m.  Given u_1 .. u_{t-1} the push is thus a
 * Gaussian mechanism for m_t - G_t(u - m), and neighbours, m' = m + D, move it by D_t - (G_t(w - D) - G_t(w)) = (C D)_t
 * up to the rounding of two G_t.  These are the shifts of round((C m)_t) + K_t of the spec, less a public number; but m
 * is not seen through a filter here, so its size does not enter the errors, and no copy of the leaves is kept: w = u -
 * m holds both histories.  Spec: tree-mechanism.md 2.3, 3, 6.
 *
 * What rounding adds.  Leaf: 1 step (and A 2^-52, see pn_lattice_l2), which C turns into `gain` of them.  Each later
 * row: 1 step for the two G_t, and twice the error e of the floating-point sum inside, when it is at most e steps for
 * every w that noise can make (it is cut at 13 sigma).  The D in w - D adds an error in proportion to |D|,
 * so to gain instead.  All in all
 *     || shifts || <= (gain + relative sqrt(T)) || D ||,  || D || <= s / step + sqrt(d) (1 + A 2^-52),
 * plus sqrt(d (T - 1)) (1 + 2 e), which holds for leaves of any size A: what pn_toeplitz_price writes into the method's
 * head.
 * Depends on: prefix_impl.h, toeplitz.h.  Used by: banded_prefix.c, blt_prefix.c, tests. */
#ifndef PN_CONTINUAL_TOEPLITZ_PREFIX_H
#define PN_CONTINUAL_TOEPLITZ_PREFIX_H

#include <string.h>

#include "continual/prefix_impl.h"
#include "continual/toeplitz.h"

#define PN_TOEPLITZ_LONGEST ((uint64_t)1 << 24) /* leaves: the variance of each is kept */

/* Comes first in the struct of such a method. */
typedef struct pn_toeplitz_method {
    pn_prefix_method base;
    double *variances; /* [horizon] of N_1, N_2, ... over sigma^2 */
} pn_toeplitz_method;

/* How far the sum inside G_t is from the exact one, at most: `steps` + `relative` (|D_1| + |D_2| + ...). */
typedef struct pn_toeplitz_error {
    double steps, relative;
} pn_toeplitz_error;

/** Refuse horizons above PN_TOEPLITZ_LONGEST: before anything of that length is made.  Errors: PN_EUNSUPPORTED. */
pn_status pn_toeplitz_check_horizon(const pn_prefix_ops *ops, const pn_prefix_options *options, pn_err *err);
/** Refuse such horizons, and make `size` bytes of method, zero but for the head's ops, horizon and dim, and variances,
 *  which are not set.  Errors: PN_EUNSUPPORTED; PN_ENOMEM. */
pn_status pn_toeplitz_method_new(pn_toeplitz_method **out, size_t size, const pn_prefix_ops *ops,
                                 const pn_prefix_options *options, pn_err *err);
void pn_toeplitz_method_free(pn_toeplitz_method *self); /* NULL allowed */

/** Set the price from the sensitivity of C (pn_toeplitz_sensitivity);
 *  turn the coefficients r in self->variances into variances. */
void pn_toeplitz_price(pn_toeplitz_method *self, const pn_prefix_options *options, double sensitivity,
                       pn_toeplitz_error error);

/** |w_t|, in steps, at most, when the absolute values of 1/c(x)'s coefficients add up to `growth`. */
double pn_toeplitz_reach(double growth);
/** Errors: PN_EINVAL when w could leave the numbers that pn_toeplitz_increment is exact for: growth above 128. */
pn_status pn_toeplitz_check_growth(double growth, pn_err *err);

/* Rows of pn_prefix_ops. */
double pn_toeplitz_variance(const pn_prefix_method *self, uint64_t t);
void pn_toeplitz_variances(const pn_prefix_method *self, size_t count, double *out);

/* Adding 1.5 * 2^52 leaves the nearest whole number, ties to even, in the low bits; exact below 2^51, and no call. */
#define PN_TOEPLITZ_SHIFT 0x1.8p52

/** w = K - round(mixed), |mixed| < 2^51; from a forged file mixed may be any number, so the bits wrap around. */
static inline int64_t pn_toeplitz_increment(int64_t noise, double mixed)
{
    const double zero = PN_TOEPLITZ_SHIFT;
    double shifted = mixed + zero;
    int64_t bits, origin;

    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&origin, &zero, sizeof origin);
    return pn_wrap_subtract(noise, pn_wrap_subtract(bits, origin));
}

/** The measurement of entry k, m + w, where m is not in step->whole. */
static inline double pn_toeplitz_far(const pn_prefix_step *step, double length, size_t k, int64_t w)
{
    return pn_sums_double(pn_prefix_far(step, length, PN_LATTICE_FARTHEST, k) + w) * length;
}

/** The same way back: (double)w for |w| < 2^51. */
static inline double pn_toeplitz_double(int64_t w)
{
    const double zero = PN_TOEPLITZ_SHIFT;
    int64_t bits;
    double shifted;

    memcpy(&bits, &zero, sizeof bits);
    bits = pn_wrap_add(bits, w);
    memcpy(&shifted, &bits, sizeof shifted);
    return shifted - zero;
}

#endif
