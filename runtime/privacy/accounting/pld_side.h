/* pld_side.h -- one side of the certificate: lattice laws composed, as far as one window of losses goes.
 * Private to privacy/.
 * Depends on: pld_law.h, core.  Used by: pld*.c.
 *
 * All laws are tilted by exp(t loss), so that the composition is centred near the epsilon asked about and rounding
 * errors are relative to delta itself.  Number i of the composition is the loss offset + i h;
 * the window is [first, first + size). */
#ifndef PN_PRIVACY_PLD_SIDE_H
#define PN_PRIVACY_PLD_SIDE_H

#include "privacy/accounting/pld_law.h"

typedef struct pn_side {
    pn_law *laws; /* [n], borrowed */
    size_t n;
    bool upper;
    double h, offset, infinite;
    double tilt, log_scale; /* t, and ln of the product of the moment generating functions at t */
    double mean, deviation; /* of the tilted composition */
    double lowest, highest; /* all but exp(-PN_SIDE_TAIL) of the tilted mass on either side */
    int64_t first;
    size_t size;
    double *re, *im; /* [frequencies]: coefficients at 2 pi k/size, or NULL */
    size_t frequencies;
    double *decayed,
        *decayed_more; /* [size + 1]: sums of the mass from i on, discounted by exp(-t h) and exp(-(t+1) h) */
    double error_mean, error_norm; /* error of a payoff g: error_mean sum|g| + error_norm ||g||_2 */
} pn_side;

#define PN_SIDE_TAIL 34.0
#define PN_TURN      6.28318530717958647692

void pn_side_init(pn_side *out, pn_law *laws, size_t n, bool upper);
void pn_side_clear(pn_side *side);

/** ln of the moment generating function of the composition at s. */
double pn_side_log_mgf(const pn_side *side, double s);

/** The tilt that suits epsilon(delta), respectively delta(epsilon), best; *epsilon is a bound on the first. */
double pn_side_tilt_for_delta(const pn_side *side, double delta, double *epsilon);
double pn_side_tilt_for_epsilon(const pn_side *side, double epsilon);

/** Tilt all laws; sets mean, deviation, lowest, highest. */
void pn_side_tilt(pn_side *side, double tilt);

/** Put the window on [low, low + size h). */
void pn_side_place(pn_side *side, double low, size_t size);

/** The certified bound on delta at epsilon, which is in the window: above it for an upper side,
 *  below it for a lower one. */
double pn_side_delta(const pn_side *side, double epsilon);

/* ---- the two ways to the composition ---- */

/** By the low frequencies alone.  *done is false when they cannot be shown to suffice,
 *  or are too many to be worth it. */
pn_status pn_side_by_band(pn_side *sides, size_t n, bool *done, pn_err *err);

/** By a transform of the whole window; sides[0] and, for n = 2, sides[1] in one go. */
pn_status pn_side_by_transform(pn_side *sides, size_t n, pn_err *err);

/** (re, im) *= z^count for every k, z given by (zre, zim)[n]; z is spent. */
void pn_side_multiply_power(double *re, double *im, double *zre, double *zim, size_t n, double count);

#endif
